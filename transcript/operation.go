package transcript

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// operation is a change of sessions that participants prepare, each within the run of the one before, and that one
// transaction makes when all are prepared.
type operation struct {
	store     *Store
	authority func() error // of who wants the change; nil allows it

	// change makes it. Right before it changes a session it calls commit with the session's key.
	change func(t *transaction, commit func(key string) error) error
	// look tells whether it was made, if COMMIT has failed.
	look func(t *transaction) (Outcome, error)

	mu       sync.Mutex
	prepared []*attendance // whose run was called, in this order
	applied  []*attendance // whose Commit was called, in this order
	settled  bool
	outcome  Outcome
	cause    error               // why it was not committed: what run returns
	others   []*ParticipantError // what else has failed
}

// perform asks all participants and makes the change, and tells what came out. If an error comes with [Committed], it is of
// what participants had to do later.
func (o *operation) perform(ctx context.Context, invitations []invitation) (Outcome, error) {
	o.prepare(ctx, invitations)
	o.mu.Lock()
	defer o.mu.Unlock()
	errs := []error{o.cause}
	for _, err := range o.others {
		err.Outcome = o.outcome
		errs = append(errs, err)
	}
	return o.outcome, errors.Join(errs...)
}

// prepare asks the first participant, within whose run the others are asked, and makes the change when there is none left.
// When it returns, the operation is settled.
func (o *operation) prepare(ctx context.Context, invitations []invitation) {
	if err := o.mayGoOn(ctx); err != nil {
		o.settle(RolledBack, err)
		return
	}
	if len(invitations) == 0 {
		o.transact(ctx)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &attendance{invitation: invitations[0], op: o, ctx: ctx, entered: make(chan struct{}), left: make(chan struct{})}
	a.attend(invitations[1:])
	a.await(cancel)
}

// mayGoOn tells whether a further participant may be asked, or the change be made.
func (o *operation) mayGoOn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return o.mayAct()
}

// mayAct tells whether who wants the change may, and every participant that has prepared it is still there.
func (o *operation) mayAct() error {
	if o.authority != nil {
		if err := o.authority(); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.prepared {
		if a.closed {
			return a.failed("prepare", errLeftEarly)
		}
	}
	return nil
}

// transact makes the change.
func (o *operation) transact(ctx context.Context) {
	outcome := RolledBack
	err := o.store.write(ctx, func(t *transaction) error {
		if err := o.change(t, o.commit); err != nil {
			return err
		}
		return o.mayAct()
	})
	var atCommit *commitError
	switch {
	case err == nil:
		outcome = Committed
	case errors.As(err, &atCommit):
		outcome = UnknownOutcome
		lookErr := o.store.read(context.WithoutCancel(ctx), func(t *transaction) (err error) {
			outcome, err = o.look(t)
			return err
		})
		switch {
		case lookErr != nil:
			outcome, err = UnknownOutcome, fmt.Errorf("%w; %w", err, lookErr)
		case outcome == RolledBack:
			err = atCommit.cause
		case outcome == Committed:
			err = nil
		}
	}
	o.settle(outcome, err)
}

// commit calls Commit of those who have prepared for a session.
func (o *operation) commit(key string) error {
	for _, a := range o.prepared { // all are, and nobody adds to them
		if a.key != key {
			continue
		}
		if err := o.mayAct(); err != nil {
			return err
		}
		o.mu.Lock()
		o.applied = append(o.applied, a) // so that it is rolled back, too, if it fails
		o.mu.Unlock()
		if err := a.guard(a.mutation.Commit); err != nil {
			return a.failed("commit", err)
		}
	}
	return nil
}

// settle says what came out, if nobody has said it yet, and brings back what was taken away in vain.
func (o *operation) settle(outcome Outcome, cause error) {
	o.mu.Lock()
	if o.settled {
		o.mu.Unlock()
		return
	}
	o.settled, o.outcome = true, outcome
	if cause != nil {
		o.cause = fmt.Errorf("%w", cause) // a value of its own: it is known again when participants return it
	}
	prepared, applied := slices.Clone(o.prepared), o.applied
	o.mu.Unlock()

	var failed []*ParticipantError
	if outcome == RolledBack {
		for _, a := range slices.Backward(applied) {
			if err := a.guard(a.mutation.Rollback); err != nil {
				failed = append(failed, a.failed("rollback", err))
			}
		}
	}
	for _, a := range slices.Backward(prepared) {
		if s, ok := a.mutation.(interface{ Settle(Outcome) }); ok {
			if err := a.guard(func() error { s.Settle(outcome); return nil }); err != nil {
				failed = append(failed, a.failed("settle", err))
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.others = append(o.others, failed...)
}
