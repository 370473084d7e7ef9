package codemode_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/corpus"
	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/toolcatalog"
)

// delayed is a hook that makes every call take so long.
func delayed(by time.Duration) toolcatalog.Hook {
	return toolcatalog.Hook{Before: func(ctx context.Context, _ toolcatalog.Call) (json.RawMessage, error) {
		select {
		case <-time.After(by):
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
}

// yieldFirst makes a program yield before every tool call, without another line.
const yieldFirst = `for (const tool of catalog.all()) Object.defineProperty(globalThis, tool.callableName, ` +
	`{ value: new Proxy(tool, { async apply(call, _, input) { await yield_control(); return await call(...input) } }) }); `

// The ways in which a cell is parked at every tool call, and the cells that this makes other programs of.
var parkings = []struct {
	name    string
	delay   time.Duration
	prelude string
	except  map[string]string
}{
	{"in flight", codemode.DefaultTimeout + time.Second, "", races},  // parked at its deadline, resumed before the reply
	{"ready", codemode.DefaultTimeout - time.Millisecond, "", races}, // parked with the reply, too late to go on with it
	{"yielding", 0, yieldFirst, map[string]string{
		"194-arguments-are-copied": "changes the input before the yield is over",
		"219-norm-handles":         "looks for the tool behind the Proxy",
	}},
}

var races = map[string]string{"041-race-cleanup": "a call races with a timer"}

// finish waits until a cell has ended, and gives its result with all that it emitted, and the reasons for which it waited.
func finish(t *testing.T, e *codemode.Executor, r codemode.Result) (_ codemode.Result, reasons []codemode.Reason) {
	t.Helper()
	var emitted []codemode.Output
	for id := r.RunID; r.Status == codemode.StatusWaiting; {
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		if r.RunID != id {
			t.Errorf("the cell %s is %s now", id, r.RunID)
		}
		emitted, reasons = append(emitted, r.Output...), append(reasons, r.Reason)
		r = e.Wait(t.Context(), codemode.WaitInput{RunID: id})
	}
	r.Output = append(emitted, r.Output...)
	return r, reasons
}

// TestCellsParkedAtEveryCall: every program of testdata/cells gives what V8 gives if it is taken out of its VM and put into another one at
// every tool call.
func TestCellsParkedAtEveryCall(t *testing.T) {
	t.Parallel()
	cells, err := corpus.LoadCells(os.DirFS("../testdata/cells/cells"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parkings {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(t *testing.T, b *bubble) {
				catalog, err := toolcatalog.New(fixture.Tools(), &toolcatalog.Options{Hooks: []toolcatalog.Hook{delayed(p.delay)}})
				if err != nil {
					t.Fatal(err)
				}
				parks := 0
				for _, cell := range cells {
					if engineDifferences[cell.Number] != "" || p.except[cell.Name] != "" {
						continue
					}
					e := newExecutor(t, b.runtime, catalog, &codemode.ExecutorOptions{SessionID: "corpus", Store: codemode.NewMemoryStore()})
					result, reasons := finish(t, e, e.Exec(t.Context(), codemode.ExecInput{Title: cell.Title, Code: p.prelude + cell.Code}))
					if calls := result.Telemetry.CallCount; calls > 0 && len(reasons) == 0 {
						t.Errorf("%s: %d calls, and never parked", cell.Name, calls)
					}
					if err := cell.Check(outcome(t, result)); err != nil {
						t.Errorf("%s: parked %d times: %v", cell.Name, len(reasons), err)
					}
					parks += len(reasons)
				}
				t.Logf("parked %d times", parks)
			})
		})
	}
}

// TestScriptsParkedAtEveryCall: what the scripts guard holds if the cells are parked at every tool call.
func TestScriptsParkedAtEveryCall(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/script/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parkings {
		if p.delay == 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(t *testing.T, b *bubble) {
				parks := 0
				for _, file := range files {
					if name := filepath.Base(file); name == "timers.js" || strings.HasPrefix(name, "suspend_") {
						continue // how long a call takes matters there
					}
					chunks, err := readScript(file, string(must(os.ReadFile(file))))
					if err != nil {
						t.Fatal(err)
					}
					for _, c := range chunks {
						rec := new(fixture.Recorder)
						rec.Release()
						catalog := must(toolcatalog.New(testTools(rec), &toolcatalog.Options{Skills: testSkills, Hooks: []toolcatalog.Hook{delayed(p.delay)}}))
						e := newExecutor(t, b.runtime, catalog, &codemode.ExecutorOptions{SessionID: "script", Store: codemode.NewMemoryStore()})
						result, reasons := finish(t, e, (&testBench{e, rec}).run(t.Context(), c.code))
						for _, problem := range c.check(result, c.waiting, rec) {
							t.Errorf("%s:%d: parked %d times: %s", c.file, c.line, len(reasons), problem)
						}
						parks += len(reasons)
					}
				}
				t.Logf("parked %d times", parks)
			})
		})
	}
}
