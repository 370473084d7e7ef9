// A schema that refers to itself is a named type. Two tools may use the same name for their definitions.
const found = await tree({ root: { name: "a", children: [] } });
const names: string[] = found.children[0].children.map((node) => node.children[0].name);
// @ts-expect-error
found.children[0].value;
const listed = await other({});
const value: number | undefined = listed.next?.next?.value;
// @ts-expect-error
listed.next?.children;
const id: number | undefined = (await self({})).child?.child?.child?.id;
export { names, value, id };
