// setTimeout and clearTimeout (specification 7.4).
---
// Ids count from 1.
return [setTimeout(() => {}, 0), setTimeout(() => {}, 1), setTimeout(() => {})]
//> value [1,2,3]
---
// Only a function will do.
const seen = []
for (const callback of ["code", undefined, null, {}]) { try { setTimeout(callback, 0) } catch (e) { seen.push(e.name) } }
return seen
//> value ["TypeError","TypeError","TypeError","TypeError"]
---
// Further arguments go to the callback; this is not the controller's.
return await new Promise((resolve) => setTimeout(function (...args) { resolve([args, this === undefined || this === globalThis]) }, 1, "a", 2, { b: 3 }))
//> value [["a",2,{"b":3}],true]
---
// In the order of their times, and of their start where those are equal.
const order = []
const at = (name, ms) => new Promise((resolve) => setTimeout(() => { order.push(name); resolve() }, ms))
await Promise.all([at("c", 40), at("a", 0), at("b", 20), at("a2", 0)])
return order
//> value ["a","a2","b","c"]
---
// A delay is a number, or made one: what is not finite or below zero is 0.
const order = []
for (const delay of [NaN, -5, "0", undefined, Infinity, -Infinity, null, [], { valueOf: () => 0 }, "soon", 0.9]) {
  await new Promise((resolve) => setTimeout(resolve, delay))
  order.push(1)
}
return order.length
//> value 11
---
// A delay that cannot be a number is an exception at the call, and no timer starts.
try { setTimeout(() => text("fired"), Symbol()) } catch (e) { return e.name }
//> value "TypeError"
---
try { setTimeout(() => text("fired"), { valueOf() { throw new RangeError("no") } }) } catch (e) { return e.name }
//> value "RangeError"
---
// The clock of the cell moves while it waits.
const began = Date.now()
await new Promise((resolve) => setTimeout(resolve, 30))
return Date.now() - began
//> value 30
---
// A live timer keeps the cell open.
setTimeout(() => { text("late"); setTimeout(async () => { await mutate({ i: 1 }); text("later") }, 1) }, 1)
return "returned"
//> value "returned"
//> output [{"type":"text","text":"late"},{"type":"text","text":"later"}]
//> calls mutate [{"i":1}]
---
// Between two timers the jobs of the first run.
const log = []
setTimeout(() => { log.push("timer 1"); Promise.resolve().then(() => log.push("job")) }, 0)
setTimeout(() => log.push("timer 2"), 0)
await Promise.resolve().then(() => log.push("before"))
await new Promise((resolve) => setTimeout(resolve, 5))
return log
//> value ["before","timer 1","job","timer 2"]
---
// A cleared timer does not run, and does not keep the cell open.
const id = setTimeout(() => text("fired"), 60000)
clearTimeout(id)
clearTimeout(id)
return id
//> value 1
---
// Also one whose time has come.
setTimeout(() => { clearTimeout(id); text("first") }, 1)
const id = setTimeout(() => text("second"), 1)
await slow({ ms: 3 })
//> output [{"type":"text","text":"first"}]
---
// From its own callback, and from that of another.
const a = setTimeout(() => { clearTimeout(a); clearTimeout(b); text("a") }, 0)
const b = setTimeout(() => text("b"), 1)
//> output [{"type":"text","text":"a"}]
---
// Ids that are none are ignored.
for (const id of [99, 0, -1, undefined, null, "1", {}, NaN, 1.5]) clearTimeout(id)
setTimeout(() => text("fired"), 0)
return clearTimeout()
//> output [{"type":"text","text":"fired"}]
---
// An exception in a callback fails the cell; other timers run first.
setTimeout(() => { throw new Error("in the callback") }, 0)
setTimeout(() => text("fired"), 2)
return 1
//> failed internal_error guest
//> output [{"type":"text","text":"fired"}]
//> error Error: in the callback
//> error     at <anonymous> (cell.js:2:30)
---
setTimeout(async () => { await fail({ message: "in the callback" }) }, 0)
//> failed internal_error guest
//> error /^Error: in the callback\n/
---
// Timers count among what may be pending: 16 running and 128 waiting.
for (let i = 0; i < 144; i++) setTimeout(() => {}, 0)
return "all"
//> value "all"
---
for (let i = 0; i < 145; i++) setTimeout(() => text("fired"), 0)
//> failed invalid_input
//> error /^too many tool calls and timers were pending at once \(16 run at a time and 128 wait\)/
---
// Cleared ones do not count.
for (let i = 0; i < 1000; i++) clearTimeout(setTimeout(() => text("fired"), 0))
for (let i = 0; i < 144; i++) setTimeout(() => {}, 0)
return "all"
//> value "all"
---
// A timer that waits for a place can be cleared; its time starts when it gets one.
const ids = []
let fired = 0
for (let i = 0; i < 40; i++) ids.push(setTimeout(() => { fired++ }, 2))
clearTimeout(ids[30])
clearTimeout(ids[3])
await slow({ ms: 1 })
clearTimeout(ids[39])
await new Promise((resolve) => setTimeout(resolve, 40))
return fired
//> value 37
---
// Timers and calls share the places, in the order in which they were asked for.
const order = []
const timers = Array.from({ length: 16 }, (_, i) => new Promise((resolve) => setTimeout(() => { order.push("timer"); resolve() }, 5)))
const call = echo(1).then(() => order.push("call"))
await Promise.all([...timers, call])
return [order.length, order.indexOf("call") > 0]
//> value [17,true]
