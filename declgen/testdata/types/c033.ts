// The items of an array are in parentheses.
type Colors = Expect<Equal<Output<typeof paint>["colors"], Array<"red" | "blue">>>;
type Mixed = Expect<Equal<Output<typeof paint>["mixed"], Array<string | null> | undefined>>;
type Deep = Expect<Equal<Output<typeof paint>["deep"], Array<Array<number | boolean>> | undefined>>;
export {};
