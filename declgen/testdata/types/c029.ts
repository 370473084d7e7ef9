// Nothing in a schema ends a comment.
// @ts-expect-error There is no such name.
injected;
type Spec = Expect<Equal<Input<typeof schedule>["spec"], string>>;
type Kind = Expect<Equal<Input<typeof schedule>["kind"], "*/ declare const injected: 1; /*" | "b" | undefined>>;
export {};
