package transcript

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellmode/cellmode/store"
)

// valuesType is the type of the custom entries in which cells keep the values of store and load. Their data are [valuesData].
const valuesType = "openclaw.code-mode-store"

// valuesData is what one cell has changed.
type valuesData struct {
	Set    map[string]json.RawMessage `json:"set"`
	Delete []string                   `json:"delete"`
	// Network has each key of Set: whether the value may be made of content from the network.
	Network map[string]bool `json:"networkContent"`
}

// LoadSession gives the values that store and load of cells have in the session of a key: what the custom entries of the type
// openclaw.code-mode-store on its branch have set since the last reset. It implements codemode.SessionStore: the id that
// codemode gives it is the session's key.
//
// An entry of this type that is not as it should be is ErrInvalidValues: with it nobody knows what the values are.
func (s *Store) LoadSession(ctx context.Context, key string) (map[string]store.SessionValue, error) {
	values := map[string]store.SessionValue{}
	err := checkSessionKey(key)
	if err == nil {
		err = s.read(ctx, func(t *transaction) error {
			session, err := s.findSession(t, key)
			if err == nil {
				values, err = t.values(session)
			}
			return err
		})
	}
	if err != nil && !errors.Is(err, ErrUnknownSession) {
		return nil, aboutSession("loading the values of", key, err)
	}
	return values, nil
}

// CommitSession appends a change of the values of store and load to the session of a key, which is made if there is none. It
// implements codemode.SessionStore. An executor that may outlive its session is better given the [Session] itself, which
// does not make another one.
func (s *Store) CommitSession(ctx context.Context, key string, change store.SessionChange) error {
	err := checkSessionKey(key)
	if err == nil {
		err = s.commitValues(ctx, change, func(t *transaction) (*Session, error) {
			session, err := s.findSession(t, key)
			if errors.Is(err, ErrUnknownSession) {
				session, err = s.makeSession(t, key, SessionOptions{})
			}
			return session, err
		})
	}
	return aboutSession("changing the values of", key, err)
}

// LoadSession is that of the Store, for this session only: it implements codemode.SessionStore for an executor whose SessionID
// is the session's key. For another key the error is ErrUnknownSession.
func (s *Session) LoadSession(ctx context.Context, key string) (map[string]store.SessionValue, error) {
	var values map[string]store.SessionValue
	err := s.answersTo(key)
	if err == nil {
		err = s.store.read(ctx, func(t *transaction) error {
			var err error
			values, err = t.values(s)
			return err
		})
	}
	if err != nil {
		return nil, aboutSession("loading the values of", key, err)
	}
	return values, nil
}

// CommitSession is that of the Store, for this session only: it implements codemode.SessionStore. If the session is gone the
// error is ErrSessionGone, so that a cell that ends late does not bring back a session that was deleted.
func (s *Session) CommitSession(ctx context.Context, key string, change store.SessionChange) error {
	err := s.answersTo(key)
	if err == nil {
		err = s.store.commitValues(ctx, change, func(*transaction) (*Session, error) { return s, nil })
	}
	return aboutSession("changing the values of", key, err)
}

func (s *Session) answersTo(key string) error {
	if key != s.key {
		return fmt.Errorf("%w: the SessionID of the executor must be the session's key, %.100q", ErrUnknownSession, s.key)
	}
	return nil
}

// values gives the values of a session.
func (t *transaction) values(s *Session) (map[string]store.SessionValue, error) {
	w, err := t.openWriter(s, time.Time{})
	if err != nil {
		return nil, err
	}
	values, _, err := w.values()
	return values, err
}

// commitValues appends a change to the session that find gives.
func (s *Store) commitValues(ctx context.Context, change store.SessionChange, find func(*transaction) (*Session, error)) error {
	// A change that no session takes does not make one.
	if err := change.Apply(map[string]store.SessionValue{}); err != nil {
		return err
	}
	draft, err := draftOf(change)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *transaction) error {
		session, err := find(t)
		if err != nil {
			return err
		}
		w, err := t.openWriter(session, time.Now())
		if err != nil {
			return err
		}
		values, behind, err := w.values()
		if err != nil {
			return err
		}
		behind.entries++
		behind.bytes += len(draft.members)
		if err := change.Apply(values); err != nil {
			return err
		}
		if len(change.Set)+len(change.Delete) == 0 {
			return nil
		}
		if _, err := w.append(draft); err != nil {
			return err
		}
		if behind.isMuch(values) {
			if err := w.saveValues(values); err != nil {
				return err
			}
		}
		return w.close()
	})
}

// draftOf is the entry that keeps a change.
func draftOf(change store.SessionChange) (draftText, error) {
	data := valuesData{map[string]json.RawMessage{}, slices.Clone(change.Delete), map[string]bool{}}
	if data.Delete == nil {
		data.Delete = []string{}
	}
	for key, value := range change.Set {
		data.Set[key], data.Network[key] = value.JSON, value.Network
	}
	text, err := marshal(data)
	if err != nil {
		return draftText{}, err
	}
	custom := Custom{Type: valuesType, Data: text}
	members, err := encode(custom)
	return draftText{Draft{Payload: custom}, members}, err
}

// changes are the entries that have to be read to know the values at the leaf.
type changes struct{ entries, bytes int }

// isMuch tells whether to keep the values themselves beside the entries. What is kept there follows from the entries, and is
// there to be quick only.
func (c changes) isMuch(values map[string]store.SessionValue) bool {
	const most, slack = 32, 16 << 10
	size := 0
	for _, value := range values {
		size += len(value.JSON)
	}
	return c.entries > most || c.bytes > 2*size+slack
}

// values gives the values at the leaf, and what it has read for them.
func (w *writer) values() (values map[string]store.SessionValue, read changes, err error) {
	values = map[string]store.SessionValue{}
	var all []store.SessionChange
	for n := w.at.leaf.values; n != 0; {
		row := number(w.session.row, n)
		var kept []byte
		err := w.t.queryRow(selectValues, []any{row}, &kept)
		if err == nil {
			if err := json.Unmarshal(kept, &values); err != nil || values == nil {
				return nil, changes{}, fmt.Errorf("%w (the values that are kept beside the entries are none)", ErrDamaged)
			}
			break
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return nil, changes{}, err
		}
		var id string
		var data []byte
		var before int64
		err = w.t.queryRow(selectChange, []any{row}, &id, &data, &before)
		if errors.Is(err, sql.ErrNoRows) {
			err = missing(n)
		}
		if err != nil {
			return nil, changes{}, err
		}
		if before >= n {
			return nil, changes{}, errAncestor
		}
		change, err := readChange(data)
		if err != nil {
			return nil, changes{}, fmt.Errorf("%w: entry %s: %w", ErrInvalidValues, id, err)
		}
		all = append(all, change)
		read.entries++
		read.bytes += len(data)
		n = before
	}
	for _, change := range slices.Backward(all) {
		if err := change.Apply(values); err != nil {
			return nil, changes{}, fmt.Errorf("%w: %w", ErrInvalidValues, err)
		}
	}
	return values, read, nil
}

// readChange reads the data of an entry.
func readChange(members []byte) (store.SessionChange, error) {
	var entry struct {
		Data valuesData `json:"data"`
	}
	if err := json.Unmarshal(members, &entry); err != nil {
		return store.SessionChange{}, err
	}
	data := entry.Data
	if data.Set == nil || data.Delete == nil || data.Network == nil || len(data.Network) != len(data.Set) {
		return store.SessionChange{}, errors.New("set, delete and networkContent must be there, the last with each key of the first")
	}
	change := store.SessionChange{Set: make(map[string]store.SessionValue, len(data.Set)), Delete: data.Delete}
	for key, text := range data.Set {
		network, ok := data.Network[key]
		if !ok {
			return store.SessionChange{}, fmt.Errorf("networkContent lacks the key %.64q", key)
		}
		change.Set[key] = store.SessionValue{JSON: text, Network: network}
	}
	return change, nil
}

// saveValues keeps the values at the leaf, and forgets those of other entries.
func (w *writer) saveValues(values map[string]store.SessionValue) error {
	text, err := marshal(values)
	if err != nil {
		return err
	}
	if _, err := w.t.exec(deleteValues, number(w.session.row, 0), number(w.session.row+1, 0)); err != nil {
		return err
	}
	_, err = w.t.exec(insertValues, number(w.session.row, w.at.leaf.number), string(text))
	return err
}

const (
	selectValues = `SELECT data FROM entry_values WHERE entry = ?`
	insertValues = `INSERT INTO entry_values (entry, data) VALUES (?, ?)`
	deleteValues = `DELETE FROM entry_values WHERE entry > ? AND entry < ?`
	selectChange = `SELECT e.id, e.data, iif(e.parent > 0, p.stored, 0)
		FROM entries e LEFT JOIN entries p ON e.parent > 0 AND p.entry = (e.session << 32 | e.parent) WHERE e.entry = ?`
)
