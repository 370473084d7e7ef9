package codemode_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/fixture"
)

// The first write of a cell may be made although the store reports a failure: then another process may find the cell.
func TestDurableFirstWriteUnknown(t *testing.T) {
	t.Parallel()
	for name, reachable := range map[string]bool{"the store is reachable afterwards": true, "it is not, for a while": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubbles(t, func(t *testing.T) {
				cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
				first, second := newProcess(t, cells, rec), newProcess(t, cells, rec)
				first.cord.cutAfter.Store(1)
				first.cord.lost.Store(true)
				if reachable {
					first.cord.cutAfter.Store(0)
					var once atomic.Bool
					first.cord.after = func(operation string) error {
						if operation == "save" && once.CompareAndSwap(false, true) {
							return errCut
						}
						return nil
					}
				}
				r := first.run(t.Context(), `await yield_control("approve"); await mutate({ i: 1 }); await yield_control("more"); return "paid"`)
				if r.Status != codemode.StatusWaiting || (len(r.Warnings) == 0) != reachable {
					t.Fatalf("got %s, warnings %v", describe(r), r.Warnings)
				}
				if !reachable {
					if got := first.wait(t, r.RunID); !errors.Is(got.Err(), codemode.ErrCellStore) {
						t.Errorf("got %s", describe(got))
					}
					first.cord.cutAfter.Store(0)
				}
				r = first.wait(t, r.RunID)
				if r.Status != codemode.StatusWaiting {
					t.Fatalf("got %s", describe(r))
				}
				value(t, second.wait(t, r.RunID), `"paid"`)
				if got := first.wait(t, r.RunID); !errors.Is(got.Err(), codemode.ErrNotWaiting) {
					t.Errorf("got %s", describe(got))
				}
				if got := rec.Mutations(); len(got) != 1 {
					t.Errorf("effects %v", got)
				}
			})
		})
	}
}

// What a program was told of a call holds, whichever state of it is gone on with.
func TestDurableFailedWriteIsNotForgotten(t *testing.T) {
	t.Parallel()
	inBubbles(t, func(t *testing.T) {
		cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
		p := newProcess(t, cells, rec)
		r := p.park(t, `
			await yield_control("start");
			const slow = readonly({ ms: 8000 });
			await readonly({ ms: 10 });
			const said = await mutate({ i: 1 }).then(() => "paid", (e) => "not paid: " + e.effectStatus);
			text(said);
			await yield_control("second");
			await slow;
			return said`)
		var failing atomic.Bool
		p.cord.fail = func(operation string) error {
			if failing.Load() && operation == "save" {
				return errors.New("disk full")
			}
			return nil
		}
		time.AfterFunc(5*time.Millisecond, func() { failing.Store(true) })
		r = p.Wait(t.Context(), codemode.WaitInput{RunID: r.RunID})
		if len(r.Output) != 1 || r.Output[0].Text != "not paid: none" {
			t.Errorf("got %s, output %v", describe(r), r.Output)
		}
		failing.Store(false)
		time.Sleep(20 * time.Second)
		r, _ = p.finish(t, p.wait(t, r.RunID))
		value(t, r, `"not paid: none"`)
		if got := rec.Mutations(); len(got) != 0 {
			t.Errorf("effects %v", got)
		}
	})
}

// A process that has lost its lease does not complete the cell: its session is committed once.
func TestDurableCompletesOnce(t *testing.T) {
	t.Parallel()
	inBubbles(t, func(t *testing.T) {
		cells, session, rec := codemode.NewMemoryStore(), codemode.NewMemoryStore(), new(fixture.Recorder)
		with := func(o *codemode.ExecutorOptions) { o.Store = session }
		first, second := newProcess(t, cells, rec, with), newProcess(t, cells, rec, with)
		r := first.park(t, `await yield_control(); await new Promise((r) => setTimeout(r, 8000)); await store("n", (await load("n") ?? 0) + 1); return "done"`)
		stalled := first.cord.stallable()
		late := make(chan codemode.Result, 1)
		go func() { late <- first.Wait(t.Context(), codemode.WaitInput{RunID: r.RunID}) }()
		synctest.Wait()
		stalled.Store(true)
		time.Sleep(6 * time.Second)
		value(t, second.wait(t, r.RunID), `"done"`)
		if got := <-late; got.Code != codemode.CodeAborted || !errors.Is(got.Err(), codemode.ErrTakenOver) {
			t.Errorf("the first: %s", describe(got))
		}
		value(t, second.run(t.Context(), `return await load("n")`), `1`)
	})
}

// Who cannot run a cell leaves it to who can.
func TestDurableLeftToOthers(t *testing.T) {
	t.Parallel()
	cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
	p := newProcess(t, cells, rec)
	r := p.park(t, `const s = []; for (let i = 0; i < 60000; i++) s.push({ i }); await yield_control(); return s.length`)
	small, err := codemode.NewRuntime(t.Context(), &codemode.Options{MemoryLimitBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = small.Close() })
	opts := codemode.ExecutorOptions{RunID: "run", SessionID: "session", Cells: cells}
	got := newExecutor(t, small, p.catalog, &opts).Wait(t.Context(), codemode.WaitInput{RunID: r.RunID})
	if got.Code != codemode.CodeInvalidInput || !errors.Is(got.Err(), codemode.ErrUnusableCell) {
		t.Errorf("with less memory: %s", describe(got))
	}
	headless := opts
	headless.Headless = true
	got = newExecutor(t, p.runtime, p.catalog, &headless).Wait(t.Context(), codemode.WaitInput{RunID: r.RunID})
	if got.Code != codemode.CodeInvalidInput {
		t.Errorf("headless: %s", describe(got))
	}
	value(t, p.wait(t, r.RunID), `60000`)

	// While its calls run in one executor, another one of the same run is told to wait again.
	r = p.run(t.Context(), `const p = gate({}); await yield_control(); return (await p).released`)
	other := newExecutor(t, p.runtime, p.catalog, &opts)
	if got := other.Wait(t.Context(), codemode.WaitInput{RunID: r.RunID}); !errors.Is(got.Err(), codemode.ErrResuming) {
		t.Errorf("another executor: %s", describe(got))
	}
	rec.Release()
	r, _ = p.finish(t, p.wait(t, r.RunID))
	value(t, r, `true`)
}

// Output that is cut, replies and inputs of any form: what is parked without a warning can be resumed.
func TestDurableAnyContent(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"cut output": `text("one"); await yield_control(); text("x".repeat(100_000)); await readonly({ ms: 1 }); await yield_control(); return "done"`,
		"characters of HTML": `const big = echo("<".repeat(3 << 20)); await yield_control(); const said = await mutate({ i: 1 }).then(() => "done", (e) => e.message);
			return (await big).length === 3 << 20 ? said : "cut"`,
		"half surrogates": `const p = echo("\ud83d\u0000\u2028"); text("\ud83d\u2028"); await yield_control("\udc00"); return (await p).length === 3 ? "done" : "no"`,
		"deep":            `let v = 0; for (let i = 0; i < 8000; i++) v = [v]; const p = slow({ ms: 5, v }).catch((e) => e.code); await yield_control(v); await p; return "done"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
			first, second := newProcess(t, cells, rec), newProcess(t, cells, rec)
			r, _ := second.finish(t, first.park(t, code))
			value(t, r, `"done"`)
		})
	}
	cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
	p := newProcess(t, cells, rec)
	r := p.run(t.Context(), `let v = 0; for (let i = 0; i < 9500; i++) v = [v]; await yield_control(v); return "done"`)
	if r.Status != codemode.StatusWaiting || len(r.Warnings) != 1 {
		t.Fatalf("too deep to be kept: %s, warnings %v", describe(r), r.Warnings)
	}
	value(t, p.wait(t, r.RunID), `"done"`)
}

// Records that a right checksum vouches for, and that make no sense all the same, are refused and kept.
func TestDurableNonsense(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
	p := newProcess(t, cells, rec)
	r := p.park(t, `readonly({ ms: 0 }); setTimeout(() => {}, 60000); text("a"); await yield_control(); return 1`)
	time.Sleep(100 * time.Millisecond) // the call has ended, so that the cell is in the store only
	whole, err := cells.LoadCell(t.Context(), r.RunID)
	if err != nil {
		t.Fatal(err)
	}
	const head = 16 + sha256.Size + 4
	size := int(binary.LittleEndian.Uint32(whole.Data[head-4:]))
	for name, change := range map[string]func(d m){
		"kind of a timer":      func(d m) { d["timers"].([]any)[0].(m)["kind"] = 99 },
		"negative kind":        func(d m) { d["timers"].([]any)[0].(m)["kind"] = -1 },
		"a timer in flight":    func(d m) { d["flying"] = []any{m{"kind": 1, "tool": 99}} },
		"a yield in flight":    func(d m) { d["flying"] = []any{m{"kind": 2, "tool": -5}} },
		"a yield in the queue": func(d m) { d["queue"] = []any{m{"kind": 2, "tool": 99}} },
		"a call as a yield":    func(d m) { d["yields"] = []any{m{"n": 1}} },
		"a tool":               func(d m) { d["queue"] = []any{m{"tool": 7}} },
		"thousands of calls":   func(d m) { d["flying"] = slices.Repeat([]any{m{"n": 1}}, 3000) },
		"sizes of the output":  func(d m) { d["output"].(m)["size"] = -5 },
		"ends of the output":   func(d m) { d["output"].(m)["ends"] = []int{5, 3} },
		"output that is none": func(d m) {
			d["output"].(m)["array"] = strings.Repeat("\n", 100)
			d["output"].(m)["ends"] = []int{40, 100}
		},
		"a receipt":           func(d m) { d["output"].(m)["entries"] = 7 },
		"a value":             func(d m) { d["settled"], d["value"], d["size"] = true, "junk", 4 },
		"the size of a value": func(d m) { d["settled"], d["value"], d["size"] = true, `{"a`, -5 },
		"lines":               func(d m) { d["lines"] = -1 << 60 },
	} {
		var d m
		if err := json.Unmarshal(whole.Data[head:head+size], &d); err != nil {
			t.Fatal(err)
		}
		change(d)
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		data := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
		data = append(append(data, text...), whole.Data[head+size:]...)
		sum := sha256.Sum256(data)
		now, err := cells.LoadCell(t.Context(), r.RunID)
		if err != nil {
			t.Fatal(err)
		}
		now.Data = slices.Concat(whole.Data[:16], sum[:], data)
		if err := cells.SaveCell(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := p.wait(t, r.RunID); !errors.Is(got.Err(), codemode.ErrUnusableCell) {
				t.Errorf("%s: %s", name, describe(got))
			}
		}
		if kept, err := cells.LoadCell(t.Context(), r.RunID); err != nil || !slices.Equal(kept.Data, now.Data) {
			t.Errorf("%s: it is not there any more: %v", name, err)
		}
	}
}

// A cell whose lease ends late in a call of Wait still has all of its time.
func TestDurableTimeAfterLooking(t *testing.T) {
	t.Parallel()
	inBubbles(t, func(t *testing.T) {
		for i := range 10 {
			cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
			first, second := newProcess(t, cells, rec), newProcess(t, cells, rec)
			r := first.park(t, fmt.Sprintf(`const p = readonly({ ms: 60000 }).catch(() => 0); await yield_control(); await new Promise((r) => setTimeout(r, 9000)); return %d`, i))
			time.Sleep(time.Duration(i) * 300 * time.Millisecond)
			first.cord.cut()
			if got := second.wait(t, r.RunID); got.Status == codemode.StatusFailed && !errors.Is(got.Err(), codemode.ErrResuming) {
				t.Errorf("%d: %s", i, describe(got))
			}
		}
	})
}

// Whoever closes, and how many do at once: each waits for the end, and leases are given back.
func TestDurableCloseTwice(t *testing.T) {
	t.Parallel()
	for range 5 {
		cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
		p := newProcess(t, cells, rec)
		var ids []string
		for range 8 {
			ids = append(ids, p.run(t.Context(), `gate({}); await yield_control(); return 1`).RunID)
		}
		var closers sync.WaitGroup
		for i := range 4 {
			closers.Go(func() {
				if i%2 == 0 {
					_ = p.Close()
				} else {
					_ = p.runtime.Close()
				}
				for _, id := range ids {
					if kept, err := cells.LoadCell(t.Context(), id); err != nil || !kept.Leased.IsZero() {
						t.Errorf("after Close: leased until %v, %v", kept.Leased, err)
					}
				}
			})
		}
		closers.Wait()
	}
}

// What tools say when they fail does not make a record larger than it may be.
func TestDurableLargeErrors(t *testing.T) {
	t.Parallel()
	cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
	p := newProcess(t, cells, rec)
	r := p.park(t, `for (let i = 0; i < 16; i++) await fail({ message: "e".repeat(1e6) }).catch(() => {}); await yield_control(); return "done"`)
	if kept, err := cells.LoadCell(t.Context(), r.RunID); err != nil || len(kept.Data) > 1<<20 {
		t.Errorf("the store has %d bytes: %v", len(kept.Data), err)
	}
	value(t, p.wait(t, r.RunID), `"done"`)
}

// An id that never was, or is another's, is told so at once, however many cells wait or run.
func TestDurableUnknownWhenFull(t *testing.T) {
	t.Parallel()
	inBubbles(t, func(t *testing.T) {
		cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
		rt, err := codemode.NewRuntime(t.Context(), &codemode.Options{MaxSuspended: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = rt.Close() })
		foreign := newProcess(t, cells, rec, func(o *codemode.ExecutorOptions) { o.SessionID = "other" }).park(t, `await yield_control()`)
		b := testBench{newExecutor(t, rt, newTestCatalog(t, rec), &codemode.ExecutorOptions{RunID: "run", SessionID: "session", Cells: cells}), rec}
		ask := func() {
			t.Helper()
			began := time.Now()
			for id, want := range map[string]error{"lucky-name": codemode.ErrNotWaiting, foreign.RunID: codemode.ErrForeignCell} {
				if got := b.Wait(t.Context(), codemode.WaitInput{RunID: id}); !errors.Is(got.Err(), want) {
					t.Errorf("%s: %s", id, describe(got))
				}
			}
			if took := time.Since(began); took > 0 {
				t.Errorf("it took %v", took)
			}
		}
		running := make(chan codemode.Result, 1)
		go func() { running <- b.run(t.Context(), `await gate({})`) }()
		synctest.Wait()
		ask()
		if r := <-running; r.Status != codemode.StatusWaiting {
			t.Errorf("got %s", describe(r))
		}
		ask()
		rec.Release()
	})
}
