// What a cell keeps for later turns of the session (specification 6): store and load.
---
// C061.
await store("k", { n: [1], ["__proto__"]: "d" }); await store("z", null); await store("k2", 1); await store("k2", undefined)
return [await load("k"), await load("z"), (await load("k2")) === undefined, (await load("none")) === undefined]
//> value [{"n":[1],"__proto__":"d"},null,true,true]
---
// Keys.
const errors = []
for (const key of ["", 2, null, "x".repeat(257), { toJSON() { return "a" } }, undefined, Symbol.iterator, ["a"]]) {
  for (const f of [() => store(key, 1), () => load(key)]) {
    try { await f(); errors.push("done") } catch (e) { errors.push(e.name) }
  }
}
await store("x".repeat(256), 1); await store("🚀".repeat(128), 2); await store("__proto__", 3); await store("\0", 4)
return [errors.length, errors.every((name) => name === "TypeError"), await load("x".repeat(256)), await load("🚀".repeat(128)), await load("__proto__"), await load("\0"), await load("constructor") === undefined]
//> value [16,true,1,2,3,4,true]
---
// Values at the edge: 256 KiB of JSON each, 1 MiB together.
const outcome = async (key, value) => store(key, value).then(() => "stored", (e) => [e.name, e.code])
const sizes = [await outcome("a", "x".repeat(262142)), await outcome("a", "x".repeat(262143)), await outcome("b", "é".repeat(131072))]
const kept = (await load("a")).length
for (const key of ["b", "c", "d"]) sizes.push(await outcome(key, "x".repeat(262142)))
sizes.push(await outcome("e", 1), await outcome("d", undefined), await outcome("e", 1))
return [sizes, kept, await load("b") === undefined, (await load("c")).length]
//> value [["stored",["RangeError","store_range"],["RangeError","store_range"],"stored","stored","stored",["RangeError","store_range"],"stored","stored"],262142,false,262142]
---
// A value is a copy, both ways.
const value = { list: [1] }
await store("v", value)
value.list.push(2)
const loaded = await load("v")
loaded.list.push(3)
return [await load("v"), loaded]
//> value [{"list":[1]},{"list":[1,3]}]
---
// What has no JSON is refused, and the key is as it was (C015).
await store("k", "before")
const loop = {}; loop.loop = loop
const errors = []
for (const value of [1n, loop, { toJSON() { throw new RangeError("no") } }]) {
  try { await store("k", value); errors.push("stored") } catch (e) { errors.push(e.name) }
}
return [errors, await load("k")]
//> value [["TypeError","TypeError","RangeError"],"before"]
---
const values = []
for (const value of [0, "", false, null, [], {}, NaN, () => 1, new Date(0), "\ud83d"]) { await store("k", value); values.push(await load("k")) }
return values
//> value [0,"",false,null,[],{},null,null,"1970-01-01T00:00:00.000Z","�"]
