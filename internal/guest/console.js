// console: log, info, warn, error and debug. A call's arguments become one message, which goes to
// write as an ordinary item of text output.
//
// The file is one function expression, called once when the VM image is made. It takes every built-in
// that it uses beforehand, and no template literal, which is a call of String.prototype.concat in this
// engine. Comments stand before functions, not in them: the engine keeps the source of each function.
//
// A message is text, not a way to look into a value without end: every size has a limit, and what lies
// past it is marked. The JSON is written here, piece by piece, because the engine's own stringify meets
// setters that a cell puts on Array.prototype. Properties are read by their descriptors, so no getter
// and no toJSON runs. The traps of a proxy do run; what they throw becomes a placeholder.
(function (define, write, internals) {
  "use strict";
  const { reveal } = internals;
  const { getOwnPropertyDescriptor, ownKeys } = Reflect;
  const { freeze, getPrototypeOf, setPrototypeOf } = Object;
  const { stringify: quote } = JSON; // of strings only
  const { isArray } = Array;
  const { isError } = Error;
  const { isFinite } = Number;
  const Promise_ = Promise;

  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const slice = uncurry(String.prototype.slice);
  const charCodeAt = uncurry(String.prototype.charCodeAt);
  const symbolText = uncurry(Symbol.prototype.toString);
  const hasInstance = uncurry(Function.prototype[Symbol.hasInstance]);
  const typedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
  const typedKind = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, Symbol.toStringTag).get);
  const typedLength = uncurry(getOwnPropertyDescriptor(typedArrayPrototype, "length").get);

  // Limits. Lengths are in UTF-16 units and include the suffix that marks a cut.
  const MAX_VALUES = 100; // in one call, arguments included
  const MAX_DEPTH = 4; // objects in objects, an argument being the first
  const MAX_PROPERTIES = 50; // of one object
  const MAX_TEXT = 512; // a string, a key
  const MAX_MESSAGE = 4096;
  const MAX_OUTPUT = 16384 - 100; // JSON text of all items; the rest is for the notice that ends them

  const ENVELOPE = '{"type":"text","text":}'.length;
  const CUT = "[truncated]";
  const CUT_SUFFIX = "…[truncated]";
  const OUTPUT_CUT = "[console output truncated]";
  const PROMISE_NOTE = "[Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]";

  const clip = (text, limit) => {
    if (text.length <= limit) return text;
    const end = limit - CUT_SUFFIX.length;
    const last = charCodeAt(text, end - 1);
    return slice(text, 0, last >= 0xd800 && last < 0xdc00 ? end - 1 : end) + CUT_SUFFIX;
  };

  // own gives an own property's descriptor, without a prototype from which a field could come.
  const own = (object, key) => {
    const property = getOwnPropertyDescriptor(object, key);
    return property === undefined ? undefined : setPrototypeOf(property, null);
  };

  // A typed array's keys are counted rather than listed: there may be millions.
  const keysOf = (object) => {
    if (typedKind(object) === undefined) return ownKeys(object);
    const keys = setPrototypeOf([], null);
    const length = typedLength(object);
    for (let i = 0; i < length && i <= MAX_PROPERTIES; i++) keys[i] = "" + i;
    return keys;
  };

  // inspect gives a value as JSON, an argument (which has no parent) that is a word as that word.
  // parent leads through the objects that the value is in; call counts the values of one message.
  const inspect = (value, parent, call) => {
    call.left--;
    value = reveal(value);
    const word = (text) => {
      const clipped = clip(text, MAX_TEXT);
      return parent === undefined ? clipped : quote(clipped);
    };
    switch (typeof value) {
      case "string": return word(value);
      case "number": return isFinite(value) ? "" + value : "null";
      case "boolean": return "" + value;
      case "bigint": return word(value + "n");
      case "symbol": return word(symbolText(value));
      case "undefined": return word("undefined");
      case "function": return word("[Function]");
    }
    if (value === null) return "null";
    try {
      for (let up = parent; up !== undefined; up = up.parent) {
        if (up.value === value) return word("[Circular]");
      }
      if (hasInstance(Promise_, value)) return word(PROMISE_NOTE);
      const depth = parent === undefined ? 1 : parent.depth + 1;
      if (depth > MAX_DEPTH) return word(CUT);
      return inspectProperties(value, { __proto__: null, value, parent, depth }, call);
    } catch {
      return word("[Unserializable]");
    }
  };

  // inspectProperties gives an array's elements up to its length, a hole as null, and any other
  // object's enumerable properties; an error's message, which is not enumerable, comes after them.
  const inspectProperties = (object, parent, call) => {
    const array = isArray(object);
    let text = "", count = 0, more = true;
    const add = (key, property) => {
      more = count < MAX_PROPERTIES && call.left > 0;
      if (count++ > 0) text += ",";
      if (!array) text += quote(more ? clip(key, MAX_TEXT) : "…") + ":";
      if (!more) text += quote(CUT);
      else if (property === undefined) text += "null";
      else text += inspect("value" in property ? property.value : "[Accessor]", parent, call);
    };
    if (array) {
      const length = own(object, "length").value;
      for (let i = 0; more && i < length; i++) add(i, own(object, i));
      return "[" + text + "]";
    }
    const keys = keysOf(object);
    for (let i = 0; more && i < keys.length; i++) {
      const property = typeof keys[i] === "string" ? own(object, keys[i]) : undefined;
      if (property !== undefined && property.enumerable) add(keys[i], property);
    }
    if (more && isError(object)) {
      const message = own(object, "message");
      if (message !== undefined && !message.enumerable) add("message", message);
    }
    return "{" + text + "}";
  };

  let used = 0, full = false;
  const print = (prefix, args) => {
    if (full) return;
    const call = { __proto__: null, left: MAX_VALUES };
    let message = prefix;
    for (let i = 0; i < args.length; i++) {
      if (i > 0) message += " ";
      if (call.left === 0) {
        message += CUT;
        break;
      }
      message += inspect(args[i], undefined, call);
    }
    if (full) return; // a proxy's trap printed the last of it
    message = clip(message, MAX_MESSAGE);
    used += quote(message).length + ENVELOPE;
    full = used > MAX_OUTPUT;
    write(full ? OUTPUT_CUT : message);
  };

  const console = {};
  for (const level of ["log", "info", "warn", "error", "debug"]) {
    const prefix = level === "log" ? "" : "[" + level + "] ";
    const { [level]: method } = {
      [level](...args) {
        try {
          print(prefix, args);
        } catch {}
      },
    };
    console[level] = freeze(method);
  }
  define("console", freeze(console));
});
