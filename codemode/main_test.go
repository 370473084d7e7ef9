package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

// TestMain closes the shared runtimes when all tests have ended, and then no goroutine may be left.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(runThenClose{m})
}

type runThenClose struct{ m *testing.M }

func (r runThenClose) Run() int {
	code := r.m.Run()
	if err := shared.close(); err != nil {
		panic(err)
	}
	return code
}

// shared are the runtimes of tests that do not close theirs: one for each set of options.
var shared runtimes

type runtimes struct {
	mu   sync.Mutex
	open map[codemode.Options]*codemode.Runtime
}

func (r *runtimes) get(opts codemode.Options) (*codemode.Runtime, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rt := r.open[opts]; rt != nil {
		return rt, nil
	}
	rt, err := codemode.NewRuntime(context.Background(), &opts)
	if err != nil {
		return nil, err
	}
	if r.open == nil {
		r.open = map[codemode.Options]*codemode.Runtime{}
	}
	r.open[opts] = rt
	return rt, nil
}

func (r *runtimes) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, rt := range r.open {
		errs = append(errs, rt.Close())
	}
	return errors.Join(errs...)
}

func sharedRuntime(tb testing.TB, opts codemode.Options) *codemode.Runtime {
	tb.Helper()
	rt, err := shared.get(opts)
	if err != nil {
		tb.Fatal(err)
	}
	return rt
}

// A testBench is an executor over the test tools, with the recorder that looks at them.
type testBench struct {
	*codemode.Executor
	rec *fixture.Recorder
}

// newBench makes an executor over the test tools and further ones. Its gates are shut.
func newBench(tb testing.TB, opts codemode.Options, more ...*toolcatalog.Tool) *testBench {
	tb.Helper()
	rec := new(fixture.Recorder)
	return &testBench{newExecutor(tb, sharedRuntime(tb, opts), newTestCatalog(tb, rec, more...)), rec}
}

func newTestCatalog(tb testing.TB, rec *fixture.Recorder, more ...*toolcatalog.Tool) *toolcatalog.Catalog {
	tb.Helper()
	catalog, err := toolcatalog.New(append(testTools(rec), more...), &toolcatalog.Options{Skills: testSkills})
	if err != nil {
		tb.Fatal(err)
	}
	return catalog
}

var testSkills = []toolcatalog.Skill{
	{Name: "refunds", Description: "How to refund an order.", Content: "# Refunds\nCheck the order first. Never refund twice — ask.\n"},
	{Name: "month-end", Description: "How to close a month.", Content: "# Month end\n1. Post the entries.\n2. Lock it.\n…"},
}

// run executes code under a title that is always right.
func (b *testBench) run(ctx context.Context, code string) codemode.Result {
	return b.Exec(ctx, codemode.ExecInput{Title: "test", Code: code})
}

// works checks that an ordinary cell still runs.
func (b *testBench) works(tb testing.TB) {
	tb.Helper()
	if r := b.run(context.Background(), "return 1 + 1"); r.Status != codemode.StatusCompleted || string(r.Value) != "2" {
		tb.Errorf("the next cell: %s", describe(r))
	}
}

// testTools are the case tools and some that misbehave:
//
//	reply({json})       returns that text as its result
//	unmarshalable(kind) returns what JSON has no form for: a channel, a cycle, NaN or a function
//	broken({})          returns what its output schema forbids
//	crash({})           panics
//	log-event({})       has a name that is no identifier
func testTools(rec *fixture.Recorder) []*toolcatalog.Tool {
	type replyInput struct {
		JSON string `json:"json"`
	}
	type kindInput struct {
		Kind string `json:"kind"`
	}
	type none struct{}
	output, err := schema.Parse([]byte(`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`))
	if err != nil {
		panic(err)
	}
	return append(fixture.CaseTools(rec),
		toolcatalog.Define(toolcatalog.Spec{Name: "reply"}, func(_ context.Context, in replyInput) (json.RawMessage, error) {
			return json.RawMessage(in.JSON), nil
		}),
		toolcatalog.Define(toolcatalog.Spec{Name: "unmarshalable"}, func(_ context.Context, in kindInput) (any, error) {
			return unmarshalable(in.Kind), nil
		}),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "broken", Output: output}, func(context.Context, json.RawMessage) (any, error) {
			return map[string]any{"ok": true, "token": "secret"}, nil
		}),
		toolcatalog.Define(toolcatalog.Spec{Name: "crash"}, func(context.Context, none) (none, error) {
			panic("a secret of the host")
		}),
		toolcatalog.Define(toolcatalog.Spec{Name: "log-event"}, func(context.Context, none) (string, error) {
			return "logged", nil
		}),
	)
}

func unmarshalable(kind string) any {
	switch kind {
	case "channel":
		return map[string]any{"c": make(chan int)}
	case "function":
		return func() {}
	case "cycle":
		m := map[string]any{}
		m["self"] = m
		return m
	case "NaN":
		return []float64{1, math.NaN()}
	}
	return nil
}
