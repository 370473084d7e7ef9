// What a cell finds in its world, and what it can do to it: the documented globals, which it can neither replace nor
// remove; the language, of which it can break its own copy and nothing else (case C075); and no way to the host but
// those globals. What one cell leaves behind the next does not find.
---
// All that is there beside the language and the tools.
const language = new Set(["AggregateError", "Array", "ArrayBuffer", "BigInt", "BigInt64Array", "BigUint64Array", "Boolean", "DataView",
  "Date", "Error", "EvalError", "FinalizationRegistry", "Float16Array", "Float32Array", "Float64Array", "Function", "Infinity", "Int16Array",
  "Int32Array", "Int8Array", "Iterator", "JSON", "Map", "Math", "NaN", "Number", "Object", "Promise", "Proxy", "RangeError",
  "ReferenceError", "Reflect", "RegExp", "Set", "String", "Symbol", "SyntaxError", "TypeError", "URIError", "Uint16Array", "Uint32Array",
  "Uint8Array", "Uint8ClampedArray", "WeakMap", "WeakRef", "WeakSet", "decodeURI", "decodeURIComponent", "encodeURI",
  "encodeURIComponent", "escape", "eval", "globalThis", "isFinite", "isNaN", "parseFloat", "parseInt", "undefined", "unescape"])
return Object.getOwnPropertyNames(globalThis).filter((name) => !language.has(name)).sort()
//> value ["API","DOMException","InternalError","TextDecoder","TextEncoder","URL","URLSearchParams","atob","blob","broken","btoa","catalog","clearTimeout","console","crash","echo","fail","gate","json","log_event","mutate","queueMicrotask","reply","results","rows","setTimeout","skills","slow","structuredClone","text","unmarshalable","yield_control"]
---
// Nothing of a browser, of Node, of a shell, and no second clock.
return ["fetch", "process", "require", "module", "exports", "Buffer", "performance", "SharedArrayBuffer", "Atomics", "WebAssembly", "Intl",
  "setInterval", "setImmediate", "navigator", "window", "self", "global", "crypto", "Worker", "XMLHttpRequest", "std", "os", "bjson",
  "print", "gc", "scriptArgs", "exec", "wait"].filter((name) => name in globalThis)
//> value []
---
// C077: the tools that the model itself is given cannot be reached from inside.
exec({ title: "inner", code: "return 1" })
//> failed internal_error guest
//> error /^ReferenceError: exec is not defined/
---
// The host's globals are fixed; tools are fixed but for delete.
const attributes = (name) => {
  const d = Object.getOwnPropertyDescriptor(globalThis, name)
  return (d.writable ? "w" : "-") + (d.enumerable ? "e" : "-") + (d.configurable ? "c" : "-")
}
return ["text", "json", "console", "setTimeout", "clearTimeout", "TextEncoder", "TextDecoder", "URL", "URLSearchParams", "structuredClone", "atob", "btoa"].map(attributes).concat(attributes("echo"))
//> value ["---","---","---","---","---","---","---","---","---","---","---","---","-ec"]
---
return [text, json, console, console.log, setTimeout, clearTimeout, echo].every(Object.isFrozen)
//> value true
---
// Assigning to them does nothing, deleting neither.
text = echo = console = 5
globalThis.json = 6
delete globalThis.text
text("still")
json("there")
return await echo(1)
//> value 1
//> output [{"type":"text","text":"still"},{"type":"json","value":"there"}]
---
"use strict"
const seen = []
for (const act of [() => { text = 1 }, () => { globalThis.echo = 1 }, () => delete globalThis.json, () => Object.defineProperty(globalThis, "text", { value: 1 })]) {
  try { act(); seen.push("done") } catch (e) { seen.push(e.name) }
}
return seen
//> value ["TypeError","TypeError","TypeError","TypeError"]
---
// A cell's own variables may have these names.
const text = "mine", echo = 1, JSON = 2, console = 3, setTimeout = 4
return [text, echo, JSON, console, setTimeout]
//> value ["mine",1,2,3,4]
---
function text(x) { return "local " + x }
let mutate = (x) => x
var json = 5
return [text(1), mutate(2), json, typeof globalThis.mutate]
//> value ["local 1",2,5,"function"]
---
// var makes no global; an assignment to an undeclared name does, for this cell.
var local = 1
undeclared = 2
return [typeof globalThis.local, globalThis.undeclared]
//> value ["undefined",2]
---
// The next cell finds nothing of it.
globalThis.left = Array.prototype.left = Math.left = 1
Object.prototype.left = 2
//> value null
---
return [typeof left, [].left, Math.left, typeof undeclared]
//> value ["undefined",null,null,"undefined"]
---
// C075: the envelope is true, whatever the cell does to its built-ins.
JSON.stringify = () => '{"forged":true}'; JSON.parse = () => ({ forged: true });
Promise.prototype.then = function () { return this; }; Array.prototype.map = () => ["forged"];
globalThis.catalog = globalThis.text = null;
const r = await echo({ a: 1 });
return [r, Object.getOwnPropertyNames(globalThis).filter(k => /host|bridge|settle|^__/i.test(k))];
//> value [{"a":1},[]]
//> calls echo [{"a":1}]
---
// C075 with a toJSON on every object: it may change the cell's own argument, nothing else.
Object.prototype.toJSON = () => "forged";
JSON.stringify = () => '{"forged":true}'; JSON.parse = () => ({ forged: true });
Promise.prototype.then = function () { return this; }; Array.prototype.map = () => ["forged"];
globalThis.catalog = globalThis.text = null;
const r = await echo({ a: 1 });
return [r, Object.getOwnPropertyNames(globalThis).filter(k => /host|bridge|settle|^__/i.test(k))];
//> value ["forged",[]]
//> calls echo ["forged"]
---
// The next cell has pristine built-ins.
return [JSON.stringify({ a: [1] }), JSON.parse("[1]"), [1].map((x) => x + 1), await Promise.resolve(1).then((x) => x + 1)]
//> value ["{\"a\":[1]}",[1],[2],2]
---
// Every built-in that could be in use, replaced.
const seen = []
const trap = (name) => function () { seen.push(name); throw new Error("trapped in " + name) }
const objects = { Object, Array, Reflect, JSON, Map, Promise, Number, String, Math, Error, Symbol }
const { getOwnPropertyNames: own, getOwnPropertyDescriptor: describe, defineProperty: define, keys } = Object
for (const name of keys(objects)) {
  for (const target of [objects[name], objects[name].prototype]) {
    if (target === undefined) continue
    for (const key of own(target)) {
      if (typeof describe(target, key).value !== "function" || key === "constructor" || key === "then") continue // then is for await
      define(target, key, { value: trap(name + "." + key) })
    }
  }
}
text("emitted")
json({ d: { a: [1] }, e: 1 })
const r = await echo({ a: 1 })
let code
try { await fail({ message: "boom" }) } catch (e) { code = e.code }
setTimeout(() => text("fired"), 0)
clearTimeout(setTimeout(() => text("not fired"), 0))
return { r, code, seen }
//> value {"r":{"a":1},"code":"tool_error","seen":[]}
//> output [{"type":"text","text":"emitted"},{"type":"json","value":{"d":{"a":[1]},"e":1}},{"type":"text","text":"fired"}]
---
// Calls go through no function that can be replaced.
const seen = []
const { call, apply } = Function.prototype, invoke = Reflect.apply
Function.prototype.call = function (...args) { seen.push(this); return invoke(call, this, args) }
Function.prototype.apply = function (...args) { seen.push(this); return invoke(apply, this, args) }
Reflect.apply = (...args) => { seen.push(args[0]); return invoke(...args) }
text("t")
json({ d: new Date(0) })
await echo({ d: new Date(0) })
await fail({ message: "m" }).catch(() => {})
setTimeout(() => {}, 0)
await slow({ ms: 2 })
return seen.length
//> value 0
//> output [{"type":"text","text":"t"},{"type":"json","value":{"d":"1970-01-01T00:00:00.000Z"}}]
---
// The promise of a call is made by the engine's own constructor, and only its call settles it.
const seen = []
globalThis.Promise = class extends Promise { constructor(f) { seen.push(f); super(f) } }
const p = echo(1)
return [await p, seen.length, typeof p.resolve, Object.getOwnPropertyNames(p)]
//> value [1,0,"undefined",[]]
---
// Stacks hand out no functions.
let frames = "none"
Error.prepareStackTrace = (e, list) => { frames = list; return "" }
Error.stackTraceLimit = 100
json({ toJSON() { new Error().stack; return 1 } })
return frames
//> value "none"
//> output [{"type":"json","value":1}]
---
const seen = []
for (const f of [text, echo, setTimeout]) {
  for (const key of ["caller", "arguments"]) { try { seen.push(typeof f[key]) } catch (e) { seen.push(e.name) } }
}
return seen
//> value ["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]
---
const caller = function () { return caller.caller }
const found = []
json({ toJSON() { try { found.push(String(caller())) } catch (e) { found.push(e.name) } } })
return found.join().includes("host")
//> value false
//> output [{"type":"json","value":"[object Object]"}]
---
// Sizes beyond what the engine can compute are refused.
const taken = []
for (const method of ["with", "toReversed", "toSorted", "toSpliced"]) {
  for (const length of [2 ** 29, 2 ** 31, 2 ** 32 - 1, 2 ** 53 - 1]) {
    try { Array.prototype[method].call({ length }, ...(method === "with" ? [0, 0] : [])); taken.push(method, length) } catch {}
  }
}
for (const method of ["transfer", "transferToFixedLength"]) {
  for (const length of [2 ** 30, 2 ** 31, 2 ** 32, 2 ** 53 - 1]) {
    try { new ArrayBuffer(8)[method](length); taken.push(method, length) } catch {}
  }
}
return taken
//> value []
---
// Otherwise these methods are what they are elsewhere.
const buffer = new ArrayBuffer(8)
return [[3, 1, 2].toSorted(), [3, 1].toSorted((a, b) => b - a), [1, 2].toReversed(), [1, 2, 3].toSpliced(0, 1, 9), [1, 2].with(-1, 5),
  buffer.transfer().byteLength, buffer.detached, new ArrayBuffer(8).transfer("4").byteLength,
  Array.prototype.with.length, Array.prototype.toSorted.name, Object.getOwnPropertyDescriptor(Array.prototype, "with").enumerable]
//> value [[1,2,3],[3,1],[2,1],[9,2,3],[1,5],8,true,4,2,"toSorted",false]
---
// There is no time zone, and the clock is Date.
return [new Date(0).getTimezoneOffset(), new Date(0).toString(), Math.abs(Date.now() - new Date()) < 1000]
//> value [0,"Thu Jan 01 1970 00:00:00 GMT+0000",true]
---
// The web APIs work.
return [new TextDecoder().decode(new TextEncoder().encode("é😀")), structuredClone({ d: new Date(0), m: new Map([[1, [2]]]) }).m.get(1),
  new URL("../c?q=1#h", "http://x.y/a/b").href, new URLSearchParams({ a: "1 2", b: "&" }).toString(), atob(btoa("hi\u00ff")) === "hi\u00ff"]
//> value ["é😀",[2],"http://x.y/c?q=1#h","a=1+2&b=%26",true]
---
const random = [Math.random(), Math.random()]
return random[0] !== random[1] && random.every((x) => x >= 0 && x < 1)
//> value true
