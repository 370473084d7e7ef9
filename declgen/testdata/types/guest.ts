// What a cell has beside its tools.
const [handle, ...others] = await catalog.search("list orders", { limit: 3 });
const result = await handle({ page: 1 });
await handle();
const names: string[] = [handle, ...others].map((tool) => tool.callableName + tool.toolName + tool.source + (tool.description ?? ""));
const all: string[] = catalog.all().map((tool) => tool.input ?? "unknown");
const schema = (await handle.describe()).parameters;
// @ts-expect-error The metadata cannot be changed.
handle.callableName = "other";
// @ts-expect-error
catalog.search(5);
// @ts-expect-error
catalog.search("orders", { limit: "3" });

// A file reads as its content where a string is expected.
const file = await API.read("tools/orders_list.d.ts");
const lines: string[] = file.split("\n");
const template: string = `${file}` + file;
const content: string = file.content;
const text1: string = file;
const parsed = JSON.parse(file);
const bytes: number = file.bytes;
const paths: string[] = (await API.list("tools")).files.map((f) => f.path);
await API.list();
// @ts-expect-error
API.read();

text("done");
text({ a: 1 });
json([1]);
console.log("a", 1);
console.error();
const timer: number = setTimeout((n: number) => n + 1, 10, 1);
clearTimeout(timer);
setTimeout(() => {});
await new Promise<void>((resolve) => setTimeout(resolve, 5));
queueMicrotask(() => {});

const titles: string[] = (await skills.list()).map((skill) => skill.name);
const document = await skills.read("refunds");
const instructions: string[] = [document.content, document, document.name, document.description ?? ""];
const sizes: number[] = (await skills.search("refund")).map((skill) => skill.bytes);
// @ts-expect-error A document does not tell its size.
document.bytes;
const note: string | undefined = (await handle.describe()).note;
const fitting = await skills.search("refund", { limit: 1 });
// @ts-expect-error There is no such thing in a cell.
require("fs");
const orders: { id: string }[] = await orders_list({ page: 1 });

try {
  await orders_list();
} catch (error) {
  const failure = error as ToolError;
  const facts: [string, "none" | "unknown", boolean, string] = [failure.code, failure.effectStatus, failure.executionStarted, failure.message];
  text(facts);
  // @ts-expect-error There is no such status.
  if (failure.effectStatus === "done") throw failure;
}
export { result, names, all, schema, lines, template, content, text1, parsed, bytes, paths, titles, instructions, sizes, note, fitting, orders };

// What is kept.
const reference = await results.save([{ id: 1 }]);
const size: number = reference.bytes;
const rows = await results.load(reference);
rows.map((row: { id: number }) => row.id);
const gone: true = await results.delete(reference.id);
await store("key", { size, gone });
await store("key", undefined);
text((await load("key")).size);
// @ts-expect-error
await store(1, 2);
