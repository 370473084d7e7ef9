// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function query(input?: {
  e?: boolean;
  n?: number /* integer */;
  p?: string;
  /** filter */
  query_model?: query.ListArgs;
  status?: "open" | "done";
  statusFilter?: Array<"open" | "done">;
  u?: null;
  [key: string]: unknown;
}): Promise<unknown>;
declare namespace query {
  type ListArgs = {
    /** @default 20 */
    limit?: number /* integer */;
    /** @default null */
    query?: string;
    /** @default null */
    team_ids?: Array<string>;
    [key: string]: unknown;
  };
}
