package codemode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
)

// Defaults and ranges of [Options]. A value of zero or less is the default; others are moved into
// the range.
const (
	DefaultTimeout = 10 * time.Second
	MinTimeout     = 100 * time.Millisecond
	MaxTimeout     = 60 * time.Second

	DefaultMemoryLimitBytes = 64 << 20
	MinMemoryLimitBytes     = 1 << 20
	MaxMemoryLimitBytes     = 1 << 30

	DefaultMaxOutputBytes = 64 << 10
	MinMaxOutputBytes     = 1 << 10
	MaxMaxOutputBytes     = 10 << 20

	DefaultMaxSnapshotBytes = 10 << 20
	MinMaxSnapshotBytes     = 1 << 10
	MaxMaxSnapshotBytes     = 256 << 20

	DefaultMaxPendingToolCalls = 16
	MaxMaxPendingToolCalls     = 128

	DefaultSnapshotTTL = 15 * time.Minute
	MinSnapshotTTL     = time.Second
	MaxSnapshotTTL     = 24 * time.Hour

	DefaultMaxSuspended = 64
	MaxMaxSuspended     = 1 << 16

	DefaultCellLease = 5 * time.Second
	MinCellLease     = 100 * time.Millisecond
	MaxCellLease     = time.Hour

	DefaultSearchLimit    = 8
	DefaultMaxSearchLimit = 50
	MaxMaxSearchLimit     = 50
)

// maxQueued is how many requests of a cell may wait for a place beyond those in flight.
const maxQueued = 128

// Options configure a [Runtime]. A nil *Options means all defaults.
type Options struct {
	// Timeout is the time that one Exec may take, the cell's own work and its waiting for tools
	// together. Only the commit of what the cell has stored may take up to a second more, see [SessionStore]. Default
	// [DefaultTimeout], from [MinTimeout] to [MaxTimeout].
	Timeout time.Duration

	// MemoryLimitBytes is the memory that a cell may take on top of what its VM has at rest (about
	// 1 MiB). Reaching it is an InternalError in the cell, which it may catch. Default
	// [DefaultMemoryLimitBytes], from [MinMemoryLimitBytes] to [MaxMemoryLimitBytes].
	MemoryLimitBytes int64

	// MaxOutputBytes bounds what a result shows: emitted output, returned value and error text together,
	// in bytes of compact JSON. What does not fit is cut and says so. [ExecutorOptions].Model can set a
	// smaller limit, and a result with content from the network has one in any case, [MaxNetworkChars].
	// Default [DefaultMaxOutputBytes], from [MinMaxOutputBytes] to [MaxMaxOutputBytes].
	MaxOutputBytes int64

	// MaxSnapshotBytes together with MemoryLimitBytes bounds what the host holds for cells. The smaller of the two is an
	// allowance in bytes of JSON, for each of three: the tool results that wait to be taken up by a cell, any other answer
	// to a cell, and all values together that the cells of an executor have saved ([Results]). What does not fit fails its
	// call, with an error that the cell can catch. Default [DefaultMaxSnapshotBytes], from [MinMaxSnapshotBytes] to
	// [MaxMaxSnapshotBytes].
	MaxSnapshotBytes int64

	// MaxPendingToolCalls is how many tool calls and timers of a cell run at the same time. Up to 128
	// more wait for a place; a batch beyond that is refused whole. Default
	// [DefaultMaxPendingToolCalls], from 1 to [MaxMaxPendingToolCalls].
	MaxPendingToolCalls int

	// SnapshotTTL is how long a cell waits to be resumed, counted anew each time that it begins to wait. Then it is
	// dropped, and its calls are cancelled. Default [DefaultSnapshotTTL], from [MinSnapshotTTL] to [MaxSnapshotTTL].
	SnapshotTTL time.Duration

	// MaxSuspended is how many cells of the runtime may wait at a time. A cell that may have to wait counts from its first
	// request to the host on: while that many wait or run, the next one waits for a running one to end, and fails if all
	// wait. A cell in a [CellStore] counts in the runtime that parked it until it is resumed there, expires, or its
	// executor is closed. Default [DefaultMaxSuspended], at most [MaxMaxSuspended].
	MaxSuspended int

	// CellLease is for how long at a time a process has a cell that is in a [CellStore], while it runs the cell or its tool
	// calls; it renews the lease every third of that. Others wait as long for a cell whose process has died. Default
	// [DefaultCellLease], from [MinCellLease] to [MaxCellLease].
	CellLease time.Duration

	// SearchDefaultLimit is how many tools a search of the catalog gives when the cell does not say, and
	// MaxSearchLimit how many it gives at most. Defaults [DefaultSearchLimit] and
	// [DefaultMaxSearchLimit], from 1 to MaxSearchLimit and from 1 to [MaxMaxSearchLimit].
	SearchDefaultLimit, MaxSearchLimit int

	// CacheDir is where the compiled engine is kept between processes. It holds machine code that
	// this process runs: nobody else may be able to write there. Empty for os.UserCacheDir()/cellmode,
	// "off" for none. A directory that cannot be used costs start-up time (half a second or so),
	// nothing else.
	CacheDir string

	// Logger is told what goes wrong on the host's side without failing a call. Nil for none.
	Logger *slog.Logger
}

// limits are Options with every default filled in and every value in its range.
type limits struct {
	timeout    time.Duration
	memory     int64
	output     int
	inbox      int64
	maxPending int

	snapshot            int64
	snapshotTTL, lease  time.Duration
	maxSuspended        int
	search, maxSearched int
}

func (o *Options) limits() limits {
	snapshot := clamp(o.MaxSnapshotBytes, DefaultMaxSnapshotBytes, MinMaxSnapshotBytes, MaxMaxSnapshotBytes)
	memory := clamp(o.MemoryLimitBytes, DefaultMemoryLimitBytes, MinMemoryLimitBytes, MaxMemoryLimitBytes)
	maxSearched := clamp(o.MaxSearchLimit, DefaultMaxSearchLimit, 1, MaxMaxSearchLimit)
	return limits{
		snapshot:     snapshot,
		maxSuspended: clamp(o.MaxSuspended, DefaultMaxSuspended, 1, MaxMaxSuspended),
		lease:        clamp(o.CellLease, DefaultCellLease, MinCellLease, MaxCellLease),

		snapshotTTL: clamp(o.SnapshotTTL, DefaultSnapshotTTL, MinSnapshotTTL, MaxSnapshotTTL),
		search:      clamp(o.SearchDefaultLimit, min(DefaultSearchLimit, maxSearched), 1, maxSearched),
		maxSearched: maxSearched,

		timeout:    clamp(o.Timeout, DefaultTimeout, MinTimeout, MaxTimeout),
		memory:     memory,
		output:     int(clamp(o.MaxOutputBytes, DefaultMaxOutputBytes, MinMaxOutputBytes, MaxMaxOutputBytes)),
		inbox:      min(memory, snapshot),
		maxPending: clamp(o.MaxPendingToolCalls, DefaultMaxPendingToolCalls, 1, MaxMaxPendingToolCalls),
	}
}

// searchLimit is how many results a search gives that asks for n of them, or for none in particular.
func (l *limits) searchLimit(n int) int {
	if n <= 0 {
		return l.search
	}
	return min(n, l.maxSearched)
}

func clamp[T int | int64 | time.Duration](v, otherwise, least, most T) T {
	if v <= 0 {
		return otherwise
	}
	return min(max(v, least), most)
}

// Runtime is the compiled engine with its pool of VMs: one for a process. It is safe for concurrent
// use.
type Runtime struct {
	limits limits
	logger *slog.Logger
	engine *engine.Engine
	plain  *engine.Image // for most cells
	web    *engine.Image // for those that mention a web API

	parking parking

	mu        sync.Mutex
	closed    bool
	executors map[*Executor]struct{}
}

// NewRuntime compiles the engine and proves that its sandbox holds: some tens of milliseconds with a warm
// cache, half a second or so without. An engine that cannot be used is [ErrRuntimeUnavailable].
func NewRuntime(ctx context.Context, opts *Options) (*Runtime, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Runtime{limits: o.limits(), logger: o.Logger, executors: map[*Executor]struct{}{}}
	r.parking = parking{slots: r.limits.maxSuspended, ttl: r.limits.snapshotTTL, places: map[string]*place{}}
	eng, err := engine.New(ctx, &engine.Options{CacheDir: cacheDir(o.CacheDir), MemoryLimit: r.limits.memory, Logger: o.Logger})
	if err != nil {
		return nil, unavailable(err)
	}
	r.engine = eng
	for _, image := range []**engine.Image{&r.plain, &r.web} {
		if *image, err = guest.NewImage(ctx, eng, image == &r.web); err != nil {
			return nil, errors.Join(unavailable(err), eng.Close())
		}
	}
	return r, nil
}

func unavailable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w (%s): %w", ErrRuntimeUnavailable, CodeRuntimeUnavailable, err)
}

func cacheDir(option string) string {
	switch option {
	case "off":
		return ""
	case "":
		dir, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(dir, "cellmode")
	}
	return option
}

// Close closes every executor and frees the engine. It cancels the calls of tools and session stores in progress and waits
// for them to return. It may be called more than once.
func (r *Runtime) Close() error {
	r.mu.Lock()
	r.closed = true
	open := make([]*Executor, 0, len(r.executors))
	for e := range r.executors {
		open = append(open, e)
	}
	r.mu.Unlock()
	for _, e := range open { // all at once, before waiting for the first
		e.cancel()
	}
	for _, e := range open {
		_ = e.Close()
	}
	r.parking.close()
	return r.engine.Close()
}
