// What each kind of value reads as: an argument as a word or JSON, inside others always as JSON.
console.log();
//> 
console.log("plain");
//> plain
console.log("a", "", "b");
//> a  b
console.log("%s is %d", "x", 1);
//> %s is %d x 1
console.log(0, -0, 1.5, 1e21, 2 ** 53, true, false, null);
//> 0 0 1.5 1e+21 9007199254740992 true false null
console.log(NaN, Infinity, [NaN, -Infinity]);
//> null null [null,null]
console.log(undefined, 12n, -1n, Symbol("s"), Symbol(), () => {}, class A {}, console.log);
//> undefined 12n -1n Symbol(s) Symbol() [Function] [Function] [Function]
console.log([undefined, 12n, Symbol("s"), () => {}, "a\"\n", null, true]);
//> ["undefined","12n","Symbol(s)","[Function]","a\"\n",null,true]
console.log({}, [], { a: 1, list: [1, "two", { b: {} }] });
//> {} [] {"a":1,"list":[1,"two",{"b":{}}]}
console.log({ "é\"": "日🚀", 2: 0, ["__proto__"]: 1, [Symbol("no")]: 1 });
//> {"2":0,"é\"":"日🚀","__proto__":1}
console.log({ toJSON() { return 1; } }, new Date(0), new Map([[1, 2]]), new Set([1]), /x/g);
//> {"toJSON":"[Function]"} {} {} {} {}
console.log(Object("ab"), Object(1), new (class { x = 1; #y = 2; get z() { return 3; } })());
//> {"0":"a","1":"b"} {} {"x":1}
console.log([1, , 3], [, ,], Object.assign([1], { extra: 2 }));
//> [1,null,3] [null,null] [1]
console.log(new Uint8Array([7, 8]), new BigInt64Array(1), new ArrayBuffer(8), new DataView(new ArrayBuffer(1)));
//> {"0":7,"1":8} {"0":"0n"} {} {}
console.log(Promise.resolve(1));
//> [Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]
console.log({ p: (async () => {})() });
//> {"p":"[Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]"}
console.log((function () { return arguments; })(1, "x"));
//> {"0":1,"1":"x"}
