// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function inherit(input?: unknown): Promise<{ __proto__?: boolean; constructor?: unknown; toString?: unknown; valueOf: string }>;
