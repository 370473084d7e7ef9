package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/toolcatalog"
)

// inBubble runs f with a runtime and an executor of its own, where time stands still unless everything waits:
// ten seconds of a cell take none.
func inBubble(t *testing.T, opts *codemode.Options, f func(t *testing.T, b *bubble), more ...*toolcatalog.Tool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rt, err := codemode.NewRuntime(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
		})
		rec := new(fixture.Recorder)
		f(t, &bubble{testBench{newExecutor(t, rt, newTestCatalog(t, rec, more...)), rec}, rt})
	})
}

type bubble struct {
	testBench
	runtime *codemode.Runtime
}

// start runs a cell on a goroutine and waits until nothing moves.
func (b *bubble) start(ctx context.Context, code string) <-chan codemode.Result {
	result := make(chan codemode.Result, 1)
	go func() { result <- b.run(ctx, code) }()
	synctest.Wait()
	return result
}

func TestCloseIsIdempotent(t *testing.T) {
	t.Parallel()
	rt := must(codemode.NewRuntime(t.Context(), nil))
	executors := []*codemode.Executor{}
	for range 3 {
		executors = append(executors, newExecutor(t, rt, newTestCatalog(t, nil)))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := executors[0].Close(); err != nil {
				t.Errorf("Executor.Close: %v", err)
			}
		})
	}
	wg.Wait()
	for range 4 {
		wg.Go(func() {
			if err := rt.Close(); err != nil {
				t.Errorf("Runtime.Close: %v", err)
			}
		})
	}
	wg.Wait()
	for _, ex := range executors {
		if err := ex.Close(); err != nil {
			t.Errorf("Executor.Close after Runtime.Close: %v", err)
		}
	}
}

func TestUseAfterClose(t *testing.T) {
	t.Parallel()
	rt := must(codemode.NewRuntime(t.Context(), nil))
	catalog := newTestCatalog(t, nil)
	ex := newExecutor(t, rt, catalog)
	other := newExecutor(t, rt, catalog)
	check := func(r codemode.Result) {
		t.Helper()
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		if r.Code != codemode.CodeAborted || r.FailurePhase != codemode.PhaseHost || !errors.Is(r.Err(), codemode.ErrClosed) {
			t.Errorf("got %s, %v", describe(r), r.Err())
		}
	}
	in := codemode.ExecInput{Title: "test", Code: "return 1"}
	_ = ex.Close()
	check(ex.Exec(t.Context(), in))
	check(must(ex.Handle(t.Context(), codemode.ExecTool, json.RawMessage(`{"title":"t","code":"return 1"}`))))
	if r := other.Exec(t.Context(), in); r.Status != codemode.StatusCompleted {
		t.Errorf("another executor of the runtime: %s", describe(r))
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	check(other.Exec(t.Context(), in))
	if _, err := rt.NewExecutor(catalog, nil); !errors.Is(err, codemode.ErrClosed) {
		t.Errorf("NewExecutor after Close: %v", err)
	}
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	if _, err := sharedRuntime(t, codemode.Options{}).NewExecutor(nil, nil); err == nil {
		t.Error("NewExecutor takes no catalog for a catalog")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := codemode.NewRuntime(ctx, nil); !errors.Is(err, context.Canceled) || errors.Is(err, codemode.ErrRuntimeUnavailable) {
		t.Errorf("NewRuntime with a cancelled context: %v", err)
	}
	if _, err := newBench(t, codemode.Options{}).Handle(t.Context(), "exce", json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), `"exce"`) {
		t.Errorf("Handle of an unknown tool: %v", err)
	}
}

// Two shapes of a call, which the executor makes on different goroutines: alone and beside another one.
var callShapes = map[string]string{
	"alone":  `await %s({})`,
	"beside": `await Promise.all([%s({}), gate({})])`,
}

type contextKey struct{}

// watchTool waits for its context to end, then sends the cause and the value of the context.
func watchTool(ended chan<- [2]any) *toolcatalog.Tool {
	return toolcatalog.Define(toolcatalog.Spec{Name: "watch"}, func(ctx context.Context, _ struct{}) (struct{}, error) {
		<-ctx.Done()
		ended <- [2]any{context.Cause(ctx), ctx.Value(contextKey{})}
		return struct{}{}, ctx.Err()
	})
}

// A tool's context carries the values of Exec's and ends with the cell, the caller's context and the executor.
func TestToolContext(t *testing.T) {
	t.Parallel()
	reason := errors.New("the user pressed stop")
	tests := []struct {
		name  string
		end   func(b *bubble, cancel context.CancelCauseFunc)
		code  codemode.ErrorCode
		cause error // of the tool's context
		is    []error
	}{
		{"cancel", func(_ *bubble, cancel context.CancelCauseFunc) { cancel(reason) },
			codemode.CodeAborted, reason, []error{reason}},
		{"executor", func(b *bubble, _ context.CancelCauseFunc) { _ = b.Close() },
			codemode.CodeAborted, codemode.ErrClosed, []error{codemode.ErrClosed}},
		{"runtime", func(b *bubble, _ context.CancelCauseFunc) { _ = b.runtime.Close() },
			codemode.CodeAborted, codemode.ErrClosed, []error{codemode.ErrClosed}},
	}
	for _, test := range tests {
		for shape, code := range callShapes {
			t.Run(test.name+"/"+shape, func(t *testing.T) {
				t.Parallel()
				ended := make(chan [2]any, 1)
				inBubble(t, nil, func(t *testing.T, b *bubble) {
					ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), contextKey{}, "value"))
					defer cancel(nil)
					result := b.start(ctx, fmt.Sprintf(code, "watch"))
					test.end(b, cancel)
					r := <-result
					checkResult(t, r, codemode.DefaultMaxOutputBytes)
					if r.Code != test.code || !r.BridgeDispatchStarted {
						t.Errorf("got %s, dispatched %t", describe(r), r.BridgeDispatchStarted)
					}
					for _, target := range test.is {
						if !errors.Is(r.Err(), target) {
							t.Errorf("the error is not %v: %v", target, r.Err())
						}
					}
					synctest.Wait()
					select {
					case seen := <-ended:
						if seen[0] != test.cause || seen[1] != "value" {
							t.Errorf("the tool's context ended with %v and had the value %v", seen[0], seen[1])
						}
					default:
						t.Error("the tool's context did not end")
					}
				}, watchTool(ended))
			})
		}
	}
}

// A cell that ends, by its own exception or by completing, ends the context of its calls.
func TestToolContextEndsWithCell(t *testing.T) {
	t.Parallel()
	ended := make(chan [2]any, 1)
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		r := b.run(t.Context(), `watch({}); gate({}); await slow({ ms: 5 }); throw new Error("m")`)
		if r.Code != codemode.CodeInternal {
			t.Errorf("got %s", describe(r))
		}
		if seen := <-ended; seen[0] != context.Canceled {
			t.Errorf("the tool's context ended with %v", seen[0])
		}
	}, watchTool(ended))

	var ctx context.Context
	keep := toolcatalog.Define(toolcatalog.Spec{Name: "keep"}, func(c context.Context, _ struct{}) (struct{}, error) {
		ctx = c
		return struct{}{}, nil
	})
	if r := newBench(t, codemode.Options{}, keep).run(t.Context(), `await keep({})`); r.Err() != nil {
		t.Fatal(r.Err())
	}
	if ctx.Err() == nil {
		t.Error("the context of a call outlives its cell")
	}
}

// A tool that ignores its context does not hold Exec, but it holds Close.
func TestStubbornTool(t *testing.T) {
	t.Parallel()
	for shape, code := range callShapes {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			returned := false
			stubborn := toolcatalog.Define(toolcatalog.Spec{Name: "stubborn"}, func(context.Context, struct{}) (struct{}, error) {
				<-release
				returned = true
				return struct{}{}, nil
			})
			synctest.Test(t, func(t *testing.T) {
				release = make(chan struct{})
				rt := must(codemode.NewRuntime(t.Context(), nil))
				b := testBench{newExecutor(t, rt, newTestCatalog(t, nil, stubborn)), nil}
				began := time.Now()
				r := b.run(t.Context(), fmt.Sprintf(code, "stubborn"))
				if took := time.Since(began); r.Status != codemode.StatusWaiting || took != codemode.DefaultTimeout {
					t.Errorf("after %v: %s", took, describe(r))
				}
				b.works(t)

				closed := make(chan struct{})
				go func() {
					defer close(closed)
					if err := rt.Close(); err != nil {
						t.Error(err)
					}
				}()
				synctest.Wait()
				select {
				case <-closed:
					t.Error("Close did not wait for the tool's function")
				default:
				}
				close(release)
				<-closed
				if !returned {
					t.Error("Close returned before the tool's function")
				}
			})
		})
	}
}

// The budget is one for all that a cell does, its waiting included.
func TestTimeBudget(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		code  string
		await bool
		want  string // status, or the code of a failure
		took  time.Duration
	}{
		{"tools within", `await slow({ ms: 4000 }); await slow({ ms: 4000 })`, false, "completed", 8 * time.Second},
		{"tools", `await slow({ ms: 6000 }); await slow({ ms: 6000 })`, false, "waiting", 10 * time.Second},
		{"parallel tools", `await Promise.all([slow({ ms: 9000 }), slow({ ms: 9000 })])`, false, "completed", 9 * time.Second},
		{"timers", `await new Promise((r) => setTimeout(r, 6000)); await new Promise((r) => setTimeout(r, 6000))`, false, "waiting", 10 * time.Second},
		{"both", `await new Promise((r) => setTimeout(r, 6000)); await slow({ ms: 6000 })`, false, "waiting", 10 * time.Second},
		{"detached tool", `slow({ ms: 60000 }); return 1`, false, "waiting", 10 * time.Second},
		{"detached timer", `setTimeout(() => {}, 60000); return 1`, false, "waiting", 10 * time.Second},
		{"longest timer", `setTimeout(() => {}, 1e300); return 1`, false, "waiting", 10 * time.Second},
		{"just in time", `await slow({ ms: 9750 }); return 1`, false, "completed", 9750 * time.Millisecond},
		{"too late to go on", `await slow({ ms: 9751 }); return 1`, false, "waiting", 9751 * time.Millisecond},
		{"too late for a timer", `await new Promise((r) => setTimeout(r, 9751)); return 1`, false, "waiting", 9751 * time.Millisecond},
		{"last moment of awaited tools", `await slow({ ms: 9999 }); return 1`, true, "completed", 9999 * time.Millisecond},
		{"awaited tools", `await slow({ ms: 50000 }); await slow({ ms: 50000 })`, true, "completed", 100 * time.Second},
		{"awaited and timer", `await slow({ ms: 50000 }); await new Promise((r) => setTimeout(r, 11000))`, true, "timeout", 60 * time.Second},
	}
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		for _, test := range tests {
			began := time.Now()
			r := b.Exec(t.Context(), codemode.ExecInput{Title: "test", Code: test.code, AwaitResults: test.await})
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			got := string(r.Status)
			if r.Status == codemode.StatusFailed {
				got = string(r.Code)
			}
			if took := time.Since(began); got != test.want || took != test.took {
				t.Errorf("%s: after %v: %s; want %q after %v", test.name, took, describe(r), test.want, test.took)
			}
		}
	})
}

// Guest code counts against the budget, in awaiting cells too.
func TestTimeBudgetOfGuestCode(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{Timeout: codemode.MinTimeout})
	for _, code := range []string{
		`for (;;) {}`,
		`await echo(1); for (;;) {}`,
		`for (;;) await null`,
		`setTimeout(() => { for (;;) {} }, 0)`,
		`return { get a() { for (;;) {} } }`,
		`json({ toJSON() { for (;;) {} } })`,
		`throw { toString() { for (;;) {} } }`,
		`Promise.reject({ toString() { for (;;) {} } })`,
	} {
		for _, await := range []bool{false, true} {
			r := b.Exec(t.Context(), codemode.ExecInput{Title: "test", Code: code, AwaitResults: await})
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			if r.Code != codemode.CodeTimeout || !errors.Is(r.Err(), context.DeadlineExceeded) {
				t.Errorf("%s: %s", code, describe(r))
			}
		}
	}
	b.works(t)
}

// The caller's context ends a cell whatever it does.
func TestCallerContext(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})

	cancelled, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the user pressed stop")
	cancel(reason)
	r := b.run(cancelled, `await mutate({ i: 1 })`)
	if r.Code != codemode.CodeAborted || r.FailurePhase != codemode.PhaseHost || r.BridgeDispatchStarted || !errors.Is(r.Err(), reason) {
		t.Errorf("cancelled before: %s, %s", describe(r), r.FailurePhase)
	}
	if calls := b.rec.Calls(""); len(calls) > 0 {
		t.Errorf("a cancelled Exec made the calls %v", calls)
	}

	short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	r = b.run(short, `for (;;) {}`)
	if r.Code != codemode.CodeAborted || !errors.Is(r.Err(), context.DeadlineExceeded) {
		t.Errorf("a deadline of the caller: %s, %v", describe(r), r.Err())
	}

	// A cancel that comes after the cell has ended harms nothing.
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		if r := b.run(ctx, `return await echo(1)`); r.Err() != nil {
			t.Error(r.Err())
		}
		cancel()
	}
	b.works(t)
}

// Close ends cells that compute, too.
func TestCloseEndsRunningCells(t *testing.T) {
	t.Parallel()
	rt := must(codemode.NewRuntime(t.Context(), &codemode.Options{Timeout: codemode.MaxTimeout}))
	began := make(chan struct{}, 1)
	signal := toolcatalog.Define(toolcatalog.Spec{Name: "signal"}, func(context.Context, struct{}) (struct{}, error) {
		began <- struct{}{}
		return struct{}{}, nil
	})
	b := &testBench{newExecutor(t, rt, newTestCatalog(t, nil, signal)), nil}
	results := make(chan codemode.Result)
	go func() { results <- b.run(context.Background(), `await signal({}); for (;;) {}`) }()
	<-began
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if r := <-results; r.Code != codemode.CodeAborted || !errors.Is(r.Err(), codemode.ErrClosed) {
		t.Errorf("got %s", describe(r))
	}
}

// Closing a runtime ends the cells of all its executors at once: a tool that takes its time holds Close, but not
// the others.
func TestRuntimeCloseEndsAllAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := must(codemode.NewRuntime(t.Context(), nil))
		release := make(chan struct{})
		stubborn := toolcatalog.Define(toolcatalog.Spec{Name: "stubborn"}, func(context.Context, struct{}) (struct{}, error) {
			<-release
			return struct{}{}, nil
		})
		var results []<-chan codemode.Result
		for i := range 8 {
			b := &bubble{testBench{newExecutor(t, rt, newTestCatalog(t, nil, stubborn)), nil}, rt}
			if i == 0 {
				b.start(t.Context(), `await stubborn({})`)
				continue
			}
			results = append(results, b.start(t.Context(), `await gate({})`))
		}
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		running := 0
		for _, result := range results {
			select {
			case <-result:
			default:
				running++
			}
		}
		if running > 0 {
			t.Errorf("%d of %d executors go on while Close waits for another", running, len(results))
		}
		close(release)
		<-closed
	})
}

// Cells of one executor run side by side, each with its own values.
func TestConcurrentCells(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			r := b.run(t.Context(), fmt.Sprintf(`globalThis.mine = %d; text(mine)
				const list = await Promise.all([echo(mine), slow({ ms: 2 }), mutate({ i: mine })])
				await echo("again"); return [mine, list[0], list[2].i]`, i))
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			if want := fmt.Sprintf("[%d,%d,%d]", i, i, i); string(r.Value) != want || outputText(r) != fmt.Sprintf(`[{"type":"text","text":"%d"}]`, i) {
				t.Errorf("got %s, %s; want %s", describe(r), outputText(r), want)
			}
		})
	}
	wg.Wait()
	seen := map[int64]bool{}
	for _, i := range b.rec.Mutations() {
		if seen[i] {
			t.Errorf("the effect %d happened twice", i)
		}
		seen[i] = true
	}
	if len(seen) != 40 {
		t.Errorf("%d effects", len(seen))
	}
}

// A tool that ends its goroutine, or that runs cells itself, is a tool like others.
func TestUnusualTools(t *testing.T) {
	t.Parallel()
	var b *testBench
	var depth atomic.Int32
	b = newBench(t, codemode.Options{},
		toolcatalog.Define(toolcatalog.Spec{Name: "leave"}, func(context.Context, struct{}) (struct{}, error) {
			runtime.Goexit()
			return struct{}{}, nil
		}),
		toolcatalog.Define(toolcatalog.Spec{Name: "nest"}, func(ctx context.Context, _ struct{}) (json.RawMessage, error) {
			if depth.Add(1) > 5 {
				return json.RawMessage(`"bottom"`), nil
			}
			r := b.run(ctx, `return [await nest({})]`)
			return r.Value, r.Err()
		}))
	for shape, code := range callShapes {
		b.rec.Release()
		r := b.run(t.Context(), `try { `+fmt.Sprintf(code, "leave")+` } catch (e) { return [e.code, e.effectStatus, await echo("after")] }`)
		if string(r.Value) != `["tool_error","unknown","after"]` {
			t.Errorf("%s: %s", shape, describe(r))
		}
	}
	if r := b.run(t.Context(), `return await nest({})`); string(r.Value) != `[[[[["bottom"]]]]]` {
		t.Errorf("nested cells: %s", describe(r))
	}
	b.works(t)
}

// A restart-safe cell calls nothing but tools that may be called twice.
func TestRestartSafe(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	b := newBench(t, codemode.Options{}, toolcatalog.Define(toolcatalog.Spec{Name: "ask", ReplaySafe: true},
		func(context.Context, struct{}) (int32, error) { return asked.Add(1), nil }))
	exec := func(code string) codemode.Result {
		r := b.Exec(t.Context(), codemode.ExecInput{Title: "test", Code: code, RestartSafe: true})
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		if !r.ReplaySafe {
			t.Errorf("%s: the result does not say that it is replay-safe", code)
		}
		return r
	}
	if r := exec(`setTimeout(() => text("timers are fine"), 0); return await ask({})`); string(r.Value) != "1" {
		t.Errorf("a replay-safe tool: %s", describe(r))
	}
	r := exec(`await Promise.all([ask({}), mutate({ i: 1 })])`)
	if r.Code != codemode.CodeInvalidInput || !strings.HasPrefix(r.Error, "mutate was not called:") || r.BridgeDispatchStarted {
		t.Errorf("another tool: %s", describe(r))
	}
	if n := asked.Load(); n != 1 || len(b.rec.Calls("")) != 0 {
		t.Errorf("a refused batch was dispatched: %d, %v", n, b.rec.Calls(""))
	}
	if r := b.run(t.Context(), `return await mutate({ i: 1 })`); r.ReplaySafe || r.Err() != nil {
		t.Errorf("an ordinary cell: %s", describe(r))
	}
}

// Calls of a sequential tool run one at a time, in the order of the calls, with other calls between them as it falls out.
func TestSequentialTool(t *testing.T) {
	t.Parallel()
	var running, order []int
	peak := 0
	type input struct {
		I int `json:"i"`
	}
	var mu sync.Mutex
	step := toolcatalog.Define(toolcatalog.Spec{Name: "step", Sequential: true}, func(_ context.Context, in input) (int, error) {
		mu.Lock()
		running, order = append(running, in.I), append(order, in.I)
		peak = max(peak, len(running))
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		running = running[:len(running)-1]
		mu.Unlock()
		return in.I, nil
	})
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		r := b.run(t.Context(), `
			const calls = []
			for (let i = 0; i < 40; i++) calls.push(step({ i }), echo(i))
			return (await Promise.all(calls)).length`)
		if string(r.Value) != "80" || peak != 1 || !slices.IsSorted(order) || len(order) != 40 {
			t.Errorf("%s, %d at once, in the order %v", describe(r), peak, order)
		}
	}, step)
}
