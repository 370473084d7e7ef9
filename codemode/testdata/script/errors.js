// The text of a failed cell (specification 2.4): "Name: message", then the frames of the stack that lie in the
// submitted code, by its own lines and under the name cell.js. The code is internal_error whatever the text says.
---
throw new Error("m")
//> failed internal_error guest
//> error Error: m
//> error     at <anonymous> (cell.js:1:11)
---
// An empty message leaves the name.
throw new RangeError()
//> failed internal_error guest
//> error RangeError
//> error     at <anonymous> (cell.js:2:11)
---
// The frames from the inside out, each with the line and column of the submitted code.
function outer() {
  inner()
}
function inner() { throw new TypeError("deep") }
const arrow = () => outer()

arrow()
//> failed internal_error guest
//> error TypeError: deep
//> error     at inner (cell.js:5:30)
//> error     at outer (cell.js:3:3)
//> error     at arrow (cell.js:6:21)
//> error     at <anonymous> (cell.js:8:1)
---
// Frames of built-ins are left out.
[1].map(function cb() { throw new Error("in map") })
//> failed internal_error guest
//> error Error: in map
//> error     at cb (cell.js:2:35)
//> error     at <anonymous> (cell.js:2:9)
---
class Order { check() { throw new Error("in a method") } static run() { new Order().check() } get go() { return Order.run() } }
new Order().go
//> failed internal_error guest
//> error Error: in a method
//> error     at check (cell.js:1:35)
//> error     at run (cell.js:1:85)
//> error     at get go (cell.js:1:119)
//> error     at <anonymous> (cell.js:2:5)
---
// Frames of the controller are left out, also when it is what calls the cell's code.
setTimeout(() => { throw new Error("in a timer") }, 0)
//> failed internal_error guest
//> error Error: in a timer
//> error     at <anonymous> (cell.js:2:30)
---
// A failed call has the stack of the call.
const ask = async () => await fail({ message: "boom" })
await echo(1)
await ask()
//> failed internal_error guest
//> error Error: boom
//> error     at ask (cell.js:2:31)
//> error     at <anonymous> (cell.js:4:7)
---
// Columns count bytes of UTF-8.
const s = "ééé"; throw new Error("m")
//> failed internal_error guest
//> error Error: m
//> error     at <anonymous> (cell.js:2:31)
---
// A class of one's own.
class NotFound extends Error { constructor(m) { super(m); this.name = "NotFound" } }
throw new NotFound("no order 7")
//> failed internal_error guest
//> error /^NotFound: no order 7\n    at NotFound \(cell\.js:2:\d+\)\n    at <anonymous> \(cell\.js:3:11\)$/
---
// The message can have several lines. What looks like frames in it is message.
throw new Error("one\ntwo\n    at fake (controller.js:1:1)")
//> failed internal_error guest
//> error Error: one
//> error two
//> error     at fake (controller.js:1:1)
//> error     at <anonymous> (cell.js:2:11)
---
// A stack that the cell wrote itself is shown as far as it lies in the submitted code; its header is not repeated.
const e = new Error("m")
e.stack = "Error: m\n    at inside (cell.js:3:5)\n    at controller (controller.js:1:1)\n    at outside (cell.js:99:1)\n    at before (cell.js:1:1)"
throw e
//> failed internal_error guest
//> error Error: m
//> error     at inside (cell.js:3:5)
//> error     at before (cell.js:1:1)
---
const e = new Error("m")
e.stack = 5
e.message = { toString: () => "an object" }
throw e
//> failed internal_error guest
//> error Error: an object
---
// Looking at an error cannot fail.
const e = new Error("m")
for (const key of ["name", "stack"]) Object.defineProperty(e, key, { get() { throw new Error("trapped") } })
throw e
//> failed internal_error guest
//> error Error: m
---
// A thrown value that is no Error is its text.
throw "text"
//> failed internal_error guest
//> error text
---
throw 42
//> failed internal_error guest
//> error 42
---
throw undefined
//> failed internal_error guest
//> error undefined
---
throw null
//> failed internal_error guest
//> error null
---
throw { code: 1 }
//> failed internal_error guest
//> error [object Object]
---
throw { name: "Error", message: "forged", stack: "    at x (cell.js:1:1)", toString: () => "its text" }
//> failed internal_error guest
//> error its text
---
throw Symbol("s")
//> failed internal_error guest
//> error Symbol(s)
---
throw 10n
//> failed internal_error guest
//> error 10
---
throw { toString() { throw 1 } }
//> failed internal_error guest
//> error [unprintable value]
---
throw Object.create(null)
//> failed internal_error guest
//> error [unprintable value]
---
// A cause and the errors of an AggregateError stay with the cell; it can put them into the message.
throw new Error("outer", { cause: new Error("inner") })
//> failed internal_error guest
//> error Error: outer
//> error     at <anonymous> (cell.js:2:39)
---
try {
  await Promise.any([fail({ message: "a" }), fail({ message: "b" })])
} catch (e) {
  return [e.name, e.errors.map((e) => e.message)]
}
//> value ["AggregateError",["a","b"]]
---
// C005 b: no text of an exception changes the code.
throw new Error("interrupted")
//> failed internal_error guest
//> error Error: interrupted
//> error     at <anonymous> (cell.js:2:11)
---
throw new InternalError("interrupted")
//> failed internal_error guest
//> error /^InternalError: interrupted\n/
---
throw Object.assign(new Error("code mode timeout exceeded"), { code: "timeout", name: "TimeoutError" })
//> failed internal_error guest
//> error /^TimeoutError: code mode timeout exceeded\n/
---
throw new RangeError("out of memory")
//> failed internal_error guest
//> error /^RangeError: out of memory\n/
---
// Deep recursion is an ordinary error.
const down = (n) => down(n + 1) + 1
try { down(0) } catch (e) { return [e.name, e.message] }
//> value ["RangeError","Maximum call stack size exceeded"]
---
const down = (n) => down(n + 1) + 1
down(0)
//> failed internal_error guest
//> error /^RangeError: Maximum call stack size exceeded\n    at down \(cell\.js:1:\d+\)\n/
---
// A rejection that nothing handles fails the cell, though it returned.
text("emitted")
Promise.reject(new Error("nobody looks"))
return 1
//> failed internal_error guest
//> output [{"type":"text","text":"emitted"}]
//> error Error: nobody looks
//> error     at <anonymous> (cell.js:3:20)
---
// The first is reported, the others counted.
Promise.reject(new Error("one"))
Promise.reject("two")
;(async () => { throw 3 })()
return 1
//> failed internal_error guest
//> error Error: one
//> error     at <anonymous> (cell.js:2:20)
//> error (and 2 more unhandled rejections)
---
// One more is counted, too.
Promise.reject(new Error("one"))
Promise.reject("two")
return 1
//> failed internal_error guest
//> error Error: one
//> error     at <anonymous> (cell.js:2:20)
//> error (and 1 more unhandled rejections)
---
// A call that fails with nobody waiting for it.
fail({ message: "unawaited" })
return 1
//> failed internal_error guest
//> error Error: unawaited
//> error     at <anonymous> (cell.js:2:1)
---
// Handled late is handled: nothing is decided before all work has ended.
const p = Promise.reject(new Error("late"))
await slow({ ms: 5 })
p.catch(() => {})
return "ok"
//> value "ok"
---
const p = fail({ message: "late" })
setTimeout(() => p.catch((e) => text(e.message)), 5)
return "ok"
//> value "ok"
//> output [{"type":"text","text":"late"}]
---
// allSettled and race handle what they are given, losers included.
await Promise.allSettled([fail({ message: "a" }), Promise.reject(1)])
return await Promise.race([echo("first"), slow({ ms: 20 }).then(() => fail({ message: "loser" }))])
//> value "first"
---
// A branch of a promise that nobody handles is a rejection of its own.
const p = fail({ message: "a" })
p.then(() => 1)
try { await p } catch {}
return 1
//> failed internal_error guest
//> error /^Error: a\n/
---
// The exception of the program comes before rejections that it left.
Promise.reject(new Error("left"))
throw new Error("thrown")
//> failed internal_error guest
//> error /^Error: thrown\n/
---
try { throw new Error("first") } finally { throw new Error("last") }
//> failed internal_error guest
//> error /^Error: last\n/
---
// A mistyped tool is named.
const list = await shiping_list({})
//> failed internal_error guest
//> error /^ReferenceError: shiping_list is not defined/
