// Runs the web APIs, then replaces every built-in that it can find, and runs them again: gives the
// results of both runs and the names of the replaced built-ins that were called, as three parts with
// a line of "====" between them. It uses no built-in by its name by then, and neither what
// calls one unseen: in this engine a template literal calls String.prototype.concat, and JSON.stringify a
// setter of Array.prototype[0].
(() => {
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const mapGet = uncurry(Map.prototype.get);
  const setHas = uncurry(Set.prototype.has);
  const time = uncurry(Date.prototype.getTime);
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf } = Reflect;
  const bare = (array) => {
    setPrototypeOf(array, null);
    return array;
  };
  const concat = uncurry(String.prototype.concat);
  const append = uncurry(Array.prototype.push);

  const map = new Map([["k", { deep: [1, , 3] }]]);
  const value = {
    map, set: new Set(["x"]), date: new Date(7), text: Object("s"), re: /a\/b/gi, cycle: null, error: new RangeError("e", { cause: { c: 1 } }),
    list: [1, { a: 1 }], view: new DataView(new ArrayBuffer(4), 1), typed: new Uint8Array([1, 2, 3]).subarray(1), "__proto__x": 1, buffer: new ArrayBuffer(3),
  };
  value.cycle = value;
  const latin = new Uint8Array([0xe9, 0x80, 0x41]);
  const broken = new Uint8Array([0x41, 0xe2, 0x98, 0xff]);
  const wide = new Uint8Array([0x3d, 0xd8, 0x80, 0xde, 0x61]);
  const into = new Uint8Array(4);
  const text = "é日🚀 a&b=c~'!".repeat(30);

  const run = () => {
    let out = "";
    const note = (x) => { out += concat("", x) + "\n"; };
    const thrown = (f) => { try { f(); } catch (e) { return e.name + " " + e.message; } };

    const encoder = new TextEncoder();
    const encoded = encoder.encode(text);
    note(encoded[0]); note(encoded[301]);
    const r = encoder.encodeInto("é日", into);
    note(r.read); note(r.written); note(into[1]);
    note(new TextDecoder().decode(encoded) === text);
    note(new TextDecoder().decode(broken));
    note(thrown(() => new TextDecoder("utf-8", { __proto__: null, fatal: true }).decode(broken)));
    note(thrown(() => new TextDecoder("nope")));
    const d = new TextDecoder("utf-16le");
    note(d.decode(wide, { __proto__: null, stream: true })); note(d.decode());
    note(new TextDecoder(" Latin1 ").decode(latin));
    note(atob(btoa("a\xffb"))); note(thrown(() => atob("a"))); note(thrown(() => btoa("日")));

    const u = new URL("../é b/./c?q='x y#f", "http://User:p@EXample.com:8080/a/b/c");
    note(u.href); note(u.origin); note(u.host);
    u.searchParams.append("k", "v w"); u.searchParams.sort(); u.searchParams.delete("zz"); u.searchParams.set("k", "2");
    note(u.search); note(u.searchParams.getAll("k")[0]); note(u.searchParams.size);
    u.pathname = "/x/../y\\z"; u.port = "9"; u.host = "[1:0:0:2::3]:1"; u.protocol = "https"; u.username = "a b"; u.hash = "h h"; u.search = "?1=%ff%41+";
    note(u); note(new URL("http://0x7f.1/").host); note(new URL("http://BÜCHER。de/").host); note(new URL("file:///C|/../a").href); note(new URL("foo:/a/b").href);
    note(thrown(() => new URL("x"))); note(URL.canParse("a:b")); note(URL.parse("q", "http://h/a/b").href); note(u.toJSON());
    const p = new URLSearchParams("?a=1&b=%F0%9F%9A%80+x&c=%e2%98");
    const entries = p.entries();
    for (let step; !(step = entries.next()).done;) { note(step.value[0]); note(step.value[1]); }
    const keys = p.keys();
    for (let step; !(step = keys.next()).done;) note(step.value);
    p.forEach((v, k) => { note(k + v); });
    note(new URLSearchParams({ __proto__: null, "x y": "~'" }));

    const c = structuredClone(value);
    note(c.cycle === c); note(mapGet(c.map, "k").deep[2]); note(getOwnPropertyDescriptor(mapGet(c.map, "k").deep, 1) === undefined); note(setHas(c.set, "x")); note(time(c.date));
    note(c.error.message); note(c.error.cause.c); note(c.list[1].a); note(c.typed[1]); note(getPrototypeOf(c) === getPrototypeOf({})); note(ownKeys(c)[5]);
    note(thrown(() => structuredClone({ f() {} }))); note(thrown(() => structuredClone(Symbol())));
    return out;
  };

  const before = run();

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
      const name = path + "." + (typeof key === "symbol" ? "@@" + symbolText(key) : key);
      if (key === "constructor" || key === "prototype" || key === "__proto__" || !property.configurable) continue;
      if (typeof property.value === "function") {
        defineProperty(object, key, { __proto__: null, value: trap(name), configurable: true, writable: true });
      } else if (property.get !== undefined) {
        defineProperty(object, key, { __proto__: null, get: trap(name), set: trap(name), configurable: true });
      }
    }
  };
  const symbolText = uncurry(Symbol.prototype.toString);
  const names = bare([
    "Object", "Function", "Array", "String", "Number", "Boolean", "BigInt", "Symbol", "RegExp", "Map", "Set", "WeakMap", "ArrayBuffer", "DataView", "Date",
    "Error", "TypeError", "RangeError", "DOMException", "Promise", "Iterator", "Uint8Array", "Uint16Array", "URL", "URLSearchParams", "TextDecoder",
  ]);
  const targets = bare([]);
  for (let i = 0; i < names.length; i++) {
    const constructor = globalThis[names[i]];
    append(targets, constructor, names[i]);
    append(targets, constructor.prototype, names[i] + ".prototype");
  }
  append(targets, getPrototypeOf(Uint8Array), "TypedArray");
  append(targets, getPrototypeOf(Uint8Array).prototype, "TypedArray.prototype");
  append(targets, getPrototypeOf([][Symbol.iterator]()), "ArrayIterator.prototype");
  append(targets, getPrototypeOf(""[Symbol.iterator]()), "StringIterator.prototype");
  append(targets, JSON, "JSON"); append(targets, Math, "Math"); append(targets, Reflect, "Reflect");
  const globals = bare(["escape", "unescape", "encodeURIComponent", "decodeURIComponent", "parseInt", "parseFloat", "isNaN"]);
  for (let i = 0; i < globals.length; i++) globalThis[globals[i]] = trap(globals[i]);
  for (let i = 0; i < targets.length; i += 2) {
    const api = targets[i] === URL.prototype || targets[i] === URL || targets[i] === URLSearchParams || targets[i] === URLSearchParams.prototype || targets[i] === TextDecoder.prototype || targets[i] === DOMException.prototype;
    if (!api) hijack(targets[i], targets[i + 1]);
  }
  for (let i = 0; i < 12; i++) {
    defineProperty(Array.prototype, i, { __proto__: null, get: trap("Array.prototype[i]"), set: trap("Array.prototype[i]"), configurable: true });
  }
  for (const key of { __proto__: null, [Symbol.iterator]: function* () { yield "get"; yield "set"; yield "writable"; yield "maxByteLength"; yield "index"; yield "lastIndex"; yield "flags"; yield "code"; yield "input"; yield "base"; yield "key"; yield "at"; } }) {
    defineProperty(Object.prototype, key, { __proto__: null, get: trap("Object.prototype." + key), set: trap("Object.prototype." + key), configurable: true });
  }
  for (const name of { __proto__: null, [Symbol.iterator]: function* () { yield "TypeError"; yield "RangeError"; yield "Map"; yield "RegExp"; yield "Uint8Array"; yield "Uint16Array"; yield "ArrayBuffer"; yield "Object"; yield "String"; } }) {
    globalThis[name] = trap(name);
  }

  let after;
  try {
    after = run();
  } catch (error) {
    after = "threw " + error + " " + error?.stack;
  }
  return before + "====\n" + after + "====\n" + called;
})()
