// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function paint(input: {
  colors: Array<"red" | "blue">;
  deep?: Array<Array<number /* integer */ | boolean>>;
  mixed?: Array<string | null>;
  [key: string]: unknown;
}): Promise<unknown>;
