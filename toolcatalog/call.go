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
	used    atomic.Bool
	at      stage // how far the call got
}

// Admit takes the next place for a call of a tool, by the names that [Catalog.Call] takes. It fixes the order of calls
// before their goroutines start; it never waits, and an unknown name is reported when the call is made.
func (c *Catalog) Admit(name string) *Admission {
	a := &Admission{catalog: c, entry: c.index[name], name: name}
	if c.queue != nil && a.entry != nil {
		a.ticket = c.queue.admit(a.entry.Sequential)
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
	defer func() {
		if !ended {
			result, err = nil, a.interrupted(recover())
		}
		done(result, err)
	}()
	result, err = a.run(ctx, input)
	ended = true
}

// Release gives the place back without a call. After Run or Go, and a second time, it does nothing.
func (a *Admission) Release() {
	if !a.used.Swap(true) && a.ticket != nil {
		a.ticket.release()
	}
}

// run takes the call from its place in the queue to its result.
func (a *Admission) run(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
	c, e := a.catalog, a.entry
	if e == nil {
		return nil, c.unknownTool(a.name)
	}
	if a.ticket != nil {
		defer a.ticket.release()
		var err error
		if ctx, err = a.ticket.enter(ctx); err != nil {
			return nil, e.notStarted(err)
		}
	}
	if err := contextError(ctx); err != nil {
		return nil, e.notStarted(err)
	}
	input, err := e.prepare(input)
	if err != nil {
		return nil, err
	}
	result, err := e.handle(ctx, input, &a.at)
	if err != nil {
		return nil, e.handlerError(a.at, err)
	}
	if e.output == nil {
		return result, nil
	}
	if e.nils {
		result = e.output.FillNils(result)
	}
	if err := e.output.Validate(result); err != nil {
		return nil, e.contractError(CodeOutputContract, EffectStatusUnknown, err)
	}
	return result, nil
}

// prepare makes an input ready for the function: compact, and for a tool with an input contract with exact integers,
// completed and checked.
func (e *entry) prepare(input json.RawMessage) (json.RawMessage, error) {
	text, err := jsontext.Compact(input)
	if err != nil {
		if len(bytes.TrimSpace(input)) > 0 {
			return nil, e.contractError(CodeInputContract, EffectStatusNone, err)
		}
		text = []byte("{}")
	}
	if string(text) == "null" {
		text = []byte("{}")
	}
	if e.input == nil {
		return text, nil
	}
	text = e.input.CoerceIntegers(text)
	if text, err = e.input.ApplyDefaults(text); err == nil {
		err = e.input.Validate(text)
	}
	if err != nil {
		failure := e.contractError(CodeInputContract, EffectStatusNone, err)
		failure.hint = inputHint(e.input.Text(), text)
		return nil, failure
	}
	return text, nil
}

// interrupted is the error of a call that did not return: because of a panic, of the tool or of a method of its types or
// its errors, or, if there is none, because of runtime.Goexit. The details are for the log only.
func (a *Admission) interrupted(panicked any) *CallError {
	err, effect := ErrPanic, EffectStatusUnknown
	if panicked == nil {
		err = ErrNoResult
	}
	if a.at == stageDecode {
		effect = EffectStatusNone
	}
	a.catalog.logger.Error("tool call interrupted", "tool", a.entry.ToolName, "error", err, "panic", panicked, "stack", string(debug.Stack()))
	return a.entry.failure(CodeToolError, effect, err)
}

// handlerError says what the error of a handler means.
func (e *entry) handlerError(at stage, err error) *CallError {
	switch at {
	case stageDecode:
		return e.contractError(CodeInputContract, EffectStatusNone, err)
	case stageEncode:
		return e.contractError(CodeOutputContract, EffectStatusUnknown, err)
	}
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
