package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

// A failed call's code, effect and cause reach the program and the host although its text is longer than the whole inbox, and so
// does what is known of a call whose reply the engine cannot read.
func TestLongErrorsOfTools(t *testing.T) {
	t.Parallel()
	diskFull := errors.New("disk full: " + strings.Repeat("é\n", 50_000))
	full := toolcatalog.DefineRaw(toolcatalog.Spec{Name: "full"}, func(context.Context, json.RawMessage) (any, error) {
		return nil, toolcatalog.InvalidInput(diskFull)
	})
	b := newBench(t, codemode.Options{MaxSnapshotBytes: 1024}, full)
	value(t, b.run(t.Context(), `return await full({}).catch((e) => [e.code, e.effectStatus, e.executionStarted, /^disk full/.test(e.message), / \[error truncated\]$/.test(e.message)])`),
		`["invalid_input","unknown",true,true,true]`)
	r := b.run(t.Context(), `await full({})`)
	call := (*toolcatalog.CallError)(nil)
	if !errors.Is(r.Err(), diskFull) || !errors.As(r.Err(), &call) || !strings.HasPrefix(r.Error, "Error: disk full") {
		t.Errorf("the program let out %.100s: %.100v", r.Error, r.Err())
	}

	small := newBench(t, codemode.Options{MemoryLimitBytes: 1 << 20, MaxOutputBytes: 10 << 20}, full)
	value(t, small.run(t.Context(), `
		const held = []; try { for (;;) held.push("x".repeat(50_000) + held.length) } catch {} held.length -= 1
		return await full({}).catch((e) => [e.code, e.effectStatus])`), `["invalid_input","unknown"]`)
}

// Whatever a program asks the host for may have had an effect, and its failure says so. Its own work and its timers have none.
func TestDispatched(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	for code, want := range map[string]bool{
		``:                        false,
		`text(1); console.log(2)`: false,
		`setTimeout(() => 1, 1)`:  false,
		`await new Promise((f) => setTimeout(f, 1))`: false,
		`echo.name + echo.description`:               false,
		`try { results.save(1n) } catch {}`:          false,
		`await results.load(5).catch(() => 1)`:       false, // no id
		`await echo(1)`:                              true,
		`echo(1)`:                                    false, // it fails before it makes its calls
		`await results.save(1)`:                      true,
		`results.save(1)`:                            true,
		`await results.load("x").catch(() => 1)`:     true,
		`await results.delete("x").catch(() => 1)`:   true,
		`await store("k", 1)`:                        true,
		`await load("k")`:                            true,
		`await catalog.search("echo")`:               true,
		`await echo.describe()`:                      true,
		`await skills.list()`:                        true,
	} {
		r := b.run(t.Context(), code+`; throw new Error("no")`)
		if r.Code != codemode.CodeInternal || r.BridgeDispatchStarted != want {
			t.Errorf("%s: %s, dispatched %t", code, describe(r), r.BridgeDispatchStarted)
		}
	}
	// A restart-safe program has not done what it was refused.
	r := b.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: `await results.save(1)`, RestartSafe: true})
	if r.Code != codemode.CodeInvalidInput || r.BridgeDispatchStarted || r.FailurePhase != codemode.PhaseInput {
		t.Errorf("refused: %s in phase %s, dispatched %t", describe(r), r.FailurePhase, r.BridgeDispatchStarted)
	}
}
