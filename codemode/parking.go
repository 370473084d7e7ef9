package codemode

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cellmode/cellmode/internal/engine"
)

// parking is where the waiting cells of a runtime are. It has a number of slots, one for each cell that waits or may have
// to: a cell takes its slot before its first request to the host, so that what it has set in motion is never given up for
// want of one.
type parking struct {
	slots int
	ttl   time.Duration

	mu      sync.Mutex
	taken   int               // slots
	waiting int               // places whose cell does not run
	places  map[string]*place // by run id
	changed chan struct{}     // closed when a slot or a place has changed; nil if nobody waits for that
	sweeper *time.Timer       // runs while there are places
}

// place is that of a cell which waits, or waited and runs again.
type place struct {
	executor *Executor
	cell     *cell // nil: the cell is in the executor's CellStore
	running  bool  // somebody resumes it
	expires  time.Time
}

// reserve takes a slot. If all are taken it waits for one that a running cell gives up, but not for a waiting one: nobody
// knows how long that will be.
func (p *parking) reserve(ctx context.Context, deadline time.Time) error {
	var expired <-chan time.Time
	swept := false
	for {
		p.mu.Lock()
		if p.taken < p.slots {
			p.taken++
			p.mu.Unlock()
			return nil
		}
		full := p.waiting >= p.slots
		if p.changed == nil {
			p.changed = make(chan struct{})
		}
		changed := p.changed
		p.mu.Unlock()
		switch {
		case !swept: // the sweeper may be late
			swept = true
			p.expire()
			continue
		case full:
			return ErrTooManySuspended
		}
		if expired == nil {
			timer := time.NewTimer(time.Until(deadline))
			defer timer.Stop()
			expired = timer.C
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return engine.ErrCanceled
		case <-expired:
			return ErrTooManySuspended
		}
	}
}

// signal wakes who waits for a change. The caller holds mu.
func (p *parking) signal() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// free gives a slot back.
func (p *parking) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	p.signal()
}

// park gives a cell, which has a slot, its place. Somebody may resume it before park has returned. The result is false if
// the cell was ended from outside before.
func (p *parking) park(c *cell, stored bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.ctx.Err() != nil {
		return false
	}
	now := &place{executor: c.executor, cell: c, expires: time.Now().Add(p.ttl)}
	if stored {
		now.cell = nil
	}
	p.places[c.id] = now
	p.waiting++
	p.signal()
	p.schedule(now)
	return true
}

// schedule sees to it that a place is swept in time. The time is the same for all, so that the sweeper, if there is one, comes
// soon enough for those that were there before it. The caller holds mu.
func (p *parking) schedule(at *place) {
	if p.sweeper == nil {
		p.sweeper = time.AfterFunc(time.Until(at.expires), p.sweep)
	}
}

// claim finds a waiting cell for an executor and marks it as running. The cell is nil if it is in the store. Without a
// place of that id, nothing is claimed. A refusal changes nothing.
func (p *parking) claim(e *Executor, id string) (c *cell, found bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.places[id]
	switch {
	case at == nil:
		return nil, false, nil
	case at.running:
		return nil, true, fmt.Errorf("%w: wait for the result of the call that resumes %.64q", ErrResuming, id)
	case !time.Now().Before(at.expires):
		return nil, false, nil
	case at.executor != e:
		if err := e.owns(id, at.executor.opts.RunID, at.executor.opts.SessionID); err != nil {
			return nil, true, err
		}
		if at.cell != nil && e.opts.Cells != nil {
			return nil, true, fmt.Errorf("%w: another executor has %.64q, and its calls; wait again", ErrResuming, id)
		}
		if e.opts.Cells == nil {
			return nil, true, fmt.Errorf("%w: %.64q belongs to another executor", ErrForeignCell, id)
		}
	}
	at.running, at.executor = true, e
	p.waiting--
	return at.cell, true, nil
}

// owns tells whether a cell of that run and session is one of the executor's.
func (e *Executor) owns(id, runID, sessionID string) error {
	switch {
	case runID != e.opts.RunID:
		return fmt.Errorf("%w: %.64q belongs to another run", ErrForeignCell, id)
	case sessionID != e.opts.SessionID:
		return fmt.Errorf("%w: %.64q belongs to another session", ErrForeignCell, id)
	}
	return nil
}

// adopt makes the place of a cell that comes out of the store. The caller has a slot for it. The result is false if somebody
// else was faster.
func (p *parking) adopt(e *Executor, id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.places[id] != nil {
		return false
	}
	p.places[id] = &place{executor: e, running: true}
	return true
}

// unclaim undoes a claim: the cell waits again, for as long as it would have.
func (p *parking) unclaim(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.places[id]; at != nil && at.running {
		at.running = false
		p.waiting++
		p.schedule(at)
		p.signal()
	}
}

// store tells the place of a waiting cell that the cell is in the store only. The result is false if it does not wait.
func (p *parking) store(c *cell) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.places[c.id]
	if at == nil || at.running || at.cell != c {
		return false
	}
	at.cell = nil
	return true
}

// remove takes the place and the slot of a cell that runs.
func (p *parking) remove(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.places[id]; at != nil {
		delete(p.places, id)
		if !at.running {
			p.waiting--
		}
	}
	p.taken--
	p.signal()
}

// expire ends the cells that have waited for too long.
func (p *parking) expire() {
	now := time.Now()
	for _, c := range p.take(func(at *place) bool { return !now.Before(at.expires) }) {
		if c.executor.enter() { // else Close has cancelled it
			c.drop(errExpired)
			c.executor.running.Done()
		}
	}
}

// sweep is expire, and comes again when the next cell will have waited for too long.
func (p *parking) sweep() {
	p.expire()
	p.mu.Lock()
	defer p.mu.Unlock()
	var next *place
	for _, at := range p.places {
		if !at.running && (next == nil || at.expires.Before(next.expires)) {
			next = at
		}
	}
	if p.sweeper = nil; next != nil {
		p.schedule(next)
	}
}

// take removes waiting places, with their slots, and gives the cells that were there.
func (p *parking) take(which func(*place) bool) (cells []*cell) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, at := range p.places {
		if at.running || !which(at) {
			continue
		}
		delete(p.places, id)
		p.taken--
		p.waiting--
		if at.cell != nil {
			cells = append(cells, at.cell)
		}
	}
	p.signal()
	return cells
}

// close stops the sweeper. All executors are closed.
func (p *parking) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sweeper != nil {
		p.sweeper.Stop()
	}
}

var errExpired = errors.New("the waiting program has expired")
