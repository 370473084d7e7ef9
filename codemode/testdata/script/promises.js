// Settlement and order (specification 7.3): a cell ends when its program has returned and every call that it
// started has ended; promises are ordinary promises; waiting for nothing is an error and not a hang.
---
// C082 a: one call, awaited three times.
const p = echo(1)
return await Promise.all([p, p, p])
//> value [1,1,1]
//> calls echo [1]
---
// C082 b: each error reaches the try that awaits it, whatever the order of the replies.
const safe = async (f) => { try { return await f() } catch (e) { return "E:" + e.message } }
return await Promise.all([safe(() => fail({ message: "a" })), safe(() => echo("b")), safe(() => fail({ message: "c" }))])
//> value ["E:a","b","E:c"]
---
// C081 a: a call that nobody awaits ends before the cell does.
void mutate({ i: 1 })
return "x"
//> value "x"
//> calls mutate [{"i":1}]
---
// C081 c: work that begins while the cell is drained is drained, too.
mutate({ i: 1 }).then(() => mutate({ i: 2 })).then(() => { setTimeout(() => { mutate({ i: 3 }).then(() => text("end")) }, 1) })
return "returned"
//> value "returned"
//> output [{"type":"text","text":"end"}]
//> calls mutate [{"i":1},{"i":2},{"i":3}]
---
// Nothing is cancelled because a sibling failed or a race was decided.
try { await Promise.all([fail({ message: "a" }), slow({ ms: 10 })]) } catch {}
const first = await Promise.race([echo("fast"), slow({ ms: 15 })])
void mutate({ i: 2 })
return first
//> value "fast"
//> calls mutate [{"i":2}]
---
// Replies come in the order in which the calls end, not in that of the calls.
const order = []
await Promise.all([
  slow({ ms: 60 }).then(() => order.push("slow")),
  slow({ ms: 30 }).then(() => order.push("medium")),
  echo(1).then(() => order.push("fast")),
])
return order
//> value ["fast","medium","slow"]
---
// Jobs run before the next reply, and in their order.
const log = []
const call = echo(1).then(() => log.push("reply"))
Promise.resolve().then(() => log.push("job 1")).then(() => log.push("job 2"))
log.push("sync")
await call
return log
//> value ["sync","job 1","job 2","reply"]
---
// A promise that nothing can settle is an error, at once.
await new Promise(() => {})
text("not reached")
//> failed internal_error guest
//> error the program awaits a promise that nothing can settle: no tool call or timer is pending
---
const never = new Promise(() => {})
await echo(1)
await Promise.race([never, slow({ ms: 1 })])
await never
//> failed internal_error guest
//> error the program awaits a promise that nothing can settle: no tool call or timer is pending
//> calls echo [1]
---
// One that the program does not await does not matter.
new Promise(() => {}).then(() => text("never"))
return 1
//> value 1
---
return await Promise.any([fail({ message: "a" }), slow({ ms: 1 })])
//> value {"ms":1}
---
const settled = await Promise.allSettled([echo(1), fail({ message: "m" }), 3])
return settled.map(({ status, value, reason }) => [status, value ?? reason.message])
//> value [["fulfilled",1],["rejected","m"],["fulfilled",3]]
---
const { promise, resolve } = Promise.withResolvers()
setTimeout(resolve, 1, "resolved")
return await promise
//> value "resolved"
---
const out = []
for await (const x of [echo(1), echo(2), 3]) out.push(x)
async function* ask() { for (let i = 0; i < 3; i++) yield await echo(i) }
for await (const x of ask()) out.push(x)
return out
//> value [1,2,3,0,1,2]
---
// finally runs on the way out of a failed call.
const f = async () => { try { return await fail({ message: "m" }) } finally { await echo("cleanup"); text("finally") } }
try { await f() } catch (e) { return e.message }
//> value "m"
//> output [{"type":"text","text":"finally"}]
//> calls echo ["cleanup"]
---
// A thousand calls, one after the other and in batches.
let n = 0
for (let i = 0; i < 500; i++) n += await echo(1)
for (let i = 0; i < 10; i++) n += (await Promise.all(Array.from({ length: 50 }, () => echo(1)))).length
return n
//> value 1000
---
// A subclass of Promise works, and a hook on Promise.prototype.then is only the cell's own.
class Mine extends Promise {}
const then = Promise.prototype.then
let hooked = 0
Promise.prototype.then = function (...args) { hooked++; return then.apply(this, args) }
const r = await new Mine((resolve) => resolve(echo(4)))
return [r, hooked > 0]
//> value [4,true]
