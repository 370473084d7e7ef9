package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"
)

// Session is one session of a Store, under the id that it had when it was opened: when it is deleted, or its id changes, the
// methods return ErrSessionGone, so that nobody appends to a successor by mistake. It has nothing to be closed, and is safe for
// concurrent use.
type Session struct {
	store   *Store
	row     int64 // of table sessions
	key, id string
}

var _ Log = (*Session)(nil)

// SessionOptions describe a session that is made. They say nothing about one that is there. Nil and the zero value are fine.
type SessionOptions struct {
	// HarnessID names the runtime to which the session belongs.
	HarnessID string
	// WorkingDir and ParentSession are for people and programs that read the session.
	WorkingDir, ParentSession string
}

// Info is what a store knows of a session.
type Info struct {
	Key string
	ID  string // a UUID of version 7, or what it was imported with
	// PreviousID is the id that the session had before [Session.Rotate] gave it this one.
	PreviousID string
	// Revision counts what has changed about the session as a whole: resets and new ids. Entries do not count.
	Revision int64

	HarnessID, WorkingDir, ParentSession string
	// Name is that of the last [SessionInfo].
	Name string

	// Created is when there first was a session of this key, and Started when this id began or it was last reset.
	Created, Started time.Time
	// Updated is when something was appended last. Interacted is when a message was that the user himself has written:
	// one that users are shown and the model gets, and whose provenance, if it has one, is of the kind external_user.
	Updated, Interacted time.Time

	Entries int64 // how many, on all branches
	Bytes   int64 // of JSON that they have together
}

// OpenSession opens the session of a key, and makes it if there is none.
func (s *Store) OpenSession(ctx context.Context, key string, opts *SessionOptions) (*Session, error) {
	var o SessionOptions
	if opts != nil {
		o = *opts
	}
	session, err := s.FindSession(ctx, key)
	if !errors.Is(err, ErrUnknownSession) {
		return session, err
	}
	err = aboutSession("opening", key, checkKeys(o.HarnessID, o.WorkingDir, o.ParentSession))
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, func(t *transaction) error {
		session, err = s.makeSession(t, key, o)
		return err
	})
	return session, aboutSession("opening", key, err)
}

// makeSession inserts the row of a session, if another process has not done it meanwhile.
func (s *Store) makeSession(t *transaction, key string, o SessionOptions) (*Session, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	now := milliseconds(time.Now())
	if _, err := t.exec(insertSession, key, id.String(), o.HarnessID, o.WorkingDir, o.ParentSession, now); err != nil {
		return nil, err
	}
	return s.findSession(t, key)
}

// FindSession opens the session of a key, or returns ErrUnknownSession.
func (s *Store) FindSession(ctx context.Context, key string) (*Session, error) {
	var session *Session
	err := checkSessionKey(key)
	if err == nil {
		err = s.read(ctx, func(t *transaction) error {
			session, err = s.findSession(t, key)
			return err
		})
	}
	return session, aboutSession("opening", key, err)
}

func (s *Store) findSession(t *transaction, key string) (*Session, error) {
	session := &Session{store: s, key: key}
	err := t.queryRow(findSession, []any{key}, &session.row, &session.id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrUnknownSession
	}
	return session, err
}

func checkSessionKey(key string) error {
	if key == "" {
		return fmt.Errorf("%w: the key of a session must not be empty", ErrInvalidEntry)
	}
	return checkKeys(key)
}

// checkKeys refuses what would not be found again.
func checkKeys(keys ...string) error {
	for _, key := range keys {
		if len(key) > MaxKeyBytes {
			return fmt.Errorf("%w: a key may have %d bytes, this one has %d", ErrInvalidEntry, MaxKeyBytes, len(key))
		}
	}
	return checkTexts(keys...)
}

// Key is the key under which the session was opened.
func (s *Session) Key() string { return s.key }

// ID is the id that the session had when it was opened.
func (s *Session) ID() string { return s.id }

// Info reads what the store knows of the session.
func (s *Session) Info(ctx context.Context) (Info, error) {
	var info Info
	err := s.store.read(ctx, func(t *transaction) error {
		rows, err := t.query(selectInfo, s.row, s.id)
		if err != nil {
			return err
		}
		defer rows.Close()
		if !rows.Next() {
			return errors.Join(rows.Err(), ErrSessionGone)
		}
		info, _, err = t.info(rows)
		return err
	})
	return info, aboutSession("reading", s.key, err)
}

// Sessions goes through all sessions, that which was updated last first. It reads as it goes: a session that is updated
// meanwhile may be missing, or come twice. An error ends the loop. The loop may use the store.
func (s *Store) Sessions(ctx context.Context) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		updated, row := int64(1)<<62, int64(1)<<62 // of the last session
		for {
			var page []Info
			err := s.read(ctx, func(t *transaction) error {
				rows, err := t.query(selectInfos, second(updated), updated, row, pageRows)
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
					info, at, err := t.info(rows)
					if err != nil {
						return err
					}
					page = append(page, info)
					updated, row = milliseconds(info.Updated), at
				}
				return rows.Err()
			})
			if err != nil {
				yield(Info{}, fmt.Errorf("transcript: listing sessions: %w", err))
				return
			}
			for _, info := range page {
				if !yield(info, nil) {
					return
				}
			}
			if len(page) < pageRows {
				return
			}
		}
	}
}

// info reads a row of infoColumns.
func (t *transaction) info(rows *sql.Rows) (info Info, row int64, err error) {
	var created, started, updated, interacted int64
	err = t.scan(rows, &row, &info.Key, &info.ID, &info.PreviousID, &info.Revision, &info.HarnessID, &info.WorkingDir, &info.ParentSession,
		&info.Name, &created, &started, &updated, &interacted, &info.Entries, &info.Bytes)
	info.Created, info.Started = moment(created), moment(started)
	info.Updated, info.Interacted = moment(updated), moment(interacted)
	return info, row, err
}

// Times of sessions and entries are Unix milliseconds, as in session files.
func milliseconds(t time.Time) int64 { return t.UnixMilli() }

func moment(milliseconds int64) time.Time {
	if milliseconds == 0 {
		return time.Time{}
	}
	return time.UnixMilli(milliseconds).UTC()
}

// second is what the index of sessions by time has of a time, so that not each append has to change it.
func second(milliseconds int64) int64 { return milliseconds / 1000 }

// entryTime is the time of an entry, which always has one.
func entryTime(milliseconds int64) time.Time { return time.UnixMilli(milliseconds).UTC() }

func aboutSession(doing, key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("transcript: %s session %.100q: %w", doing, key, err)
}

const infoColumns = `session, key, id, previous_id, revision, harness_id, working_dir, parent_session,
	name, created, started, updated, interacted, entries, bytes`

const (
	insertSession = `INSERT INTO sessions (key, id, harness_id, working_dir, parent_session, created, started, updated_second)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?6 / 1000) ON CONFLICT (key) DO NOTHING`
	findSession = `SELECT session, id FROM sessions WHERE key = ?`
	selectInfo  = `SELECT ` + infoColumns + ` FROM session_states WHERE session = ? AND id = ?`
	selectInfos = `SELECT ` + infoColumns + ` FROM session_states WHERE (updated_second, updated, session) < (?, ?, ?)
		ORDER BY updated_second DESC, updated DESC, session DESC LIMIT ?`
)

// sessionQueries are prepared when a Store is opened.
var sessionQueries = []string{
	insertSession, findSession, selectInfo, selectInfos,
	selectState, updateSession, insertBacklog, selectNodeByID, selectNode, insertEntry, insertKey, selectClaimed,
	selectValues, insertValues, deleteValues, selectChange,
	selectSpans, selectForward, selectBackward, selectAll, selectEntry, selectEntryByNumber, selectEnds, selectKeyed, selectLast, selectLeaf,
	selectTarget, deleteSession, deleteCellsOf, rotateSession, selectTotals, selectIdle, selectIDTaken, selectRepeated, selectLabels,
}
