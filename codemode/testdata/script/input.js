// What is said about a source before it runs (specification 1.2 and 1.3): syntax errors with their line, module
// access, shell commands. Nothing of a refused cell has run: no output, no call.
---
// A cell is the body of an async function: await and return are legal at its top level.
const r = await echo({ a: 1 })
if (r.a === 1) return "returned"
return "not reached"
//> value "returned"
---
// Sloppy mode, unless the cell says otherwise.
undeclared = 1
with ({ x: 010 }) return [undeclared, x]
//> value [1,8]
---
"use strict"
undeclared = 1
//> failed internal_error guest
//> error /^ReferenceError: undeclared is not defined\n/
---
// White space, comments and line ends of every kind around the program do not matter.
  /* a */ // b

	return 1 // c
//> value 1
---
// A comment in the last line does not swallow what the host puts behind it.
//> value 2
return 2 // the last line
---
// A syntax error has its line, in the submitted code.
text("not run")
mutate({ i: 1 })
let x = 1
let x = 2
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:5:\d+: .+\nNo tools were dispatched: fix the program and submit it again\.$/
//> calls mutate []
---
const list = [1, 2
const more = 1
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:2:/
---
// A program that ends too early fails at its end, not behind it. (The expectations stand before it for that.)
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:5:/
if (true) {
  text("not run")
---
// A program cannot end the function that it is the body of.
text("not run")
}
text("nor this")
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:/
---
}) ; (async () => {
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:/
---
} ; async function g() {
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:/
---
} : 0, globalThis.escaped = 1 ? async () => {
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:/
---
return 1 } } async function f() { {
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:/
---
// Braces in strings, templates, comments and regular expressions are no such thing.
/* } */ return ["}", `}${"}"}}`, /[}]/.test("}"), { a: "}" }.a] // }
//> value ["}","}}}",true,"}"]
---
// Statements of modules are syntax errors.
import fs from "fs"
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:2:/
---
export const a = 1
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:1:/
---
return import.meta
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:1:/
---
// Module access is found in the syntax tree, before anything runs.
text("not run")
const fs = await import("fs")
//> failed invalid_input input
//> error /^module access is disabled/
---
text("not run")
const fs = require("fs")
//> failed invalid_input input
//> error /^module access is disabled/
---
text("not run")
;(0, require)("fs")
//> failed invalid_input input
//> error /^module access is disabled/
---
text("not run")
;(require)?.("fs")
//> failed invalid_input input
//> error /^module access is disabled/
---
text("not run")
r\u0065quire("fs")
//> failed invalid_input input
//> error /^module access is disabled/
---
// An alias is found when it is used; what ran before has run.
text("run")
const load = require
load("fs")
//> failed invalid_input input
//> output [{"type":"text","text":"run"}]
//> error /^module access is disabled/
---
process.exit(1)
//> failed invalid_input input
//> error /^module access is disabled/
---
module.exports = 1
//> failed invalid_input input
//> error /^module access is disabled/
---
// Comments, strings and methods of that name are none.
// import("x"), require("x")
const o = { require: (n) => n, import: (n) => n }
return [o.require("a"), o.import("b"), "require('x')", `import("x")`, /require("x")/.source]
//> value ["a","b","require('x')","import(\"x\")","require(\"x\")"]
---
// An exception that the cell handles is not an access.
try { process.exit(1) } catch (e) { return e.message }
//> value "process is not defined"
---
// C005 e: a shell command.
ls -la /workspace
//> failed invalid_input input
//> error /^exec runs JavaScript, not shell commands/
---
git commit -m "message"
//> failed invalid_input input
//> error /^exec runs JavaScript, not shell commands/
---
#!/bin/sh
echo hello
//> failed invalid_input input
//> error /^exec runs JavaScript, not shell commands/
---
for f in *.txt; do cat "$f"; done
//> failed invalid_input input
//> error /^exec runs JavaScript, not shell commands/
---
// What only looks like one is a program.
const ls = 1; return ls
//> value 1
---
var git = 5
git
-m
var m = "message"
return git
//> value 5
---
// A mistyped keyword is a syntax error, not a command.
cnst total = 5
return total
//> failed invalid_input input
//> error /^SyntaxError at cell\.js:2:/
---
// An exception of JSON.parse or eval is the cell's own, not an input error.
JSON.parse("{bad")
//> failed internal_error guest
//> error /^SyntaxError: .+\n    at <anonymous> \(cell\.js:2:6\)$/
---
eval("let let = 1")
//> failed internal_error guest
//> error /^SyntaxError: /
---
throw new SyntaxError("mine")
//> failed internal_error guest
//> error /^SyntaxError: mine\n/
