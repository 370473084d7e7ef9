// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function records<const Value extends string>(input: records.Input & { op: Value }): Promise<Value extends keyof records.OutputByInput ? records.OutputByInput[Value] : records.Output>;
declare function records(input?: records.Input): Promise<records.Output>;
declare namespace records {
  type Input = { op?: string; [key: string]: unknown };
  type Output0 = { owner: "me"; rows: Array<string>; [key: string]: unknown };
  type Output1 = { gone: boolean; owner: "me"; [key: string]: unknown };
  type OutputByInput = {
    drop: records.Output1;
    list: records.Output0;
  };
  type Output = records.Output0 | records.Output1;
}
