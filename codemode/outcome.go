package codemode

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/source"
)

// Texts of failures that are not the cell's own.
const (
	abortedText = "code mode execution aborted"
	timeoutText = "code mode timeout exceeded"
	pendingText = "the program awaits a promise that nothing can settle: no tool call or timer is pending"
)

func (c *cell) newResult(status Status) Result {
	return Result{
		Status: status, BridgeDispatchStarted: c.bridge.dispatched,
		ReplaySafe: c.source.RestartSafe, Telemetry: c.executor.telemetry(), NetworkContent: c.network,
	}
}

func (c *cell) failed(code ErrorCode, phase FailurePhase, text string, cause error) Result {
	r := c.newResult(StatusFailed)
	r.Code, r.FailurePhase, r.err = code, phase, cause
	return c.deliver(r, text)
}

// retention tells how the value of the cell can be kept if it cannot be shown.
func (c *cell) retention() retention {
	r := retention{
		limit:   int(c.limits.inbox),
		save:    func(value []byte) (Reference, error) { return c.executor.results.save(value, c.network) },
		release: func(id string) { _ = c.executor.results.Delete(id) },
	}
	switch {
	case c.source.RestartSafe:
		r.refused = &refusedRestartSafe
	case c.executor.opts.Headless:
		r.refused = &refusedHeadless
	}
	return r
}

// aborted makes the result of a cell that its caller or its owner gave up.
func (c *cell) aborted(phase FailurePhase, cause error) Result {
	text := abortedText
	switch {
	case errors.Is(cause, ErrClosed):
		text += ": the executor is closed"
	case errors.Is(cause, ErrTakenOver):
		text += ": " + ErrTakenOver.Error()
	}
	return c.failed(CodeAborted, phase, text, cause)
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
		return c.aborted(c.hostPhase(), context.Cause(c.ctx))
	case errors.Is(err, engine.ErrMemory):
		return c.failed(CodeInternal, PhaseGuest, c.memoryText(), ErrMemoryLimit)
	case errors.Is(err, errDepth):
		return c.failed(CodeInternal, PhaseGuest, err.Error(), nil)
	case errors.Is(err, engine.ErrStack):
		return c.failed(CodeInternal, PhaseGuest, "RangeError: Maximum call stack size exceeded", ErrStackLimit)
	}
	c.executor.runtime.logger.Error("code mode: cell ended by a fault of the engine",
		"run", c.executor.opts.RunID, "session", c.executor.opts.SessionID, "title", c.source.Title, "error", err)
	return c.failed(CodeInternal, PhaseGuest, "the program ran into a fault of the JavaScript engine; write it in another way", err)
}

// inputPhase is the phase of a refusal: that of input, as long as no call was dispatched.
func (c *cell) inputPhase() FailurePhase {
	if c.bridge.dispatched {
		return PhaseBridge
	}
	return PhaseInput
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
func (c *cell) thrown(value engine.Value) Result { return c.thrownWith(value, 0) }

// thrownWith makes the result of a cell that let out an exception and so many more.
func (c *cell) thrownWith(value engine.Value, more int) Result {
	e, err := c.describe(value)
	if err != nil {
		return c.stopped(err)
	}
	text := e.text(c.lines())
	call, ok := c.bridge.failure(value)
	if ok && len(e.frames(c.lines())) == 0 {
		text += fmt.Sprintf("\n    at %s (a tool)", call.tool)
	}
	if more > 0 {
		text += fmt.Sprintf("\n(and %d more unhandled rejections)", more)
	}
	switch {
	case source.ModuleReference(e.name, e.message):
		return c.failed(CodeInvalidInput, PhaseInput, source.ErrModuleAccess.Error(), source.ErrModuleAccess)
	case c.vm.MemoryRefused() && (!e.isError || e.name == "InternalError"):
		return c.failed(CodeInternal, PhaseGuest, c.memoryText(), ErrMemoryLimit)
	case c.vm.MemoryRefused():
		return c.failed(CodeInternal, PhaseGuest, text+"\nearlier: "+c.memoryText(), ErrMemoryLimit)
	case e.name == "RangeError" && e.message == "Maximum call stack size exceeded":
		return c.failed(CodeInternal, PhaseGuest, text, ErrStackLimit)
	}
	return c.failed(CodeInternal, PhaseGuest, text, call.err)
}

// unhandled makes the result of a cell that left rejected promises behind.
func (c *cell) unhandled(promise engine.Value, n int) Result {
	if !promise.IsObject() { // all that could be told apart were handled
		return c.failed(CodeInternal, PhaseGuest, fmt.Sprintf("Error: %d unhandled rejections; await the promises, or catch", n), nil)
	}
	_, reason, err := c.vm.Promise(promise)
	if err != nil {
		return c.stopped(err)
	}
	return c.thrownWith(reason, n-1)
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
	failure := source.SyntaxErrorIn(c.source.Code)
	if failure == nil {
		line, column := e.position()
		failure = source.SyntaxError(min(line, c.lines()), column, e.message)
	}
	return c.failed(CodeInvalidInput, PhaseInput, failure.Error(), failure)
}

// maxCause bounds an engine's message inside of another.
const maxCause = 240

func clip(s string, n int) string { return s[:runeStart(s, min(max(0, n), len(s)))] }

// lines is the number of lines of the program.
func (c *cell) lines() int {
	if c.codeLines == 0 {
		c.codeLines = strings.Count(c.source.Code, "\n") + 1
	}
	return c.codeLines
}
