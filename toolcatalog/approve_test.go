package toolcatalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/toolcatalog"
)

// Without a policy, an approver is asked for everything that may change something.
func TestApproverWithoutPolicy(t *testing.T) {
	t.Parallel()
	var asked []string
	opts := toolcatalog.Options{Approver: func(_ context.Context, call toolcatalog.Call, reason string) error {
		asked = append(asked, call.Tool.ToolName+": "+reason)
		return nil
	}}
	tools := []*toolcatalog.Tool{
		named("unknown"),
		rawTool(toolcatalog.Spec{Name: "read", Effect: toolcatalog.EffectRead}),
		rawTool(toolcatalog.Spec{Name: "mutate", Effect: toolcatalog.EffectMutate}),
	}
	c := newCatalogWith(t, opts, tools...)
	for _, name := range []string{"unknown", "read", "mutate"} {
		if _, err := c.Call(t.Context(), name, nil); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"unknown: it may change something", "mutate: it changes something"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}

	// A policy says itself what needs approval.
	opts.Policy.Decide = func(context.Context, toolcatalog.Call) toolcatalog.Decision { return toolcatalog.Allow() }
	asked = nil
	if _, err := newCatalogWith(t, opts, tools...).Call(t.Context(), "mutate", nil); err != nil || len(asked) > 0 {
		t.Errorf("asked %q, %v", asked, err)
	}
	if !c.MayAsk() || newCatalog(t, tools...).MayAsk() {
		t.Error("MayAsk is wrong")
	}
}

// An approver that waits until its context is done keeps the function from being called, whatever it says then.
func TestApprovalCancelled(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(context.Context) error{
		"approves": func(context.Context) error { return nil },
		"refuses":  func(context.Context) error { return errHost },
		"gives up": func(ctx context.Context) error { return ctx.Err() },
		"panics":   func(ctx context.Context) error { panic("secret") },
	} {
		for _, sequential := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, sequential %v", name, sequential), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var waits []string
					var events []toolcatalog.Event
					c := newCatalogWith(t, toolcatalog.Options{
						Approver: func(ctx context.Context, _ toolcatalog.Call, _ string) error {
							<-ctx.Done()
							return answer(ctx)
						},
						Observer: func(_ context.Context, event toolcatalog.Event) { events = append(events, event) },
					}, toolcatalog.DefineRaw(toolcatalog.Spec{Name: "danger", Sequential: sequential},
						func(context.Context, json.RawMessage) (any, error) {
							t.Error("the function ran")
							return nil, nil
						}),
						rawTool(toolcatalog.Spec{Name: "harmless", Effect: toolcatalog.EffectRead}))
					cause := errors.New("the session was closed")
					ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
					defer cancel()
					admission := c.Admit("danger")
					admission.OnApproval(func(waiting bool) { waits = append(waits, fmt.Sprint(waiting)) })
					_, err := admission.Run(ctx, nil)
					if name == "panics" {
						callFails(t, err, toolcatalog.CodeRefused, toolcatalog.EffectStatusNone)
					} else {
						failure := callFails(t, err, toolcatalog.CodeToolError, toolcatalog.EffectStatusNone)
						if want := "danger was not called: context deadline exceeded: the session was closed"; failure.Message() != want {
							t.Errorf("got %s, want %s", failure.Message(), want)
						}
						if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cause) || errors.Is(err, toolcatalog.ErrRefused) {
							t.Errorf("got %v", err)
						}
					}
					if want := []string{"true", "false"}; !slices.Equal(waits, want) {
						t.Errorf("waiting %v, want %v", waits, want)
					}
					if len(events) != 1 || events[0].Kind != toolcatalog.EventRefused || events[0].Stage != toolcatalog.StageApproval || events[0].Approval != time.Minute {
						t.Errorf("events %+v", events)
					}
					if _, err := c.Call(t.Context(), "harmless", nil); err != nil { // the place is free
						t.Error(err)
					}
				})
			})
		}
	}
}

// Calls wait for their approvals side by side; a sequential one keeps its place meanwhile.
func TestApprovalsTakeTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCatalogWith(t, toolcatalog.Options{Approver: func(ctx context.Context, call toolcatalog.Call, _ string) error {
			time.Sleep(10 * time.Minute)
			return nil
		}}, named("shared"), rawTool(toolcatalog.Spec{Name: "exclusive", Sequential: true}))
		began := time.Now()
		var done sync.WaitGroup
		for i, name := range []string{"shared", "shared", "exclusive", "shared"} {
			done.Add(1)
			c.Admit(name).Go(t.Context(), nil, func(_ json.RawMessage, err error) {
				defer done.Done()
				want := []time.Duration{10, 10, 20, 30}[i] * time.Minute
				if took := time.Since(began); err != nil || took != want {
					t.Errorf("call %d took %v, want %v: %v", i, took, want, err)
				}
			})
		}
		done.Wait()
	})
}
