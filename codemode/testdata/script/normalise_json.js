// What text and json emit (specification 3.1). Unlike the returned value, this goes by JSON.stringify: toJSON
// is called. What JSON has no form for becomes a string instead of an error.
---
// text gives a string as it is, and the JSON text of anything else.
text("plain \"quoted\"")
text({ a: [1, "x"] })
text(1.5)
text(null)
text(undefined)
text()
text(10n)
//> output [{"type":"text","text":"plain \"quoted\""},{"type":"text","text":"{\"a\":[1,\"x\"]}"},{"type":"text","text":"1.5"},{"type":"text","text":"null"},{"type":"text","text":"null"},{"type":"text","text":"null"},{"type":"text","text":"\"10\""}]
---
json("s")
json({ a: 1 })
json(null)
json(undefined)
json()
//> output [{"type":"json","value":"s"},{"type":"json","value":{"a":1}},{"type":"json","value":null},{"type":"json","value":null},{"type":"json","value":null}]
---
// Nothing is returned by them.
return [text("x"), json(1)]
//> value [null,null]
//> output [{"type":"text","text":"x"},{"type":"json","value":1}]
---
// In order of the calls, the console's among them.
text("a")
json(1)
console.log("c")
await echo(1)
text("b")
//> output [{"type":"text","text":"a"},{"type":"json","value":1},{"type":"text","text":"c"},{"type":"text","text":"b"}]
---
// What is emitted is the value of that moment.
const o = { a: 1 }
json(o)
o.a = 2
json(o)
//> output [{"type":"json","value":{"a":1}},{"type":"json","value":{"a":2}}]
---
// Strings with characters that need care.
text("a\u0000b é 😀 </script> &")
json({ "k\u0000": "\ud83d" })
//> output [{"type":"text","text":"a\u0000b é 😀 </script> &"},{"type":"json","value":{"k\u0000":"\ud83d"}}]
---
// NaN and infinities are null; what is not data is dropped from objects and null in arrays.
json([NaN, Infinity, -0])
json({ n: -Infinity, u: undefined, f() {}, s: Symbol("x") })
json([1, , undefined, () => 1, Symbol("x")])
//> output [{"type":"json","value":[null,null,0]},{"type":"json","value":{"n":null}},{"type":"json","value":[1,null,null,null,null]}]
---
// toJSON is honoured: Date's, a class's, an object's own, with the key as argument.
class Money { constructor() { this.cents = 5 } toJSON(key) { return "money " + key } }
json(new Date(0))
json({ d: new Date(0), bad: new Date(NaN), m: new Money() })
json(new Money())
json({ a: { toJSON: (key) => ["own", key] } })
text({ a: { toJSON() { return undefined } } })
//> output [{"type":"json","value":"1970-01-01T00:00:00.000Z"},{"type":"json","value":{"d":"1970-01-01T00:00:00.000Z","bad":null,"m":"money m"}},{"type":"json","value":"money "},{"type":"json","value":{"a":["own","a"]}},{"type":"text","text":"{}"}]
---
// Instances without toJSON are left to JSON.stringify.
class Point { constructor() { this.x = 1 } get y() { return 2 } }
json([new Map([[1, 2]]), new Set([1]), /x/g, new Point(), new Uint8Array([7, 8]), new ArrayBuffer(2)])
json([new String("x"), new Number(3), new Boolean(false)])
//> output [{"type":"json","value":[{},{},{},{"x":1},{"0":7,"1":8},{}]},{"type":"json","value":["x",3,false]}]
---
// An error is its name, message and own enumerable fields; its toJSON is not called.
json(new TypeError("m"))
json({ e: Object.assign(new RangeError("m"), { code: "E", when: new Date(0), toJSON() { return 1 } }) })
text(new Error("t", { cause: 1 }))
//> output [{"type":"json","value":{"name":"TypeError","message":"m"}},{"type":"json","value":{"e":{"name":"RangeError","message":"m","code":"E","when":"1970-01-01T00:00:00.000Z"}}},{"type":"text","text":"{\"name\":\"Error\",\"message\":\"t\"}"}]
---
// A failed call shows its code.
try { await fail({ message: "boom" }) } catch (e) { json(e) }
//> output [{"type":"json","value":{"name":"Error","message":"boom","code":"tool_error","effectStatus":"unknown"}}]
---
// C013: a promise that was not awaited says so.
json([new Promise(() => {}), { then: 1 }])
text(echo(1))
json({ a: { b: Promise.resolve() } })
//> output [{"type":"json","value":["[Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]",{"then":1}]},{"type":"text","text":"\"[Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]\""},{"type":"json","value":{"a":{"b":"[Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]"}}}]
---
// Keys such as __proto__ are data.
json(JSON.parse('{"__proto__":{"x":1},"constructor":2}'))
json({ __proto__: { inherited: 1 }, own: 2 })
json(Object.create(null, { a: { value: 1, enumerable: true } }))
//> output [{"type":"json","value":{"__proto__":{"x":1},"constructor":2}},{"type":"json","value":{"own":2}},{"type":"json","value":{"a":1}}]
---
// The same object twice is no cycle. Getters run, once.
let reads = 0
const shared = { get x() { return ++reads } }
json([shared, shared])
//> output [{"type":"json","value":[{"x":1},{"x":1}]}]
---
// What has no JSON text at all: String(value).
json(12n)
json(Symbol("s"))
json(function named(a) { return a })
json({ a: 1n })
json([[2n]])
//> output [{"type":"json","value":"12"},{"type":"json","value":"Symbol(s)"},{"type":"json","value":"function named(a) { return a }"},{"type":"json","value":"[object Object]"},{"type":"json","value":"2"}]
---
// A cycle, a getter and a toJSON that throw: String(value), too; an Error keeps its name and message.
const o = {}
o.self = o
json(o)
json({ get a() { throw new Error("no") } })
json({ toJSON() { throw new Error("no") } })
json(Object.defineProperty(new RangeError("m"), "x", { enumerable: true, get() { throw new Error("no") } }))
json(Object.assign(new RangeError("m"), { big: 1n }))
json({ a: 1n, toString() { return "mine" } })
//> output [{"type":"json","value":"[object Object]"},{"type":"json","value":"[object Object]"},{"type":"json","value":"[object Object]"},{"type":"json","value":{"name":"RangeError","message":"m"}},{"type":"json","value":{"name":"RangeError","message":"m"}},{"type":"json","value":"mine"}]
---
// Even what cannot be made a string is shown, and never fails the cell.
json({ a: 1n, toString() { throw 1 } })
text(new Proxy({}, { ownKeys() { throw 1 }, get() { throw 1 } }))
return "done"
//> value "done"
//> output [{"type":"json","value":"[unserializable]"},{"type":"text","text":"\"[unserializable]\""}]
---
// Hooks may emit and call, too: what they emit comes first.
json({ get a() { text("inner"); void mutate({ i: 1 }); return 1 } })
json([{ toJSON() { text("hook"); return 2 } }])
//> output [{"type":"text","text":"inner"},{"type":"json","value":{"a":1}},{"type":"text","text":"hook"},{"type":"json","value":[2]}]
//> calls mutate [{"i":1}]
---
// Built-ins that the cell replaced are not asked.
JSON.stringify = () => "forged"
String.prototype.toString = Array.prototype.join = () => "forged"
globalThis.String = () => "forged"
json({ d: new Date(0) })
text(1n)
text({ a: 1 })
//> output [{"type":"json","value":{"d":"1970-01-01T00:00:00.000Z"}},{"type":"text","text":"\"1\""},{"type":"text","text":"{\"a\":1}"}]
---
// A string is verbatim whatever was added to the prototypes.
Object.prototype.added = Array.prototype.added = 1
text("plain \"quoted\"")
console.log("logged")
json("s")
text({ a: [1] })
//> output [{"type":"text","text":"plain \"quoted\""},{"type":"text","text":"logged"},{"type":"json","value":"s"},{"type":"text","text":"{\"a\":[1]}"}]
---
// What was emitted before a failure is delivered.
text("before")
throw new Error("after")
//> output [{"type":"text","text":"before"}]
//> failed internal_error guest
//> error /^Error: after\n/
