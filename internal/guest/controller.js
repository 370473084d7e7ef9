// The controller: what stands between a cell and the host, inside the VM. It is evaluated once, when
// the image is made, and from then on works only with what it captured here: guest code can replace
// every built-in and breaks only itself. Nothing here is reachable from guest code but the globals
// that it defines. The host calls the functions that it returns, by their place in the array.
(function (host) {
  "use strict";
  const { apply, defineProperty, getPrototypeOf } = Reflect;
  const { freeze, setPrototypeOf, prototype: ObjectPrototype } = Object;
  const { stringify, parse } = JSON;
  const { isArray } = Array;
  const { captureStackTrace, isError } = Error;
  const { repeat, trim } = String.prototype;
  const Promise_ = Promise, Error_ = Error, Map_ = Map, TypeError_ = TypeError, RangeError_ = RangeError, Number_ = Number, String_ = String;
  const { isFinite: isFinite_ } = Number;
  const { floor } = Math;
  const { toSpliced } = Array.prototype;
  const rejectWith = Promise.reject.bind(Promise);
  const instanceOf = Function.prototype[Symbol.hasInstance];
  const isPromise = (value) => apply(instanceOf, Promise_, [value]);
  const { get: mapGet, set: mapSet, delete: mapDelete } = Map.prototype;
  const mapMethods = freeze({ __proto__: null, get: mapGet, set: mapSet, delete: mapDelete });
  const newMap = () => setPrototypeOf(new Map_(), mapMethods);

  // A descriptor that inherits nothing, least of all what the guest put on Object.prototype.
  const define = (object, key, value, enumerable, configurable, writable) =>
    defineProperty(object, key, { __proto__: null, value, enumerable, configurable, writable });

  // Operations of host(operation, a, b, c): the raw function takes at least four arguments. The host
  // reads plain data out of memory by itself; what else there is it asks for as text.
  const EMIT = 1, EMIT_TEXT = 2, CALL = 3, CALL_TEXT = 4, TIMER = 5, CLEAR = 6, ASK = 7, ANSWER = 8, GIVE = 9, GIVE_TEXT = 10;
  const TOOL = 0, DESCRIBE = 1; // questions
  const YIELD = -1; // in place of the index of a tool
  const TEXT = 0, JSON_ITEM = 1;
  const OK = 0, AS_TEXT = 2;

  const PROMISE_NOTE = "[Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]";
  const QUEUE_NOTE = "too many tool calls and timers are pending at once: none of this batch was started; await them in smaller batches";

  // A list without a prototype: no setter that the guest put on Array.prototype sees what goes in.
  const newList = () => setPrototypeOf([], null);

  // project copies a value into null-prototype objects and arrays that hold data only, so that
  // stringify calls no hook that the guest could have put on a prototype. Each property is read once.
  // What it cannot know by copying: with final, nothing is left to toJSON and a BigInt sets
  // found.bigint; without, objects that are neither plain nor arrays are left to stringify.
  function project(root, final, found) {
    const copies = newMap();
    const work = newList();
    let top = 0;
    const shallow = (value) => {
      let copy = copies.get(value);
      if (copy !== undefined) return copy;
      if (isArray(value)) {
        copy = copyArray(value);
      } else if (isError(value)) {
        copy = { __proto__: null, name: value.name, message: value.message, ...value };
        delete copy.toJSON;
      } else if (isPromise(value)) {
        return PROMISE_NOTE;
      } else if (final) {
        copy = { __proto__: null, ...value };
      } else {
        const proto = getPrototypeOf(value);
        if (proto !== ObjectPrototype && proto !== null) return value;
        copy = { __proto__: null, ...value };
      }
      copies.set(value, copy);
      work[top++] = copy;
      return copy;
    };
    const result = shallow(root);
    while (top > 0) {
      const copy = work[--top];
      if (isArray(copy)) {
        for (let i = 0; i < copy.length; i++) {
          const value = copy[i];
          if (typeof value === "object") {
            if (value !== null) copy[i] = shallow(value);
          } else if (typeof value === "bigint") found.bigint = true;
          else if (typeof value === "function") copy[i] = asData(value, final, null);
        }
      } else {
        for (const key in copy) {
          const value = copy[key];
          if (typeof value === "object") {
            if (value !== null) copy[key] = shallow(value);
          } else if (typeof value === "bigint") found.bigint = true;
          else if (typeof value === "function") copy[key] = asData(value, final, undefined); // toJSON is one, too
        }
      }
    }
    return result;
  }

  // asData stands for a function: a tool is what is known of it, any other is nothing.
  const asData = (value, final, nothing) => metadata.get(value) ?? (final ? nothing : value);

  // copyArray reads every index once. A huge sparse array is expanded inside the cell's own limits.
  function copyArray(array) {
    const { length } = array;
    if (length < 16777216) return setPrototypeOf(apply(toSpliced, array, []), null);
    const copy = newList();
    for (let i = 0; i < length; i++) copy[i] = array[i];
    return copy;
  }

  // encode gives the JSON text of an emitted value: toJSON is honoured, and what JSON has no form
  // for becomes a string.
  function encode(value) {
    if (value === undefined) return "null";
    try {
      const text = stringify(typeof value === "object" && value !== null ? project(value, false, {}) : value);
      if (text !== undefined) return text;
    } catch {}
    try {
      if (isError(value)) return stringify({ __proto__: null, name: String_(value.name), message: String_(value.message) });
      return stringify(String_(value));
    } catch {
      return '"[unserializable]"';
    }
  }

  // encodeFinal gives the JSON text of the returned value. An exception of a getter fails the cell.
  function encodeFinal(value) {
    switch (typeof value) {
      case "object": {
        if (value === null) return "null";
        const found = { __proto__: null, bigint: false };
        const copy = project(value, true, found);
        if (!found.bigint) {
          try {
            return stringify(copy);
          } catch (error) {
            if (!apply(instanceOf, TypeError_, [error])) throw error; // a cycle is a TypeError
          }
        }
        return isArray(value) ? '"[object Array]"' : '"[object Object]"';
      }
      case "bigint":
        return stringify("" + value); // a template literal would call what the guest put in place of String.prototype.concat
      case "string": case "number": case "boolean":
        return stringify(value);
      case "function":
        return stringify(metadata.get(value) ?? null);
    }
    return "null";
  }

  // describe gives what is known of an uncaught exception: whether it is an Error, its name, its
  // message (or the thrown value as text) and its stack. Reading it must not throw.
  function describe(error) {
    const read = (key, otherwise) => {
      try {
        const value = error[key];
        return value === undefined ? otherwise : String_(value);
      } catch {
        return otherwise;
      }
    };
    if (isError(error)) return [true, read("name", "Error"), read("message", ""), read("stack", "")];
    let text = "[unprintable value]";
    try {
      text = String_(error);
    } catch {}
    return [false, "", text, ""];
  }

  // The calls in progress, by their slot. A slot is free again when its call has ended.
  const resolvers = newList(), rejecters = newList(), sites = newList(), free = newList();
  let slots = 0, freeSlots = 0;

  // Taking the stack of a call costs as much as the call: a cell that makes very many has them for
  // the first ones.
  const MAX_SITES = 100;
  let calls = 0;

  // fail throws an error with the stack of who called the function of the guest API that it is thrown in.
  const fail = (Kind, message, api, code) => {
    const error = new Kind(message);
    captureStackTrace(error, api);
    if (code !== undefined) define(error, "code", code, true, true, true);
    throw error;
  };

  // ask puts a question to the host and gives its answer, for a function of the guest API. The host can write into memory but
  // not make a value in the middle of guest code, so the guest makes a string for the answer first.
  function ask(api, question, a, b) {
    const room = apply(repeat, " ", [host(ASK, question, a, b)]);
    host(ANSWER, room, 0, 0);
    const answer = parse(room);
    switch (answer.length) {
      case 0: return undefined;
      case 1: return answer[0];
    }
    fail(answer[2] === "TypeError" ? TypeError_ : answer[2] === "RangeError" ? RangeError_ : Error_, answer[1], api, answer[3]);
  }

  // give hands a value to the host, for the question that follows. What has no JSON is null, as in an array; undefined is no
  // value.
  function give(value) {
    if (host(GIVE, 0, value, 0) === AS_TEXT) host(GIVE_TEXT, 0, stringify(value) ?? "null", 0);
  }

  // What is known of a tool, by its function, and the functions by the tool's index.
  const metadata = newMap();
  const tools = newList();

  // What tools have in common, hidden from a look at one.
  const toolPrototype = {
    toJSON() {
      return metadata.get(this);
    },
    toString() {
      return "async function " + metadata.get(this)?.callableName + "(input) { [tool] }";
    },
  };
  for (const name of ["toJSON", "toString"]) define(toolPrototype, name, freeze(toolPrototype[name]), false, false, false);
  freeze(setPrototypeOf(toolPrototype, Function.prototype));

  // caller gives a function that makes requests of the host, each of which is a promise. Only the first argument counts: it may
  // be handed to map as it is. The argument is serialised at the call, whatever happens to it later.
  function caller(index) {
    const call = (input) => {
      const slot = freeSlots > 0 ? free[--freeSlots] : slots++;
      let site;
      if (calls < MAX_SITES) {
        calls++;
        captureStackTrace((site = { __proto__: null }), call);
      }
      sites[slot] = site;
      const promise = new Promise_((resolve, reject) => {
        resolvers[slot] = resolve;
        rejecters[slot] = reject;
      });
      if (rejecters[slot] === undefined) {
        // For want of stack the executor failed, which rejects the promise: so the call has failed. Nothing is called here.
        resolvers[slot] = undefined;
        free[freeSlots++] = slot;
        return promise;
      }
      // The host is told last: once it has taken the call, nothing here may fail any more.
      let answer = host(CALL, slot, index, input);
      if (answer === OK) return promise;
      try {
        if (answer === AS_TEXT) answer = host(CALL_TEXT, slot, index, stringify(input));
      } finally {
        if (answer !== OK) release(slot);
      }
      if (answer === OK) return promise;
      throw new Error_(QUEUE_NOTE);
    };
    return call;
  }

  // makeTool gives the function of one tool, of which known is what the host knows.
  function makeTool(index, known) {
    const tool = caller(index);
    setPrototypeOf(tool, toolPrototype);
    setPrototypeOf(known, null);
    define(tool, "name", known.callableName, false, false, false);
    for (const key in known) define(tool, key, known[key], true, false, false);
    const describe = async () => ask(describe, DESCRIBE, index, 0);
    define(tool, "describe", freeze(describe), true, false, false);
    metadata.set(tool, freeze(known));
    return (tools[index] = freeze(tool));
  }

  const toolAt = (index) => tools[index] ?? makeTool(index, ask(toolAt, TOOL, index, 0));

  // install defines the globals of the tools. What a tool is made of is asked for when the cell uses it.
  function install(names) {
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      const get = () => {
        const tool = toolAt(i);
        define(globalThis, name, tool, true, true, false);
        return tool;
      };
      defineProperty(globalThis, name, { __proto__: null, get, set: undefined, enumerable: true, configurable: true });
    }
  }

  // release forgets the functions of a call, which hold on to its promise and so to its value.
  const release = (slot) => {
    resolvers[slot] = rejecters[slot] = undefined;
    free[freeSlots++] = slot;
  };

  function resolve(slot, value) {
    const settle = resolvers[slot];
    resolvers[slot] = rejecters[slot] = undefined; // release, without a call: this is what most calls come to
    free[freeSlots++] = slot;
    settle(value);
  }

  // reject fails a call with an Error whose stack is that of the call. Making the Error can run code of the guest
  // (Error.stackTraceLimit), which can make calls: the slot is this call's own until that is over.
  function reject(slot, details) {
    const settle = rejecters[slot];
    const site = sites[slot];
    const error = new Error_(details.message);
    const stack = site === undefined ? "" : site.stack;
    define(error, "stack", stack, false, true, true);
    define(error, "location", apply(trim, stack, []), false, true, true);
    define(error, "code", details.code, true, true, true);
    define(error, "effectStatus", details.effectStatus, true, true, true);
    define(error, "executionStarted", details.effectStatus !== "none", false, true, true);
    release(slot);
    settle(error);
    return error;
  }

  const timers = newMap();
  let lastTimer = 0;

  function fire(id) {
    const timer = timers.get(id);
    if (timer === undefined) return;
    const { callback, args } = timer;
    timers.delete(id);
    try {
      apply(callback, undefined, args);
    } catch (error) {
      rejectWith(error); // nobody handles it: the cell fails
    }
  }

  // A document is an object that reads as its content where a string is expected.
  const documentPrototype = {
    toString() {
      return this.content;
    },
    valueOf() {
      return this.content;
    },
    get length() {
      return this.content.length;
    },
  };
  for (const name of ["toString", "valueOf"]) define(documentPrototype, name, freeze(documentPrototype[name]), false, false, false);
  freeze(setPrototypeOf(documentPrototype, String_.prototype));
  const newDocument = (fields) => freeze(setPrototypeOf(fields, documentPrototype));

  // asString gives the string that a value is or stands for, or undefined.
  const asString = (value) => {
    if (typeof value === "object" && value !== null && getPrototypeOf(value) === documentPrototype) value = value.content;
    return typeof value === "string" ? value : undefined;
  };

  const globals = {
    __proto__: null,
    text(value) {
      if (host(EMIT, TEXT, value, 0) === AS_TEXT) host(EMIT_TEXT, TEXT, stringify(asString(value) ?? encode(value)), 0);
    },
    json(value) {
      if (host(EMIT, JSON_ITEM, value, 0) === AS_TEXT) host(EMIT_TEXT, JSON_ITEM, encode(value), 0);
    },
    setTimeout(callback, delay = 0, ...args) {
      if (typeof callback !== "function") throw new TypeError_("setTimeout needs a function");
      let ms = Number_(delay);
      ms = isFinite_(ms) && ms > 0 ? floor(ms) : 0;
      const id = ++lastTimer;
      timers.set(id, { __proto__: null, id, callback, args });
      if (host(TIMER, id, ms, 0) === OK) return id;
      timers.delete(id);
      throw new Error_(QUEUE_NOTE);
    },
    clearTimeout(id) {
      const timer = timers.get(id);
      if (timer === undefined) return;
      timers.delete(id);
      host(CLEAR, timer.id, 0, 0); // its own id: a number that is equal need not be kept as an integer
    },
  };
  globals.yield_control = caller(YIELD);
  define(globals.yield_control, "name", "yield_control", false, false, false);
  for (const name in globals) {
    define(globalThis, name, freeze(globals[name]), false, false, false);
  }

  // For the other scripts.
  const internals = {
    define,
    ask,
    fail,
    give,
    newDocument,
    isHandle: (value) => metadata.get(value) !== undefined,
    toolFor: (index, known) => tools[index] ?? makeTool(index, known),
    reveal: (value) => metadata.get(value) ?? asString(value) ?? value, // what a person wants to see in place of a tool or a document
  };
  return [install, resolve, reject, fire, encodeFinal, describe, internals];
});
