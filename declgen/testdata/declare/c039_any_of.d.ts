// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function ingest(input: { content: unknown; [key: string]: unknown }
  | { source_url: unknown; [key: string]: unknown }
  | { source_file_id: unknown; [key: string]: unknown }): Promise<unknown>;
