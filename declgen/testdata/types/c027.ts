// The value of an input property selects the result: by the keys of the mapping, not by titles.
type List = { rows: Array<string> };
type Drop = { gone: boolean; op?: "drop-all" };

const listed = await records({ op: "list" });
type Listed = Expect<Equal<typeof listed, List>>;
const dropped = await records({ op: "drop-all" });
type Dropped = Expect<Equal<typeof dropped, Drop>>;
// Two keys of one branch yield the same type.
const all = await records({ op: "all" });
type All = Expect<Equal<typeof all, List>>;

declare const either: "list" | "drop-all";
const both = await records({ op: either });
type Both = Expect<Equal<typeof both, List | Drop>>;
declare const same: "list" | "all";
const one = await records({ op: same });
type One = Expect<Equal<typeof one, List>>;

declare const broad: string;
const any = await records({ op: broad });
type Any = Expect<Equal<typeof any, List | Drop>>;
const missing = await records({});
type Missing = Expect<Equal<typeof missing, List | Drop>>;
const none = await records();
type None = Expect<Equal<typeof none, List | Drop>>;
const unmapped = await records({ op: "ListPayload" });
type Unmapped = Expect<Equal<typeof unmapped, List | Drop>>;
declare const perhaps: { op?: "list" };
const optional = await records(perhaps);
type Optional = Expect<Equal<typeof optional, List | Drop>>;
declare const partly: "list" | "other";
const part = await records({ op: partly });
type Part = Expect<Equal<typeof part, List | Drop>>;
declare const input: Input<typeof records> | undefined;
const unknown = await records(input);
type Unknown = Expect<Equal<typeof unknown, List | Drop>>;

// Where the input names its values, the same holds and wrong inputs do not compile.
const variable = { op: "list" as const, limit: 3 };
const rows: string[] = (await closed(variable)).rows;
const gone: boolean = (await closed({ op: "drop-all" })).gone;
// @ts-expect-error The list has no gone.
(await closed({ op: "list" })).gone;
// @ts-expect-error The input is required.
closed();
// @ts-expect-error A broad string is not one of the values.
closed({ op: broad });
const choice = await closed({ op: either });
type Choice = Expect<Equal<typeof choice, List | Drop>>;
export { rows, gone };
