// Results shows how a model works on data that it never sees: 5 MB stay in the process, and the conversation gets a reference.
//
// The first cell fetches a log and returns it. It is far too large to be shown, so the executor keeps it, and the result has a
// reference of less than a kilobyte in its place. The second cell, in the same turn, computes on the kept log. The third, in
// a later turn, finds what the second one stored for the session.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	catalog, err := toolcatalog.New([]*toolcatalog.Tool{accessLog()}, nil)
	if err != nil {
		return err
	}
	runtime, err := codemode.NewRuntime(ctx, nil)
	if err != nil {
		return err
	}
	defer runtime.Close()
	session := codemode.NewMemoryStore()
	turn := func() (*codemode.Executor, error) {
		return runtime.NewExecutor(catalog, &codemode.ExecutorOptions{SessionID: "demo", Store: session})
	}

	first, err := turn()
	if err != nil {
		return err
	}
	defer first.Close()
	fetched, err := exec(ctx, w, first, "Fetch the access log", `return await access_log({ day: "2026-11-30" });`)
	if err != nil {
		return err
	}
	var kept struct{ Reference codemode.Reference }
	if err := json.Unmarshal(fetched.Value, &kept); err != nil {
		return err
	}
	fmt.Fprintf(w, "The model sees %d bytes; %d are kept.\n\n", len(fetched.Value), kept.Reference.Bytes)

	// The model writes the id that it has read. Here it is put into the program.
	program := strings.ReplaceAll(`const log = await results.load("ID");
const slow = log.filter((line) => line.ms > 900);
const byPath = Object.groupBy(slow, (line) => line.path);
const worst = Object.entries(byPath).map(([path, lines]) => ({ path, slow: lines.length })).sort((a, b) => b.slow - a.slow)[0];
await store("worst path", worst);
return { lines: log.length, slow: slow.length, worst };`, "ID", kept.Reference.ID)
	if _, err := exec(ctx, w, first, "Find the slowest path", program); err != nil {
		return err
	}

	second, err := turn()
	if err != nil {
		return err
	}
	defer second.Close()
	_, err = exec(ctx, w, second, "In a later turn", `return await load("worst path");`)
	return err
}

// exec runs a cell and prints what it gives, without the id that is another one each time.
func exec(ctx context.Context, w io.Writer, e *codemode.Executor, title, code string) (codemode.Result, error) {
	result := e.Exec(ctx, codemode.ExecInput{Title: title, Code: code})
	if err := result.Err(); err != nil {
		return result, err
	}
	shown := string(result.Value)
	for _, reference := range e.Results().List() {
		code = strings.ReplaceAll(code, reference.ID, "<id>")
		shown = strings.ReplaceAll(shown, reference.ID, "<id>")
	}
	fmt.Fprintf(w, "%s:\n%s\n%s\n\n", title, code, shown)
	return result, nil
}

// line is a line of the log.
type line struct {
	Path   string `json:"path"`
	Status int    `json:"status"`
	MS     int    `json:"ms"`
	Agent  string `json:"agent"`
}

// accessLog makes a tool that gives some 5 MB.
func accessLog() *toolcatalog.Tool {
	type query struct {
		Day string `json:"day"`
	}
	return toolcatalog.Define(
		toolcatalog.Spec{Name: "access_log", Description: "The access log of a day.", Effect: toolcatalog.EffectRead},
		func(context.Context, query) ([]line, error) {
			paths := []string{"/", "/cart", "/search", "/orders", "/login"}
			lines := make([]line, 60_000)
			for i := range lines {
				lines[i] = line{paths[i*i%len(paths)], 200, i * 7919 % 1000, "Mozilla/5.0 (X11; Linux x86_64)"}
			}
			return lines, nil
		})
}
