package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/cellmode/cellmode/internal/heapdelta"
)

// ErrSnapshotLimit reports a snapshot that would exceed its limit.
var ErrSnapshotLimit = errors.New("engine: the snapshot is too large")

// ErrSnapshot reports a snapshot that no VM can be made of: it is damaged, or of another image or engine.
var ErrSnapshot = errors.New("engine: unusable snapshot")

// Snapshot is all of a VM at rest, without the VM: what its memory has that its image has not, and what the host knows of
// its promises. Values of the VM are values of every VM that is restored from it. It is immutable.
type Snapshot struct {
	size     int // of the memory
	delta    []byte
	refusals int // of memory; 0: none was refused
	tracker  tracker
	foreign  bool // it was read, so that nobody knows what is in it
}

// Snapshot takes what the VM is between two calls. It has at most limit bytes, else ErrSnapshotLimit. The VM may go on;
// what was in memory that it has freed is gone.
func (vm *VM) Snapshot(limit int) (*Snapshot, error) {
	if vm.dead != nil {
		return nil, vm.dead
	}
	img := vm.image
	s := &Snapshot{size: len(vm.mem.buf), tracker: vm.tracker}
	if vm.mem.refused {
		s.refusals = max(vm.mem.refusals, 1)
	}
	s.tracker.open = append([]Value(nil), vm.tracker.open...)
	heapdelta.DropFree(img.memory, vm.mem.buf, int(img.stack))
	buffer := deltas.Get().(*[]byte)
	defer deltas.Put(buffer)
	delta, err := heapdelta.Append((*buffer)[:0], img.memory, vm.mem.buf, int(img.stack), int(img.sp), limit-s.overhead())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshotLimit, err)
	}
	s.delta = bytes.Clone(delta) // it is kept for long, and has no room to spare
	if cap(delta) <= maxDeltaBuffer {
		*buffer = delta
	}
	return s, nil
}

// deltas are buffers to make a delta in.
var deltas = sync.Pool{New: func() any { return new([]byte) }}

const maxDeltaBuffer = 1 << 20

// overhead is the size of the binary form without the delta.
func (s *Snapshot) overhead() int { return snapshotHead + 8*len(s.tracker.open) }

// Size gives the bytes of the snapshot, as it is kept and in its binary form.
func (s *Snapshot) Size() int { return s.overhead() + len(s.delta) }

// Restore makes a VM what another VM of the image was when the snapshot was taken. As after [Image.Acquire], the caller must
// end it with [VM.Release]. A snapshot that does not fit is an ErrSnapshot.
func (img *Image) Restore(ctx context.Context, s *Snapshot) (*VM, error) {
	vm, err := img.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	if err := vm.restore(s); err != nil {
		vm.dead = err // what was written into its memory is nothing that a reset counts on
		vm.Release()
		return nil, err
	}
	return vm, nil
}

func (vm *VM) restore(s *Snapshot) error {
	img := vm.image
	switch have, most := len(vm.mem.buf), int(vm.mem.cap)+spareMemory; {
	case s.size < len(img.memory) || s.size%pageSize != 0:
		return fmt.Errorf("%w: its memory cannot have %d bytes", ErrSnapshot, s.size)
	case s.size > min(most, len(vm.mem.reserve)):
		return fmt.Errorf("%w: its memory has %d bytes, %d are allowed here", ErrSnapshot, s.size, most)
	case s.size > have:
		limit := vm.mem.cap
		vm.mem.cap = uint64(max(int(limit), s.size))
		_, ok := vm.module.Memory().Grow(uint32((s.size - have) / pageSize))
		vm.mem.cap = limit
		if !ok {
			return ErrMemory
		}
	}
	if err := heapdelta.Apply(vm.mem.buf, s.delta); err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	vm.foreign = s.foreign
	vm.mem.refused, vm.mem.refusals = s.refusals > 0, s.refusals
	vm.tracker = s.tracker
	vm.tracker.open = append([]Value(nil), s.tracker.open...)
	return nil
}

// snapshotHead is what is before the tracked promises in the binary form.
const snapshotHead = 4 + 4 + 4 + 8 + 4

// AppendBinary appends the snapshot in a form for [ParseSnapshot], of [Snapshot.Size] bytes. It has no checksum.
func (s *Snapshot) AppendBinary(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.size))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.refusals))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.tracker.untold))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.tracker.ignored))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.tracker.open)))
	for _, p := range s.tracker.open {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(p))
	}
	return append(dst, s.delta...)
}

// ParseSnapshot reads the binary form of a snapshot, of which it keeps a part. What it cannot read is an ErrSnapshot. What
// it can read may still be nonsense: a VM that is restored from it is as little to be trusted as any guest.
func ParseSnapshot(text []byte) (*Snapshot, error) {
	if len(text) < snapshotHead {
		return nil, fmt.Errorf("%w: it is cut off", ErrSnapshot)
	}
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(text[at:])) }
	s := &Snapshot{size: u32(0), refusals: u32(4), foreign: true}
	s.tracker.untold = u32(8)
	s.tracker.ignored = Value(binary.LittleEndian.Uint64(text[12:]))
	open := u32(20)
	text = text[snapshotHead:]
	if open > maxTracked || len(text) < 8*open {
		return nil, fmt.Errorf("%w: it is cut off", ErrSnapshot)
	}
	for i := range open {
		s.tracker.open = append(s.tracker.open, Value(binary.LittleEndian.Uint64(text[8*i:])))
	}
	s.delta = text[8*open:]
	return s, nil
}

// ID names the contents of the image: a snapshot can be restored in every image of the same ID, in this process or
// another one. It covers the engine's binary, and what the image was prepared with.
func (img *Image) ID() string {
	img.id.once.Do(func() {
		sum := sha256.New()
		sum.Write([]byte(rewrittenSHA256))
		for _, n := range []uint64{uint64(img.js), uint64(img.rt), uint64(img.scratch), uint64(img.stack), img.sp} {
			_ = binary.Write(sum, binary.LittleEndian, n)
		}
		sum.Write(img.memory)
		img.id.text = hex.EncodeToString(sum.Sum(nil))
	})
	return img.id.text
}
