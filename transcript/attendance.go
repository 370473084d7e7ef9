package transcript

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// invitation asks a participant about a session.
type invitation struct {
	key, harnessID string
	call           func(ctx context.Context, authority func() error, run func(context.Context, Mutation) error) error
}

// attendance is one participant that is asked about one session.
type attendance struct {
	invitation
	op  *operation
	ctx context.Context // what it was given

	entered, left chan struct{}   // closed when run was called, and when it has returned
	done          <-chan struct{} // closed when the participant has returned
	err           error           // of the participant; to be read after done

	// Guarded by op.mu.
	running  bool // run was called
	closed   bool // run may not be called, and there is no authority
	mutation Mutation
}

// attend begins to call the participant.
func (a *attendance) attend(rest []invitation) {
	a.done = a.start(&a.err, func() error {
		return a.call(a.ctx, a.mayAct, func(ctx context.Context, m Mutation) error { return a.run(ctx, m, rest) })
	})
}

// mayAct is the authority of the participant.
func (a *attendance) mayAct() error {
	a.op.mu.Lock()
	closed := a.closed
	a.op.mu.Unlock()
	if closed {
		return ErrOperationEnded
	}
	if a.op.authority == nil {
		return nil
	}
	return a.op.authority()
}

// run is what the participant calls when it is prepared.
func (a *attendance) run(ctx context.Context, m Mutation, rest []invitation) error {
	o := a.op
	valid := ctx != nil && m != nil
	o.mu.Lock()
	switch {
	case a.closed:
		o.mu.Unlock()
		return ErrOperationEnded
	case a.running:
		o.others = append(o.others, a.failed("prepare", errRanTwice))
		o.mu.Unlock()
		return errRanTwice
	}
	a.running = true
	if valid {
		a.mutation = m
		o.prepared = append(o.prepared, a)
	}
	o.mu.Unlock()
	close(a.entered)
	defer close(a.left)
	defer o.settle(RolledBack, errAuthorityUnwound) // if it is not settled
	if !valid {
		o.settle(RolledBack, a.failed("prepare", errNoMutation))
	} else {
		// The context need not be derived from the one that the participant was given.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(a.ctx, cancel)()
		o.prepare(ctx, rest)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.cause
}

// await waits for the participant, as long as it is to be waited for.
func (a *attendance) await(cancel context.CancelFunc) {
	returned := a.waitFor(cancel, a.entered)
	ran := false
	select {
	case <-a.entered:
		ran = true
	default:
		ran = a.close() // it may have called run right now
	}
	if ran {
		select {
		case <-a.left:
		case <-a.done:
			// It has called run on another goroutine, and not waited.
			a.close()
			cancel()
			<-a.left
		}
		returned = a.waitFor(cancel, nil)
	}
	a.close()
	a.judge(ran, returned)
}

// waitFor waits until something has happened or the participant has returned. If that takes too long it gives up, and is
// false.
func (a *attendance) waitFor(cancel context.CancelFunc, something <-chan struct{}) bool {
	timer := time.NewTimer(ParticipantTimeout)
	defer timer.Stop()
	select {
	case <-something:
		return true
	case <-a.done:
		return true
	case <-a.ctx.Done():
	case <-timer.C:
		cancel()
	}
	timer.Reset(participantGrace)
	select {
	case <-something:
		return true
	case <-a.done:
		return true
	case <-timer.C:
		return false
	}
}

// close ends the authority of the participant, and tells whether it has called run.
func (a *attendance) close() bool {
	a.op.mu.Lock()
	defer a.op.mu.Unlock()
	a.closed = true
	return a.running
}

// judge says what the participant's return means.
func (a *attendance) judge(ran, returned bool) {
	o := a.op
	err := errStuck
	if returned {
		err = a.err
	}
	if !ran {
		if err == nil {
			err = errNeverRan
		}
		o.settle(RolledBack, a.failed("prepare", err))
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil && (o.cause == nil || !errors.Is(err, o.cause)) {
		o.others = append(o.others, a.failed("finish", err))
	}
}

func (a *attendance) failed(doing string, err error) *ParticipantError {
	return &ParticipantError{SessionKey: a.key, HarnessID: a.harnessID, Doing: doing, Err: err}
}

// start calls f of a participant on a goroutine of its own, which it may end, or panic. When the channel is closed err is
// its error, or says so.
func (a *attendance) start(err *error, f func() error) <-chan struct{} {
	done := make(chan struct{})
	*err = errUnwound
	go func() {
		defer close(done)
		defer func() {
			if cause := recover(); cause != nil {
				*err = fmt.Errorf("panic: %v", cause)
				a.op.store.logger.Error("transcript: a participant has panicked", "session", a.key, "harness", a.harnessID,
					"cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			}
		}()
		*err = f()
	}()
	return done
}

// guard calls f as start does, and waits for it.
func (a *attendance) guard(f func() error) error {
	var err error
	<-a.start(&err, f)
	return err
}
