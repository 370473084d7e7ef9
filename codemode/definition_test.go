package codemode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

// definitions gives what a model is told of a catalog.
func definitions(t *testing.T, opts codemode.Options, tools []*toolcatalog.Tool, catalogOpts *toolcatalog.Options) (exec, wait codemode.ToolDefinition) {
	t.Helper()
	catalog, err := toolcatalog.New(tools, catalogOpts)
	if err != nil {
		t.Fatal(err)
	}
	list := newExecutor(t, sharedRuntime(t, opts), catalog).Tools()
	if len(list) != 2 || list[0].Name != codemode.ExecTool || list[1].Name != codemode.WaitTool {
		t.Fatalf("the tools are %+v", list)
	}
	return list[0], list[1]
}

func TestTools(t *testing.T) {
	t.Parallel()
	exec, wait := definitions(t, codemode.Options{}, fixture.Tools(), &toolcatalog.Options{Skills: testSkills})
	for _, want := range []string{
		"10 seconds", "16 run at a time", "share 65536 bytes", "share 10485760 bytes", "8 by default, at most 50",
		"catalog.search", "yield_control", "API.read", "skills.read", "\n- shipment_get { id: string } -> {", "not a shell command",
	} {
		if !strings.Contains(exec.Description, want) {
			t.Errorf("the description of exec lacks %q:\n%s", want, exec.Description)
		}
	}
	for _, never := range []string{"  ", "%!", "MCP", "store("} {
		if strings.Contains(exec.Description, never) {
			t.Errorf("the description of exec has %q", never)
		}
	}
	if !strings.Contains(wait.Description, "runId") {
		t.Errorf("the description of wait is %q", wait.Description)
	}

	other, _ := definitions(t, codemode.Options{Timeout: 1500 * time.Millisecond, MaxPendingToolCalls: 3, SearchDefaultLimit: 2, MaxSearchLimit: 9},
		fixture.Tools(), nil)
	for _, want := range []string{"1.5 seconds", "3 run at a time", "2 by default, at most 9"} {
		if !strings.Contains(other.Description, want) {
			t.Errorf("the description of exec lacks %q", want)
		}
	}
	for _, never := range []string{"skills.", "approval", "refuse"} {
		if strings.Contains(other.Description, never) {
			t.Errorf("the description of exec has %q, and there is nothing of the kind", never)
		}
	}
	asking, _ := definitions(t, codemode.Options{}, fixture.Tools(), &toolcatalog.Options{Approver: patient(0)})
	for _, want := range []string{"wait for a person's approval", "may refuse a call"} {
		if !strings.Contains(asking.Description, want) {
			t.Errorf("the description of exec lacks %q", want)
		}
	}

	empty, _ := definitions(t, codemode.Options{}, nil, nil)
	for _, never := range []string{"catalog.", "API.", "skills.", "Every tool", "\n"} {
		if strings.Contains(empty.Description, never) {
			t.Errorf("without tools, the description of exec has %q", never)
		}
	}
}

// Everything the description names is there, in a cell.
func TestToolsAdvertiseWhatExists(t *testing.T) {
	t.Parallel()
	exec, _ := definitions(t, codemode.Options{}, fixture.CaseTools(nil), &toolcatalog.Options{Skills: testSkills})
	paragraph, _, _ := strings.Cut(exec.Description, "\n\n")
	bench := newBench(t, codemode.Options{})
	names := regexp.MustCompile(`\b(?:catalog|API|skills|tool|console|results)\.\w+|\b(?:setTimeout|TextEncoder|TextDecoder|URL|structuredClone|text|json)\b`).FindAllString(paragraph, -1)
	if len(names) < 14 {
		t.Fatalf("only %q are named", names)
	}
	for _, name := range names {
		if name == "results.d" { // results.d.ts
			continue
		}
		result := bench.run(t.Context(), "const tool = echo; return typeof "+name)
		if string(result.Value) != `"function"` {
			t.Errorf("%s is a %s", name, result.Value)
		}
	}
}

// The definitions do not depend on the order of the tools, and are the same each time.
func TestToolsAreStable(t *testing.T) {
	t.Parallel()
	tools := fixture.Tools()
	first, _ := definitions(t, codemode.Options{}, tools, nil)
	slices.Reverse(tools)
	second, _ := definitions(t, codemode.Options{}, tools, nil)
	if first.Description != second.Description {
		t.Error("the description depends on the order of the tools")
	}
}

// What the schemas allow, Handle takes, and what they forbid it refuses.
func TestToolSchemas(t *testing.T) {
	t.Parallel()
	bench := newBench(t, codemode.Options{})
	schemas := map[string]*schema.Schema{}
	for _, tool := range bench.Tools() {
		s, err := schema.Parse(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		schemas[tool.Name] = s
	}
	for _, args := range []string{
		`{"title":"t","code":"return 1"}`, `{"title":"t","code":"return 1","restartSafe":true,"awaitResults":false}`,
		`{"title":"t"}`, `{"code":"return 1","title":5}`, `{"title":"t","code":"return 1","restartSafe":"yes"}`, `[]`,
	} {
		result, err := bench.Handle(t.Context(), codemode.ExecTool, json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		allowed, taken := schemas[codemode.ExecTool].Validate([]byte(args)) == nil, result.Status == codemode.StatusCompleted
		if allowed != taken {
			t.Errorf("%s: the schema allows it: %t, exec takes it: %t (%s)", args, allowed, taken, result.Error)
		}
	}
	if schemas[codemode.WaitTool].Validate([]byte(`{"runId":"x"}`)) != nil || schemas[codemode.WaitTool].Validate([]byte(`{}`)) == nil {
		t.Error("the schema of wait")
	}
}

// Searches and descriptions are counted.
func TestDiscoveryTelemetry(t *testing.T) {
	t.Parallel()
	bench := newBench(t, codemode.Options{})
	r := bench.run(t.Context(), `await catalog.search("echo"); await catalog.search("rows"); await echo.describe(); await echo({}); catalog.all(); await API.list()`)
	if got := r.Telemetry; got.SearchCount != 2 || got.DescribeCount != 1 || got.CallCount != 1 {
		t.Errorf("telemetry is %+v", got)
	}
}

// The limits of a search are those of the runtime.
func TestSearchLimits(t *testing.T) {
	t.Parallel()
	var tools []*toolcatalog.Tool
	for i := range 60 {
		tools = append(tools, toolcatalog.Define(toolcatalog.Spec{Name: fmt.Sprintf("ship_%02d", i), Description: "Ships something."},
			func(context.Context, struct{}) (int, error) { return 1, nil }))
	}
	const code = `return [(await catalog.search("ships something")).length, (await catalog.search("ships something", { limit: 5 })).length, (await catalog.search("ships something", { limit: 999 })).length]`
	for _, tt := range []struct {
		opts codemode.Options
		want string
	}{
		{codemode.Options{}, `[8,5,50]`},
		{codemode.Options{SearchDefaultLimit: 3}, `[3,5,50]`},
		{codemode.Options{MaxSearchLimit: 4}, `[4,4,4]`},
		{codemode.Options{SearchDefaultLimit: 99, MaxSearchLimit: 99}, `[50,5,50]`},
	} {
		bench := newBench(t, tt.opts, tools...)
		if r := bench.run(t.Context(), code); string(r.Value) != tt.want {
			t.Errorf("%+v: got %s %s, want %s", tt.opts, r.Value, r.Error, tt.want)
		}
	}
}

// A catalog of 10,000 tools can be listed in a cell; what a cell is given at once is bounded by its inbox.
func TestDiscoveryOfALargeCatalog(t *testing.T) {
	t.Parallel()
	var tools []*toolcatalog.Tool
	for i := range 10_000 {
		tools = append(tools, toolcatalog.DefineRaw(toolcatalog.Spec{Name: fmt.Sprintf("tool_%05d", i), Description: strings.Repeat("words of a description ", 5)},
			func(context.Context, json.RawMessage) (any, error) { return 1, nil }))
	}
	catalog, err := toolcatalog.New(tools, &toolcatalog.Options{Skills: []toolcatalog.Skill{{Name: "long", Content: strings.Repeat("x", 2<<20)}}})
	if err != nil {
		t.Fatal(err)
	}
	large := newExecutor(t, sharedRuntime(t, codemode.Options{}), catalog)
	r := large.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `const all = catalog.all(); return [all.length, await all[7777]({}), (await skills.read("long")).length]`})
	if string(r.Value) != `[10000,1,2097152]` {
		t.Errorf("got %s %s", r.Value, r.Error)
	}
	small := newExecutor(t, sharedRuntime(t, codemode.Options{MaxSnapshotBytes: 1 << 20}), catalog)
	r = small.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `
		const errors = []
		try { catalog.all() } catch (e) { errors.push(e.message) }
		try { await skills.read("long") } catch (e) { errors.push(e.message) }
		return [...errors, (await catalog.search("tool_00007"))[0].callableName, (await API.list("tools/tool_00001.d.ts")).files.length]`})
	if want := regexp.MustCompile(`^\["the answer has more than the 1048576 bytes .*","the answer has more than the 1048576 bytes .*","tool_00007",1\]$`); !want.MatchString(string(r.Value)) {
		t.Errorf("got %s %s", r.Value, r.Error)
	}
}

// What is made when a cell first asks for it is made on the cell's time: the cell ends at its deadline, and the next one finds it
// made.
func TestDiscoveryStopsAtTheDeadline(t *testing.T) {
	t.Parallel()
	var tools []*toolcatalog.Tool
	for i := range 4_000 {
		tools = append(tools, toolcatalog.DefineRaw(toolcatalog.Spec{Name: fmt.Sprintf("tool_%d", i),
			Description: strings.Repeat(fmt.Sprintf("word%d description%d of%d ", i, i%7, i%11), 60)},
			func(context.Context, json.RawMessage) (any, error) { return 1, nil }))
	}
	catalog, err := toolcatalog.New(tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := newExecutor(t, sharedRuntime(t, codemode.Options{Timeout: 100 * time.Millisecond}), catalog)
	search := func() (codemode.Result, time.Duration) {
		began := time.Now()
		r := e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `return (await catalog.search("word77 description")).length`})
		return r, time.Since(began)
	}
	r, took := search()
	if (r.Code != codemode.CodeTimeout && r.Status != codemode.StatusCompleted) || took > time.Second {
		t.Errorf("the first search: %s after %s", describe(r), took)
	}
	for range 100 { // until the index is there
		if r, _ = search(); r.Status == codemode.StatusCompleted {
			break
		}
	}
	if string(r.Value) != `8` {
		t.Errorf("later: %s", describe(r))
	}
}
