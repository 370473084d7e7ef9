package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/toolcatalog"
)

// later runs a cell on a goroutine and tells when it ended.
func (b *bubble) later(ctx context.Context, code string) <-chan ending {
	began := time.Now()
	done := make(chan ending, 1)
	go func() {
		r := b.run(ctx, code)
		done <- ending{r, time.Since(began)}
	}()
	synctest.Wait()
	return done
}

type ending struct {
	codemode.Result
	after time.Duration
}

// A cell that wants a slot waits for a running cell to give one up, on its own time, and fails when all cells wait.
func TestWaitingForASlot(t *testing.T) {
	t.Parallel()
	inBubble(t, &codemode.Options{MaxSuspended: 1}, func(t *testing.T, b *bubble) {
		first := b.later(t.Context(), `await slow({ ms: 4000 })`)
		value(t, b.run(t.Context(), `await results.save(1); await store("k", 1); await catalog.search("x"); return 1`), `1`) // no host work
		second := b.later(t.Context(), `await slow({ ms: 2000 }); return 2`)
		aborted, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r := <-b.later(aborted, `await slow({ ms: 1 })`); r.Code != codemode.CodeAborted || r.BridgeDispatchStarted || r.after != time.Second {
			t.Errorf("cancelled while it wants a slot: %s after %v", describe(r.Result), r.after)
		}
		<-first
		if r := <-second; string(r.Value) != "2" || r.after != 6*time.Second {
			t.Errorf("it has waited for a slot: %s after %v", describe(r.Result), r.after)
		}

		first = b.later(t.Context(), `await gate({}); return 1`) // is parked after 10 s
		time.Sleep(time.Second)
		r := <-b.later(t.Context(), `text("before"); await mutate({ i: 1 })`)
		refused(t, r.Result, codemode.ErrTooManySuspended)
		if r.after != 9*time.Second || r.FailurePhase != codemode.PhaseInput || r.BridgeDispatchStarted || outputText(r.Result) != `[{"type":"text","text":"before"}]` {
			t.Errorf("when all wait: %s after %v, output %s", describe(r.Result), r.after, outputText(r.Result))
		}
		id := (<-first).RunID

		// While the cell is resumed, over and over, others may hope, to the end of their time.
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			for range 3 {
				waits(t, b.resume(t.Context(), id))
			}
		}()
		synctest.Wait()
		time.Sleep(time.Second)
		if r := <-b.later(t.Context(), `await mutate({ i: 1 })`); r.after > 10*time.Second || !errors.Is(r.Err(), codemode.ErrTooManySuspended) {
			t.Errorf("at the end of its time: %s after %v", describe(r.Result), r.after)
		}
		<-stop
		b.rec.Release()
		value(t, b.resume(t.Context(), id), `1`)
		if made := b.rec.Mutations(); len(made) > 0 {
			t.Errorf("calls were made without a slot: %v", made)
		}
	})
}

// A cell whose waiting result cannot be shown to the model is not kept.
func TestUnfitWaitingResult(t *testing.T) {
	t.Parallel()
	inBubble(t, &codemode.Options{MaxSuspended: 1}, func(t *testing.T, b *bubble) {
		rec := new(fixture.Recorder)
		poor := &testBench{newExecutor(t, b.runtime, newTestCatalog(t, rec), &codemode.ExecutorOptions{Model: codemode.Model{MaxResultChars: 300}}), rec}
		for range 2 {
			r := poor.run(t.Context(), `void gate({}); await yield_control(); return 1`)
			if r.Status != codemode.StatusFailed || !errors.Is(r.Err(), codemode.ErrModelBudget) || r.RunID != "" {
				t.Errorf("got %s", describe(r))
			}
		}
		synctest.Wait()
		for _, call := range rec.Calls("gate") {
			if !call.Cancelled {
				t.Errorf("a call goes on: %+v", call)
			}
		}
		value(t, b.resume(t.Context(), b.park(t, `await yield_control(); return 1`).RunID), `1`) // has the slot
	})
}

// What is kept of a cell is bounded: its memory, its inbox and its inputs.
func TestSnapshotLimit(t *testing.T) {
	t.Parallel()
	const random = `const noise = (n) => { const a = new Uint32Array(n >> 2); let x = 123456789; for (let i = 0; i < a.length; i++) { x ^= x << 13; x ^= x >>> 17; x ^= x << 5; a[i] = x } return a }; `
	inBubble(t, &codemode.Options{MaxSnapshotBytes: 1 << 20, MaxSuspended: 1}, func(t *testing.T, b *bubble) {
		for name, code := range map[string]string{
			"memory":    `const a = noise(3 << 19); await yield_control(); return a.length`,
			"in flight": `const a = noise(3 << 19); await slow({ ms: 11000 }); return a.length`,
		} {
			r := b.run(t.Context(), random+`text("before"); `+code)
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			if r.Code != codemode.CodeSnapshotLimitExceeded || r.FailurePhase != codemode.PhaseBridge || outputText(r) != `[{"type":"text","text":"before"}]` || !strings.Contains(r.Error, "1048576 bytes") {
				t.Errorf("%s: %s in phase %s, output %s", name, describe(r), r.FailurePhase, outputText(r))
			}
			b.works(t)
		}
		value(t, b.resume(t.Context(), b.park(t, random+`const a = noise(1 << 19); await yield_control(); return a.length`).RunID), `131072`)
		value(t, b.resume(t.Context(), b.park(t, random+`let a = noise(3 << 19); a = undefined; await yield_control(); return "given up"`).RunID), `"given up"`)
		// At the second wait: the first one is good.
		id := b.park(t, random+`await yield_control(); const a = noise(3 << 19); await yield_control()`).RunID
		if r := b.resume(t.Context(), id); r.Code != codemode.CodeSnapshotLimitExceeded {
			t.Errorf("at the second wait: %s", describe(r))
		}
		refused(t, b.resume(t.Context(), id), codemode.ErrNotWaiting)
	})
}

// The allowance for replies is one for all waits: what has arrived while the cell was parked fills it until the program takes it.
func TestInboxOverWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, &codemode.Options{MaxSnapshotBytes: 2 << 20}, func(t *testing.T, b *bubble) {
		id := b.park(t, `
			const first = blob({ bytes: 1.2e6 }).then((v) => v.data.length)
			const second = slow({ ms: 10 }).then(() => 1)
			await yield_control()
			const third = blob({ bytes: 1.2e6 }).then((v) => v.data.length)
			return [await first, await third, await second, await blob({ bytes: 1.2e6 }).then((v) => v.data.length)]`).RunID
		time.Sleep(time.Minute)
		value(t, b.resume(t.Context(), id), `[1200000,1200000,1,1200000]`)

		id = b.park(t, `const all = [blob({ bytes: 1.2e6 }), blob({ bytes: 1.2e6 })]; await yield_control();
			const got = (await Promise.allSettled(all)).map((o) => o.value?.data.length ?? o.reason.message.slice(0, 28)).sort()
			return [got, (await blob({ bytes: 1.2e6 })).data.length]`).RunID
		time.Sleep(time.Minute)
		value(t, b.resume(t.Context(), id), `[[1200000,"program-data budget exceeded"],1200000]`)

		// Inputs of calls that wait for a place are a part of what is kept.
		r := b.run(t.Context(), `for (let i = 0; i < 16; i++) void gate({}); void echo("x".repeat(2.2e6)); await yield_control()`)
		if r.Code != codemode.CodeSnapshotLimitExceeded {
			t.Errorf("got %s", describe(r))
		}
	})
}

// The output budget counts over all waits; what was shown is not shown again, and a summary that has not changed neither.
func TestOutputOverWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{MaxOutputBytes: 1024})
	r := b.park(t, `for (const n of [600, 600, 0, 10]) { if (n > 0) text("x".repeat(n)); await yield_control() } return "value"`)
	if len(r.Output) != 1 || r.Output[0].Text != strings.Repeat("x", 600) {
		t.Errorf("first: %s", outputText(r))
	}
	id := r.RunID
	r = waits(t, b.resume(t.Context(), id))
	if len(r.Output) != 1 || r.Output[0].Truncated == nil || !strings.Contains(outputText(r), "xxxx") {
		t.Errorf("beyond the budget: %s", outputText(r))
	}
	if r = waits(t, b.resume(t.Context(), id)); len(r.Output) != 0 {
		t.Errorf("nothing new: %s", outputText(r))
	}
	if r = waits(t, b.resume(t.Context(), id)); len(r.Output) != 1 || r.Output[0].Truncated == nil {
		t.Errorf("more: %s", outputText(r))
	}
	r = b.resume(t.Context(), id)
	value(t, r, `"value"`)
	checkResult(t, r, 1024)
}

// What a cell stores is its own until it completes, over all waits; what it saves is there at once.
func TestKeptOverWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		store := codemode.NewMemoryStore()
		one, other := keeping(t, b.runtime, store, nil), keeping(t, b.runtime, store, nil)
		id := one.park(t, `await store("k", 1); await yield_control(); await store("l", 2); await yield_control(); return await load("k")`).RunID
		waits(t, one.resume(t.Context(), id))
		value(t, other.run(t.Context(), `return [await load("k") ?? null, await load("l") ?? null]`), `[null,null]`)
		value(t, other.run(t.Context(), `await store("k", "theirs")`), `null`)
		value(t, one.resume(t.Context(), id), `1`)
		value(t, other.run(t.Context(), `return [await load("k"), await load("l")]`), `[1,2]`)

		for name, end := range map[string]func(id string){
			"expired": func(string) { time.Sleep(codemode.DefaultSnapshotTTL) },
			"failed":  func(id string) { expectFailure(t, one.resume(t.Context(), id), codemode.CodeInternal, "Error: no") },
			"aborted": func(id string) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				expectFailure(t, one.resume(ctx, id), codemode.CodeAborted, "")
			},
		} {
			id := one.park(t, `await store("k", "`+name+`"); await yield_control(); await slow({ ms: 2000 }); throw new Error("no")`).RunID
			end(id)
			value(t, other.run(t.Context(), `return await load("k")`), `1`)
		}
		one.park(t, `await store("k", "closed"); await yield_control()`)
		_ = one.Close()
		value(t, other.run(t.Context(), `return await load("k")`), `1`)
	})
}

// Telemetry, marks and modes of a cell are in every result of it.
func TestResultsOfOneCell(t *testing.T) {
	t.Parallel()
	b := keeping(t, sharedRuntime(t, codemode.Options{}), codemode.NewMemoryStore(), nil, fetching())
	r := b.park(t, `await echo(1); await yield_control(); await fetch({}); await yield_control(); await echo(2); await yield_control(); return 1`)
	for i, want := range []struct {
		calls   int64
		network bool
	}{{1, false}, {2, true}, {3, true}, {3, true}} {
		if i > 0 {
			r = b.resume(t.Context(), r.RunID+strings.Repeat(" ", i))
		}
		if r.Telemetry.CallCount != want.calls || r.NetworkContent != want.network || r.ReplaySafe {
			t.Errorf("result %d: %d calls, network %t, replay safe %t", i, r.Telemetry.CallCount, r.NetworkContent, r.ReplaySafe)
		}
	}
	value(t, r, `1`)

	r = b.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `await echo(1); await yield_control(); await mutate({ i: 1 })`, RestartSafe: true})
	if waits(t, r); !r.ReplaySafe {
		t.Error("a restart-safe cell that waits does not say so")
	}
	r = b.resume(t.Context(), r.RunID)
	if r.Code != codemode.CodeInvalidInput || r.FailurePhase != codemode.PhaseBridge || !r.BridgeDispatchStarted || !r.ReplaySafe || len(b.rec.Mutations()) > 0 {
		t.Errorf("got %s in phase %s", describe(r), r.FailurePhase)
	}

	r = b.resume(t.Context(), b.park(t, `const p = fail({ message: "m" }); await yield_control(); await p`).RunID)
	var call *toolcatalog.CallError
	if !errors.As(r.Err(), &call) || call.Tool != "fail" {
		t.Errorf("the error of the tool is not behind %v", r.Err())
	}
	// Guest code has a fresh budget in each call, and no more.
	b = newBench(t, codemode.Options{Timeout: codemode.MinTimeout})
	id := b.park(t, `await yield_control(); for (;;) {}`).RunID
	expectFailure(t, b.resume(t.Context(), id), codemode.CodeTimeout, "code mode timeout exceeded")
	refused(t, b.resume(t.Context(), id), codemode.ErrNotWaiting)
	b.works(t)
}

// What waits is listed under numbers that count for each method: calls that run, what waits for a place, timers, yields.
func TestPendingToolCalls(t *testing.T) {
	t.Parallel()
	inBubble(t, &codemode.Options{MaxPendingToolCalls: 2}, func(t *testing.T, b *bubble) {
		r := b.park(t, `
			await echo(1)
			setTimeout(() => {}, 60000); const cleared = setTimeout(() => {}, 60000); clearTimeout(cleared)
			void slow({ ms: 20000 }); void slow({ ms: 20000 }); setTimeout(() => {}, 1)
			await yield_control()
			await yield_control()`)
		check := func(r codemode.Result, want string) {
			t.Helper()
			text := string(must(json.Marshal(r.PendingToolCalls)))
			got := strings.NewReplacer(`{"id":"bridge:`, "", `"method":"`, "", `"}`, "", `"`, "").Replace(text)
			if got != want || r.Reason != codemode.ReasonPendingTools {
				t.Errorf("waits for %s, want %s; reason %s", got, want, r.Reason)
			}
		}
		check(r, `[callValue:2,callValue,callValue:3,callValue,sleep:3,sleep,sleep:1,sleep,yield:1,yield]`)
		time.Sleep(21 * time.Second) // the first call has ended, and the second takes its place now
		check(waits(t, b.resume(t.Context(), r.RunID)), `[callValue:3,callValue,sleep:3,sleep,sleep:1,sleep,yield:2,yield]`)
	})
}

// A tool that runs alone in its catalog does so while its cell is parked; other cells' calls keep their place behind it.
func TestSequentialToolOfParkedCell(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		first := b.park(t, `const p = alone({}); await yield_control(); return await p`).RunID
		second := b.run(t.Context(), `return await echo("behind")`)
		waits(t, second)
		if calls := b.rec.Calls("echo"); len(calls) != 0 {
			t.Errorf("echo ran beside a sequential tool")
		}
		time.Sleep(time.Minute)
		value(t, b.resume(t.Context(), second.RunID), `"behind"`)
		value(t, b.resume(t.Context(), first), `1`)

		// The place is free when its cell has expired.
		b.park(t, `void alone({}); void alone({}); void alone({}); await yield_control()`)
		_ = b.park(t, `return await echo("x")`)
		time.Sleep(codemode.DefaultSnapshotTTL)
		value(t, b.run(t.Context(), `return await echo("free")`), `"free"`)
	}, toolcatalog.Define(toolcatalog.Spec{Name: "alone", Sequential: true}, func(ctx context.Context, _ struct{}) (int, error) {
		select {
		case <-time.After(30 * time.Second):
			return 1, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}))
}

// A call that waits for approval does so while its cell is parked. A wait then lasts until somebody has answered.
func TestApprovalOverWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		b = hosted(t, b, toolcatalog.Options{Approver: patient(5 * time.Minute)})
		began := time.Now()
		id := b.park(t, `const p = mutate({ i: 1 }); await yield_control(); await p; await slow({ ms: 9000 }); return 1`).RunID
		time.Sleep(time.Minute)
		value(t, b.resume(t.Context(), id), `1`)
		if took := time.Since(began); took != 5*time.Minute+9*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// Cells that wait share nothing: each goes on with its own values and random numbers.
func TestParkedCellsAreApart(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	ids := map[string]int{}
	for i := range 40 {
		ids[b.park(t, fmt.Sprintf(`globalThis.mine = %d; const r = Math.random(); Array.prototype.mine = mine; await yield_control(); return [mine, [].mine, r, Math.random()]`, i)).RunID] = i
	}
	seen := map[float64]bool{}
	for id, i := range ids {
		var got []float64
		if err := json.Unmarshal(b.resume(t.Context(), id).Value, &got); err != nil || len(got) != 4 || got[0] != float64(i) || got[1] != float64(i) {
			t.Fatalf("cell %d gives %v, %v", i, got, err)
		}
		if seen[got[2]] || seen[got[3]] {
			t.Errorf("cell %d has the random numbers of another", i)
		}
		seen[got[2]], seen[got[3]] = true, true
	}
	value(t, b.run(t.Context(), `return [typeof mine, typeof [].mine]`), `["undefined","undefined"]`)
}

// A program that does nothing but yield until something has happened sees it happen.
func TestYieldUntilDone(t *testing.T) {
	t.Parallel()
	const code = `const seen = []
		const first = slow({ ms: 20 }).then(() => seen.push("call"), () => seen.push("failed"))
		setTimeout(() => { seen.push("timer"); Promise.resolve().then(() => seen.push("job")) }, 30)
		while (seen.length < 3) await yield_control()
		`
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		r := b.park(t, code+`return seen`)
		for range 5 {
			r = waits(t, b.resume(t.Context(), r.RunID))
		}
		time.Sleep(25 * time.Millisecond)
		r = waits(t, b.resume(t.Context(), r.RunID))
		time.Sleep(25 * time.Millisecond)
		value(t, b.resume(t.Context(), r.RunID), `["call","timer","job"]`)
	})
	// By itself, if nobody else resumes it.
	e := newExecutor(t, sharedRuntime(t, codemode.Options{}), newTestCatalog(t, nil), &codemode.ExecutorOptions{Headless: true})
	value(t, e.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: code + `return seen.sort()`}), `["call","job","timer"]`)
}
