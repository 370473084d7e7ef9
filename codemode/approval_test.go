package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/toolcatalog"
)

// hosted makes an executor in a bubble over the test tools with the options of a catalog.
func hosted(t *testing.T, b *bubble, opts toolcatalog.Options) *bubble {
	t.Helper()
	rec := new(fixture.Recorder)
	catalog, err := toolcatalog.New(testTools(rec), &opts)
	if err != nil {
		t.Fatal(err)
	}
	return &bubble{testBench{newExecutor(t, b.runtime, catalog), rec}, b.runtime}
}

// patient approves every call, each after a time.
func patient(after time.Duration) toolcatalog.Approver {
	return func(ctx context.Context, _ toolcatalog.Call, _ string) error {
		select {
		case <-time.After(after):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Waiting for approval is not on the cell's time (specification 13.1); everything else still is.
func TestApprovalPausesTheBudget(t *testing.T) {
	t.Parallel()
	const wait = 3 * time.Minute
	for _, tt := range []struct {
		name, code, value string // no value: it waits
		took              time.Duration
	}{
		{"one call", `return (await mutate({ i: 1 })).i`, `1`, wait},
		{"one after the other", `await mutate({ i: 1 }); await mutate({ i: 2 }); return 3`, `3`, 2 * wait},
		{"side by side", `return (await Promise.all([mutate({ i: 1 }), mutate({ i: 2 }), mutate({ i: 3 })])).length`, `3`, wait},
		{"not awaited", `void mutate({ i: 1 }); return 1`, `1`, wait},
		{"with a slow tool before", `await slow({ ms: 9000 }); await mutate({ i: 1 }); return 1`, `1`, 9*time.Second + wait},
		{"a slow tool beside it", `await Promise.all([slow({ ms: 60000 }), mutate({ i: 1 })]); return 1`, `1`, wait},
		{"a slow tool afterwards", `await mutate({ i: 1 }); await slow({ ms: 9000 }); return 1`, `1`, wait + 9*time.Second},
		{"a slower tool afterwards", `await mutate({ i: 1 }); await slow({ ms: 11000 }); return 1`, ``, wait + 10*time.Second},
		{"timers beside it", `let n = 0; const tick = () => { if (++n < 100) setTimeout(tick, 1000) }; tick(); await mutate({ i: 1 }); return n`, `100`, wait},
		{"timers beyond it", `const tick = () => setTimeout(tick, 1000); tick(); await mutate({ i: 1 }); await new Promise(() => {})`, ``, wait + 10*time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(t *testing.T, b *bubble) {
				b = hosted(t, b, toolcatalog.Options{Approver: patient(wait)})
				began := time.Now()
				r := b.run(t.Context(), tt.code)
				took := time.Since(began)
				if tt.value == "" && r.Status != codemode.StatusWaiting || tt.value != "" && string(r.Value) != tt.value {
					t.Errorf("got %s", describe(r))
				}
				if took < tt.took || took > tt.took+time.Second {
					t.Errorf("it took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

// The guest's own work is on its time, also while a call waits.
func TestApprovalDoesNotPauseTheGuest(t *testing.T) {
	t.Parallel()
	catalog, err := toolcatalog.New(testTools(new(fixture.Recorder)), &toolcatalog.Options{Approver: patient(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	e := newExecutor(t, sharedRuntime(t, codemode.Options{Timeout: 200 * time.Millisecond}), catalog)
	began := time.Now()
	r := e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `void mutate({ i: 1 }); await echo(1); for (;;) {}`})
	if took := time.Since(began); r.Code != codemode.CodeTimeout || took > 5*time.Second {
		t.Errorf("got %s after %s", describe(r), took)
	}
}

// A program that asks again and again does not run for ever, however the answers are.
func TestApprovalsAreCounted(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"one after the other": `for (;;) try { await mutate({ i: 1 }) } catch {}`,
		"side by side":        `for (;;) await Promise.allSettled([1, 2, 3, 4, 5].map((i) => mutate({ i })))`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(t *testing.T, b *bubble) {
				var asked atomic.Int32
				b = hosted(t, b, toolcatalog.Options{Approver: func(ctx context.Context, _ toolcatalog.Call, _ string) error {
					asked.Add(1)
					if err := patient(time.Second)(ctx, toolcatalog.Call{}, ""); err != nil {
						return err
					}
					return errors.New("no")
				}})
				began := time.Now()
				r := b.run(t.Context(), code)
				took := time.Since(began)
				if r.Status != codemode.StatusWaiting || took > 80*time.Second || took < 9*time.Second || asked.Load() > 140 {
					t.Errorf("got %s after %s and %d questions", describe(r), took, asked.Load())
				}
			})
		})
	}
}

// A call that a hook makes for a call of the cell waits on nobody's time either.
func TestNestedApprovalPausesTheBudget(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		var catalog *toolcatalog.Catalog
		var err error
		catalog, err = toolcatalog.New(testTools(new(fixture.Recorder)), &toolcatalog.Options{
			Approver: patient(time.Minute),
			Hooks: []toolcatalog.Hook{{Before: func(ctx context.Context, call toolcatalog.Call) (json.RawMessage, error) {
				if call.Tool.ToolName != "echo" {
					return nil, nil
				}
				_, err := catalog.Call(ctx, "mutate", json.RawMessage(`{"i":1}`))
				return nil, err
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := newExecutor(t, b.runtime, catalog).Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `return await echo("a")`})
		if string(r.Value) != `"a"` {
			t.Errorf("got %s", describe(r))
		}
	})
}

// A cell that waits for approval can be cancelled, and an executor with one can be closed.
func TestApprovalIsCancelled(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		b = hosted(t, b, toolcatalog.Options{Approver: patient(time.Hour)})
		ctx, cancel := context.WithCancel(t.Context())
		result := b.start(ctx, `await mutate({ i: 1 })`)
		time.Sleep(time.Minute)
		cancel()
		if r := <-result; r.Code != codemode.CodeAborted {
			t.Errorf("cancelled: %s", describe(r))
		}
		result = b.start(t.Context(), `await mutate({ i: 1 })`)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if r := <-result; r.Code != codemode.CodeAborted {
			t.Errorf("closed: %s", describe(r))
		}
		synctest.Wait()
		if done := b.rec.Mutations(); len(done) != 0 {
			t.Errorf("%v was done without approval", done)
		}
	})
}

// C077 and the refusals of issue 3: what a policy, a hook or an approver refuses is not done, and the guest's Error says why
// and that nothing started. A tool that is not offered is as if it were not there.
func TestRefusalsInACell(t *testing.T) {
	t.Parallel()
	rec := new(fixture.Recorder)
	allowed := true
	catalog, err := toolcatalog.New(testTools(rec), &toolcatalog.Options{
		Policy: toolcatalog.Policy{
			Offers: func(tool toolcatalog.Entry) bool { return tool.ToolName != "blob" },
			Decide: func(_ context.Context, call toolcatalog.Call) toolcatalog.Decision {
				switch {
				case call.Tool.ToolName == "rows":
					return toolcatalog.Refuse("no rows on Mondays")
				case call.Tool.ToolName == "mutate":
					return toolcatalog.Ask("it writes")
				case call.Tool.ToolName == "fail" && !allowed:
					return toolcatalog.Refuse("it failed too often")
				}
				return toolcatalog.Allow()
			},
		},
		Hooks: []toolcatalog.Hook{{Before: func(_ context.Context, call toolcatalog.Call) (_ json.RawMessage, err error) {
			if strings.Contains(string(call.Input), "forbidden") {
				err = errors.New("the word is forbidden")
			}
			return nil, err
		}}},
		Approver: func(context.Context, toolcatalog.Call, string) error { return errors.New("the operator said no") },
	})
	if err != nil {
		t.Fatal(err)
	}
	e := newExecutor(t, sharedRuntime(t, codemode.Options{}), catalog)
	for _, tt := range []struct{ code, want string }{
		{`await rows({ n: 1 })`, `^\["refused","none",false,"rows was not executed: .*no rows on Mondays.*"\]$`},
		{`await mutate({ i: 1 })`, `^\["refused","none",false,"mutate was not executed: .*the operator said no.*"\]$`},
		{`await echo("forbidden")`, `^\["refused","none",false,"echo was not executed: .*the word is forbidden.*"\]$`},
		{`await blob({ bytes: 1 })`, `^\[null,null,null,"'?blob'? is not defined"\]$`},
		{`const [tool] = await catalog.search("blob"); throw new Error(String(tool?.callableName === "blob"))`, `,"false"\]$`},
		{`throw new Error(String(catalog.all().some((tool) => tool.toolName === "blob")))`, `,"false"\]$`},
		{`await API.read("tools/blob.d.ts")`, `unknown API file`},
		{`throw new Error(String((await API.list("tools/blob.d.ts")).files.length))`, `,"0"\]$`},
	} {
		r := e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `try { ` + tt.code + `; return "no error" } catch (e) { return [e.code, e.effectStatus, e.executionStarted, e.message] }`})
		if !regexp.MustCompile(tt.want).Match(r.Value) {
			t.Errorf("%s: got %s %s, want %s", tt.code, r.Value, r.Error, tt.want)
		}
	}
	if calls := rec.Calls(""); len(calls) != 0 {
		t.Errorf("calls were made: %v", calls)
	}

	// A handle outlives a change of policy, its permission does not.
	r := e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `return await fail({ message: "m" }).catch((e) => e.code)`})
	allowed = false
	after := e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `const [handle] = await catalog.search("fail"); return await handle({ message: "m" }).catch((e) => e.code)`})
	if string(r.Value) != `"tool_error"` || string(after.Value) != `"refused"` {
		t.Errorf("before the change %s, after it %s", describe(r), describe(after))
	}
	failed := e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `await rows({ n: 1 })`})
	if !errors.Is(failed.Err(), toolcatalog.ErrRefused) {
		t.Errorf("the cell's error is %v", failed.Err())
	}
}
