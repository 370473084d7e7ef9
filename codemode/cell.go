package codemode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
	"github.com/cellmode/cellmode/internal/jsontext"
	"github.com/cellmode/cellmode/internal/source"
)

// cell is one program in one VM, from its source to its result. It runs on the goroutine that called Exec, up to the first
// tool call that nothing else goes beside: such a call has the cell's goroutine, since a change of goroutines costs more
// than many a tool, and so the cell is detached to one of its own first. Calls that overlap have goroutines of
// their own.
type cell struct {
	executor *Executor
	limits   *limits
	source   source.Cell
	ctx      context.Context // of this run: it ends with the cell
	vm       *engine.VM
	deadline time.Time
	detached bool        // the cell has a goroutine of its own
	result   chan Result // takes the result of a detached cell, once

	promise engine.Value // of the program
	settled bool         // the program has returned: what it left behind is being drained
	value   []byte       // JSON text of what it returned

	bridge  bridge
	output  output
	scratch []byte

	mu        sync.Mutex
	inTool    bool  // a tool has the cell's goroutine
	limit     error // what ended the cell from outside, seen by the goroutine that called Exec
	abandoned bool  // inTool, and nobody waits for the cell any more
}

// Texts of failures that are not the cell's own.
const (
	abortedText = "code mode execution aborted"
	timeoutText = "code mode timeout exceeded"
	pendingText = "the program awaits a promise that nothing can settle: no tool call or timer is pending"
)

// begin gets a VM and runs the cell on the calling goroutine, until it has ended or a tool wants the goroutine.
func (c *cell) begin() (Result, outcome) {
	image := c.executor.runtime.plain
	if c.plan() {
		image = c.executor.runtime.web
	}
	var err error
	if c.vm, err = image.Acquire(context.WithoutCancel(c.ctx)); err != nil {
		return c.failed(CodeRuntimeUnavailable, PhaseHost, "the code mode runtime is unavailable: "+err.Error(), err), ended
	}
	if failure := c.start(); failure != nil {
		return *failure, ended
	}
	return c.run()
}

// close gives up what the cell holds.
func (c *cell) close() {
	if c.vm != nil {
		c.vm.Release()
	}
	c.executor.leave(c)
}

// abandon is called, by the goroutine that waits for the cell, when a limit has passed. It tells whether a tool has the
// cell's goroutine: then the cell will not touch its state again, and nobody need wait for it. Otherwise the
// cell ends by itself, now.
func (c *cell) abandon(limit error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = limit
	c.abandoned = c.inTool
	return c.abandoned
}

// enterTool and leaveTool stand around a tool that runs on the cell's goroutine. An error is the limit that has passed.
func (c *cell) enterTool() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inTool = c.limit == nil
	return c.limit
}

func (c *cell) leaveTool() (abandoned bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inTool = false
	return c.abandoned
}

// start runs the program up to its first await.
func (c *cell) start() *Result {
	c.deadline = time.Now().Add(c.limits.timeout)
	c.bridge.cell = c
	c.vm.Limit(c.deadline, c.ctx.Done())
	c.vm.OnHostCall(c.hostCall)
	c.vm.Seed(rand.Uint64())
	program, failure := c.compile()
	if failure != nil {
		return failure
	}
	if err := c.installTools(); err != nil {
		return c.failure(c.stopped(err))
	}
	var err error
	if c.promise, err = c.vm.Call(program); err != nil {
		return c.failure(c.stopped(err))
	}
	c.vm.Ignore(c.promise)
	return nil
}

// loop takes a detached cell to its end, on a goroutine of its own.
func (c *cell) loop() {
	returned := false
	defer func() {
		if !returned { // a tool has ended this goroutine
			go c.loop()
		}
	}()
	r, why := c.run()
	returned = true
	c.close()
	if why == ended {
		c.result <- r
	}
}

// outcome is why run returned.
type outcome int

const (
	ended     outcome = iota
	abandoned         // a limit passed while a tool had the goroutine: somebody else has made the result
	toolAlone         // a tool wants the goroutine, which must not be that of Exec's caller
)

// run takes the cell on: guest code until nothing is left to do, then requests to the host, then one reply or timer
// after the other.
func (c *cell) run() (Result, outcome) {
	for {
		if c.bridge.abandoned {
			return Result{}, abandoned
		}
		if c.bridge.arrived != nil {
			if err := c.bridge.deliver(c.bridge.takeArrived()); err != nil {
				return c.stopped(err), ended
			}
		}
		if failure := c.advance(); failure != nil {
			return *failure, ended
		}
		if c.bridge.idle() {
			if !c.settled {
				return c.deadlocked(), ended
			}
			break
		}
		if c.bridge.alone != nil && !c.detached {
			return Result{}, toolAlone
		}
		if err := c.bridge.next(); err != nil {
			return c.stopped(err), ended
		}
	}
	if rejected, n := c.vm.Unhandled(); n > 0 {
		return c.unhandled(rejected, n), ended
	}
	return c.completed(), ended
}

// advance runs guest code until it waits for the host, then gives its requests to the host.
func (c *cell) advance() *Result {
	for {
		if err := c.vm.Drain(); err != nil {
			return c.failure(c.stopped(err))
		}
		if c.bridge.refused != "" {
			return c.failure(c.failed(CodeInvalidInput, PhaseGuest, c.bridge.refused, nil))
		}
		if c.settled {
			break
		}
		state, result, err := c.vm.Promise(c.promise)
		switch {
		case err != nil:
			return c.failure(c.stopped(err))
		case state == engine.Rejected:
			return c.failure(c.stopped(&engine.Exception{Value: result}))
		case state == engine.Fulfilled:
			// Encoding is part of the cell: a getter may emit output and call tools.
			c.settled = true
			if err := c.encode(result); err != nil {
				return c.failure(c.stopped(err))
			}
			continue
		}
		break
	}
	if failure := c.bridge.dispatch(); failure != nil {
		return failure
	}
	return nil
}

func (c *cell) failure(r Result) *Result { return &r }

// The program runs as the body of an async arrow function in a conditional expression, and it must parse as the
// body of a function declaration too. After the one only a colon can follow, after the other everything but a
// colon: a text that closes the function early parses in at most one of them. Neither stands in
// parentheses or an object literal, where the engine looks ahead for the end in a way that takes
// some divisions for regular expressions.
const (
	programHead  = "1 ? async () => {\n"
	programTail  = "\n} : 0"
	functionHead = "async function f() {\n"
	functionTail = "\n}"
)

// compile checks the source and gives the program as a function of the guest.
func (c *cell) compile() (engine.Value, *Result) {
	code := c.source.Code
	shell, err := source.Shell(c.ctx, code, c.parses)
	if err != nil {
		return 0, c.failure(c.stopped(err))
	}
	if shell {
		return 0, c.failure(c.failed(CodeInvalidInput, PhaseInput, source.ErrShell.Error(), source.ErrShell))
	}
	if strings.Contains(code, "}") { // else it cannot close the function, and compiling it once will do
		function, err := c.eval(functionHead, functionTail, engine.EvalCompileOnly)
		if err != nil {
			return 0, c.failure(c.uncompiled(err))
		}
		c.vm.Free(function)
	}
	program, err := c.eval(programHead, programTail, 0)
	if err != nil {
		return 0, c.failure(c.uncompiled(err))
	}
	if source.ModuleAccess(code) {
		return 0, c.failure(c.failed(CodeInvalidInput, PhaseInput, source.ErrModuleAccess.Error(), source.ErrModuleAccess))
	}
	return program, nil
}

func (c *cell) eval(head, tail string, flags engine.EvalFlag) (engine.Value, error) {
	c.scratch = append(append(append(c.scratch[:0], head...), c.source.Code...), tail...)
	return c.vm.Eval(c.scratch, source.Label, flags)
}

// parses tells whether a text is the body of an async function.
func (c *cell) parses(_ context.Context, body string) (bool, error) {
	v, err := c.vm.Eval([]byte(functionHead+body+functionTail), source.Label, engine.EvalCompileOnly)
	if exception := (*engine.Exception)(nil); errors.As(err, &exception) {
		c.vm.Free(exception.Value)
		return false, nil
	} else if err != nil {
		return false, err
	}
	c.vm.Free(v)
	return true, nil
}

// maxReflected is the size of a catalog up to which a program that may compute the names of globals gets all tools. In a
// larger one it must spell a tool's name out.
const maxReflected = 256

// plan finds out what the program may use: the tools that it mentions, so that a cell costs the same whatever the
// catalog holds, and whether it needs the web APIs.
func (c *cell) plan() (web bool) {
	catalog, code := c.executor.catalog, c.source.Code
	all := source.HasEscapes(code)
	for name := range source.Identifiers(code) {
		switch mentions[name] {
		case reflective:
			web = true
			all = all || catalog.Len() <= maxReflected
		case webAPI:
			web = true
		default:
			if _, ok := catalog.Lookup(name); ok {
				c.bridge.tools = append(c.bridge.tools, name)
			}
		}
	}
	if all {
		c.bridge.tools = slices.AppendSeq(c.bridge.tools[:0], catalog.CallableNames())
		return true
	}
	slices.Sort(c.bridge.tools)
	c.bridge.tools = slices.Compact(c.bridge.tools)
	return web
}

// Words of a program that say what it needs beyond the tools that it names.
const (
	reflective = iota + 1 // by this it can get at a global without naming it
	webAPI
)

var mentions = func() map[string]int {
	m := map[string]int{}
	for _, name := range []string{
		"globalThis", "this", "eval", "Function", "constructor", "AsyncFunction", "GeneratorFunction", "getPrototypeOf", "__proto__",
	} {
		m[name] = reflective
	}
	for _, name := range guest.WebGlobals {
		m[name] = webAPI
	}
	return m
}()

// installTools makes the globals of the tools.
func (c *cell) installTools() error {
	if len(c.bridge.tools) == 0 {
		return nil
	}
	text, err := json.Marshal(c.bridge.tools)
	if err != nil {
		return err
	}
	names, err := c.vm.ParseJSON(text)
	if err != nil {
		return err
	}
	_, err = c.vm.Call(c.vm.Named(guest.Install), names)
	c.vm.Free(names)
	return err
}

// encode keeps the JSON text of the returned value.
func (c *cell) encode(result engine.Value) (err error) {
	var ok bool
	if c.value, ok = c.vm.AppendJSON(nil, result, engine.JSONData); ok {
		return nil
	}
	text, err := c.vm.Call(c.vm.Named(guest.EncodeFinal), result)
	if err != nil {
		return err
	}
	c.value, err = c.vm.AppendString(nil, text)
	c.vm.Free(text)
	return err
}

// hostCall answers the controller.
func (c *cell) hostCall(args []engine.Value) engine.Value {
	if len(args) < 4 {
		return engine.Undefined
	}
	id, _ := args[1].AsInt()
	switch operation, _ := args[0].AsInt(); operation {
	case guest.Emit, guest.EmitText:
		return c.emit(operation == guest.EmitText, id == guest.Text, args[2])
	case guest.Call, guest.CallText:
		tool, _ := args[2].AsInt()
		return c.bridge.call(operation == guest.CallText, id, tool, args[3])
	case guest.Timer:
		return c.bridge.timer(id, args[2].AsFloat())
	case guest.Clear:
		c.bridge.clear(id)
	}
	return guest.OK
}

// emit takes a piece of output: a value, or the text that stands for it.
func (c *cell) emit(encoded, asText bool, value engine.Value) engine.Value {
	item := c.scratch[:0]
	if encoded {
		var err error
		if item, err = c.vm.AppendString(item, value); err != nil {
			return engine.Undefined
		}
	} else {
		var ok bool
		if item, ok = c.vm.AppendJSON(item, value, engine.JSONStringify); !ok {
			return guest.AsText
		}
		if asText && !value.IsString() {
			item = jsontext.AppendString(nil, string(item)) // its JSON is the text
		}
	}
	c.scratch = item
	c.output.add(asText, item, c.limits.output)
	return guest.OK
}

// completed makes the result of a cell that returned.
func (c *cell) completed() Result {
	r := c.newResult(StatusCompleted)
	r.Output, r.Value, _ = c.output.render(c.limits.output, c.value, "")
	return r
}

func (c *cell) newResult(status Status) Result {
	return Result{
		Status: status, BridgeDispatchStarted: c.bridge.dispatched,
		ReplaySafe: c.source.RestartSafe, Telemetry: c.executor.telemetry(),
	}
}

func (c *cell) failed(code ErrorCode, phase FailurePhase, text string, cause error) Result {
	r := c.newResult(StatusFailed)
	r.Code, r.FailurePhase, r.err = code, phase, cause
	r.Output, _, r.Error = c.output.render(c.limits.output, nil, text)
	return r
}

// stopped makes the result of a cell that an error ended.
func (c *cell) stopped(err error) Result {
	exception := (*engine.Exception)(nil)
	switch {
	case errors.As(err, &exception):
		return c.thrown(exception.Value)
	case errors.Is(err, engine.ErrDeadline):
		return c.failed(CodeTimeout, PhaseGuest, timeoutText, nil)
	case errors.Is(err, engine.ErrCanceled):
		return c.failed(CodeAborted, c.hostPhase(), abortedText, context.Cause(c.ctx))
	case errors.Is(err, engine.ErrMemory):
		return c.failed(CodeInternal, PhaseGuest, c.memoryText(), ErrMemoryLimit)
	case errors.Is(err, engine.ErrStack):
		return c.failed(CodeInternal, PhaseGuest, "RangeError: Maximum call stack size exceeded", ErrStackLimit)
	}
	c.executor.runtime.logger.Error("code mode: cell ended by a fault of the engine",
		"run", c.executor.opts.RunID, "session", c.executor.opts.SessionID, "title", c.source.Title, "error", err)
	return c.failed(CodeInternal, PhaseGuest, "the program ran into a fault of the JavaScript engine; write it in another way", err)
}

func (c *cell) hostPhase() FailurePhase {
	if c.bridge.dispatched {
		return PhaseBridge
	}
	return PhaseHost
}

func (c *cell) memoryText() string {
	return fmt.Sprintf("InternalError: out of memory: the cell reached its limit of %d MiB; keep less data at a time", c.limits.memory>>20)
}

// thrown makes the result of a cell that let out an exception.
func (c *cell) thrown(value engine.Value) Result {
	e, err := c.describe(value)
	if err != nil {
		return c.stopped(err)
	}
	switch {
	case source.ModuleReference(e.name, e.message):
		return c.failed(CodeInvalidInput, PhaseInput, source.ErrModuleAccess.Error(), source.ErrModuleAccess)
	case c.vm.MemoryRefused() && (!e.isError || e.name == "InternalError"):
		return c.failed(CodeInternal, PhaseGuest, c.memoryText(), ErrMemoryLimit)
	case c.vm.MemoryRefused():
		return c.failed(CodeInternal, PhaseGuest, e.text(c.lines())+"\nearlier: "+c.memoryText(), ErrMemoryLimit)
	case e.name == "RangeError" && e.message == "Maximum call stack size exceeded":
		return c.failed(CodeInternal, PhaseGuest, e.text(c.lines()), ErrStackLimit)
	}
	return c.failed(CodeInternal, PhaseGuest, e.text(c.lines()), nil)
}

// unhandled makes the result of a cell that left rejected promises behind.
func (c *cell) unhandled(promise engine.Value, n int) Result {
	_, reason, err := c.vm.Promise(promise)
	if err != nil {
		return c.stopped(err)
	}
	r := c.thrown(reason)
	if n > 1 {
		r.Output, _, r.Error = c.output.render(c.limits.output, nil, fmt.Sprintf("%s\n(and %d more unhandled rejections)", r.Error, n-1))
	}
	return r
}

// deadlocked makes the result of a cell that waits for nothing.
func (c *cell) deadlocked() Result {
	if c.vm.MemoryRefused() { // a job that could not get memory ends without a word
		return c.stopped(engine.ErrMemory)
	}
	return c.failed(CodeInternal, PhaseGuest, pendingText, nil)
}

// uncompiled makes the result of a source that does not compile.
func (c *cell) uncompiled(err error) Result {
	exception := (*engine.Exception)(nil)
	if !errors.As(err, &exception) || c.vm.MemoryRefused() {
		return c.stopped(err)
	}
	e, err := c.describe(exception.Value)
	if err != nil {
		return c.stopped(err)
	}
	if e.name != "SyntaxError" {
		err := &source.InputError{Message: fmt.Sprintf("the program is too large or nested too deeply to be compiled (%s); make it smaller and flatter", clip(e.header(), maxCause))}
		return c.failed(CodeInvalidInput, PhaseInput, err.Error(), err)
	}
	line, column := e.position()
	if lines := c.lines(); line > lines {
		last := c.source.Code[strings.LastIndexByte(c.source.Code, '\n')+1:]
		line, column = lines, len(last)+1
	}
	failure := source.SyntaxError(line, column, e.message)
	return c.failed(CodeInvalidInput, PhaseInput, failure.Error(), failure)
}

// maxCause bounds an engine's message inside of another.
const maxCause = 240

func clip(s string, n int) string { return s[:runeStart([]byte(s), min(n, len(s)))] }

func (c *cell) lines() int { return bytes.Count([]byte(c.source.Code), []byte("\n")) + 1 }
