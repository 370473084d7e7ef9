// null, with an enum and without.
type In = Input<typeof orders>;
type A = Expect<Equal<In["a"], "x" | "y" | null | undefined>>;
type B = Expect<Equal<In["b"], "x" | "y" | undefined>>;
// nullable is a word of OpenAPI, which JSON Schema does not have: the type allows for null, the validator does not.
type C = Expect<Equal<In["c"], string | null | undefined>>;
type D = Expect<Equal<In["d"], "x" | undefined>>;
type E = Expect<Equal<In["e"], number | null | undefined>>;
type Reason = Expect<
  Equal<In["reason"], "Order won't fit" | 'say "hi"' | "back\\slash" | "line\nbreak" | "\u2028" | "*/" | 1 | 1.5 | true | null | undefined>
>;
export {};
