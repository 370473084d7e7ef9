// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
/**
 * Schedule *\/ declare const injected: any; /* job
 * @example
 * await schedule({ spec: "*\/5 * * * *" })
 * @example
 * await schedule({ spec: "\u2028\n" })
 */
declare function schedule(input: {
  /**
   * Match **\/src/**\/*.go
   * @default "*\/"
   */
  glob?: string;
  /** @format *\/ */
  kind?: "*/" | "/*";
  /**
   * first
   * second
   * third
   * fourth
   * fifth
   */
  note?: string;
  /** Cron text, for example *\/5 * * * * */
  spec: string;
  [key: string]: unknown;
}): Promise<unknown>;
