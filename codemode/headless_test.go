package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/toolcatalog"
)

// headless makes an executor of headless cells, in a bubble, over the test tools.
func headless(t *testing.T, b *bubble, opts codemode.ExecutorOptions, catalog toolcatalog.Options) *testBench {
	t.Helper()
	opts.Headless = true
	rec := new(fixture.Recorder)
	tools, err := toolcatalog.New(testTools(rec), &catalog)
	if err != nil {
		t.Fatal(err)
	}
	return &testBench{newExecutor(t, b.runtime, tools, &opts), rec}
}

// A headless cell goes on by itself, each stretch with a fresh budget, until its wall clock stops it; it is never waited for.
func TestHeadlessTime(t *testing.T) {
	t.Parallel()
	const hour = 60 * time.Minute
	for _, tt := range []struct {
		name, code string
		await      bool
		wall       time.Duration
		want       string // value, or the code of a failure
		took       time.Duration
	}{
		{"yield", `return (await yield_control("r")).reason`, false, 0, `"r"`, 0},
		{"yields", `for (let i = 0; i < 100; i++) await yield_control(); return 1`, false, 0, `1`, 0},
		{"beyond a budget", `await slow({ ms: 25000 }); return 1`, false, 0, `1`, 25 * time.Second},
		{"a reply at the end of a budget", `await slow({ ms: 9999 }); let n = 0; for (let i = 0; i < 1e5; i++) n++; return n`, false, 0, `100000`, 9999 * time.Millisecond},
		{"a timer at the end of a budget", `await new Promise((r) => setTimeout(r, 10000)); return 1`, false, 0, `1`, 10 * time.Second},
		{"timers", `let n = 0; while (n < 25) { await new Promise((r) => setTimeout(r, 1000)); n++ } return n`, false, 0, `25`, 25 * time.Second},
		{"left behind", `void slow({ ms: 29000 }); return 1`, false, 0, `1`, 29 * time.Second},
		{"default wall", `await slow({ ms: 31000 })`, false, 0, "timeout", codemode.DefaultHeadlessTimeout},
		{"default wall for timers", `for (;;) await new Promise((r) => setTimeout(r, 700))`, false, 0, "timeout", codemode.DefaultHeadlessTimeout},
		{"a reply at the wall", `await slow({ ms: 29999 }); return 1`, false, 0, `1`, 29999 * time.Millisecond},
		{"own wall", `await slow({ ms: 3001 })`, false, 3 * time.Second, "timeout", 3 * time.Second},
		{"longest wall", `for (;;) await new Promise((r) => setTimeout(r, 60000))`, false, hour, "timeout", codemode.MaxHeadlessTimeout},
		{"no wall", `await slow({ ms: 29000 }); return 1`, false, -1, `1`, 29 * time.Second},
		{"awaited", `await slow({ ms: 25000 }); return 1`, true, 0, `1`, 25 * time.Second},
		{"awaited wall", `await gate({})`, true, 0, "timeout", codemode.DefaultHeadlessTimeout},
		{"awaited, one after the other", `for (let i = 0; i < 5; i++) await slow({ ms: 7000 })`, true, 0, "timeout", codemode.DefaultHeadlessTimeout},
		{"awaited yield", `await yield_control()`, true, 0, "invalid_input", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(t *testing.T, b *bubble) {
				e := headless(t, b, codemode.ExecutorOptions{HeadlessTimeout: tt.wall}, toolcatalog.Options{})
				began := time.Now()
				r := e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: tt.code, AwaitResults: tt.await})
				took := time.Since(began)
				checkResult(t, r, codemode.DefaultMaxOutputBytes)
				got := string(r.Value)
				if r.Status == codemode.StatusFailed {
					got = string(r.Code)
				}
				if got != tt.want || took != tt.took {
					t.Errorf("after %v: %s", took, describe(r))
				}
			})
		})
	}
}

// Guest code of a headless cell has the budget of one stretch, and a yield begins another.
func TestHeadlessGuestTime(t *testing.T) {
	t.Parallel()
	e := newExecutor(t, sharedRuntime(t, codemode.Options{Timeout: codemode.MinTimeout}), newTestCatalog(t, nil), &codemode.ExecutorOptions{Headless: true})
	const spin = `const spin = (ms) => { const end = Date.now() + ms; while (Date.now() < end); }; `
	value(t, e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: spin + `for (let i = 0; i < 6; i++) { spin(30); await yield_control() } return 1`}), `1`)
	expectFailure(t, e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: spin + `await yield_control(); spin(10000)`}), codemode.CodeTimeout, "")

	e = newExecutor(t, sharedRuntime(t, codemode.Options{}), newTestCatalog(t, nil), &codemode.ExecutorOptions{Headless: true, HeadlessTimeout: 200 * time.Millisecond})
	for _, code := range []string{`for (;;) {}`, `for (;;) await yield_control()`, `for (;;) await null`, `const f = () => setTimeout(f, 0); f(); await new Promise(() => {})`} {
		began := time.Now()
		r := e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: code})
		expectFailure(t, r, codemode.CodeTimeout, "")
		if took := time.Since(began); took < 200*time.Millisecond || took > patience {
			t.Errorf("%s: stopped after %v", code, took)
		}
	}
}

// Waiting for somebody's approval does not stop the wall clock.
func TestHeadlessApproval(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		e := headless(t, b, codemode.ExecutorOptions{}, toolcatalog.Options{Approver: patient(20 * time.Second)})
		value(t, e.run(t.Context(), `await mutate({ i: 1 }); return 1`), `1`)
		began := time.Now()
		r := e.run(t.Context(), `await mutate({ i: 2 }); await mutate({ i: 3 })`)
		expectFailure(t, r, codemode.CodeTimeout, "")
		if took := time.Since(began); took != codemode.DefaultHeadlessTimeout {
			t.Errorf("stopped after %v", took)
		}
	})
}

// The calls of a headless cell are counted before any of a batch is made.
func TestHeadlessCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code  string
		most        int
		calls, made int // that the program makes, that reach the tool
	}{
		{"default", `for (let i = 0; i < 5; i++) await echo(i)`, 0, 5, 5},
		{"one more", `for (let i = 0; i < 6; i++) await echo(i)`, 0, 6, 5},
		{"in a batch", `await Promise.allSettled([0, 1, 2, 3, 4, 5].map(echo))`, 0, 6, 0},
		{"of two batches", `await Promise.all([0, 1, 2].map(echo)); try { await Promise.all([0, 1, 2].map(echo)) } catch {}`, 0, 6, 3},
		{"failures count", `for (let i = 0; i < 6; i++) await fail({ message: "m" }).catch(() => {}); await echo(1)`, 0, 6, 0},
		{"own", `for (let i = 0; i < 3; i++) await echo(i)`, 2, 3, 2},
		{"negative", `for (let i = 0; i < 6; i++) await echo(i)`, -1, 6, 5},
		{"the most", `for (let i = 0; i < 201; i++) await echo(i)`, 1000, 201, 200},
		{"other work does not count", `for (let i = 0; i < 9; i++) { await yield_control(); await catalog.search("x"); await API.list(); await new Promise((r) => setTimeout(r)); await results.save(i) } for (let i = 0; i < 5; i++) await echo(i)`, 0, 5, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(t *testing.T, b *bubble) {
				e := headless(t, b, codemode.ExecutorOptions{HeadlessCalls: tt.most}, toolcatalog.Options{})
				r := e.run(t.Context(), tt.code)
				checkResult(t, r, codemode.DefaultMaxOutputBytes)
				exceeded := tt.calls > tt.made
				if (r.Code == codemode.CodeToolBudgetExceeded) != exceeded || exceeded != (r.Status == codemode.StatusFailed) {
					t.Errorf("got %s", describe(r))
				}
				if exceeded && (!strings.Contains(r.Error, "tool calls") || r.Err() == nil) {
					t.Errorf("got %s", describe(r))
				}
				if n := len(e.rec.Calls("echo")); n != tt.made {
					t.Errorf("echo ran %d times", n)
				}
			})
		})
	}
}

// What nobody will come back for is not kept: a headless cell has no session, and no value that is too large to be shown is saved.
func TestHeadlessKeepsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		store := codemode.NewMemoryStore()
		e := headless(t, b, codemode.ExecutorOptions{SessionID: "s", Store: store}, toolcatalog.Options{})
		for _, call := range []string{`store("k", 1)`, `load("k")`, `store("k", undefined)`} {
			value(t, e.run(t.Context(), `try { await `+call+` } catch (e) { return e.message.slice(0, 54) }`),
				`"store and load are not available in a headless run: re"`)
		}
		value(t, e.run(t.Context(), `try { await store(7, 1) } catch (e) { return e.name }`), `"TypeError"`) // the key comes first
		if values := must(store.LoadSession(context.Background(), "s")); len(values) > 0 {
			t.Errorf("the session has %v", values)
		}
		r := e.run(t.Context(), `return Array.from({ length: 20000 }, (_, i) => ({ i }))`)
		var shown struct {
			Truncated bool   `json:"truncated"`
			Guidance  string `json:"guidance"`
		}
		if err := json.Unmarshal(r.Value, &shown); err != nil || !shown.Truncated || !strings.Contains(shown.Guidance, "not retained: a headless program keeps nothing by itself") {
			t.Errorf("got %s", describe(r))
		}
		if list := e.Results().List(); len(list) > 0 {
			t.Errorf("kept %v", list)
		}
		value(t, e.run(t.Context(), `const { id } = await results.save([1]); return await results.load(id)`), `[1]`) // it asked for that
	})
}

// A headless cell takes no slot and has no id, and is aborted like any other.
func TestHeadlessIsNeverParked(t *testing.T) {
	t.Parallel()
	inBubble(t, &codemode.Options{MaxSuspended: 1}, func(t *testing.T, b *bubble) {
		e := headless(t, b, codemode.ExecutorOptions{}, toolcatalog.Options{})
		id := b.park(t, `await yield_control(); return 1`).RunID
		value(t, e.run(t.Context(), `await yield_control(); await slow({ ms: 12000 }); return 1`), `1`)
		refused(t, e.resume(t.Context(), "x"), codemode.ErrNotWaiting)
		value(t, b.resume(t.Context(), id), `1`)

		reason := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(15*time.Second, func() { cancel(reason) })
		began := time.Now()
		r := e.run(ctx, `await gate({})`)
		if took := time.Since(began); r.Code != codemode.CodeAborted || !errors.Is(r.Err(), reason) || took != 15*time.Second {
			t.Errorf("after %v: %s", took, describe(r))
		}
	})
}

// A cell that awaits its results never waits for anybody: it cannot yield, and what is its own time stays so.
func TestAwaitResults(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		for _, tt := range []struct {
			code, want, text string
			took             time.Duration
		}{
			{`await slow({ ms: 59000 }); await slow({ ms: 59000 }); return 1`, `1`, "", 118 * time.Second},
			{`await new Promise((r) => setTimeout(r, 9000)); await slow({ ms: 20000 }); await new Promise((r) => setTimeout(r, 999)); return 1`, `1`, "", 29999 * time.Millisecond},
			{`await new Promise((r) => setTimeout(r, 9000)); await slow({ ms: 20000 }); await new Promise((r) => setTimeout(r, 1001))`, "timeout", "code mode timeout exceeded", 30 * time.Second},
			{`setTimeout(() => {}, 11000); await slow({ ms: 59000 })`, "timeout", "code mode timeout exceeded", 10 * time.Second},
			{`await yield_control()`, "invalid_input", "cannot yield an unfinished program", 0},
			{`void echo(1); yield_control().catch(() => {}); return 1`, "invalid_input", "cannot yield an unfinished program", 0},
			{`await slow({ ms: 20000 }); try { await yield_control() } catch { return "caught" }`, "invalid_input", "cannot yield an unfinished program", 20 * time.Second},
		} {
			began := time.Now()
			r := b.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: tt.code, AwaitResults: true})
			took := time.Since(began)
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			got := string(r.Value)
			if r.Status == codemode.StatusFailed {
				got = string(r.Code)
			}
			if got != tt.want || !strings.HasPrefix(r.Error, tt.text) || took != tt.took {
				t.Errorf("%s: after %v: %s", tt.code, took, describe(r))
			}
		}
	})
}
