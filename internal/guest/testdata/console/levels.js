// Levels and their order, and what the methods and the object itself are.
console.info("count", 3, true, null);
//> [info] count 3 true null
console.warn("careful");
//> [warn] careful
console.error("failed:", "code", 7);
//> [error] failed: code 7
console.debug("details", { a: 1 });
//> [debug] details {"a":1}
console.log("plain");
//> plain
console.error();
//> [error] 
const { warn } = console;
warn("without this");
//> [warn] without this
["a", "b"].forEach(console.log);
//> a 0 ["a","b"]
//> b 1 ["a","b"]
console.log([console.log(), console.error(1)]);
//> 
//> [error] 1
//> ["undefined","undefined"]

console.log(Object.getOwnPropertyNames(console));
//> ["log","info","warn","error","debug"]
console.log(Object.isFrozen(console), Object.isFrozen(console.log), console.warn.name, "prototype" in console.log);
//> true true warn false
console.log(Object.getOwnPropertyDescriptor(globalThis, "console"));
//> {"value":{"log":"[Function]","info":"[Function]","warn":"[Function]","error":"[Function]","debug":"[Function]"},"writable":false,"enumerable":false,"configurable":false}
console.log((() => { "use strict"; try { console = 1; } catch (e) { return e.constructor === TypeError; } })());
//> true
console.log(((console) => console)("a local of that name"));
//> a local of that name
