// An input may be left out if an empty one will do.
defaults();
must({ query: "a" });
// @ts-expect-error
must();
nothing();
nothing({});
type Anything = Expect<Equal<Output<typeof anything>, unknown>>;
type Never = Expect<Equal<Output<typeof never>, never>>;
const empty: {} = await nothing();
export { empty };
