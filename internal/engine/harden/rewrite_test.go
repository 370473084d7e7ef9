package harden

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const pageSize = 64 << 10

// testModule is a module of one function "f", with the import, the table, the stack pointer and 16
// pages of memory that the rewriting expects.
func testModule(params, results []byte, body []byte) []byte {
	section := func(id byte, body ...any) []byte { return appendSized([]byte{id}, asm(body...)) }
	return bytes.Join([][]byte{
		[]byte(header),
		section(secCustom, appendSized(nil, []byte("name")), []byte("anything")),
		section(secType, 2,
			signature([]byte{typeI32, typeI64, typeI32, typeI32}, typeI64),
			signature(params, results...)),
		section(secImport, 1, appendSized(nil, []byte("env")), appendSized(nil, []byte("jsFunctionProxy")), kindFunc, 0),
		section(secFunction, 1, 1),
		section(secTable, 1, typeFuncref, 1, TrackerSlot, TrackerSlot),
		section(5, 1, 0, 16), // memory
		section(secGlobal, 1, typeI32, 1, opI32Const, 1000, opEnd),
		section(secExport, 2, export("f", kindFunc, 1), export("memory", 2, 0)),
		section(secElement, 0),
		section(secCode, 1, appendSized(nil, body)),
	}, nil)
}

// instance is a rewritten test module at work.
type instance struct {
	api.Module
	ticks  int
	onTick func()
}

func instantiate(t *testing.T, module []byte, period int32) *instance {
	t.Helper()
	out, err := rewrite(module, period, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	in := &instance{}
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() { runtime.Close(ctx) })
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	if _, err := runtime.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithGoFunction(api.GoFunc(func(context.Context, []uint64) {
			in.ticks++
			if in.onTick != nil {
				in.onTick()
			}
		}), []api.ValueType{i32, i64, i32, i32}, []api.ValueType{i64}).
		Export("jsFunctionProxy").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	if in.Module, err = runtime.Instantiate(ctx, out); err != nil {
		t.Fatal(err)
	}
	return in
}

func (in *instance) f(args ...uint64) error {
	_, err := in.ExportedFunction("f").Call(context.Background(), args...)
	return err
}

func (in *instance) global(name string) api.MutableGlobal {
	return in.ExportedGlobal(name).(api.MutableGlobal)
}

// countTo is a loop that its parameter counts down to 0.
var countTo = testModule([]byte{typeI32}, nil, asm(0,
	opLoop, typeNone, opLocalGet, 0, opI32Const, 1, opI32Sub, opLocalTee, 0, opBrIf, 0, opEnd,
	opEnd))

func TestCountdown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		period     int32
		iterations uint64
		want       int // the loop head that follows a tick takes one off, too
	}{
		{10, 1, 0}, {10, 9, 0}, {10, 10, 1}, {10, 18, 1}, {10, 19, 2}, {10, 901, 100}, {2, 100, 99}, {8192, 1e6, 122},
	} {
		in := instantiate(t, countTo, test.period)
		if err := in.f(test.iterations); err != nil || in.ticks != test.want {
			t.Errorf("%d iterations, period %d: %d ticks, %v; want %d", test.iterations, test.period, in.ticks, err, test.want)
		}
	}
}

// No value of the countdown keeps the host from being asked.
func TestCountdownSetByHost(t *testing.T) {
	t.Parallel()
	for _, count := range []int32{1, 0, -1, -5, math.MinInt32 + 1} {
		in := instantiate(t, countTo, 1000)
		in.global(ExportCount).Set(api.EncodeI32(count))
		if err := in.f(1); err != nil || in.ticks != 1 {
			t.Errorf("countdown %d: %d ticks, %v; want 1", count, in.ticks, err)
		}
	}
	in := instantiate(t, countTo, 1000)
	in.onTick = func() { in.global(ExportCount).Set(11) }
	if err := in.f(1100); err != nil || in.ticks != 11 {
		t.Errorf("set to 11 by each tick: %d ticks, %v; want 11", in.ticks, err)
	}
}

func TestStackBound(t *testing.T) {
	t.Parallel()
	const bound = 500
	lower := testModule([]byte{typeI32}, nil, asm(0,
		opGlobalGet, stackPointer, opLocalGet, 0, opI32Sub, opGlobalSet, stackPointer, opEnd))
	raise := testModule([]byte{typeI32}, nil, asm(0,
		opLocalGet, 0, opI32Const, 16, opI32Add, opGlobalSet, stackPointer, opEnd))
	lowerByConstant := testModule([]byte{typeI32}, nil, asm(0,
		opLocalGet, 0, opI32Const, -16, opI32Add, opGlobalSet, stackPointer, opEnd))
	for _, test := range []struct {
		name   string
		module []byte
		arg    uint64
		traps  bool
	}{
		{"lower to the bound", lower, 500, false},
		{"lower beyond it", lower, 501, true},
		{"lower beyond 0", lower, 1001, true},
		{"raise is not looked at", raise, 100, false},
		{"add a negative constant", lowerByConstant, 515, true},
	} {
		in := instantiate(t, test.module, 1000)
		in.global(ExportSPMin).Set(bound)
		err := in.f(test.arg)
		if traps := err != nil && strings.Contains(err.Error(), "unreachable"); traps != test.traps {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestStackReach(t *testing.T) {
	t.Parallel()
	in := instantiate(t, testModule([]byte{typeI32}, nil, asm(0,
		opGlobalGet, stackPointer, opLocalGet, 0, opI32Sub, opGlobalSet, stackPointer, opEnd)), 1000)
	sp, reach := in.global(ExportSP), in.global(ExportSPReach)
	sp.Set(50000)
	for _, step := range []struct{ lower, want uint64 }{
		{0, 12 * StackPage}, {800, 12 * StackPage}, {100, 11 * StackPage}, {4000, 11 * StackPage}, {100, 10 * StackPage},
	} {
		if err := in.f(step.lower); err != nil || reach.Get() != step.want {
			t.Errorf("at %d: reach %d, %v; want %d", sp.Get(), reach.Get(), err, step.want)
		}
	}
	sp.Set(50000) // what a function does at its end
	if in.f(1000); reach.Get() != 10*StackPage {
		t.Errorf("the reach went up to %d", reach.Get())
	}
	reach.Set(sp.Get())
	if in.f(1); reach.Get() != 11*StackPage {
		t.Errorf("set by the host, then at %d: reach %d", sp.Get(), reach.Get())
	}
}

var (
	copyModule = testModule([]byte{typeI32, typeI32, typeI32}, nil, asm(0,
		opLocalGet, 0, opLocalGet, 1, opLocalGet, 2, opPrefix, subMemoryCopy, 0, 0, opEnd))
	fillModule = testModule([]byte{typeI32, typeI32, typeI32}, nil, asm(0,
		opLocalGet, 0, opLocalGet, 1, opLocalGet, 2, opPrefix, subMemoryFill, 0, opEnd))
)

func TestBulk(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const period = 100
	copying, filling := instantiate(t, copyModule, period), instantiate(t, fillModule, period)
	memory, _ := copying.Memory().Read(0, 16*pageSize)
	filled, _ := filling.Memory().Read(0, 16*pageSize)
	for i := range memory {
		memory[i] = byte(random.Uint32())
	}
	lengths := []int{0, 1, 63, 64, copyPiece - 1, copyPiece, copyPiece + 1, 2 * copyPiece, 5*copyPiece + 17}
	for range 300 {
		n := lengths[random.IntN(len(lengths))]
		to, from := random.IntN(len(memory)-n+1), random.IntN(len(memory)-n+1)
		if random.IntN(2) == 0 { // a near miss
			to = min(max(from+random.IntN(2000)-1000, 0), len(memory)-n)
		}
		wantMemory, wantFilled := bytes.Clone(memory), bytes.Clone(filled)
		copy(wantMemory[to:], wantMemory[from:from+n])
		for i := range n {
			wantFilled[to+i] = byte(from)
		}

		copying.ticks, filling.ticks = 0, 0
		if err := errors.Join(copying.f(uint64(to), uint64(from), uint64(n)), filling.f(uint64(to), uint64(from), uint64(n))); err != nil {
			t.Fatalf("to %d, from %d, %d bytes: %v", to, from, n, err)
		}
		if !bytes.Equal(memory, wantMemory) {
			t.Fatalf("copy to %d, from %d, %d bytes: not what copy gives", to, from, n)
		}
		if !bytes.Equal(filled, wantFilled) {
			t.Fatalf("fill at %d, %d bytes: not what a loop gives", to, n)
		}
		// A piece costs more than the period: each full one asks the host.
		if full := n / copyPiece; copying.ticks < full || copying.ticks > full+1 || filling.ticks < full || filling.ticks > full+1 {
			t.Fatalf("%d bytes: %d ticks for the copy, %d for the fill, want %d", n, copying.ticks, filling.ticks, full)
		}
	}
}

func TestBulkOutOfBounds(t *testing.T) {
	t.Parallel()
	const size = 16 * pageSize
	for _, module := range [][]byte{copyModule, fillModule} {
		for _, args := range [][3]uint64{
			{size - 10, 0, 11}, {size - pageSize, 0, pageSize + 1}, {size, 0, 1}, {0, 0, size + 1},
			{0, 0, 1<<32 - 1}, {1<<32 - 1, 0, 2 * copyPiece}, {1<<32 - copyPiece, 0, 2 * copyPiece}, {size - 10, 0, 1<<32 - 5},
		} {
			in := instantiate(t, module, 1000)
			if err := in.f(args[:]...); err == nil {
				t.Errorf("to %d, from or value %d, %d bytes: no trap", args[0], args[1], args[2])
			}
		}
	}
	for _, args := range [][3]uint64{
		{0, size - 10, 11}, {0, 1<<32 - 1, 2 * copyPiece}, {0, 1<<32 - copyPiece, 2 * copyPiece},
		{1<<32 - copyPiece, 1<<32 - 2*copyPiece, 4 * copyPiece}, // the last pieces would be in memory
	} {
		in := instantiate(t, copyModule, 1000)
		if err := in.f(args[:]...); err == nil {
			t.Errorf("to %d, from %d, %d bytes: no trap", args[0], args[1], args[2])
		}
	}
}

func TestHashError(t *testing.T) {
	t.Parallel()
	for _, wasm := range [][]byte{nil, []byte(header), append(bytes.Clone(pinned), 0), pinned[:len(pinned)-1]} {
		out, err := Rewrite(wasm)
		hashErr, ok := errors.AsType[*HashError](err)
		if !ok || out != nil {
			t.Fatalf("%d bytes: got %d bytes, %v; want a HashError", len(wasm), len(out), err)
		}
		if hashErr.Want != SHA256 || len(hashErr.Got) != len(SHA256) || hashErr.Got == SHA256 {
			t.Errorf("%+v", hashErr)
		}
		for _, part := range []string{hashErr.Want, hashErr.Got, Module + "@" + Version} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not name %s", err, part)
			}
		}
	}
}

func TestFormatError(t *testing.T) {
	t.Parallel()
	module := func(sections ...[]byte) []byte { return append([]byte(header), bytes.Join(sections, nil)...) }
	code := func(body ...any) []byte { return testModule(nil, nil, asm(body...)) }
	for _, test := range []struct {
		name string
		wasm []byte
		want string
	}{
		{"empty", nil, "not a WebAssembly binary of version 1"},
		{"version 2", []byte("\x00asm\x02\x00\x00\x00"), "not a WebAssembly binary of version 1"},
		{"no section length", module([]byte{secCode}), "unexpected end"},
		{"long section", module([]byte{secCode, 5, 0}), "length 5 passes the end"},
		{"long number", module([]byte{secCode, 0x80, 0x80, 0x80, 0x80, 0x80, 0}), "number does not fit 32 bits"},
		{"large number", module([]byte{secCode, 0xff, 0xff, 0xff, 0xff, 0x1f}), "number does not fit 32 bits"},
		{"no count", module([]byte{secExport, 0}), "unexpected end"},
		{"large count", module([]byte{secExport, 5, 0xff, 0xff, 0xff, 0xff, 0x0f}), "4294967295 entries pass the end"},
		{"many bodies", module([]byte{secCode, 5, 0xff, 0xff, 0xff, 0xff, 0x0f}), "unexpected end"},
		{"long body", module([]byte{secCode, 3, 1, 9, 0}), "length 9 passes the end"},
		{"many locals", code(1 << 30), "unexpected end"},
		{"imported memory", module([]byte{secImport, 5, 1, 0, 0, 2, 0}), "import of kind 2"},
		{"unknown instruction", code(0, op(0x06)), "unknown instruction 0x6"},
		{"vector instruction", code(0, op(0xfd)), "unknown instruction 0xfd"},
		{"unknown bulk instruction", code(0, opPrefix, 18), "unknown instruction 0xfc 18"},
		{"loop with parameters", code(0, opLoop, 1, opEnd, opEnd), "a loop with parameters"},
		{"loop of a large type", code(0, opLoop, 300, opEnd, opEnd), "a loop with parameters"},
		{"many labels", code(0, opBrTable, 1<<30, opEnd), "unexpected end"},
		{"cut constant", code(0, opF64Const, 0, 0), "length 8 passes the end"},
		{"long constant", code(0, opI32Const, []byte{0x80, 0x80, 0x80, 0x80, 0x10}), "number does not fit 32 bits"},
		{"endless constant", code(0, opI64Const, bytes.Repeat([]byte{0x80}, 11)), "number is longer than 10 bytes"},
		{"long select", code(0, opSelectTyped, 7), "length 7 passes the end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := rewrite(test.wasm, 1000, false)
			if format, ok := errors.AsType[*FormatError](err); !ok || out != nil || format.Offset > len(test.wasm) ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("got %d bytes, %v; want a FormatError: %s", len(out), err, test.want)
			}
		})
	}
}

// The pinned binary's patches do not fit another module.
func TestPatchesFitTheirFunctions(t *testing.T) {
	t.Parallel()
	rw := &rewriter{}
	for index, p := range rw.pinnedPatches() {
		if p.from == nil && p.fence == 0 {
			continue
		}
		rw.patches = map[uint32]patch{index: p}
		r := &reader{b: asm(0, opNop, opEnd)}
		if rw.rewriteBody(nil, index, r); r.err == nil {
			t.Errorf("function %d: patched something else", index)
		}
	}
}
