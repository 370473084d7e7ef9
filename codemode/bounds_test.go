package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/toolcatalog"
)

// TestHostWorkIsBounded runs cells that make the host work rather than themselves. Each ends, soon after its deadline, with
// little of the host's memory.
func TestHostWorkIsBounded(t *testing.T) {
	const timeout, patience = 300 * time.Millisecond, 3 * time.Second
	for name, code := range map[string]string{
		"a value that repeats a string":       `const s = "x".repeat(1e6), a = []; for (let i = 0; i < 1e5; i++) a.push(s); return a`,
		"output that does":                    `const s = "x".repeat(1e6), a = []; for (let i = 0; i < 1e5; i++) a.push(s); json(a)`,
		"an input that does":                  `const s = "x".repeat(1e6), a = []; for (let i = 0; i < 1e5; i++) a.push(s); await echo({ a })`,
		"a value that repeats an array":       `const f = Array.from({ length: 1e5 }, (_, i) => i + 0.5), a = []; for (let i = 0; i < 8000; i++) a.push(f); return a`,
		"a value that repeats a long key":     `const k = "k".repeat(1e6), a = []; for (let i = 0; i < 8000; i++) a.push({ [k]: 1 }); return a`,
		"properties that write nothing":       `const o = {}; for (let i = 0; i < 5e4; i++) o["p" + i] = undefined; const a = []; for (let i = 0; i < 8e4; i++) a.push(o); return a`,
		"text that is encoded twice":          `text(["\u0001".repeat(20e6)])`,
		"large texts for ever":                `const s = "x".repeat(2e7); for (;;) text(s)`,
		"large JSON for ever":                 `const s = ["x".repeat(2e6)]; for (;;) json(s)`,
		"a message of many characters":        `throw new Error("€".repeat(8e6))`,
		"a rejection with such a message":     `Promise.reject(1); Promise.reject(new Error("€".repeat(8e6))); await null`,
		"a value that needs escapes":          `return "\u0001".repeat(25e6)`,
		"an input that needs escapes":         `const s = "\u0001".repeat(5e7); for (;;) { try { await echo({ s }) } catch {} }`,
		"many index keys":                     `const o = {}; for (let i = 0; i < 3e5; i++) o[(i * 245489) % 1000003 + 5e8] = undefined; for (;;) json(o)`,
		"inputs of calls in flight":           `const s = "x".repeat(20e6); for (let i = 0; i < 100; i++) { gate({ s }).catch(() => {}); await new Promise((r) => setTimeout(r, 0)); }`,
		"a console message of a large object": `const a = Array(1e6).fill({ a: "x".repeat(1e5) }); for (;;) console.log(a)`,
		"a name that many tools could have":   `/* ` + strings.Repeat("echo rows blob ", 100_000) + ` */ return 1`,
		"a program that is slow to scan":      strings.Repeat("{", 400) + strings.Repeat("v1;v2;v3;", 12_000) + strings.Repeat("}", 400) + `; import('x')`,
		"timers that call the host for ever":  `const s = "x".repeat(1e6); (function f() { text(s); setTimeout(f, 0); })()`,
		"calls that call the host for ever":   `const s = "x".repeat(1e6); for (;;) { text(s); await echo({}); }`,
		"a deep value, again and again":       `let v = 1; for (let i = 0; i < 240; i++) v = [v, v]; return v`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, codemode.Options{Timeout: timeout})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			r := b.run(t.Context(), code)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			b.rec.Release()
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			if took > timeout+patience {
				t.Errorf("took %v: %s", took, describe(r))
			}
			if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 1<<30 {
				t.Errorf("the host's heap grew by %d MiB", grown>>20)
			}
			b.works(t)
		})
	}
}

// TestCallsKeepTheirOutcome makes calls in the middle of the controller's own work on another.
func TestCallsKeepTheirOutcome(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	r := b.run(t.Context(), `
		let armed = false, p;
		Error.stackTraceLimit = { valueOf() { if (armed) { armed = false; p = mutate({ i: 7 }); } return 10; } };
		const a = fail({ message: "A failed" });
		let aState = "pending";
		a.then(() => aState = "ok", () => aState = "failed");
		await null;
		armed = true;
		await new Promise((r) => setTimeout(r, 50));
		let b = "ok";
		try { await p; } catch (e) { b = "B failed with: " + e.message; }
		return { aState, b };`)
	if string(r.Value) != `{"aState":"failed","b":"ok"}` {
		t.Errorf("got %s", describe(r))
	}
}

// TestCallsThatThrowDidNotRun: where a call throws or rejects at once, for want of stack or memory, its tool was not called.
func TestCallsThatThrowDidNotRun(t *testing.T) {
	t.Parallel()
	const deep = `
			const threw = new Uint8Array(100), calls = new Array(100).fill(null); let i = 0;
			const f = () => { try { f(); } catch {} if (i < 100) { const n = i++; threw[n] = 1; calls[n] = mutate({ i: n }); threw[n] = 0; } };
			f();
			const settled = await Promise.allSettled(calls);
			text([...threw.keys()].filter((n) => threw[n] || settled[n].status === "rejected").join());`
	for name, code := range map[string]string{
		"stack": deep,
		// Of later calls no stack is taken, so that other things run out of it first.
		"stack of later calls": `for (let i = 0; i < 100; i++) await echo({});` + deep,
		"memory": `const keep = []; const threw = new Uint8Array(20);
			try { for (let n = 1 << 22; n > 64; ) { try { keep.push(new Uint8Array(n)); } catch { n >>= 1; } } } catch {}
			let chain = null;
			try { for (;;) chain = { chain }; } catch {}
			for (let n = 0; n < 20; n++) { try { mutate({ i: n }); } catch { threw[n] = 1; } }
			chain = null;
			keep.length = 0;
			text([...threw.keys()].filter((n) => threw[n]).join());`,
	} {
		rec := new(fixture.Recorder)
		rt := sharedRuntime(t, codemode.Options{MemoryLimitBytes: 8 << 20, MaxPendingToolCalls: 128})
		ex := newExecutor(t, rt, newTestCatalog(t, rec))
		r := ex.Exec(t.Context(), codemode.ExecInput{Title: name, Code: code})
		if len(r.Output) == 0 || r.Output[0].Text == "" {
			t.Errorf("%s: no call failed: the test looks at nothing: %s", name, describe(r))
			continue
		}
		if r.Status != codemode.StatusCompleted {
			t.Errorf("%s: a call that failed and was handled fails the cell: %s", name, describe(r))
		}
		ran := map[string]bool{}
		for _, call := range rec.Mutations() {
			ran[fmt.Sprint(call)] = true
		}
		for n := range strings.SplitSeq(r.Output[0].Text, ",") {
			if n != "" && ran[n] {
				t.Errorf("%s: call %s failed and ran", name, n)
			}
		}
	}
}

// TestAwaitResultsTimers: a timer is the cell's own time, in a cell that awaits its results, too.
func TestAwaitResultsTimers(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{Timeout: 200 * time.Millisecond})
	r := b.Exec(t.Context(), codemode.ExecInput{Title: "t", AwaitResults: true,
		Code: `await Promise.all([gate({}), new Promise((r) => setTimeout(r, 600000))])`})
	b.rec.Release()
	if r.Code != codemode.CodeTimeout {
		t.Errorf("got %s", describe(r))
	}
}

// TestDeepResults: what is nested deeper than encoding/json goes is refused, and the result can still be marshalled.
func TestDeepResults(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	for _, code := range []string{
		`let v = 1; for (let i = 0; i < 9995; i++) v = [v]; return v`,
		`let v = 1; for (let i = 0; i < 9998; i++) v = { v }; json(v)`,
		`let v = 1; for (let i = 0; i < 12000; i++) v = [v]; text(v); return v`,
	} {
		r := b.run(t.Context(), code)
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%s: %v", code, err)
		}
		if !json.Valid([]byte(r.Text())) {
			t.Errorf("%s: not JSON", code)
		}
		b.works(t)
	}
}

// TestEscapesCostNothing: a text with an escape, as models write them, does not make a cell pay for the catalog, and a
// name spelled with one is found.
func TestEscapesCostNothing(t *testing.T) {
	t.Parallel()
	tools := []*toolcatalog.Tool{}
	for i := range 5000 {
		tools = append(tools, toolcatalog.Define(toolcatalog.Spec{Name: fmt.Sprintf("tool_%d", i)},
			func(context.Context, struct{}) (int, error) { return i, nil }))
	}
	catalog, err := toolcatalog.New(tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	ex := newExecutor(t, sharedRuntime(t, codemode.Options{MemoryLimitBytes: 1 << 20}), catalog)
	r := ex.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `return ["\u20ac", await \u0074ool_7({}), typeof globalThis["tool" + "_8"]]`})
	if string(r.Value) != `["€",7,"undefined"]` {
		t.Errorf("got %s", describe(r))
	}
}

// TestToolsWithNamesOfTheLanguage: in a large catalog, too, a tool is there by any name that is spelled out.
func TestToolsWithNamesOfTheLanguage(t *testing.T) {
	t.Parallel()
	var tools []*toolcatalog.Tool
	define := func(name string, value int) {
		tools = append(tools, toolcatalog.Define(toolcatalog.Spec{Name: name}, func(context.Context, struct{}) (int, error) { return value, nil }))
	}
	for i := range 300 {
		define(fmt.Sprintf("tool_%d", i), i)
	}
	for _, name := range []string{"constructor", "getPrototypeOf", "AsyncFunction", "hasOwnProperty"} {
		define(name, 77)
	}
	catalog, err := toolcatalog.New(tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	ex := newExecutor(t, sharedRuntime(t, codemode.Options{}), catalog)
	for _, name := range []string{"constructor", "getPrototypeOf", "AsyncFunction", "hasOwnProperty"} {
		if r := ex.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: "return await " + name + "({})"}); string(r.Value) != "77" {
			t.Errorf("%s: %s", name, describe(r))
		}
	}
}

// TestManyRejections leaves more rejected promises than the host keeps track of.
func TestManyRejections(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	r := b.run(t.Context(), `const l = []; for (let i = 0; i < 1500; i++) l.push(Promise.reject(i)); for (let i = 0; i < 1024; i++) l[i].catch(() => {});`)
	if r.Code != codemode.CodeInternal || !strings.Contains(r.Error, "476 unhandled rejections") {
		t.Errorf("got %s", describe(r))
	}
}

// TestReplyThatDoesNotFit: a result for which the cell has no memory left is a rejection like any other.
func TestReplyThatDoesNotFit(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{MemoryLimitBytes: 16 << 20})
	r := b.run(t.Context(), `let keep = new Uint8Array(14e6); try { await blob({ bytes: 9e6 }); return "fits"; } catch (e) { keep = null; return e.message.includes("too large"); }`)
	if string(r.Value) != "true" {
		t.Errorf("got %s", describe(r))
	}
}

// TestTimersEndWithTheirCell: a timer of a failed cell does not fire in the next, on the same VM or another.
func TestTimersEndWithTheirCell(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	if r := b.run(t.Context(), `setTimeout(() => text("late"), 5); throw new Error("m")`); r.Status != codemode.StatusFailed {
		t.Errorf("got %s", describe(r))
	}
	r := b.run(t.Context(), `await new Promise((r) => setTimeout(r, 20)); return 1`)
	if string(r.Value) != "1" || len(r.Output) != 0 {
		t.Errorf("the next cell: %s", describe(r))
	}
}

// TestTimersOfOtherNumbers clears a timer by a number that is its id and is kept in another form.
func TestTimersOfOtherNumbers(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	r := b.run(t.Context(), `const id = setTimeout(() => text("fired"), 5); clearTimeout(id * 0.5 + id * 0.5); await new Promise((r) => setTimeout(r, 20)); return 1`)
	if string(r.Value) != "1" || len(r.Output) != 0 {
		t.Errorf("got %s", describe(r))
	}
}

type upstreamError struct{ status int }

func (e *upstreamError) Error() string { return fmt.Sprintf("upstream answered %d", e.status) }

// TestToolErrorsKeepTheirCause finds a tool's own Go error behind the cell that let it out.
func TestToolErrorsKeepTheirCause(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{}, toolcatalog.Define(toolcatalog.Spec{Name: "upstream"}, func(context.Context, struct{}) (int, error) {
		return 0, fmt.Errorf("wrapped: %w", &upstreamError{503})
	}))
	for code, found := range map[string]bool{
		`await upstream({})`: true,
		`for (let i = 0; i < 150; i++) await echo({}); await upstream({})`: true,
		`try { await upstream({}) } catch (e) { throw e }`:                 true,
		`upstream({}); return 1`:                                           true,
		`try { await upstream({}) } catch (e) { throw new Error("own") }`:  false,
	} {
		r := b.run(t.Context(), code)
		var upstream *upstreamError
		var call *toolcatalog.CallError
		if got := errors.As(r.Err(), &upstream) && upstream.status == 503 && errors.As(r.Err(), &call); got != found {
			t.Errorf("%s: found %t: %v", code, got, r.Err())
		}
		if found && !strings.Contains(r.Error, "cell.js:1") && !strings.Contains(r.Error, "at upstream (a tool)") {
			t.Errorf("%s: no place in %q", code, r.Error)
		}
	}
}

// TestStuckToolGivesTheVMBack: a tool that ignores its context keeps its goroutine, and nothing else.
func TestStuckToolGivesTheVMBack(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := newBench(t, codemode.Options{Timeout: 300 * time.Millisecond, MaxSnapshotBytes: 64 << 10}, toolcatalog.Define(toolcatalog.Spec{Name: "deaf"},
		func(context.Context, struct{}) (int, error) { <-release; return 1, nil }))
	for range 3 {
		if r := b.run(t.Context(), `const a = Array.from({ length: 2e4 }, Math.random); await deaf({}); return a.length`); r.Code != codemode.CodeSnapshotLimitExceeded {
			t.Errorf("got %s", describe(r))
		}
	}
	if r := b.run(t.Context(), `await deaf({})`); r.Status != codemode.StatusWaiting {
		t.Errorf("got %s", describe(r))
	}
	b.works(t)
	close(release)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
