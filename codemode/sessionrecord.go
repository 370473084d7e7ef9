package codemode

import (
	"maps"

	"github.com/cellmode/cellmode/store"
)

// savedSession is the session of a waiting cell in a store: what it saw, and which keys it has changed.
type savedSession struct {
	Values  map[string]store.SessionValue `json:"values"`
	Changed []string                      `json:"changed,omitempty"`
}

// save gives what the cell sees of its session. No call is at work: the cell waits. It is nil if the session was not loaded
// yet.
func (b *sessionBuffer) save() *savedSession {
	if b.values == nil {
		return nil
	}
	s := &savedSession{Values: b.values}
	for key := range maps.Keys(b.changed) {
		s.Changed = append(s.Changed, key)
	}
	return s
}

// bytes is the size of the values, as far as they were loaded.
func (b *sessionBuffer) bytes() int { return b.size }

// buffer makes the buffer of a cell that comes out of a store.
func (s *savedSession) buffer(e *Executor) *sessionBuffer {
	b := newSessionBuffer(e.session, e.sessionKey)
	b.values, b.changed = s.Values, map[string]struct{}{}
	if b.values == nil {
		b.values = map[string]store.SessionValue{}
	}
	for _, value := range b.values {
		b.size += len(value.JSON)
	}
	for _, key := range s.Changed {
		b.changed[key] = struct{}{}
	}
	return b
}
