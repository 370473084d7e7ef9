package codemode

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
	"github.com/cellmode/cellmode/internal/jsontext"
	"github.com/cellmode/cellmode/toolcatalog"
)

// bridge carries the requests of a cell to the host and the replies back.
type bridge struct {
	cell  *cell
	tools []string // callable names by the index that the guest knows

	indexes map[string]int // the same the other way, once something was found
	answer  [][]byte       // to the question that the guest has just asked, in pieces
	given   []byte         // JSON of the value that its next question is about; nil: none

	fresh      []request // made since guest code last ran
	queue      []request // wait for a place
	inFlight   int       // tool calls that run
	timers     []timer   // running, soonest first
	inputBytes int       // of all that are pending, those that run included
	refused    string    // why a batch was refused: it stays so, even if the guest caught the error
	dispatched bool      // a tool call was started

	alone   *request // the only thing that is pending: it can have the cell's goroutine
	arrived *reply   // its reply

	approvals approvals // calls that wait for somebody

	abandoned bool         // a limit passed meanwhile, and nobody waits for the cell any more
	failed    []failedCall // the last ones
	replies   chan reply
	inbox     atomic.Int64 // bytes of replies not taken up yet
	alarm     *time.Timer
}

type request struct {
	id    int32 // slot of a call, id of a timer
	tool  int32 // index in tools; -1 for a timer
	delay time.Duration
	input json.RawMessage
}

type timer struct {
	id int32
	at time.Time
}

// reply is the outcome of a tool call. It is made on the goroutine of the call.
type reply struct {
	id     int32
	ok     bool
	text   []byte // JSON of the value, or of {message, code, effectStatus}
	charge int64
	err    error // of a failed call
	tool   int32
	input  int // bytes of the call's input, which the tool may have held until now
}

const (
	queueText = "too many tool calls and timers were pending at once (%d run at a time and %d wait): none of this batch was started; await them in smaller batches"
	inputText = "the inputs of the pending tool calls exceed %d MiB: none of this batch was started; send less at a time"
	inboxText = `{"message":"program-data budget exceeded: the results that wait for this program are too large; paginate, select less, or await pending calls first","code":"tool_error","effectStatus":"unknown"}`
)

// full tells whether another request would exceed what may be pending, and refuses the batch if so.
func (b *bridge) full() bool {
	limit := b.cell.limits.maxPending
	if b.inFlight+len(b.timers)+len(b.queue)+len(b.fresh) >= limit+maxQueued {
		b.refused = fmt.Sprintf(queueText, limit, maxQueued)
	}
	return b.refused != ""
}

// call takes a tool call of the guest: its input as a value, or as the text that stands for it.
func (b *bridge) call(encoded bool, slot, tool int32, input engine.Value) engine.Value {
	if b.full() || tool < 0 || int(tool) >= len(b.tools) {
		return guest.Full
	}
	var text []byte
	switch {
	case input.IsUndefined():
	case encoded:
		var err error
		if text, err = b.cell.vm.AppendString(nil, input); err != nil {
			return guest.Full
		}
	default:
		var ok bool
		if text, ok = b.cell.vm.AppendJSON(nil, input, engine.JSONStringify, int(b.cell.limits.memory)); !ok {
			return guest.AsText
		}
	}
	if b.inputBytes += len(text); int64(b.inputBytes) > b.cell.limits.memory {
		b.refused = fmt.Sprintf(inputText, b.cell.limits.memory>>20)
		return guest.Full
	}
	b.fresh = append(b.fresh, request{id: slot, tool: tool, input: text})
	return guest.OK
}

// maxDelay is the longest delay of a timer: that of browsers.
const maxDelay = math.MaxInt32 * time.Millisecond

// timer takes a setTimeout of the guest.
func (b *bridge) timer(id int32, ms float64) engine.Value {
	if b.full() {
		return guest.Full
	}
	b.fresh = append(b.fresh, request{id: id, tool: -1, delay: time.Duration(min(ms, float64(maxDelay/time.Millisecond))) * time.Millisecond})
	return guest.OK
}

// clear forgets a timer, wherever it is.
func (b *bridge) clear(id int32) {
	isIt := func(r request) bool { return r.id == id && r.tool < 0 }
	b.fresh = slices.DeleteFunc(b.fresh, isIt)
	b.queue = slices.DeleteFunc(b.queue, isIt)
	b.timers = slices.DeleteFunc(b.timers, func(t timer) bool { return t.id == id })
}

// idle tells whether nothing can happen any more.
func (b *bridge) idle() bool {
	return b.idleBut(0) && b.alone == nil
}

// idleBut tells whether nothing is pending but n new requests.
func (b *bridge) idleBut(n int) bool {
	return b.inFlight == 0 && len(b.queue) == 0 && len(b.timers) == 0 && len(b.fresh) == n
}

// dispatch starts requests in the order in which they were made, as long as there are places.
func (b *bridge) dispatch() *Result {
	c := b.cell
	if c.source.RestartSafe {
		for _, r := range b.fresh {
			if r.tool < 0 {
				continue
			}
			if entry, _ := c.executor.catalog.Lookup(b.tools[r.tool]); !entry.ReplaySafe {
				return c.failure(c.failed(CodeInvalidInput, c.inputPhase(), fmt.Sprintf(
					"%s was not called: a restart-safe cell may call only replay-safe tools; run the program without restartSafe", b.tools[r.tool]), nil))
			}
		}
	}
	// A call whose waiting is not on the cell's time must not have the cell's goroutine, which would not see that time.
	if b.idleBut(1) && b.fresh[0].tool >= 0 && !c.source.AwaitResults && !c.executor.catalog.MayAsk() {
		r := b.fresh[0]
		b.alone, b.fresh = &r, b.fresh[:0]
		return nil
	}
	b.queue = append(b.queue, b.fresh...)
	b.fresh = b.fresh[:0]
	started := 0
	for _, r := range b.queue {
		if b.inFlight+len(b.timers) >= c.limits.maxPending {
			break
		}
		if c.ctx.Err() != nil {
			return c.failure(c.stopped(engine.ErrCanceled))
		}
		started++
		if r.tool < 0 {
			b.start(r)
			continue
		}
		b.run(r)
	}
	b.queue = slices.Delete(b.queue, 0, started)
	return nil
}

// start starts a timer.
func (b *bridge) start(r request) {
	t := timer{r.id, time.Now().Add(r.delay)}
	i, _ := slices.BinarySearchFunc(b.timers, t, func(a, b timer) int {
		if a.at.After(b.at) {
			return 1
		}
		return -1 // behind those of the same time
	})
	b.timers = slices.Insert(b.timers, i, t)
}

// run starts a tool call on a goroutine of its own.
func (b *bridge) run(r request) {
	if b.replies == nil {
		// Room for every call that can be in flight: a call that ends after the cell is gone does not wait.
		b.replies = make(chan reply, b.cell.limits.maxPending)
	}
	b.inFlight++
	b.dispatched = true
	e := b.cell.executor
	e.calls.Add(1)
	e.running.Add(1)
	b.takePlace(r).Go(b.cell.ctx, r.input, func(result json.RawMessage, err error) {
		defer e.running.Done()
		b.replies <- b.admit(&r, result, err)
	})
}

// runAlone makes the only pending call on the goroutine of the cell, which has nothing else to do.
func (b *bridge) runAlone() error {
	c, r := b.cell, *b.alone
	b.alone = nil
	if err := c.enterTool(); err != nil {
		return err
	}
	b.inFlight++
	b.takePlace(r).Do(c.ctx, r.input, func(result json.RawMessage, err error) {
		reply := b.admit(&r, result, err)
		b.arrived = &reply
		b.abandoned = c.leaveTool()
	})
	return nil
}

// takePlace gives a call its place in the catalog's order.
func (b *bridge) takePlace(r request) *toolcatalog.Admission {
	catalog := b.cell.executor.catalog
	place := catalog.Admit(b.tools[r.tool])
	if catalog.MayAsk() {
		if b.approvals.changed == nil {
			b.approvals.changed = make(chan struct{}, 1)
		}
		place.OnApproval(b.approvals.report)
	}
	return place
}

func (b *bridge) takeArrived() reply {
	r := *b.arrived
	b.arrived = nil
	return r
}

// admit charges a reply against the cell's inbox. A reply for which there is no room becomes a failure
// of fixed size, so that the host never holds more than the allowance.
func (b *bridge) admit(call *request, result json.RawMessage, err error) reply {
	r := reply{id: call.id, ok: err == nil, text: result, err: err, tool: call.tool, input: len(call.input)}
	if err != nil {
		r.text = errorText(err, b.cell.limits.output)
	}
	r.charge = int64(len(r.text))
	if b.inbox.Add(r.charge) > b.cell.limits.inbox {
		b.inbox.Add(-r.charge)
		r.ok, r.text, r.charge = false, []byte(inboxText), 0
	}
	return r
}

// errorText gives the fields of the guest's Error for a failed call.
func errorText(err error, limit int) []byte {
	fields := struct {
		Message      string `json:"message"`
		Code         string `json:"code"`
		EffectStatus string `json:"effectStatus"`
	}{err.Error(), string(toolcatalog.CodeToolError), toolcatalog.EffectStatusUnknown}
	if call := (*toolcatalog.CallError)(nil); errors.As(err, &call) {
		fields.Message, fields.Code, fields.EffectStatus = call.Message(), string(call.Code), call.EffectStatus
	}
	fields.Message = truncateError(fields.Message, limit)
	text, _ := marshal(fields)
	return text
}

// next waits for one event and hands it to the guest.
func (b *bridge) next() error {
	c := b.cell
	if b.alone != nil {
		return b.runAlone()
	}
	approved, asking := b.approvals.total()
	var wake time.Time // when waiting ends without an event; zero for never
	if (!c.source.AwaitResults || b.inFlight == 0 || len(b.timers) > 0) && !asking {
		wake = c.deadline
	}
	if len(b.timers) > 0 && (wake.IsZero() || b.timers[0].at.Before(wake)) {
		wake = b.timers[0].at
	}
	select {
	case r := <-b.replies:
		return b.deliver(r)
	default:
	}
	began := time.Now()
	if !wake.IsZero() {
		if b.alarm == nil {
			b.alarm = time.NewTimer(wake.Sub(began))
		} else {
			b.alarm.Reset(wake.Sub(began))
		}
		defer b.alarm.Stop()
	}
	var alarm <-chan time.Time
	if !wake.IsZero() {
		alarm = b.alarm.C
	}
	select {
	case r := <-b.replies:
		b.credit(began, approved)
		return b.deliver(r)
	case <-c.ctx.Done():
		return engine.ErrCanceled
	case <-b.approvals.changed:
		b.credit(began, approved)
		return nil
	case now := <-alarm:
		b.credit(began, approved)
		if len(b.timers) > 0 && !b.timers[0].at.After(now) {
			return b.fire()
		}
		if !now.Before(c.deadline) {
			return engine.ErrDeadline
		}
		return nil
	}
}

// credit gives a cell back the time of a wait that was not its own: that in which it only waited for tools, if it awaits
// results; else that in which a call waited for approval, of which there was approved before.
func (b *bridge) credit(began time.Time, approved time.Duration) {
	c := b.cell
	now, _ := b.approvals.total()
	spent := now - approved
	if c.source.AwaitResults && len(b.timers) == 0 {
		spent = time.Since(began)
	}
	if spent > 0 {
		c.deadline = c.deadline.Add(spent)
		c.vm.Limit(c.deadline, c.ctx.Done())
	}
}

func (b *bridge) fire() error {
	id := b.timers[0].id
	b.timers = slices.Delete(b.timers, 0, 1)
	_, err := b.cell.vm.Call(b.cell.vm.Named(guest.Fire), engine.Int(id))
	return err
}

// deliver settles a call's promise in the guest.
func (b *bridge) deliver(r reply) error {
	vm := b.cell.vm
	b.inFlight--
	b.inputBytes -= r.input
	if catalog := b.cell.executor.catalog; catalog.HasNetwork() {
		// By its result, and by the text of its error, unless the tool was not called.
		entry, _ := catalog.Lookup(b.tools[r.tool])
		call := (*toolcatalog.CallError)(nil)
		b.cell.network = b.cell.network || entry.Network && (!errors.As(r.err, &call) || call.ExecutionStarted())
	}
	defer b.inbox.Add(-r.charge)
	function := guest.Resolve
	if r.ok {
		r.text = jsontext.QuoteUnsafeIntegers(r.text)
	} else {
		function = guest.Reject
	}
	value, err := vm.ParseJSON(r.text)
	if thrown := (*engine.Exception)(nil); errors.As(err, &thrown) || errors.Is(err, engine.ErrNoRoom) {
		// Nested deeper than the engine's parser goes, or larger than the cell's memory.
		if thrown != nil {
			vm.Free(thrown.Value)
		}
		function = guest.Reject
		value, err = vm.ParseJSON(errorText(errors.New("the tool's result is too large or nested too deeply for this program; ask for less"), b.cell.limits.output))
	}
	if err != nil {
		return err
	}
	thrown, err := vm.Call(vm.Named(function), engine.Int(r.id), value)
	vm.Free(value)
	switch {
	case err != nil:
		return err
	case r.err != nil:
		b.remember(failedCall{thrown, b.tools[r.tool], r.err})
	default:
		vm.Free(thrown)
	}
	return nil
}

// failedCall connects an Error in the guest with what it was made from.
type failedCall struct {
	thrown engine.Value // a reference to it
	tool   string       // callable name
	err    error
}

// maxFailed is how many failed calls are remembered: the last ones.
const maxFailed = 16

func (b *bridge) remember(f failedCall) {
	if len(b.failed) == maxFailed {
		b.cell.vm.Free(b.failed[0].thrown)
		b.failed = slices.Delete(b.failed, 0, 1)
	}
	b.failed = append(b.failed, f)
}

// failure finds the call that a thrown value is the Error of.
func (b *bridge) failure(thrown engine.Value) (failedCall, bool) {
	for _, f := range b.failed {
		if f.thrown == thrown {
			return f, true
		}
	}
	return failedCall{}, false
}
