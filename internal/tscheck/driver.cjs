// Compiles the groups that stand on the standard input, [{name: text}], with the compiler in the folder given as argument, and
// writes what it has to say: [[{File, Line, Code, Message}]].
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const ts = require(path.resolve(process.argv[1]));

// The declarations of the language are dozens of files that refer to each other. As one file they are parsed and bound once,
// and a program over them costs a fifth.
const languageFile = "/language.d.ts";
function languageText() {
  const folder = path.dirname(require.resolve(path.resolve(process.argv[1])));
  const seen = new Set();
  const texts = [];
  const collect = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    const text = fs.readFileSync(path.join(folder, name), "utf8");
    for (const reference of ts.preProcessFile(text).libReferenceDirectives) collect(`lib.${reference.fileName.toLowerCase()}.d.ts`);
    texts.push(text.replace(/^\/\/\/.*$/gm, ""));
  };
  collect("lib.es2023.d.ts");
  return texts.join("\n");
}

const options = {
  strict: true,
  noEmit: true,
  noLib: true, // it is among the files
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  types: [],
};
const language = ts.createSourceFile(languageFile, languageText(), options.target);

function check(group) {
  const files = new Map(Object.entries(group ?? {}).map(([name, text]) => [`/group/${name}`, text]));
  const host = {
    fileExists: (name) => files.has(name),
    readFile: (name) => files.get(name),
    getSourceFile: (name) => {
      if (name === languageFile) return language;
      return files.has(name) ? ts.createSourceFile(name, files.get(name), options.target) : undefined;
    },
    getDefaultLibFileName: () => languageFile,
    writeFile: () => {},
    getCurrentDirectory: () => "/group",
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
  };
  const names = [...files.keys()].sort();
  const program = ts.createProgram([languageFile, ...names], options, host);
  const found = [...program.getOptionsDiagnostics()];
  for (const name of names) {
    const source = program.getSourceFile(name);
    found.push(...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source));
  }
  // The global ones come last: some are found only by checking the files.
  return ts.sortAndDeduplicateDiagnostics([...found, ...program.getGlobalDiagnostics()]).map((d) => ({
    File: d.file ? path.posix.relative("/group", d.file.fileName) : "",
    Line: d.file ? d.file.getLineAndCharacterOfPosition(d.start).line + 1 : 0,
    Code: d.code,
    Message: ts.flattenDiagnosticMessageText(d.messageText, "\n"),
  }));
}

const groups = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify((groups ?? []).map(check)));
