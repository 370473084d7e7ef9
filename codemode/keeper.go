package codemode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/toolcatalog"
)

// keeper keeps a cell in the executor's CellStore from the first time that it waits. What the store has of it is at any
// moment a state from which another process may go on without doing anything twice: it is written anew before calls are
// dispatched, and the replies of calls are written down before the program sees them.
type keeper struct {
	writing writeLock // held while the store is written to; guards what follows. Nil without a store
	fence   int64     // number of the lease; 0: the cell is not in the store
	owed    int       // replies that the store has not got of the calls that were in flight when the cell was written
	renewal *time.Timer
	held    bool            // it was parked here, so that its place has it
	unsure  bool            // the first write failed: the store may have the cell all the same. Such a cell does not run
	stale   bool            // the last write failed: the store has an older state of the cell
	until   time.Time       // when the lease ends
	gone    bool            // somebody else has the cell, or it is over
	stuck   <-chan struct{} // closed when what the store was last asked to do, and did not, is over
}

// storeTimeout is how long a CellStore may take for one thing; storePatience how long it may go on when its context is done.
const (
	storeTimeout  = 5 * time.Second
	storePatience = time.Second
)

var errStoreStuck = errors.New("the store does not answer, and its context is done")

// writeLock is a mutex that is held while a store is waited for.
type writeLock chan struct{}

func (t writeLock) Lock()   { t <- struct{}{} }
func (t writeLock) Unlock() { <-t }

// withStore does one thing with the store, for which an end of the cell is no end. What a store that ignores its context
// was asked to do must not happen later, when the cell has gone on: until it is over nothing else is asked. The caller
// holds writing.
func (c *cell) withStore(do func(ctx context.Context, cells CellStore) error) (err error) {
	if c.stuck != nil {
		select {
		case <-c.stuck:
		case <-time.After(storePatience):
			return errStoreStuck
		}
	}
	c.stuck, err = c.executor.withCells(context.WithoutCancel(c.ctx), do)
	return err
}

// withCells does one thing with the store. If the store ignores the end of its context, stuck is closed when it returns.
func (e *Executor) withCells(ctx context.Context, do func(ctx context.Context, cells CellStore) error) (stuck <-chan struct{}, err error) {
	patience, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), storeTimeout+storePatience, errStoreStuck)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return e.await(patience, func() error { return do(ctx, e.opts.Cells) })
}

// record writes the cell as it is before calls are dispatched, which are in flight already as far as the record knows. A
// cell that never waited is nobody's to go on with, and not recorded.
func (c *cell) record() error {
	if c.fence == 0 {
		return nil
	}
	snapshot, err := c.vm.Snapshot(int(c.limits.snapshot) - c.kept())
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.write(snapshot, time.Now().Add(c.limits.lease))
}

// keepWaiting writes a cell that waits. The result is true if the store has all of it: then nothing of it must stay here. A
// cell whose calls are in flight is leased until they have ended. The caller holds writing.
func (c *cell) keepWaiting() (stored bool, err error) {
	c.bridge.drain()
	var until time.Time
	if inFlight := len(c.bridge.flying) > len(c.bridge.ready); inFlight {
		until = time.Now().Add(c.limits.lease)
	}
	if err := c.write(c.snapshot, until); err != nil {
		return false, fmt.Errorf("the waiting program is kept in this process only: %w", err)
	}
	if until.IsZero() {
		c.stopRenewal()
		return true, nil
	}
	c.startRenewal()
	return false, nil
}

// write writes the cell, with the replies that have arrived. The caller holds writing.
func (c *cell) write(snapshot *engine.Snapshot, until time.Time) error {
	if c.gone {
		return store.ErrLeaseLost
	}
	c.stale = true
	c.bridge.drain()
	data, err := c.encodeRecord(snapshot)
	if err != nil {
		return err
	}
	expires := time.Now().Add(c.limits.snapshotTTL)
	if !until.IsZero() {
		expires = expires.Add(c.limits.lease) // should this process die, others have as long as if it had parked the cell
	}
	first := c.fence == 0
	opts := &c.executor.opts
	err = c.withStore(func(ctx context.Context, cells CellStore) error {
		return cells.SaveCell(ctx, store.Cell{
			ID: c.id, RunID: opts.RunID, SessionID: opts.SessionID, Data: data,
			Expires: expires, Fence: c.fence, Leased: until,
		})
	})
	switch {
	case first && err != nil:
		// It may have been made, and somebody else may find it: nothing happens before that is known.
		if c.unsure = true; c.makeSure(until) != nil || c.fence == 0 {
			return err
		}
		err = nil
	case errors.Is(err, store.ErrLeaseLost):
		c.takenOver()
	}
	if err == nil {
		c.fence, c.until, c.stale = max(1, c.fence), until, false
		c.owed = len(c.bridge.flying) - len(c.bridge.ready)
	}
	return err
}

// makeSure finds out whether a first write that failed was made after all. Without an error the cell is either in the store,
// and leased until the time given, or not. The caller holds writing.
func (c *cell) makeSure(until time.Time) error {
	if !c.unsure {
		return nil
	}
	var fence int64
	err := c.withStore(func(ctx context.Context, cells CellStore) error {
		kept, err := cells.LoadCell(ctx, c.id)
		if err == nil && kept.Fence == 1 {
			err = cells.RenewLease(ctx, c.id, 1, until)
		} else if err == nil {
			err = store.ErrLeaseLost
		}
		return err
	})
	switch {
	case err == nil:
		fence = 1
	case errors.Is(err, store.ErrUnknownCell):
	case errors.Is(err, store.ErrLeaseLost):
		c.takenOver()
		return err
	default:
		return err
	}
	c.unsure, c.fence, c.until = false, fence, until
	if fence != 0 && !until.IsZero() {
		c.startRenewal()
	}
	return nil
}

// drain takes over the replies that have arrived.
func (b *bridge) drain() {
	for {
		select {
		case r := <-b.replies:
			b.ready = append(b.ready, r)
		default:
			return
		}
	}
}

// takenOver ends a cell that somebody else has leased. The caller holds writing.
func (c *cell) takenOver() {
	c.gone = true
	c.stopRenewal()
	c.cancel(ErrTakenOver)
}

func (c *cell) lost() bool { return errors.Is(context.Cause(c.ctx), ErrTakenOver) }

// notRecorded fails calls that must not be made, since nobody would know of them.
func (b *bridge) notRecorded(calls []request, err error) *Result {
	c := b.cell
	if c.lost() {
		return c.failure(c.stopped(engine.ErrCanceled))
	}
	if errors.Is(err, engine.ErrSnapshotLimit) {
		err = fmt.Errorf("it holds more than the %d bytes that are kept of a program", c.limits.snapshot)
	}
	for _, r := range calls {
		b.ready = append(b.ready, b.admit(&r, nil, &toolcatalog.CallError{
			Code: toolcatalog.CodeToolError, Tool: b.tools[r.tool], EffectStatus: toolcatalog.EffectStatusNone,
			Err: fmt.Errorf("%w, so the call was not made: %w", ErrNotRecorded, err),
		}))
	}
	return nil
}

// journal takes the reply of a call of an executor with a CellStore. If the cell is in the store, the reply is written down
// first, so that the call is not made again. A waiting cell whose last reply this is needs nothing of this process any
// more.
func (c *cell) journal(r reply) {
	c.writing.Lock()
	defer c.writing.Unlock()
	defer func() { c.bridge.replies <- r }()
	// An error of a call that was cancelled with the cell says nothing about its effect.
	if c.fence == 0 || c.gone || r.err != nil && c.ctx.Err() != nil {
		return
	}
	data, err := marshal(saveReply(r))
	if err == nil && jsonDepth(data) > maxDepth {
		err = errTooDeep
	}
	if err == nil {
		err = c.withStore(func(ctx context.Context, cells CellStore) error {
			return cells.AddReply(ctx, c.id, c.fence, store.Reply{Call: int64(r.call), Data: data})
		})
	}
	switch {
	case errors.Is(err, store.ErrLeaseLost):
		c.takenOver()
	case err != nil:
		c.logStore("the reply of a call was not recorded", err)
	default:
		if c.owed--; c.owed == 0 && !c.stale {
			c.letGo()
		}
	}
}

// letGo gives a waiting cell, of which the store has everything now, to whoever resumes it. The caller holds writing.
func (c *cell) letGo() {
	if !c.executor.runtime.parking.store(c) {
		return
	}
	c.stopRenewal()
	c.gone = true
	c.giveBack()
	c.snapshot = nil
	c.executor.leave(c)
}

func (c *cell) giveBack() {
	err := c.withStore(func(ctx context.Context, cells CellStore) error {
		return cells.RenewLease(ctx, c.id, c.fence, time.Time{})
	})
	if err != nil && !errors.Is(err, store.ErrLeaseLost) {
		c.logStore("a lease was not given back", err)
	}
}

func (c *cell) logStore(what string, err error) {
	opts := &c.executor.opts
	c.executor.runtime.logger.Error("code mode: "+what, "run", opts.RunID, "session", opts.SessionID, "cell", c.id, "error", err)
}

// forget removes a cell that is over from the store; or leaves it there, to whoever comes next.
func (c *cell) forget(leave bool) {
	if c.executor.opts.Cells == nil {
		return
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.stopRenewal()
	if c.fence == 0 || c.gone {
		return
	}
	if leave {
		c.executor.leftBehind(c)
		return
	}
	c.gone = true
	err := c.withStore(func(ctx context.Context, cells CellStore) error { return cells.DeleteCell(ctx, c.id, c.fence) })
	if err != nil && !errors.Is(err, store.ErrLeaseLost) {
		c.logStore("a cell that is over was not removed", err)
	}
}

// mayComplete tells whether a cell that is done may have its last effects, the commit of its session. Who has no word from
// the store is trusted while his lease lasts.
func (c *cell) mayComplete() bool {
	if c.fence == 0 {
		return true
	}
	if err := c.stillMine(); err != nil && !c.lost() && !time.Now().Before(c.until) {
		c.writing.Lock()
		defer c.writing.Unlock()
		c.takenOver()
	}
	return !c.lost()
}

// putBack leaves a cell that was found, and cannot be run here, to others.
func (e *Executor) putBack(c *cell) {
	if c.fence == 0 || c.held {
		e.runtime.parking.unclaim(c.id)
		return
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.stopRenewal()
	c.gone = true
	c.giveBack()
	c.cancel(nil)
	e.runtime.parking.remove(c.id)
}

// startRenewal renews the lease until stopRenewal. The caller holds writing.
func (c *cell) startRenewal() {
	if c.renewal == nil {
		c.executor.running.Add(1)
		c.renewal = time.AfterFunc(c.limits.lease/3, c.renewLease)
	}
}

func (c *cell) stopRenewal() {
	if c.renewal != nil && c.renewal.Stop() {
		c.executor.running.Done()
	}
	c.renewal = nil
}

func (c *cell) renewLease() {
	defer c.executor.running.Done()
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.renewal == nil {
		return
	}
	err := c.extendLease()
	c.renewal = nil
	switch {
	case errors.Is(err, store.ErrLeaseLost):
		c.takenOver()
		return
	case err != nil:
		c.logStore("a lease was not renewed", err)
	}
	c.startRenewal()
}

// find gets a waiting cell of the executor: out of this process, or out of its store.
func (e *Executor) find(ctx context.Context, id string, deadline time.Time) (*cell, error) {
	parking := &e.runtime.parking
	c, found, err := parking.claim(e, id)
	switch {
	case err != nil:
		return nil, err
	case c != nil && c.fence == 0 && !c.unsure: // not in a store
		return c, nil
	case c != nil:
		if err := c.stillMine(); err == nil {
			return c, nil
		} else if !errors.Is(err, store.ErrLeaseLost) {
			parking.unclaim(id)
			return nil, fmt.Errorf("%w: %w", ErrCellStore, err)
		}
		c.end(false)
		found = false
	case e.opts.Cells == nil:
		return nil, unknownCell(id)
	}
	if !found {
		if err := e.look(ctx, id); err != nil { // before it costs anything
			return nil, err
		}
		if err := parking.reserve(ctx, deadline); err != nil {
			return nil, err
		}
		if !parking.adopt(e, id) {
			parking.free()
			return nil, fmt.Errorf("%w: %.64q", ErrResuming, id)
		}
	}
	c, err = e.fetch(ctx, id, deadline)
	switch {
	case err == nil:
		return c, nil
	case found && !errors.Is(err, ErrNotWaiting):
		parking.unclaim(id)
	default:
		parking.remove(id)
	}
	return nil, err
}

func unknownCell(id string) error {
	return fmt.Errorf("%w under the runId %.64q: it has ended or expired, or never was. Pass the runId at the top level of a result of exec or wait "+
		"whose status is waiting; an id that a tool gave belongs to that tool", ErrNotWaiting, id)
}

func (c *cell) extendLease() error {
	until := time.Now().Add(c.limits.lease)
	err := c.withStore(func(ctx context.Context, cells CellStore) error { return cells.RenewLease(ctx, c.id, c.fence, until) })
	if err == nil {
		c.until = until
	}
	return err
}

// stillMine makes sure of the lease of a cell, to run it or to complete it.
func (c *cell) stillMine() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.gone {
		return store.ErrLeaseLost
	}
	if err := c.makeSure(time.Now().Add(c.limits.lease)); err != nil || c.fence == 0 {
		return err
	}
	err := c.extendLease()
	switch {
	case errors.Is(err, store.ErrLeaseLost):
		c.takenOver()
	case err == nil:
		c.startRenewal()
	}
	return err
}

// fetch leases a cell of the store and makes it a cell of the executor. While somebody else has the lease it waits, as long
// as there is time: a process that has died does not give its leases back.
func (e *Executor) fetch(ctx context.Context, id string, deadline time.Time) (*cell, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		c, err := e.lease(ctx, id)
		if !errors.Is(err, store.ErrCellLeased) {
			return c, err
		}
		if time.Until(deadline) < pause {
			return nil, fmt.Errorf("%w: another process has %.64q, or its calls; wait again", ErrResuming, id)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, engine.ErrCanceled
		}
	}
}

// look tells why a cell of the store is not one that the executor could lease: it is not there, or not the executor's.
func (e *Executor) look(ctx context.Context, id string) error {
	_, err := e.withCells(ctx, func(ctx context.Context, cells CellStore) error {
		kept, err := cells.LoadCell(ctx, id)
		if err == nil {
			err = e.owns(id, kept.RunID, kept.SessionID)
		}
		return err
	})
	return e.notFound(ctx, id, err)
}

// notFound is the error of a cell that the store did not give.
func (e *Executor) notFound(ctx context.Context, id string, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrForeignCell), errors.Is(err, store.ErrCellLeased):
		return err
	case errors.Is(err, store.ErrUnknownCell):
		return unknownCell(id)
	case ctx.Err() != nil:
		return engine.ErrCanceled
	}
	return fmt.Errorf("%w: %w", ErrCellStore, err)
}

func (e *Executor) lease(ctx context.Context, id string) (*cell, error) {
	if err := e.look(ctx, id); err != nil { // whose it is comes before anything is changed
		return nil, err
	}
	var kept store.Cell
	_, err := e.withCells(ctx, func(ctx context.Context, cells CellStore) (err error) {
		kept, err = cells.LeaseCell(ctx, id, time.Now().Add(e.runtime.limits.lease))
		return err
	})
	if err := e.notFound(ctx, id, err); err != nil {
		return nil, err
	}
	c, err := e.decodeRecord(ctx, kept)
	if err != nil {
		_, _ = e.withCells(context.WithoutCancel(ctx), func(ctx context.Context, cells CellStore) error {
			return cells.RenewLease(ctx, id, kept.Fence, time.Time{})
		})
		return nil, err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.until = kept.Leased
	c.startRenewal()
	return c, nil
}
