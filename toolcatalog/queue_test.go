package toolcatalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/toolcatalog"
)

// stageTools are a sequential and an ordinary tool whose calls record when they begin and end.
type stageTools struct {
	mu     sync.Mutex
	events []string
}

type stageInput struct {
	Name string        `json:"name"`
	For  time.Duration `json:"for"`
}

func (s *stageTools) record(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event)
}

// seen is what was recorded so far.
func (s *stageTools) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

func (s *stageTools) tool(name string, sequential bool) *toolcatalog.Tool {
	return toolcatalog.Define(toolcatalog.Spec{Name: name, Sequential: sequential}, func(ctx context.Context, in stageInput) (any, error) {
		s.record("+" + in.Name)
		defer s.record("-" + in.Name)
		select {
		case <-time.After(in.For):
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}

func (s *stageTools) catalog(t *testing.T) *toolcatalog.Catalog {
	return newCatalog(t, s.tool("shared", false), s.tool("exclusive", true))
}

func stageArgs(name string, d time.Duration) json.RawMessage {
	text, _ := json.Marshal(stageInput{name, d})
	return text
}

// Calls overlap up to the next exclusive one, which waits for all of them and holds the later ones back.
func TestSequentialOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s stageTools
		c := s.catalog(t)
		var done sync.WaitGroup
		for i, call := range []struct {
			tool string
			d    time.Duration
		}{{"shared", 3}, {"shared", 1}, {"exclusive", 2}, {"exclusive", 1}, {"shared", 2}, {"shared", 1}} {
			done.Add(1)
			c.Admit(call.tool).Go(t.Context(), stageArgs(fmt.Sprint(i+1), call.d*time.Second), func(_ json.RawMessage, err error) {
				if err != nil {
					t.Error(err)
				}
				done.Done()
			})
			synctest.Wait()
		}
		done.Wait()
		want := []string{"+1", "+2", "-2", "-1", "+3", "-3", "+4", "-4", "+5", "+6", "-6", "-5"}
		got := s.seen()
		slices.Sort(got[8:10]) // the order in which 5 and 6 begin is open
		if !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

// The order is that of Admit, not that of the goroutines.
func TestSequentialOrderOfAdmission(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s stageTools
		c := s.catalog(t)
		first, second, third := c.Admit("exclusive"), c.Admit("exclusive"), c.Admit("exclusive")
		var done sync.WaitGroup
		run := func(a *toolcatalog.Admission, name string) {
			done.Go(func() {
				if _, err := a.Run(t.Context(), stageArgs(name, time.Second)); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		run(third, "3")
		run(second, "2")
		if got := s.seen(); len(got) > 0 {
			t.Errorf("%v before the first", got)
		}
		first.Release()
		first.Release()
		done.Wait()
		if got, want := s.seen(), []string{"+2", "-2", "+3", "-3"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestSequentialCancelledInTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s stageTools
		c := s.catalog(t)
		var done sync.WaitGroup
		done.Go(func() { c.Call(t.Context(), "shared", stageArgs("1", 10*time.Second)) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var waiting error
		done.Go(func() { _, waiting = c.Call(ctx, "exclusive", stageArgs("2", 0)) })
		synctest.Wait()
		done.Go(func() { c.Call(t.Context(), "shared", stageArgs("3", 10*time.Second)) })
		synctest.Wait()
		if got, want := s.seen(), []string{"+1"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		time.Sleep(2 * time.Second) // of the bubble's clock: 2 has given up, so 3 may run beside 1
		synctest.Wait()
		if got, want := s.seen(), []string{"+1", "+3"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		done.Wait()
		callFails(t, waiting, toolcatalog.CodeToolError, toolcatalog.EffectStatusNone)
		if !errors.Is(waiting, context.DeadlineExceeded) {
			t.Errorf("got %v", waiting)
		}
	})
}

func TestSequentialReentrance(t *testing.T) {
	t.Parallel()
	const timeout = time.Minute // of the bubble's clock; a call that waits for itself runs into it
	for _, tt := range []struct {
		outer, inner string
		queued       bool // an exclusive call waits meanwhile
		ok           bool
	}{
		{"shared", "shared", false, true},
		{"shared", "shared", true, true},
		{"shared", "exclusive", false, false},
		{"shared", "exclusive", true, false},
		{"exclusive", "shared", false, false},
		{"exclusive", "exclusive", false, false},
		{"exclusive", "shared", true, false},
	} {
		t.Run(fmt.Sprintf("%s calls %s, queued %v", tt.outer, tt.inner, tt.queued), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				var c *toolcatalog.Catalog
				var done sync.WaitGroup
				tool := func(name string, sequential bool) *toolcatalog.Tool {
					return toolcatalog.DefineRaw(toolcatalog.Spec{Name: name, Sequential: sequential}, func(ctx context.Context, input json.RawMessage) (any, error) {
						if string(input) != `{"nest":true}` {
							return "inner", nil
						}
						if tt.queued {
							done.Go(func() {
								if _, err := c.Call(t.Context(), "exclusive", nil); err != nil {
									t.Errorf("the queued call: %v", err)
								}
							})
							synctest.Wait()
						}
						return c.Call(ctx, tt.inner, nil)
					})
				}
				c = newCatalog(t, tool("shared", false), tool("exclusive", true))
				got, err := c.Call(ctx, tt.outer, json.RawMessage(`{"nest":true}`))
				if tt.ok && (err != nil || string(got) != `"inner"`) || !tt.ok && !errors.Is(err, toolcatalog.ErrReentrant) {
					t.Errorf("got %s, %v", got, err)
				}
				done.Wait()
			})
		})
	}
}

// A context that outlives its call makes no later call re-entrant.
func TestSequentialContextOfAnEndedCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var kept context.Context
		var s stageTools
		c := newCatalog(t, s.tool("exclusive", true), toolcatalog.DefineRaw(toolcatalog.Spec{Name: "keep"},
			func(ctx context.Context, _ json.RawMessage) (any, error) {
				kept = ctx
				return nil, nil
			}))
		if _, err := c.Call(t.Context(), "keep", nil); err != nil {
			t.Fatal(err)
		}
		var done sync.WaitGroup
		done.Go(func() { c.Call(t.Context(), "exclusive", stageArgs("1", time.Second)) })
		synctest.Wait()
		if _, err := c.Call(kept, "exclusive", stageArgs("2", 0)); err != nil {
			t.Error(err)
		}
		done.Wait()
	})
}

func TestAdmissionIsUsedOnce(t *testing.T) {
	t.Parallel()
	a := newCatalog(t, named("t")).Admit("t")
	if _, err := a.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	a.Release() // does nothing
	defer func() {
		if recover() == nil {
			t.Error("the second Run does not panic")
		}
	}()
	a.Run(t.Context(), nil)
}

// Many goroutines, cancelled calls and nested calls: exclusive calls are alone, nothing is lost, nothing hangs.
func TestSequentialHammer(t *testing.T) {
	t.Parallel()
	var (
		running   atomic.Int32
		alone     atomic.Bool
		finished  atomic.Int32
		cancelled atomic.Int32
		c         *toolcatalog.Catalog
	)
	type input struct {
		Nest bool `json:"nest"`
	}
	shared := toolcatalog.Define(toolcatalog.Spec{Name: "shared"}, func(ctx context.Context, in input) (bool, error) {
		running.Add(1)
		defer running.Add(-1)
		if alone.Load() {
			t.Error("a call runs beside an exclusive one")
		}
		if in.Nest {
			if _, err := c.Call(ctx, "shared", json.RawMessage(`{"nest":false}`)); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			if _, err := c.Call(ctx, "exclusive", nil); err == nil {
				t.Error("a call of an exclusive tool from inside does not fail")
			}
		}
		return true, nil
	})
	exclusive := toolcatalog.Define(toolcatalog.Spec{Name: "exclusive", Sequential: true}, func(context.Context, struct{}) (bool, error) {
		if alone.Swap(true) || running.Load() != 0 {
			t.Error("an exclusive call is not alone")
		}
		defer alone.Store(false)
		return true, nil
	})
	c = newCatalog(t, shared, exclusive)

	const workers, calls = 16, 200
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1))
			for range calls {
				ctx, cancel := context.WithCancel(context.Background())
				name, args := "shared", json.RawMessage(`{"nest":false}`)
				switch random.IntN(8) {
				case 0:
					name, args = "exclusive", nil
				case 1:
					args = json.RawMessage(`{"nest":true}`)
				case 2:
					cancel()
				case 3:
					go cancel()
				case 4:
					c.Admit("exclusive").Release()
				}
				_, err := c.Call(ctx, name, args)
				switch {
				case err == nil:
					finished.Add(1)
				case errors.Is(err, context.Canceled):
					cancelled.Add(1)
				default:
					t.Error(err)
				}
				cancel()
			}
		})
	}
	group.Wait()
	if n := finished.Load() + cancelled.Load(); n != workers*calls || finished.Load() == 0 || cancelled.Load() == 0 {
		t.Errorf("%d finished, %d cancelled", finished.Load(), cancelled.Load())
	}
}
