// The overloads of a result that depends on the input, for inputs of many forms.
type List = { n: string };
type Drop = Array<string>;

const list: List = await loose({ op: "list" });
const drop: Drop = await loose({ op: "drop-all", more: 1 });
// Keys that mean something to JavaScript are keys like others, and what every object has is not mapped.
const proto: List = await loose({ op: "__proto__" });
const string: Drop = await loose({ op: "toString" });
const inherited = await loose({ op: "valueOf" });
type Inherited = Expect<Equal<typeof inherited, List | Drop>>;
const five = await loose({ op: 5 });
type Five = Expect<Equal<typeof five, List | Drop>>;
const comment: List = await loose({ op: 'a"*/' });

const inQuotes: List = await quoted({ 'a-b"*/': "list" });
const ofProto: List = await keyed({ ["__proto__"]: "list" });
const one = await number({ op: 1 });
type One = Expect<Equal<typeof one, List | Drop>>;
const readOnly = { op: "list" } as const;
const constantly: List = await constant(readOnly);

const nothing = await nullable({ op: null });
type Nothing = Expect<Equal<typeof nothing, List | Drop>>;
declare const perhaps: "list" | null;
const possibly = await nullable({ op: perhaps });
type Possibly = Expect<Equal<typeof possibly, List | Drop>>;

// A default selects too, but not in the type.
const byDefault = await defaulted();
type ByDefault = Expect<Equal<typeof byDefault, List | Drop>>;

const found: List = await nested({ op: "list", where: { and: [{ and: [], value: "x" }] } });

declare const all: Input<typeof either>;
const any = await either(all);
type Any = Expect<Equal<typeof any, List | Drop>>;
declare const lists: Extract<Input<typeof either>, { op: "list" }>;
const listed: List = await either(lists);
const paged: List = await either({ op: "list", page: 1 });
const dropped: Drop = await either({ op: "drop-all", ids: ["a"] });
export { list, drop, proto, string, comment, inQuotes, ofProto, constantly, found, listed, paged, dropped };
