// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function groups(input?: unknown): Promise<{ x?: "a"; [key: string]: groups.A | "a" | undefined }>;
declare namespace groups {
  type A = { next?: groups.A; [key: string]: unknown };
}
