// Programs that yield in odd ways, or replace what the host or the guest could lean on (specification 13.1): they break only themselves.
---
// Reasons: what JSON has no form for is null, as for a tool; data stay as they are.
const reasons = []
for (const reason of [undefined, null, "", 0, -0, NaN, true, Symbol("s"), () => 1, [undefined], { a: undefined }, new Date(0), new Map([[1, 2]]), "\ud800", "\0"]) {
  reasons.push((await yield_control(reason)).reason)
}
return reasons
//> waiting yield 15
//> value [null,null,"",0,0,null,true,null,null,[null],{},"1970-01-01T00:00:00.000Z",{},"\ud800","\u0000"]
---
// What cannot be serialised throws at the call, and nothing waits.
const cycle = {}; cycle.self = cycle
const seen = []
for (const reason of [1n, cycle, { get a() { throw new RangeError("no") } }, { toJSON() { throw new Error("json") } }]) {
  try { await yield_control(reason) } catch (e) { seen.push(e.name) }
}
return seen
//> value ["TypeError","TypeError","RangeError","Error"]
---
// toJSON of a reason, a getter that yields again, and one that calls a tool.
const inner = []
const y = yield_control({ get a() { inner.push(yield_control("inner")); return 1 }, get b() { inner.push(echo("tool")); return 2 } })
const z = yield_control({ toJSON() { return "json" } })
return [(await y).reason, (await z).reason, (await inner[0]).reason, await inner[1]]
//> waiting pending_tools
//> value [{"a":1,"b":2},"json","inner","tool"]
---
// A reason of 64 KiB, one with numbers that no double holds exactly, one that is nested deeply, and one that names the prototype.
const long = "r".repeat(65536), deep = JSON.parse("[".repeat(500) + "]".repeat(500))
const a = await yield_control(long), b = await yield_control(9007199254740993), c = await yield_control(deep), d = await yield_control(JSON.parse('{"__proto__":{"x":1}}'))
return [a.reason === long, b.reason, JSON.stringify(c.reason) === JSON.stringify(deep), Object.hasOwn(d.reason, "__proto__"), d.reason.x]
//> waiting yield 4
//> value [true,9007199254740992,true,true,null]
---
// yield_control cannot be replaced or removed.
"use strict"
const seen = []
try { yield_control = 1 } catch (e) { seen.push(e.name) }
try { delete globalThis.yield_control } catch (e) { seen.push(e.name) }
try { Object.defineProperty(globalThis, "yield_control", { value: 1 }) } catch (e) { seen.push(e.name) }
try { yield_control.x = 1 } catch (e) { seen.push(e.name) }
return [seen, yield_control.name, Object.isFrozen(yield_control), (await yield_control("still")).reason]
//> waiting yield
//> value [["TypeError","TypeError","TypeError","TypeError"],"yield_control",true,"still"]
---
// Built-ins that were replaced before the wait: the program sees its own, the host's work does not.
const { then } = Promise.prototype
let thens = 0
Promise.prototype.then = function (...args) { thens++; return Reflect.apply(then, this, args) }
JSON.stringify = () => '"forged"'
JSON.parse = () => "forged"
Map.prototype.get = Map.prototype.set = () => { throw new Error("Map") }
Array.prototype.push = () => { throw new Error("push") }
globalThis.Promise = class {}
globalThis.Error = class {}
for (const key of ["resolve", "status", "reason", "toJSON", "then", "get", "set", "value"]) {
  Object.defineProperty(Object.prototype, key, { configurable: true, get() { return "forged" }, set() { throw key } })
}
const y = await yield_control({ __proto__: null, own: 1 })
let message
try { await fail({ message: "m" }) } catch (e) { message = e.message }
const answer = [Object.keys(y).join(), Object.getOwnPropertyDescriptor(y, "status").value, Object.keys(y.reason)[0], message, await echo("e")]
for (const key of ["resolve", "status", "reason", "toJSON", "then", "get", "set", "value"]) delete Object.prototype[key]
return answer
//> waiting yield
//> value ["status,reason","yielded","own","m","e"]
---
// Array.prototype setters and a number that is no integer any more do not move a call to another slot.
for (const key of [0, 1, 2]) Object.defineProperty(Array.prototype, key, { configurable: true, get: () => "forged", set() { throw new Error("set " + key) } })
Number.prototype.valueOf = () => 0
Math.floor = () => 0.5
const list = { __proto__: null, length: 3, a: yield_control("a"), b: echo("b"), c: yield_control("c") }
const a = (await list.a).reason, b = await list.b, c = (await list.c).reason
for (const key of [0, 1, 2]) delete Array.prototype[key]
return [a, b, c]
//> waiting pending_tools
//> value ["a","b","c"]
---
// Error.stackTraceLimit that yields and calls while the host makes the Error of a failed call.
const more = []
let first = true
const failed = fail({ message: "m" })
Error.stackTraceLimit = { valueOf() { if (first) { first = false; more.push(echo("x"), yield_control("y")) } return 5 } }
let message
try { await failed } catch (e) { message = e.message }
return [message, await more[0], (await more[1]).reason]
//> waiting pending_tools
//> value ["m","x","y"]
---
// A species, a subclass and a foreign then of what yield_control gives.
class Mine extends Promise {}
const y = yield_control("mine")
Object.defineProperty(y, "constructor", { value: Mine })
const chained = y.then((v) => v.reason)
return [chained instanceof Mine, await chained, y.constructor === Mine]
//> waiting yield
//> value [true,"mine",true]
---
// Yields inside of toJSON while output is emitted, and inside of toString of an exception.
json({ toJSON() { void yield_control("json").then(() => text("json resumed")); return 1 } })
await slow({ ms: 1 })
throw { toString() { void yield_control("never"); return "thrown" } }
//> waiting pending_tools
//> output [{"type":"json","value":1},{"type":"text","text":"json resumed"}]
//> failed internal_error guest
//> error thrown
---
// A cell that fails while a yield is pending does not wait.
void yield_control()
throw new Error("at once")
//> failed internal_error
//> error Error: at once
//> error     at <anonymous> (cell.js:3:11)
---
// Nothing but a yield, called as a constructor, through Reflect, bind and call, and handed to map.
const seen = []
try { new yield_control() } catch (e) { seen.push(e.name) }
const all = await Promise.all([Reflect.apply(yield_control, null, ["r"]), yield_control.bind(null, "b")("c"), yield_control.call({}, "d"), ...[1, 2].map(yield_control)])
return [seen, all.map((y) => y.reason)]
//> waiting yield
//> value [["TypeError"],["r","b","d",1,2]]
---
// What a yield gives is the program's own.
const y = await yield_control({ list: [] })
y.reason.list.push(1); y.status = "changed"; y.more = true
return [y, Object.getPrototypeOf(y) === Object.prototype]
//> waiting yield
//> value [{"status":"changed","reason":{"list":[1]},"more":true},true]
