// A property may have any name, and keeps it.
type Names =
  | "filter[bundleId]" | "page[size]" | "projects.any" | "Account Number" | "$schema" | "9lives" | 'say "hi"' | "back\\slash" | "" | "名前" | "a-b" | "a_b";
type AllOfThem = Expect<Equal<keyof Input<typeof apps>, Names>>;
type Dash = Expect<Equal<Input<typeof apps>["a-b"], string>>;
type Underscore = Expect<Equal<Input<typeof apps>["a_b"], number | undefined>>;
export {};
