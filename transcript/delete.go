package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// DeleteOptions say how sessions are deleted. Nil and the zero value are fine.
type DeleteOptions struct {
	// Participants keep something of their own for sessions, which goes with them.
	Participants []Participant
	// Reason is told to the participants.
	Reason string
	// Authority is asked again and again, the last time inside of the transaction: if it returns an error nothing is
	// deleted, and the error is that of DeleteSessions. Nil allows it. It must be quick, safe for concurrent use, and not
	// use the store.
	Authority func() error
}

// DeleteResult tells what became of sessions that were to be deleted.
type DeleteResult struct {
	// Outcome is Committed if the sessions are not there any more, also if there was none.
	Outcome Outcome
	// Sessions are those that were deleted, as they were when it began, by their keys. If the outcome is unknown it is they
	// of which it is not known; if it is RolledBack there are none.
	Sessions []Info
}

// DeleteSessions deletes the sessions of these keys, all of them or none: their entries, values, and parked cells, which are
// those whose executor had the key as its SessionID. Nothing of them stays, and handles of them return ErrSessionGone. Of a
// key that has no session the parked cells go. An executor that is still open may park a cell when the deletion is over, and
// through the Store's CommitSession make a session: close it before, and give it the Session as its store.
//
// First each participant prepares for each session, in the order of the keys and then of the options, each within the
// run of the one before. When all are prepared one transaction deletes the sessions, in which the participants commit, each
// right before the row of its session goes. If it fails those that have committed roll back, the last one first, and
// nothing has changed. When it has taken effect nothing is rolled back any more: an error that comes with the outcome
// Committed is a participant's, which could not clean up. The end of the context prevents the transaction, but
// does not interrupt it.
//
// The errors are ErrSessionBusy if one of the sessions is at work, see [Session.Admit]; ErrConflict if one has got a new
// id, was reset or deleted meanwhile; what the authority has returned; a *[ParticipantError]; and those of the database, of
// which ErrUnknownOutcome comes with [UnknownOutcome].
func (s *Store) DeleteSessions(ctx context.Context, keys []string, opts *DeleteOptions) (DeleteResult, error) {
	var o DeleteOptions
	if opts != nil {
		o = *opts
	}
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for _, key := range keys {
		if err := checkSessionKey(key); err != nil {
			return DeleteResult{}, fmt.Errorf("transcript: deleting sessions: %w", err)
		}
	}
	release, err := s.admission.claim(keys)
	if err != nil {
		return DeleteResult{}, fmt.Errorf("transcript: deleting sessions: %w", err)
	}
	defer release()
	targets := make([]target, 0, len(keys))
	var others []string
	err = s.read(ctx, func(t *transaction) error {
		for _, key := range keys {
			found, ok, err := t.target(selectTarget, key)
			if err != nil {
				return err
			}
			if ok {
				targets = append(targets, found)
			} else {
				others = append(others, key)
			}
		}
		return nil
	})
	if err != nil {
		return DeleteResult{}, fmt.Errorf("transcript: deleting sessions: %w", err)
	}
	result, err := s.deleteTargets(ctx, targets, others, o)
	if err != nil {
		err = fmt.Errorf("transcript: deleting sessions: %w", err)
	}
	return result, err
}

// target is a session that an operation is about, as it was when that began.
type target struct {
	Info
	row int64
	// untouched says that nothing may be appended meanwhile.
	untouched bool
}

// target finds a session.
func (t *transaction) target(query string, args ...any) (target, bool, error) {
	rows, err := t.query(query, args...)
	if err != nil {
		return target{}, false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return target{}, false, rows.Err()
	}
	info, row, err := t.info(rows)
	return target{Info: info, row: row}, err == nil, err
}

// check tells whether the session is still what it was.
func (t *transaction) check(target target) error {
	now, ok, err := t.target(selectInfo, target.row, target.ID)
	switch {
	case err != nil:
		return err
	case !ok:
		err = fmt.Errorf("%w: it was deleted, or has got a new id", ErrConflict)
	case now.Revision != target.Revision:
		err = fmt.Errorf("%w: it was reset", ErrConflict)
	case target.untouched && now.Entries != target.Entries:
		err = fmt.Errorf("%w: somebody has appended to it", ErrConflict)
	}
	return aboutSession("changing", target.Key, err)
}

// deleteTargets deletes sessions that are claimed, and the cells of other keys.
func (s *Store) deleteTargets(ctx context.Context, targets []target, others []string, o DeleteOptions) (DeleteResult, error) {
	op := &operation{store: s, authority: o.Authority}
	op.change = func(t *transaction, commit func(key string) error) error {
		for _, key := range others {
			if _, err := t.exec(deleteCellsOf, key); err != nil {
				return err
			}
		}
		for _, target := range targets {
			// Nobody was admitted to work in it since, as it is claimed.
			if err := t.check(target); err != nil {
				return err
			}
			if err := commit(target.Key); err != nil {
				return err
			}
			if err := t.delete(target); err != nil {
				return err
			}
		}
		return nil
	}
	op.look = func(t *transaction) (Outcome, error) { return t.lookForDeleted(targets) }
	var invitations []invitation
	for _, target := range targets {
		for _, p := range o.Participants {
			if !concerns(p, target.Info) {
				continue
			}
			invitations = append(invitations, invitation{target.Key, harnessID(p),
				func(ctx context.Context, authority func() error, run func(context.Context, Mutation) error) error {
					return p.WithSessionDeletion(ctx, Deletion{target.Info, o.Reason, authority}, run)
				}})
		}
	}
	outcome, err := op.perform(ctx, invitations)
	result := DeleteResult{Outcome: outcome}
	if outcome != RolledBack {
		for _, target := range targets {
			result.Sessions = append(result.Sessions, target.Info)
		}
	}
	return result, err
}

// delete removes all that there is of a session.
func (t *transaction) delete(target target) error {
	if _, err := t.exec(deleteCellsOf, target.Key); err != nil {
		return err
	}
	if err := t.unindex(target.row); err != nil {
		return err
	}
	_, err := t.exec(deleteSession, target.row) // its entries, their keys, and the values go with it
	return err
}

// lookForDeleted tells whether sessions are still there, which a transaction should have deleted.
func (t *transaction) lookForDeleted(targets []target) (Outcome, error) {
	there := 0
	for _, target := range targets {
		var leaf, flawed int64
		err := t.queryRow(selectLeaf, []any{target.row, target.ID}, &leaf, &flawed)
		if err == nil {
			there++
		} else if !errors.Is(err, sql.ErrNoRows) {
			return UnknownOutcome, err
		}
	}
	switch there {
	case 0:
		return Committed, nil
	case len(targets):
		return RolledBack, nil
	}
	return UnknownOutcome, nil
}

const (
	selectTarget  = `SELECT ` + infoColumns + ` FROM session_states WHERE key = ?`
	deleteSession = `DELETE FROM sessions WHERE session = ?`
	deleteCellsOf = `DELETE FROM cells WHERE session_id = ?`
)
