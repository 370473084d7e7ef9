// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function nest(input?: {
  labels?: [item0: string | null, item1?: [number?, ...unknown[]], ...more: (string | number)[]];
  list?: [item0?: Array<[number?]>];
  plain?: [string, number?, ...unknown[]];
}): Promise<nest.Output>;
declare namespace nest {
  type Output = [item0?: [nest.Output?, ...unknown[]], ...more: unknown[]] | { [key: string]: unknown } | string | number | boolean | null;
}
