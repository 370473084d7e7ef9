package codemode

import (
	"bytes"
	"context"
	"sync"

	"github.com/cellmode/cellmode/store"
)

// MemoryStore is a [SessionStore] and a [CellStore] in the memory of this process: for tests, and for services whose sessions
// and cells may end with it. It keeps every session until [MemoryStore.DeleteSession], each of up to [store.MaxSessionBytes] and
// its keys, and cells until they expire.
//
// It is safe for concurrent use, and ready as its zero value. It must not be copied.
type MemoryStore struct {
	mu       sync.RWMutex
	sessions map[string]map[string]store.SessionValue // none of them empty
	cells    memoryCells
}

var _ SessionStore = (*MemoryStore)(nil)

// NewMemoryStore makes an empty store.
func NewMemoryStore() *MemoryStore {
	return new(MemoryStore)
}

// LoadSession implements [SessionStore].
func (m *MemoryStore) LoadSession(ctx context.Context, sessionID string) (map[string]store.SessionValue, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	values := make(map[string]store.SessionValue, len(m.sessions[sessionID]))
	for key, value := range m.sessions[sessionID] {
		value.JSON = bytes.Clone(value.JSON)
		values[key] = value
	}
	return values, nil
}

// CommitSession implements [SessionStore].
func (m *MemoryStore) CommitSession(ctx context.Context, sessionID string, change store.SessionChange) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	values := m.sessions[sessionID]
	if values == nil {
		values = map[string]store.SessionValue{}
	}
	if err := change.Apply(values); err != nil {
		return err
	}
	if len(values) == 0 {
		delete(m.sessions, sessionID)
		return nil
	}
	if m.sessions == nil {
		m.sessions = map[string]map[string]store.SessionValue{}
	}
	m.sessions[sessionID] = values
	return nil
}

// DeleteSession forgets a session and all its values. Cells that have loaded it do not notice, and make it anew when
// they commit.
func (m *MemoryStore) DeleteSession(sessionID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, sessionID)
}
