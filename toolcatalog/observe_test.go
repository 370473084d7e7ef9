package toolcatalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

// Every path of a call gives one refusal, or a start and an end; and no value is in them unless the host wants them.
func TestEvents(t *testing.T) {
	t.Parallel()
	type in struct {
		A    int8          `json:"a"`
		Mode string        `json:"mode,omitempty"`
		For  time.Duration `json:"for,omitempty"`
	}
	spec := toolcatalog.Spec{Name: "t-1", Input: mustParse(t, `{"type":"object","properties":{"a":{"type":"integer"},"extra":{"default":0}}}`),
		Output: mustParse(t, `{"enum":["fine","hooked"]}`), Sequential: true}
	run := func(_ context.Context, in in) (any, error) {
		time.Sleep(in.For)
		switch in.Mode {
		case "fail":
			return nil, toolcatalog.InvalidInput(errors.New("secret"))
		case "panic":
			panic("secret")
		case "exit":
			runtime.Goexit()
		case "wrong":
			return "secret", nil
		case "channel":
			return make(chan int), nil
		}
		return "fine", nil
	}
	decide := func(d toolcatalog.Decision) func(context.Context, toolcatalog.Call) toolcatalog.Decision {
		return func(context.Context, toolcatalog.Call) toolcatalog.Decision { return d }
	}
	approver := func(err error) toolcatalog.Approver {
		return func(context.Context, toolcatalog.Call, string) error {
			time.Sleep(time.Hour)
			return err
		}
	}
	for _, tt := range []struct {
		name   string
		opts   toolcatalog.Options
		tool   string // t-1 if empty
		input  string
		events []string // with times, without values
	}{
		{"unknown tool", toolcatalog.Options{}, "secret", `{"a":1}`, []string{"refused at lookup, unknown_tool none"}},
		{"broken contract", toolcatalog.Options{}, "broken", `{"a":1}`, []string{"refused at contract, invalid_contract none"}},
		{"cancelled in the queue", toolcatalog.Options{}, "cancelled", `{"a":1}`, []string{"refused at queue, queued 1s, tool_error none"}},
		{"policy refuses", toolcatalog.Options{Policy: toolcatalog.Policy{Decide: decide(toolcatalog.Refuse("secret"))}}, "", ` {"a":1}`,
			[]string{"refused at policy, refuse, input 7, refused none"}},
		{"nobody to ask", toolcatalog.Options{Policy: toolcatalog.Policy{Decide: decide(toolcatalog.Ask("secret"))}}, "", `{"a":1}`,
			[]string{"refused at policy, ask, input 7, refused none"}},
		{"hook refuses", toolcatalog.Options{Hooks: []toolcatalog.Hook{rewritesInput(`{"a":10}`), beforeHook(func(toolcatalog.Call) (json.RawMessage, error) {
			return nil, toolcatalog.InvalidInput(errors.New("secret"))
		})}}, "", `{"a":1}`, []string{"refused at hook, input 8 rewritten, invalid_input none"}},
		{"input is not JSON", toolcatalog.Options{}, "", `{secret`, []string{"refused at input, input_contract none"}},
		{"input does not match", toolcatalog.Options{}, "", `{"a":"secret"}`, []string{"refused at input, input 14, input_contract none"}},
		{"input cannot be decoded", toolcatalog.Options{Approver: approver(nil)}, "", `{"a":1000}`, []string{"refused at input, ask, input 10, input_contract none"}},
		{"approver refuses", toolcatalog.Options{Approver: approver(errors.New("secret"))}, "", `{"a":1}`,
			[]string{"refused at approval, ask, approval 1h0m0s, input 17, refused none"}},
		{"fine", toolcatalog.Options{}, "", `{"a":1}`, []string{"started at run, input 17", "finished at output, input 17, output 6"}},
		{"fine, with a wait", toolcatalog.Options{}, "waits", `{"a":1,"for":2000000000}`,
			[]string{"started at run, queued 1s, input 34", "finished at output, queued 1s, run 2s, input 34, output 6"}},
		{"approved and rewritten", toolcatalog.Options{Approver: approver(nil), Hooks: []toolcatalog.Hook{rewritesInput(`{"a":10}`), rewritesResult(`"hooked"`)}}, "", `{"a":1}`,
			[]string{"started at run, ask, approval 1h0m0s, input 18 rewritten",
				"finished at output, ask, approval 1h0m0s, input 18 rewritten, output 8 rewritten"}},
		{"allowed", toolcatalog.Options{Policy: toolcatalog.Policy{Decide: decide(toolcatalog.Allow())}}, "", `{"a":1}`,
			[]string{"started at run, allow, input 17", "finished at output, allow, input 17, output 6"}},
		{"tool fails", toolcatalog.Options{}, "", `{"a":1,"mode":"fail","for":1}`,
			[]string{"started at run, input 39", "finished at run, run 1ns, input 39, invalid_input unknown"}},
		{"tool panics", toolcatalog.Options{}, "", `{"a":1,"mode":"panic","for":1}`,
			[]string{"started at run, input 40", "finished at run, run 1ns, input 40, tool_error unknown"}},
		{"tool ends its goroutine", toolcatalog.Options{}, "", `{"a":1,"mode":"exit"}`,
			[]string{"started at run, input 31", "finished at run, input 31, tool_error unknown"}},
		{"result is not JSON", toolcatalog.Options{}, "", `{"a":1,"mode":"channel"}`,
			[]string{"started at run, input 34", "finished at run, input 34, output_contract unknown"}},
		{"hook withholds the result", toolcatalog.Options{Hooks: []toolcatalog.Hook{afterHook(func(json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("secret")
		})}}, "", `{"a":1}`, []string{"started at run, input 17", "finished at after-hook, input 17, tool_error unknown"}},
		{"result does not match", toolcatalog.Options{}, "", `{"a":1,"mode":"wrong","for":1}`,
			[]string{"started at run, input 40", "finished at output, run 1ns, input 40, output_contract unknown"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, values := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					var events []toolcatalog.Event
					tt.opts.ObserveValues = values
					tt.opts.Observer = func(_ context.Context, event toolcatalog.Event) { events = append(events, event) }
					broken := toolcatalog.Spec{Name: "broken", Output: schema.ParseDeferred([]byte(`{`))}
					c := newCatalogWith(t, tt.opts, toolcatalog.Define(spec, run), rawTool(broken))
					name := tt.tool
					ctx := t.Context()
					switch name {
					case "", "waits", "cancelled":
						name = spec.Name
					}
					if tt.tool == "waits" || tt.tool == "cancelled" { // for a place that is given back after a second
						first := c.Admit(spec.Name)
						time.AfterFunc(time.Second, first.Release)
					}
					if tt.tool == "cancelled" {
						cancelled, cancel := context.WithTimeout(ctx, time.Second-1)
						defer cancel()
						ctx = cancelled
					}
					result, err := c.Call(ctx, name, json.RawMessage(tt.input))
					synctest.Wait()
					time.Sleep(time.Second)

					var got []string
					for i, event := range events {
						got = append(got, describe(event))
						if event.CallID != events[0].CallID || event.CallID == 0 || event.Tool != name || (event.CallableName == "t_1") != (name == spec.Name) {
							t.Errorf("%+v", event)
						}
						text := fmt.Sprintf("%s %s %s %v", event.Input, event.Output, event.Reason, event.Err)
						if !values && (event.Input != nil || event.Output != nil || event.Reason != "" || event.Err != nil) {
							t.Errorf("an event with values: %s", text)
						}
						if values && i == len(events)-1 {
							if event.Err != err || !bytes.Equal(event.Output, result) || len(event.Output) != event.OutputBytes || len(event.Input) != event.InputBytes {
								t.Errorf("got %s, %+v", text, event)
							}
						}
					}
					want := strings.Join(tt.events, "\n")
					if tt.tool == "cancelled" {
						want = strings.ReplaceAll(want, "queued 1s", "queued 999.999999ms")
					}
					if strings.Join(got, "\n") != want {
						t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
					}
				})
			}
		})
	}
}

// describe gives the parts of an event that are set, without values.
func describe(e toolcatalog.Event) string {
	parts := []string{fmt.Sprintf("%s at %s", e.Kind, e.Stage)}
	add := func(set bool, format string, args ...any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	rewritten := map[bool]string{true: " rewritten"}
	add(e.Decision != "", "%s", e.Decision)
	add(e.Queued != 0, "queued %v", e.Queued)
	add(e.Approval != 0, "approval %v", e.Approval)
	add(e.Run != 0, "run %v", e.Run)
	add(e.InputBytes != 0 || e.InputRewritten, "input %d%s", e.InputBytes, rewritten[e.InputRewritten])
	add(e.OutputBytes != 0 || e.OutputRewritten, "output %d%s", e.OutputBytes, rewritten[e.OutputRewritten])
	add(e.Code != "" || e.EffectStatus != "", "%s %s", e.Code, e.EffectStatus)
	return strings.Join(parts, ", ")
}

// A place that is given back is no call, and an observer that fails disturbs nothing.
func TestObserverThatFails(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(){"panics": func() { panic("secret") }, "ends its goroutine": runtime.Goexit} {
		var log bytes.Buffer
		events := 0
		c := newCatalogWith(t, toolcatalog.Options{
			Observer: func(_ context.Context, event toolcatalog.Event) {
				if events++; event.Kind != toolcatalog.EventStarted {
					fail()
				}
			},
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}, rawTool(toolcatalog.Spec{Name: "t", Sequential: true}))
		c.Admit("t").Release()
		if events != 0 {
			t.Errorf("%d events of a place that was given back", events)
		}
		for range 2 {
			if got, err := c.Call(t.Context(), "t", nil); err != nil || string(got) != "{}" {
				t.Errorf("%s: %s, %v", name, got, err)
			}
		}
		_, err := c.Call(t.Context(), "nothing", nil)
		callFails(t, err, toolcatalog.CodeUnknownTool, toolcatalog.EffectStatusNone)
		if events != 5 {
			t.Errorf("%s: %d events", name, events)
		}
		if (name == "panics") != strings.Contains(log.String(), "observer panicked") {
			t.Errorf("%s: logged %s", name, log.String())
		}
	}
}

// The observer hears of the end of a sequential call before the next one starts.
func TestEventsOfSequentialCalls(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	running := false
	c := newCatalogWith(t, toolcatalog.Options{Observer: func(_ context.Context, event toolcatalog.Event) {
		mu.Lock()
		defer mu.Unlock()
		if running == (event.Kind == toolcatalog.EventStarted) {
			t.Errorf("call %d %s", event.CallID, event.Kind)
		}
		running = event.Kind == toolcatalog.EventStarted
	}}, rawTool(toolcatalog.Spec{Name: "t", Sequential: true}))
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() { c.Call(t.Context(), "t", nil) })
	}
	group.Wait()
}

func TestEventInALog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
	logger.Info("tool call", "event", toolcatalog.Event{Kind: toolcatalog.EventStarted, CallID: 1, Tool: strings.Repeat("x", 1000), Stage: toolcatalog.StageRun})
	logger.Info("tool call", "event", toolcatalog.Event{Kind: toolcatalog.EventFinished, CallID: 2, Tool: "t", CallableName: "t", Stage: toolcatalog.StageOutput,
		Decision: "ask", Reason: "because", Queued: 1, Approval: 2, Run: 3, InputBytes: 4, OutputBytes: 5, InputRewritten: true, OutputRewritten: true,
		Code: toolcatalog.CodeOutputContract, EffectStatus: toolcatalog.EffectStatusUnknown, Input: json.RawMessage("{}"), Output: json.RawMessage("1"), Err: errHost})
	want := `msg="tool call" event.kind=started event.call=1 event.tool=` + strings.Repeat("x", 128) + `... event.stage=run
msg="tool call" event.kind=finished event.call=2 event.tool=t event.stage=output event.decision=ask event.reason=because event.queued=1ns event.approval=2ns event.run=3ns event.input_bytes=4 event.output_bytes=5 event.input_rewritten=true event.output_rewritten=true event.code=output_contract event.effect_status=unknown event.input={} event.output=1 event.error="the host says no"
`
	if log.String() != want {
		t.Errorf("got\n%s\nwant\n%s", log.String(), want)
	}
	text, err := json.Marshal([]toolcatalog.Stage{toolcatalog.StageLookup, toolcatalog.StageAfterHook, toolcatalog.StageOutput, 99})
	if want := `["lookup","after-hook","output","Stage(99)"]`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

// An observer may call the catalog, also when it is told of a call that gave up its place in the queue: nothing waits for that.
func TestObserverOfACallThatGaveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c *toolcatalog.Catalog
		sequential := toolcatalog.DefineRaw(toolcatalog.Spec{Name: "slow", Sequential: true}, func(context.Context, json.RawMessage) (any, error) {
			time.Sleep(time.Minute)
			return 1, nil
		})
		audited := 0
		c, err := toolcatalog.New([]*toolcatalog.Tool{sequential, named("audit")}, &toolcatalog.Options{
			Observer: func(ctx context.Context, e toolcatalog.Event) {
				if e.Kind == toolcatalog.EventRefused && e.Tool == "slow" {
					if _, err := c.Call(context.WithoutCancel(ctx), "audit", nil); err != nil {
						t.Error(err)
					}
					audited++
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = c.Call(context.Background(), "slow", nil) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Call(ctx, "slow", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := c.Call(t.Context(), "audit", nil); err != nil || audited != 1 {
			t.Errorf("%d audited, %v", audited, err)
		}
	})
}

// An observer that ends the goroutine of a call before the function is called is to blame, and not the tool.
func TestObserverThatEndsTheGoroutine(t *testing.T) {
	t.Parallel()
	ran := false
	tool := toolcatalog.DefineRaw(toolcatalog.Spec{Name: "t"}, func(context.Context, json.RawMessage) (any, error) { ran = true; return 1, nil })
	c, err := toolcatalog.New([]*toolcatalog.Tool{tool}, &toolcatalog.Options{Observer: func(_ context.Context, e toolcatalog.Event) {
		if e.Kind == toolcatalog.EventStarted {
			runtime.Goexit()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Call(t.Context(), "t", nil)
	failure := callFails(t, err, toolcatalog.CodeToolError, toolcatalog.EffectStatusNone)
	if ran || !errors.Is(err, toolcatalog.ErrNoResult) || !strings.Contains(failure.Message(), "observer") {
		t.Errorf("ran %t, %v", ran, err)
	}
}
