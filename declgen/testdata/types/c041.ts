// Tuples, in the form of both drafts. An item schema without a type also accepts what is no array.
type Point = Expect<Equal<Input<typeof rows>["point"], [number, number] | undefined>>;
type Ids = Expect<Equal<Input<typeof rows>["ids"], Array<unknown> | undefined>>;
type Where = Expect<Equal<Input<typeof rowsOfArrays>["where"], Array<[string?, ("eq" | "ne" | "in")?, unknown?, ...Array<unknown>]> | undefined>>;
type Range = Expect<Equal<Input<typeof range>["range"], [string?, number?] | undefined>>;
export {};
