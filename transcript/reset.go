package transcript

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Resetter is told when a session has begun anew in place, so that a runtime forgets what it keeps of the conversation: the
// next turn starts fresh.
type Resetter interface {
	// ResetSession is called when the reset has taken effect. It is called once, at the same time as that of others; its
	// error, or a panic, is logged. The context ends after [ParticipantTimeout], whatever the one of Reset does, and
	// shortly after that nobody waits for it any more.
	ResetSession(ctx context.Context, reset SessionReset) error
}

// SessionReset is what a [Resetter] is told.
type SessionReset struct {
	// Session is the session after the reset.
	Session Info
	// Reason says why, as who has reset it has put it.
	Reason string
}

// ResetOptions say how a session is reset. Nil and the zero value keep nothing for the model.
type ResetOptions struct {
	// FirstKeptID is the first entry of the branch from which on the model still gets messages, see [Reset]. Empty means
	// none.
	FirstKeptID string
	// Reason says why: "new", "idle", or what the program likes.
	Reason string
	// Resetters are told.
	Resetters []Resetter

	// Leaf, Time and Authority are as in [AppendOptions].
	Leaf      string
	Time      time.Time
	Authority func() error
}

// Reset lets the conversation begin anew, at the same key and under the same id: it appends a [Reset] after the leaf.
// Nothing is deleted, but no branch leads back over it. A cell that has read values of store and load before keeps those,
// also while it waits, and what it stores comes after the reset.
//
// The errors are those of AppendAll. ErrUnknownEntry and ErrBeforeReset may concern FirstKeptID, which must be an entry
// of the branch after its last reset.
func (s *Session) Reset(ctx context.Context, opts *ResetOptions) (Receipt, error) {
	var o ResetOptions
	if opts != nil {
		o = *opts
	}
	if o.Time.IsZero() {
		o.Time = time.Now()
	}
	receipt, info, err := s.reset(ctx, o)
	if err != nil {
		return Receipt{}, aboutSession("resetting", s.key, err)
	}
	s.notify(ctx, SessionReset{info, o.Reason}, o.Resetters)
	return receipt, nil
}

func (s *Session) reset(ctx context.Context, o ResetOptions) (receipt Receipt, after Info, err error) {
	draft, err := s.store.prepareDraft(Draft{Payload: Reset{FirstKeptID: o.FirstKeptID, Reason: o.Reason}})
	if err != nil {
		return Receipt{}, Info{}, err
	}
	err = s.store.write(ctx, func(t *transaction) error {
		w, err := t.openWriter(s, o.Time)
		if err != nil {
			return err
		}
		if err := w.start(AppendOptions{Leaf: o.Leaf}); err != nil {
			return err
		}
		if o.FirstKeptID != "" {
			if err := w.canKeep(o.FirstKeptID); err != nil {
				return err
			}
		}
		if receipt, err = w.append(draft); err != nil {
			return err
		}
		if err := w.close(); err != nil {
			return err
		}
		if o.Authority != nil {
			if err := o.Authority(); err != nil {
				return err
			}
		}
		now, _, err := t.target(selectInfo, s.row, s.id)
		after = now.Info
		return err
	})
	return receipt, after, err
}

// canKeep tells whether an entry is on the branch, and not before its last reset.
func (w *writer) canKeep(id string) error {
	kept, err := w.find(id)
	if err != nil {
		return err
	}
	if !w.at.canMove(kept) {
		return fmt.Errorf("%w: %s", ErrBeforeReset, id)
	}
	branch, err := w.t.spans(w.session, w.at.leaf.number)
	if err != nil {
		return err
	}
	on := func(s span) bool { return s.segment == kept.segment && kept.number <= s.to }
	if !slices.ContainsFunc(branch, on) || kept.id != id { // a leaf entry leads to another one
		return fmt.Errorf("%w on the branch: %s", ErrUnknownEntry, id)
	}
	return nil
}

// notify tells all resetters at once, and waits for them.
func (s *Session) notify(ctx context.Context, reset SessionReset, resetters []Resetter) {
	if len(resetters) == 0 {
		return
	}
	// The reset is there, also for those who have no time to wait: a runtime that is not told would go on with the old
	// conversation.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ParticipantTimeout)
	defer cancel()
	var group sync.WaitGroup
	for _, r := range resetters {
		group.Go(func() {
			if err := callResetter(ctx, r, reset); err != nil {
				s.store.logger.Error("transcript: a reset hook has failed", "session", s.key, "harness", harnessID(r), "error", err)
			}
		})
	}
	all := make(chan struct{})
	go func() { group.Wait(); close(all) }()
	select {
	case <-all:
	case <-ctx.Done():
		select {
		case <-all:
		case <-time.After(participantGrace):
			s.store.logger.Error("transcript: a reset hook does not return; it was left alone", "session", s.key)
		}
	}
}

func callResetter(ctx context.Context, r Resetter, reset SessionReset) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return r.ResetSession(ctx, reset)
}

// Rotate gives the session a new id, at the same key and with all its entries: it is a transfer, as after a compaction, and
// no deletion. The new id is in the session that it returns, which executors are to be given from then on;
// [Info.PreviousID] is the old one, and handles of that return ErrSessionGone. A deletion or a move that is being prepared
// fails.
func (s *Session) Rotate(ctx context.Context) (*Session, error) {
	id, err := uuid.NewV7()
	if err == nil {
		err = s.store.write(ctx, func(t *transaction) error {
			n, err := t.exec(rotateSession, id.String(), milliseconds(time.Now()), s.row, s.id)
			if err == nil && n == 0 {
				err = ErrSessionGone
			}
			return err
		})
	}
	if err != nil {
		return nil, aboutSession("giving a new id to", s.key, err)
	}
	return &Session{store: s.store, row: s.row, key: s.key, id: id.String()}, nil
}

const rotateSession = `UPDATE sessions SET previous_id = id, id = ?, revision = revision + 1, started = ? WHERE session = ? AND id = ?`
