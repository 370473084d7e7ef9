// What a program holds is the same after a wait (specification 13): the objects of the language.
---
// Variables, closures over them, and objects by identity.
let n = 1
const bump = () => ++n
const shared = { list: [] }
const holders = [shared, { shared }]
bump()
await yield_control()
shared.list.push(bump())
return [n, bump(), holders[0] === shared, holders[1].shared.list]
//> waiting yield
//> value [3,4,true,[3]]
---
// A generator in the middle of its body, of a try and of a destructuring; and its return runs finally.
function* count() { let i = 0; try { while (true) { const step = yield i; i += step ?? 1 } } finally { text("finally") } }
const g = count()
g.next()
const [a, b] = [g.next().value, g.next(10).value]
await yield_control()
return [a, b, g.next(5).value, g.return("r"), g.next()]
//> waiting yield
//> output [{"type":"text","text":"finally"}]
//> value [1,11,16,{"value":"r","done":true},{"done":true}]
---
// Async generators and for await, with waits inside of both, and a queue of requests before the first one.
async function* pages() { for (let i = 0; i < 3; i++) { await yield_control("page " + i); yield i } }
const seen = []
for await (const p of pages()) { seen.push(p); await yield_control() }
const queued = pages()
const all = [queued.next(), queued.next(), queued.next(), queued.next()]
return [seen, (await Promise.all(all)).map((r) => r.done ? "done" : r.value)]
//> waiting yield 9
//> value [[0,1,2],[0,1,2,"done"]]
---
// Iterators in the middle of Map, Set, array, string, RegExp and iterator helpers, and changes behind the wait.
const map = new Map([["a", 1], ["b", 2], ["c", 3]]), set = new Set([1, 2, 3])
const its = [map.entries(), set.values(), [10, 20, 30].values(), "xyz"[Symbol.iterator](), "a1b2c3".matchAll(/[a-z](\d)/g), [1, 2, 3, 4].values().filter((x) => x % 2 === 0).map((x) => x * x)]
const first = its.map((it) => it.next().value)
await yield_control()
map.delete("b"); map.set("d", 4); set.delete(2)
return [first.map((v) => Array.isArray(v) ? [...v] : v), its.map((it) => [...it].map((v) => Array.isArray(v) ? [...v] : v))]
//> waiting yield
//> value [[["a",1],1,10,"x",["a1","1"],4],[[["c",3],["d",4]],[3],[20,30],["y","z"],[["b2","2"],["c3","3"]],[16]]]
---
// Promises that were pending get their handlers after the wait; those that were settled keep their values; thenables and a
// resolver that was kept work.
let settle, refuse
const late = new Promise((resolve) => { settle = resolve }), failed = new Promise((_, reject) => { refuse = reject })
const early = Promise.resolve("early"), adopted = Promise.resolve(late)
const order = []
late.then(() => order.push("before"))
await yield_control()
late.then(() => order.push("after"))
settle("late"); refuse(new Error("no")); settle("again")
const thenable = { then(resolve) { resolve(yield_control("thenable").then((y) => y.reason)) } }
const outcome = await Promise.allSettled([late, failed, early, adopted, thenable])
return [outcome.map((o) => o.value ?? o.reason.message), order]
//> waiting yield 2
//> value [["late","no","early","late","thenable"],["before","after"]]
---
// Microtasks around a yield run before the cell is parked, in their order, and after it in theirs.
const order = []
queueMicrotask(() => order.push("m1"))
const y = yield_control().then(() => order.push("y"))
Promise.resolve().then(() => order.push("m2")).then(() => order.push("m3"))
order.push("sync")
await y
order.push("end")
return order
//> waiting yield
//> value ["sync","m1","m2","m3","y","end"]
---
// Map and Set by every kind of key, WeakMap, WeakSet, WeakRef and private fields by identity.
const key = {}, symbol = Symbol("s"), registered = Symbol.for("r")
const map = new Map([[key, 1], [NaN, 2], [-0, 3], [symbol, 4], [10n, 5], ["10", 6]])
const weak = new WeakMap([[key, "w"]]), weakSet = new WeakSet([key]), ref = new WeakRef(key)
class Private { #x = 1; static #n = 0; static is(o) { return #x in o } up() { Private.#n++; return ++this.#x } get n() { return Private.#n } }
const p = new Private()
p.up()
await yield_control()
return [map.get(key), map.get(NaN), map.get(0), map.get(symbol), map.get(10n), map.get("10"), weak.get(key), weakSet.has(key), ref.deref() === key,
  Symbol.for("r") === registered, Symbol.keyFor(registered), p.up(), p.n, Private.is(p), Private.is({})]
//> waiting yield
//> value [1,2,3,4,5,6,"w",true,true,true,"r",3,2,true,false]
---
// A FinalizationRegistry that was made before, and one that is used after.
const registry = new FinalizationRegistry((held) => text("gone: " + held))
registry.register({}, "at once")
let kept = {}
registry.register(kept, "later")
await yield_control()
kept = undefined
await null
return "end"
//> waiting yield
//> output [{"type":"text","text":"gone: at once"},{"type":"text","text":"gone: later"}]
//> value "end"
---
// Typed arrays over one buffer, a buffer that is resized, one that is detached, DataView and BigInt arrays.
const buffer = new ArrayBuffer(8, { maxByteLength: 64 })
const bytes = new Uint8Array(buffer), words = new Uint16Array(buffer, 2, 2), view = new DataView(buffer, 4), big = new BigUint64Array([2n ** 64n - 1n])
bytes.set([1, 2, 3, 4, 5, 6, 7, 8])
const old = new Uint8Array(4), moved = old.buffer.transfer()
await yield_control()
words[0] = 0xffff
buffer.resize(16)
return [[...bytes], [...words], view.getUint16(0), view.byteLength, String(big[0]), old.byteLength, moved.byteLength, buffer.maxByteLength, new Float32Array([1.5, NaN])[0]]
//> waiting yield
//> value [[1,2,255,255,5,6,7,8,0,0,0,0,0,0,0,0],[65535,1541],1286,12,"18446744073709551615",0,4,64,1.5]
---
// Proxies with their traps, revoked ones, bound functions, getters on the way, frozen and sealed objects, symbols as keys.
const log = []
const target = { a: 1 }
const proxy = new Proxy(target, { get: (o, k) => (log.push(String(k)), Reflect.get(o, k)) })
const { proxy: gone, revoke } = Proxy.revocable({}, {})
const bound = function (...args) { return [this.me, ...args] }.bind({ me: "b" }, 1)
const frozen = Object.freeze({ x: 1 }), tag = Symbol("tag"), tagged = { [tag]: 1, get twice() { return this[tag] * 2 } }
revoke()
await yield_control()
let refused
try { gone.x } catch (e) { refused = e.name }
try { (() => { "use strict"; frozen.x = 2 })() } catch (e) { log.push(e.name) }
return [proxy.a, bound(2), refused, tagged.twice, Object.isFrozen(frozen), log]
//> waiting yield
//> value [1,["b",1,2],"TypeError",2,true,["TypeError","a"]]
---
// lastIndex of a sticky and a global expression, RegExp statics of the program's own classes, Date, Error with its cause.
const sticky = /\w+\s/y, global = /\d/g
sticky.test("ab cd "); global.exec("1 2 3")
const date = new Date(86400000), began = Date.now()
class Odd extends Error { constructor() { super("odd", { cause: { n: 1 } }) } get name() { return "Odd" } }
const error = new Odd()
await yield_control()
return [sticky.lastIndex, sticky.exec("ab cd ")[0], global.exec("1 2 3")[0], date.toISOString(), Date.now() >= began, error instanceof Odd, String(error), error.cause.n, /cell\.js:\d+/.test(error.stack)]
//> waiting yield
//> value [3,"cd ","2","1970-01-02T00:00:00.000Z",true,true,"Odd: odd",1,true]
---
// Tagged templates are the same object at each place, classes keep static blocks, labels and switch scopes their place.
const strings = []
const tag = (s) => { strings.push(s); return s.raw[0] }
let out = ""
outer: for (let i = 0; i < 3; i++) {
  for (const part of ["x", "y"]) {
    tag`same`
    switch (i) { case 1: await yield_control(); if (part === "x") continue outer; default: out += part + i; break }
  }
}
return [out, strings.every((s) => s === strings[0])]
//> waiting yield
//> value ["x0y0x2y2",true]
---
// finally and catch around a wait, and return out of both.
async function f() { try { await yield_control("try"); throw new Error("e") } catch (e) { await yield_control("catch"); return e.message } finally { await yield_control("finally"); text("f") } }
return await f()
//> waiting yield 3
//> output [{"type":"text","text":"f"}]
//> value "e"
---
// Recursion to the depth that was possible before.
const depth = () => { let n = 0; const down = () => { n++; down() }; try { down() } catch (e) { return [e.name, n] } }
const before = depth()
await yield_control()
const after = depth()
return [before[0], after[0], before[1] > 500, Math.abs(before[1] - after[1]) < before[1] / 10]
//> waiting yield
//> value ["RangeError","RangeError",true,true]
---
// Math.random goes on where it was, and does not repeat.
const seen = new Set([Math.random(), Math.random()])
for (let i = 0; i < 50; i++) { await yield_control(); seen.add(Math.random()) }
return seen.size
//> waiting yield 50
//> value 52
---
// 20 MiB, given back before one wait and held over another, with what is in them. They are zero but for marks, to fit into a snapshot.
let big = new Uint8Array(20 << 20)
for (let i = 0; i < big.length; i += 1 << 20) big[i] = 1
big = undefined
await yield_control()
const sparse = new Uint8Array(20 << 20)
for (let i = 0; i < sparse.length; i += 1 << 20) sparse[i] = i >> 20
await yield_control()
let sum = 0
for (let i = 0; i < sparse.length; i += 1 << 10) sum += sparse[i]
return [sum, sparse.length]
//> waiting yield 2
//> value [190,20971520]
---
// Memory that was refused before a wait is remembered as the reason for what follows.
let refused
try { new Uint8Array(100 << 20) } catch (e) { refused = e.name }
await yield_control()
throw refused
//> waiting yield
//> failed internal_error guest
//> error /out of memory: the cell reached its limit of 64 MiB/
---
// The place of an error after waits is that in the program as it was sent.
const f = () => {
  throw new RangeError("late")
}
await yield_control()
await yield_control()
f()
//> waiting yield 2
//> failed internal_error guest
//> error RangeError: late
//> error     at f (cell.js:3:13)
//> error     at <anonymous> (cell.js:7:1)
---
// A rejection that nobody handled before the wait may be handled after it; one that nobody handles fails the cell, the oldest first.
const p = Promise.reject(new Error("handled late")), q = Promise.reject(new Error("never"))
await yield_control()
p.catch(() => {})
await yield_control()
return 1
//> waiting yield 2
//> failed internal_error guest
//> error /^Error: never\n/
---
// All of them handled late.
const list = Array.from({ length: 20 }, (_, i) => Promise.reject(i))
await yield_control()
return (await Promise.allSettled(list)).map((o) => o.reason).join()
//> waiting yield
//> value "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19"
