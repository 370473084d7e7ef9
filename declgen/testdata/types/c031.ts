// Parameters that are named like keywords are parameters.
type Words = "type" | "title" | "description" | "properties" | "required" | "definitions" | "$ref" | "enum" | "default" | "items";
type AllOfThem = Expect<Equal<keyof Input<typeof create>, Words>>;
type Map = Expect<Equal<Input<typeof create>["properties"], { [key: string]: string }>>;
type Required = Expect<Equal<Pick<Input<typeof create>, "title" | "$ref">, { title: string; $ref: string }>>;
type Optional = Expect<Equal<Input<typeof create>["type"], string | undefined>>;
export {};
