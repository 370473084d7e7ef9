package codemode_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

// What ends the call that runs a cell ends the cell; what ends an earlier call does not.
func TestWaitAndContext(t *testing.T) {
	t.Parallel()
	reason := errors.New("stopped")
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		ctx, cancel := context.WithCancelCause(t.Context())
		id := waits(t, b.run(ctx, `await yield_control(); text("a"); await yield_control(); text("b"); return 1`)).RunID
		cancel(reason) // just after the result
		synctest.Wait()

		r := b.resume(ctx, id) // before it begins: the cell is not touched
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		if r.Code != codemode.CodeAborted || !errors.Is(r.Err(), reason) {
			t.Errorf("with a cancelled context: %s", describe(r))
		}
		ctx, cancel = context.WithCancelCause(t.Context())
		if r := waits(t, b.resume(ctx, id)); outputText(r) != `[{"type":"text","text":"a"}]` {
			t.Errorf("it emitted %s", outputText(r))
		}
		cancel(reason)
		synctest.Wait()
		if r := b.resume(t.Context(), id); r.Status != codemode.StatusCompleted || outputText(r) != `[{"type":"text","text":"b"}]` {
			t.Errorf("got %s, output %s", describe(r), outputText(r))
		}
	})
	for _, gates := range []string{`gate({})`, `Promise.all([gate({}), gate({})])`} {
		inBubble(t, nil, func(t *testing.T, b *bubble) {
			id := b.park(t, `await yield_control(); await `+gates).RunID
			ctx, cancel := context.WithCancelCause(t.Context())
			result := make(chan codemode.Result, 1)
			go func() { result <- b.resume(ctx, id) }()
			synctest.Wait()
			b.rec.Release() // the replies are ready, but the abort comes first
			cancel(reason)
			r := <-result
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			if r.Code != codemode.CodeAborted || r.FailurePhase != codemode.PhaseBridge || !errors.Is(r.Err(), reason) {
				t.Errorf("%s: cancelled during the wait: %s in phase %s", gates, describe(r), r.FailurePhase)
			}
			refused(t, b.resume(t.Context(), id), codemode.ErrNotWaiting)
		})
	}
}

// A call in flight while its cell is parked keeps its context, with the values of Exec's; the call of wait that is cancelled
// cancels it too.
func TestToolContextOverWaits(t *testing.T) {
	t.Parallel()
	reason := errors.New("stopped")
	for name, tt := range map[string]struct {
		end   func(b *bubble, cancel context.CancelCauseFunc)
		cause error
	}{
		"wait cancelled":   {func(_ *bubble, cancel context.CancelCauseFunc) { cancel(reason) }, reason},
		"executor closed":  {func(b *bubble, _ context.CancelCauseFunc) { _ = b.Close() }, codemode.ErrClosed},
		"runtime closed":   {func(b *bubble, _ context.CancelCauseFunc) { _ = b.runtime.Close() }, codemode.ErrClosed},
		"parked, closed":   {nil, codemode.ErrClosed},
		"parked, too long": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan [2]any, 1)
			inBubble(t, &codemode.Options{SnapshotTTL: time.Hour}, func(t *testing.T, b *bubble) {
				ended = make(chan [2]any, 1)
				ctx := context.WithValue(t.Context(), contextKey{}, "value")
				id := waits(t, b.run(ctx, `void watch({}); await yield_control(); await gate({})`)).RunID
				synctest.Wait() // until the tool is called
				if tt.end != nil {
					ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), contextKey{}, "another"))
					defer cancel(nil)
					result := make(chan codemode.Result, 1)
					go func() { result <- b.resume(ctx, id) }()
					synctest.Wait()
					tt.end(b, cancel)
					if r := <-result; r.Code != codemode.CodeAborted || !errors.Is(r.Err(), tt.cause) {
						t.Errorf("got %s", describe(r))
					}
				} else if tt.cause != nil {
					_ = b.Close()
				} else {
					time.Sleep(time.Hour)
				}
				synctest.Wait()
				select {
				case seen := <-ended:
					if tt.cause != nil && seen[0] != tt.cause || seen[0] == nil || seen[1] != "value" {
						t.Errorf("the tool's context ended with %v and had the value %v", seen[0], seen[1])
					}
				default:
					t.Error("the tool's context did not end")
				}
			}, toolcatalog.Define(toolcatalog.Spec{Name: "watch"}, func(ctx context.Context, _ struct{}) (struct{}, error) {
				<-ctx.Done()
				ended <- [2]any{context.Cause(ctx), ctx.Value(contextKey{})}
				return struct{}{}, ctx.Err()
			}))
		})
	}
}

// A tool that ignores its context while its cell is parked: the cell is gone at once, the reply that comes late changes nothing, and
// Close waits for the function.
func TestStubbornToolOfParkedCell(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"closed", "expired", "aborted"} {
		for shape, call := range map[string]string{"alone": `await stubborn({}); text("STALE")`, "beside": `const p = stubborn({}); await yield_control(); await p; text("STALE")`} {
			t.Run(how+"/"+shape, func(t *testing.T) {
				t.Parallel()
				var release chan struct{}
				inBubble(t, nil, func(t *testing.T, b *bubble) {
					release = make(chan struct{})
					id := b.park(t, call).RunID
					synctest.Wait() // until the tool is called
					switch how {
					case "expired":
						time.Sleep(codemode.DefaultSnapshotTTL)
						refused(t, b.resume(t.Context(), id), codemode.ErrNotWaiting)
					case "aborted":
						ctx, cancel := context.WithCancel(t.Context())
						result := make(chan codemode.Result, 1)
						go func() { result <- b.resume(ctx, id) }()
						synctest.Wait()
						cancel()
						if r := <-result; r.Code != codemode.CodeAborted || len(r.Output) > 0 {
							t.Errorf("got %s", describe(r))
						}
					}
					closed := make(chan struct{})
					if how != "closed" {
						b.works(t)
						close(release)
						synctest.Wait()
						b.works(t)
						refused(t, b.resume(t.Context(), id), codemode.ErrNotWaiting)
						return
					}
					go func() { defer close(closed); _ = b.Close() }()
					synctest.Wait()
					select {
					case <-closed:
						t.Error("Close did not wait for the tool's function")
					default:
					}
					close(release)
					<-closed
				}, toolcatalog.Define(toolcatalog.Spec{Name: "stubborn"}, func(context.Context, struct{}) (struct{}, error) {
					<-release
					return struct{}{}, nil
				}))
			})
		}
	}
}

// The time to live begins anew each time that a cell is parked, and does not count while it runs.
func TestTimeToLive(t *testing.T) {
	t.Parallel()
	inBubble(t, &codemode.Options{SnapshotTTL: 5 * time.Second, MaxSuspended: 2}, func(t *testing.T, b *bubble) {
		kept := b.park(t, `for (let i = 0; i < 4; i++) await yield_control(); await slow({ ms: 9000 }); return 1`).RunID
		lost := b.park(t, `await yield_control(); await gate({})`).RunID
		for range 3 {
			time.Sleep(4 * time.Second)
			waits(t, b.resume(t.Context(), kept))
		}
		refused(t, b.resume(t.Context(), lost), codemode.ErrNotWaiting)
		other := b.park(t, `await yield_control()`).RunID // in its slot
		time.Sleep(4 * time.Second)
		value(t, b.resume(t.Context(), kept), `1`) // takes 9 s
		refused(t, b.resume(t.Context(), other), codemode.ErrNotWaiting)

		// Several that expire at different times, resumed ones among them, leave nothing behind: both slots are free again.
		for range 20 {
			first, second := b.park(t, `await yield_control(); await yield_control()`).RunID, b.park(t, `await yield_control()`).RunID
			time.Sleep(3 * time.Second)
			waits(t, b.resume(t.Context(), first))
			time.Sleep(2 * time.Second)
			refused(t, b.resume(t.Context(), second), codemode.ErrNotWaiting)
			third := b.park(t, `await yield_control(); return 3`).RunID
			time.Sleep(3 * time.Second)
			refused(t, b.resume(t.Context(), first), codemode.ErrNotWaiting)
			value(t, b.resume(t.Context(), third), `3`)
		}
	})
}

// A runtime that closes with cells that run, wait, are being resumed and want a slot ends all of them.
func TestCloseWithCells(t *testing.T) {
	t.Parallel()
	inBubble(t, &codemode.Options{MaxSuspended: 4}, func(t *testing.T, b *bubble) {
		other := &testBench{newExecutor(t, b.runtime, newTestCatalog(t, nil)), nil}
		parked := b.park(t, `void gate({}); setTimeout(() => text("STALE"), 1000); await yield_control(); return 1`).RunID
		resumed := other.park(t, `await yield_control(); await gate({})`).RunID
		results := make(chan codemode.Result, 4)
		go func() { results <- other.resume(t.Context(), resumed) }()
		go func() { results <- b.run(t.Context(), `await gate({})`) }()
		go func() { results <- other.run(t.Context(), `await Promise.all([gate({}), gate({})])`) }()
		synctest.Wait()
		go func() { results <- b.run(t.Context(), `await gate({}); text("no slot")`) }()
		synctest.Wait()
		if err := b.runtime.Close(); err != nil {
			t.Error(err)
		}
		for range cap(results) {
			r := <-results
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			if r.Code != codemode.CodeAborted || !errors.Is(r.Err(), codemode.ErrClosed) {
				t.Errorf("got %s", describe(r))
			}
		}
		for _, r := range []codemode.Result{b.resume(t.Context(), parked), other.resume(t.Context(), resumed)} {
			if r.Code != codemode.CodeAborted || !errors.Is(r.Err(), codemode.ErrClosed) {
				t.Errorf("a later wait: %s", describe(r))
			}
		}
		for _, call := range b.rec.Calls("gate") {
			if !call.Ended || !call.Cancelled {
				t.Errorf("a call that outlives its runtime: %+v", call)
			}
		}
	})
}
