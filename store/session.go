package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// Limits of the session store. They hold for every store, because [SessionChange.Apply] checks them.
const (
	// MaxSessionKeyUnits is the length of a key in UTF-16 units, as JavaScript counts it. The shortest has one.
	MaxSessionKeyUnits = 256
	// MaxSessionValueBytes is the size of a value: bytes of compact JSON in UTF-8.
	MaxSessionValueBytes = 262_144
	// MaxSessionBytes is the size of all values of a session together. Keys do not count.
	MaxSessionBytes = 1_048_576
	// MaxSessionKeys is how many keys a session may have, and how many one change may set and delete. It is
	// out of the way of honest use; without it the keys of a million values of one byte would take a host's memory.
	MaxSessionKeys = 65_536
)

// Errors of the session store. Their text, and that of what wraps them, is for the model.
var (
	// ErrSessionKey reports a key that is no string of 1 to [MaxSessionKeyUnits] units of valid Unicode. It is a
	// TypeError in a cell.
	ErrSessionKey = fmt.Errorf("the key of a session value must be a string of 1 to %d UTF-16 units", MaxSessionKeyUnits)
	// ErrSessionValue reports a value that is no compact JSON. A cell cannot cause it.
	ErrSessionValue = errors.New("a session value must be compact JSON")
	// ErrSessionRange reports a value, or a session, beyond its limit. It is a RangeError in a cell.
	ErrSessionRange = errors.New("session store limit exceeded")
	// ErrSessionFull is the ErrSessionRange of a whole session: [MaxSessionBytes] or [MaxSessionKeys].
	ErrSessionFull = fmt.Errorf("%w: the session is full", ErrSessionRange)
)

// SessionValue is a value of a session.
type SessionValue struct {
	// JSON is the value's text: compact, at most [MaxSessionValueBytes], kept byte for byte. null is a value.
	JSON json.RawMessage

	// Network tells that the cell which stored the value had content from the network, so that the value may be
	// made of it. It marks the cell that loads the value, see codemode.Result.
	Network bool
}

// SessionChange is what one cell changes in a session. Its zero value changes nothing. A key may not be in both.
type SessionChange struct {
	Set    map[string]SessionValue
	Delete []string // a key that the session does not have is none to delete, and no error
}

// Apply makes the change to the values of a session, which it checks first: if it returns an error, values are as they
// were. It is what an implementation of codemode.SessionStore calls between reading and writing, inside of its transaction.
// The values that it sets are copies. values may be nil only if there is nothing to set.
//
// The errors are ErrSessionKey, ErrSessionValue and ErrSessionRange, the last as ErrSessionFull if it is the session
// that would exceed its limits.
func (c SessionChange) Apply(values map[string]SessionValue) error {
	deleted := make(map[string]struct{}, len(c.Delete))
	for _, key := range c.Delete {
		if err := CheckSessionKey(key); err != nil {
			return err
		}
		if _, both := c.Set[key]; both {
			return fmt.Errorf("%w, and one change cannot both set and delete it: %.64q", ErrSessionKey, key)
		}
		deleted[key] = struct{}{}
	}
	keys, size := len(c.Set), 0
	for key, value := range c.Set {
		if err := CheckSessionKey(key); err != nil {
			return err
		}
		compact, err := CompactSessionValue(value.JSON)
		if err != nil {
			return err
		}
		if !bytes.Equal(compact, value.JSON) {
			return fmt.Errorf("%w: this one has white space or is not valid Unicode", ErrSessionValue)
		}
		size += len(value.JSON)
	}
	for key, value := range values {
		_, set := c.Set[key]
		if _, gone := deleted[key]; !set && !gone {
			keys++
			size += len(value.JSON)
		}
	}
	if err := CheckSessionSize(max(keys, len(c.Set)+len(deleted)), size); err != nil {
		return err
	}
	for key := range deleted {
		delete(values, key)
	}
	for key, value := range c.Set {
		value.JSON = bytes.Clone(value.JSON)
		values[key] = value
	}
	return nil
}

// CheckSessionKey checks a key as [SessionChange.Apply] does.
func CheckSessionKey(key string) error {
	if !utf8.ValidString(key) {
		return fmt.Errorf("%w: this one is not valid Unicode", ErrSessionKey)
	}
	units := jsontext.UTF16Len(key)
	if units < 1 || units > MaxSessionKeyUnits {
		return fmt.Errorf("%w: this one has %d", ErrSessionKey, units)
	}
	return nil
}

// CompactSessionValue gives a value as it is kept, from any JSON text: text itself if that is compact. Its errors are
// ErrSessionValue and ErrSessionRange.
func CompactSessionValue(text []byte) ([]byte, error) {
	compact, err := jsontext.Compact(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSessionValue, err)
	}
	if len(compact) > MaxSessionValueBytes {
		return nil, fmt.Errorf("%w: a value may have %d bytes of JSON, this one has %d; store less of it, or under several keys",
			ErrSessionRange, MaxSessionValueBytes, len(compact))
	}
	return compact, nil
}

// CheckSessionSize checks how many keys a session has, and the bytes of its values together, as [SessionChange.Apply] does.
func CheckSessionSize(keys, size int) error {
	if size > MaxSessionBytes {
		return fmt.Errorf("%w: its values may have %d bytes of JSON together, with this change they would have %d; "+
			"delete some with store(key, undefined)", ErrSessionFull, MaxSessionBytes, size)
	}
	if keys > MaxSessionKeys {
		return fmt.Errorf("%w: it may have %d keys, and a program may change as many; "+
			"keep several values as one object under one key", ErrSessionFull, MaxSessionKeys)
	}
	return nil
}
