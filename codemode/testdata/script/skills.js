// Skills: the host's instruction documents, whole or refused.
---
return await skills.list()
//> value [{"name":"month-end","description":"How to close a month.","bytes":48},{"name":"refunds","description":"How to refund an order.","bytes":61}]
---
const skill = await skills.read("refunds")
return [Object.keys(skill), skill.content, `${skill}` === skill.content, skill.startsWith("# Refunds"), Object.isFrozen(skill)]
//> value [["name","description","content"],"# Refunds\nCheck the order first. Never refund twice — ask.\n",true,true,true]
---
text(await skills.read("month-end"))
//> output [{"type":"text","text":"# Month end\n1. Post the entries.\n2. Lock it.\n…"}]
---
return [(await skills.search("refund an order")).map((s) => s.name), await skills.search("month-end", { limit: 1 }), await skills.search("")]
//> value [["refunds"],[{"name":"month-end","description":"How to close a month.","bytes":48}],[]]
---
const errors = []
for (const name of ["refund", "zzzzzzzz", ""]) {
  try { await skills.read(name); errors.push("read") } catch (e) { errors.push(e.message) }
}
for (const args of [[], [5], ["x", { limit: 0 }]]) {
  try { await skills.search(...args); errors.push("taken") } catch (e) { errors.push(e.name) }
}
return errors
//> value ["there is no skill \"refund\"; did you mean \"refunds\"?","there is no skill \"zzzzzzzz\"; skills.list() names all","there is no skill \"\"; skills.list() names all","TypeError","TypeError","RangeError"]
---
// C021-like: a skill's name is not a tool's.
try { await catalog.search("refunds").then(([tool]) => tool({})) } catch (e) { return e.name }
//> value "TypeError"
