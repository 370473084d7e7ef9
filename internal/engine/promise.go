package engine

import (
	"encoding/binary"
	"fmt"

	"github.com/cellmode/cellmode/internal/engine/harden"
)

// PromiseState is the state of a promise.
type PromiseState int

// The states.
const (
	Pending PromiseState = iota
	Fulfilled
	Rejected
)

// Promise reads the state of a promise and its value or reason out of the engine. The guest has no
// part in the answer: what it puts in place of Promise or of then does not matter here. The value
// belongs to the promise.
func (vm *VM) Promise(p Value) (PromiseState, Value, error) {
	data, err := vm.promiseData(p)
	if err != nil {
		return Pending, Undefined, err
	}
	state, err := vm.u32(data + harden.PromiseState)
	if err != nil {
		return Pending, Undefined, err
	}
	result, err := vm.u64(data + harden.PromiseResult)
	if err != nil {
		return Pending, Undefined, err
	}
	switch state {
	case harden.PromiseFulfilled:
		return Fulfilled, Value(result), nil
	case harden.PromiseRejected:
		return Rejected, Value(result), nil
	}
	return Pending, Undefined, nil
}

func (vm *VM) promiseData(p Value) (uint32, error) {
	at := p.addr()
	if !p.IsObject() || uint64(at)+harden.ObjectData+4 > uint64(len(vm.mem.buf)) {
		return 0, fmt.Errorf("engine: value %#x is not a promise", uint64(p))
	}
	if class := binary.LittleEndian.Uint16(vm.mem.buf[at+harden.ObjectClassID:]); class != harden.ClassPromise {
		return 0, fmt.Errorf("engine: object of class %d is not a promise", class)
	}
	return vm.u32(at + harden.ObjectData)
}

// maxTracked bounds the rejected promises that the host keeps alive and in order. A guest can make
// them far faster than anyone could want to read about them.
const maxTracked = 1024

// tracker knows the rejected promises that have no handler yet. It holds a reference to each, so
// that its address stays its own.
type tracker struct {
	open    []Value // oldest first
	untold  int     // more of them, when open was full
	ignored Value   // the promise whose outcome the host reads itself
}

// Ignore excepts one promise from [VM.Unhandled]: the host reads its outcome itself.
func (vm *VM) Ignore(p Value) { vm.tracker.ignored = p }

// Unhandled gives the oldest rejected promise that has no handler at this moment, and how many
// there are. The promise belongs to the VM.
func (vm *VM) Unhandled() (first Value, n int) {
	n = len(vm.tracker.open) + vm.tracker.untold
	if len(vm.tracker.open) > 0 {
		first = vm.tracker.open[0]
	}
	for i, p := range vm.tracker.open {
		if p == vm.tracker.ignored {
			n--
			if i == 0 && len(vm.tracker.open) > 1 {
				first = vm.tracker.open[1]
			}
			break
		}
	}
	return first, n
}

// rejected is called by the engine when a promise is rejected and has no handler.
func (vm *VM) rejected(p Value) {
	if len(vm.tracker.open) == maxTracked || !vm.addReference(p, 1) {
		vm.tracker.untold++
		return
	}
	vm.tracker.open = append(vm.tracker.open, p)
}

// handled is called by the engine when a promise that was reported by rejected gets a handler.
func (vm *VM) handled(p Value) {
	for i, q := range vm.tracker.open {
		if p == q {
			vm.tracker.open = append(vm.tracker.open[:i], vm.tracker.open[i+1:]...)
			vm.addReference(p, -1) // whoever is adding the handler holds another: this never frees
			return
		}
	}
	if vm.tracker.untold > 0 {
		vm.tracker.untold--
	}
}

// addReference changes an object's reference count in place, where the engine is in the middle of a call or a call is not
// worth it. It answers false where it cannot: for what is no object, and for the last reference.
func (vm *VM) addReference(p Value, by int32) bool {
	at := uint64(p.addr())
	if !p.IsObject() || at+4 > uint64(len(vm.mem.buf)) {
		return false
	}
	count := int32(binary.LittleEndian.Uint32(vm.mem.buf[at:]))
	if count+by <= 0 {
		return false
	}
	binary.LittleEndian.PutUint32(vm.mem.buf[at:], uint32(count+by))
	return true
}
