package codemode

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	deadline time.Time   // of the cell, from its very start
	detached bool        // the cell has a goroutine of its own
	result   chan Result // takes the result of a detached cell, once

	promise engine.Value // of the program
	settled bool         // the program has returned: what it left behind is being drained
	value   original     // JSON text of what it returned

	bridge  bridge
	output  output
	scratch []byte

	session *sessionBuffer // nil until the program uses it
	network bool           // the program has content from outside of the host

	mu        sync.Mutex
	inTool    bool  // a tool has the cell's goroutine
	limit     error // what ended the cell from outside, seen by the goroutine that called Exec
	abandoned bool  // inTool, and nobody waits for the cell any more
}

// begin gets a VM and runs the cell on the calling goroutine, until it has ended or a tool wants the goroutine.
func (c *cell) begin() (Result, outcome) {
	c.deadline = time.Now().Add(c.limits.timeout)
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

// enterTool and leaveTool stand around a tool that runs on the cell's goroutine. An error is the limit that has passed. Once
// the tool is entered, the goroutine that waits for the cell may make its result: what that says of the call is set before.
func (c *cell) enterTool() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limit != nil {
		return c.limit
	}
	c.inTool, c.bridge.dispatched = true, true
	c.executor.calls.Add(1)
	return nil
}

func (c *cell) leaveTool() (abandoned bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inTool = false
	return c.abandoned
}

// start runs the program up to its first await.
func (c *cell) start() *Result {
	c.bridge.cell = c
	c.vm.Limit(c.deadline, c.ctx.Done())
	c.vm.OnHostCall(c.hostCall)
	c.vm.Seed(rand.Uint64())
	program, failure := c.compile()
	if failure != nil {
		return failure
	}
	if err := c.installGlobals(); err != nil {
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
	if why == abandoned { // the VM is gone already
		c.executor.leave(c)
		return
	}
	c.close()
	c.result <- r
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
		if err := c.vm.Expired(); err != nil { // it comes before replies: the error of a cancelled tool is not the cell's
			return c.stopped(err), ended
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
	return c.completed(c.commitSession()), ended
}

// minCommit is the time that a commit of the session has at least, when the cell has used up its own.
const minCommit = time.Second

// maxWarning bounds a warning in bytes: it has the text of an error of the host's in it, and must leave room for the value.
const maxWarning = 512

// commitSession commits what a completed cell has stored. A failure does not fail the cell, whose effects are there: it is
// a warning.
func (c *cell) commitSession() (warnings []string) {
	if c.session == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, max(minCommit, time.Until(c.deadline)))
	defer cancel()
	if err := c.executor.guarded(func() error { return c.session.commit(ctx) }); err != nil {
		warnings = []string{clip(err.Error(), maxWarning)}
	}
	return warnings
}

// advance runs guest code until it waits for the host, then gives its requests to the host.
func (c *cell) advance() *Result {
	for {
		if err := c.vm.Drain(); err != nil {
			return c.failure(c.stopped(err))
		}
		if c.bridge.refused != "" {
			return c.failure(c.failed(CodeInvalidInput, c.inputPhase(), c.bridge.refused, nil))
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
	if err := c.vm.Expired(); err != nil {
		return c.failure(c.stopped(err))
	}
	return c.bridge.dispatch()
}

func (c *cell) failure(r Result) *Result { return &r }

// encode keeps the JSON text of the returned value.
func (c *cell) encode(result engine.Value) (err error) {
	if text, ok := c.vm.AppendJSON(nil, result, engine.JSONData, int(c.limits.memory)); ok {
		c.keepValue(text)
		return nil
	}
	text, err := c.vm.Call(c.vm.Named(guest.EncodeFinal), result)
	if err != nil {
		return err
	}
	value, err := c.vm.AppendString(nil, text)
	c.vm.Free(text)
	if err == nil && jsonDepth(value) > maxDepth {
		return errDepth
	}
	c.keepValue(value)
	return err
}

// maxDepth is how deep a value may be nested in a result. Go's encoding/json reads 10,000 levels, and the result is some of
// them.
const maxDepth = 9_000

var errDepth = fmt.Errorf("RangeError: the returned value is nested more than %d levels deep; flatten it", maxDepth)

// jsonDepth is how deep a JSON text is nested.
func jsonDepth(text []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}

// hostCall answers the controller. What is a number there must be an integer: the engine has others in forms of their own,
// and a slot or an index that is read as another one would settle or make another call.
func (c *cell) hostCall(args []engine.Value) engine.Value {
	if len(args) < 4 {
		return engine.Undefined
	}
	operation, ok := args[0].AsInt()
	if !ok {
		return engine.Undefined
	}
	if operation == guest.Answer {
		c.bridge.giveAnswer(args[1])
		return guest.OK
	}
	id, ok := args[1].AsInt()
	if !ok {
		return engine.Undefined
	}
	switch operation {
	case guest.Emit, guest.EmitText:
		return c.emit(operation == guest.EmitText, id == guest.Text, args[2])
	case guest.Call, guest.CallText:
		tool, ok := args[2].AsInt()
		if !ok {
			return guest.Full
		}
		return c.bridge.call(operation == guest.CallText, id, tool, args[3])
	case guest.Timer:
		return c.bridge.timer(id, args[2].AsFloat())
	case guest.Clear:
		c.bridge.clear(id)
	case guest.Ask:
		return c.bridge.ask(id, args[2], args[3])
	case guest.Give, guest.GiveText:
		return c.bridge.give(operation == guest.GiveText, args[2])
	}
	return guest.OK
}

// emit takes a piece of output: a value, or the text that stands for it. No more is kept of it than a result can show. A
// large value is left to the guest to encode, on its own time and memory.
func (c *cell) emit(encoded, isText bool, value engine.Value) engine.Value {
	most := c.limits.output
	if encoded {
		text, size, err := c.vm.AppendPrefix(c.scratch[:0], value, most+1)
		if err != nil {
			return engine.Undefined
		}
		if size == len(text) && jsonDepth(text) > maxDepth {
			text = []byte(`"[nested too deeply]"`)
			size = len(text)
		}
		c.keep(text)
		c.output.add(isText, text, size, most)
		return guest.OK
	}
	text, ok := c.vm.AppendJSON(c.scratch[:0], value, engine.JSONStringify, 2*most)
	if !ok {
		return guest.AsText
	}
	c.keep(text)
	if isText && !value.IsString() {
		text = jsontext.AppendString(nil, string(text)) // its JSON is the text
	}
	c.output.add(isText, text, len(text), most)
	return guest.OK
}

// keep keeps a buffer for the next time, if it is not large.
func (c *cell) keep(scratch []byte) {
	if c.scratch = scratch; cap(scratch) > maxScratch {
		c.scratch = nil
	}
}

const maxScratch = 1 << 20
