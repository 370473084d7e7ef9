// Objects that could run code or never end: getters are not called, proxies may answer or throw.
let ran = 0;
const count = () => { ran++; throw new Error("ran"); };
console.log({ get a() { return count(); }, set b(v) {}, c: 1 });
//> {"a":"[Accessor]","b":"[Accessor]","c":1}
console.log(Object.defineProperty([1, 2], 1, { get: count, enumerable: true }));
//> [1,"[Accessor]"]
console.log(Object.defineProperty({ a: 1 }, "hidden", { value: 1 }));
//> {"a":1}
console.log({ toString: 1, [Symbol.toPrimitive]: count, get [Symbol.toStringTag]() { return count(); } });
//> {"toString":1}
console.log(ran);
//> 0

const cycle = { name: "c" };
cycle.self = cycle;
cycle.list = [cycle, { cycle }];
console.log(cycle);
//> {"name":"c","self":"[Circular]","list":["[Circular]",{"cycle":"[Circular]"}]}
const shared = { s: 1 };
console.log([shared, shared], shared);
//> [{"s":1},{"s":1}] {"s":1}
const ring = [];
ring.push([[[ring]]]);
console.log(ring);
//> [[[["[Circular]"]]]]

console.log({ a: { b: { c: { d: 1, e: {}, f: [], g: () => {} } } } });
//> {"a":{"b":{"c":{"d":1,"e":"[truncated]","f":"[truncated]","g":"[Function]"}}}}
console.log([[[[[1]]]]]);
//> [[[["[truncated]"]]]]

console.log(new Proxy({ a: 1 }, {}), new Proxy([1, 2], {}), new Proxy(() => {}, {}));
//> {"a":1} [1,2] [Function]
console.log(new Proxy({ a: 1 }, { get: count }), ran);
//> {"a":1} 0
for (const trap of ["ownKeys", "getOwnPropertyDescriptor", "getPrototypeOf"]) {
  console.log(trap, new Proxy({ a: 1 }, { [trap]: count }));
}
//> ownKeys [Unserializable]
//> getOwnPropertyDescriptor [Unserializable]
//> getPrototypeOf [Unserializable]
console.log({ ok: 1, bad: new Proxy([1], { getOwnPropertyDescriptor: count }), after: 2 });
//> {"ok":1,"bad":"[Unserializable]","after":2}
const revoked = Proxy.revocable({}, {});
revoked.revoke();
console.log([revoked.proxy], revoked.proxy);
//> ["[Unserializable]"] [Unserializable]
console.log(new Proxy([1, 2], { getOwnPropertyDescriptor: (t, k) => k === "length" ? { value: { valueOf: count }, writable: true, enumerable: false, configurable: false } : undefined }));
//> [Unserializable]
console.log(new Proxy({ get a() { return count(); } }, {}));
//> {"a":"[Accessor]"}
console.log(new Proxy({}, { ownKeys() { console.warn("from a trap"); return []; } }));
//> [warn] from a trap
//> {}
console.log({ __proto__: null, a: 1 }, { __proto__: { inherited: 1 }, own: 2 }, Object.create(Promise.prototype));
//> {"a":1} {"own":2} [Unawaited Promise: await it, or await Promise.all(list) for several, before you return or emit it]
