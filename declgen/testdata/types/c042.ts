// A pattern for names is an index signature that is wide enough for the named property.
type Gid = Expect<Equal<Input<typeof task>["gid"], string | undefined>>;
export {};
