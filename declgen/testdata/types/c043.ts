// Literals, what is merged, and what is not said with never.
type In = Input<typeof literals>;
type Kind = Expect<Equal<In["kind"], "issue">>;
type None = Expect<Equal<In["none"], null | undefined>>;
type Slug = Expect<Equal<In["slug"], string | undefined>>;
type Free = Expect<Equal<In["free"], unknown>>;
type Name = Expect<Equal<Input<typeof merged>["name"], string>>;
type Extra = Expect<Equal<Input<typeof merged>["extra"], number>>;
type Id = Expect<Equal<Output<typeof meta>["id"], string>>;
export {};
