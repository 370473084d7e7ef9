// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
/**
 * Work with records.
 * @example
 * await records({ op: "list", page: 2 })
 */
declare function records<const Value extends string>(input: records.Input & { op: Value }): Promise<Value extends keyof records.OutputByInput ? records.OutputByInput[Value] : records.Output>;
declare function records(input: records.Input): Promise<records.Output>;
declare namespace records {
  type Input = { op: "list" | "drop-all" | "purge"; page?: number /* integer, >= 1 */ };
  type Output0 = {
    op?: "list";
    rows: Array<{ id: number /* integer */; name: string; state: "open" | "done" }>;
  };
  type Output1 = { gone: boolean };
  type OutputByInput = {
    "drop-all": records.Output1;
    list: records.Output0;
    purge: records.Output1;
  };
  type Output = records.Output0 | records.Output1;
}
