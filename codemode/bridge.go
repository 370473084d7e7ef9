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
	flying     []request // tool calls that run, or whose reply was not taken up yet
	timers     []timer   // running, soonest first
	yields     []request // wait for the cell to be resumed
	counts     [numKinds]int
	inputBytes int    // of all that are pending, those that run included
	refused    string // why a batch was refused: it stays so, even if the guest caught the error
	dispatched bool   // a request other than a timer was started

	alone *request // the only thing that is pending: it can have the cell's goroutine

	approvals approvals // calls that wait for somebody

	failed  []failedCall // the last ones
	replies chan reply   // of calls that have ended; with room for all that can be in flight
	ready   []reply      // taken out of replies, not taken up by the guest yet
	inbox   atomic.Int64 // bytes of replies not taken up yet
	alarm   *time.Timer
}

// request is one of the guest: what a cell that waits waits for.
type request struct {
	kind  requestKind
	n     int   // among those of its kind, from 1
	id    int32 // slot of a call or a yield, id of a timer
	tool  int32 // index in tools, of a call
	delay time.Duration
	input json.RawMessage // of a call; the reason of a yield
}

type requestKind int

const (
	callRequest requestKind = iota
	timerRequest
	yieldRequest
	numKinds
)

// The methods of requests, as a waiting result names them.
var methods = [numKinds]string{callRequest: "callValue", timerRequest: "sleep", yieldRequest: "yield"}

func (r *request) pending() PendingToolCall {
	method := methods[r.kind]
	return PendingToolCall{ID: fmt.Sprintf("bridge:%s:%d", method, r.n), Method: method}
}

type timer struct {
	request
	at time.Time
}

// reply is the outcome of a tool call. It is made on the goroutine of the call.
type reply struct {
	call   int   // number of the request
	id     int32 // its slot
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
	inboxText = "program-data budget exceeded: the results that wait for this program are too large; paginate, select less, or await pending calls first"

	// What the engine cannot read: nested deeper than its parser goes, or larger than the memory that the cell has left.
	unreadableText = "the tool's result is too large or nested too deeply for this program; ask for less"
)

// full tells whether another request would exceed what may be pending, and refuses the batch if so.
func (b *bridge) full() bool {
	limit := b.cell.limits.maxPending
	if len(b.flying)+len(b.timers)+len(b.yields)+len(b.queue)+len(b.fresh) >= limit+maxQueued {
		b.refused = fmt.Sprintf(queueText, limit, maxQueued)
	}
	return b.refused != ""
}

// take takes a request of the guest.
func (b *bridge) take(r request) {
	b.counts[r.kind]++
	r.n = b.counts[r.kind]
	b.fresh = append(b.fresh, r)
}

// call takes a tool call of the guest, or its wish to pause: the input as a value, or as the text that stands for it.
func (b *bridge) call(encoded bool, slot, tool int32, input engine.Value) engine.Value {
	r := request{kind: callRequest, id: slot, tool: tool}
	if tool == guest.Yield {
		r.kind = yieldRequest
	} else if tool < 0 || int(tool) >= len(b.tools) {
		return guest.Full
	}
	if b.full() {
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
	r.input = text
	b.take(r)
	return guest.OK
}

// maxDelay is the longest delay of a timer: that of browsers.
const maxDelay = math.MaxInt32 * time.Millisecond

// timer takes a setTimeout of the guest.
func (b *bridge) timer(id int32, ms float64) engine.Value {
	if b.full() {
		return guest.Full
	}
	b.take(request{kind: timerRequest, id: id, delay: time.Duration(min(ms, float64(maxDelay/time.Millisecond))) * time.Millisecond})
	return guest.OK
}

// clear forgets a timer, wherever it is.
func (b *bridge) clear(id int32) {
	isIt := func(r request) bool { return r.id == id && r.kind == timerRequest }
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
	return len(b.flying) == 0 && len(b.queue) == 0 && len(b.timers) == 0 && len(b.yields) == 0 && len(b.fresh) == n
}

// pending lists what the cell waits for, and says why it waits: calls that run, what waits for a place, timers and yields.
func (b *bridge) pending() (list []PendingToolCall, reason Reason) {
	for _, requests := range [][]request{b.flying, b.queue} {
		for _, r := range requests {
			list = append(list, r.pending())
		}
	}
	for _, t := range b.timers {
		list = append(list, t.pending())
	}
	reason = ReasonPendingTools
	if len(list) == 0 {
		reason = ReasonYield
	}
	for _, r := range b.yields {
		list = append(list, r.pending())
	}
	return list, reason
}

// dispatch starts requests in the order in which they were made, as long as there are places.
func (b *bridge) dispatch() *Result {
	c := b.cell
	if failure := b.mayDispatch(); failure != nil {
		return failure
	}
	// A call whose waiting is not on the cell's time must not have the cell's goroutine, which would not see that time.
	if b.idleBut(1) && b.fresh[0].kind == callRequest && c.onItsOwnTime() {
		r := b.fresh[0]
		b.alone, b.fresh = &r, b.fresh[:0]
		return nil
	}
	for _, r := range b.fresh {
		if r.kind == yieldRequest {
			b.yields = append(b.yields, r)
			b.dispatched = true
		} else {
			b.queue = append(b.queue, r)
		}
	}
	b.fresh = b.fresh[:0]
	flying := len(b.flying)
	started := 0
	for _, r := range b.queue {
		if len(b.flying)+len(b.timers) >= c.limits.maxPending {
			break
		}
		started++
		if r.kind == timerRequest {
			b.start(r)
		} else {
			b.flying = append(b.flying, r)
		}
	}
	b.queue = slices.Delete(b.queue, 0, started)
	if len(b.flying) == flying {
		return nil
	}
	if err := c.record(); err != nil {
		return b.notRecorded(b.flying[flying:], err)
	}
	for _, r := range b.flying[flying:] {
		if c.ctx.Err() != nil {
			return c.failure(c.stopped(engine.ErrCanceled))
		}
		b.run(r)
	}
	return nil
}

// mayDispatch checks new requests before any of them is dispatched.
func (b *bridge) mayDispatch() *Result {
	c := b.cell
	if len(b.fresh) == 0 {
		return nil
	}
	if c.source.RestartSafe {
		for _, r := range b.fresh {
			if r.kind != callRequest {
				continue
			}
			if entry, _ := c.executor.catalog.Lookup(b.tools[r.tool]); !entry.ReplaySafe {
				return c.failure(c.failed(CodeInvalidInput, c.inputPhase(), fmt.Sprintf(
					"%s was not called: a restart-safe cell may call only replay-safe tools; run the program without restartSafe", b.tools[r.tool]), nil))
			}
		}
	}
	if most := c.executor.opts.headlessCalls(); c.executor.opts.Headless && b.counts[callRequest] > most {
		return c.failure(c.failed(CodeToolBudgetExceeded, c.inputPhase(), fmt.Sprintf(
			"a headless program may make %d tool calls: nothing of this batch, with which it would be %d, was started", most, b.counts[callRequest]), nil))
	}
	return c.reserve()
}

// start starts a timer.
func (b *bridge) start(r request) {
	t := timer{r, time.Now().Add(r.delay)}
	i, _ := slices.BinarySearchFunc(b.timers, t, func(a, b timer) int {
		if a.at.After(b.at) {
			return 1
		}
		return -1 // behind those of the same time
	})
	b.timers = slices.Insert(b.timers, i, t)
}

// run starts a tool call, which is in flying already, on a goroutine of its own.
func (b *bridge) run(r request) {
	c, e := b.cell, b.cell.executor
	b.makeReplies()
	b.dispatched = true
	e.calls.Add(1)
	e.running.Add(1)
	b.takePlace(r).Go(c.ctx, r.input, func(result json.RawMessage, err error) {
		defer e.running.Done()
		c.settle(b.admit(&r, result, err))
	})
}

func (b *bridge) makeReplies() {
	if b.replies == nil {
		// Room for every call that can be in flight: a call that ends after the cell is gone does not wait.
		b.replies = make(chan reply, b.cell.limits.maxPending)
	}
}

// runAlone makes the only pending call on the goroutine of the cell, which has nothing else to do, and hands its reply to the
// guest. If a limit has passed meanwhile, so that somebody else has the cell, the reply is one like any other: errAbandoned.
func (b *bridge) runAlone() error {
	c, r := b.cell, *b.alone
	b.alone = nil
	b.makeReplies()
	visit, err := c.enterTool(r)
	if err != nil {
		b.queue = append(b.queue, r)
		return err
	}
	returned, lost := false, false
	defer func() {
		if !returned && !lost { // the tool has ended this goroutine
			c.executor.running.Add(1)
			go c.loop()
		}
	}()
	b.takePlace(r).Do(c.ctx, r.input, func(result json.RawMessage, err error) {
		reply := b.admit(&r, result, err)
		if lost = visit.leave(); lost {
			c.settle(reply)
		} else {
			b.ready = append(b.ready, reply)
		}
	})
	returned = true
	if lost {
		return errAbandoned
	}
	return b.nextReady()
}

// errPause ends the waiting of a cell whose time is over, or too short for what would come next.
var errPause = errors.New("the cell can only wait")

// errAbandoned ends the goroutine of a cell that is in other hands now.
var errAbandoned = errors.New("the cell is in other hands")

// maxShort bounds the time that is too short to go on.
const maxShort = 250 * time.Millisecond

// short tells whether a cell that can have a fresh budget has too little time left to begin with something new: it would
// rather fail than end.
func (b *bridge) short() bool {
	c := b.cell
	renewable := c.parks() || !c.source.AwaitResults && c.deadline.Before(c.wall)
	return renewable && time.Until(c.deadline) < min(maxShort, max(time.Millisecond, c.limits.timeout/2))
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

// admit charges a reply against the cell's inbox. A reply for which there is no room becomes a failure of fixed size, which is
// not charged, so that the host never holds more than the allowance. Of a failed call it still tells the code and the effect.
func (b *bridge) admit(call *request, result json.RawMessage, err error) reply {
	r := reply{call: call.n, id: call.id, ok: err == nil, text: result, err: err, tool: call.tool, input: len(call.input)}
	if err != nil {
		r.text = failedReply(err).text(b.replyLimit())
	}
	r.charge = int64(len(r.text))
	if b.inbox.Add(r.charge) > b.cell.limits.inbox {
		b.inbox.Add(-r.charge)
		r.ok, r.text, r.charge = false, controlReply(inboxText, err), 0
	}
	return r
}

// replyLimit is the size of a failed call's reply, at most: what a result could show of it, and what has room in the inbox by
// itself.
func (b *bridge) replyLimit() int { return min(b.cell.limits.output, int(b.cell.limits.inbox)) }

// errorReply has the fields of the guest's Error for a failed call.
type errorReply struct {
	Message      jsonString            `json:"message"`
	Code         toolcatalog.ErrorCode `json:"code"`
	EffectStatus string                `json:"effectStatus"`
}

// failedReply says what is known of a failed call. Nothing is known of a nil error.
func failedReply(err error) errorReply {
	r := errorReply{Code: toolcatalog.CodeToolError, EffectStatus: toolcatalog.EffectStatusUnknown}
	call := (*toolcatalog.CallError)(nil)
	switch {
	case errors.As(err, &call):
		r = errorReply{jsonString(call.Message()), call.Code, call.EffectStatus}
	case err != nil:
		r.Message = jsonString(err.Error())
	}
	return r
}

// text is the JSON of a reply. It takes no more than limit bytes: of a long message, its start is kept.
func (r errorReply) text(limit int) []byte {
	message := string(r.Message)
	r.Message = ""
	frame, _ := marshal(r)
	r.Message = jsonString(truncateError(message, limit-len(frame)+len(`""`)))
	text, _ := marshal(r)
	return text
}

// controlReply says, in place of a call's reply, why the program is not given that. The call itself may have failed with an
// error.
func controlReply(message jsonString, err error) []byte {
	r := failedReply(err)
	r.Message = message
	text, _ := marshal(r)
	return text
}

// next waits for one event and hands it to the guest. When the cell's time is over it is errPause.
func (b *bridge) next() error {
	c := b.cell
	if b.alone != nil {
		return b.runAlone()
	}
	select {
	case r := <-b.replies:
		b.ready = append(b.ready, r)
	default:
	}
	if len(b.ready) > 0 {
		return b.nextReady()
	}
	approved, asking := b.approvals.total()
	var wake time.Time // when waiting ends without an event; zero for never
	if (!c.source.AwaitResults || len(b.flying) == 0 || len(b.timers) > 0) && !asking {
		wake = c.deadline
	} else if c.executor.opts.Headless {
		wake = c.wall
	}
	if len(b.timers) > 0 && (wake.IsZero() || b.timers[0].at.Before(wake)) {
		wake = b.timers[0].at
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
		b.ready = append(b.ready, r)
		return b.nextReady()
	case <-c.ctx.Done():
		return engine.ErrCanceled
	case <-b.approvals.changed:
		b.credit(began, approved)
		return nil
	case now := <-alarm:
		b.credit(began, approved)
		if len(b.timers) > 0 && !b.timers[0].at.After(now) {
			if b.short() {
				return errPause
			}
			return b.fire()
		}
		if !now.Before(c.deadline) {
			return errPause
		}
		return nil
	}
}

// nextReady hands the oldest reply to the guest, if there is time to. An end from outside comes first: the error of a cancelled
// tool is not the program's.
func (b *bridge) nextReady() error {
	if b.cell.ctx.Err() != nil {
		return engine.ErrCanceled
	}
	if b.short() {
		return errPause
	}
	r := b.ready[0]
	b.ready = slices.Delete(b.ready, 0, 1)
	return b.deliver(r)
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
		c.extend(c.deadline.Add(spent))
	}
}

func (b *bridge) fire() error {
	id := b.timers[0].id
	b.timers = slices.Delete(b.timers, 0, 1)
	_, err := b.cell.vm.Call(b.cell.vm.Named(guest.Fire), engine.Int(id))
	return err
}

// parse makes a value of the guest. One that is nested deeper than the engine's parser goes, or larger than the cell's
// memory, is not readable.
func (b *bridge) parse(text []byte) (value engine.Value, readable bool, err error) {
	vm := b.cell.vm
	value, err = vm.ParseJSON(text)
	if thrown := (*engine.Exception)(nil); errors.As(err, &thrown) {
		vm.Free(thrown.Value)
		return value, false, nil
	}
	if errors.Is(err, engine.ErrNoRoom) {
		return value, false, nil
	}
	return value, true, err
}

// deliver settles a call's promise in the guest.
func (b *bridge) deliver(r reply) error {
	vm := b.cell.vm
	b.flying = slices.DeleteFunc(b.flying, func(f request) bool { return f.n == r.call })
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
	value, readable, err := b.parse(r.text)
	if !readable {
		function = guest.Reject
		value, err = vm.ParseJSON(controlReply(unreadableText, r.err))
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
