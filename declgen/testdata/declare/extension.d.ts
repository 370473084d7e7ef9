// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function shapes(input?: { [key: string]: unknown }): Promise<shapes.Group>;
declare namespace shapes {
  type Group = {
    id: string;
    links?: Array<string>;
    members: Array<shapes.Shape | shapes.Group>;
    parent?: shapes.Group;
  };
  type Shape = { id: string; links?: Array<string>; parent?: shapes.Group; [key: string]: unknown };
}
