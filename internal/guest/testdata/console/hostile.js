// Prints, replaces every built-in that it can find, prints the same again, and gives the names of the
// replaced built-ins that were called. It uses no built-in itself by then.
(() => {
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const symbolText = uncurry(Symbol.prototype.toString);
  const global = globalThis;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf } = Reflect;
  const { error, log, warn } = console;
  const bare = (object) => {
    setPrototypeOf(object, null);
    return object;
  };

  const cycle = { list: [] };
  cycle.list[0] = cycle;
  const many = { wide: Array(60).fill(0), key: { ["k".repeat(600)]: 1 }, deep: [[[[[]]]]] };
  const failure = Object.assign(new TypeError("m"), { code: 1 });
  const symbol = Symbol.iterator;
  const promise = Promise.resolve();
  const typed = new Uint16Array([1, 2]);
  const long = "🚀".repeat(400);
  const proxy = new Proxy([1, { a: 1 }], { __proto__: null });
  const bad = new Proxy({}, { __proto__: null, ownKeys() { throw 1; } });
  const run = () => {
    log("text", 1, true, null, undefined, 12n, symbol, run);
    warn(cycle, { a: "é\"", b: [1, , 3n], get c() { throw 1; } });
    error(failure, promise, { bad, typed });
    log(many, long);
    log(proxy);
  };
  run();

  let called = "";
  const trap = (name) => function () {
    called += name + "\n";
    throw name;
  };
  const hijack = (object, path) => {
    const keys = bare(ownKeys(object));
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      const property = getOwnPropertyDescriptor(object, key);
      const name = path + "." + (typeof key === "symbol" ? symbolText(key) : key);
      if (!property.configurable) continue;
      if (property.get !== undefined || typeof property.value === "function") {
        defineProperty(object, key, { __proto__: null, get: trap("get " + name), set: trap("set " + name), configurable: true });
      }
    }
  };
  const iterators = [[][Symbol.iterator](), ""[Symbol.iterator](), new Map()[Symbol.iterator]()];
  const targets = [];
  const names = Object.getOwnPropertyNames(globalThis);
  for (const name of names) {
    const value = globalThis[name];
    if (name === "globalThis" || name === "console" || (typeof value !== "function" && typeof value !== "object") || value === null) continue;
    if (value.prototype) targets.push(value.prototype, name + ".prototype");
    targets.push(value, name);
  }
  targets.push(getPrototypeOf(Uint8Array), "TypedArray", getPrototypeOf(Uint8Array).prototype, "TypedArray.prototype");
  for (const iterator of iterators) targets.push(getPrototypeOf(iterator), "iterator");
  for (const iterator of iterators) targets.push(getPrototypeOf(getPrototypeOf(iterator)), "iterator");
  const ArrayPrototype = Array.prototype, ObjectPrototype = Object.prototype;
  bare(targets);
  bare(names);
  for (let i = 0; i < targets.length; i += 2) hijack(targets[i], targets[i + 1]);
  for (let i = 0; i < names.length; i++) {
    const { configurable } = getOwnPropertyDescriptor(global, names[i]);
    if (configurable) defineProperty(global, names[i], { __proto__: null, get: trap(names[i]), set: trap(names[i]), configurable: true });
  }
  for (let i = 0; i < 70; i++) {
    defineProperty(ArrayPrototype, i, { __proto__: null, get: trap("Array.prototype[i]"), set: trap("Array.prototype[i]"), configurable: true });
  }
  const fields = {
    __proto__: null, value: 0, get: 0, set: 0, writable: 0, enumerable: 0, configurable: 0, parent: 0, depth: 0, left: 0, call: 0,
    toJSON: 0, message: 0, name: 0, length: 0, log: 0, warn: 0, error: 0,
  };
  for (const key in fields) {
    defineProperty(ObjectPrototype, key, { __proto__: null, get: trap("Object.prototype." + key), set: trap("Object.prototype." + key), configurable: true });
  }
  run();
  return called;
})()
