// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function loose(input?: {
  a?: { b: string; [key: string]: unknown } | Array<unknown> | string | number | boolean | null;
  [key: string]: unknown;
}): Promise<Array<string> | { [key: string]: unknown } | string | number | boolean | null>;
