// Comments are comments: the declaration is what it would be without.
type In = Expect<Equal<Input<typeof page>, { number: number }>>;
type Out = Expect<Equal<Output<typeof page>, { text: string }>>;
export {};
