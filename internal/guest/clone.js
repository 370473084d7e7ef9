// structuredClone, as the HTML standard defines it.
//
// The file is one function expression, called once when the VM image is made, after encoding.js and
// url.js. It takes every built-in that it uses beforehand. Comments stand before functions, not in
// them: the engine keeps the source text of each function.
//
// DataCloneError is a DOMException, which the engine has. If primordials.isHandle is a function, the
// objects for which it answers true are refused like functions.
//
// An object's kind is found by its prototypes and then proved by a built-in that throws for any other
// object, so that plain objects, which most are, pay for no proof. Differences from the standard, all
// of them from what JavaScript code can see: a Proxy, and an object that was taken off its built-in
// prototype, count as plain objects; a view that follows the length of a resizable buffer gets a fixed
// length; a transferred buffer is copied before it is detached.
(function (primordials, define) {
  "use strict";

  const { ArrayBuffer, DataView, Date, DOMException, Error, Map, Object, RegExp, Set, TypeError, Uint8Array } = globalThis;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { hasOwn, keys, prototype: objectPrototype, setPrototypeOf } = Object;
  const { isArray } = Array;
  const { isError } = Error;
  const { iterator, toStringTag } = Symbol;

  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const getter = (object, name) => uncurry(getOwnPropertyDescriptor(object, name).get);
  const concat = uncurry(String.prototype.concat);
  const slice = uncurry(String.prototype.slice);
  const sourceOf = uncurry(Function.prototype.toString);
  const symbolText = uncurry(Symbol.prototype.toString);
  const timeOf = uncurry(Date.prototype.getTime);
  const regExpSource = getter(RegExp.prototype, "source");
  const mapGet = uncurry(Map.prototype.get);
  const mapSet = uncurry(Map.prototype.set);
  const mapSize = getter(Map.prototype, "size");
  const mapForEach = uncurry(Map.prototype.forEach);
  const setAdd = uncurry(Set.prototype.add);
  const setHas = uncurry(Set.prototype.has);
  const setSize = getter(Set.prototype, "size");
  const setForEach = uncurry(Set.prototype.forEach);
  const bufferLength = getter(ArrayBuffer.prototype, "byteLength");
  const bufferMaximum = getter(ArrayBuffer.prototype, "maxByteLength");
  const bufferDetached = getter(ArrayBuffer.prototype, "detached");
  const bufferResizable = getter(ArrayBuffer.prototype, "resizable");
  const bufferTransfer = uncurry(ArrayBuffer.prototype.transfer);
  const typedArray = getPrototypeOf(Uint8Array);
  const typedKind = getter(typedArray.prototype, toStringTag);
  const typedLength = getter(typedArray.prototype, "length");
  const typedOffset = getter(typedArray.prototype, "byteOffset");
  const typedBuffer = getter(typedArray.prototype, "buffer");
  const setBytes = uncurry(typedArray.prototype.set);
  const viewLength = getter(DataView.prototype, "byteLength");
  const viewOffset = getter(DataView.prototype, "byteOffset");
  const viewBuffer = getter(DataView.prototype, "buffer");
  const exceptionName = getter(DOMException.prototype, "name");
  const exceptionMessage = getter(DOMException.prototype, "message");

  // An array without a prototype: no setter that a cell adds to Array.prototype sees its writes.
  const newList = () => setPrototypeOf([], null);

  // What a template literal does: the engine makes those by calling String.prototype.concat, as it is
  // by then.
  const toText = (value) => concat("", value);

  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  const isHandle = typeof primordials?.isHandle === "function" ? primordials.isHandle : () => false;

  const cloneError = (message) => new DOMException(message, "DataCloneError");

  const refuse = (text) => {
    throw cloneError((text.length > 100 ? slice(text, 0, 100) + "..." : text) + " could not be cloned.");
  };

  const put = (object, key, value, enumerable) =>
    defineProperty(object, key, { __proto__: null, value, enumerable, writable: true, configurable: true });

  // ---- What is left to copy ----

  // The algorithm is the standard's depth-first one with its own stack, so that the depth of a value
  // is not bounded by the engine's. A frame copies items into an object that exists already: take
  // copies them until none is left or one of them pushes a frame of its own, which goes first. A frame
  // that is done is used again by the next push.
  const push = (state, to, from, items, take) => {
    const { frames } = state;
    const top = state.top++;
    if (top === frames.length) frames[top] = { to, from, items, take, at: 0, key: undefined };
    const frame = frames[top];
    frame.to = to;
    frame.from = from;
    frame.items = items;
    frame.take = take;
    frame.at = 0;
    return to;
  };

  // A key that no prototype knows can be assigned, which is faster, and meets no setter.
  const copyProperty = (from, to, key, state) => {
    if (!hasOwn(from, key)) return;
    const value = begin(from[key], state);
    if (key in to) put(to, key, value, true);
    else to[key] = value;
  };

  const takeProperties = (frame, state) => {
    const { from, to, items } = frame;
    const { top } = state;
    while (frame.at < items.length && state.top === top) copyProperty(from, to, items[frame.at++], state);
  };

  // Where the keys of an array are its indexes and no more, numbers are the faster keys.
  const takeElements = (frame, state) => {
    const { from, to, items } = frame;
    const { top } = state;
    while (frame.at < items.length && state.top === top) copyProperty(from, to, frame.at++, state);
  };

  const takeEntry = (frame, state) => {
    const value = begin(frame.items[frame.at++], state);
    if (frame.at & 1) frame.key = value;
    else mapSet(frame.to, frame.key, value);
  };

  const takeMember = (frame, state) => setAdd(frame.to, begin(frame.items[frame.at++], state));

  const takeCause = (frame, state) => put(frame.to, "cause", begin(frame.items[frame.at++], state), false);

  // ---- Kinds of objects ----

  // From a built-in prototype to how its objects are recognised and copied: prove(value) throws or
  // gives undefined if value is no such object, else something that copy(value, proof, state) uses.
  const kinds = new Map();
  const addKind = (constructor, prove, copy) => {
    if (constructor !== undefined) mapSet(kinds, constructor.prototype, { prove, copy });
  };

  for (const constructor of [Boolean, Number, String, BigInt]) {
    addKind(constructor, uncurry(constructor.prototype.valueOf), (value, primitive) => Object(primitive));
  }

  addKind(Date, timeOf, (value, time) => new Date(time));

  const flagGetters = newList();
  for (const [flag, name] of [
    ["d", "hasIndices"], ["g", "global"], ["i", "ignoreCase"], ["m", "multiline"],
    ["s", "dotAll"], ["u", "unicode"], ["v", "unicodeSets"], ["y", "sticky"],
  ]) flagGetters[flagGetters.length] = { flag, has: getter(RegExp.prototype, name) };
  const flagsOf = (value) => {
    let flags = "";
    for (let i = 0; i < flagGetters.length; i++) if (flagGetters[i].has(value)) flags += flagGetters[i].flag;
    return flags;
  };
  addKind(RegExp, flagsOf, (value, flags) => new RegExp(regExpSource(value), flags));

  addKind(Map, mapSize, (value, size, state) => {
    const items = newList();
    mapForEach(value, (item, key) => {
      items[items.length] = key;
      items[items.length] = item;
    });
    return push(state, new Map(), null, items, takeEntry);
  });

  addKind(Set, setSize, (value, size, state) => {
    const items = newList();
    setForEach(value, (item) => {
      items[items.length] = item;
    });
    return push(state, new Set(), null, items, takeMember);
  });

  addKind(ArrayBuffer, bufferLength, (value, size) => {
    if (bufferDetached(value)) throw cloneError("An ArrayBuffer is detached and could not be cloned.");
    const maxByteLength = bufferResizable(value) ? bufferMaximum(value) : undefined;
    const copy = new ArrayBuffer(size, { __proto__: null, maxByteLength });
    setBytes(new Uint8Array(copy), new Uint8Array(value));
    return copy;
  });

  const typedArrays = { __proto__: null };
  for (const name of [
    "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
    "BigInt64Array", "BigUint64Array", "Float16Array", "Float32Array", "Float64Array",
  ]) typedArrays[name] = globalThis[name];
  addKind(typedArray, typedKind, (value, name, state) => {
    const buffer = begin(typedBuffer(value), state);
    return new typedArrays[name](buffer, typedOffset(value), typedLength(value));
  });

  addKind(DataView, viewBuffer, (value, source, state) => {
    const buffer = begin(source, state);
    return new DataView(buffer, viewOffset(value), viewLength(value));
  });

  const copyStack = (copy, value) => {
    const { stack } = value;
    if (typeof stack === "string") put(copy, "stack", stack, false);
    return copy;
  };

  // The value of an own data property, as { value }, or undefined.
  const ownData = (object, key) => {
    const property = getOwnPropertyDescriptor(object, key);
    return property !== undefined && hasOwn(property, "value") ? property : undefined;
  };

  const errorTypes = { __proto__: null };
  for (const name of ["EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"]) {
    errorTypes[name] = globalThis[name];
  }
  addKind(Error, (value) => isError(value) || undefined, (value, proof, state) => {
    const { name } = value;
    const constructor = errorTypes[name === undefined ? "Error" : toText(name)];
    const copy = constructor === undefined ? new Error() : new constructor();
    const message = ownData(value, "message");
    if (message !== undefined) put(copy, "message", toText(message.value), false);
    const cause = ownData(value, "cause");
    if (cause !== undefined) push(state, copy, null, [cause.value], takeCause);
    return copyStack(copy, value);
  });

  addKind(DOMException, exceptionName, (value, name) => copyStack(new DOMException(exceptionMessage(value), name), value));

  // Objects that live only where they were made.
  const addRefused = (constructor, name) => addKind(constructor, () => true, () => refuse("#<" + name + ">"));
  for (const name of [
    "FinalizationRegistry", "Iterator", "Promise", "SharedArrayBuffer", "Symbol", "TextDecoder", "TextEncoder", "URL",
    "URLSearchParams", "WeakMap", "WeakRef", "WeakSet",
  ]) addRefused(globalThis[name], name);
  addRefused(getPrototypeOf(function* () {}), "Generator");
  addRefused(getPrototypeOf(async function* () {}), "AsyncGenerator");

  const kindOf = (value) => {
    let prototype = getPrototypeOf(value);
    while (prototype !== null && prototype !== objectPrototype) {
      const kind = mapGet(kinds, prototype);
      if (kind !== undefined) return kind;
      prototype = getPrototypeOf(prototype);
    }
    return undefined;
  };

  // ---- The algorithm ----

  // A new object for value, empty so far if it can hold others.
  const create = (value, state) => {
    if (isArray(value)) {
      const copy = [];
      const length = copy.length = value.length;
      const items = keys(value);
      const dense = items.length === length && length > 0 && items[length - 1] === "" + (length - 1);
      return push(state, copy, value, items, dense ? takeElements : takeProperties);
    }
    const kind = kindOf(value);
    if (kind !== undefined) {
      let proof;
      try {
        proof = kind.prove(value);
      } catch {}
      if (proof !== undefined) return kind.copy(value, proof, state);
    }
    return push(state, {}, value, keys(value), takeProperties);
  };

  // The clone of value. What an object holds follows when its frame's turn comes.
  const begin = (value, state) => {
    if (isHandle(value)) refuse("#<Tool>");
    if (typeof value !== "object" || value === null) {
      if (typeof value === "function") refuse(sourceOf(value));
      if (typeof value === "symbol") refuse(symbolText(value));
      return value;
    }
    let copy = mapGet(state.seen, value);
    if (copy === undefined) {
      copy = create(value, state);
      mapSet(state.seen, value, copy);
    }
    return copy;
  };

  const cloneValue = (value) => {
    const state = { seen: new Map(), frames: newList(), top: 0 };
    const copy = begin(value, state);
    while (state.top > 0) {
      const frame = state.frames[state.top - 1];
      if (frame.at < frame.items.length) frame.take(frame, state);
      else state.top--;
    }
    return copy;
  };

  // The buffers to detach, checked.
  const transferList = (options) => {
    const buffers = newList();
    if (options === undefined || options === null) return buffers;
    if (!isObject(options)) throw new TypeError("The options argument must be either an object or undefined");
    const { transfer } = options;
    if (transfer === undefined) return buffers;
    if (!isObject(transfer) || typeof transfer[iterator] !== "function") {
      throw new TypeError("Optional transferList argument must be an iterable");
    }
    const seen = new Set();
    for (const item of transfer) {
      if (!isObject(item)) throw new TypeError("Found invalid object in transferList");
      let detached;
      try {
        detached = bufferDetached(item);
      } catch {
        throw cloneError("Value at index " + buffers.length + " does not have a transferable type.");
      }
      if (detached) throw cloneError("An ArrayBuffer is detached and could not be cloned.");
      if (setHas(seen, item)) throw cloneError("Transfer list contains duplicate ArrayBuffer");
      setAdd(seen, item);
      buffers[buffers.length] = item;
    }
    return buffers;
  };

  const { structuredClone } = {
    structuredClone(value, options = undefined) {
      if (arguments.length < 1) throw new TypeError("The value argument must be specified");
      const buffers = transferList(options);
      const copy = cloneValue(value);
      for (let i = 0; i < buffers.length; i++) {
        if (bufferDetached(buffers[i])) throw cloneError("An ArrayBuffer is detached and could not be cloned.");
        bufferTransfer(buffers[i]);
      }
      return copy;
    },
  };
  define("structuredClone", structuredClone);
})
