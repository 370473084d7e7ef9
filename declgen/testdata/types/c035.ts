// An index signature covers the named properties too.
type Labels = Expect<Equal<Output<typeof deploy>["labels"], { [key: string]: string }>>;
declare const out: Output<typeof deploy>;
const value: string | undefined = out.labels["any key"];
const cpu: string | undefined = out.limits?.cpu;
export { value, cpu };
