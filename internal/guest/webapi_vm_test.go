package guest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/cellmode/cellmode/internal/engine"
)

// webAPIs are the scripts under test, in the order in which they build on each other.
var webAPIs = []string{"encoding.js", "url.js", "clone.js"}

// image is a VM with the web APIs and, as its named value, a function that evaluates a script with
// built-ins of its own: a script may replace every one of them.
var image = sync.OnceValues(func() (*engine.Image, error) {
	ctx := context.Background()
	e, err := engine.New(ctx, nil)
	if err != nil {
		return nil, err
	}
	return e.NewImage(ctx, func(vm *engine.VM, _ engine.Value) ([]engine.Value, error) {
		define, err := vm.Eval([]byte(`(name, value) => { Object.defineProperty(globalThis, name, { value, configurable: true }); }`), "define.js", 0)
		if err != nil {
			return nil, err
		}
		for _, name := range webAPIs {
			script, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			load, err := vm.Eval(script, name, engine.EvalStrict)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if _, err := vm.Call(load, engine.Undefined, define); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			vm.Free(load)
		}
		run, err := vm.Eval([]byte(`(() => {
			const evaluate = eval, text = String;
			return (script) => {
				try { return "=" + text(evaluate(script)); } catch (error) { return "!" + text(error) + "\n" + text(error?.stack); }
			};
		})()`), "run.js", engine.EvalStrict)
		return []engine.Value{run}, err
	})
})

// newGuest gives a function that evaluates scripts, which must hold no NUL, in a fresh VM with the web
// APIs, and gives each one's completion value as text, or what it threw as an error.
func newGuest(t testing.TB) func(script string) (string, error) {
	t.Helper()
	img, err := image()
	if err != nil {
		t.Fatal(err)
	}
	vm, err := img.Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vm.Release)
	return func(script string) (string, error) {
		vm.Limit(time.Now().Add(30*time.Second), nil)
		text, err := vm.NewString([]byte(script))
		if err != nil {
			return "", err
		}
		defer vm.Free(text)
		result, err := vm.Call(vm.Named(0), text)
		if err != nil {
			return "", err
		}
		defer vm.Free(result)
		out, err := vm.AppendString(nil, result)
		if err != nil {
			return "", err
		}
		if out[0] == '!' {
			return "", errors.New(string(out[1:]))
		}
		return string(out[1:]), nil
	}
}
