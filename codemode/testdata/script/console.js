// console (specification 4.6): five methods that emit text, which shows values as far as a reader needs them and never
// runs code of theirs.
---
return [Object.keys(console), console.log(), typeof console.table]
//> value [["log","info","warn","error","debug"],null,"undefined"]
//> output [{"type":"text","text":""}]
---
// The level stands before the message, but for log.
console.log("l")
console.info("i")
console.warn("w")
console.error("e")
console.debug("d", 1)
//> output [{"type":"text","text":"l"},{"type":"text","text":"[info] i"},{"type":"text","text":"[warn] w"},{"type":"text","text":"[error] e"},{"type":"text","text":"[debug] d 1"}]
---
// Arguments are joined by a space: strings bare, anything else compact. There are no format directives.
console.log("%s is", "a", 1, -0, NaN, true, null, undefined, { b: ["x", undefined] })
//> output [{"type":"text","text":"%s is a 1 0 null true null undefined {\"b\":[\"x\",\"undefined\"]}"}]
---
// Words stand for what is no data. Getters, toJSON and toString are not called.
const o = { get a() { text("ran"); return 1 }, toJSON() { text("ran") }, toString() { text("ran") } }
o.self = o
console.log(o, () => 1, 10n, Symbol("s"), Promise.resolve(1))
//> output [{"type":"text","text":"{\"a\":\"[Accessor]\",\"toJSON\":\"[Function]\",\"toString\":\"[Function]\",\"self\":\"[Circular]\"} [Function] 10n Symbol(s) [Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]"}]
---
// An error shows its fields, then its message.
console.error(new Error("m"), Object.assign(new TypeError("t"), { code: 5 }))
//> output [{"type":"text","text":"[error] {\"message\":\"m\"} {\"code\":5,\"message\":\"t\"}"}]
---
// Four levels, fifty properties, 100 values of a call.
console.log({ a: { b: { c: { d: { e: 1 } } } } })
console.log(Array.from({ length: 52 }, (_, i) => i))
console.log(Array.from({ length: 12 }, () => [1, 2, 3, 4, 5, 6, 7, 8]))
//> output [{"type":"text","text":"{\"a\":{\"b\":{\"c\":{\"d\":\"[truncated]\"}}}}"},{"type":"text","text":"[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,\"[truncated]\"]"},{"type":"text","text":"[[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8],\"[truncated]\"]"}]
---
// A trap of a proxy cannot fail the cell.
console.log(new Proxy({}, { ownKeys() { throw new Error("trapped") } }), "after")
//> output [{"type":"text","text":"[Unserializable] after"}]
---
// All of a cell's console output has a limit of its own. Other output goes on behind it.
for (let i = 0; i < 3000; i++) console.log("line")
text("after")
return "done"
//> value "done"
//> output /,\{"type":"text","text":"\[console output truncated\]"\},\{"type":"text","text":"after"\}\]$/
---
// It cannot be replaced, and what it uses neither.
console.log = 5
globalThis.console = null
String.prototype.concat = Array.prototype.join = JSON.stringify = () => "forged"
console.log("a", { b: [1] })
//> output [{"type":"text","text":"a {\"b\":[1]}"}]
