package toolcatalog

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
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
	called     bool  // the tool's function was
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
	var outcome struct {
		result json.RawMessage
		err    error
	}
	ended := make(chan struct{})
	a.Go(ctx, input, func(result json.RawMessage, err error) {
		outcome.result, outcome.err = result, err
		close(ended)
	})
	<-ended
	return outcome.result, outcome.err
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
	if a.onApproval != nil {
		ctx = context.WithValue(ctx, approvalKey{}, a.onApproval)
	}
	if a.ticket != nil {
		entered, err := a.ticket.enter(ctx)
		if err != nil {
			// It will not run, so that nothing may wait for it: not a call that the observer makes now either.
			a.ticket.release()
			return ctx, a.entry.notStarted(err)
		}
		ctx = entered
	}
	if err := contextError(ctx); err != nil {
		return ctx, a.entry.notStarted(err)
	}
	return ctx, nil
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
