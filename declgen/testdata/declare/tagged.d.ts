// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
/**
 * What happened.
 * @example
 * await events({ since: "2024-01-01T00:00:00Z" })
 * @example
 * await events({ since: "2024-01-01T00:00:00Z", limit: 5, ["__proto__"]: { "a-b": [1, "12345678901234567890"] } })
 */
declare function events(input: {
  /** @deprecated */
  kind?: string;
  /** @default 20 */
  limit?: number /* integer, >= 1, <= 100 */;
  /**
   * Only later ones.
   * @format date-time
   */
  since: string;
}): Promise<Array<{ at: string; by: string; type: "opened" }
  | { at: string; reason?: string | null; type: "closed" }>>;
