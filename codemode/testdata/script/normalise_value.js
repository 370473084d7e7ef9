// The value that a cell returns (specification 3.2): a copy of data, property by property, in which no
// hook of the cell takes part. Date, Map and their like are not converted for the cell: it does that itself.
---
// Nothing returned is null.
---
return undefined
//> value null
---
return null
//> value null
---
return true
//> value true
---
return "a\u0000b \"quoted\" \\ \n é 😀"
//> value "a\u0000b \"quoted\" \\ \n é 😀"
---
// A lone surrogate keeps its identity as an escape.
return { "\udc00": "\ud83d" }
//> value {"\udc00":"\ud83d"}
---
return [0, -0, 0.1, 1e20, 1e21, 1e-6, 1e-7, 5e-324, 2 ** 53, -1.5]
//> value [0,0,0.1,100000000000000000000,1e+21,0.000001,1e-7,5e-324,9007199254740992,-1.5]
---
// NaN and the infinities are null, at any depth.
return NaN
//> value null
---
return { n: NaN, i: [Infinity, -Infinity] }
//> value {"n":null,"i":[null,null]}
---
// Functions and symbols: dropped from objects, null in arrays and at the top.
return () => 1
//> value null
---
return Symbol("x")
//> value null
---
return { f() {}, g: class {}, s: Symbol("x"), u: undefined, kept: 1 }
//> value {"kept":1}
---
return [() => 1, Symbol("x"), undefined, null]
//> value [null,null,null,null]
---
// Arrays: every index is read, a hole is null, other properties are dropped.
const a = [1, , 3]
a.extra = 1
a[5] = 6
return a
//> value [1,null,3,null,null,6]
---
// A hole lets a value of the prototype through, as reading does.
Array.prototype[1] = "inherited"
return [1, , 3]
//> value [1,"inherited",3]
---
// Own enumerable string keys only.
const o = Object.create({ inherited: 1 })
o.own = 2
Object.defineProperty(o, "hidden", { value: 3 })
o[Symbol("s")] = 4
return o
//> value {"own":2}
---
// Keys that are array indexes come first, by number, then the others as they were added.
return { b: 1, 10: 2, a: 3, 9: 4, "-1": 5, "01": 6, 4294967295: 7 }
//> value {"9":4,"10":2,"b":1,"a":3,"-1":5,"01":6,"4294967295":7}
---
// __proto__ and constructor are keys like others.
return JSON.parse('{"__proto__":{"x":1},"constructor":2}')
//> value {"__proto__":{"x":1},"constructor":2}
---
const o = { ["__proto__"]: new Date(0), d: 1 }
return o
//> value {"__proto__":{},"d":1}
---
// toJSON is never called, own or inherited, Date's included.
return { d: new Date(0), o: { x: 1, toJSON() { text("called"); return "changed" } } }
//> value {"d":{},"o":{"x":1}}
---
class Money { constructor() { this.cents = 5 } get euros() { return 0.05 } toJSON() { return "changed" } }
return new Money()
//> value {"cents":5}
---
Object.prototype.toJSON = Array.prototype.toJSON = String.prototype.toJSON = () => "forged"
return { a: ["s", { b: 1 }] }
//> value {"a":["s",{"b":1}]}
---
// A property of that name is kept if it is data.
return { toJSON: "data" }
//> value {"toJSON":"data"}
---
// Instances of built-ins have no own enumerable properties.
return [new Date(0), new Map([[1, 2]]), new Set([1]), /x/g, new WeakMap(), new ArrayBuffer(8), new DataView(new ArrayBuffer(1))]
//> value [{},{},{},{},{},{},{}]
---
return [new String("xy"), new Number(1), new Boolean(true), Object(Symbol("s"))]
//> value [{"0":"x","1":"y"},{},{},{}]
---
return { t: new Uint8Array([7, 8]), f: new Float32Array([0.5, NaN]) }
//> value {"t":{"0":7,"1":8},"f":{"0":0.5,"1":null}}
---
return (function () { return arguments })(1, "b")
//> value {"0":1,"1":"b"}
---
// An error is its name, its message and its own enumerable fields.
return Object.assign(new TypeError("m"), { code: "E_X", when: new Date(0), toJSON() { return 1 } })
//> value {"name":"TypeError","message":"m","code":"E_X","when":{}}
---
class MyError extends Error { constructor(m) { super(m); this.name = "MyError"; this.extra = { n: 1 } } }
return [new MyError("mine"), new Error("with cause", { cause: 1 }), new AggregateError([1], "many")]
//> value [{"name":"MyError","message":"mine","extra":{"n":1}},{"name":"Error","message":"with cause"},{"name":"AggregateError","message":"many"}]
---
// The rejection of a settled promise is an error like others.
return (await Promise.allSettled([fail({ message: "boom" }), echo(2)])).map((s) => s.reason ?? s.value)
//> value [{"name":"Error","message":"boom","code":"tool_error","effectStatus":"unknown"},2]
---
// C013: a promise that was not awaited is a note that says so; a field named then is data.
return [new Promise(() => {}), { then: 1 }]
//> value ["[Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]",{"then":1}]
---
class Lazy extends Promise {}
return { deep: [{ p: echo(1), q: Lazy.resolve(2) }] }
//> value {"deep":[{"p":"[Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]","q":"[Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]"}]}
//> calls echo [1]
---
// What makes a promise is its class, not a method.
return [{ then() {} }, { then: "x", catch: 1 }]
//> value [{},{"then":"x","catch":1}]
---
// At the top a promise and a thenable are awaited: a cell is an async function.
return echo({ a: 1 })
//> value {"a":1}
---
return { then(resolve) { resolve("thenable") } }
//> value "thenable"
---
// A BigInt at the top is its digits, as a string.
return 123456789012345678901234567890n
//> value "123456789012345678901234567890"
---
// A BigInt inside makes the whole value a note of its kind: no digits are lost without a sign.
return { a: { b: 1n } }
//> value "[object Object]"
---
return [{ a: 1n }]
//> value "[object Array]"
---
return new BigInt64Array([1n])
//> value "[object Object]"
---
// Found before anything is asked how to convert it.
BigInt.prototype.toJSON = () => { text("called"); return 1 }
return [1n]
//> value "[object Array]"
---
// A cycle does the same.
const o = { a: 1 }
o.self = o
return o
//> value "[object Object]"
---
const a = [1]
a.push({ up: a })
return a
//> value "[object Array]"
---
// A value that occurs twice is no cycle.
const shared = { x: 1 }
return { a: shared, b: [shared, shared] }
//> value {"a":{"x":1},"b":[{"x":1},{"x":1}]}
---
// C014: a getter is read once, as part of the cell: its output and its calls count.
let reads = 0
return { get a() { reads++; text("late"); return reads }, get b() { void mutate({ i: reads }); return 2 }, get c() { return reads } }
//> value {"a":1,"b":2,"c":1}
//> output [{"type":"text","text":"late"}]
//> calls mutate [{"i":1}]
---
// A call that a getter made and nobody handles fails the cell, like any other.
return { get a() { void fail({ message: "in a getter" }); return 1 } }
//> failed internal_error guest
//> error /^Error: in a getter\n/
//> calls fail [{"message":"in a getter"}]
---
const list = [1]
Object.defineProperty(list, 0, { get() { text("read"); return 9 }, enumerable: true })
return list
//> value [9]
//> output [{"type":"text","text":"read"}]
---
// A getter that throws fails the cell, with its error: also a TypeError, which a cycle would be.
return { a: [{ get b() { throw new TypeError("no b") } }] }
//> failed internal_error guest
//> error TypeError: no b
//> error     at get b (cell.js:2:36)
---
return new Proxy({}, { ownKeys() { throw new RangeError("trapped") } })
//> failed internal_error guest
//> error RangeError: trapped
//> error     at ownKeys (cell.js:1:46)
---
return [new Proxy({ a: 1 }, {}), new Proxy([1, 2], {}), new Proxy(function () {}, {})]
//> value [{"a":1},[1,2],null]
---
// C017, the whole of it.
return { p: JSON.parse('{"__proto__":{"x":1},"constructor":2}'), u: undefined, n: NaN, i: -Infinity, z: -0,
  h: [1, , 3], t: new Uint8Array([7, 8]), m: new Map([[1, 2]]), f() {}, d: new Date(0), o: { toJSON() { return "changed"; } } };
//> value {"p":{"__proto__":{"x":1},"constructor":2},"n":null,"i":null,"z":0,"h":[1,null,3],"t":{"0":7,"1":8},"m":{},"d":{},"o":{}}
---
// The encoder works with what it took before the cell began.
JSON.stringify = () => "forged"
Object.keys = Array.isArray = Error.isError = Reflect.ownKeys = null
Array.prototype[Symbol.iterator] = function* () { yield "forged" }
Object.defineProperty(Promise, Symbol.hasInstance, { value: () => true })
String.prototype.concat = () => "forged"
return { d: [new Date(0)], e: new Error("x"), n: 1 }
//> value {"d":[{}],"e":{"name":"Error","message":"x"},"n":1}
---
// Setters on prototypes see nothing of the copy.
for (const key of ["a", "b", "name", "message", "toJSON"]) {
  Object.defineProperty(Object.prototype, key, { set() { throw new Error("seen") }, configurable: true })
}
return { a: [1, { a: new Date(0) }], e: new Error("x") }
//> value {"a":[1,{"a":{}}],"e":{"name":"Error","message":"x"}}
---
// A value may be nested deeply.
let deep = 0
for (let i = 0; i < 2000; i++) deep = [{ deep }]
return JSON.stringify(deep).length
//> value 22001
