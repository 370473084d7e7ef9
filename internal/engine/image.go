package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/cellmode/cellmode/internal/engine/harden"
)

// The C stack of a VM. It allows a recursion of about 1,000 plain JavaScript calls, and stays small
// because the WebAssembly runtime's own stack grows with it.
const (
	stackBytes = 384 << 10
	stackGuard = 16 << 10 // below this much left, the engine traps
	stackSpare = 48 << 10 // below this much left, JavaScript gets a RangeError
	stackDeep  = 64 << 10 // a VM that used more is dropped
)

// The scratch block: a place in every VM where the host puts what a call needs.
const (
	maxArgs         = 8
	scratchOptions  = 0
	scratchArgs     = 32
	scratchName     = scratchArgs + 8*maxArgs
	scratchNameSize = 32
	scratchTextAt   = scratchName + scratchNameSize
	scratchText     = 8 << 10
	scratchSize     = scratchTextAt + scratchText
)

// layout says where things are in the memory of a VM.
type layout struct {
	js, rt  uint32 // JSContext, JSRuntime
	scratch uint32
	stack   uint32 // lowest address of the C stack
	sp      uint64 // the stack pointer at rest
}

func (l *layout) stackFloor() uint32 { return l.stack + stackGuard }

// Image is the memory of a prepared VM at rest: all that a VM is, between calls, is its linear
// memory and the stack pointer. A VM becomes fresh by copying the image over its memory. An Image is
// immutable and safe for concurrent use.
type Image struct {
	layout
	engine *Engine
	memory []byte
	runs   []run
	named  []Value
	protos protos

	id struct {
		once sync.Once
		text string
	}

	idle []*VM // guarded by engine.mu
}

// run is a stretch of an image whose pages are all zero or all not: a stretch of zeros is cleared,
// which is cheaper than copying it.
type run struct {
	from, to int
	zero     bool
}

// NewImage boots a VM, lets prepare set it up and takes its image. The values that prepare gives
// can be used in every VM of the image, see [VM.Named]. hostFunction, the guest's only way to the
// host, is a function of at least four arguments for prepare to hand to code that it trusts.
func (e *Engine) NewImage(ctx context.Context, prepare func(vm *VM, hostFunction Value) ([]Value, error)) (*Image, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	vm, err := e.instantiate()
	if err != nil {
		return nil, err
	}
	defer vm.close()
	vm.image, vm.preparing = &Image{engine: e}, true
	if err := vm.boot(); err != nil {
		return nil, fmt.Errorf("boot: %w", err)
	}
	host, err := vm.hostFunction()
	if err != nil {
		return nil, fmt.Errorf("boot: host function: %w", err)
	}
	img := &Image{layout: vm.image.layout, engine: e}
	if prepare != nil {
		if img.named, err = prepare(vm, host); err != nil {
			return nil, err
		}
		if err := vm.Drain(); err != nil {
			return nil, err
		}
	}
	if img.protos, err = vm.findProtos(); err != nil {
		return nil, err
	}
	img.sp = vm.sp.Get()
	img.memory = append([]byte(nil), vm.mem.buf...)
	clear(img.memory[img.stack:img.sp]) // at rest, nothing there is in use
	img.runs = findRuns(img.memory, int(img.stack), int(img.sp))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.images = append(e.images, img)
	return img, nil
}

// boot makes a JavaScript context in a new instance: a C stack with bounds, and nothing but the
// language.
func (vm *VM) boot() error {
	l := &vm.image.layout
	stack, err := vm.invoke(fnMalloc, stackBytes)
	if err != nil || stack == 0 {
		return errors.Join(err, errors.New("no memory for the stack"))
	}
	l.stack = uint32(stack)
	vm.sp.Set(stack + stackBytes)
	vm.spMin.Set(uint64(l.stackFloor()))
	create := func(name string, args ...uint64) (uint32, error) {
		out, err := vm.module.ExportedFunction(name).Call(vm.ctx, args...)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if len(out) == 0 {
			return 0, nil
		}
		if out[0] == 0 {
			return 0, fmt.Errorf("%s failed", name)
		}
		return uint32(out[0]), nil
	}
	q, err := create("New_QJS", 0, stackBytes/2, 0, 0)
	if err != nil {
		return err
	}
	if l.rt, err = vm.u32(q + harden.QJSRuntime); err != nil {
		return err
	}
	first, err := vm.u32(q + harden.QJSContext)
	if err != nil {
		return err
	}
	if _, err := create("JS_FreeContext", uint64(first)); err != nil {
		return err
	}
	if l.js, err = create("New_QJSContext", uint64(l.rt)); err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(vm.mem.buf[l.rt+harden.RuntimeStackLimit:], l.stack+stackSpare)
	binary.LittleEndian.PutUint32(vm.mem.buf[l.rt+harden.RuntimeRejectionTracker:], harden.TrackerSlot)
	l.scratch, err = create("malloc", scratchSize)
	return err
}

// hostFunction makes the raw C function that calls the host. The engine's own maker wraps it in a
// JavaScript function that looks call up on Function.prototype at every call, where guest code could
// get hold of the raw function; so it is taken out of its wrapper here, before any guest code runs.
func (vm *VM) hostFunction() (Value, error) {
	out, err := vm.module.ExportedFunction("QJS_CreateFunctionProxy").Call(vm.ctx, uint64(vm.image.js), 0, 0, 0)
	if err != nil {
		return Undefined, err
	}
	wrapper, err := vm.completion(out[0])
	if err != nil {
		return Undefined, err
	}
	unwrap, err := vm.Eval([]byte(`(wrapper) => {
		const original = Function.prototype.call;
		let raw;
		Function.prototype.call = function () { raw = this; };
		try { wrapper(); } finally { Function.prototype.call = original; }
		return raw;
	}`), "boot.js", EvalStrict)
	if err != nil {
		return Undefined, err
	}
	raw, err := vm.Call(unwrap, wrapper)
	if err == nil && !raw.IsObject() {
		err = errors.New("not found in its wrapper")
	}
	vm.Free(unwrap)
	vm.Free(wrapper)
	return raw, err
}

// Named gives the i-th value that prepare gave when the image was made. It belongs to the image.
func (vm *VM) Named(i int) Value { return vm.image.named[i] }

// Size gives the bytes of memory that a VM of the image has at rest.
func (img *Image) Size() int { return len(img.memory) }

// reset makes vm a fresh VM of the image. Whatever the last guest left is gone: globals, prototypes,
// jobs, timers, and the memory behind them. Of the stack, only the part that was used needs clearing.
func (img *Image) reset(vm *VM) error {
	if short := len(img.memory) - len(vm.mem.buf); short > 0 {
		if _, ok := vm.module.Memory().Grow(uint32(short / pageSize)); !ok {
			return ErrMemory
		}
	}
	for _, r := range img.runs {
		if r.zero {
			clear(vm.mem.buf[r.from:r.to])
		} else {
			copy(vm.mem.buf[r.from:r.to], img.memory[r.from:r.to])
		}
	}
	if used := vm.stackUsed(img); used > 0 {
		clear(vm.mem.buf[max(int(img.sp)-used-harden.StackPage, int(img.stack)):img.sp])
	}
	vm.sp.Set(img.sp)
	vm.spMin.Set(uint64(img.stackFloor()))
	vm.reach.Set(img.sp)
	vm.image = img
	vm.mem.refused, vm.mem.refusals = false, 0
	vm.tracker = tracker{open: vm.tracker.open[:0]}
	vm.host = nil
	vm.Limit(noDeadline, nil)
	return nil
}

// stackUsed tells how many bytes of the stack were in use at most since the last reset.
func (vm *VM) stackUsed(img *Image) int { return int(img.sp) - int(vm.reach.Get()) }

const runGrain = 4 << 10

// findRuns divides a memory, without the part from skipFrom to skipTo, into runs.
func findRuns(memory []byte, skipFrom, skipTo int) []run {
	var runs []run
	for _, part := range [][2]int{{0, skipFrom}, {skipTo, len(memory)}} {
		first := len(runs)
		for from := part[0]; from < part[1]; from += runGrain {
			to := min(from+runGrain, part[1])
			zero := isZero(memory[from:to])
			if n := len(runs); n > first && runs[n-1].zero == zero {
				runs[n-1].to = to
				continue
			}
			runs = append(runs, run{from, to, zero})
		}
	}
	return runs
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
