package codemode

import (
	"sync"
	"time"
)

// approvals measures the time in which calls of a cell wait for somebody's approval. Such time, as far as the cell has
// nothing else to do, is not the cell's: a person takes minutes.
type approvals struct {
	changed chan struct{} // has an element when a wait began or ended since it was last read

	mu      sync.Mutex
	asked   int           // waits so far
	waiting int           // calls that wait now
	since   time.Time     // when the first of them began to
	past    time.Duration // all earlier time in which any did
}

// maxApprovals is how many waits of a cell may be off its time. Without an end, a program that asks again and again would
// run for as long as somebody answers.
const maxApprovals = 64

// report is told by a call, on its goroutine, that it starts or stops to wait.
func (a *approvals) report(waiting bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if waiting {
		if a.asked == maxApprovals {
			a.past, _ = a.sum() // and no more from now on
		}
		a.asked++
		if a.waiting++; a.waiting == 1 {
			a.since = time.Now()
		}
	} else {
		if a.waiting == 1 {
			a.past, _ = a.sum()
		}
		a.waiting--
	}
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// total is the time so far that is not the cell's, and whether it grows now.
func (a *approvals) total() (spent time.Duration, grows bool) {
	if a.changed == nil { // nobody is ever asked
		return 0, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sum()
}

func (a *approvals) sum() (spent time.Duration, grows bool) {
	if a.waiting == 0 || a.asked > maxApprovals {
		return a.past, false
	}
	return a.past + time.Since(a.since), true
}
