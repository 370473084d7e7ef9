// A reference resolves to its real shape.
type Query = Expect<Equal<Input<typeof search>["query_model"], { limit?: number; query?: string; team_ids?: Array<string> }>>;
type Filter = Expect<Equal<Input<typeof filter>["statusFilter"], Array<"open" | "done"> | undefined>>;
type In = Input<typeof names>;
type Names = Expect<Equal<[In["n"], In["p"], In["e"], In["u"]], [number, string, boolean, null]>>;
export {};
