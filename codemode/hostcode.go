package codemode

import (
	"context"
	"errors"
	"runtime/debug"
	"time"
)

var (
	errHostPanic = errors.New("the host's own code panicked; its log has the details")
	errHostEnded = errors.New("the host's own code ended its goroutine")
)

// await calls what may come to code of the host's, or may take long, on another goroutine, and waits for it until ctx is
// done. One that has not returned by then goes on, so that what it uses must be its own: over is closed when it has. The
// executor waits for it at its end. Over is nil if it has returned.
func (e *Executor) await(ctx context.Context, f func() error) (over <-chan struct{}, err error) {
	result, ended := make(chan error, 1), make(chan struct{})
	e.running.Add(1)
	go func() {
		defer e.running.Done()
		defer close(ended)
		err := errHostEnded
		defer func() { result <- err }()
		err = e.guarded(f)
	}()
	select {
	case err := <-result:
		return nil, err
	case <-ctx.Done():
		return ended, context.Cause(ctx)
	}
}

// await is await of the executor, up to a time, or until the cell is given up. It tells whether the call has returned.
func (c *cell) await(until time.Time, f func() error) (returned bool, err error) {
	ctx, cancel := context.WithDeadline(c.ctx, until)
	defer cancel()
	over, err := c.executor.await(ctx, f)
	return over == nil, err
}

// guarded makes an error of a panic, whose details are for the log.
func (e *Executor) guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e.runtime.logger.Error("code mode: the host's code panicked", "run", e.opts.RunID, "session", e.opts.SessionID,
				"panic", p, "stack", string(debug.Stack()))
			err = errHostPanic
		}
	}()
	return f()
}
