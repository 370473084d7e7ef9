// What a tool's result becomes in the guest (specification 3.4), and that no digit and no byte changes without a
// sign on the way (cases C006 and C018).
---
// Plain data as JSON.parse gives it; white space does not matter.
return await reply({ json: ' { "a" : [ 1 , true , null , "x" ] } ' })
//> value {"a":[1,true,null,"x"]}
---
return [await reply({ json: "null" }), await reply({ json: "5" }), await reply({ json: '""' })]
//> value [null,5,""]
---
// Keys such as __proto__ are own data properties, and no prototype changes.
const r = await reply({ json: '{"__proto__":{"polluted":1},"constructor":2,"a":1}' })
return [Object.keys(r), Object.getPrototypeOf(r) === Object.prototype, ({}).polluted === undefined, r]
//> value [["__proto__","constructor","a"],true,true,{"__proto__":{"polluted":1},"constructor":2,"a":1}]
---
// C006: NUL, surrogates and keys.
const r = await reply({ json: '{"a":"x\\u0000y","pair":"\\ud83d\\ude00","lone":"\\ud83d","k\\u0000":1,"c":"after"}' })
return [r.a.length, r.pair, r.lone, r.c, Object.keys(r).length]
//> value [3,"😀","�","after",5]
---
// C018: an integer that a number would change arrives as a string of its digits.
const r = await reply({ json: '{"id":1915883588174806058}' })
return [typeof r.id, r.id]
//> value ["string","1915883588174806058"]
---
// Sent on, the digits are the same; a tool that takes an integer gets an integer.
const r = await reply({ json: '{"id":1915883588174806058}' })
const same = await echo({ id: r.id })
const back = await mutate({ i: r.id })
return [same, back]
//> value [{"id":"1915883588174806058"},{"i":"1915883588174806058"}]
//> calls echo [{"id":"1915883588174806058"}]
//> calls mutate [{"i":1915883588174806058}]
---
// The limits of int64, both ways.
for (const digits of ["9223372036854775807", "-9223372036854775808", "9007199254740993", "-9007199254740993"]) {
  const r = await reply({ json: digits })
  if (r !== digits) throw new Error("got " + r)
  await mutate({ i: r })
}
//> calls mutate [{"i":9223372036854775807},{"i":-9223372036854775808},{"i":9007199254740993},{"i":-9007199254740993}]
---
// What is no integer is refused, as ever.
for (const i of ["12abc", "1.5", "", "1e3", "99999999999999999999"]) {
  try { await mutate({ i }); throw new Error("taken: " + i) } catch (e) { if (e.code !== "input_contract") throw e }
}
//> calls mutate []
---
// Integers that a number holds stay numbers, digits in keys and strings stay, fractions are numbers.
return await reply({ json: '{"19158835881748060581":[9007199254740991,9007199254740992,123456789012345680000,-0,1E5,0.1],"s":"1915883588174806058","q":"\\"1915883588174806058"}' })
//> value {"19158835881748060581":[9007199254740991,9007199254740992,123456789012345680000,0,100000,0.1],"s":"1915883588174806058","q":"\"1915883588174806058"}
---
// A result is not a promise.
return await reply({ json: '{"then":"data"}' })
//> value {"then":"data"}
---
// What is no JSON does not reach the guest.
const seen = []
for (const json of ["", "{", '{"a":1} x', "undefined", "NaN", "[1,]", "'x'"]) {
  try { seen.push(await reply({ json })) } catch (e) { seen.push(e.code) }
}
return seen
//> value ["output_contract","output_contract","output_contract","output_contract","output_contract","output_contract","output_contract"]
---
// Nested deeply. Beyond what JSON is read to anywhere: an error of the call, and the cell goes on.
const nested = async (n) => {
  let r = await reply({ json: "[".repeat(n) + "]".repeat(n) }), depth = 0
  while (r) { r = r[0]; depth++ }
  return depth
}
let code
try { await nested(20000) } catch (e) { code = e.code }
return [await nested(1000), await nested(5000), code]
//> value [1000,5000,"output_contract"]
---
// C010: the display budget does not touch what a program gets.
const r = await blob({ bytes: 200000 })
return r.data.length
//> value 200000
---
const list = await rows({ n: 20000 })
return [list.length, list[19999]]
//> value [20000,{"id":19999,"ok":true}]
---
// C075: replies are read with the engine's own parser.
JSON.parse = () => ({ forged: true })
Object.defineProperty(Object.prototype, "a", { set() { text("seen") }, configurable: true })
return await echo({ ["a"]: 1, b: [2] })
//> value {"a":1,"b":[2]}
