// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
// The result depends on the input, but its schema has references or is too large to be told apart here.
declare function records(input?: { [key: string]: unknown }): Promise<{ owner: "me"; rows: Array<string>; [key: string]: unknown }
  | { gone: boolean; owner: "me"; [key: string]: unknown }>;
