package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellmode/cellmode/internal/engine/harden"
)

// selfCheck proves the hardening on real instances: each limit is hit once. What the guest could
// reach beyond the language is looked for too. It takes about a millisecond.
func (e *Engine) selfCheck(ctx context.Context) error {
	img, err := e.NewImage(ctx, nil)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what  string
		check func(*VM) error
	}{
		{"language", checkLanguage},
		{"memory layout", checkLayout},
		{"memory limit", checkMemory},
		{"stack limit", checkStack},
		{"rejection tracker", checkTracker},
		{"deadline", checkDeadline},
	} {
		vm, err := img.Acquire(ctx)
		if err != nil {
			return err
		}
		err = c.check(vm)
		vm.Release()
		if err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	return nil
}

func (vm *VM) expectString(script, want string) error {
	v, err := vm.Eval([]byte(script), "self-check.js", 0)
	if err != nil {
		return err
	}
	got, err := vm.AppendString(nil, v)
	if err != nil {
		return err
	}
	if string(got) != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}

func checkLanguage(vm *VM) error {
	if err := vm.expectString(`globalThis.loaded = "pending";
		import("qjs:os").then(() => { loaded = "loaded"; }, () => { loaded = "refused"; });
		[typeof std, typeof os, typeof bjson, typeof gc, typeof print, typeof navigator].join()`,
		"undefined,undefined,undefined,undefined,undefined,undefined"); err != nil {
		return err
	}
	if err := vm.Drain(); err != nil {
		return err
	}
	return vm.expectString(`loaded`, "refused")
}

func checkMemory(vm *VM) error {
	if err := vm.expectString(`try { new Uint8Array(2 ** 30); "allocated" } catch { "refused" }`, "refused"); err != nil {
		return err
	}
	if !vm.MemoryRefused() {
		return errors.New("the host was not told")
	}
	return nil
}

// checkStack moves the limit up, so that recursion meets it soon: deep recursion grows the
// WebAssembly runtime's stack, which takes long.
func checkStack(vm *VM) error {
	binary.LittleEndian.PutUint32(vm.mem.buf[vm.image.rt+harden.RuntimeStackLimit:], uint32(vm.sp.Get())-stackGuard)
	if err := vm.expectString(`(function () { let n = 0; const f = () => { n++; f(); };
		try { f(); } catch (e) { return e.name + (n > 5); } })()`, "RangeErrortrue"); err != nil {
		return err
	}
	vm.spMin.Set(vm.sp.Get())
	vm.reach.Set(math.MaxInt32) // or the new bound is not looked at before the stack is deeper than it was
	if _, err := vm.Eval([]byte(`1`), "self-check.js", 0); !errors.Is(err, ErrStack) {
		return fmt.Errorf("a stack below its bound gave %v", err)
	}
	return nil
}

func checkTracker(vm *VM) error {
	if _, err := vm.Eval([]byte(`Promise.reject(1); Promise.reject(2).catch(() => {}); 0`), "self-check.js", 0); err != nil {
		return err
	}
	if _, n := vm.Unhandled(); n != 1 {
		return fmt.Errorf("%d rejections seen, want 1", n)
	}
	return nil
}

func checkDeadline(vm *VM) error {
	vm.Limit(time.Now(), nil)
	if _, err := vm.Eval([]byte(`for (;;) {}`), "self-check.js", 0); !errors.Is(err, ErrDeadline) {
		return fmt.Errorf("an endless loop gave %v", err)
	}
	return nil
}

// checkLayout reads objects out of the engine's memory: what the host knows of their layout must be so.
func checkLayout(vm *VM) error {
	v, err := vm.Eval([]byte(`({ b: [1, 2.5, "x\u20ac", null, true, undefined], 7: 1e21, 3: -1e-7, ["a\n"]: { u: undefined, s: "\ud800" }, [Symbol()]: 1 })`), "self-check.js", 0)
	if err != nil {
		return err
	}
	const want = `{"3":-1e-7,"7":1e+21,"b":[1,2.5,"x€",null,true,null],"a\n":{"s":"\ud800"}}`
	for _, mode := range []JSONMode{JSONData, JSONStringify} {
		if got, ok := vm.AppendJSON(nil, v, mode, 1<<10); !ok || string(got) != want {
			return fmt.Errorf("read %s, want %s", got, want)
		}
	}
	return nil
}
