// Alternatives stay alternatives, and a condition is for the validator.
// @ts-expect-error One of the three is required.
upload();
declare const given: Input<typeof upload>;
if ("content" in given) given.content satisfies unknown;
type Mode = Expect<Equal<Input<typeof render>["mode"], "small" | "large">>;
type Size = Expect<Equal<Input<typeof render>["size"], number | undefined>>;
export {};
