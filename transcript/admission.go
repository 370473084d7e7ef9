package transcript

import (
	"context"
	"fmt"
	"sync"
)

// admission knows which sessions are at work in this Store, and which are about to be deleted or moved. It knows
// them by their keys.
type admission struct {
	mu   sync.Mutex
	work map[string]int // how much work was admitted; claimed if something else than work has the session
}

const claimed = -1

// Admit marks the session as at work until release is called: meanwhile a deletion of it, or a move that participants
// prepare, fails with ErrSessionBusy. Any amount of work can be admitted at once. While a deletion or such a move is on its
// way, Admit fails with ErrSessionBusy itself.
//
// The mark is known to this Store only, not to other processes. It fails nobody's appends. release may be called
// more than once.
func (s *Session) Admit(ctx context.Context) (release func(), err error) {
	a := &s.store.admission
	if !a.admit(s.key) {
		return nil, aboutSession("admitting work to", s.key, fmt.Errorf("%w: it is being deleted or moved", ErrSessionBusy))
	}
	release = sync.OnceFunc(func() { a.release(s.key) })
	// From here on no deletion begins: so what is found now stays.
	if err := s.store.read(ctx, func(t *transaction) error { return t.checkSession(s) }); err != nil {
		release()
		return nil, aboutSession("admitting work to", s.key, err)
	}
	return release, nil
}

func (a *admission) admit(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.work[key] == claimed {
		return false
	}
	a.work[key]++
	return true
}

func (a *admission) release(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.work[key]--; a.work[key] == 0 {
		delete(a.work, key)
	}
}

// claim takes sessions for one operation, if none of them is at work or claimed: all of them or none. The keys must differ.
func (a *admission) claim(keys []string) (release func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range keys {
		switch work := a.work[key]; {
		case work == claimed:
			return nil, aboutSession("claiming", key, fmt.Errorf("%w: it is being deleted or moved", ErrSessionBusy))
		case work > 0:
			return nil, aboutSession("claiming", key, fmt.Errorf("%w: work is going on in it", ErrSessionBusy))
		}
	}
	for _, key := range keys {
		a.work[key] = claimed
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, key := range keys {
			delete(a.work, key)
		}
	}, nil
}
