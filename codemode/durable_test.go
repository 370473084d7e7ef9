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
	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/toolcatalog"
)

// cord is what connects a process with its store. When it is cut, that is the end of the process as far as the store knows.
type cord struct {
	codemode.CellStore
	operations atomic.Int64
	cutAfter   atomic.Int64                 // the last operation that is made; 0: none is the last
	lost       atomic.Bool                  // the last operation is made, and its answer is lost
	fail       func(operation string) error // instead of the operation
	after      func(operation string) error // in place of its answer
}

var errCut = errors.New("the process is dead")

func (c *cord) do(operation string, f func() error) error {
	n := c.operations.Add(1)
	most := c.cutAfter.Load()
	if most != 0 && n > most {
		return errCut
	}
	if c.fail != nil {
		if err := c.fail(operation); err != nil {
			return err
		}
	}
	err := f()
	if n == most && c.lost.Load() {
		return errCut
	}
	if err == nil && c.after != nil {
		err = c.after(operation)
	}
	return err
}

// stallable makes every operation fail for as long as the result is true.
func (c *cord) stallable() *atomic.Bool {
	stalled := new(atomic.Bool)
	c.fail = func(string) error {
		if stalled.Load() {
			return errors.New("no connection")
		}
		return nil
	}
	return stalled
}

func (c *cord) cut() { c.cutAfter.CompareAndSwap(0, max(1, c.operations.Load())) }

func (c *cord) LoadCell(ctx context.Context, id string) (cell store.Cell, err error) {
	err = c.do("load", func() (err error) { cell, err = c.CellStore.LoadCell(ctx, id); return err })
	return cell, err
}

func (c *cord) LeaseCell(ctx context.Context, id string, until time.Time) (cell store.Cell, err error) {
	err = c.do("lease", func() (err error) { cell, err = c.CellStore.LeaseCell(ctx, id, until); return err })
	return cell, err
}

func (c *cord) SaveCell(ctx context.Context, cell store.Cell) error {
	return c.do("save", func() error { return c.CellStore.SaveCell(ctx, cell) })
}

func (c *cord) AddReply(ctx context.Context, id string, fence int64, reply store.Reply) error {
	return c.do("reply", func() error { return c.CellStore.AddReply(ctx, id, fence, reply) })
}

func (c *cord) RenewLease(ctx context.Context, id string, fence int64, until time.Time) error {
	return c.do("renew", func() error { return c.CellStore.RenewLease(ctx, id, fence, until) })
}

func (c *cord) DeleteCell(ctx context.Context, id string, fence int64) error {
	return c.do("delete", func() error { return c.CellStore.DeleteCell(ctx, id, fence) })
}

// process stands for one: a runtime with an executor of its own, over a store that it shares with others.
type process struct {
	testBench
	cord    *cord
	runtime *codemode.Runtime
	catalog *toolcatalog.Catalog
}

// newProcess makes a process. Its tools are those of newTestCatalog, and two that take their time: readonly, which is
// ReplaySafe, and linger, which is not.
func newProcess(t *testing.T, cells codemode.CellStore, rec *fixture.Recorder, change ...func(*codemode.ExecutorOptions)) *process {
	t.Helper()
	rt, err := codemode.NewRuntime(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	cord := &cord{CellStore: cells}
	opts := &codemode.ExecutorOptions{RunID: "run", SessionID: "session", Cells: cord}
	for _, c := range change {
		c(opts)
	}
	readonly := toolcatalog.Define(toolcatalog.Spec{Name: "readonly", ReplaySafe: true, Effect: toolcatalog.EffectRead},
		func(ctx context.Context, in struct {
			MS int `json:"ms"`
		}) (int, error) {
			reads.Add(1)
			select {
			case <-time.After(time.Duration(in.MS) * time.Millisecond):
				return in.MS, nil
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			}
		})
	linger := toolcatalog.Define(toolcatalog.Spec{Name: "linger", Effect: toolcatalog.EffectMutate},
		func(ctx context.Context, in struct {
			MS int `json:"ms"`
		}) (int, error) {
			lingers.Add(1)
			select {
			case <-time.After(time.Duration(in.MS) * time.Millisecond):
				return in.MS, nil
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			}
		})
	catalog := newTestCatalog(t, rec, readonly, linger)
	return &process{testBench{newExecutor(t, rt, catalog, opts), rec}, cord, rt, catalog}
}

var reads, lingers atomic.Int64

func (p *process) wait(t *testing.T, id string) codemode.Result {
	t.Helper()
	r := p.Wait(t.Context(), codemode.WaitInput{RunID: id})
	checkResult(t, r, codemode.DefaultMaxOutputBytes)
	return r
}

// finish waits until the cell has ended.
func (p *process) finish(t *testing.T, r codemode.Result) (codemode.Result, []codemode.Output) {
	t.Helper()
	all := slices.Clone(r.Output)
	for n := 0; r.Status == codemode.StatusWaiting; n++ {
		if n == 50 {
			t.Fatalf("it waits for ever: %+v", r)
		}
		r = p.wait(t, r.RunID)
		all = append(all, r.Output...)
	}
	return r, all
}

func (p *process) park(t *testing.T, code string) codemode.Result {
	t.Helper()
	r := p.run(t.Context(), code)
	checkResult(t, r, codemode.DefaultMaxOutputBytes)
	if r.Status != codemode.StatusWaiting {
		t.Fatalf("got %s", describe(r))
	}
	return r
}

func inBubbles(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// A waiting cell outlives its process whole, and is gone when it has ended.
func TestDurableCell(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *process){
		"crash": func(p *process) { p.cord.cut() },
		"close": func(p *process) { _ = p.Close() },
		"alive": func(*process) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubbles(t, func(t *testing.T) {
				cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
				first, second := newProcess(t, cells, rec), newProcess(t, cells, rec)
				r := first.park(t, `
					const m = new Map([["a", { n: 1 }]]), bytes = new Uint8Array([1, 2, 3]);
					function* count() { let i = 0; for (;;) yield i++; }
					const counter = count(); counter.next();
					await mutate({ i: 1 });
					await store("key", "kept");
					const failed = await fail({ message: "gone" }).catch((e) => e);
					text("one");
					const { reason } = await yield_control({ for: "approval" });
					text("two");
					await mutate({ i: 2 });
					m.get("a").n += bytes[2];
					if (reason.for === "throw") throw failed;
					return [reason, m.get("a").n, counter.next().value, await load("key"), failed.message, failed.code];`)
				if len(r.Output) != 1 || r.Output[0].Text != "one" || r.Reason != codemode.ReasonYield {
					t.Errorf("got %+v", r)
				}
				end(first)
				r = second.wait(t, r.RunID)
				value(t, r, `[{"for":"approval"},4,1,"kept","gone","tool_error"]`)
				if len(r.Output) != 1 || r.Output[0].Text != "two" {
					t.Errorf("output %+v", r.Output)
				}
				if got := rec.Mutations(); !slices.Equal(got, []int64{1, 2}) {
					t.Errorf("effects %v", got)
				}
			})
		})
	}
}

// A call in flight when the process dies: see package comment.
func TestDurableCallsInFlight(t *testing.T) {
	t.Parallel()
	inBubbles(t, func(t *testing.T) {
		cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
		first, second := newProcess(t, cells, rec), newProcess(t, cells, rec)
		before := reads.Load()
		lingers.Store(0)
		r := first.park(t, `
			const say = (e) => [e.message.includes("look at the state"), e.code, e.effectStatus, e.executionStarted];
			return await Promise.all([linger({ ms: 15000 }), linger({ ms: 40000 }).catch(say), readonly({ ms: 34000 })]);`)
		if len(r.PendingToolCalls) != 3 {
			t.Errorf("pending %v", r.PendingToolCalls)
		}
		if r := second.wait(t, r.RunID); !errors.Is(r.Err(), codemode.ErrResuming) {
			t.Errorf("while the first process has the calls: %s", describe(r))
		}
		time.Sleep(codemode.DefaultTimeout) // the first call has ended meanwhile
		first.cord.cut()
		time.Sleep(codemode.DefaultCellLease)
		r = second.wait(t, r.RunID)
		if r.Status != codemode.StatusWaiting || len(r.PendingToolCalls) != 1 || r.PendingToolCalls[0].ID != "bridge:callValue:3" {
			t.Fatalf("got %s, pending %v", describe(r), r.PendingToolCalls)
		}
		r, _ = second.finish(t, r)
		value(t, r, `[15000,[true,"tool_error","unknown",true],34000]`)
		if lingers.Load() != 2 || reads.Load()-before != 2 {
			t.Errorf("%d calls of linger, %d of readonly", lingers.Load(), reads.Load()-before)
		}
		if r := first.wait(t, r.RunID); r.Code != codemode.CodeInvalidInput {
			t.Errorf("the dead process: %s", describe(r))
		}
	})
}

// TestDurableCutAnywhere cuts the process that resumes a cell after each of its operations on the store, with that operation's
// answer and without it. Another one goes on. No effect happens twice, none is missing that the program was told of, and the
// program always ends.
func TestDurableCutAnywhere(t *testing.T) {
	t.Parallel()
	const code = `
		const said = [];
		await yield_control();
		const act = async (i) => { try { said.push((await mutate({ i })).i); } catch (e) { said.push(e.effectStatus + i); } };
		await act(1);
		text("after 1");
		await Promise.all([act(2), readonly({ ms: 3 }), act(3)]);
		await store("said", said.length);
		await yield_control();
		await new Promise((r) => setTimeout(r, 5));
		await act(4);
		return said.sort();`
	for cutAfter := int64(1); ; cutAfter++ {
		whole := false
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d lost %t", cutAfter, lost), func(t *testing.T) {
				inBubbles(t, func(t *testing.T) {
					cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
					first, second, third := newProcess(t, cells, rec), newProcess(t, cells, rec), newProcess(t, cells, rec)
					r := first.park(t, code)
					_ = first.Close()
					second.cord.cutAfter.Store(cutAfter)
					second.cord.lost.Store(lost)
					ended, cancel := context.WithCancel(t.Context())
					result := codemode.Result{Status: codemode.StatusWaiting, RunID: r.RunID}
					for result.Status == codemode.StatusWaiting && second.cord.operations.Load() < cutAfter {
						result = second.Wait(ended, codemode.WaitInput{RunID: r.RunID})
					}
					cancel()
					if whole = second.cord.operations.Load() < cutAfter; whole {
						value(t, result, `[1,2,3,4]`)
						return
					}
					time.Sleep(codemode.DefaultCellLease)
					done := rec.Mutations()
					result = third.wait(t, r.RunID)
					if errors.Is(result.Err(), codemode.ErrNotWaiting) { // it ended, and only the answer to the deletion was lost
						if len(done) != 4 {
							t.Fatalf("gone after the effects %v", done)
						}
						return
					}
					result, _ = third.finish(t, result)
					var said []any
					if err := json.Unmarshal(result.Value, &said); err != nil || len(said) != 4 {
						t.Fatalf("got %s", describe(result))
					}
					effects := rec.Mutations()
					slices.Sort(effects)
					if len(slices.Compact(slices.Clone(effects))) != len(effects) {
						t.Errorf("effects %v", effects)
					}
					for i := int64(1); i <= 4; i++ {
						told, unknown := slices.Contains(said, any(float64(i))), slices.Contains(said, any(fmt.Sprint("unknown", i)))
						if happened := slices.Contains(effects, i); told && !happened || !told && !unknown {
							t.Errorf("effect %d: happened %t, told %t, unknown %t; %v", i, happened, told, unknown, said)
						}
					}
				})
			})
		}
		if whole {
			if cutAfter < 10 {
				t.Errorf("only %d operations", cutAfter)
			}
			return
		}
	}
}

// Of many that resume one cell, in one process and several, one does.
func TestDurableOneRunsIt(t *testing.T) {
	t.Parallel()
	cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
	processes := make([]*process, 4)
	for i := range processes {
		processes[i] = newProcess(t, cells, rec)
	}
	for round := range 20 {
		r := processes[round%4].park(t, `await yield_control(); const { i } = await mutate({ i: 7 }); await slow({ ms: 20 }); return i`)
		var completed, refused atomic.Int64
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				got := processes[i%4].Wait(t.Context(), codemode.WaitInput{RunID: r.RunID})
				switch {
				case got.Status == codemode.StatusCompleted && string(got.Value) == `7`:
					completed.Add(1)
				case errors.Is(got.Err(), codemode.ErrResuming), errors.Is(got.Err(), codemode.ErrNotWaiting):
					refused.Add(1)
				default:
					t.Errorf("got %s", describe(got))
				}
			})
		}
		wg.Wait()
		if completed.Load() != 1 || refused.Load() != 15 {
			t.Fatalf("%d completed, %d refused", completed.Load(), refused.Load())
		}
	}
	if got := rec.Mutations(); len(got) != 20 {
		t.Errorf("%d effects", len(got))
	}
}

// A process that was taken for dead and was not ends its cell, and does nothing more for it.
func TestDurableTakeover(t *testing.T) {
	t.Parallel()
	inBubbles(t, func(t *testing.T) {
		cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
		first, second := newProcess(t, cells, rec), newProcess(t, cells, rec)
		r := first.park(t, `await yield_control(); text("here"); await slow({ ms: 9000 }).catch((e) => text(e.effectStatus)); await mutate({ i: 1 }); return "done"`)
		stalled := first.cord.stallable()
		late := make(chan codemode.Result, 1)
		go func() { late <- first.Wait(t.Context(), codemode.WaitInput{RunID: r.RunID}) }()
		synctest.Wait()
		stalled.Store(true)
		time.Sleep(codemode.DefaultCellLease + time.Second)
		stalled.Store(false)
		r = second.wait(t, r.RunID)
		value(t, r, `"done"`)
		got := <-late
		if got.Code != codemode.CodeAborted || !errors.Is(got.Err(), codemode.ErrTakenOver) {
			t.Errorf("the first: %s", describe(got))
		}
		if effects := rec.Mutations(); len(effects) != 1 {
			t.Errorf("effects %v", effects)
		}
	})
}

// What the store has of a cell may be damaged, or of other makers. It is refused, and stays as it is.
func TestDurableUnusable(t *testing.T) {
	t.Parallel()
	cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
	p := newProcess(t, cells, rec)
	r := p.park(t, `const x = [1, 2, 3]; await yield_control("why"); return x`)
	whole, err := cells.LoadCell(t.Context(), r.RunID)
	if err != nil {
		t.Fatal(err)
	}
	try := func(name string, data []byte) {
		t.Helper()
		now, err := cells.LoadCell(t.Context(), r.RunID)
		if err != nil {
			t.Fatal(err)
		}
		now.Data = data
		if err := cells.SaveCell(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		got := p.wait(t, r.RunID)
		if got.Code != codemode.CodeInvalidInput || !errors.Is(got.Err(), codemode.ErrUnusableCell) {
			t.Errorf("%s: %s", name, describe(got))
		}
		if kept, err := cells.LoadCell(t.Context(), r.RunID); err != nil || string(kept.Data) != string(data) || !kept.Leased.IsZero() {
			t.Errorf("%s: the store has %d bytes, leased %v: %v", name, len(kept.Data), kept.Leased, err)
		}
	}
	try("nothing", nil)
	try("half", whole.Data[:len(whole.Data)/2])
	try("one byte less", whole.Data[:len(whole.Data)-1])
	try("one byte more", append(slices.Clone(whole.Data), 0))
	for i := 0; i < len(whole.Data); i += max(1, len(whole.Data)/60) {
		data := slices.Clone(whole.Data)
		data[i] ^= 1 << (i % 8)
		try(fmt.Sprintf("bit of byte %d", i), data)
	}
	other := newProcess(t, cells, rec)
	tools := newTestCatalog(t, rec)
	elsewhere := newExecutor(t, other.runtime, tools, &codemode.ExecutorOptions{RunID: "run", SessionID: "session", Cells: cells})
	now, _ := cells.LoadCell(t.Context(), r.RunID)
	now.Data = whole.Data
	if err := cells.SaveCell(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	got := elsewhere.Wait(t.Context(), codemode.WaitInput{RunID: r.RunID})
	if !errors.Is(got.Err(), codemode.ErrUnusableCell) || !strings.Contains(got.Error, "tools") {
		t.Errorf("over another catalog: %s", describe(got))
	}
	value(t, p.wait(t, r.RunID), `[1,2,3]`)
}

// A store that fails costs the cell nothing but its life beyond the process, and no call is made that nobody would know of.
func TestDurableStoreFails(t *testing.T) {
	t.Parallel()
	full := errors.New("database or disk is full")
	for _, test := range []struct {
		name, fails string
	}{{"save", "save"}, {"everything", ""}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inBubbles(t, func(t *testing.T) {
				cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
				p := newProcess(t, cells, rec)
				var failing atomic.Bool
				p.cord.fail = func(operation string) error {
					if failing.Load() && (test.fails == "" || test.fails == operation) {
						return full
					}
					return nil
				}
				failing.Store(true)
				r := p.run(t.Context(), `text("a"); await yield_control(); return (await mutate({ i: 1 })).i`)
				if r.Status != codemode.StatusWaiting || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], full.Error()) || len(r.Output) != 1 {
					t.Fatalf("got %s, warnings %v, output %v", describe(r), r.Warnings, r.Output)
				}
				if test.fails == "" { // nobody knows whether it is in the store, and who else may have it
					if got := p.wait(t, r.RunID); !errors.Is(got.Err(), codemode.ErrCellStore) {
						t.Errorf("got %s", describe(got))
					}
					failing.Store(false)
				}
				value(t, p.wait(t, r.RunID), `1`)

				failing.Store(false)
				r = p.park(t, `await yield_control(); const e = await mutate({ i: 2 }).catch((e) => e); text(e.message); await yield_control(); return [e.code, e.effectStatus, await mutate({ i: 3 })]`)
				failing.Store(true)
				if test.fails == "" {
					got := p.wait(t, r.RunID)
					if !errors.Is(got.Err(), codemode.ErrCellStore) || !strings.Contains(got.Error, full.Error()) {
						t.Errorf("got %s", describe(got))
					}
					failing.Store(false)
					value(t, p.wait(t, p.wait(t, r.RunID).RunID), `[null,null,{"i":3}]`)
					return
				}
				r = p.Wait(t.Context(), codemode.WaitInput{RunID: r.RunID})
				if r.Status != codemode.StatusWaiting || len(r.Warnings) != 1 || len(r.Output) != 1 || !strings.Contains(r.Output[0].Text, full.Error()) {
					t.Fatalf("got %s, warnings %v, output %v", describe(r), r.Warnings, r.Output)
				}
				failing.Store(false)
				value(t, p.wait(t, r.RunID), `["tool_error","none",{"i":3}]`)
				if got := rec.Mutations(); !slices.Equal(got, []int64{1, 3}) {
					t.Errorf("effects %v", got)
				}
			})
		})
	}
}

// Only who it belongs to resumes a cell, wherever it is; and a wrong caller changes nothing.
func TestDurableOwner(t *testing.T) {
	t.Parallel()
	cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
	owner := newProcess(t, cells, rec)
	r := owner.park(t, `await yield_control(); return 1`)
	for name, change := range map[string]func(*codemode.ExecutorOptions){
		"run":     func(o *codemode.ExecutorOptions) { o.RunID = "other" },
		"no run":  func(o *codemode.ExecutorOptions) { o.RunID = "" },
		"session": func(o *codemode.ExecutorOptions) { o.SessionID = "other" },
	} {
		got := newProcess(t, cells, rec, change).wait(t, r.RunID)
		if got.Code != codemode.CodeInvalidInput || !errors.Is(got.Err(), codemode.ErrForeignCell) {
			t.Errorf("%s: %s", name, describe(got))
		}
	}
	if kept, err := cells.LoadCell(t.Context(), r.RunID); err != nil || kept.Fence != 1 || !kept.Leased.IsZero() {
		t.Errorf("a wrong caller has changed the cell: %+v, %v", kept, err)
	}
	_ = owner.Close()
	value(t, newProcess(t, cells, rec).wait(t, r.RunID), `1`)
	if _, err := cells.LoadCell(t.Context(), r.RunID); !errors.Is(err, store.ErrUnknownCell) {
		t.Errorf("the cell is still there: %v", err)
	}
}

// A stopped cell is gone from the store, one that has expired as well.
func TestDurableEnds(t *testing.T) {
	t.Parallel()
	inBubbles(t, func(t *testing.T) {
		cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
		p := newProcess(t, cells, rec)
		gone := func(id string) {
			t.Helper()
			if _, err := cells.LoadCell(t.Context(), id); !errors.Is(err, store.ErrUnknownCell) {
				t.Errorf("the cell is still there: %v", err)
			}
			if r := p.wait(t, id); !errors.Is(r.Err(), codemode.ErrNotWaiting) {
				t.Errorf("got %s", describe(r))
			}
		}
		r := p.park(t, `await yield_control(); await gate({})`)
		ctx, stop := context.WithCancel(t.Context())
		late := make(chan codemode.Result, 1)
		go func() { late <- p.Wait(ctx, codemode.WaitInput{RunID: r.RunID}) }()
		synctest.Wait()
		stop()
		if got := <-late; got.Code != codemode.CodeAborted {
			t.Errorf("got %s", describe(got))
		}
		gone(r.RunID)

		r = p.park(t, `await yield_control(); throw new Error("end")`)
		if got := p.wait(t, r.RunID); got.Code != codemode.CodeInternal {
			t.Errorf("got %s", describe(got))
		}
		gone(r.RunID)

		for _, code := range []string{`await yield_control()`, `await gate({})`} {
			r = p.park(t, code)
			time.Sleep(codemode.DefaultSnapshotTTL + time.Second)
			gone(r.RunID)
		}
	})
}

// A store that ignores its context, panics or ends its goroutine holds no cell for ever, and what it does late does no harm.
func TestDurableStoreMisbehaves(t *testing.T) {
	t.Parallel()
	for name, misbehave := range map[string]func(release <-chan struct{}) error{
		"blocks": func(release <-chan struct{}) error { <-release; return nil },
		"panics": func(<-chan struct{}) error { panic("store") },
		"exits":  func(<-chan struct{}) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubbles(t, func(t *testing.T) {
				cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
				p := newProcess(t, cells, rec)
				var bad atomic.Bool
				var release atomic.Pointer[chan struct{}]
				block := func() {
					c := make(chan struct{})
					release.Store(&c)
				}
				block()
				var spared sync.Map // operations that go well
				p.cord.fail = func(operation string) error {
					if _, well := spared.Load(operation); bad.Load() && !well {
						return misbehave(*release.Load())
					}
					return nil
				}
				began := time.Now()
				bad.Store(true)
				r := p.run(t.Context(), `await yield_control(); return 1`)
				if r.Status != codemode.StatusWaiting || len(r.Warnings) != 1 {
					t.Errorf("got %s, warnings %v", describe(r), r.Warnings)
				}
				if got := p.wait(t, r.RunID); !errors.Is(got.Err(), codemode.ErrCellStore) {
					t.Errorf("got %s", describe(got))
				}
				bad.Store(false)
				close(*release.Load())
				block()
				synctest.Wait()
				value(t, p.wait(t, r.RunID), `1`)
				r = p.park(t, `await yield_control(); const said = await mutate({ i: 1 }).catch((e) => e.effectStatus); await yield_control(); await mutate({ i: 2 }); return said`)
				spared.Store("load", true)
				spared.Store("lease", true)
				bad.Store(true)
				r = p.Wait(t.Context(), codemode.WaitInput{RunID: r.RunID})
				if r.Status != codemode.StatusWaiting || len(r.Warnings) != 1 {
					t.Errorf("got %s, warnings %v", describe(r), r.Warnings)
				}
				bad.Store(false)
				close(*release.Load())
				synctest.Wait()
				value(t, p.wait(t, r.RunID), `"none"`)
				if got := rec.Mutations(); !slices.Equal(got, []int64{2}) {
					t.Errorf("effects %v", got)
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// Close does not wait for a cell that another process has.
func TestDurableCloseWhileLooking(t *testing.T) {
	t.Parallel()
	inBubbles(t, func(t *testing.T) {
		cells, rec := codemode.NewMemoryStore(), new(fixture.Recorder)
		first, second := newProcess(t, cells, rec), newProcess(t, cells, rec)
		r := first.park(t, `await gate({})`)
		late := make(chan codemode.Result, 1)
		go func() { late <- second.Wait(t.Context(), codemode.WaitInput{RunID: r.RunID}) }()
		synctest.Wait()
		began := time.Now()
		if err := second.Close(); err != nil {
			t.Error(err)
		}
		if got := <-late; got.Code != codemode.CodeAborted || !errors.Is(got.Err(), codemode.ErrClosed) || time.Since(began) > 0 {
			t.Errorf("after %v: %s", time.Since(began), describe(got))
		}
		rec.Release()
		synctest.Wait()
		if r := newProcess(t, cells, rec).wait(t, r.RunID); r.Status != codemode.StatusCompleted {
			t.Errorf("got %s", describe(r))
		}
	})
}
