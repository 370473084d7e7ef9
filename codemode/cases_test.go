package codemode_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// The field cases that need Go around the cell: another limit, a second cell, a look at the tools' side. The
// others are chunks of testdata/script, under their numbers: C006, C013 to C015, C017, C018, C023, C075, C081 and C082.

// patience is how long the host may take, on a busy machine, for what it does in milliseconds on an idle one.
const patience = 5 * time.Second

// expectFailure checks the code of a failed cell and that its error starts with text.
func expectFailure(t *testing.T, r codemode.Result, code codemode.ErrorCode, text string) {
	t.Helper()
	if r.Code != code || !strings.HasPrefix(r.Error, text) {
		t.Errorf("got %s; want %s %s", describe(r), code, text)
	}
}

func TestC001InterruptIsNotCaught(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{Timeout: 200 * time.Millisecond})
	began := time.Now()
	r := b.run(t.Context(), `
		let caught = 0;
		const spin = async () => { await null; for (;;) {} };
		for (;;) { try { await spin(); } catch { caught++; text("caught"); } finally { text("finally"); } }`)
	checkResult(t, r, codemode.DefaultMaxOutputBytes)
	expectFailure(t, r, codemode.CodeTimeout, "code mode timeout exceeded")
	if len(r.Output) > 0 {
		t.Errorf("guest code saw the interrupt: %s", outputText(r))
	}
	if took := time.Since(began); took > patience {
		t.Errorf("it took %v", took)
	}
	b.works(t)
}

// Native loops end at the deadline, and another cell goes on beside them.
func TestC002NativeLoopsEnd(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"join of a huge array":      `return new Array(1e9) + "";`,
		"search":                    `return "a".repeat(1e7).indexOf("a".repeat(5e6) + "b");`,
		"index in what is no array": `return Array.prototype.indexOf.call({ length: 4294967295 }, 1);`,
		"regular expression":        `return /^(a+)+$/.test("a".repeat(40) + "!");`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, codemode.Options{Timeout: 500 * time.Millisecond})
			began := time.Now()
			ended := make(chan codemode.Result, 1)
			go func() { ended <- b.run(context.Background(), code) }()
			beside := 0
			for {
				if r := b.run(t.Context(), `return await echo(1)`); string(r.Value) == "1" {
					beside++
				} else if r.Code != codemode.CodeTimeout { // which a busy machine may cause
					t.Errorf("the cell beside it: %s", describe(r))
				}
				select {
				case r := <-ended:
					if r.Code != codemode.CodeTimeout && !errors.Is(r.Err(), codemode.ErrMemoryLimit) {
						t.Errorf("got %s", describe(r))
					}
					if took := time.Since(began); took > patience {
						t.Errorf("it took %v", took)
					}
					if beside == 0 {
						t.Error("no other cell ended beside it")
					}
					b.works(t)
					return
				default:
				}
			}
		})
	}
}

// Deep recursion of the engine's own parsers does not poison it.
func TestC003DeepRecursionInTheEngine(t *testing.T) {
	t.Parallel()
	rt := must(codemode.NewRuntime(t.Context(), nil))
	b := &testBench{newExecutor(t, rt, newTestCatalog(t, nil)), nil}
	for _, code := range []string{
		`try { return JSON.parse("[".repeat(60000) + "]".repeat(60000)).length } catch (e) { return e.name }`,
		"return " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000),
		`try { return eval("[".repeat(20000) + "]".repeat(20000)).length } catch (e) { return e.name }`,
		`try { return new RegExp("(".repeat(20000) + ")".repeat(20000)).test("") } catch (e) { return e.name }`,
		`let deep; for (let i = 0; i < 60000; i++) deep = [deep]; try { return JSON.stringify(deep).length } catch (e) { return e.name }`,
	} {
		r := b.run(t.Context(), code)
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		if r.Code == codemode.CodeRuntimeUnavailable {
			t.Errorf("%.60s: %s", code, describe(r))
		}
		b.works(t)
	}
	if err := rt.Close(); err != nil {
		t.Errorf("closing the runtime: %v", err)
	}
}

// Each ending has its own code. The arm in which the engine cannot be had is in unavailable_test.go.
func TestC005Codes(t *testing.T) {
	t.Parallel()
	short := newBench(t, codemode.Options{Timeout: codemode.MinTimeout})
	r := short.run(t.Context(), `while (true) {}`)
	expectFailure(t, r, codemode.CodeTimeout, "code mode timeout exceeded")
	if !errors.Is(r.Err(), context.DeadlineExceeded) {
		t.Errorf("a timeout is %v", r.Err())
	}

	b := newBench(t, codemode.Options{})
	expectFailure(t, b.run(t.Context(), `throw new Error("interrupted")`), codemode.CodeInternal, "Error: interrupted")
	expectFailure(t, b.run(t.Context(), `ls -la /workspace`), codemode.CodeInvalidInput, "exec runs JavaScript")
	if r := b.run(t.Context(), `const ls = 1; return ls`); string(r.Value) != "1" {
		t.Errorf("a cell that looks like a command: %s", describe(r))
	}
}

// A cancelled cell is aborted, and so are the calls that it waits for: not once in a while, but always.
func TestC005Cancel(t *testing.T) {
	t.Parallel()
	for shape, code := range callShapes {
		for range 25 {
			b := newBench(t, codemode.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			code := fmt.Sprintf(code, "gate")
			gates := strings.Count(code, "gate")
			go func() {
				if err := b.rec.WaitStarted(ctx, "gate", gates); err == nil {
					cancel()
				}
			}()
			r := b.run(ctx, code)
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			expectFailure(t, r, codemode.CodeAborted, "code mode execution aborted")
			if r.FailurePhase != codemode.PhaseBridge || !r.BridgeDispatchStarted || !errors.Is(r.Err(), context.Canceled) {
				t.Errorf("%s: phase %s, dispatched %t, %v", shape, r.FailurePhase, r.BridgeDispatchStarted, r.Err())
			}
			if err := b.rec.WaitEnded(t.Context(), "gate", gates); err != nil {
				t.Fatal(err)
			}
			for _, call := range b.rec.Calls("gate") {
				if !call.Cancelled {
					t.Errorf("%s: a call was not cancelled", shape)
				}
			}
			b.works(t)
			if t.Failed() {
				return
			}
		}
	}
}

// A result that is larger than what may wait for a cell rejects its call; smaller ones pass, before and after.
func TestC010Inbox(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{MaxSnapshotBytes: 10_000, MaxOutputBytes: codemode.MinMaxOutputBytes})
	r := b.run(t.Context(), `
		const refused = async (bytes) => { try { await blob({ bytes }); return false } catch (e) { return [e.code, e.effectStatus, /budget/.test(e.message)] } }
		let read = 0
		for (let i = 0; i < 30; i++) {
			read += (await blob({ bytes: 9000 })).data.length
			if (i % 10 === 0 && !await refused(20000)) throw new Error("a large reply got through")
		}
		return [read, await refused(20000), await refused(9000)]`)
	if want := `[270000,["tool_error","unknown",true],false]`; string(r.Value) != want {
		t.Errorf("got %s, want %s", describe(r), want)
	}

	// Replies that are whole alone may be too many together: each is whole or refused.
	r = b.run(t.Context(), `
		const settled = await Promise.allSettled(Array.from({ length: 16 }, () => blob({ bytes: 4000 })))
		const whole = settled.filter((s) => s.value?.data.length === 4000).length
		const refused = settled.filter((s) => /budget/.test(s.reason?.message)).length
		return [whole + refused, whole > 0, (await blob({ bytes: 9000 })).data.length]`)
	if want := `[16,true,9000]`; string(r.Value) != want {
		t.Errorf("got %s, want %s", describe(r), want)
	}

	// An error is bounded by the display budget, and says so.
	r = b.run(t.Context(), `try { await fail({ message: "disk full: " + "x".repeat(100000) }) } catch (e) { return [e.message.length < 1100, e.message.startsWith("disk full: xxx"), e.message.endsWith(" [error truncated]")] }`)
	if want := `[true,true,true]`; string(r.Value) != want {
		t.Errorf("got %s, want %s", describe(r), want)
	}
}

func TestC011LongErrorKeepsItsCause(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{MaxOutputBytes: codemode.MinMaxOutputBytes})
	r := b.run(t.Context(), `text("ok"); throw new Error("cause: disk full " + "\n".repeat(5000));`)
	checkResult(t, r, codemode.MinMaxOutputBytes)
	expectFailure(t, r, codemode.CodeInternal, "Error: cause: disk full \n\n")
	if !strings.HasSuffix(r.Error, " [error truncated]") {
		t.Errorf("the error ends with %q", r.Error[max(0, len(r.Error)-30):])
	}
	if got := outputText(r); got != `[{"type":"text","text":"ok"}]` {
		t.Errorf("the output is %s", got)
	}
	if n := renderedSize(t, r); n < codemode.MinMaxOutputBytes-10 {
		t.Errorf("%d bytes were used of %d", n, codemode.MinMaxOutputBytes)
	}
}

// What is in one executor's catalog does not exist in another's, and what a model is given not in any.
func TestC077NothingBeyondTheCatalog(t *testing.T) {
	t.Parallel()
	rt := sharedRuntime(t, codemode.Options{})
	var called atomic.Int32
	tool := func(name string) *toolcatalog.Tool {
		return toolcatalog.Define(toolcatalog.Spec{Name: name}, func(context.Context, struct{}) (string, error) {
			called.Add(1)
			return name, nil
		})
	}
	mine := newExecutor(t, rt, must(toolcatalog.New([]*toolcatalog.Tool{tool("safe")}, nil)))
	other := newExecutor(t, rt, must(toolcatalog.New([]*toolcatalog.Tool{tool("danger"), tool("other")}, nil)))
	run := func(ex *codemode.Executor, code string) codemode.Result {
		return ex.Exec(t.Context(), codemode.ExecInput{Title: "test", Code: code})
	}
	if r := run(other, `globalThis.kept = danger; return await danger({})`); string(r.Value) != `"danger"` {
		t.Fatal(describe(r))
	}
	called.Store(0)
	for _, code := range []string{
		`danger({})`, `kept({})`, `globalThis["dan" + "ger"]({})`, `({ callableName: "danger" })({})`, `(0, eval)("danger")({})`, `exec({ title: "t", code: "return 1" })`,
		`wait({ runId: "x" })`, `globalThis["ex" + "ec"]({ code: "1" })`, `Object.assign(() => {}, safe, { callableName: "danger", name: "danger" })({}).x`,
	} {
		r := run(mine, "return await "+code)
		expectFailure(t, r, codemode.CodeInternal, "")
		if r.BridgeDispatchStarted {
			t.Errorf("%s was dispatched", code)
		}
	}
	if n := called.Load(); n != 0 {
		t.Errorf("%d calls were made", n)
	}
	r := run(mine, `return Object.keys(globalThis)`)
	if string(r.Value) != `["safe"]` {
		t.Errorf("the globals are %s", r.Value)
	}
}

// A batch is admitted whole or not at all.
func TestC079BatchIsWholeOrRefused(t *testing.T) {
	t.Parallel()
	const waiting = 128 // that many calls may wait beyond those that run
	for _, limit := range []int{1, 2, 16, codemode.MaxMaxPendingToolCalls} {
		for _, n := range []int{1, limit, limit + 1, limit + waiting, limit + waiting + 1, 1000} {
			for _, code := range []string{
				`return (await Promise.all(Array.from({ length: %d }, (_, i) => mutate({ i })))).length`,
				`try { return (await Promise.all(Array.from({ length: %d }, (_, i) => mutate({ i })))).length } catch { return "caught" }`,
				`for (let i = 0; i < %d; i++) try { mutate({ i }).catch(() => {}) } catch {}`,
			} {
				b := newBench(t, codemode.Options{MaxPendingToolCalls: limit})
				r := b.run(t.Context(), fmt.Sprintf(code, n))
				checkResult(t, r, codemode.DefaultMaxOutputBytes)
				effects := b.rec.Mutations()
				if n > limit+waiting {
					expectFailure(t, r, codemode.CodeInvalidInput, fmt.Sprintf("too many tool calls and timers were pending at once (%d run at a time and %d wait): none of this batch was started", limit, waiting))
					if len(effects) != 0 || r.BridgeDispatchStarted {
						t.Errorf("%d of %d at %d: %d effects of a refused batch", n, limit+waiting, limit, len(effects))
					}
					continue
				}
				if r.Err() != nil || len(effects) != n {
					t.Errorf("%d at %d: %s, %d effects", n, limit, describe(r), len(effects))
				}
				if peak := b.rec.Peak("mutate"); peak > limit {
					t.Errorf("%d at %d: %d ran at once", n, limit, peak)
				}
				if limit == 1 {
					for i, effect := range effects {
						if effect != int64(i) {
							t.Fatalf("call %d came as number %d", effect, i)
						}
					}
				}
			}
		}
	}
}

// What ran before a refused batch has run, once; what runs meanwhile is cancelled, what waits for a place never starts.
func TestC079RefusalAfterWork(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		r := b.run(t.Context(), `
			await mutate({ i: -1 })
			gate({}).catch(() => {})
			await slow({ ms: 1 })
			await Promise.all(Array.from({ length: 144 }, (_, i) => mutate({ i })))`)
		expectFailure(t, r, codemode.CodeInvalidInput, "too many tool calls")
		if !r.BridgeDispatchStarted {
			t.Error("the result denies the calls before")
		}
		synctest.Wait()
		if effects := b.rec.Mutations(); len(effects) != 1 || effects[0] != -1 {
			t.Errorf("the effects are %v", effects)
		}
		if call := b.rec.Calls("gate")[0]; !call.Ended || !call.Cancelled {
			t.Error("the running call was not cancelled")
		}
	})
	inBubble(t, &codemode.Options{MaxPendingToolCalls: 1}, func(t *testing.T, b *bubble) {
		result := b.start(t.Context(), `
			const first = gate({})
			for (let i = 0; i < 100; i++) mutate({ i }).catch(() => {})
			await first
			for (let i = 0; i < 100; i++) mutate({ i }).catch(() => {})`)
		b.rec.Release()
		expectFailure(t, <-result, codemode.CodeInvalidInput, "too many tool calls")
		if effects := b.rec.Mutations(); len(effects) != 0 {
			t.Errorf("the effects are %v", effects)
		}
	})
}

// A cell completes when all its calls have ended: none is cancelled because another failed.
func TestC081DetachedCalls(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		b.rec.MutateDelay = 50 * time.Millisecond
		began := time.Now()
		r := b.run(t.Context(), `void mutate({ i: 1 }); return "x";`)
		if took := time.Since(began); string(r.Value) != `"x"` || len(b.rec.Mutations()) != 1 || took != b.rec.MutateDelay {
			t.Errorf("after %v: %s, effects %v", took, describe(r), b.rec.Mutations())
		}
	})
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		result := b.start(t.Context(), `
			try { await Promise.all([fail({ message: "a" }), gate({})]); } catch {}
			void mutate({ i: 2 });
			return 1;`)
		select {
		case r := <-result:
			t.Fatalf("ended with a call open: %s", describe(r))
		default:
		}
		if effects := b.rec.Mutations(); len(effects) != 1 {
			t.Errorf("the effects beside an open call are %v", effects)
		}
		b.rec.Release()
		if r := <-result; string(r.Value) != "1" || r.Telemetry.CallCount != 3 {
			t.Errorf("got %s, %d calls", describe(r), r.Telemetry.CallCount)
		}
		if call := b.rec.Calls("gate")[0]; !call.Ended || call.Cancelled {
			t.Errorf("the gate ended %t, cancelled %t", call.Ended, call.Cancelled)
		}
	})
}

// Cells of every kind at once, cancelled at any moment, while the runtime is closed under half of them.
func TestC083Hammer(t *testing.T) {
	t.Parallel()
	duration := 1200 * time.Millisecond
	if testing.Short() {
		duration = 400 * time.Millisecond
	}
	rt := must(codemode.NewRuntime(t.Context(), &codemode.Options{Timeout: 150 * time.Millisecond, MemoryLimitBytes: 8 << 20}))
	var h hammer
	var stop atomic.Bool
	var wg sync.WaitGroup
	benches := make([]testBench, 8)
	for i := range benches {
		rec := new(fixture.Recorder)
		benches[i] = testBench{newExecutor(t, rt, newTestCatalog(t, rec)), rec}
	}
	for i := range 64 {
		wg.Go(func() { h.strike(t, &benches[i%len(benches)], i, &stop) })
	}
	time.Sleep(duration)
	if h.completed.Load() == 0 {
		t.Error("no cell completed before the runtime was closed")
	}
	if err := rt.Close(); err != nil {
		t.Errorf("closing the runtime: %v", err)
	}
	refused := h.refused.Load()
	time.Sleep(duration / 4) // cells go on being refused
	stop.Store(true)
	wg.Wait()
	if h.refused.Load() == refused {
		t.Error("no cell was refused after the runtime was closed")
	}
	for _, b := range benches {
		for _, call := range b.rec.Calls("") {
			if !call.Ended {
				t.Errorf("a call of %s outlives its runtime", call.Tool)
			}
		}
	}
	t.Logf("%d completed, %d failed, %d refused", h.completed.Load(), h.failed.Load(), h.refused.Load())
}

type hammer struct {
	completed, waiting, failed, refused atomic.Int64
}

// strike runs cells that carry their own number, so that a value of another shows.
func (h *hammer) strike(t *testing.T, b *testBench, number int, stop *atomic.Bool) {
	kinds := []string{
		`return mine`,
		`return await echo(mine)`,
		`const all = await Promise.all([echo(mine), echo(mine), slow({ ms: 1 })]); return all[0] === all[1] ? mine : all`,
		`let n = 0; for (let i = 0; i < 50; i++) n += await echo(1); return n === 50 ? mine : n`,
		`for (;;) {}`,
		`for (;;) await null`,
		`await gate({})`,
		`await Promise.all([gate({}), gate({})])`,
		`await yield_control(); return mine`,
		`const p = slow({ ms: 5 }); await yield_control(); await p; const f = function* () { yield mine }; await yield_control(); return [...f()][0]`,
		`setTimeout(() => text("t"), 5); await yield_control(); return mine`,
		`const kept = []; for (;;) kept.push("x".repeat(1e5) + kept.length)`,
		`const f = () => f() + 1; return f()`,
		`setTimeout(() => {}, 20); return mine`,
		`Promise.reject(new Error("m")); return mine`,
		`throw new Error("mine is " + mine)`,
		`syntax error here`,
		`globalThis.left = (globalThis.left ?? 0) + 1; Array.prototype.left = 1; return left === 1 ? mine : left`,
		`return JSON.parse(JSON.stringify({ mine })).mine`,
		`return new URL("http://x/" + mine).pathname.slice(1) * 1`,
	}
	random := rand.New(rand.NewPCG(1, uint64(number)))
	for round := 0; !stop.Load(); round++ {
		mine := number*100_000 + round
		ctx, cancel := context.WithCancel(context.Background())
		after := time.Duration(random.IntN(40)) * time.Millisecond
		timer := time.AfterFunc(after, cancel)
		code := fmt.Sprintf("const mine = %d\n%s", mine, kinds[random.IntN(len(kinds))])
		r := b.run(ctx, code)
		for r.Status == codemode.StatusWaiting && random.IntN(8) > 0 { // the others stay, until they are closed
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			r = b.Wait(ctx, codemode.WaitInput{RunID: r.RunID})
		}
		if random.IntN(2) == 0 {
			cancel() // just after the cell returned
		}
		timer.Stop()
		cancel()
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		switch {
		case r.Status == codemode.StatusCompleted:
			h.completed.Add(1)
			if want := fmt.Sprint(mine); string(r.Value) != want {
				t.Errorf("%s: got %s, want %s", code, describe(r), want)
			}
		case r.Status == codemode.StatusWaiting:
			h.waiting.Add(1)
		case errors.Is(r.Err(), codemode.ErrClosed):
			h.refused.Add(1)
			time.Sleep(time.Millisecond) // leaves the processors to those that run
		case r.Code == codemode.CodeRuntimeUnavailable:
			t.Errorf("%s: %s", code, describe(r))
		default:
			h.failed.Add(1)
		}
	}
}
