// How a cell finds tools (specification 8.3, 8.4): catalog.search and catalog.all give frozen, callable handles, which are
// the same functions as the globals and show what is known of a tool as ordinary properties.
---
const [handle] = await catalog.search("echo", { limit: 1 })
return [typeof handle, handle === echo, handle.name, handle.callableName, handle.toolName, handle.description, handle.source, handle.apiPath]
//> value ["function",true,"echo","echo","echo","Return the input unchanged.","native","tools/echo.d.ts"]
---
// What it shows, in order; toJSON is hidden and leaves describe out.
const all = catalog.all()
const log = all.find((tool) => tool.toolName === "log-event")
return [Object.keys(log), Object.keys(log.toJSON()), Object.isFrozen(log), Object.isFrozen(log.toJSON()), Object.isFrozen(all), JSON.stringify(log) === JSON.stringify(log.toJSON())]
//> value [["callableName","toolName","source","input","output","apiPath","describe"],["callableName","toolName","source","input","output","apiPath"],true,true,true,true]
---
// A global that was not searched for shows the same, and stays itself.
const before = echo.description
const again = (await catalog.search("echo"))[0]
return [before, again === echo, catalog.all().find((t) => t.callableName === "echo") === again, globalThis.echo === again]
//> value ["Return the input unchanged.",true,true,true]
---
// A handle can be called, and so can one of a tool that the program never names.
const rows = (await catalog.search("r" + "ows", { limit: 1 }))[0]
return (await rows({ n: 2 })).length
//> value 2
//> calls rows [{"n":2}]
---
// C021: every exact callable name finds that tool, and each call reaches its own.
const wrong = []
for (const tool of catalog.all()) {
  const found = await catalog.search(tool.callableName, { limit: 1 })
  if (found.length !== 1 || found[0] !== tool) wrong.push(tool.callableName)
}
return wrong
//> value []
---
// Each handle, of a search or of all, calls and describes its own tool.
const wrong = []
const tools = [...catalog.all(), ...(await catalog.search("return the input", { limit: 50 })), ...(await Promise.all(catalog.all().map(async (t) => (await catalog.search(t.toolName))[0])))]
for (const tool of tools) if ((await tool.describe()).callableName !== tool.callableName) wrong.push(tool.callableName)
const mutate_ = tools.find((t) => t.callableName === "muta" + "te")
return [tools.length > 20, wrong, (await mutate_({ i: 7 })).i]
//> value [true,[],7]
//> calls mutate [{"i":7}]
---
// A limit that the program got from JSON is a number like any other.
return (await catalog.search("a tool that returns the input rows", { limit: JSON.parse("1") })).length
//> value 1
---
// An error of the guest API has the program's own frames.
const stacks = []
for (const f of [() => API.read("nope"), () => catalog.search(5), () => skills.read("nope"), () => skills.search("x", { limit: 0 })]) {
  try { await f() } catch (e) { stacks.push(/(controller|catalog)\.js/.test(e.stack), /cell\.js/.test(e.stack)) }
}
return stacks
//> value [false,true,false,true,false,true,false,true]
---
// Nothing of the bridge's source is shown.
try { structuredClone(echo) } catch (e) { return [e.name, e.message] }
//> value ["DataCloneError","#<Tool> could not be cloned."]
---
// Handles serialise to what is known of them, without a call, wherever they stand: in the value ...
return { one: echo, list: [echo], deep: { a: [{ b: echo }] } }
//> value {"one":{"callableName":"echo","toolName":"echo","description":"Return the input unchanged.","source":"native","input":"unknown","apiPath":"tools/echo.d.ts"},"list":[{"callableName":"echo","toolName":"echo","description":"Return the input unchanged.","source":"native","input":"unknown","apiPath":"tools/echo.d.ts"}],"deep":{"a":[{"b":{"callableName":"echo","toolName":"echo","description":"Return the input unchanged.","source":"native","input":"unknown","apiPath":"tools/echo.d.ts"}}]}}
//> calls echo []
---
return echo
//> value {"callableName":"echo","toolName":"echo","description":"Return the input unchanged.","source":"native","input":"unknown","apiPath":"tools/echo.d.ts"}
---
// ... in what is emitted ...
json([echo]); text(echo); console.log(echo, [echo])
//> output [{"type":"json","value":[{"callableName":"echo","toolName":"echo","description":"Return the input unchanged.","source":"native","input":"unknown","apiPath":"tools/echo.d.ts"}]},{"type":"text","text":"{\"callableName\":\"echo\",\"toolName\":\"echo\",\"description\":\"Return the input unchanged.\",\"source\":\"native\",\"input\":\"unknown\",\"apiPath\":\"tools/echo.d.ts\"}"},{"type":"text","text":"{\"callableName\":\"echo\",\"toolName\":\"echo\",\"description\":\"Return the input unchanged.\",\"source\":\"native\",\"input\":\"unknown\",\"apiPath\":\"tools/echo.d.ts\"} [{\"callableName\":\"echo\",\"toolName\":\"echo\",\"description\":\"Return the input unchanged.\",\"source\":\"native\",\"input\":\"unknown\",\"apiPath\":\"tools/echo.d.ts\"}]"}]
//> calls echo []
---
// ... and in arguments.
return (await echo([echo]))[0].callableName
//> value "echo"
---
// As text a tool is its name, not the source of the bridge.
return [String(echo), `${echo}`]
//> value ["async function echo(input) { [tool] }","async function echo(input) { [tool] }"]
---
// describe tells all there is to know.
return await rows.describe()
//> value {"source":"native","name":"rows","description":"Return n small rows.","input":"{ n: number /* integer, >= 0, <= 1000000 */ }","output":"Array<{ id: number; ok: boolean }>","parameters":{"properties":{"n":{"type":"integer","maximum":1000000,"minimum":0}},"additionalProperties":false,"type":"object","required":["n"]},"outputSchema":{"items":{"properties":{"id":{"type":"integer"},"ok":{"type":"boolean"}},"additionalProperties":false,"type":"object","required":["id","ok"]},"type":"array"},"callableName":"rows"}
---
// C013: descriptions that were not awaited are a note, not {}; awaited together they are there.
const handles = await catalog.search("echo")
const forgotten = handles.map((h) => h.describe())
return [forgotten, (await Promise.all(handles.map((h) => h.describe())))[0].name]
//> value [["[Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]"],"echo"]
---
// describe works when it is taken off its handle.
const { describe } = echo
return (await describe()).callableName
//> value "echo"
---
// A search that finds nothing, and queries and limits that are none.
const tries = []
for (const args of [[""], ["zzzzqqq"], ["echo", {}], ["echo", { limit: 1e9 }], ["echo", 1], ["echo", null]]) tries.push((await catalog.search(...args)).length)
for (const args of [[], [5], [{}], [null], ["echo", { limit: 0 }], ["echo", { limit: -1 }], ["echo", { limit: 1.5 }], ["echo", { limit: "2" }], ["echo", { limit: NaN }]]) {
  try { await catalog.search(...args); tries.push("taken") } catch (e) { tries.push(e.name) }
}
return tries
//> value [0,0,1,1,1,1,"TypeError","TypeError","TypeError","TypeError","RangeError","RangeError","RangeError","RangeError","RangeError"]
---
// catalog cannot be changed; a handle cannot either.
"use strict"
const errors = []
for (const f of [() => { catalog = null }, () => { catalog.search = null }, () => { echo.description = "x" }, () => { delete echo.describe }, () => { echo = null }]) {
  try { f(); errors.push("done") } catch (e) { errors.push(e.name) }
}
return errors
//> value ["TypeError","TypeError","TypeError","TypeError","TypeError"]
---
// C077: a forged or copied handle is not a tool, and control tools cannot be reached.
const copies = [{ callableName: "echo" }, JSON.parse(JSON.stringify(echo)), { ...echo }, Object.create(echo)]
return [copies.map((c) => typeof c), typeof exec, typeof wait, (await catalog.search("exec", { limit: 50 })).map((h) => h.callableName).includes("exec")]
//> value [["object","object","object","object"],"undefined","undefined",false]
---
// Built-ins that the guest replaced break nothing here (C075).
const { parse, stringify } = JSON
JSON.parse = () => { throw new Error("parse") }
JSON.stringify = () => "forged"
String.prototype.repeat = () => ""
String.prototype.concat = () => ""
Array.prototype.map = Array.prototype.push = () => { throw new Error("array") }
Object.defineProperty(Array.prototype, 0, { set() { throw new Error("setter") }, configurable: true })
Object.defineProperty(Object.prototype, "callableName", { set() { throw new Error("setter") }, configurable: true })
Object.prototype.enumerated = 1
Object.freeze = Object.defineProperty = Reflect.defineProperty = () => { throw new Error("define") }
Map.prototype.get = Map.prototype.set = () => { throw new Error("map") }
const found = await catalog.search("echo", { limit: 1 })
const description = await found[0].describe()
return [found.length, found[0].callableName, description.name, (await API.read("tools/echo.d.ts")).path, await found[0](7)]
//> value [1,"echo","echo","tools/echo.d.ts",7]
---
// A large number in a schema keeps its digits, as everywhere.
const d = await catalog.all().find((t) => t.callableName === "mutate").describe()
return d.parameters.properties.i.type
//> value "integer"
