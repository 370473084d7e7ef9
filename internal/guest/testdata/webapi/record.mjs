// Records what Node gives for the cases: `node record.mjs` writes url.json, params.json, encoding.json
// and clone.json beside it. Run it with Node 20 after a change of the cases, and read the diff. The Go
// tests need no Node: they run each expression in the guest and compare with what is recorded.
//
// Each file holds pairs: an expression, and the JSON text of its value, or "throws" and a name.
import { readFileSync, writeFileSync } from "node:fs";
import { parse, setters } from "./url.cases.js";
import { expressions as params } from "./params.cases.js";
import { expressions as encoding } from "./encoding.cases.js";
import { expressions as clone } from "./clone.cases.js";

const at = (name) => new URL(name, import.meta.url);
const run = new Function("code", `${readFileSync(at("prelude.js"), "utf8")}
  try { return String(JSON.stringify(eval("(" + code + ")"))); } catch (error) { return "throws " + error.name; }`);
const call = (name, args) => `${name}(${args.map((arg) => JSON.stringify(arg)).join(", ")})`;

const suites = {
  url: [...parse.map((args) => call("url", args)), ...setters.map((args) => call("set", args))],
  params,
  encoding,
  clone,
};
for (const [name, codes] of Object.entries(suites)) {
  const lines = codes.map((code) => JSON.stringify([code, run(code)]));
  writeFileSync(at(`${name}.json`), `[\n${lines.join(",\n")}\n]\n`);
  console.log(`${name}: ${lines.length} cases`);
}
