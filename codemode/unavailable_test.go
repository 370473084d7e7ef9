package codemode

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/toolcatalog"
)

// C005 d: an engine that cannot be had is said to be that, from NewRuntime and from Exec, and never an error of the cell.
func TestC005RuntimeUnavailable(t *testing.T) {
	t.Parallel()
	cause := &engine.UnavailableError{Stage: "verify", Err: errors.New("another binary")}
	err := unavailable(fmt.Errorf("start: %w", cause))
	var found *engine.UnavailableError
	if !errors.Is(err, ErrRuntimeUnavailable) || !errors.As(err, &found) || !strings.Contains(err.Error(), string(CodeRuntimeUnavailable)) {
		t.Errorf("got %v", err)
	}
	for _, err := range []error{context.Canceled, fmt.Errorf("start: %w", context.DeadlineExceeded)} {
		if got := unavailable(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}

	rt, err := NewRuntime(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := toolcatalog.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ex, err := rt.NewExecutor(catalog, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.engine.Close(); err != nil { // under the executor's feet
		t.Fatal(err)
	}
	r := ex.Exec(t.Context(), ExecInput{Title: "t", Code: "return 1"})
	if r.Status != StatusFailed || r.Code != CodeRuntimeUnavailable || r.FailurePhase != PhaseHost || !errors.Is(r.Err(), engine.ErrClosed) {
		t.Errorf("got %s %s %s: %v", r.Status, r.Code, r.FailurePhase, r.Err())
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}

// A closed runtime has no VM left, whatever became of its cells.
func TestCloseLeavesNoVM(t *testing.T) {
	t.Parallel()
	rt, err := NewRuntime(t.Context(), &Options{Timeout: MinTimeout, MemoryLimitBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	ask := toolcatalog.Define(toolcatalog.Spec{Name: "ask"}, func(ctx context.Context, _ struct{}) (struct{}, error) {
		<-ctx.Done()
		return struct{}{}, ctx.Err()
	})
	catalog, err := toolcatalog.New([]*toolcatalog.Tool{ask}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ex, err := rt.NewExecutor(catalog, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	programs := []string{
		"return 1", "for (;;) {}", "await ask({})", "await Promise.all([ask({}), ask({})])", "throw 1", "const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)",
		"const f = () => f() + 1; f()", "syntax error", "ask({}); return 1", "setTimeout(() => {}, 1e6)",
	}
	for _, program := range programs {
		go func() {
			for range 2 {
				ex.Exec(context.Background(), ExecInput{Title: "t", Code: program})
			}
			ended <- struct{}{}
		}()
	}
	for range programs {
		<-ended
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if n := rt.engine.Live(); n != 0 {
		t.Errorf("%d VMs are left", n)
	}
}
