// Package engine runs untrusted JavaScript in QuickJS, compiled to WebAssembly, inside this process.
//
// An [Engine] compiles the engine binary once. An [Image] is a VM that was prepared (built-ins
// removed or added, code evaluated) and frozen. [Image.Acquire] makes a fresh [VM] by copying the
// image over the memory of a used one, which costs some microseconds:
//
//	eng, err := engine.New(ctx, nil)
//	img, err := eng.NewImage(ctx, nil)
//	vm, err := img.Acquire(ctx)
//	defer vm.Release()
//	vm.Limit(time.Now().Add(time.Second), ctx.Done())
//	v, err := vm.Eval([]byte("1 + 1"), "cell.js", 0)
//
// The package knows bytes, budgets and host calls. It knows no tool, no catalog, no schema.
//
// # What the sandbox rests on
//
// The binary is the one inside github.com/fastschema/qjs, taken by its hash and rewritten by package
// harden: every loop counts down and asks the host at zero, large copies do so at once, the C stack
// has a lower bound, the allocator tells true sizes, and no module, file, socket or exit exists.
// [New] proves that on a real instance before it answers. Where anything of this fails there is no
// engine: an [*UnavailableError], and no fallback.
//
// # Limits
//
// A deadline or a cancelled context ([VM.Limit]) ends any guest code, the engine's own loops
// included, typically within a millisecond; other VMs and Go's garbage collector go on meanwhile, for
// the host is asked many times a millisecond, and each such call is a safe point. The memory limit
// gives the guest an InternalError (out of memory), the stack limit a RangeError, both of which it can
// catch. What ended a VM for good is told apart by [ErrDeadline], [ErrCanceled], [ErrMemory],
// [ErrStack] and [*TrapError].
//
// # Concurrency
//
// An Engine and an Image are safe for concurrent use. A VM belongs to one goroutine at a time.
package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	_ "unsafe" // for go:linkname

	_ "github.com/fastschema/qjs" // holds the engine binary
	"github.com/tetratelabs/wazero"

	"github.com/cellmode/cellmode/internal/engine/harden"
)

//go:linkname wasmBytes github.com/fastschema/qjs.wasmBytes
var wasmBytes []byte

// Options configure an [Engine]. A nil *Options means all defaults.
type Options struct {
	// CacheDir is where compiled code is kept between processes: machine code that this process
	// runs, so nobody else may be able to write there. Empty for none.
	CacheDir string
	// MemoryLimit is what each guest may take, in bytes, on top of its image. Zero for 64 MiB.
	MemoryLimit int64
	// MaxIdle is how many unused VMs are kept for each image. Zero for 32.
	MaxIdle int
	// Logger is told what goes wrong without failing, such as a broken cache. Nil for none.
	Logger *slog.Logger
}

const (
	defaultMemoryLimit = 64 << 20
	defaultMaxIdle     = 32
	// maxImage is the room for an image in a VM's address space.
	maxImage = 8 << 20
)

// Engine is the compiled engine and its pool of VMs.
type Engine struct {
	runtime     wazero.Runtime
	module      wazero.CompiledModule
	cache       wazero.CompilationCache
	logger      *slog.Logger
	memoryLimit int64
	capacity    int64 // address space of a VM
	maxIdle     int
	active      sync.WaitGroup // VMs between Acquire and Release
	live        atomic.Int64   // instances that exist

	mu     sync.Mutex
	images []*Image
	closed bool
}

var discard = slog.New(slog.DiscardHandler)

// anonymous lets one module have many instances, none of which runs anything at its start.
var anonymous = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// New compiles the engine and proves that its hardening works. Every error but the context's is an
// [*UnavailableError].
func New(ctx context.Context, opts *Options) (*Engine, error) { return newEngine(ctx, opts, wasmBytes) }

func newEngine(ctx context.Context, opts *Options, binary []byte) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.MemoryLimit == 0 {
		o.MemoryLimit = defaultMemoryLimit
	}
	if o.MaxIdle == 0 {
		o.MaxIdle = defaultMaxIdle
	}
	if o.Logger == nil {
		o.Logger = discard
	}
	e := &Engine{
		logger: o.Logger, memoryLimit: o.MemoryLimit, maxIdle: o.MaxIdle,
		capacity: (o.MemoryLimit + maxImage + pageSize - 1) / pageSize * pageSize,
	}
	hardened, err := e.harden(binary, o.CacheDir)
	if err != nil {
		return nil, err
	}
	if err := e.compile(ctx, hardened, o.CacheDir); err != nil {
		return nil, &UnavailableError{Stage: "compile", Err: err}
	}
	if err := e.selfCheck(ctx); err != nil {
		_ = e.Close()
		return nil, &UnavailableError{Stage: "self-check", Err: err}
	}
	return e, nil
}

// harden gives the rewritten binary: the one in the cache if its hash is right, else a new one.
func (e *Engine) harden(binary []byte, cacheDir string) ([]byte, error) {
	path := filepath.Join(cacheDir, "engine-"+rewrittenSHA256[:16]+".wasm")
	if cacheDir != "" {
		sum := sha256.Sum256(binary)
		if text, err := os.ReadFile(path); err == nil && hex.EncodeToString(sum[:]) == harden.SHA256 {
			if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) == rewrittenSHA256 {
				return text, nil
			}
			e.logger.Warn("code mode: cached engine is damaged; it is made again", "path", path)
		}
	}
	text, err := harden.Rewrite(binary)
	if hashErr := (*harden.HashError)(nil); errors.As(err, &hashErr) {
		return nil, &UnavailableError{Stage: "verify", Err: err}
	} else if err != nil {
		return nil, &UnavailableError{Stage: "rewrite", Err: err}
	}
	if cacheDir != "" {
		if err := writeFile(path, text); err != nil {
			e.logger.Warn("code mode: engine is not cached", "path", path, "error", err)
		}
	}
	return text, nil
}

// writeFile puts a file in place in one step, so that processes which start at once never read half
// of it.
func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".engine-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// compile sets runtime, module and cache. A cache that cannot be used costs time, not the engine.
func (e *Engine) compile(ctx context.Context, hardened []byte, cacheDir string) error {
	if cacheDir != "" {
		dir := filepath.Join(cacheDir, "wazero")
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			e.cache, err = wazero.NewCompilationCacheWithDir(dir)
		}
		if err == nil {
			if err = e.compileWith(ctx, hardened, wazero.NewRuntimeConfig().WithCompilationCache(e.cache)); err == nil {
				return nil
			}
			_ = e.cache.Close(ctx)
			e.cache = nil
		}
		if ctx.Err() != nil {
			return err
		}
		e.logger.Warn("code mode: cache of compiled code is unusable; starting without it", "dir", dir, "error", err)
	}
	return e.compileWith(ctx, hardened, wazero.NewRuntimeConfig())
}

func (e *Engine) compileWith(ctx context.Context, hardened []byte, config wazero.RuntimeConfig) (err error) {
	rt := wazero.NewRuntimeWithConfig(ctx, config.WithDebugInfoEnabled(false))
	defer func() {
		if err != nil {
			_ = rt.Close(ctx)
		}
	}()
	module, err := rt.CompileModule(ctx, hardened)
	if err != nil {
		return err
	}
	if err := defineHost(ctx, rt, module); err != nil {
		return err
	}
	e.runtime, e.module = rt, module
	return nil
}

// Close ends the engine: no VM can be acquired from now on, and Close waits for those in use.
// It may be called more than once.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	var idle []*VM
	for _, img := range e.images {
		idle = append(idle, img.idle...)
		img.idle = nil
	}
	e.mu.Unlock()
	for _, vm := range idle {
		vm.close()
	}
	e.active.Wait()
	ctx := context.Background()
	err := e.runtime.Close(ctx)
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(ctx))
	}
	return err
}

// Live gives the number of VM instances that exist, idle ones included.
func (e *Engine) Live() int { return int(e.live.Load()) }

const rewrittenSHA256 = "5e408101fb87cc7a7a76e0f591637f42e2befe1fe21991d7b0ebc9cdc2095977"
