// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function search(input: {
  ""?: string;
  $schema?: string;
  "9lives"?: string;
  "Account Number"?: string;
  "a-b": string;
  a_b?: number;
  "back\\slash"?: string;
  "filter[bundleId]": string;
  "page[size]"?: string;
  "projects.any"?: string;
  "say \"hi\""?: string;
  "名前"?: string;
}): Promise<unknown>;
