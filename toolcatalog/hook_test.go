package toolcatalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/toolcatalog"
)

func beforeHook(f func(call toolcatalog.Call) (json.RawMessage, error)) toolcatalog.Hook {
	return toolcatalog.Hook{Before: func(_ context.Context, call toolcatalog.Call) (json.RawMessage, error) { return f(call) }}
}

func afterHook(f func(result json.RawMessage) (json.RawMessage, error)) toolcatalog.Hook {
	return toolcatalog.Hook{After: func(_ context.Context, _ toolcatalog.Call, result json.RawMessage) (json.RawMessage, error) {
		return f(result)
	}}
}

func rewritesInput(to string) toolcatalog.Hook {
	return beforeHook(func(toolcatalog.Call) (json.RawMessage, error) { return json.RawMessage(to), nil })
}

func rewritesResult(to string) toolcatalog.Hook {
	return afterHook(func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage(to), nil })
}

func TestHooksRewrite(t *testing.T) {
	t.Parallel()
	closed := `{"type":"object","properties":{"a":{"type":"integer"},"limit":{"type":"integer","default":20}},"additionalProperties":false}`
	const checkState = " The call may have had effects: check the state before calling it again."
	for _, tt := range []struct {
		name    string
		hooks   []toolcatalog.Hook
		want    string
		code    toolcatalog.ErrorCode
		started bool
		message string
	}{
		{"nothing", []toolcatalog.Hook{{}, beforeHook(func(toolcatalog.Call) (json.RawMessage, error) { return nil, nil })}, `{"a":1,"limit":20}`, "", true, ""},
		{"input", []toolcatalog.Hook{rewritesInput(`{ "a" : "9007199254740993" }`)}, `{"a":9007199254740993,"limit":20}`, "", true, ""},
		{"input to null", []toolcatalog.Hook{rewritesInput(` null `)}, `{"limit":20}`, "", true, ""},
		{"input, twice", []toolcatalog.Hook{rewritesInput(`{"a":2}`), rewritesInput(`{"a":3}`)}, `{"a":3,"limit":20}`, "", true, ""},
		{"input to a wrong one", []toolcatalog.Hook{rewritesInput(`{"b":2}`)}, "", toolcatalog.CodeInputContract, false,
			`t: the input does not match its schema, nothing was executed: $ the property "b" is not allowed; known are "a", "limit". ` +
				`Did you mean "a"? Expected: t({ a?: number /* integer */; limit?: number /* integer */ }). Correct the input and call again. A hook of the host had changed the input before it was checked.`},
		{"result", []toolcatalog.Hook{rewritesResult(`{ "a" : 7 }`)}, `{"a":7}`, "", true, ""},
		{"result that is not UTF-8", []toolcatalog.Hook{rewritesResult("{\"a\":7}"), afterHook(func(result json.RawMessage) (json.RawMessage, error) {
			return result, nil
		})}, `{"a":7}`, "", true, ""},
		{"result, outermost last", []toolcatalog.Hook{rewritesResult(`{"a":1}`), rewritesResult(`{"a":2}`)}, `{"a":1}`, "", true, ""},
		{"result to a wrong one", []toolcatalog.Hook{rewritesResult(`{"secret":"hidden"}`)}, "", toolcatalog.CodeOutputContract, true,
			`t ran, but its result, as a hook of the host changed it, does not match its output schema and is withheld: ` +
				`$ the property "secret" is not allowed; known are "a", "limit".` + checkState},
		{"result to no JSON", []toolcatalog.Hook{rewritesResult(`hidden`)}, "", toolcatalog.CodeOutputContract, true,
			`t ran, but a hook rewrote its result, which is withheld, to something that is not valid JSON: no value at byte 0.` + checkState},
		{"result to nothing", []toolcatalog.Hook{afterHook(func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage{}, nil })}, "",
			toolcatalog.CodeOutputContract, true,
			`t ran, but a hook rewrote its result, which is withheld, to something that is not valid JSON: text ends where a value should be at byte 0.` + checkState},
		{"result withheld", []toolcatalog.Hook{afterHook(func(json.RawMessage) (json.RawMessage, error) { return nil, errHost })}, "",
			toolcatalog.CodeToolError, true, `t ran, but a hook withheld its result: the host says no.` + checkState},
		{"result withheld as invalid input", []toolcatalog.Hook{afterHook(func(json.RawMessage) (json.RawMessage, error) { return nil, toolcatalog.InvalidInput(errHost) })}, "",
			toolcatalog.CodeToolError, true, `t ran, but a hook withheld its result: the host says no.` + checkState},
		{"after-hook panics", []toolcatalog.Hook{afterHook(func(json.RawMessage) (json.RawMessage, error) { panic("secret") })}, "",
			toolcatalog.CodeToolError, true, `t ran, but a hook that gets its result panicked; the log of the host has the details.` + checkState},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ran := 0
			var log bytes.Buffer
			c := newCatalogWith(t, toolcatalog.Options{Hooks: tt.hooks, Logger: slog.New(slog.NewTextHandler(&log, nil))},
				toolcatalog.DefineRaw(toolcatalog.Spec{Name: "t", Input: mustParse(t, closed), Output: mustParse(t, closed)},
					func(_ context.Context, input json.RawMessage) (any, error) {
						ran++
						return input, nil
					}))
			got, err := c.Call(t.Context(), "t", json.RawMessage(`{"a":1}`))
			if (ran == 1) != tt.started {
				t.Errorf("ran %d times", ran)
			}
			if tt.code == "" {
				if err != nil || string(got) != tt.want {
					t.Errorf("got %s, %v, want %s", got, err, tt.want)
				}
				return
			}
			effect := toolcatalog.EffectStatusNone
			if tt.started {
				effect = toolcatalog.EffectStatusUnknown
			}
			failure := callFails(t, err, tt.code, effect)
			if got != nil || failure.Message() != tt.message || failure.ExecutionStarted() != tt.started {
				t.Errorf("result %s, got\n%s\nwant\n%s", got, failure.Message(), tt.message)
			}
			if strings.Contains(err.Error(), "hidden") || errors.Is(err, toolcatalog.ErrRefused) {
				t.Error(err)
			}
			if strings.Contains(tt.message, "panicked") != (errors.Is(err, toolcatalog.ErrPanic) && strings.Contains(log.String(), "secret")) {
				t.Errorf("%v, logged %s", err, log.String())
			}
			if strings.Contains(tt.message, errHost.Error()) && !errors.Is(err, errHost) {
				t.Errorf("the hook's error is not in the chain of %v", err)
			}
		})
	}
}

// A failed call has no result that After could get.
func TestAfterHooksOfFailedCalls(t *testing.T) {
	t.Parallel()
	c := newCatalogWith(t, toolcatalog.Options{Hooks: []toolcatalog.Hook{afterHook(func(json.RawMessage) (json.RawMessage, error) {
		t.Error("an After function was called")
		return nil, nil
	})}}, toolcatalog.Define(toolcatalog.Spec{Name: "t"}, func(context.Context, any) (any, error) { return 1, errHost }))
	_, err := c.Call(t.Context(), "t", nil)
	if failure := callFails(t, err, toolcatalog.CodeToolError, toolcatalog.EffectStatusUnknown); failure.Message() != errHost.Error() {
		t.Error(failure.Message())
	}
}

// Hooks see the calls of client tools, whose inputs and results they can rewrite to anything that is JSON.
func TestHooksOfClientTools(t *testing.T) {
	t.Parallel()
	strict := mustParse(t, `{"type":"object","properties":{"a":{"default":1}},"required":["a"]}`)
	c := newCatalogWith(t, toolcatalog.Options{Hooks: []toolcatalog.Hook{rewritesInput("[\"\xff\"]"), rewritesResult("[\"\xff\" ]")}},
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "t", Source: toolcatalog.Client, Input: strict, Output: strict},
			func(_ context.Context, input json.RawMessage) (any, error) {
				if string(input) != "[\"\ufffd\"]" {
					t.Errorf("the tool got %s", input)
				}
				return nil, nil
			}))
	if got, err := c.Call(t.Context(), "t", nil); err != nil || string(got) != "[\"\ufffd\"]" {
		t.Errorf("got %s, %v", got, err)
	}
}

// What a hook returned stays its own, and so do the options.
func TestHooksShareNoMemory(t *testing.T) {
	t.Parallel()
	input, result := json.RawMessage(`{"a":1}`), json.RawMessage(`{"b":2}`)
	hooks := []toolcatalog.Hook{{
		Before: func(context.Context, toolcatalog.Call) (json.RawMessage, error) { return input, nil },
		After: func(_ context.Context, call toolcatalog.Call, _ json.RawMessage) (json.RawMessage, error) {
			if string(call.Input) != `{"a":1}` {
				t.Errorf("the input is now %s", call.Input)
			}
			return result, nil
		},
	}}
	c := newCatalogWith(t, toolcatalog.Options{Hooks: hooks}, toolcatalog.DefineRaw(toolcatalog.Spec{Name: "t"},
		func(_ context.Context, in json.RawMessage) (any, error) {
			clear(in)
			if string(input) != `{"a":1}` {
				t.Errorf("the hook has %s", input)
			}
			clear(input)
			return nil, nil
		}))
	hooks[0] = rewritesResult(`"another"`)
	got, err := c.Call(t.Context(), "t", nil)
	if err != nil || string(got) != `{"b":2}` {
		t.Fatalf("got %s, %v", got, err)
	}
	clear(got)
	if string(result) != `{"b":2}` {
		t.Errorf("the hook has %s", result)
	}
}

// Case C023: a result that does not match is an error that names places and rules, and shows no value.
func TestOutputContractShowsNoValue(t *testing.T) {
	t.Parallel()
	ran := 0
	var events []toolcatalog.Event
	c := newCatalogWith(t, toolcatalog.Options{Observer: func(_ context.Context, event toolcatalog.Event) { events = append(events, event) }},
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "send", Output: mustParse(t, `{"type":"object","properties":{"status":{"type":"string"},
			"reply":{"type":"string"}},"required":["status","reply"],"additionalProperties":false}`)},
			func(context.Context, json.RawMessage) (any, error) {
				ran++
				return json.RawMessage(`{"status":"ok","message":"secret text"}`), nil
			}))
	got, err := c.Call(t.Context(), "send", nil)
	failure := callFails(t, err, toolcatalog.CodeOutputContract, toolcatalog.EffectStatusUnknown)
	for _, part := range []string{`"message" is not allowed`, `"reply"`, "send ran, but", "check the state before calling it again"} {
		if !strings.Contains(failure.Message(), part) {
			t.Errorf("no %s in %s", part, failure.Message())
		}
	}
	if ran != 1 || got != nil || strings.Contains(err.Error(), "secret text") || !failure.ExecutionStarted() {
		t.Errorf("ran %d times: %s, %v", ran, got, err)
	}
	if len(events) != 2 || events[1].Kind != toolcatalog.EventFinished || events[1].Code != toolcatalog.CodeOutputContract || events[1].OutputBytes != 0 {
		t.Errorf("events %+v", events)
	}
}

// A hook that calls the catalog is a part of the call it belongs to: a call that would wait for it fails at once.
func TestHooksThatCallTheCatalog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tool, inner string
		ok          bool
	}{
		{"shared", "shared", true},
		{"shared", "exclusive", false},
		{"exclusive", "shared", false},
		{"exclusive", "exclusive", false},
	} {
		for _, where := range []string{"decide", "before", "approve", "after", "observe"} {
			t.Run(tt.tool+" calls "+tt.inner+" in "+where, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a call that waits for itself runs into it
					defer cancel()
					var c *toolcatalog.Catalog
					var inner error
					nest := func(ctx context.Context, here string, id uint64) {
						if here == where && id == 1 {
							_, inner = c.Call(ctx, tt.inner, nil)
						}
					}
					c = newCatalogWith(t, toolcatalog.Options{
						Policy: toolcatalog.Policy{Decide: func(ctx context.Context, call toolcatalog.Call) toolcatalog.Decision {
							nest(ctx, "decide", call.ID)
							return toolcatalog.Ask("")
						}},
						Hooks: []toolcatalog.Hook{{
							Before: func(ctx context.Context, call toolcatalog.Call) (json.RawMessage, error) {
								nest(ctx, "before", call.ID)
								return nil, nil
							},
							After: func(ctx context.Context, call toolcatalog.Call, _ json.RawMessage) (json.RawMessage, error) {
								nest(ctx, "after", call.ID)
								return nil, nil
							},
						}},
						Approver: func(ctx context.Context, call toolcatalog.Call, _ string) error {
							nest(ctx, "approve", call.ID)
							return nil
						},
						Observer: func(ctx context.Context, event toolcatalog.Event) { nest(ctx, "observe", event.CallID) },
					}, named("shared"), rawTool(toolcatalog.Spec{Name: "exclusive", Sequential: true}))
					if _, err := c.Call(ctx, tt.tool, nil); err != nil {
						t.Error(err)
					}
					if tt.ok && inner != nil || !tt.ok && !errors.Is(inner, toolcatalog.ErrReentrant) {
						t.Errorf("the inner call: %v", inner)
					}
				})
			})
		}
	}
}

// Many goroutines with everything the host can put around sequential and other tools: exclusive calls are alone from their
// first hook to their last, every call is observed exactly as it went, nothing is lost, nothing hangs.
func TestHooksHammer(t *testing.T) {
	t.Parallel()
	var (
		inside    atomic.Int32 // calls between their decision and the end of their After functions
		exclusive atomic.Bool  // one of them is exclusive
		kinds     sync.Map     // by ID: the kinds of the events so far
		counts    [3]atomic.Int32
		ids       atomic.Uint64 // sum of all seen
	)
	enter := func(call toolcatalog.Call) {
		inside.Add(1)
		if call.Tool.Sequential && (inside.Load() != 1 || exclusive.Swap(true)) || !call.Tool.Sequential && exclusive.Load() {
			t.Error("a call runs beside an exclusive one")
		}
	}
	leave := func(call toolcatalog.Call) {
		if call.Tool.Sequential {
			exclusive.Store(false)
		}
		inside.Add(-1)
	}
	c := newCatalogWith(t, toolcatalog.Options{
		Policy: toolcatalog.Policy{Decide: func(_ context.Context, call toolcatalog.Call) toolcatalog.Decision {
			switch call.ID % 5 {
			case 0:
				return toolcatalog.Refuse("every fifth")
			case 1:
				return toolcatalog.Ask("every fifth")
			}
			return toolcatalog.Allow()
		}},
		Hooks: []toolcatalog.Hook{{
			Before: func(_ context.Context, call toolcatalog.Call) (json.RawMessage, error) {
				if call.ID%7 == 0 {
					panic("every seventh")
				}
				enter(call)
				return json.RawMessage(`{"n":2}`), nil
			},
			After: func(_ context.Context, call toolcatalog.Call, result json.RawMessage) (json.RawMessage, error) {
				leave(call)
				return json.RawMessage(`{"n":3}`), nil
			},
		}},
		// The call is over for the hook above, if it is refused from here on.
		Approver: func(_ context.Context, call toolcatalog.Call, _ string) error {
			if call.ID%3 == 0 {
				leave(call)
				return errHost
			}
			return nil
		},
		Observer: func(_ context.Context, event toolcatalog.Event) {
			before, _ := kinds.LoadOrStore(event.CallID, toolcatalog.EventKind(""))
			if before == toolcatalog.EventKind("") {
				ids.Add(event.CallID)
			}
			if want := event.Kind == toolcatalog.EventFinished; (before == toolcatalog.EventStarted) != want || before != toolcatalog.EventStarted && before != toolcatalog.EventKind("") {
				t.Errorf("%q after %q", event.Kind, before)
			}
			kinds.Store(event.CallID, event.Kind)
			switch event.Kind {
			case toolcatalog.EventFinished:
				counts[0].Add(1)
			case toolcatalog.EventRefused:
				counts[1].Add(1)
			}
		},
	}, toolcatalog.Define(toolcatalog.Spec{Name: "exclusive", Sequential: true},
		func(_ context.Context, in map[string]int) (map[string]int, error) { return in, nil }),
		toolcatalog.Define(toolcatalog.Spec{Name: "n"}, func(_ context.Context, in map[string]int) (map[string]int, error) { return in, nil }))

	const workers, calls = 8, 150
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 2))
			for range calls {
				name := []string{"n", "n", "exclusive"}[random.IntN(3)]
				got, err := c.Call(context.Background(), name, json.RawMessage(`{"n":1}`))
				switch {
				case err == nil && string(got) == `{"n":3}`:
				case errors.Is(err, toolcatalog.ErrRefused):
					counts[2].Add(1)
				default:
					t.Errorf("%s: %s, %v", name, got, err)
				}
			}
		})
	}
	group.Wait()
	finished, refused, failed := counts[0].Load(), counts[1].Load(), counts[2].Load()
	if finished+refused != workers*calls || refused != failed || finished == 0 || refused == 0 {
		t.Errorf("%d finished, %d refused, %d failed", finished, refused, failed)
	}
	if n := uint64(workers * calls); ids.Load() != n*(n+1)/2 {
		t.Errorf("the IDs are not 1 to %d", n)
	}
	if inside.Load() != 0 {
		t.Errorf("%d calls left inside", inside.Load())
	}
}
