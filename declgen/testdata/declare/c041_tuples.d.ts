// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function filter(input?: {
  ids?: Array<unknown>;
  path?: [string, ...(number /* integer */ | null)[]];
  point?: [number, number];
  where?: Array<[string?, ("eq" | "ne" | "in")?, unknown?, ...unknown[]] | { [key: string]: unknown } | string | number | boolean | null>;
}): Promise<unknown>;
