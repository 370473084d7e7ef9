package engine

import (
	"context"
	"time"
)

var noDeadline time.Time

// Acquire gives a fresh VM of the image, out of the image's pool where it has one. The memory that
// the guest may take is the engine's limit on top of the image. The caller must end it with
// [VM.Release].
func (img *Image) Acquire(ctx context.Context) (*VM, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := img.engine
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, ErrClosed
	}
	var vm *VM
	if n := len(img.idle); n > 0 {
		vm, img.idle = img.idle[n-1], img.idle[:n-1]
	}
	e.active.Add(1)
	e.mu.Unlock()

	var err error
	if vm == nil {
		vm, err = e.instantiate()
	}
	if err == nil {
		if err = img.reset(vm); err != nil {
			vm.close()
		}
	}
	if err != nil {
		e.active.Done()
		return nil, err
	}
	vm.mem.cap = uint64(min(int64(len(img.memory))+e.memoryLimit, int64(len(vm.mem.reserve))))
	return vm, nil
}

// Release gives the VM back to the pool, or drops it where it cannot be made fresh: after a trap or
// a stop, when its memory grew (linear memory never shrinks), when it went deep (the WebAssembly
// runtime keeps the stack that it grew to) or when it was restored from a snapshot that was read: that
// can be damaged in a way that writes where a reset does not clear.
func (vm *VM) Release() {
	e := vm.engine
	defer e.active.Done()
	img := vm.image
	keep := vm.dead == nil && !vm.foreign && len(vm.mem.buf) == len(img.memory) && vm.stackUsed(img) <= stackDeep
	if keep {
		vm.host = nil
		e.mu.Lock()
		if keep = !e.closed && len(img.idle) < e.maxIdle; keep {
			img.idle = append(img.idle, vm)
		}
		e.mu.Unlock()
	}
	if !keep {
		vm.close()
	}
}
