// Contracts shows what a declared result is good for: a model that knows it composes several calls in one program.
//
// One tool with four actions keeps the jobs of a scheduler. It prints what the model is told of it (a line in the description of exec, a
// TypeScript file on demand), runs a cell that finds, inspects and restarts jobs in one go, and shows what becomes of
// a result that breaks its contract.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

const cell = `
const { jobs } = await scheduler({ action: "list", state: "failed" });
const details = await Promise.all(jobs.map((job) => scheduler({ action: "get", id: job.id })));
const transient = details.filter((job) => job.lastError === "connection reset");
const restarted = await scheduler({ action: "restart", ids: transient.map((job) => job.id) });
return { failed: jobs.length, restarted: restarted.count, left: details.filter((job) => !transient.includes(job)).map((job) => job.name) };`

const breaking = `
try {
  return await forecast({ city: "Oslo" });
} catch (error) {
  return { code: error.code, effectStatus: error.effectStatus, message: error.message };
}`

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "contracts:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	forecast, err := wrongForecast()
	if err != nil {
		return err
	}
	catalog, err := toolcatalog.New([]*toolcatalog.Tool{newScheduler().tool(), forecast}, nil)
	if err != nil {
		return err
	}
	runtime, err := codemode.NewRuntime(ctx, nil)
	if err != nil {
		return err
	}
	defer runtime.Close()
	executor, err := runtime.NewExecutor(catalog, nil)
	if err != nil {
		return err
	}
	defer executor.Close()

	fmt.Fprintf(w, "What the model sees of each tool:\n\n%s\n\n", catalog.QuickIndex(0))
	file, err := catalog.ReadFile("tools/scheduler.d.ts")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s, when it asks for more:\n\n%s\n", file.Path, file.Content)

	for _, program := range []codemode.ExecInput{
		{Title: "Restart the jobs that failed for a passing reason", Code: cell},
		{Title: "A result that breaks its contract", Code: breaking},
	} {
		result := executor.Exec(ctx, program)
		if err := result.Err(); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s:\n%s\n%s\n\n", program.Title, program.Code, result.Value)
	}
	return nil
}

// wrongForecast makes a tool whose function does not keep to its contract: it gives the degrees as text.
func wrongForecast() (*toolcatalog.Tool, error) {
	output, err := schema.Parse([]byte(`{"type":"object","properties":{"degrees":{"type":"number"}},"required":["degrees"],"additionalProperties":false}`))
	if err != nil {
		return nil, err
	}
	type query struct {
		City string `json:"city"`
	}
	return toolcatalog.Define(toolcatalog.Spec{Name: "forecast", Description: "Tomorrow's weather.", Output: output},
		func(context.Context, query) (map[string]any, error) {
			return map[string]any{"degrees": "minus four", "token": "secret"}, nil
		}), nil
}
