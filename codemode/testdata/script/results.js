// What a cell keeps for later cells of the turn (specification 5): results.save, load and delete. A reference is small,
// and the value behind it is whole.
---
const ref = await results.save([1, 2, { a: "b" }])
return [/^result_[0-9a-f-]{36}$/.test(ref.id), ref.bytes, ref.count, ref.preview, ref.previewTruncated, Object.keys(ref)]
//> value [true,15,3,"[1,2,{\"a\":\"b\"}]",false,["id","bytes","count","shape","preview","previewTruncated"]]
---
// C057: what was saved does not change with what it was made of, and each load is a copy.
const rows_ = Array.from({ length: 500 }, (_, id) => ({ id, ["__proto__"]: null, ok: true }))
const ref = await results.save(rows_)
rows_[0].id = "changed"
const x = await results.load(ref.id)
x.push(1)
const y = await results.load(ref)
return [x.length, y.length, y[0].id, Object.keys(y[0]), ref.count, JSON.stringify(ref).length <= 768]
//> value [501,500,0,["id","__proto__","ok"],500,true]
---
const saved = await results.save(JSON.parse('{"__proto__":{"x":1},"constructor":2}'))
return [await results.load(saved.id), JSON.stringify(await results.load(saved.id))]
//> value [{"__proto__":{"x":1},"constructor":2},"{\"__proto__\":{\"x\":1},\"constructor\":2}"]
---
// Any JSON: strings, numbers, null; undefined counts as null, dates as their text.
const loaded = []
for (const value of ["text", 12.5, null, true, undefined, new Date(0), () => 1, NaN, [undefined, () => 1], { f() {}, u: undefined, d: new Date(0) }, "é名🚀", [], {}]) {
  loaded.push(await results.load((await results.save(value)).id))
}
return loaded
//> value ["text",12.5,null,true,null,"1970-01-01T00:00:00.000Z",null,null,[null,null],{"d":"1970-01-01T00:00:00.000Z"},"é名🚀",[],{}]
---
// What has no JSON throws at once, and what was saved before is untouched (C015).
const kept = await results.save([1])
const loop = {}; loop.loop = loop
const errors = []
for (const value of [1n, { a: [1n] }, loop, { toJSON() { throw new RangeError("no") } }, { get a() { throw new EvalError("no") } }]) {
  try { results.save(value); errors.push("saved") } catch (e) { errors.push(e.name) }
}
return [errors, await results.load(kept.id)]
//> value [["TypeError","TypeError","TypeError","RangeError","EvalError"],[1]]
---
// C058: there are 64 places, and nothing is evicted.
const ids = []
for (let i = 0; i < 64; i++) ids.push((await results.save(i)).id)
const full = await results.save("one more").catch((e) => [e.name, e.code, /64/.test(e.message), /delete/.test(e.message)])
const all = await Promise.all(ids.map((id) => results.load(id)))
const deleted = await results.delete(ids[0])
const again = await results.save("one more")
return [full, all.every((v, i) => v === i), deleted, await results.load(again.id)]
//> value [["Error","invalid_input",true,true],true,true,"one more"]
---
const { id } = await results.save(1)
await results.delete(id)
const errors = []
for (const args of [[id], ["result_nope"], [""], [], [null], [5], [{}]]) {
  for (const method of ["load", "delete"]) {
    try { await results[method](...args); errors.push("done") } catch (e) { errors.push(e.code ?? e.name) }
  }
}
return errors
//> value ["invalid_input","invalid_input","invalid_input","invalid_input","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]
---
// Built-ins that the guest replaced change nothing but the guest's own argument.
JSON.stringify = () => "forged"; JSON.parse = () => "forged"
Promise.prototype.then = function () { return this }
const ref = await results.save({ a: [1] })
return [ref.bytes, await results.load(ref.id)]
//> value [9,{"a":[1]}]
---
"use strict"
const errors = [typeof (store), typeof (load)]
for (const f of [() => { results = null }, () => { results.save = null }, () => { delete results.load }, () => { store = null }, () => { load = null }]) {
  try { f(); errors.push("done") } catch (e) { errors.push(e.name) }
}
return errors
//> value ["function","function","TypeError","TypeError","TypeError","TypeError","TypeError"]
