package toolcatalog

import (
	"context"
	"slices"
	"sync"
)

// queue orders the calls of a catalog that has sequential tools. Calls are admitted one after the other. An exclusive call
// starts when all calls admitted before it have ended, and no call admitted after it starts before it has ended; between
// two exclusive calls the others overlap.
type queue struct {
	mu        sync.Mutex
	waiting   []*ticket // in the order of admission
	running   int
	exclusive bool // the one running call is exclusive
}

// ticket is the place of one call.
type ticket struct {
	queue     *queue
	exclusive bool
	ready     chan struct{} // closed when the call may run

	state  ticketState // guarded by queue.mu
	parent *ticket     // the call of the same queue that made this one; set before the call runs
}

type ticketState uint8

const (
	ticketWaiting ticketState = iota
	ticketRunning
	ticketEnded
)

// ticketKey finds in a context the ticket of the running call that it descends from.
type ticketKey struct{ queue *queue }

func (q *queue) admit(exclusive bool) *ticket {
	t := &ticket{queue: q, exclusive: exclusive, ready: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, t)
	q.advance()
	return t
}

// advance starts what may run now. It must be called with q.mu held.
func (q *queue) advance() {
	for len(q.waiting) > 0 {
		t := q.waiting[0]
		if q.exclusive || t.exclusive && q.running > 0 {
			return
		}
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
		q.start(t)
	}
}

// start must be called with q.mu held, for a ticket that is not in q.waiting any more.
func (q *queue) start(t *ticket) {
	t.state = ticketRunning
	q.running++
	q.exclusive = t.exclusive
	close(t.ready)
}

// enter waits until the call may run and returns the context for it. The error is ErrReentrant or that of the context; the
// ticket must be released in any case.
func (t *ticket) enter(ctx context.Context) (context.Context, error) {
	if parent, _ := ctx.Value(ticketKey{t.queue}).(*ticket); parent != nil {
		if err := t.nest(parent); err != nil {
			return nil, err
		}
	}
	select {
	case <-t.ready:
	default:
		select {
		case <-t.ready:
		case <-ctx.Done():
			return nil, contextError(ctx)
		}
	}
	return context.WithValue(ctx, ticketKey{t.queue}, t), nil
}

// nest deals with a call that a running call of the same queue makes. What it would wait for waits for that call, so it
// either runs now, as a part of that call, or never.
func (t *ticket) nest(parent *ticket) error {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	t.parent = parent
	if t.state != ticketWaiting || !parent.isRunning() {
		return nil
	}
	if t.exclusive || q.exclusive {
		return ErrReentrant
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(other *ticket) bool { return other == t })
	q.start(t)
	return nil
}

// isRunning reports whether the call of t, or one that it is a part of, is running. It must be called with queue.mu held.
func (t *ticket) isRunning() bool {
	for ; t != nil; t = t.parent {
		if t.state == ticketRunning {
			return true
		}
	}
	return false
}

// release ends the call, or takes it out of the queue. Only the first time counts.
func (t *ticket) release() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	switch t.state {
	case ticketRunning:
		q.running--
		q.exclusive = false // an exclusive call runs alone
	case ticketWaiting:
		q.waiting = slices.DeleteFunc(q.waiting, func(other *ticket) bool { return other == t })
	}
	t.state = ticketEnded
	q.advance()
}
