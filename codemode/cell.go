package codemode

import (
	"context"
	"errors"
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
	executor  *Executor
	limits    *limits
	source    source.Cell
	codeLines int             // of the source, which is dropped when the cell first waits
	ctx       context.Context // of the cell: it has the values of Exec's, and ends with the cell
	cancel    context.CancelCauseFunc
	image     *engine.Image
	vm        *engine.VM  // nil while the cell is parked
	deadline  time.Time   // of the call of Exec or Wait that runs the cell
	wall      time.Time   // when a headless cell ends
	caller    func() bool // ends what the context of that call means to the cell; false if it has ended the cell
	stint     *stint      // of the goroutine that the cell has for itself; nil: it has none

	promise engine.Value // of the program
	settled bool         // the program has returned: what it left behind is being drained
	value   original     // JSON text of what it returned

	bridge  bridge
	output  output
	scratch []byte

	session *sessionBuffer // nil until the program uses it
	network bool           // the program has content from outside of the host

	suspension // of a cell that waits, or has waited
}

// leg is what one call of Exec or Wait runs of a cell: its result, and how it ended.
type leg struct {
	result Result
	outcome
}

// stint is what the goroutine that called Exec or Wait and the one that runs the leg for it have in common. The cell itself
// may have been parked and resumed by others before the first of them sees the end of the leg.
type stint struct {
	result chan leg // takes the end of the leg, once

	mu    sync.Mutex
	visit *visit // of the tool that has the goroutine; nil: none
	limit error  // what ended the leg from outside, seen by the goroutine that called Exec or Wait
}

// visit is a tool's having the goroutine of a cell.
type visit struct {
	stint     *stint
	abandoned bool // nobody waits for this goroutine any more
}

// begin gets a VM and runs the cell on the calling goroutine, until it has ended, is parked, or a tool wants the goroutine.
func (c *cell) begin() leg {
	c.image = c.executor.runtime.plain
	if c.plan() {
		c.image = c.executor.runtime.web
	}
	var err error
	if c.vm, err = c.image.Acquire(context.WithoutCancel(c.ctx)); err != nil {
		return leg{c.failed(CodeRuntimeUnavailable, PhaseHost, "the code mode runtime is unavailable: "+err.Error(), err), ended}
	}
	if failure := c.start(); failure != nil {
		return leg{*failure, ended}
	}
	return c.run()
}

// abandon is called, by the goroutine that waits for the cell, when a limit has passed. It tells whether a tool has the
// cell's goroutine: then that goroutine will not touch the cell again, and the caller has it. Otherwise the
// leg ends by itself, now.
func (s *stint) abandon(limit error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
	if s.visit == nil {
		return false
	}
	s.visit.abandoned, s.visit = true, nil
	return true
}

// enterTool and leave stand around a tool that runs on the cell's goroutine. An error is the limit that has passed. Once
// the tool is entered, the goroutine that waits for the cell may take the cell: what there is to say of the call is set before.
func (c *cell) enterTool(r request) (*visit, error) {
	s := c.stint
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(s.limit, engine.ErrDeadline):
		return nil, errPause
	case s.limit != nil:
		return nil, s.limit
	}
	s.visit = &visit{stint: s}
	c.bridge.dispatched = true
	c.bridge.flying = append(c.bridge.flying, r)
	c.executor.calls.Add(1)
	return s.visit, nil
}

func (v *visit) leave() (abandoned bool) {
	v.stint.mu.Lock()
	defer v.stint.mu.Unlock()
	if !v.abandoned {
		v.stint.visit = nil
	}
	return v.abandoned
}

// start runs the program up to its first await.
func (c *cell) start() *Result {
	c.enterVM()
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

// enterVM connects the cell's VM with the cell.
func (c *cell) enterVM() {
	c.vm.Limit(c.deadline, c.ctx.Done())
	c.vm.OnHostCall(c.hostCall)
}

// loop takes a detached leg to its end, on a goroutine of its own.
func (c *cell) loop() {
	defer c.executor.running.Done()
	s := c.stint
	if l := c.run(); l.outcome != abandoned { // else the result is somebody else's to make
		s.result <- l
	}
}

// outcome is why run returned.
type outcome int

const (
	ended     outcome = iota // the cell is over
	parked                   // it waits, and may be in other hands already
	abandoned                // a limit passed while a tool had the goroutine: the cell is in other hands
	toolAlone                // a tool wants the goroutine, which must not be that of Exec's caller
)

// run takes the cell on: guest code until nothing is left to do, then requests to the host, then one reply or timer
// after the other.
func (c *cell) run() leg {
	for {
		if err := c.vm.Expired(); err != nil {
			return leg{c.stopped(err), ended}
		}
		if failure := c.advance(); failure != nil {
			return leg{*failure, ended}
		}
		err := error(nil)
		switch {
		case c.bridge.idle():
			if !c.settled {
				return leg{c.deadlocked(), ended}
			}
			return leg{c.finished(), ended}
		case len(c.bridge.yields) > 0:
			err = errPause
		case c.bridge.alone != nil && c.stint == nil:
			return leg{outcome: toolAlone}
		default:
			err = c.bridge.next()
		}
		switch {
		case err == nil:
		case errors.Is(err, errAbandoned):
			return leg{outcome: abandoned}
		case errors.Is(err, errPause):
			if l := c.pause(); l != nil {
				return *l
			}
		default:
			return leg{c.stopped(err), ended}
		}
	}
}

// finished makes the result of a cell that has nothing left to do.
func (c *cell) finished() Result {
	if rejected, n := c.vm.Unhandled(); n > 0 {
		return c.unhandled(rejected, n)
	}
	if !c.mayComplete() {
		return c.stopped(engine.ErrCanceled)
	}
	return c.completed()
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
