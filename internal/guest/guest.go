// Package guest holds the JavaScript that runs inside a VM before any cell does: the controller, which
// gives a cell its globals and carries its calls to the host, and the web APIs that models expect and
// the engine lacks.
//
//	img, err := guest.NewImage(ctx, eng)
//	vm, err := img.Acquire(ctx)
//	vm.OnHostCall(func(args []engine.Value) engine.Value { ... })
//	_, err = vm.Call(vm.Named(guest.Install), names)
//
// # Trust
//
// The controller keeps private copies of every built-in that it uses, and nothing of it can be reached
// from guest code but the globals that it defines: a cell that overwrites JSON or
// Promise.prototype.then breaks itself and nothing else. What the controller tells the host about
// a cell's own values can be forged by the cell, which could have made those values in the first
// place. What the host must know for certain (whether the cell has ended, and how) it reads from the
// engine.
package guest

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/cellmode/cellmode/internal/engine"
)

var (
	//go:embed harden.js
	hardenScript []byte
	//go:embed controller.js
	controllerScript []byte
	//go:embed catalog.js
	catalogScript []byte
	//go:embed results.js
	resultsScript []byte
	//go:embed console.js
	consoleScript []byte
	//go:embed encoding.js
	encodingScript []byte
	//go:embed url.js
	urlScript []byte
	//go:embed clone.js
	cloneScript []byte
)

// Names of the controller's functions, for [engine.VM.Named].
const (
	Install     = iota // (names) makes the tools' globals; calls name them by their index
	Resolve            // (slot, value) ends a call
	Reject             // (slot, {message, code, effectStatus}) ends a call with an Error, which it gives
	Fire               // (id) runs a timer's callback
	EncodeFinal        // (value) gives the JSON text of the cell's returned value
	Describe           // (thrown) gives [isError, name, message, stack]
	numControllers

	InstallSession = numControllers // () makes the globals store and load
	numFunctions   = numControllers + 1
)

// Operations of a host call: its first argument. What follows is for each the operation's own. The host
// reads a value that is plain data by itself ([engine.VM.AppendJSON]) and asks for others as text.
const (
	Emit     = 1  // kind ([Text] or [JSON]), value: a piece of output; answer [OK] or [AsText]
	EmitText = 2  // kind, JSON text
	Call     = 3  // slot, index of the tool or [Yield], input: answer OK, [Full] or AsText
	CallText = 4  // slot, index, JSON text of the input or undefined: answer OK or Full
	Timer    = 5  // id, delay in milliseconds: answer OK or Full
	Clear    = 6  // id: the timer is not wanted any more
	Ask      = 7  // question, its subject, limit: answer the size of the answer, an [Int]
	Answer   = 8  // a string of that size: the host puts the answer into it, as JSON in ASCII; see below
	Give     = 9  // 0, value: what the next question is about; answer OK or AsText
	GiveText = 10 // 0, JSON text of the value
)

// An answer is an array: [value]; [] for undefined; [null, message, name, code] for an Error of that name (TypeError, RangeError,
// else Error) and, if it is there, that code.

// Yield in place of a tool's index is a request to pause. Its input is the reason.
const Yield = -1

// Questions, and what they are about.
const (
	AskTool        = 0  // index of a tool: what is known of it
	AskDescribe    = 1  // index of a tool: its schemas, too
	AskSearch      = 2  // query, limit: index and what is known, of each tool that matches
	AskAll         = 3  // the same of all tools
	AskFiles       = 4  // prefix: the files of the API
	AskFile        = 5  // path: one of them
	AskSkills      = 6  // the skills
	AskSkill       = 7  // name: one of them
	AskSkillSearch = 8  // query, limit: the skills that match
	AskSave        = 9  // with a value given: the reference of the result
	AskLoad        = 10 // id: the saved value
	AskDelete      = 11 // id: true
	AskStore       = 12 // key, with a value given or none: undefined
	AskLoadStored  = 13 // key: the value, or undefined
)

// Kinds of output.
const (
	Text = 0
	JSON = 1
)

// Answers to a host call.
const (
	OK     = engine.Value(0)
	Full   = engine.Value(1) // too many requests: the guest's call throws
	AsText = engine.Value(2) // say it again as text
)

// WebGlobals are the globals that only an image with the web APIs has.
var WebGlobals = []string{"TextEncoder", "TextDecoder", "atob", "btoa", "URL", "URLSearchParams", "structuredClone"}

// NewImage makes the image of a VM that is ready for a cell. Without web it lacks the [WebGlobals], which most cells
// never mention, and is smaller by a third: it is made fresh as much faster.
func NewImage(ctx context.Context, e *engine.Engine, web bool) (*engine.Image, error) {
	return e.NewImage(ctx, func(vm *engine.VM, host engine.Value) ([]engine.Value, error) { return prepare(vm, host, web) })
}

func prepare(vm *engine.VM, host engine.Value, web bool) ([]engine.Value, error) {
	if _, err := evaluate(vm, "harden.js", hardenScript); err != nil {
		return nil, err
	}
	controller, err := evaluate(vm, "controller.js", controllerScript, host)
	if err != nil {
		return nil, err
	}
	named := make([]engine.Value, numFunctions)
	for i := range numControllers {
		if named[i], err = vm.Element(controller, uint32(i)); err != nil {
			return nil, err
		}
	}
	internals, err := vm.Element(controller, numControllers)
	if err != nil {
		return nil, err
	}
	if _, err := evaluate(vm, "catalog.js", catalogScript, internals); err != nil {
		return nil, err
	}
	if named[InstallSession], err = evaluate(vm, "results.js", resultsScript, internals); err != nil {
		return nil, err
	}
	define, err := vm.Eval([]byte(`(name, value) => { Object.defineProperty(globalThis, name, { value }); }`), "guest.js", engine.EvalStrict)
	if err != nil {
		return nil, err
	}
	write, err := vm.Eval([]byte(`text`), "guest.js", 0)
	if err != nil {
		return nil, err
	}
	if _, err := evaluate(vm, "console.js", consoleScript, define, write, internals); err != nil {
		return nil, err
	}
	if !web {
		return named, nil
	}
	// structuredClone refuses the objects of the APIs before it.
	for _, api := range []struct {
		name   string
		script []byte
	}{{"encoding.js", encodingScript}, {"url.js", urlScript}, {"clone.js", cloneScript}} {
		if _, err := evaluate(vm, api.name, api.script, internals, define); err != nil {
			return nil, err
		}
	}
	return named, nil
}

// evaluate calls the function that a script consists of.
func evaluate(vm *engine.VM, name string, script []byte, args ...engine.Value) (engine.Value, error) {
	f, err := vm.Eval(script, name, engine.EvalStrict)
	if err != nil {
		return engine.Undefined, fmt.Errorf("guest: %s: %w", name, err)
	}
	v, err := vm.Call(f, args...)
	if err != nil {
		return engine.Undefined, fmt.Errorf("guest: %s: %w", name, err)
	}
	vm.Free(f)
	return v, nil
}
