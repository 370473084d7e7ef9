package toolcatalog

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// Observer is told about every call of a catalog, for logs, metrics and audits. A call gives either one event, EventRefused,
// or two, EventStarted and EventFinished; a place that is given back ([Admission.Release]) gives none.
//
// It runs on the goroutine of the call, which waits for it, and before the place of the call is free: it is expected to be
// quick. Many goroutines call it at once. A panic is logged and changes nothing else.
type Observer func(ctx context.Context, event Event)

// Event says what became of a call. It holds no part of an input, a result or an error, unless [Options].ObserveValues is set;
// names are as they were asked for, and so may be long.
type Event struct {
	Kind EventKind

	// CallID is the ID of the [Call].
	CallID uint64

	// Tool is the tool's own name, and CallableName the one that cells know it by. For an unknown tool, Tool is the name
	// that was asked for, and CallableName is empty.
	Tool, CallableName string

	// Stage is how far the call got. For a refused call it says who refused it: StageLookup to StageApproval.
	Stage Stage

	// Decision is what the policy said: "allow", "ask" or "refuse". It is empty if nobody was asked.
	Decision string

	// How long the call waited for its turn, from its admission; how long it waited for an Approver; and how long the tool's
	// function ran, the encoding of its result included. Zero for what did not happen yet.
	Queued, Approval, Run time.Duration

	// The size of the input, compact, as far as the call had come with it: at the start it is that of the completed input.
	// And the size of the result, if the call returned one.
	InputBytes, OutputBytes int

	// InputRewritten and OutputRewritten say that a hook put another value in the place of the input or the result.
	InputRewritten, OutputRewritten bool

	// Code and EffectStatus are those of the [CallError]. They are empty if there is none.
	Code         ErrorCode
	EffectStatus string

	// What only [Options].ObserveValues shows: the reason of the decision, the input as far as the call had come with it, the
	// result, and the error. They must not be changed, and not be kept after the Observer has returned.
	Reason        string
	Input, Output json.RawMessage
	Err           error
}

// EventKind is what an [Event] is about.
type EventKind string

// The kinds of events.
const (
	EventStarted  EventKind = "started"  // the tool's function is about to be called
	EventFinished EventKind = "finished" // a call that started has ended, well or not
	EventRefused  EventKind = "refused"  // a call ended without being started: nothing was executed
)

// Stage is how far a call got.
type Stage uint8

// The stages of a call, in their order. A call that ended well has got to the last.
const (
	StageLookup    Stage = iota // the name is looked up
	StageQueue                  // the call waits for its turn, or its context ended before it
	StageContract               // the schemas of the tool are looked at
	StagePolicy                 // Policy.Decide
	StageHook                   // Before functions of hooks
	StageInput                  // the input is completed, checked and decoded
	StageApproval               // an Approver is asked
	StageRun                    // the tool's function
	StageAfterHook              // After functions of hooks
	StageOutput                 // the result is checked
)

var stageNames = [...]string{"lookup", "queue", "contract", "policy", "hook", "input", "approval", "run", "after-hook", "output"}

// String is the name of the stage in lower case: "policy", "after-hook".
func (s Stage) String() string {
	if int(s) < len(stageNames) {
		return stageNames[s]
	}
	return fmt.Sprintf("Stage(%d)", uint8(s))
}

// MarshalText gives [Stage.String].
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue gives the fields of the event that say something, as a group: slog.Info("tool call", "event", event).
func (e Event) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("kind", string(e.Kind)),
		slog.Uint64("call", e.CallID),
		slog.String("tool", clip(e.Tool, maxShownName)),
		slog.String("stage", e.Stage.String()),
	}
	add := func(said bool, attr slog.Attr) {
		if said {
			attrs = append(attrs, attr)
		}
	}
	add(e.Decision != "", slog.String("decision", e.Decision))
	add(e.Reason != "", slog.String("reason", e.Reason))
	add(e.Queued > 0, slog.Duration("queued", e.Queued))
	add(e.Approval > 0, slog.Duration("approval", e.Approval))
	add(e.Run > 0, slog.Duration("run", e.Run))
	add(e.InputBytes > 0, slog.Int("input_bytes", e.InputBytes))
	add(e.OutputBytes > 0, slog.Int("output_bytes", e.OutputBytes))
	add(e.InputRewritten, slog.Bool("input_rewritten", true))
	add(e.OutputRewritten, slog.Bool("output_rewritten", true))
	add(e.Code != "", slog.String("code", string(e.Code)))
	add(e.EffectStatus != "", slog.String("effect_status", e.EffectStatus))
	add(e.Input != nil, slog.String("input", string(e.Input)))
	add(e.Output != nil, slog.String("output", string(e.Output)))
	add(e.Err != nil, slog.Any("error", e.Err))
	return slog.GroupValue(attrs...)
}

// watch is what a call keeps for the policy, the hooks, the approver and the observer of its catalog.
type watch struct {
	call     Call
	event    Event     // filled in as the call goes on
	given    selection // of the input as it was given, if a hook rewrote that
	admitted time.Time
	began    time.Time // when the function was called
}

func (c *Catalog) newWatch(e *entry, name string) *watch {
	w := &watch{call: Call{ID: c.calls.Add(1)}, admitted: time.Now()}
	w.event = Event{CallID: w.call.ID, Tool: name}
	if e != nil {
		w.call.Tool = e.public()
		w.event.Tool, w.event.CallableName = e.ToolName, e.CallableName
	}
	return w
}

func (w *watch) queued() { w.event.Queued = time.Since(w.admitted) }

func (w *watch) input(text json.RawMessage) {
	w.call.Input = text
	w.event.InputBytes = len(text)
}

func (w *watch) decided(d Decision) { w.event.Decision, w.event.Reason = d.String(), d.reason }

func (w *watch) approvalTook(since time.Time) { w.event.Approval = time.Since(since) }

func (w *watch) ran() { w.event.Run = time.Since(w.began) }

// start tells the observer that the function is about to be called.
func (a *Admission) start(ctx context.Context) {
	a.watch.began = time.Now()
	a.observe(ctx, EventStarted)
}

// finish tells the observer how the call ended.
func (a *Admission) finish(ctx context.Context, result json.RawMessage, err error) {
	w, kind := a.watch, EventRefused
	if a.at >= StageRun {
		kind = EventFinished
	}
	if a.at == StageRun { // it did not return a result
		w.ran()
	}
	if failure, ok := err.(*CallError); ok {
		w.event.Code, w.event.EffectStatus = failure.Code, failure.EffectStatus
	}
	w.event.OutputBytes, w.event.Output, w.event.Err = len(result), result, err
	a.observe(ctx, kind)
}

func (a *Admission) observe(ctx context.Context, kind EventKind) {
	c, event := a.catalog, a.watch.event
	if c.observer == nil {
		return
	}
	event.Kind, event.Stage = kind, a.at
	if event.Input = a.watch.call.Input; !c.observeValues {
		event.Reason, event.Input, event.Output, event.Err = "", nil, nil, nil
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			c.logger.Error("observer panicked", "tool", event.Tool, "panic", panicked, "stack", string(debug.Stack()))
		}
	}()
	c.observer(ctx, event)
}
