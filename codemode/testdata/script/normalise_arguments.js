// The argument of a tool (specification 3.3): what JSON.stringify makes of it, at the call. Unlike what is emitted
// or returned, an argument that JSON has no form for is an exception at the call, and nothing is sent.
---
// No argument, null and what JSON drops are an empty object.
for (const argument of [undefined, null, {}, () => 1, Symbol("x")]) await echo(argument)
await echo()
//> calls echo [{},{},{},{},{},{}]
---
// Any JSON value goes; whether a tool takes it is for its schema to say.
for (const argument of [1, "s", true, [1, [2]], { a: { b: null } }]) await echo(argument)
//> calls echo [1,"s",true,[1,[2]],{"a":{"b":null}}]
---
// toJSON is honoured; promises, maps and errors are empty objects.
class Money { toJSON(key) { return "money " + key } }
await echo({ d: new Date(0), m: new Money(), p: Promise.resolve(1), map: new Map([[1, 2]]), e: new Error("x"), t: new Uint8Array([7]) })
await echo(new Date(0))
//> calls echo [{"d":"1970-01-01T00:00:00.000Z","m":"money m","p":{},"map":{},"e":{},"t":{"0":7}},"1970-01-01T00:00:00.000Z"]
---
await echo({ u: undefined, f() {}, s: Symbol("x"), n: NaN, i: -Infinity, z: -0, h: [1, , undefined, () => 1] })
//> calls echo [{"n":null,"i":null,"z":0,"h":[1,null,null,null]}]
---
await echo(JSON.parse('{"__proto__":{"x":1},"b":1,"10":2,"9":3}'))
//> calls echo [{"9":3,"10":2,"__proto__":{"x":1},"b":1}]
---
// C006: characters that need care arrive; a lone surrogate becomes U+FFFD, since Go strings are UTF-8.
const r = await echo({ a: "x\u0000y", b: "\ud83d", c: "after", ["k\u0000ey"]: 1 });
return [r.a.length, r.c, Object.keys(r).length, r.b];
//> value [3,"after",4,"�"]
//> calls echo [{"a":"x\u0000y","b":"�","c":"after","k\u0000ey":1}]
---
// C015: a BigInt, a cycle and a hook that throws are exceptions at the call itself, and mutate is not called.
const seen = []
const attempt = (f) => { try { f(); seen.push("sent") } catch (e) { seen.push(e.name) } }
const cycle = {}
cycle.self = cycle
attempt(() => mutate({ i: 1n }))
attempt(() => mutate(cycle))
attempt(() => mutate({ toJSON() { throw new RangeError("no") } }))
attempt(() => mutate({ get i() { throw new EvalError("no") } }))
attempt(() => mutate(1n))
return seen
//> value ["TypeError","TypeError","RangeError","EvalError","TypeError"]
//> calls mutate []
---
// await sees them as well.
try { await mutate({ i: 1n }) } catch (e) { return e.name }
//> value "TypeError"
//> calls mutate []
---
// After such an exception the tool can be called.
for (let i = 0; i < 500; i++) { try { mutate({ i: 1n }) } catch {} }
return await mutate({ i: 7 })
//> value {"i":7}
//> calls mutate [{"i":7}]
---
// A BigInt that the cell gave a toJSON is JSON.
BigInt.prototype.toJSON = function () { return this.toString() }
await mutate({ i: 9007199254740993n })
//> calls mutate [{"i":9007199254740993}]
---
// The argument is that of the moment of the call.
const argument = { i: 1 }
const call = mutate(argument)
argument.i = 2
await call
//> calls mutate [{"i":1}]
---
// A hook may make calls of its own: they are requests like others.
let n = 0
const r = await echo({ toJSON() { void mutate({ i: ++n }); return { n } } })
return [r, n]
//> value [{"n":1},1]
//> calls echo [{"n":1}]
//> calls mutate [{"i":1}]
---
// Only the first argument counts.
await echo({ a: 1 }, { b: 2 })
//> calls echo [{"a":1}]
---
// Shapes of objects that the fast way of reading them must see through.
const grown = {}
for (let i = 0; i < 40; i++) grown["k" + i] = i
for (let i = 0; i < 40; i++) if (i % 8) delete grown["k" + i]
const moved = { a: 1, b: 2, c: 3 }
delete moved.a
moved.a = 4
const cut = [1, 2, 3]
cut.length = 1
const long = [1]
long.length = 3
const spliced = [3, 4, 5]
spliced.unshift("z")
spliced.splice(1, 1)
const rope = "ab".repeat(9) + "é" + "c".repeat(9)
class Fields { #hidden = 1; shown = 2; static not = 3 }
await echo([grown, moved, cut, long, spliced, rope, rope.slice(16, 21), new Fields(), Object.freeze({ a: Object.freeze([1]) })])
//> calls echo [[{"k0":0,"k8":8,"k16":16,"k24":24,"k32":32},{"b":2,"c":3,"a":4},[1],[1,null,null],["z",4,5],"abababababababababéccccccccc","abécc",{"shown":2},{"a":[1]}]]
---
// A hook on a prototype is honoured however it came there.
Array.prototype.toJSON = () => "array"
await echo([1])
//> calls echo ["array"]
---
for (const key of Object.getOwnPropertyNames(Object.prototype)) delete Object.prototype[key]
Object.prototype.toJSON = () => "object"
await echo({ a: 1 })
//> calls echo ["object"]
---
Object.setPrototypeOf(Array.prototype, { toJSON: () => "array" })
await echo([1])
//> calls echo ["array"]
---
const own = [1]
own.toJSON = () => "own"
const other = Object.setPrototypeOf([1], { toJSON: () => "other" })
await echo([own, other])
//> calls echo [["own","other"]]
---
// Nested deeply, on the way in and back.
let deep = []
for (let i = 0; i < 3000; i++) deep = [deep]
let back = await echo(deep), depth = 0
while (back.length) { back = back[0]; depth++ }
return depth
//> value 3000
