package codemode

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
	"github.com/cellmode/cellmode/internal/source"
	"github.com/cellmode/cellmode/toolcatalog"
)

// ExecutorOptions configure an [Executor]. A nil *ExecutorOptions means all defaults.
type ExecutorOptions struct {
	// RunID names the agent's run, in the runtime's log, and as the owner of its waiting cells in Cells: who resumes one
	// must have the same. So it must be one that outlives the process, and the turns over which a cell may wait. It may be
	// empty.
	RunID string

	// SessionID names the session whose values Store keeps, and the session in the runtime's log. It may be empty if there is
	// no Store.
	SessionID string

	// Store keeps small values of the session for later turns: store and load in a cell. If nil, what a cell stores is there
	// for later cells of the executor, and ends with it. With a Store there must be a SessionID. The executor does not
	// close it, but waits for it, see [SessionStore].
	Store SessionStore

	// Cells keeps waiting cells beyond this process: any process with the same engine, the same tools and this store can
	// resume them. Its executor must have the same RunID and SessionID. Nil: a waiting cell ends with its executor. The
	// executor does not close it.
	Cells CellStore

	// Headless is for programs that nobody waits for, of a scheduler or a test: a cell never ends its call waiting. It goes
	// on until it ends, with a budget of Options.Timeout for each stretch of work between its waits, until HeadlessTimeout
	// has passed; yield_control resumes at once. It may make HeadlessCalls tool calls; one more fails it with
	// [CodeToolBudgetExceeded] before it is made. There is no store and load, and nothing too large to be shown is kept by
	// itself.
	Headless bool

	// HeadlessTimeout is what a headless cell may take in all. Default [DefaultHeadlessTimeout], at most
	// [MaxHeadlessTimeout].
	HeadlessTimeout time.Duration

	// HeadlessCalls is how many tool calls a headless cell may make. Default [DefaultHeadlessCalls], at most
	// [MaxHeadlessCalls].
	HeadlessCalls int

	// Model is what the model can be shown of one result. Zero for no limit but MaxOutputBytes, and [MaxNetworkChars] for
	// content from the network.
	Model Model
}

// Defaults and limits of headless cells.
const (
	DefaultHeadlessTimeout = 30 * time.Second
	MaxHeadlessTimeout     = 15 * time.Minute

	DefaultHeadlessCalls = 5
	MaxHeadlessCalls     = 200
)

// headlessCalls is HeadlessCalls with its default filled in.
func (o *ExecutorOptions) headlessCalls() int {
	return clamp(o.HeadlessCalls, DefaultHeadlessCalls, 1, MaxHeadlessCalls)
}

// Executor runs the cells of one agent turn over one catalog. It is safe for concurrent use. Making one
// is cheap, whatever the size of the catalog.
type Executor struct {
	runtime *Runtime
	catalog *toolcatalog.Catalog
	opts    ExecutorOptions
	scope   string
	results *Results

	session    SessionStore // what store and load work on
	sessionKey string
	keeps      bool // it outlives the executor

	calls, searches, describes atomic.Int64

	running sync.WaitGroup // cells, tool functions and calls of stores
	ending  writeLock      // held by Close: who closes next waits for its end

	mu     sync.Mutex
	closed bool
	cells  map[*cell]struct{} // that run or wait here
	left   []*cell            // that are in the store, to be gone on with by another executor
}

// ExecInput is what the model gives to exec.
type ExecInput struct {
	// Title says in a few words what the cell does, for people. Required, at most 120 characters.
	Title string
	// Code is the program: the body of an async function. At most 2 MiB of UTF-8 without NUL.
	Code string
	// Command is another name for Code, for hooks and policies that rewrite a call. If both are given
	// they must be equal. Models are not offered it.
	Command string
	// RestartSafe lets the cell call only tools whose definition says ReplaySafe. Any other call fails
	// the cell before it is dispatched.
	RestartSafe bool
	// AwaitResults keeps the time in which the cell only waits for tools from counting against the
	// time budget.
	AwaitResults bool
}

// WaitInput is what the model gives to wait.
type WaitInput struct {
	RunID string // of a waiting result
}

// NewExecutor makes an executor over a catalog. The caller must close it. It is an error if there is no catalog, or a
// [SessionStore] without a SessionID, and [ErrClosed] if the runtime is closed.
func (r *Runtime) NewExecutor(catalog *toolcatalog.Catalog, opts *ExecutorOptions) (*Executor, error) {
	if catalog == nil {
		return nil, errors.New("codemode: NewExecutor needs a catalog")
	}
	var scope [12]byte
	_, _ = rand.Read(scope[:])
	e := &Executor{
		runtime: r, catalog: catalog, scope: hex.EncodeToString(scope[:]), results: newResults(r.limits.inbox),
		cells: map[*cell]struct{}{}, ending: make(writeLock, 1),
	}
	if opts != nil {
		e.opts = *opts
	}
	if e.opts.Store != nil && e.opts.SessionID == "" {
		return nil, errors.New("codemode: ExecutorOptions has a Store but no SessionID: set it to the session whose values the store keeps, " +
			"or leave Store nil to keep them for this executor only")
	}
	e.session, e.sessionKey = e.opts.Store, e.opts.SessionID
	if e.keeps = e.session != nil; !e.keeps {
		e.session, e.sessionKey = NewMemoryStore(), "turn"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	r.executors[e] = struct{}{}
	return e, nil
}

// Exec runs a cell until it ends, or has to wait: for tool calls that have not ended when its time is over, or because it
// asked for it (yield_control). The result is then [StatusWaiting], and [Executor.Wait] goes on with the cell. A cell that
// fails is a result like any other: the model reads it and tries again.
//
// The tools get a context with the values of ctx. It is cancelled when the cell has ended, when ctx or the context of the Wait
// that runs the cell is, and when the executor is closed; not when a call has ended with the cell waiting.
func (e *Executor) Exec(ctx context.Context, in ExecInput) Result {
	if ctx.Err() != nil { // it comes before what is wrong with the input
		return e.run(ctx, source.Cell{})
	}
	cell, err := source.Input{
		Title: in.Title, Code: in.Code, Command: in.Command, RestartSafe: in.RestartSafe, AwaitResults: in.AwaitResults,
	}.Cell()
	if err != nil {
		return e.invalid(err)
	}
	return e.run(ctx, cell)
}

// Wait goes on with a waiting cell, with a fresh time budget, and gives its next result: what it has emitted since the last
// one, and its value if it has completed. A cell that waits on may be waited for again, under the same id.
//
// An id that cannot be waited for is a failed result with [CodeInvalidInput], and changes nothing: the cell, if there is
// one, is still there for who may resume it. Behind [Result.Err] are, in this order, [ErrResuming] (another call resumes
// the cell), [ErrNotWaiting] (unknown, ended or expired), [ErrForeignCell] (of another run or session); and for cells of a
// [CellStore] [ErrUnusableCell] and [ErrCellStore].
func (e *Executor) Wait(ctx context.Context, in WaitInput) Result {
	call := e.newCell(ctx, source.Cell{}) // stands for the cell until that is found
	if !e.enter() {
		return call.aborted(PhaseHost, ErrClosed)
	}
	defer e.running.Done()
	if ctx.Err() != nil {
		return call.aborted(PhaseHost, context.Cause(ctx))
	}
	id := strings.TrimSpace(in.RunID)
	if id == "" {
		return e.invalid(errors.New("runId must be a string that is not blank: that at the top level of a result whose status is waiting"))
	}
	if e.opts.Headless {
		return e.invalid(fmt.Errorf("%w for a headless executor", ErrNotWaiting))
	}
	timeout := e.runtime.limits.timeout
	deadline := time.Now().Add(timeout / 2) // of looking for it
	stop := context.AfterFunc(ctx, func() { call.cancel(context.Cause(ctx)) })
	e.register(call)
	c, err := e.find(call.ctx, id, deadline)
	e.leave(call)
	stop()
	if errors.Is(err, engine.ErrCanceled) {
		return call.aborted(PhaseHost, context.Cause(call.ctx))
	}
	if err != nil {
		return e.invalid(err)
	}
	if err := c.restore(); err != nil {
		e.putBack(c)
		return e.invalid(fmt.Errorf("%w: %w", ErrUnusableCell, err))
	}
	c.deadline = time.Now().Add(timeout)
	return e.runLeg(ctx, c, c.resume)
}

// Handle runs a call as the model made it: the name of the tool and its arguments as JSON. What is
// wrong with the arguments is in the Result. An error means that no tool has this name.
func (e *Executor) Handle(ctx context.Context, name string, args json.RawMessage) (Result, error) {
	switch name {
	case ExecTool:
		cell, err := source.Read(args)
		if err != nil && ctx.Err() == nil {
			return e.invalid(err), nil
		}
		return e.run(ctx, cell), nil
	case WaitTool:
		var in struct {
			RunID string `json:"runId"`
			Alias string `json:"run_id"`
		}
		if err := json.Unmarshal(args, &in); err != nil {
			return e.invalid(errors.New("wait takes an object with the string runId")), nil
		}
		if in.RunID == "" {
			in.RunID = in.Alias
		}
		return e.Wait(ctx, WaitInput{RunID: in.RunID}), nil
	}
	return Result{}, fmt.Errorf("codemode: no tool %q: the tools are %s and %s", name, ExecTool, WaitTool)
}

// run executes a checked cell.
func (e *Executor) run(ctx context.Context, src source.Cell) Result {
	c := e.newCell(ctx, src)
	if !e.enter() {
		return c.aborted(PhaseHost, ErrClosed)
	}
	defer e.running.Done()
	if ctx.Err() != nil {
		return c.aborted(PhaseHost, context.Cause(ctx))
	}
	if e.opts.Headless {
		c.wall = time.Now().Add(clamp(e.opts.HeadlessTimeout, DefaultHeadlessTimeout, 1, MaxHeadlessTimeout))
	}
	c.renew(time.Now())
	return e.runLeg(ctx, c, c.begin)
}

// newCell makes a cell that has not begun. Its context outlives ctx, of which it has the values.
func (e *Executor) newCell(ctx context.Context, src source.Cell) *cell {
	c := &cell{executor: e, limits: &e.runtime.limits, source: src}
	c.bridge.cell = c
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if e.opts.Cells != nil {
		c.writing = make(writeLock, 1)
	}
	return c
}

// runLeg runs a cell until it has ended or waits, or until one of its limits has passed while a tool has its goroutine.
func (e *Executor) runLeg(ctx context.Context, c *cell, begin func() leg) Result {
	c.stint = nil
	c.caller = func() bool { return true }
	if ctx.Done() != nil {
		c.caller = context.AfterFunc(ctx, func() { c.cancel(context.Cause(ctx)) })
	}
	e.register(c)
	l := begin()
	if l.outcome == toolAlone {
		l = e.detach(c)
	}
	if l.outcome == ended {
		c.end(errors.Is(l.result.err, ErrClosed))
	}
	return l.result
}

// detach gives the cell a goroutine of its own.
func (e *Executor) detach(c *cell) leg {
	s := &stint{result: make(chan leg, 1)}
	c.stint = s
	timer := time.NewTimer(time.Until(c.deadline))
	defer timer.Stop()
	e.running.Add(1)
	go c.loop()
	select {
	case l := <-s.result:
		return l
	case <-c.ctx.Done():
		if s.abandon(engine.ErrCanceled) {
			return leg{c.stopped(engine.ErrCanceled), ended}
		}
	case <-timer.C:
		if s.abandon(engine.ErrDeadline) {
			return *c.pause()
		}
	}
	return <-s.result
}

// Results gives what the cells of the executor saved, for the host to look at, to add to and to delete.
func (e *Executor) Results() *Results { return e.results }

// enter begins a call. The result is false if the executor is closed.
func (e *Executor) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.running.Add(1)
	return true
}

// register lets Close end a cell.
func (e *Executor) register(c *cell) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cells[c] = struct{}{}
	if e.closed {
		c.cancel(ErrClosed)
	}
}

// leave forgets a cell that has ended, or that the store has.
func (e *Executor) leave(c *cell) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.cells, c)
}

// leftBehind notes a cell of the store whose lease is given back when the executor's tools have returned.
func (e *Executor) leftBehind(c *cell) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left = append(e.left, c)
}

// Close ends the turn: running cells fail as aborted, waiting ones are dropped, their tool calls and calls of stores are
// cancelled, and Close waits for all of these to return. Cells that are in a [CellStore] are not dropped: they stay there
// until they expire, as they were when their last calls were made. It may be called more than once.
func (e *Executor) Close() error {
	e.cancel()
	e.ending.Lock()
	defer e.ending.Unlock()
	e.running.Wait()
	e.results.close()
	e.mu.Lock()
	left := e.left
	e.left = nil
	e.mu.Unlock()
	for _, c := range left {
		c.writing.Lock()
		c.giveBack()
		c.writing.Unlock()
	}
	e.running.Wait()
	e.runtime.mu.Lock()
	defer e.runtime.mu.Unlock()
	delete(e.runtime.executors, e) // last: Runtime.Close waits for those that it finds
	return nil
}

// cancel ends what runs and what waits, and refuses what comes.
func (e *Executor) cancel() {
	e.mu.Lock()
	e.closed = true
	for c := range e.cells {
		c.cancel(ErrClosed)
	}
	e.mu.Unlock()
	for _, c := range e.runtime.parking.take(func(at *place) bool { return at.executor == e }) {
		c.drop(ErrClosed)
	}
}

// count counts a question for the telemetry.
func (e *Executor) count(question int32) {
	switch question {
	case guest.AskSearch:
		e.searches.Add(1)
	case guest.AskDescribe:
		e.describes.Add(1)
	}
}

func (e *Executor) invalid(err error) Result {
	c := &cell{executor: e, limits: &e.runtime.limits}
	return c.failed(CodeInvalidInput, PhaseInput, err.Error(), err)
}

func (e *Executor) telemetry() Telemetry {
	return Telemetry{
		CatalogSize:   e.catalog.Len(),
		Sources:       SourceCounts{Native: e.catalog.Count(toolcatalog.Native), Client: e.catalog.Count(toolcatalog.Client)},
		CounterScope:  e.scope,
		SearchCount:   e.searches.Load(),
		DescribeCount: e.describes.Load(),
		CallCount:     e.calls.Load(),
		VisibleTools:  []string{ExecTool, WaitTool},
	}
}
