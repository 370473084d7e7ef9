package transcript

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Limits of Maintain, if MaintainOptions does not say.
const (
	DefaultMaxAge      = 30 * 24 * time.Hour
	DefaultMaxSessions = 500
)

// Reasons that Maintain tells participants.
const (
	ReasonExpired  = "expired"  // longer idle than MaxAge
	ReasonTooMany  = "too many" // not among the MaxSessions that were used last
	ReasonTooLarge = "too large"
)

// MaintainOptions say which sessions are to stay. Nil and the zero value mean the defaults.
type MaintainOptions struct {
	// MaxAge is how long a session may be idle: the time since the last message of its user, or since there first was a
	// session of its key if there is none. What else is appended makes no session younger. Zero means [DefaultMaxAge], and
	// less that no session is too old.
	MaxAge time.Duration
	// MaxSessions is how many sessions stay: those that were idle for the shortest time. Zero means [DefaultMaxSessions],
	// and less any number.
	MaxSessions int
	// MaxBytes is how many bytes the sessions that stay have together, see [Info.Bytes]. Zero and less mean any number.
	MaxBytes int64

	// Now is the time that ages are counted to; zero means now.
	Now time.Time

	// Participants and Authority are as in [DeleteOptions]. The reason that participants are told is [ReasonExpired],
	// [ReasonTooMany] or [ReasonTooLarge].
	Participants []Participant
	Authority    func() error
}

// MaintainReport tells what Maintain has done.
type MaintainReport struct {
	// Deleted are the sessions that are gone, as they were.
	Deleted []Info
	// Skipped are the sessions that should have gone, too.
	Skipped []Skipped
}

// Skipped is a session that was not deleted, or of which that is not known.
type Skipped struct {
	Session Info
	// Reason is why it was to be deleted.
	Reason string
	// Err says why it was not. ErrSessionBusy and ErrConflict mean that somebody uses it.
	Err error
}

// Maintain deletes the sessions that are beyond the limits of the options, the longest idle first, each as
// [Store.DeleteSessions] does. A session that is at work, or to which something was appended meanwhile, is skipped, and no
// other goes in its place. One that cannot be deleted does not prevent the others from being.
//
// The report is complete also if there is an error, which is that of the context, the authority or the database, or says
// how many sessions could not be deleted though nobody uses them.
//
// The room of what was deleted is used again for what comes; the file does not shrink. To make it small, run VACUUM in
// SQLite's shell while nobody uses the database; that takes as much room again until it is done.
func (s *Store) Maintain(ctx context.Context, opts *MaintainOptions) (MaintainReport, error) {
	var o MaintainOptions
	if opts != nil {
		o = *opts
	}
	if o.MaxAge == 0 {
		o.MaxAge = DefaultMaxAge
	}
	if o.MaxSessions == 0 {
		o.MaxSessions = DefaultMaxSessions
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	m := maintenance{store: s, MaintainOptions: o}
	err := m.run(ctx)
	if err == nil && m.failure != nil {
		err = fmt.Errorf("%d sessions could not be deleted, the first one: %w", m.failures, m.failure)
	}
	if err != nil {
		err = fmt.Errorf("transcript: maintenance: %w", err)
	}
	return m.report, err
}

// maintenance is one run of Maintain.
type maintenance struct {
	MaintainOptions
	store  *Store
	report MaintainReport

	sessions int   // how many there are, without those that are done
	bytes    int64 // that they have
	failures int
	failure  error // the first one
}

func (m *maintenance) run(ctx context.Context) error {
	err := m.store.read(ctx, func(t *transaction) error { return t.queryRow(selectTotals, nil, &m.sessions, &m.bytes) })
	if err != nil {
		return err
	}
	used, row := int64(-1)<<62, int64(0) // where the next page begins
	for {
		var page []target
		err := m.store.read(ctx, func(t *transaction) error {
			rows, err := t.query(selectIdle, used, row, pageRows)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				info, at, err := t.info(rows)
				if err != nil {
					return err
				}
				page = append(page, target{Info: info, row: at, untouched: true})
			}
			return rows.Err()
		})
		if err != nil {
			return err
		}
		for _, target := range page {
			reason := m.due(target.Info)
			if reason == "" {
				return nil // and those that come are younger
			}
			used, row = milliseconds(lastUsed(target.Info)), target.row
			m.sessions--
			m.bytes -= target.Bytes
			if err := m.delete(ctx, target, reason); err != nil {
				return err
			}
		}
		if len(page) < pageRows {
			return nil
		}
	}
}

// lastUsed is when somebody has used a session last.
func lastUsed(session Info) time.Time {
	if session.Interacted.IsZero() {
		return session.Created
	}
	return session.Interacted
}

// due says why a session must go, if it must: those that were idle for longer are done.
func (m *maintenance) due(session Info) string {
	switch {
	case m.MaxAge > 0 && m.Now.Sub(lastUsed(session)) > m.MaxAge:
		return ReasonExpired
	case m.MaxSessions > 0 && m.sessions > m.MaxSessions:
		return ReasonTooMany
	case m.MaxBytes > 0 && m.bytes > m.MaxBytes:
		return ReasonTooLarge
	}
	return ""
}

// delete deletes one session. Its error ends the maintenance.
func (m *maintenance) delete(ctx context.Context, session target, reason string) error {
	result, err := m.try(ctx, session, reason)
	if result.Outcome == Committed {
		m.report.Deleted = append(m.report.Deleted, session.Info)
	} else {
		m.report.Skipped = append(m.report.Skipped, Skipped{session.Info, reason, err})
	}
	if err == nil || errors.Is(err, ErrSessionBusy) || errors.Is(err, ErrConflict) {
		return nil
	}
	if m.failures++; m.failure == nil {
		m.failure = err
	}
	// What would fail for each session is told once.
	for _, of := range []error{ErrClosed, ErrReadOnly, ErrBusy, ctx.Err()} {
		if of != nil && errors.Is(err, of) {
			return err
		}
	}
	if m.Authority != nil {
		return m.Authority()
	}
	return nil
}

func (m *maintenance) try(ctx context.Context, session target, reason string) (DeleteResult, error) {
	release, err := m.store.admission.claim([]string{session.Key})
	if err != nil {
		return DeleteResult{}, err
	}
	defer release()
	return m.store.deleteTargets(ctx, []target{session}, nil, DeleteOptions{m.Participants, reason, m.Authority})
}

const (
	selectTotals = `SELECT count(*), ifnull(sum(bytes), 0) FROM session_states`
	selectIdle   = `SELECT ` + infoColumns + ` FROM session_states
		WHERE (CASE interacted WHEN 0 THEN created ELSE interacted END, session) > (?, ?)
		ORDER BY CASE interacted WHEN 0 THEN created ELSE interacted END, session LIMIT ?`
)
