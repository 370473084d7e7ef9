package transcript

import (
	"context"
	"sync"
	"time"
)

// indexer brings the index of a Store in step behind its appends. Its goroutine ends when there is nothing left.
type indexer struct {
	mu      sync.Mutex
	running bool
	again   bool // somebody has appended since the goroutine has looked
	closed  bool
	cancel  context.CancelFunc // ends the goroutine
	done    sync.WaitGroup
}

const (
	// indexDelay is how long entries wait for others, to be indexed with them.
	indexDelay = 100 * time.Millisecond
	// After a batch the indexer rests so many times as long as that took: the more if somebody is appending, who would have to
	// wait for it.
	idleRest = 1
	busyRest = 49
)

// wakeIndexer has the index brought in step soon.
func (s *Store) wakeIndexer() {
	x := &s.indexer
	x.mu.Lock()
	defer x.mu.Unlock()
	x.again = true
	if x.running || x.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.running, x.cancel = true, cancel
	x.done.Go(func() {
		defer cancel()
		x.run(ctx, s)
	})
}

// run indexes a batch now and then.
func (x *indexer) run(ctx context.Context, s *Store) {
	timer := time.NewTimer(indexDelay)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			x.end()
			return
		case <-timer.C:
		}
		rest := x.look()
		begun := time.Now()
		left, err := s.catchUp(ctx, SearchOptions{}, 1, noLimit)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				s.logger.Warn("transcript: indexing", "error", err)
			}
			x.end()
			return
		case left:
			timer.Reset(rest * time.Since(begun))
		case x.idle():
			return
		default:
			timer.Reset(indexDelay)
		}
	}
}

// look begins a batch, and gives the rest behind it.
func (x *indexer) look() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	rest := time.Duration(idleRest)
	if x.again {
		rest = busyRest
	}
	x.again = false
	return rest
}

// idle ends the goroutine if nobody has appended since it has looked.
func (x *indexer) idle() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = x.again
	return !x.running
}

func (x *indexer) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = false
}

// close ends the goroutine, and waits for it.
func (x *indexer) close() {
	x.mu.Lock()
	x.closed = true
	if x.cancel != nil {
		x.cancel()
	}
	x.mu.Unlock()
	x.done.Wait()
}
