package transcript

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// news are what is to be told to [Options.OnAppend]. A goroutine tells it, as long as there is something to be told.
type news struct {
	tell func(Appended)

	mu      sync.Mutex
	waiting []Appended
	telling bool
	done    sync.WaitGroup
}

// announce has it told that entries were appended, once the transaction has taken effect.
func (s *Store) announce(t *transaction, session *Session, entries []Entry) {
	n := &s.news
	if n.tell == nil || len(entries) == 0 {
		return
	}
	t.committed = append(t.committed, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.waiting = append(n.waiting, Appended{session.key, session.id, entries})
		if !n.telling {
			n.telling = true
			n.done.Go(s.tellAll)
		}
	})
}

// tellAll tells what is waiting.
func (s *Store) tellAll() {
	n := &s.news
	left := false
	defer func() {
		if !left { // who is told has ended the goroutine
			s.logger.Error("transcript: OnAppend has ended its goroutine")
			n.done.Go(s.tellAll)
		}
	}()
	for {
		n.mu.Lock()
		if len(n.waiting) == 0 {
			n.waiting, n.telling, left = nil, false, true
			n.mu.Unlock()
			return
		}
		next := n.waiting[0]
		n.waiting[0] = Appended{}
		n.waiting = n.waiting[1:]
		n.mu.Unlock()
		s.tell(next)
	}
}

func (s *Store) tell(next Appended) {
	defer func() {
		if cause := recover(); cause != nil {
			s.logger.Error("transcript: OnAppend has panicked", "session", next.SessionKey, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		}
	}()
	s.news.tell(next)
}
