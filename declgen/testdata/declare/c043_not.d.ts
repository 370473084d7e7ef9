// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function issue(input: { free?: unknown; kind: "issue"; none?: null; shape?: { a: [1, "x"] }; slug?: string }): Promise<unknown>;
