package codemode

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
	"github.com/cellmode/cellmode/internal/jsontext"
)

// suspension is what there is of a cell that waits, in place of its VM.
type suspension struct {
	id       string           // what wait calls the cell; empty until it first waits
	slot     bool             // it has one of the runtime's
	snapshot *engine.Snapshot // nil while it runs

	keeper // in a store
}

// parks tells whether the cell may end its call by waiting for the next one.
func (c *cell) parks() bool { return !c.source.AwaitResults && !c.executor.opts.Headless }

// onItsOwnTime tells whether the cell's time goes on whatever it waits for, and nothing is to be done before a call.
func (c *cell) onItsOwnTime() bool {
	return c.parks() && c.fence == 0 && !c.executor.catalog.MayAsk()
}

// reserve takes the slot that a cell must have before it asks anything of the host.
func (c *cell) reserve() *Result {
	if c.slot || !c.parks() {
		return nil
	}
	switch err := c.executor.runtime.parking.reserve(c.ctx, c.deadline); {
	case errors.Is(err, ErrTooManySuspended):
		return c.failure(c.failed(CodeInvalidInput, c.inputPhase(), fmt.Sprintf("%v (%d): nothing of this batch was started; "+
			"resume the waiting programs first", err, c.executor.runtime.parking.slots), err))
	case err != nil:
		return c.failure(c.stopped(err))
	}
	c.slot = true
	return nil
}

// pause is what becomes of a cell that can only wait, and either has no more time to or wants to be resumed later. Nil: it
// goes on at once.
func (c *cell) pause() *leg {
	yields := len(c.bridge.yields) > 0
	switch {
	case c.source.AwaitResults && yields:
		return &leg{c.failed(CodeInvalidInput, c.hostPhase(), "cannot yield an unfinished program: it was started with awaitResults; "+
			"leave out yield_control, or awaitResults", nil), ended}
	case c.source.AwaitResults:
		return &leg{c.stopped(engine.ErrDeadline), ended}
	case c.executor.opts.Headless:
		return c.goOn()
	}
	r, why := c.park()
	return &leg{r, why}
}

// goOn resumes a headless cell, for which nobody else does, with a fresh budget.
func (c *cell) goOn() *leg {
	now := time.Now()
	if !now.Before(c.wall) {
		return &leg{c.stopped(engine.ErrDeadline), ended}
	}
	c.renew(now)
	return c.wake()
}

// wake goes on with a cell that waited: with what has happened meanwhile, and then with its yields. Otherwise a program that
// yields until something has happened would yield for ever. Nil: it goes on in run.
func (c *cell) wake() *leg {
	b := &c.bridge
	now, yields := time.Now(), len(b.yields)
	b.drain()
	for {
		var err error
		switch {
		case yields > 0 && len(b.ready) > 0:
			err = b.nextReady()
		case yields > 0 && len(b.timers) > 0 && b.timers[0].at.Before(now):
			err = b.fire()
		default:
			if err := b.resolveYields(yields); err != nil {
				return &leg{c.stopped(err), ended}
			}
			return nil
		}
		switch {
		case errors.Is(err, errPause):
			return c.pause()
		case err != nil:
			return &leg{c.stopped(err), ended}
		}
		if failure := c.advance(); failure != nil {
			return &leg{*failure, ended}
		}
	}
}

// renew gives a cell the time of one call of Exec or Wait.
func (c *cell) renew(now time.Time) { c.extend(now.Add(c.limits.timeout)) }

// extend sets the deadline of a cell: for a headless one, no later than its end.
func (c *cell) extend(deadline time.Time) {
	c.deadline = deadline
	if c.executor.opts.Headless && c.wall.Before(deadline) {
		c.deadline = c.wall
	}
	if c.vm != nil {
		c.vm.Limit(c.deadline, c.ctx.Done())
	}
}

// park takes a cell that waits out of its VM. If the outcome is parked, somebody else may have the cell already when it
// returns.
func (c *cell) park() (Result, outcome) {
	e := c.executor
	most := int(c.limits.snapshot) - c.kept()
	snapshot, err := c.vm.Snapshot(most)
	if err != nil {
		if !errors.Is(err, engine.ErrSnapshotLimit) {
			return c.stopped(err), ended
		}
		return c.failed(CodeSnapshotLimitExceeded, c.hostPhase(), fmt.Sprintf("the program holds too much to wait: what is kept of a "+
			"waiting program may have %d bytes; keep less data across the wait", c.limits.snapshot), err), ended
	}
	if c.id == "" {
		var random [16]byte
		_, _ = rand.Read(random[:])
		c.id = "cell_" + hex.EncodeToString(random[:])
	}
	waiting := c.newResult(StatusWaiting)
	waiting.RunID = c.id
	waiting.PendingToolCalls, waiting.Reason = c.bridge.pending()
	shown := c.output.acked
	r := c.deliver(waiting, "")
	if r.Status != StatusWaiting { // nobody would learn of it
		return r, ended
	}
	c.snapshot, c.codeLines, c.source.Code = snapshot, c.lines(), ""
	c.held = true
	stored := false
	if e.opts.Cells != nil {
		c.writing.Lock() // until the cell has its place: a call that ends now finds it there
		defer c.writing.Unlock()
		switch stored, err = c.keepWaiting(); {
		case c.lost():
			return c.notParked(shown)
		case err != nil:
			waiting.Warnings = []string{ellipsize(err.Error(), maxWarning)}
			c.output.acked = shown
			if warned := c.deliver(waiting, ""); warned.Status == StatusWaiting {
				r = warned
			}
		}
	}
	if !c.caller() {
		<-c.ctx.Done() // it is being cancelled
		return c.notParked(shown)
	}
	vm := c.vm
	c.vm = nil
	if !e.runtime.parking.park(c, stored) {
		c.vm = vm
		return c.notParked(shown)
	}
	vm.Release()
	if stored {
		c.cancel(nil)
		e.leave(c)
	}
	return r, parked
}

// notParked is the end of a cell that was ended from outside while it was being parked: nobody sees the waiting result.
func (c *cell) notParked(shown receipt) (Result, outcome) {
	c.output.acked = shown
	return c.stopped(engine.ErrCanceled), ended
}

// kept is the size of what is kept of a waiting cell beside its snapshot.
func (c *cell) kept() int {
	b := &c.bridge
	size := len(c.output.array) + len(c.value.text) + int(b.inbox.Load()) + b.inputBytes
	for _, name := range b.tools {
		size += len(name)
	}
	size += len(b.failed) * maxSavedError
	if c.session != nil {
		size += c.session.bytes()
	}
	return size
}

// restore gives a waiting cell a VM. After an error it waits as before.
func (c *cell) restore() (err error) {
	if c.vm, err = c.image.Restore(context.WithoutCancel(c.ctx), c.snapshot); err == nil {
		c.snapshot = nil
	}
	return err
}

// resume makes a waiting cell, which has a VM, run again.
func (c *cell) resume() leg {
	c.enterVM()
	if l := c.wake(); l != nil {
		return *l
	}
	return c.run()
}

// resolveYields tells the program that it was resumed: the first n of its yields are over.
func (b *bridge) resolveYields(n int) error {
	vm := b.cell.vm
	for range n {
		r := b.yields[0]
		b.yields = b.yields[1:]
		b.inputBytes -= len(r.input)
		reason := []byte("null")
		if r.input != nil {
			reason = jsontext.QuoteUnsafeIntegers(r.input)
		}
		value, readable, err := b.parse(append(append([]byte(`{"status":"yielded","reason":`), reason...), '}'))
		if !readable {
			value, err = vm.ParseJSON([]byte(`{"status":"yielded","reason":null}`))
		}
		if err != nil {
			return err
		}
		done, err := vm.Call(vm.Named(guest.Resolve), engine.Int(r.id), value)
		vm.Free(value)
		if err != nil {
			return err
		}
		vm.Free(done)
	}
	return nil
}

// settle takes the reply of a call that ran on a goroutine of its own.
func (c *cell) settle(r reply) {
	if c.executor.opts.Cells != nil {
		c.journal(r)
		return
	}
	c.bridge.replies <- r
}

// end gives up what the cell holds, when it is over here. What still runs is cancelled. With left, what the store has of
// the cell is for another executor.
func (c *cell) end(left bool) {
	c.caller()
	c.cancel(nil)
	if c.vm != nil {
		c.vm.Release()
		c.vm = nil
	}
	switch parking := &c.executor.runtime.parking; {
	case c.id != "":
		parking.remove(c.id)
	case c.slot:
		parking.free()
	}
	c.forget(left)
	c.executor.leave(c)
}

// drop ends a cell that waits, whose place is gone already.
func (c *cell) drop(cause error) {
	c.cancel(cause)
	c.snapshot = nil
	c.forget(errors.Is(cause, ErrClosed))
	c.executor.leave(c)
}
