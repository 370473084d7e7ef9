package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cellmode/cellmode/internal/engine/harden"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// VM is one instance of the engine: a JavaScript context in a memory of its own. It is made by
// [Image.Acquire] and belongs to one goroutine at a time until [VM.Release].
//
// Everything in a VM's memory can be written by the guest, by way of a fault in the engine if not
// otherwise. The host therefore checks every address and length that it reads there. What the limits
// hang on (the countdown, the stack's lower bound, the cap of the memory) is kept outside of it.
type VM struct {
	engine *Engine
	image  *Image
	module api.Module
	mem    *linearMemory
	ctx    context.Context // carries the VM to the host functions; it is never cancelled
	fns    [numFuncs]api.Function
	stack  [6]uint64 // arguments and result of a call
	sp     api.MutableGlobal
	spMin  api.MutableGlobal
	reach  api.MutableGlobal

	deadline time.Time
	done     <-chan struct{}
	host     HostFunc
	tracker  tracker
	dead     error // why the VM cannot be used any more

	preparing bool // an image is made of it
	foreign   bool // it was restored from a snapshot that was read
}

// HostFunc answers a call that the guest makes of the function given to the image's prepare step.
// It runs on the VM's goroutine in the middle of guest code, so of the VM's methods it may call only those that run none: the
// ones that append, and Overwrite. The arguments live for the duration of the call, and the time that it takes is the
// guest's.
type HostFunc func(args []Value) Value

// What the host calls in the engine.
const (
	fnMalloc = iota
	fnFree
	fnEval
	fnCall
	fnFreeValue
	fnGetException
	fnNewString
	fnParseJSON
	fnElement
	fnLoop
	fnHasException
	numFuncs
)

var funcNames = [numFuncs]string{
	fnMalloc: "malloc", fnFree: "free", fnEval: "QJS_Eval", fnCall: "QJS_Call", fnFreeValue: "JS_FreeValue",
	fnGetException: "JS_GetException", fnNewString: "QJS_NewString", fnParseJSON: "QJS_ParseJSON",
	fnElement: "QJS_GetPropertyUint32", fnLoop: harden.ExportLoop, fnHasException: "JS_HasException",
}

type vmKey struct{}

// instantiate makes an instance whose memory is not set up yet.
func (e *Engine) instantiate() (*VM, error) {
	mem, err := newLinearMemory(uint64(e.capacity))
	if err != nil {
		return nil, err
	}
	ctx := experimental.WithMemoryAllocator(context.Background(),
		experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return mem }))
	module, err := e.runtime.InstantiateModule(ctx, e.module, anonymous)
	if err != nil {
		mem.Free()
		return nil, err
	}
	vm := &VM{engine: e, module: module, mem: mem}
	vm.ctx = context.WithValue(context.Background(), vmKey{}, vm)
	vm.sp = module.ExportedGlobal(harden.ExportSP).(api.MutableGlobal)
	vm.spMin = module.ExportedGlobal(harden.ExportSPMin).(api.MutableGlobal)
	vm.reach = module.ExportedGlobal(harden.ExportSPReach).(api.MutableGlobal)
	e.live.Add(1)
	return vm, nil
}

func (vm *VM) close() {
	if vm.dead == nil {
		vm.dead = ErrClosed
	}
	_ = vm.module.Close(context.Background())
	vm.engine.live.Add(-1)
}

// Limit says what ends the guest from now on: the deadline, where it is not zero, and done, where
// it is not nil and is closed. A call in progress ends within a millisecond or so of either. It may
// be called again between calls of the guest to move the deadline.
func (vm *VM) Limit(deadline time.Time, done <-chan struct{}) {
	vm.deadline, vm.done = deadline, done
}

// OnHostCall sets what answers the guest's calls of the host.
func (vm *VM) OnHostCall(f HostFunc) { vm.host = f }

// MemoryRefused tells whether the guest has been refused memory since its start. Such a guest
// often throws null or a half-made value rather than an error that says so.
func (vm *VM) MemoryRefused() bool { return vm.mem.refused }

// check stops the guest at its limits. It is called out of every loop of the engine.
func (vm *VM) check() {
	if err := vm.Expired(); err != nil {
		panic(err)
	}
}

// Expired says which of its limits the guest is past: [ErrDeadline], [ErrCanceled] or nil.
func (vm *VM) Expired() error {
	if vm.done != nil {
		select {
		case <-vm.done:
			return ErrCanceled
		default:
		}
	}
	if !vm.deadline.IsZero() && !time.Now().Before(vm.deadline) {
		return ErrDeadline
	}
	return nil
}

// invoke calls one function of the engine. An error means that the VM is gone.
func (vm *VM) invoke(fn int, args ...uint64) (uint64, error) {
	if vm.dead != nil {
		return 0, vm.dead
	}
	f := vm.fns[fn]
	if f == nil {
		// Looked up once for each VM: a look-up makes a call engine with a stack of its own.
		f = vm.module.ExportedFunction(funcNames[fn])
		vm.fns[fn] = f
	}
	n := copy(vm.stack[:], args)
	if err := f.CallWithStack(vm.ctx, vm.stack[:max(n, 1)]); err != nil {
		vm.dead = vm.explain(err)
		return 0, vm.dead
	}
	return vm.stack[0], nil
}

// explain says what a failed call means.
func (vm *VM) explain(err error) error {
	for _, limit := range []error{ErrDeadline, ErrCanceled} {
		if errors.Is(err, limit) {
			return limit
		}
	}
	switch {
	case vm.mem.refused:
		return fmt.Errorf("%w: %w", ErrMemory, err)
	case uint32(vm.sp.Get()) < uint32(vm.spMin.Get()):
		return fmt.Errorf("%w: %w", ErrStack, err)
	}
	return &TrapError{Err: err}
}

var errBounds = errors.New("engine: address outside the guest's memory")

func (vm *VM) u32(at uint32) (uint32, error) {
	if uint64(at)+4 > uint64(len(vm.mem.buf)) {
		return 0, errBounds
	}
	return binary.LittleEndian.Uint32(vm.mem.buf[at:]), nil
}

func (vm *VM) u64(at uint32) (uint64, error) {
	if uint64(at)+8 > uint64(len(vm.mem.buf)) {
		return 0, errBounds
	}
	return binary.LittleEndian.Uint64(vm.mem.buf[at:]), nil
}

// place puts text and a final NUL where the engine can read it: in the VM's scratch block, or, when
// it is longer, in a block of its own, which done frees.
func (vm *VM) place(text []byte) (at uint32, done func(), err error) {
	if len(text) < scratchText {
		at = vm.image.scratch + scratchTextAt
		copy(vm.mem.buf[at:], text)
		vm.mem.buf[int(at)+len(text)] = 0
		return at, func() {}, nil
	}
	p, err := vm.invoke(fnMalloc, uint64(len(text)+1))
	if err != nil {
		return 0, nil, err
	}
	if p == 0 {
		vm.mem.refused = true
		return 0, nil, ErrNoRoom
	}
	if p+uint64(len(text))+1 > uint64(len(vm.mem.buf)) {
		return 0, nil, errBounds
	}
	copy(vm.mem.buf[p:], text)
	vm.mem.buf[int(p)+len(text)] = 0
	return uint32(p), func() { _, _ = vm.invoke(fnFree, p) }, nil
}

// EvalFlag changes what [VM.Eval] does.
type EvalFlag uint32

// Flags of Eval.
const (
	EvalStrict      EvalFlag = 1 << 3 // strict mode
	EvalCompileOnly EvalFlag = 1 << 5 // parse and compile, run nothing
)

// Eval runs a script, whose text must hold no NUL, and gives its completion value, which the caller
// owns; it must not be a promise. Names in error stacks and lines count from the script's start. An
// uncaught exception is an [*Exception].
func (vm *VM) Eval(script []byte, filename string, flags EvalFlag) (Value, error) {
	src, done, err := vm.place(script)
	if err != nil {
		return Undefined, err
	}
	opts := vm.image.scratch + scratchOptions
	name := vm.image.scratch + scratchName
	n := copy(vm.mem.buf[name:name+scratchNameSize-1], filename)
	vm.mem.buf[int(name)+n] = 0
	for i, field := range [...]uint32{src, 0, 0, name, uint32(flags)} {
		binary.LittleEndian.PutUint32(vm.mem.buf[int(opts)+4*i:], field)
	}
	result, err := vm.invoke(fnEval, uint64(vm.image.js), uint64(opts))
	if err != nil {
		return Undefined, err
	}
	done()
	return vm.completion(result)
}

// Call calls a function with this undefined. The caller owns the result. An uncaught exception is an
// [*Exception]. Jobs that the call queued run at the next [VM.Drain].
func (vm *VM) Call(function Value, args ...Value) (Value, error) {
	argv := vm.image.scratch + scratchArgs
	for i, a := range args {
		binary.LittleEndian.PutUint64(vm.mem.buf[int(argv)+8*i:], uint64(a))
	}
	result, err := vm.invoke(fnCall, uint64(vm.image.js), uint64(function), uint64(Undefined), uint64(len(args)), uint64(argv))
	if err != nil {
		return Undefined, err
	}
	return vm.completion(result)
}

// completion turns the engine's exception marker into an error.
func (vm *VM) completion(result uint64) (Value, error) {
	if v := Value(result); !v.isException() {
		return v, nil
	}
	thrown, err := vm.invoke(fnGetException, uint64(vm.image.js))
	if err != nil {
		return Undefined, err
	}
	return Undefined, &Exception{Value: Value(thrown)}
}

// Drain runs the queued jobs until none is left. An exception that a job let out (a callback of
// queueMicrotask can) is an [*Exception]; the jobs behind it are still queued.
func (vm *VM) Drain() error {
	if _, err := vm.invoke(fnLoop, uint64(vm.image.js)); err != nil {
		return err
	}
	failed, err := vm.invoke(fnHasException, uint64(vm.image.js))
	if err != nil {
		return err
	}
	if uint32(failed) == 0 {
		return nil
	}
	thrown, err := vm.invoke(fnGetException, uint64(vm.image.js))
	if err != nil {
		return err
	}
	return &Exception{Value: Value(thrown)}
}

// NewString makes a string of UTF-8 text without NUL.
func (vm *VM) NewString(text []byte) (Value, error) { return vm.fromText(fnNewString, text) }

// ParseJSON makes the value that JSON text stands for. Text that is no JSON, or that is nested too
// deep, gives an [*Exception].
func (vm *VM) ParseJSON(text []byte) (Value, error) { return vm.fromText(fnParseJSON, text) }

func (vm *VM) fromText(fn int, text []byte) (Value, error) {
	at, done, err := vm.place(text)
	if err != nil {
		return Undefined, err
	}
	result, err := vm.invoke(fn, uint64(vm.image.js), uint64(at))
	if err != nil {
		return Undefined, err
	}
	done()
	return vm.completion(result)
}

// Element reads one element of an array. The caller owns it.
func (vm *VM) Element(array Value, index uint32) (Value, error) {
	result, err := vm.invoke(fnElement, uint64(vm.image.js), uint64(array), uint64(index))
	if err != nil {
		return Undefined, err
	}
	return vm.completion(result)
}

// Free gives up a value that the caller owns.
func (vm *VM) Free(v Value) {
	if int32(v.tag()) < 0 && !vm.addReference(v, -1) { // only these are counted, and only the last reference takes a call
		_, _ = vm.invoke(fnFreeValue, uint64(vm.image.js), uint64(v))
	}
}

// Seed sets the state of Math.random. An image repeats the state it was made with, so every cell
// needs a seed of its own. Zero is not a state; it becomes another one.
func (vm *VM) Seed(seed uint64) {
	if seed == 0 {
		seed = 1
	}
	binary.LittleEndian.PutUint64(vm.mem.buf[vm.image.js+harden.ContextRandomState:], seed)
}
