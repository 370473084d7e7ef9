package toolcatalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/cellmode/cellmode/internal/jsontext"
	"github.com/cellmode/cellmode/schema"
)

// Call calls a tool and returns its result as compact JSON text. The name is a callable name, or a tool's own name: no name
// is both of two tools.
//
// No input, and null, count as {}. The input of a native tool is completed and checked before the function runs, its result
// after. The function gets a goroutine of its own and ctx as it is; Call returns when the function has returned, so a
// function that ignores its context holds Call.
//
// The error is a [*CallError]. If ctx is done before the function starts, nothing is executed, and errors.Is finds
// ctx.Err() in the error. The caller must leave input alone until Call returns; the result is the caller's own.
func (c *Catalog) Call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	return c.Admit(name).Run(ctx, input)
}

// Admission is the place of one call in the order of its catalog, taken by [Catalog.Admit]. Exactly one of Run, Go, Do
// and Release must follow, once: a place that is kept blocks later calls of sequential tools.
type Admission struct {
	catalog *Catalog
	entry   *entry // nil: no such tool
	name    string // as asked for
	ticket  *ticket
	watch   *watch // nil: nobody decides about the call or looks at it

	onApproval func(waiting bool) // nil: nobody wants to know
	used       atomic.Bool
	at         Stage // how far the call got
}

// Admit takes the next place for a call of a tool, by the names that [Catalog.Call] takes. It fixes the order of calls
// before their goroutines start; it never waits, and an unknown name is reported when the call is made.
func (c *Catalog) Admit(name string) *Admission {
	a := &Admission{catalog: c, entry: c.index[name], name: name}
	if c.queue != nil && a.entry != nil {
		a.ticket = c.queue.admit(a.entry.Sequential)
	}
	if c.watched {
		a.watch = c.newWatch(a.entry, name)
	}
	return a
}

// Run makes the call and waits for its end, like [Catalog.Call].
func (a *Admission) Run(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
	type outcome struct {
		result json.RawMessage
		err    error
	}
	ended := make(chan outcome, 1)
	a.Go(ctx, input, func(result json.RawMessage, err error) { ended <- outcome{result, err} })
	o := <-ended
	return o.result, o.err
}

// Go makes the call on a new goroutine and returns at once. At the end of the call that goroutine calls done, exactly once,
// with what [Catalog.Call] would return, whatever the tool does. The place of the call is free by then.
func (a *Admission) Go(ctx context.Context, input json.RawMessage, done func(result json.RawMessage, err error)) {
	a.use()
	go func() {
		growStack()
		a.call(ctx, input, done)
	}()
}

// Do is Go on the calling goroutine: it saves the change of goroutines, and returns when done has. A tool that ends its
// goroutine (runtime.Goexit) ends the caller's; done is called in that case, too.
func (a *Admission) Do(ctx context.Context, input json.RawMessage, done func(result json.RawMessage, err error)) {
	a.use()
	a.call(ctx, input, done)
}

func (a *Admission) use() {
	if a.used.Swap(true) {
		panic("toolcatalog: an Admission is used twice")
	}
}

func (a *Admission) call(ctx context.Context, input json.RawMessage, done func(result json.RawMessage, err error)) {
	var (
		result json.RawMessage
		err    error
		ended  bool
	)
	// Each of these happens even if one before it ends the goroutine.
	defer func() { done(result, err) }()
	if a.ticket != nil {
		defer a.ticket.release()
	}
	defer func() {
		if !ended {
			result, err = nil, a.interrupted(recover())
		}
		if a.watch != nil {
			a.finish(ctx, result, err)
		}
	}()
	if ctx, err = a.enter(ctx); err == nil {
		result, err = a.run(ctx, input)
	}
	ended = true
}

// Release gives the place back without a call. After Run or Go, and a second time, it does nothing.
func (a *Admission) Release() {
	if !a.used.Swap(true) && a.ticket != nil {
		a.ticket.release()
	}
}

// enter waits for the call's turn and returns the context to go on with.
func (a *Admission) enter(ctx context.Context) (context.Context, error) {
	if a.entry == nil {
		return ctx, a.catalog.unknownTool(a.name)
	}
	a.at = StageQueue
	if a.watch != nil {
		defer a.watch.queued()
	}
	if a.ticket != nil {
		entered, err := a.ticket.enter(ctx)
		if err != nil {
			return ctx, a.entry.notStarted(err)
		}
		ctx = entered
	}
	if err := contextError(ctx); err != nil {
		return ctx, a.entry.notStarted(err)
	}
	return ctx, nil
}

// run takes a call whose turn it is from its input to its result. Without a watch, the stages of the host fall away.
func (a *Admission) run(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
	e := a.entry
	a.at = StageInput
	input, err := e.compact(input)
	if err != nil {
		return nil, err
	}
	var decision Decision
	if a.watch != nil {
		a.watch.input(input)
		if decision, err = a.decide(ctx); err != nil {
			return nil, err
		}
		if input, err = a.before(ctx, input); err != nil {
			return nil, err
		}
		a.watch.input(input)
	}

	a.at = StageInput
	if input, err = e.prepare(input); err != nil {
		return nil, err
	}
	in, err := e.handle.decode(input)
	if err != nil {
		return nil, e.contractError(CodeInputContract, EffectStatusNone, err)
	}
	if a.watch != nil {
		a.watch.input(input)
		if err := a.approve(ctx, decision); err != nil {
			return nil, err
		}
		if err := contextError(ctx); err != nil { // the stages of the host may have taken their time
			return nil, e.notStarted(err)
		}
		a.start(ctx)
	}

	a.at = StageRun
	out, err := e.handle.run(ctx, in)
	if err != nil {
		return nil, e.toolError(err)
	}
	result, err := encode(out)
	if err != nil {
		return nil, e.contractError(CodeOutputContract, EffectStatusUnknown, err)
	}
	if e.output != nil && e.nils {
		result = e.output.FillNils(result)
	}
	if a.watch != nil {
		a.watch.ran()
		if result, err = a.after(ctx, result); err != nil {
			return nil, err
		}
	}

	a.at = StageOutput
	if e.output != nil {
		if err := e.output.Validate(result); err != nil {
			return nil, e.contractError(CodeOutputContract, EffectStatusUnknown, err)
		}
	}
	return result, nil
}

// compact makes an input compact JSON text, and {} of none.
func (e *entry) compact(input json.RawMessage) (json.RawMessage, error) {
	text, err := jsontext.Compact(input)
	if err != nil && len(bytes.TrimSpace(input)) > 0 {
		return nil, e.contractError(CodeInputContract, EffectStatusNone, err)
	}
	return orEmpty(text), nil
}

// orEmpty reads no input, and null, as {}.
func orEmpty(input json.RawMessage) json.RawMessage {
	if len(input) == 0 || string(input) == "null" {
		return json.RawMessage("{}")
	}
	return input
}

// prepare makes an input ready for the function: for a tool with an input contract with exact integers, completed and checked.
func (e *entry) prepare(input json.RawMessage) (json.RawMessage, error) {
	if e.input == nil {
		return input, nil
	}
	text := e.input.CoerceIntegers(input)
	text, err := e.input.ApplyDefaults(text)
	if err == nil {
		err = e.input.Validate(text)
	}
	if err != nil {
		failure := e.contractError(CodeInputContract, EffectStatusNone, err)
		failure.hint = inputHint(e.input.Text(), text)
		return nil, failure
	}
	return text, nil
}

// interrupted is the error of a call that did not return: because of a panic or, if there is none, of runtime.Goexit. It
// blames who was at work: a function of the host, or the tool, methods of its types and its errors included. The details are for
// the log only.
func (a *Admission) interrupted(panicked any) *CallError {
	e, err, did := a.entry, ErrPanic, "panicked; the log of the host has the details"
	if panicked == nil {
		err, did = ErrNoResult, "ended without an answer"
	}
	a.catalog.logger.Error("tool call interrupted",
		"tool", e.ToolName, "stage", a.at, "error", err, "panic", panicked, "stack", string(debug.Stack()))
	switch a.at {
	case StagePolicy, StageHook, StageApproval:
		return e.refused(a.at, "it "+did, err)
	case StageAfterHook:
		failure := e.failure(CodeToolError, EffectStatusUnknown, err)
		failure.text = withheld(e.CallableName, "a hook that gets its result "+did)
		return failure
	}
	effect := EffectStatusUnknown
	if a.at < StageRun {
		effect = EffectStatusNone
	}
	return e.failure(CodeToolError, effect, err)
}

// toolError is the error of a call whose function returned err.
func (e *entry) toolError(err error) *CallError {
	code := CodeToolError
	if isInvalidInput(err) {
		code = CodeInvalidInput
	}
	failure := e.failure(code, EffectStatusUnknown, err)
	failure.text = validText(err.Error())
	return failure
}

func (e *entry) failure(code ErrorCode, effect string, err error) *CallError {
	return &CallError{Code: code, Tool: e.ToolName, CallableName: e.CallableName, EffectStatus: effect, Err: err}
}

// notStarted is the error of a call that ended before its function was called.
func (e *entry) notStarted(err error) *CallError {
	return e.failure(CodeToolError, EffectStatusNone,
		fmt.Errorf("%s was not called: %w", clip(e.CallableName, maxShownName), err))
}

// contractError is the error of a value that is not what the contract says: code is CodeInputContract or CodeOutputContract.
func (e *entry) contractError(code ErrorCode, effect string, err error) *CallError {
	failure := e.failure(code, effect, err)
	var invalid *schema.ValidationError
	if errors.As(err, &invalid) {
		failure.Problems = invalid.Problems
	} else {
		failure.Problems = []schema.Problem{codecProblem(code, err)}
	}
	return failure
}

// contextError is nil, or why ctx is done: its error, and its cause if that says more.
func contextError(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// validText makes text from outside valid UTF-8, which everything that reaches a model or a store must be.
func validText(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// callStack is the stack that a call of a tool with small structs needs, in bytes.
const callStack = 6 << 10

// growStack gives a new goroutine the stack that its call needs, while it is cheap. As validation and encoding/json go
// deeper, the stack would else be copied several times, with all frames on it, which takes more than half of a small call.
//
//go:noinline
func growStack() {
	var room [callStack]byte
	touch(&room)
}

// touch keeps the compiler from dropping room.
//
//go:noinline
func touch(*[callStack]byte) {}
