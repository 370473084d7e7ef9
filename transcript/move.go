package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// MoveOptions say how the leaf moves. Nil and the zero value are fine.
type MoveOptions struct {
	// Participants keep something of their own for what the session's branch says, which goes if the leaf moves.
	Participants []ContextParticipant

	// Leaf, Time and Authority are as in [AppendOptions]. With participants the authority is asked again and again, on any
	// goroutine.
	Leaf      string
	Time      time.Time
	Authority func() error
}

// MoveTo makes another entry the leaf, or the place before all of them if id is [Root]: what is appended next begins a
// branch there. Nothing is lost: the branch that was left is still there, and MoveTo leads back to it. If the entry is the
// leaf already MoveTo does nothing.
//
// With participants the session must not be at work, see [Session.Admit]: they prepare, commit and roll back around
// the move as around a deletion, see [Store.DeleteSessions].
//
// The errors are ErrUnknownEntry, ErrConflict, ErrSessionGone, and ErrBeforeReset if the last reset is not on the branch of
// the entry; with participants also ErrSessionBusy, ErrUnknownOutcome, and a *[ParticipantError], whose outcome says
// whether the leaf has moved nevertheless.
func (s *Session) MoveTo(ctx context.Context, id string, opts *MoveOptions) error {
	var o MoveOptions
	if opts != nil {
		o = *opts
	}
	if id == "" { // which means nothing else in AppendOptions
		return aboutSession("moving the leaf of", s.key, fmt.Errorf("%w: an empty id; the place before all entries is Root", ErrUnknownEntry))
	}
	to := AppendOptions{Leaf: o.Leaf, From: id, Time: o.Time, Authority: o.Authority}
	if len(o.Participants) == 0 {
		_, err := s.appendAll(ctx, nil, &to)
		return aboutSession("moving the leaf of", s.key, err)
	}
	return aboutSession("moving the leaf of", s.key, s.moveWith(ctx, to, o.Participants))
}

// moveWith moves the leaf when participants are prepared.
func (s *Session) moveWith(ctx context.Context, to AppendOptions, participants []ContextParticipant) error {
	if to.Time.IsZero() {
		to.Time = time.Now()
	}
	release, err := s.store.admission.claim([]string{s.key})
	if err != nil {
		return err
	}
	defer release()
	var from target
	end, moves := "", false
	err = s.store.read(ctx, func(t *transaction) error {
		var ok bool
		if from, ok, err = t.target(selectInfo, s.row, s.id); err != nil {
			return err
		}
		if !ok {
			return ErrSessionGone
		}
		w, err := t.openWriter(s, to.Time)
		if err != nil {
			return err
		}
		at, elsewhere, err := w.destination(to)
		end, moves = cmp.Or(at.id, Root), elsewhere // a leaf entry stands for the entry to which it leads
		return err
	})
	if err != nil || !moves {
		return err
	}
	leaf := "" // the entry that says that the leaf has moved
	op := &operation{store: s.store, authority: to.Authority}
	op.change = func(t *transaction, commit func(key string) error) error {
		if err := t.check(from); err != nil {
			return err
		}
		if err := commit(s.key); err != nil {
			return err
		}
		w, err := t.openWriter(s, to.Time)
		if err != nil {
			return err
		}
		if err := w.start(to); err != nil {
			return err
		}
		for _, entry := range w.appended {
			leaf = entry.ID
		}
		return w.close()
	}
	op.look = func(t *transaction) (Outcome, error) { return t.lookForLeaf(s, leaf) }
	var invitations []invitation
	for _, p := range participants {
		if !concerns(p, from.Info) {
			continue
		}
		invitations = append(invitations, invitation{s.key, harnessID(p),
			func(ctx context.Context, authority func() error, run func(context.Context, Mutation) error) error {
				return p.WithSessionContextReset(ctx, ContextReset{from.Info, end, authority}, run)
			}})
	}
	_, err = op.perform(ctx, invitations)
	return err
}

// lookForLeaf tells whether a leaf entry is there, which a transaction should have appended.
func (t *transaction) lookForLeaf(s *Session, id string) (Outcome, error) {
	_, _, err := t.end(s, id)
	switch {
	case err == nil:
		return Committed, nil
	case errors.Is(err, ErrUnknownEntry):
		return RolledBack, nil
	}
	return UnknownOutcome, err
}
