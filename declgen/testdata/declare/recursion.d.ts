// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
declare function tree(input: tree.Input): Promise<tree.TreeNode>;
declare namespace tree {
  type Input = { id: string; sub?: tree.Input };
  /** A node of the tree. */
  type TreeNode = {
    children: Array<tree.TreeNode>;
    /** Unique among its siblings. */
    name: string;
    payload?: tree.Array_2;
  };
  /** Any JSON. */
  type Array_2 = string | number | boolean | null | Array<tree.Array_2> | { [key: string]: tree.Array_2 };
}
