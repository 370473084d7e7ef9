package codemode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cellmode/cellmode/internal/jsontext"

	"github.com/cellmode/cellmode/store"
)

// sessionBuffer is the session as one cell sees it: what was committed when the cell first asked, with the cell's own
// changes on top. Nothing of it reaches the store before commit; a cell that does not complete just lets go of it.
//
// It is safe for concurrent use. Calls take effect one after another; who needs them in the order of the program makes
// them in that order, after open has returned or each after the one before: only open, and through it the first call,
// and commit wait for the store.
type sessionBuffer struct {
	session   SessionStore
	sessionID string

	turn chan struct{} // has an element while a call is at work: a mutex, with which a context can lose patience

	// Guarded by turn.
	values  map[string]store.SessionValue // nil before open
	changed map[string]struct{}           // the keys that commit sets, or deletes if values has them no more
	size    int                           // of the texts in values
}

// newSessionBuffer makes the buffer of a cell. It costs nothing until it is used.
func newSessionBuffer(store SessionStore, sessionID string) *sessionBuffer {
	return &sessionBuffer{session: store, sessionID: sessionID, turn: make(chan struct{}, 1)}
}

// lock takes the turn. It does not fail if nobody else has it.
func (b *sessionBuffer) lock(ctx context.Context) error {
	select {
	case b.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case b.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *sessionBuffer) unlock() { <-b.turn }

// open loads the session, unless that is done. It may block for as long as the store does. A failure is the
// caller's alone: the next call tries again.
func (b *sessionBuffer) open(ctx context.Context) error {
	if err := b.lock(ctx); err != nil {
		return err
	}
	defer b.unlock()
	return b.opened(ctx)
}

// opened is open for a caller that has the turn.
func (b *sessionBuffer) opened(ctx context.Context) error {
	if b.values != nil {
		return nil
	}
	values, err := b.session.LoadSession(ctx, b.sessionID)
	if err != nil {
		// Its text alone: what kind of error it is says nothing of the program's call, and its methods are the host's code.
		return errors.New(ellipsize("the session could not be loaded: "+err.Error(), maxWarning))
	}
	if values == nil {
		values = map[string]store.SessionValue{}
	}
	for _, value := range values {
		b.size += len(value.JSON)
	}
	b.values, b.changed = values, map[string]struct{}{}
	return nil
}

// store sets a key of the session, or deletes it if value has no text. The key is the JSON text of what the guest gave:
// nil, and what is no string, is a store.ErrSessionKey. After an error nothing has changed.
func (b *sessionBuffer) store(ctx context.Context, key []byte, value store.SessionValue) error {
	name, err := readSessionKey(key)
	if err != nil {
		return err
	}
	if err := b.lock(ctx); err != nil {
		return err
	}
	defer b.unlock()
	if err := b.opened(ctx); err != nil {
		return err
	}
	old, had := b.values[name]
	keys, size := len(b.values), b.size-len(old.JSON)
	if had {
		keys--
	}
	if value.JSON != nil {
		text, err := store.CompactSessionValue(value.JSON)
		if err != nil {
			return err
		}
		value.JSON = bytes.Clone(text) // the caller's has room to spare, perhaps a lot
		keys++
		size += len(text)
	}
	changes := len(b.changed)
	if _, again := b.changed[name]; !again {
		changes++
	}
	if err := store.CheckSessionSize(max(keys, changes), size); err != nil {
		return err
	}
	b.size = size
	b.changed[name] = struct{}{}
	if value.JSON == nil {
		delete(b.values, name)
	} else {
		b.values[name] = value
	}
	return nil
}

// load gives the value of a key, a copy, and whether there is one.
func (b *sessionBuffer) load(ctx context.Context, key []byte) (store.SessionValue, bool, error) {
	name, err := readSessionKey(key)
	if err != nil {
		return store.SessionValue{}, false, err
	}
	if err := b.lock(ctx); err != nil {
		return store.SessionValue{}, false, err
	}
	defer b.unlock()
	if err := b.opened(ctx); err != nil {
		return store.SessionValue{}, false, err
	}
	value, ok := b.values[name]
	if _, own := b.changed[name]; ok && !own {
		if value.JSON, err = jsontext.Compact(value.JSON); err != nil {
			return store.SessionValue{}, false, fmt.Errorf("the session store has under this key what is %w; "+
				"store another value there, or delete it with store(key, undefined)", err)
		}
	}
	value.JSON = bytes.Clone(value.JSON)
	return value, ok, nil
}

// changes tells whether there is something to commit.
func (b *sessionBuffer) changes() bool {
	b.turn <- struct{}{}
	defer b.unlock()
	return len(b.changed) > 0
}

// commit gives the changes of a completed cell to the store. The error is a *commitError, or nil. It closes the buffer: no
// call may follow.
func (b *sessionBuffer) commit(ctx context.Context) error {
	if err := b.lock(ctx); err != nil {
		return notConfirmed(err)
	}
	defer b.unlock()
	change := b.change()
	b.values, b.changed = nil, nil
	if len(change.Set) == 0 && len(change.Delete) == 0 {
		return nil
	}
	switch err := b.session.CommitSession(ctx, b.sessionID, change); {
	case errors.Is(err, store.ErrSessionRange):
		return notKept(err)
	case err != nil:
		return notConfirmed(err)
	}
	return nil
}

// change is what the cell has changed.
func (b *sessionBuffer) change() store.SessionChange {
	var c store.SessionChange
	for key := range b.changed {
		if value, ok := b.values[key]; ok {
			if c.Set == nil {
				c.Set = make(map[string]store.SessionValue, len(b.changed))
			}
			c.Set[key] = value
		} else {
			c.Delete = append(c.Delete, key)
		}
	}
	return c
}

// maxSessionKeyText is the longest JSON text that a key can have: every unit as an escape.
const maxSessionKeyText = len(`""`) + len(`\u0000`)*store.MaxSessionKeyUnits

// readSessionKey decodes and checks a key.
func readSessionKey(text []byte) (string, error) {
	if len(text) == 0 || text[0] != '"' {
		return "", fmt.Errorf("%w: this one is no string", store.ErrSessionKey)
	}
	if len(text) > maxSessionKeyText {
		return "", fmt.Errorf("%w: this one has more", store.ErrSessionKey)
	}
	// A key with half a surrogate pair is refused, not repaired: two such keys would become one.
	compact, err := jsontext.Compact(text)
	if err != nil || !bytes.Equal(compact, text) {
		return "", fmt.Errorf("%w: this one is not valid Unicode", store.ErrSessionKey)
	}
	var key string
	if err := json.Unmarshal(text, &key); err != nil {
		return "", fmt.Errorf("%w: %w", store.ErrSessionKey, err)
	}
	return key, store.CheckSessionKey(key)
}
