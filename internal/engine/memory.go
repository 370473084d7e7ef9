package engine

import "fmt"

// pageSize is the size of a WebAssembly page in bytes.
const pageSize = 64 << 10

// linearMemory is the memory of one VM. Its whole capacity is reserved as address space when the VM
// is made and backed by the system page by page as it is touched, so growing never copies: growth by
// make-and-copy stopped a guest for up to 600 ms a step. It implements [experimental.LinearMemory].
type linearMemory struct {
	buf     []byte // what the module sees now: a prefix of reserve
	reserve []byte
	cap     uint64 // the guest's growth ends here
	refused bool   // the guest asked for more: whatever it throws then, it ran out of memory

	refusals int
}

func newLinearMemory(capacity uint64) (*linearMemory, error) {
	reserve, err := reserveMemory(int(capacity))
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes for a VM: %w", capacity, err)
	}
	return &linearMemory{reserve: reserve, cap: capacity}, nil
}

// After it was refused memory, a guest may still grow a little, in small steps: enough for the engine to make the error
// that it throws. Without, it would throw null. The allocator asks twice before it gives up.
const (
	spareMemory = 256 << 10
	spareStep   = 128 << 10
	spareAfter  = 2 // refusals
)

// Reallocate gives the module n bytes, or nil past the cap, which makes memory.grow answer -1.
func (m *linearMemory) Reallocate(n uint64) []byte {
	limit := m.cap
	if m.refusals >= spareAfter && n-uint64(len(m.buf)) <= spareStep {
		limit = min(limit+spareMemory, uint64(len(m.reserve)))
	}
	if n > limit || commitMemory(m.reserve[:n], len(m.buf)) != nil {
		m.refused = true
		m.refusals++
		return nil
	}
	m.buf = m.reserve[:n]
	return m.buf
}

// Free gives the memory back to the system. wazero calls it when the module closes.
func (m *linearMemory) Free() {
	if m.reserve != nil {
		releaseMemory(m.reserve)
		m.buf, m.reserve = nil, nil
	}
}
