// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function report(input?: {
  a?: "x" | "y" | null;
  b?: "x" | "y";
  c?: string | null;
  d?: "x";
  /** @default null */
  e?: number /* integer */ | null;
  reason?: "Order won't fit" | "say \"hi\"" | "back\\slash" | "line\nbreak" | "\u2028" | "*/" | 1 | 1.5 | true | null;
}): Promise<unknown>;
