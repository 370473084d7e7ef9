// Tools as cells see them (specification 8.5): async globals of one argument, with errors that carry a code and say
// whether there may be effects.
---
return [typeof echo, echo.name, echo.length, Object.isFrozen(echo), echo({}) instanceof Promise]
//> value ["function","echo",1,true,true]
---
// A name that is no identifier becomes one.
return [await log_event({}), log_event.name]
//> value ["logged","log_event"]
---
// A tool may be handed to map as it is.
return (await Promise.all([{ i: 1 }, { i: 2 }, { i: 3 }].map(mutate))).map((r) => r.i)
//> value [1,2,3]
---
// It can be stored, passed and called through anything.
const tools = { first: echo, second: mutate }
const pick = (name) => tools[name]
return [await pick("first")(1), await tools.second.call(null, { i: 2 }), await Reflect.apply(echo, null, [3]), await echo.bind(null, 4)()]
//> value [1,{"i":2},3,4]
---
try { new echo({}) } catch (e) { return e.name }
//> value "TypeError"
---
// The error of a tool: its own text, code tool_error, effects unknown.
try { await fail({ message: "no such order: 7" }) } catch (e) {
  return [e instanceof Error, e.name, e.message, e.code, e.effectStatus, e.executionStarted, Object.keys(e)]
}
//> value [true,"Error","no such order: 7","tool_error","unknown",true,["code","effectStatus"]]
---
// A panic is one, too, and keeps its secrets.
try { await crash({}) } catch (e) { return [e.code, e.effectStatus, /secret|goroutine|\.go/.test(e.message + e.stack)] }
//> value ["tool_error","unknown",false]
---
// After it tools work.
for (let i = 0; i < 20; i++) await crash({}).catch(() => {})
return await echo("fine")
//> value "fine"
---
// An input that breaks the schema: nothing ran, and the text says where and what.
try { await mutate({ i: "x" }) } catch (e) { return [e.code, e.effectStatus, e.executionStarted, e.message] }
//> value ["input_contract","none",false,"mutate: the input does not match its schema, nothing was executed: $.i must be integer, not string. Expected: mutate({ i: number /* integer */ }). Correct the input and call again."]
//> calls mutate []
---
const seen = []
for (const input of [undefined, {}, 5, [], "s", { i: null }, { i: 1.5 }, { i: 1, j: 2 }, { i: 1e300 }]) {
  try { await mutate(input); seen.push("taken") } catch (e) { seen.push(e.code) }
}
return seen
//> value ["input_contract","input_contract","input_contract","input_contract","input_contract","input_contract","input_contract","input_contract","input_contract"]
//> calls mutate []
---
// A mistyped property is recognised.
try { await fail({ mesage: "m" }) } catch (e) { text(e.message) }
//> output [{"type":"text","text":"fail: the input does not match its schema, nothing was executed: $ the property \"mesage\" is not allowed; known are \"message\"; $ the required property \"message\" is missing. Did you mean \"message\"? Expected: fail({ message: string }). Correct the input and call again."}]
//> calls fail []
---
// C023: a result that breaks the output contract is withheld. The text names places, never values, and says that
// the tool ran.
try { await broken({}) } catch (e) {
  return [e.code, e.effectStatus, e.message.includes("token"), e.message.includes("secret"), /effects/.test(e.message)]
}
//> value ["output_contract","unknown",true,false,true]
---
// An error that a cell throws on is reported with the place of the call.
const ask = (i) => mutate({ i })
await ask("x")
//> failed internal_error guest
//> error /^Error: mutate: the input does not match its schema.*\n    at ask \(cell\.js:2:20\)\n    at <anonymous> \(cell\.js:3:7\)$/
---
// Tools that the text of the program does not spell out are there as well.
const name = "ec" + "ho"
return [await globalThis[name](1), await (0, eval)("echo")(2), await new Function("return echo")()(3), await (() => {}).constructor("return echo")()(4)]
//> value [1,2,3,4]
---
return await (function () { return this["ec" + "ho"] })()(1)
//> value 1
---
return await \u0065cho(5)
//> value 5
---
// More calls than may run at once wait for a place, and all are made.
const list = await Promise.all(Array.from({ length: 144 }, (_, i) => echo(i)))
return list.every((x, i) => x === i) && list.length
//> value 144
---
// C079 c: calls one after the other are never too many.
for (let i = 0; i < 200; i++) await mutate({ i: 5 })
return "done"
//> value "done"
---
// Calls that are refused because there are too many are refused whole, caught or not.
try { await Promise.all(Array.from({ length: 145 }, (_, i) => mutate({ i }))) } catch (e) { text("caught: " + e.name) }
return "success"
//> failed invalid_input
//> output [{"type":"text","text":"caught: Error"}]
//> error too many tool calls and timers were pending at once (16 run at a time and 128 wait): none of this batch was started; await them in smaller batches
//> calls mutate []
