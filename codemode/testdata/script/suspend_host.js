// What a program has of the host is the same after a wait (specification 13): tools, timers, results, the console, web APIs.
---
// Tool handles made before the wait, globals that are first used after it, and answers of the catalog and the API.
const early = echo
const [found] = await catalog.search("echo", { limit: 1 })
const all = catalog.all(), file = await API.read("tools/echo.d.ts"), described = await echo.describe()
await yield_control()
const again = catalog.all()
return [early === echo, found === echo, all.length === again.length, all.every((t, i) => t === again[i]), file.content === (await API.read("tools/echo.d.ts")).content,
  JSON.stringify(described) === JSON.stringify(await echo.describe()), await early("x"), typeof rows, (await rows({ n: 1 })).length, Object.isFrozen(echo)]
//> waiting yield
//> value [true,true,true,true,true,true,"x","function",1,true]
---
// Siblings of a yield are dispatched before the cell is parked; their replies come after it.
const a = echo(1), y = yield_control("together"), b = fail({ message: "no" }).catch((e) => e.message), c = echo(2)
return await Promise.all([a, y, b, c])
//> waiting pending_tools
//> value [1,{"status":"yielded","reason":"together"},"no",2]
---
// Calls in flight over several waits, which others finish in between.
const long = slow({ ms: 25000 })
const order = []
await Promise.all([long.then(() => order.push("long")), slow({ ms: 5000 }).then(() => order.push("short")), slow({ ms: 15000 }).then(() => order.push("middle"))])
return order
//> waiting pending_tools 2
//> value ["short","middle","long"]
---
// More calls than run at a time: those that wait for a place do so over the wait, and all are made, in order.
const list = Array.from({ length: 40 }, (_, i) => echo(i))
await yield_control()
return (await Promise.all(list)).join()
//> waiting pending_tools
//> value "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39"
---
// As many as may be pending at all, of which none is done before the wait.
const list = Array.from({ length: 16 + 128 - 1 }, (_, i) => slow({ ms: 11000 }).then(() => i))
await yield_control()
const all = await Promise.all(list)
return [all.length, all.every((n, i) => n === i)]
//> waiting pending_tools 10
//> value [143,true]
---
// A yield counts among them.
const list = Array.from({ length: 16 + 128 }, () => echo(1))
try { yield_control() } catch (e) { text(e.message.slice(0, 48)) }
//> failed invalid_input input
//> error /^too many tool calls and timers were pending at once \(16 run at a time and 128 wait\): none of this batch was started/
//> output [{"type":"text","text":"too many tool calls and timers are pending at on"}]
//> calls echo []
---
// Timers run on while the cell is parked, with their arguments, in their order, and can be cleared by their old ids.
const fired = []
const ids = [setTimeout((...a) => fired.push(a.join()), 3000, "a", 1), setTimeout(() => fired.push("b"), 1000), setTimeout(() => fired.push("never"), 2000), setTimeout(() => fired.push("c"), 14000)]
await yield_control()
clearTimeout(ids[2])
ids.push(setTimeout(() => fired.push("new"), 500))
await new Promise((resolve) => setTimeout(resolve, 12000))
clearTimeout(ids[0])
return [ids, fired]
//> waiting pending_tools 2
//> value [[1,2,3,4,5],["new","b","a,1"]]
---
// Timers that start timers and yield in their callbacks.
const seen = []
await new Promise((resolve) => setTimeout(async () => {
  seen.push("outer")
  const y = await yield_control("in a timer")
  setTimeout(() => { seen.push(y.reason); resolve() }, 10)
}, 10))
return seen
//> waiting yield
//> value ["outer","in a timer"]
---
// A timer that throws after the wait fails the cell; one that was left behind is waited for.
setTimeout(() => { throw new Error("from a timer") }, 15000)
return "returned"
//> waiting pending_tools
//> failed internal_error guest
//> error /^Error: from a timer\n    at <anonymous> \(cell\.js:2:/
---
// setTimeout and clearTimeout of a callback that was cleared in the leg in which it was due.
const log = []
const slowTimer = setTimeout(() => log.push("x"), 11000)
await new Promise((r) => setTimeout(r, 10500))
clearTimeout(slowTimer)
return log
//> waiting pending_tools
//> value []
---
// Encoders with state, URLs and their parameters in the middle of an iteration.
const decoder = new TextDecoder()
const half = decoder.decode(new Uint8Array([0xe2, 0x82]), { stream: true })
const url = new URL("https://example.com/a?x=1&y=2#f"), params = url.searchParams, it = params.entries(), first = it.next().value
const encoder = new TextEncoder()
await yield_control()
params.append("z", "3")
url.pathname = "/b"
return [half, decoder.decode(new Uint8Array([0xac])), first, [...it], url.href, params === url.searchParams, [...encoder.encode("ü")], structuredClone(new Map([[1, { d: new Date(0) }]])).get(1).d.toISOString(), atob(btoa("ab"))]
//> waiting yield
//> value ["","€",["x","1"],[["y","2"],["z","3"]],"https://example.com/b?x=1&y=2&z=3#f",true,[195,188],"1970-01-01T00:00:00.000Z","ab"]
---
// Output is delivered once, in order, over text, json and console.
text("a"); console.log("b")
await yield_control()
json({ c: 1 })
await yield_control()
await yield_control()
console.warn("d")
//> waiting yield 3
//> output [{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"json","value":{"c":1}},{"type":"text","text":"[warn] d"}]
---
// Saved results are there at once, and stay; stored values are the cell's own until it completes.
const ref = await results.save({ n: 1 })
await store("k", { v: 1 })
await yield_control()
const [r, k] = [await results.load(ref.id), await load("k")]
await store("k", { v: 2 })
await yield_control()
return [r, k, await load("k"), await results.load(ref.id), await results.delete(ref.id)]
//> waiting yield 2
//> value [{"n":1},{"v":1},{"v":2},{"n":1},true]
---
// Errors of tools keep their fields and their place; the place is that of the call, which was before the wait.
const call = fail({ message: "gone wrong" })
await yield_control()
try { await call } catch (e) { return [e.name, e.message, e.code, e.effectStatus, e.location.includes("cell.js:2:")] }
//> waiting pending_tools
//> value ["Error","gone wrong","tool_error","unknown",true]
---
// A failed call that nobody handles is named by the place of its call.
const call = fail({ message: "gone wrong" })
await yield_control()
return 1
//> waiting pending_tools
//> failed internal_error guest
//> error Error: gone wrong
//> error     at <anonymous> (cell.js:2:14)
---
// A call left behind is waited for, over as many waits as it takes, and its effect happens once.
void mutate({ i: 1 })
slow({ ms: 25000 }).then(() => mutate({ i: 2 }))
return "first"
//> waiting pending_tools 2
//> value "first"
//> calls mutate [{"i":1},{"i":2}]
---
// A yield that is left behind when the program returns parks the cell once more.
yield_control("left behind").then((y) => text(y.reason))
return "value"
//> waiting yield
//> output [{"type":"text","text":"left behind"}]
//> value "value"
---
// Several yields are one wait, and one pending entry each.
return (await Promise.all([yield_control("a"), yield_control("b"), yield_control()])).map((y) => y.reason)
//> waiting yield
//> value ["a","b",null]
---
// A loop of yields.
let sum = 0
for (let i = 0; i < 200; i++) sum += (await yield_control(i)).reason
return sum
//> waiting yield 200
//> value 19900
---
// A race between a yield and a call: both end.
const winner = await Promise.race([yield_control("y").then((y) => y.status), slow({ ms: 1000 }).then(() => "slow")])
return winner
//> waiting pending_tools
//> value "yielded"
---
// A getter that yields while the value is encoded, and one that calls a tool.
return { get a() { void yield_control("getter").then(() => text("resumed")); return 1 }, get b() { void slow({ ms: 1 }).then(() => text("called")); return 2 } }
//> waiting pending_tools
//> output [{"type":"text","text":"resumed"},{"type":"text","text":"called"}]
//> value {"a":1,"b":2}
