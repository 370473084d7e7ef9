package codemode_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

// resume waits for a cell.
func (b *testBench) resume(ctx context.Context, id string) codemode.Result {
	return b.Wait(ctx, codemode.WaitInput{RunID: id})
}

// park runs a cell that must wait.
func (b *testBench) park(t *testing.T, code string) codemode.Result {
	t.Helper()
	return waits(t, b.run(t.Context(), code))
}

// waits checks that a cell waits.
func waits(t *testing.T, r codemode.Result) codemode.Result {
	t.Helper()
	if r.Status != codemode.StatusWaiting {
		t.Fatalf("does not wait: %s", describe(r))
	}
	checkResult(t, r, codemode.DefaultMaxOutputBytes)
	return r
}

// refused checks that a result is a clean refusal of an input.
func refused(t *testing.T, r codemode.Result, why error) {
	t.Helper()
	checkResult(t, r, codemode.DefaultMaxOutputBytes)
	if r.Code != codemode.CodeInvalidInput || !errors.Is(r.Err(), why) {
		t.Errorf("got %s, %v; want a refusal: %v", describe(r), r.Err(), why)
	}
}

// C051: output is delivered once, by the result of the leg that made it, and the id ends with the cell.
func TestC051(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	first := b.park(t, `text("p1"); await yield_control("a"); text("p2"); await yield_control("b"); text("p3"); throw new Error("end");`)
	second := waits(t, b.resume(t.Context(), first.RunID))
	third := b.resume(t.Context(), first.RunID)
	for i, r := range []codemode.Result{first, second, third} {
		if want := fmt.Sprintf(`[{"type":"text","text":"p%d"}]`, i+1); outputText(r) != want {
			t.Errorf("result %d shows %s, want %s", i+1, outputText(r), want)
		}
	}
	for i, r := range []codemode.Result{first, second} {
		want := codemode.PendingToolCall{ID: fmt.Sprintf("bridge:yield:%d", i+1), Method: "yield"}
		if r.Reason != codemode.ReasonYield || r.RunID != first.RunID || !slices.Equal(r.PendingToolCalls, []codemode.PendingToolCall{want}) {
			t.Errorf("result %d: id %s, reason %s, pending %v", i+1, r.RunID, r.Reason, r.PendingToolCalls)
		}
	}
	checkResult(t, third, codemode.DefaultMaxOutputBytes)
	if third.Code != codemode.CodeInternal || third.Error != "Error: end\n    at <anonymous> (cell.js:1:99)" {
		t.Errorf("the last result: %s", describe(third))
	}
	refused(t, b.resume(t.Context(), first.RunID), codemode.ErrNotWaiting)
}

// C053: a resumed cell keeps its slot, and the end of the owners frees all of them at once.
func TestC053(t *testing.T) {
	t.Parallel()
	const code = `await yield_control(); return "R"`
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		var owners []*testBench
		var ids []string
		for range codemode.DefaultMaxSuspended {
			owner := &testBench{newExecutor(t, b.runtime, newTestCatalog(t, nil)), nil}
			owners, ids = append(owners, owner), append(ids, owner.park(t, `await yield_control(); await yield_control(); return "R"`).RunID)
		}
		refused(t, b.run(t.Context(), code), codemode.ErrTooManySuspended)
		if r := b.run(t.Context(), code); !strings.HasPrefix(r.Error, "too many suspended code mode runs") {
			t.Errorf("got %s", describe(r))
		}
		b.works(t) // it asks nothing of the host, and takes no slot

		waits(t, owners[0].resume(t.Context(), ids[0]))
		refused(t, b.run(t.Context(), code), codemode.ErrTooManySuspended)
		value(t, owners[0].resume(t.Context(), ids[0]), `"R"`)
		one := b.park(t, code) // in its place
		refused(t, b.run(t.Context(), code), codemode.ErrTooManySuspended)
		value(t, b.resume(t.Context(), one.RunID), `"R"`)

		began := time.Now()
		for _, owner := range owners {
			if err := owner.Close(); err != nil {
				t.Error(err)
			}
		}
		for range codemode.DefaultMaxSuspended {
			ids = append(ids, b.park(t, code).RunID)
		}
		refused(t, b.run(t.Context(), code), codemode.ErrTooManySuspended)
		value(t, b.resume(t.Context(), ids[len(ids)-1]), `"R"`)
		if took := time.Since(began); took != 0 {
			t.Errorf("the slots were free after %v", took)
		}
	})
}

// C054: a cell whose owner closes while it is resumed ends as aborted.
func TestC054(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		id := b.park(t, `await yield_control(); const v = await gate({}); text("STALE"); return v;`).RunID
		result := make(chan codemode.Result, 1)
		go func() { result <- b.resume(t.Context(), id) }()
		synctest.Wait()
		if n := len(b.rec.Calls("gate")); n != 1 {
			t.Fatalf("gate was called %d times", n)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		b.rec.Release()
		r := <-result
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		if r.Code != codemode.CodeAborted || !errors.Is(r.Err(), codemode.ErrClosed) || r.Telemetry.CallCount != 1 || !r.BridgeDispatchStarted || len(r.Output) > 0 {
			t.Errorf("got %s, %v, output %s", describe(r), r.Err(), outputText(r))
		}
		if call := b.rec.Calls("gate")[0]; !call.Cancelled || !errors.Is(call.Cause, codemode.ErrClosed) {
			t.Errorf("gate saw %+v", call)
		}
		if r := b.resume(t.Context(), id); r.Code != codemode.CodeAborted || !errors.Is(r.Err(), codemode.ErrClosed) {
			t.Errorf("a later wait: %s", describe(r))
		}
	})
}

// C055: who may not resume a cell is told why, and changes nothing.
func TestC055(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		catalog := newTestCatalog(t, nil)
		as := func(run, session string) *testBench {
			return &testBench{newExecutor(t, b.runtime, catalog, &codemode.ExecutorOptions{RunID: run, SessionID: session}), nil}
		}
		owner := as("run", "session")
		id := owner.park(t, `await yield_control(); text("resumed"); await slow({ ms: 1000 }); return 1`).RunID
		for name, tt := range map[string]struct {
			caller *testBench
			id     string
			why    error
			text   string
		}{
			"an id of a tool":   {owner, "lucky-name", codemode.ErrNotWaiting, "an id that a tool gave belongs to that tool"},
			"a bridge id":       {owner, "bridge:yield:1", codemode.ErrNotWaiting, "whose status is waiting"},
			"a part of the id":  {owner, id[:len(id)-1], codemode.ErrNotWaiting, ""},
			"in capitals":       {owner, strings.ToUpper(id), codemode.ErrNotWaiting, ""},
			"a long id":         {owner, strings.Repeat("x", 1<<20), codemode.ErrNotWaiting, ""},
			"invalid UTF-8":     {owner, "\xff\xfe", codemode.ErrNotWaiting, ""},
			"another run":       {as("other", "session"), id, codemode.ErrForeignCell, "another run"},
			"no run":            {as("", "session"), id, codemode.ErrForeignCell, "another run"},
			"another session":   {as("run", "other"), id, codemode.ErrForeignCell, "another session"},
			"no session":        {as("run", ""), id, codemode.ErrForeignCell, "another session"},
			"another executor":  {as("run", "session"), id, codemode.ErrForeignCell, "another executor"},
			"nothing in common": {as("", ""), id, codemode.ErrForeignCell, "another run"},
		} {
			r := tt.caller.resume(t.Context(), tt.id)
			refused(t, r, tt.why)
			if !strings.Contains(r.Error, tt.text) || r.FailurePhase != codemode.PhaseInput || r.BridgeDispatchStarted {
				t.Errorf("%s: %s in phase %s", name, describe(r), r.FailurePhase)
			}
		}
		first := make(chan codemode.Result, 1)
		go func() { first <- owner.resume(t.Context(), id) }()
		synctest.Wait()
		r := owner.resume(t.Context(), id)
		refused(t, r, codemode.ErrResuming)
		refused(t, as("other", "").resume(t.Context(), id), codemode.ErrResuming) // that comes first
		r = <-first
		value(t, r, `1`)
		if len(r.Output) != 1 {
			t.Errorf("it emitted %s", outputText(r))
		}
		refused(t, owner.resume(t.Context(), id), codemode.ErrNotWaiting)

		id = owner.park(t, `await yield_control()`).RunID
		time.Sleep(codemode.DefaultSnapshotTTL - time.Nanosecond)
		refused(t, as("other", "").resume(t.Context(), id), codemode.ErrForeignCell)
		time.Sleep(time.Nanosecond)
		refused(t, owner.resume(t.Context(), id), codemode.ErrNotWaiting)
		refused(t, as("other", "").resume(t.Context(), id), codemode.ErrNotWaiting) // that comes first
	})
}

// C082 b: each error of a batch reaches the try that awaits it, in whatever order the replies come.
func TestC082AfterSuspension(t *testing.T) {
	t.Parallel()
	const code = `const safe = async f => { try { return await f(); } catch (e) { return "E:" + e.message; } };
		return await Promise.all([safe(() => fail({ message: "a" })), safe(() => echo("b")), safe(() => fail({ message: "c" }))]);`
	for _, by := range []time.Duration{codemode.DefaultTimeout - 1, codemode.DefaultTimeout + time.Second} {
		inBubble(t, nil, func(t *testing.T, b *bubble) {
			b = hosted(t, b, toolcatalog.Options{Hooks: []toolcatalog.Hook{delayed(by)}})
			id := b.park(t, code).RunID
			time.Sleep(time.Minute) // all three replies are there
			value(t, b.resume(t.Context(), id), `["E:a","b","E:c"]`)
		})
	}
}

// The model's call of wait: its argument has an alias, and space around the id does not matter.
func TestHandleWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	for _, form := range []string{`{"runId":%q}`, `{"run_id":%q}`, `{"runId":"","run_id":%q}`, `{"runId":null,"run_id":%q}`} {
		for _, space := range []string{"", " \n\t"} {
			id := b.park(t, `await yield_control(); return 1`).RunID
			r, err := b.Handle(t.Context(), codemode.WaitTool, fmt.Appendf(nil, form, space+id+space))
			if err != nil {
				t.Fatal(err)
			}
			value(t, r, `1`)
		}
	}
	for _, args := range []string{`{}`, `{"runId":" \n"}`, `{"runId":""}`, `{"runId":7}`, `{"runId":["x"]}`, `[]`, `"x"`, `null`, `{`, ``, `{"run_id":{}}`} {
		r, err := b.Handle(t.Context(), codemode.WaitTool, []byte(args))
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		if r.Code != codemode.CodeInvalidInput || !strings.Contains(r.Error, "runId") {
			t.Errorf("%s: %s", args, describe(r))
		}
	}
}

// Of many that wait for the same cell, one at a time runs it: the program goes on exactly once for each waiting result.
func TestConcurrentWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	b.rec.Release()
	for name, code := range map[string]string{
		"yields":       `let n = 0; while (n < 40) { n += 1; await yield_control() } return n`,
		"alone":        `let n = 0; while (n < 40) { n += await echo(1); await yield_control() } return n`,
		"side by side": `let n = 0; while (n < 40) { const [a] = await Promise.all([echo(1), gate({}), yield_control()]); n += a } return n`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := b.park(t, code).RunID
			var mu sync.Mutex
			var ends []codemode.Result
			legs := 1
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for {
						r := b.resume(t.Context(), id)
						checkResult(t, r, codemode.DefaultMaxOutputBytes)
						if errors.Is(r.Err(), codemode.ErrResuming) {
							continue
						}
						if errors.Is(r.Err(), codemode.ErrNotWaiting) {
							return
						}
						mu.Lock()
						if legs++; r.Status != codemode.StatusWaiting {
							ends = append(ends, r)
						}
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			if legs != 41 || len(ends) != 1 {
				t.Fatalf("%d legs and %d ends", legs, len(ends))
			}
			value(t, ends[0], `40`)
		})
	}
}
