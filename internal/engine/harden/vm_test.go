package harden

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	_ "github.com/fastschema/qjs" // carries the binary
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

//go:linkname pinned github.com/fastschema/qjs.wasmBytes
var pinned []byte

const (
	stackSize = 384 << 10 // C stack of a test VM
	memoryCap = 64 << 20
)

// errBudget ends a guest that used up its ticks.
var errBudget = errors.New("out of ticks")

// hardened is the rewritten binary, made once.
var hardened = sync.OnceValue(func() []byte {
	out, err := Rewrite(pinned)
	if err != nil {
		panic(err)
	}
	return out
})

// machine is a compiled binary with its host functions; VMs are instances of it.
type machine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

func newMachine(wasm []byte, config wazero.RuntimeConfig) (*machine, error) {
	ctx := context.Background()
	m := &machine{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	var err error
	if m.module, err = m.runtime.CompileModule(ctx, wasm); err != nil {
		return nil, err
	}
	wasi := m.runtime.NewHostModuleBuilder("wasi_snapshot_preview1")
	for _, f := range m.module.ImportedFunctions() {
		if module, name, _ := f.Import(); module == "wasi_snapshot_preview1" {
			wasi.NewFunctionBuilder().
				WithGoModuleFunction(wasiFunction(name), f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	if _, err := wasi.Instantiate(ctx); err != nil {
		return nil, err
	}
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	_, err = m.runtime.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(hostCall), []api.ValueType{i32, i64, i32, i32}, []api.ValueType{i64}).
		Export("jsFunctionProxy").Instantiate(ctx)
	return m, err
}

// wasiFunction is the function of that name: a clock that stands still, and no files.
func wasiFunction(name string) api.GoModuleFunc {
	return func(_ context.Context, mod api.Module, stack []uint64) {
		switch name {
		case "clock_time_get":
			mod.Memory().WriteUint64Le(uint32(stack[2]), uint64(time.Hour))
			stack[0] = 0
		case "proc_exit":
			panic("proc_exit")
		default:
			const badFile = 8 // EBADF
			stack[0] = badFile
		}
	}
}

// hostCall is env.jsFunctionProxy.
func hostCall(ctx context.Context, _ api.Module, stack []uint64) {
	const undefined = 3 << 32
	v := ctx.Value(vmKey{}).(*vm)
	switch argc := int32(stack[2]); argc {
	case ArgcTick:
		if v.ticks++; v.ticks == v.budget {
			panic(errBudget)
		}
	case ArgcRejected, ArgcNowHandled:
		v.events = append(v.events, event{argc, stack[1]})
	default:
		panic(fmt.Sprintf("host call with argc %d", argc))
	}
	stack[0] = undefined
}

// memory is a capped linear memory.
type memory struct{ buf []byte }

func (m *memory) Reallocate(n uint64) []byte {
	if n > memoryCap {
		return nil
	}
	if m.buf == nil {
		m.buf = make([]byte, n, memoryCap)
	}
	m.buf = m.buf[:n]
	return m.buf
}

func (*memory) Free() {}

// event is one call of the rejection tracker.
type event struct {
	argc    int32
	promise uint64
}

// vm is one JavaScript runtime. It is the smallest host that shows what the rewriting does.
type vm struct {
	mod    api.Module
	memory *memory
	ctx    uint64 // JSContext
	ticks  int    // calls with ArgcTick
	budget int    // how many end the guest
	events []event
}

type vmKey struct{}

func (m *machine) newVM(tb testing.TB) *vm {
	tb.Helper()
	v := &vm{memory: &memory{}}
	ctx := experimental.WithMemoryAllocator(context.Background(),
		experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return v.memory }))
	mod, err := m.runtime.InstantiateModule(ctx, m.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { mod.Close(context.Background()) })
	v.mod = mod
	if mod.ExportedGlobal(ExportSP) == nil { // the binary as it ships
		q := v.must(tb, "New_QJS", 0, 0, 0, 0)
		v.ctx = uint64(v.u32(q + QJSContext))
		return v
	}
	stack := v.must(tb, "malloc", stackSize)
	v.global(ExportSP).Set(stack + stackSize)
	v.global(ExportSPMin).Set(stack + 16<<10)
	q := v.must(tb, "New_QJS", 0, 0, 0, 0)
	runtime := uint64(v.u32(q + QJSRuntime))
	v.must(tb, "JS_FreeContext", uint64(v.u32(q+QJSContext)))
	v.ctx = v.must(tb, "New_QJSContext", runtime)
	v.setU32(runtime+RuntimeStackLimit, uint32(stack)+96<<10)
	v.setU32(runtime+RuntimeRejectionTracker, TrackerSlot)
	return v
}

func (v *vm) global(name string) api.MutableGlobal {
	return v.mod.ExportedGlobal(name).(api.MutableGlobal)
}

func (v *vm) u32(at uint64) uint32 { return binary.LittleEndian.Uint32(v.memory.buf[at:]) }

func (v *vm) setU32(at uint64, to uint32) { binary.LittleEndian.PutUint32(v.memory.buf[at:], to) }

// call calls an export; its error is a trap or errBudget.
func (v *vm) call(name string, args ...uint64) (uint64, error) {
	out, err := v.mod.ExportedFunction(name).Call(context.WithValue(context.Background(), vmKey{}, v), args...)
	if err != nil || len(out) == 0 {
		return 0, err
	}
	return out[0], nil
}

func (v *vm) must(tb testing.TB, name string, args ...uint64) uint64 {
	tb.Helper()
	out, err := v.call(name, args...)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return out
}

// cstring puts s into the VM.
func (v *vm) cstring(tb testing.TB, s string) uint64 {
	p := v.must(tb, "malloc", uint64(len(s)+1))
	v.memory.buf[p+uint64(copy(v.memory.buf[p:], s))] = 0
	return p
}

// eval runs a script, then jobs until none is left, and returns the script's completion value, or
// what it threw, as text.
func (v *vm) eval(tb testing.TB, script string) (string, error) {
	tb.Helper()
	source, name := v.cstring(tb, script), v.cstring(tb, "test.js")
	value, err := v.call("QJS_Eval", v.ctx, v.must(tb, "QJS_CreateEvalOption", source, 0, 0, name, 0))
	if err != nil {
		return "", err
	}
	if v.must(tb, "QJS_IsException", value)&0xff != 0 {
		value = v.must(tb, "JS_GetException", v.ctx)
	}
	packed := v.must(tb, "QJS_ToCString", v.ctx, value)
	at := binary.LittleEndian.Uint64(v.memory.buf[packed:]) // address, length
	text := string(v.memory.buf[at>>32:][:at&0xffffffff])
	v.must(tb, "JS_FreeCString", v.ctx, at>>32)
	v.must(tb, "JS_FreeValue", v.ctx, value)
	for _, p := range []uint64{source, name, packed} {
		v.must(tb, "free", p)
	}
	if v.mod.ExportedFunction(ExportLoop) != nil {
		_, err = v.call(ExportLoop, v.ctx)
	}
	return text, err
}

// compiled is the hardened binary on wazero's compiler, or its interpreter where there is none.
var compiled = sync.OnceValues(func() (*machine, error) {
	return newMachine(hardened(), wazero.NewRuntimeConfig())
})

func newVM(tb testing.TB) *vm {
	tb.Helper()
	m, err := compiled()
	if err != nil {
		tb.Fatal(err)
	}
	return m.newVM(tb)
}

func TestPinnedBinary(t *testing.T) {
	before := bytes.Clone(pinned)
	hardened()
	if !bytes.Equal(pinned, before) {
		t.Error("Rewrite changed its input")
	}
}
