package codemode

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
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
	// RunID names the agent's run in the runtime's log. It may be empty.
	RunID string

	// SessionID names the session whose values store and load of a cell work on, and the session in the runtime's log. It
	// may be empty.
	SessionID string

	// Store keeps small values of the session for later turns: store and load in a cell. Nil, or no SessionID: what a cell
	// stores is there for later cells of the executor, and ends with it. The executor does not close it.
	Store SessionStore

	// Model is what the model can be shown of one result. Zero for no limit but MaxOutputBytes.
	Model Model
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

	running sync.WaitGroup // cells and tool functions

	mu     sync.Mutex
	closed bool
	cells  map[*cell]context.CancelCauseFunc
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

// NewExecutor makes an executor over a catalog. The caller must close it.
func (r *Runtime) NewExecutor(catalog *toolcatalog.Catalog, opts *ExecutorOptions) (*Executor, error) {
	if catalog == nil {
		return nil, errors.New("codemode: NewExecutor needs a catalog")
	}
	var scope [12]byte
	_, _ = rand.Read(scope[:])
	e := &Executor{runtime: r, catalog: catalog, scope: hex.EncodeToString(scope[:]), results: newResults(r.limits.inbox), cells: map[*cell]context.CancelCauseFunc{}}
	if opts != nil {
		e.opts = *opts
	}
	e.session, e.sessionKey = e.opts.Store, e.opts.SessionID
	if e.keeps = e.session != nil && e.sessionKey != ""; !e.keeps {
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

// Exec runs a cell to its end. A cell that fails is a result like any other: the model reads it and tries
// again. The tools get a context that is derived from ctx and cancelled when the cell has ended, when
// ctx is, and when the executor is closed.
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

// Wait resumes a waiting cell. In this version no cell is ever parked (a cell whose tools have not
// answered by its deadline fails with a timeout), so that every run id is unknown.
func (e *Executor) Wait(ctx context.Context, in WaitInput) Result {
	return e.invalid(fmt.Errorf("no waiting cell has the runId %.64q: pass the top-level runId of an exec result whose status is waiting", in.RunID))
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

// run executes a checked cell. It returns when the cell has ended, or when one of its limits has passed while a tool has the
// goroutine of a detached cell.
func (e *Executor) run(ctx context.Context, src source.Cell) Result {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &cell{executor: e, limits: &e.runtime.limits, source: src, ctx: ctx}
	if !e.enter(c, cancel) {
		return c.aborted(PhaseHost, ErrClosed)
	}
	if ctx.Err() != nil {
		e.leave(c)
		return c.aborted(PhaseHost, context.Cause(ctx))
	}
	r, why := c.begin()
	if why == ended {
		c.close()
		return r
	}
	c.detached, c.result = true, make(chan Result, 1)
	timer := time.NewTimer(time.Until(c.deadline))
	defer timer.Stop()
	go c.loop()
	var limit error
	select {
	case r := <-c.result:
		return r
	case <-ctx.Done():
		limit = engine.ErrCanceled
	case <-timer.C:
		limit = engine.ErrDeadline
	}
	if c.abandon(limit) {
		r := c.stopped(limit)
		c.vm.Release() // the cell's goroutine will not touch it again
		return r
	}
	return <-c.result
}

// guarded calls what may come to code of the host's. A panic there is an error here, whose details are for the log.
func (e *Executor) guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e.runtime.logger.Error("code mode: the host's code panicked", "run", e.opts.RunID, "session", e.opts.SessionID,
				"panic", p, "stack", string(debug.Stack()))
			err = errHostPanic
		}
	}()
	return f()
}

var errHostPanic = errors.New("the host's own code panicked; its log has the details")

// Results gives what the cells of the executor saved, for the host to look at, to add to and to delete.
func (e *Executor) Results() *Results { return e.results }

func (e *Executor) enter(c *cell, cancel context.CancelCauseFunc) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.cells[c] = cancel
	e.running.Add(1)
	return true
}

func (e *Executor) leave(c *cell) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.cells, c)
	e.running.Done()
}

// Close ends the turn: running cells fail as aborted, their tool calls are cancelled, and Close waits for
// the tool functions to return. It may be called more than once.
func (e *Executor) Close() error {
	e.cancel()
	e.runtime.mu.Lock()
	delete(e.runtime.executors, e)
	e.runtime.mu.Unlock()
	e.running.Wait()
	e.results.close()
	return nil
}

// cancel ends what runs and refuses what comes.
func (e *Executor) cancel() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for _, cancel := range e.cells {
		cancel(ErrClosed)
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
