// An error reads as its enumerable fields, then its own message. Its name shows where it is a field.
console.log(new Error("m"), new TypeError("t"));
//> {"message":"m"} {"message":"t"}
console.error("failed", Object.assign(new Error("m"), { code: "tool_error", effectStatus: "none" }));
//> [error] failed {"code":"tool_error","effectStatus":"none","message":"m"}
class NotFound extends Error {
  constructor(id) {
    super(`no ${id}`);
    this.name = "NotFound";
    this.id = id;
  }
}
console.log(new NotFound(7));
//> {"name":"NotFound","id":7,"message":"no 7"}
console.log({ list: [new RangeError("r")] });
//> {"list":[{"message":"r"}]}
console.log(new Error(), new AggregateError([new Error("inner")], "outer"), new Error("m", { cause: 1 }));
//> {} {"message":"outer"} {"message":"m"}
console.log(Object.defineProperty(new Error("m"), "message", { enumerable: true }));
//> {"message":"m"}
console.log(Object.defineProperty(new Error("m"), "message", { get() { throw 1; } }));
//> {"message":"[Accessor]"}
console.log(Object.defineProperty(new Error("m"), "message", { value: { deep: [1] } }));
//> {"message":{"deep":[1]}}
try {
  null.x;
} catch (error) {
  console.log(error.name, error.message !== "", JSON.parse(`[${"{}"}]`), error instanceof TypeError);
}
//> TypeError true [{}] true
console.log({ message: "no error", __proto__: Error.prototype });
//> {"message":"no error"}
