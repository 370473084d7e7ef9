// Quickstart runs one cell against the Go toolchain of this machine.
//
// Five tools look at the standard library. The cell, written the way a model writes it, asks them which packages below
// encoding can read a stream, and joins what they say. Only the table at the end leaves the sandbox.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

const cell = `
const [packages, modules] = await Promise.all([packages_list({}), module_list({})]);
const encodings = packages.filter((p) => p.path.startsWith("encoding/"));

const rows = await Promise.all(encodings.map(async ({ path, files }) => {
  // No such symbol: not every package reads streams.
  const doc = await package_doc({ path, symbol: "NewDecoder" }).catch(() => null);
  if (!doc) return { path };
  const { matches } = await file_search({ text: "func NewDecoder(", under: path });
  const at = matches.find((m) => files.includes(m.path.slice(path.length + 1)));
  const { lines } = await file_read({ path: at.path, line: at.line, lines: 1 });
  return {
    path,
    usedBy: packages.filter((p) => p.imports.includes(path)).length,
    constructor: lines[0].replace(/ \{.*/, ""),
    at: at.path + ":" + at.line,
  };
}));

text("Looked at " + packages.length + " packages of " + modules[0].path + ", Go " + modules[0].goVersion + ".");
return {
  streaming: rows.filter((r) => r.at).sort((a, b) => b.usedBy - a.usedBy),
  whole: rows.filter((r) => !r.at).map((r) => r.path),
};`

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	toolchain, err := openToolchain(ctx)
	if err != nil {
		return err
	}
	defer toolchain.Close()

	catalog, err := toolcatalog.New(toolchain.Tools(), nil)
	if err != nil {
		return err
	}
	runtime, err := codemode.NewRuntime(ctx, &codemode.Options{Timeout: time.Minute})
	if err != nil {
		return err
	}
	defer runtime.Close()
	executor, err := runtime.NewExecutor(catalog, nil)
	if err != nil {
		return err
	}
	defer executor.Close()

	result := executor.Exec(ctx, codemode.ExecInput{Title: "Which encodings can be read as a stream?", Code: cell})
	if err := result.Err(); err != nil {
		return err
	}
	for _, item := range result.Output {
		fmt.Fprintln(w, item.Text)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(result.Value)
}
