package harden

import (
	"context"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"
)

// Any bytes give an output or a FormatError, and an output is not much larger than its input.
func FuzzRewrite(f *testing.F) {
	for _, seed := range [][]byte{nil, []byte(header), countTo, copyModule, fillModule, pinned[:4000]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		for _, patched := range []bool{false, true} {
			out, err := rewrite(wasm, Period, patched)
			if _, ok := errors.AsType[*FormatError](err); err != nil && (!ok || out != nil) {
				t.Fatalf("%d bytes and %v", len(out), err)
			}
			if limit := 20*len(wasm) + 4000; len(out) > limit {
				t.Fatalf("%d bytes became %d", len(wasm), len(out))
			}
		}
	})
}

// A function that is valid stays valid.
func FuzzBody(f *testing.F) {
	f.Add(asm(0, opEnd))
	f.Add(asm(1, 3, typeI32, opLoop, typeNone, opLocalGet, 0, opBrIf, 0, opEnd, opEnd))
	f.Add(asm(0, opLoop, typeI32, opI32Const, 5, opEnd, opGlobalSet, stackPointer, opEnd))
	f.Add(asm(0, opUnreachable, opLoop, typeNone, opGlobalSet, stackPointer, opPrefix, subMemoryCopy, 0, 0, opEnd, opEnd))
	f.Add(asm(0, opBlock, typeNone, opI32Const, 0, opBrTable, 1, 0, 0, opEnd, opEnd))
	f.Add(asm(0, opI32Const, 1, opI32Const, 2, opI32Const, 3, opPrefix, subMemoryFill, 0, opEnd))
	f.Add(asm(0, opI64Const, -5, opDrop, opI32Const, 4, opI32Const, 0, opI32Load, 2, 70000, opI32Store, 2, 0, opEnd))
	f.Add(asm(0, opF64Const, []byte{0, 0, 0, 0, 0, 0, 0, 0}, opPrefix, subTruncSat, opDrop, opRefNull, typeFuncref, opRefIsNull, opDrop, opEnd))
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	f.Cleanup(func() { runtime.Close(ctx) })
	valid := func(wasm []byte) error {
		module, err := runtime.CompileModule(ctx, wasm)
		if err == nil {
			err = module.Close(ctx)
		}
		return err
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		module := testModule(nil, nil, body)
		if len(body) > 10000 || valid(module) != nil {
			return
		}
		out, err := rewrite(module, Period, false)
		if err != nil {
			return // something that the engine does not use
		}
		if err := valid(out); err != nil {
			t.Errorf("body %x: %v", body, err)
		}
	})
}
