package transcript

import "sync"

// usage knows whether a store may be used, and whether it is. Unlike a lock it makes nobody wait but who closes the store: a
// method that uses another one cannot wait for itself.
type usage struct {
	mu     sync.Mutex
	active int
	closed bool
	idle   chan struct{} // closed when the store is closed to all and nobody uses it
}

// begin tells that a method begins: false if the store was closed. Each that was told true calls end.
func (u *usage) begin() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	u.active++
	return true
}

func (u *usage) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.active--; u.active == 0 && u.closed {
		close(u.idle)
	}
}

// close keeps out who comes later, and waits for the others. It is first for the first who calls it.
func (u *usage) close() (first bool) {
	u.mu.Lock()
	if !u.closed {
		first, u.closed, u.idle = true, true, make(chan struct{})
		if u.active == 0 {
			close(u.idle)
		}
	}
	u.mu.Unlock()
	<-u.idle
	return first
}
