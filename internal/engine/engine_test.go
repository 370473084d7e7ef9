package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"go.uber.org/goleak"

	"github.com/cellmode/cellmode/internal/engine/harden"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newTestEngine gives an engine with a small memory limit, and a bare image.
func newTestEngine(tb testing.TB, opts *Options) (*Engine, *Image) {
	tb.Helper()
	if opts == nil {
		opts = &Options{MemoryLimit: 32 << 20}
	}
	e, err := New(context.Background(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
		if n := e.Live(); n != 0 {
			tb.Errorf("%d VMs are left after Close", n)
		}
	})
	img, err := e.NewImage(context.Background(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return e, img
}

func acquire(tb testing.TB, img *Image) *VM {
	tb.Helper()
	vm, err := img.Acquire(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return vm
}

// evalText runs a script whose value is a string.
func evalText(tb testing.TB, vm *VM, script string) string {
	tb.Helper()
	v, err := vm.Eval([]byte(script), "test.js", 0)
	if err != nil {
		tb.Fatalf("%s: %v", script, err)
	}
	text, err := vm.AppendString(nil, v)
	if err != nil {
		tb.Fatalf("%s: %v", script, err)
	}
	vm.Free(v)
	return string(text)
}

func TestAnotherBinaryIsRefused(t *testing.T) {
	other := append([]byte(nil), wasmBytes...)
	other[len(other)-1] ^= 1
	_, err := newEngine(t.Context(), nil, other)
	var unavailable *UnavailableError
	if !errors.As(err, &unavailable) || unavailable.Stage != "verify" {
		t.Fatalf("got %v, want an UnavailableError of the stage verify", err)
	}
	var hash *harden.HashError
	if !errors.As(err, &hash) || hash.Want != harden.SHA256 || hash.Got == hash.Want {
		t.Fatalf("got %+v", hash)
	}
	for _, part := range []string{hash.Want, hash.Got, "go get " + harden.Module + "@" + harden.Version} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if _, err := newEngine(t.Context(), nil, nil); !errors.As(err, &unavailable) {
		t.Errorf("no binary: got %v", err)
	}
}

// TestSelfCheckFindsWhatIsMissing runs the self-check on engines that lack one measure each: it must not pass.
func TestSelfCheckFindsWhatIsMissing(t *testing.T) {
	e, img := newTestEngine(t, nil)
	for name, c := range map[string]struct {
		spoil func(vm *VM)
		check func(vm *VM) error
	}{
		"a module loader":                  {func(vm *VM) { evalText(t, vm, `globalThis.std = {}; ""`) }, checkLanguage},
		"a large allocation that succeeds": {func(vm *VM) { evalText(t, vm, `globalThis.Uint8Array = function () {}; ""`) }, checkMemory},
		"no rejections": {func(vm *VM) {
			at := vm.image.rt + harden.RuntimeRejectionTracker
			copy(vm.mem.buf[at:at+4], []byte{0, 0, 0, 0})
		}, checkTracker},
	} {
		vm := acquire(t, img)
		c.spoil(vm)
		if err := c.check(vm); err == nil {
			t.Errorf("%s: the self-check passes", name)
		}
		vm.Release()
	}
	if err := e.selfCheck(t.Context()); err != nil {
		t.Errorf("the engine as it is: %v", err)
	}
}

// runaways keep the engine busy in its own loops as well as in the guest's.
var runaways = map[string]string{
	"loop":             `for (;;) {}`,
	"caught":           `for (;;) { try { for (;;) {} } catch {} }`,
	"finally":          `(function f() { for (;;) { try { return; } finally { continue; } } })()`,
	"indexOf":          `"a".repeat(1e7).indexOf("a".repeat(5e6) + "b")`,
	"array-like":       `Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)`,
	"regexp":           `/^(a+)+$/.test("a".repeat(40) + "b")`,
	"copies":           `{ let s = "x".repeat(3e6), t = "y"; for (;;) t.length + (s + t).length }`,
	"fill":             `{ const a = new Uint8Array(16e6); for (;;) a.fill(1) }`,
	"sort":             `{ const a = Array.from({ length: 2e5 }, (_, i) => i * 7919 % 200003); for (;;) a.sort((x, y) => y - x).sort() }`,
	"jobs":             `(function f() { Promise.resolve().then(f) })()`,
	"microtasks":       `(function f() { queueMicrotask(f) })()`,
	"json":             `{ const o = Array(1e5).fill({ a: [1, 2, 3] }); for (;;) JSON.parse(JSON.stringify(o)) }`,
	"bigint":           `{ let n = 3n; for (;;) { n *= n; if (n > 2n ** 100000n) n = 3n } }`,
	"proxy":            `{ const p = new Proxy({}, { get: () => { for (;;) {} } }); p.x }`,
	"getter in toJSON": `JSON.stringify({ toJSON() { for (;;) {} } })`,
	"generator":        `{ function* g() { for (;;) yield 1 } for (const x of g()) {} }`,
	"spread":           `{ const it = { *[Symbol.iterator]() { for (;;) yield } }; for (;;) { try { [...it] } catch {} } }`,
}

// TestStops ends each runaway by a deadline and by a cancelled context, and uses the engine afterwards.
func TestStops(t *testing.T) {
	_, img := newTestEngine(t, nil)
	for name, script := range runaways {
		t.Run(name, func(t *testing.T) {
			for _, how := range []error{ErrDeadline, ErrCanceled} {
				vm := acquire(t, img)
				end := time.Now().Add(60 * time.Millisecond)
				if how == ErrDeadline {
					vm.Limit(end, nil)
				} else {
					ctx, cancel := context.WithDeadline(t.Context(), end)
					defer cancel()
					vm.Limit(time.Time{}, ctx.Done())
				}
				_, err := vm.Eval([]byte(script), "test.js", 0)
				if err == nil {
					err = vm.Drain()
				}
				over := time.Since(end)
				if !errors.Is(err, how) {
					t.Errorf("got %v, want %v", err, how)
				}
				t.Logf("%v: %v past its end", how, over.Round(10*time.Microsecond))
				if _, err := vm.Eval([]byte("1"), "test.js", 0); !errors.Is(err, how) {
					t.Errorf("a stopped VM goes on: %v", err)
				}
				vm.Release()
				vm = acquire(t, img)
				if got := evalText(t, vm, `String(1 + 1)`); got != "2" {
					t.Errorf("the next VM answers %s", got)
				}
				vm.Release()
			}
		})
	}
}

// TestGarbageCollectorRuns keeps Go's collector going beside a guest that spins, in its own loops and in the engine's.
func TestGarbageCollectorRuns(t *testing.T) {
	_, img := newTestEngine(t, nil)
	for _, name := range []string{"loop", "indexOf", "copies", "regexp"} {
		end := time.Now().Add(400 * time.Millisecond)
		ended := make(chan error)
		go func() {
			vm := acquire(t, img)
			defer vm.Release()
			vm.Limit(end, nil)
			_, err := vm.Eval([]byte(runaways[name]), "test.js", 0)
			ended <- err
		}()
		collections := 0
		for time.Now().Before(end) {
			runtime.GC()
			collections++
		}
		if err := <-ended; !errors.Is(err, ErrDeadline) {
			t.Errorf("%s: got %v", name, err)
		}
		if collections < 2 {
			t.Errorf("%s: %d collections in 400 ms: the guest holds the collector", name, collections)
		}
	}
}

// TestLimits hits each limit: they are told apart, the guest can catch what it may catch, and the next VM is clean.
func TestLimits(t *testing.T) {
	_, img := newTestEngine(t, nil)
	t.Run("memory caught", func(t *testing.T) {
		vm := acquire(t, img)
		defer vm.Release()
		got := evalText(t, vm, `{ const a = []; let r; try { for (;;) a.push(new Uint8Array(1 << 20)); } catch (e) { const n = a.length; a.length = 0; r = String(e) + (n > 20 && n < 33); } r }`)
		if got != "InternalError: out of memorytrue" {
			t.Errorf("got %s", got)
		}
		if !vm.MemoryRefused() {
			t.Error("the host was not told")
		}
	})
	t.Run("memory uncaught", func(t *testing.T) {
		vm := acquire(t, img)
		defer vm.Release()
		_, err := vm.Eval([]byte(`{ let s = "x"; for (;;) s += s; }`), "test.js", 0)
		var exception *Exception
		if !errors.As(err, &exception) && !errors.Is(err, ErrMemory) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("stack", func(t *testing.T) {
		vm := acquire(t, img)
		defer vm.Release()
		got := evalText(t, vm, `{ let n = 0, r; const f = () => { n++; return f() + 1 }; try { f() } catch (e) { r = e.name + (n > 900 && n < 2000) } r }`)
		if got != "RangeErrortrue" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("deep JSON", func(t *testing.T) {
		vm := acquire(t, img)
		defer vm.Release()
		_, err := vm.ParseJSON([]byte(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)))
		var exception *Exception
		if !errors.As(err, &exception) {
			t.Errorf("got %v", err)
		}
		if got := evalText(t, vm, `"alive"`); got != "alive" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("next", func(t *testing.T) {
		vm := acquire(t, img)
		defer vm.Release()
		if vm.MemoryRefused() || len(vm.mem.buf) != img.Size() {
			t.Errorf("a fresh VM has %d bytes, its image %d, refused %t", len(vm.mem.buf), img.Size(), vm.MemoryRefused())
		}
	})
}

// TestNothingLeaks leaves all kinds of things behind in a VM and looks for them in the next.
func TestNothingLeaks(t *testing.T) {
	e, img := newTestEngine(t, nil)
	pristine := acquire(t, img)
	image := append([]byte(nil), pristine.mem.buf...)
	pristine.Release()
	for _, leave := range []string{
		`globalThis.leak = 1; var v = 2; ""`,
		`Object.prototype.leak = 1; Array.prototype.map = null; JSON.stringify = () => "no"; delete globalThis.Map; ""`,
		`Object.freeze(Object.prototype); Object.defineProperty(Array.prototype, 0, { set() {} }); ""`,
		`Promise.resolve().then(() => { globalThis.late = 1 }); Promise.reject(1); ""`,
		`Math.random(); for (let i = 0; i < 1000; i++) Math.random(); ""`,
		`globalThis.keep = new Uint8Array(4 << 20).fill(7); ""`,
		`globalThis.r = new FinalizationRegistry(() => {}); r.register({}, 1); Symbol.for("leak"); ""`,
		`Error.stackTraceLimit = 0; Error.prepareStackTrace = () => "no"; ""`,
		`(function f(n) { if (n) f(n - 1) })(900); ""`,
	} {
		vm := acquire(t, img)
		vm.Limit(time.Now().Add(time.Minute), nil)
		evalText(t, vm, leave)
		vm.Release()
		vm = acquire(t, img)
		if string(vm.mem.buf) != string(image) {
			t.Errorf("after %s the next VM's memory is not that of the image", leave)
		}
		if got, n := vm.Unhandled(); n != 0 {
			t.Errorf("after %s the next VM has the rejection %v", leave, got)
		}
		if vm.sp.Get() != img.sp || !vm.deadline.IsZero() || vm.host != nil {
			t.Errorf("after %s the next VM is not at rest", leave)
		}
		vm.Release()
	}
	// Random numbers: an image repeats its state, a seed does not.
	random := func(seed uint64) string {
		vm := acquire(t, img)
		defer vm.Release()
		vm.Seed(seed)
		return evalText(t, vm, `String([Math.random(), Math.random()])`)
	}
	first, again := random(1), random(1)
	if first != again || first == random(2) || random(0) == random(2) {
		t.Error("the seed does not decide what Math.random gives")
	}
	if n := e.Live(); n > 4 {
		t.Errorf("%d VMs live", n)
	}
}

// TestDrops looks at which VMs go back to the pool.
func TestDrops(t *testing.T) {
	e, img := newTestEngine(t, nil)
	for _, c := range []struct {
		name, script string
		keep         bool
	}{
		{"ordinary", `1`, true},
		{"exception", `throw 1`, true},
		{"grown", `globalThis.a = new Uint8Array(8 << 20); 1`, false},
		{"deep", `{ const f = (n) => n ? f(n - 1) : 0; f(800) }`, false},
		{"stopped", `for (;;) {}`, false},
	} {
		vm := acquire(t, img)
		vm.Limit(time.Now().Add(20*time.Millisecond), nil)
		_, _ = vm.Eval([]byte(c.script), "test.js", 0)
		before := e.Live()
		vm.Release()
		if kept := e.Live() == before; kept != c.keep {
			t.Errorf("%s: kept %t, want %t", c.name, kept, c.keep)
		}
	}
}

func TestCloseWaits(t *testing.T) {
	e, err := New(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	img, err := e.NewImage(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	vm := acquire(t, img)
	var released atomic.Bool
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if !released.Load() {
			t.Error("Close did not wait for the VM in use")
		}
	}()
	for {
		e.mu.Lock()
		began := e.closed
		e.mu.Unlock()
		if began {
			break
		}
		runtime.Gosched()
	}
	if _, err := img.Acquire(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Acquire after Close: %v", err)
	}
	if got := evalText(t, vm, `"still here"`); got != "still here" {
		t.Errorf("got %s", got)
	}
	released.Store(true)
	vm.Release()
	<-closed
	if err := e.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if n := e.Live(); n != 0 {
		t.Errorf("%d VMs live", n)
	}
}

// TestHammer runs many VMs on many goroutines, stopping some of them at random.
func TestHammer(t *testing.T) {
	_, img := newTestEngine(t, &Options{MemoryLimit: 8 << 20, MaxIdle: 4})
	var wg sync.WaitGroup
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	for g := range 16 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 1))
			for range rounds {
				vm := acquire(t, img)
				ctx, cancel := context.WithCancel(t.Context())
				vm.Limit(time.Now().Add(time.Duration(random.IntN(4))*time.Millisecond), ctx.Done())
				switch random.IntN(4) {
				case 0:
					_, _ = vm.Eval([]byte(`for (;;) {}`), "test.js", 0)
				case 1:
					_, _ = vm.Eval([]byte(`{ const a = []; for (;;) a.push("x".repeat(1e5) + a.length) }`), "test.js", 0)
				case 2:
					cancel()
					_, _ = vm.Eval([]byte(`for (let i = 0; i < 1e6; i++) {}`), "test.js", 0)
				default:
					vm.Limit(time.Time{}, nil)
					want := strings.Repeat("x", random.IntN(100))
					if got := evalText(t, vm, `"`+want+`".toString()`); got != want {
						t.Errorf("got %q, want %q", got, want)
					}
				}
				cancel()
				vm.Release()
			}
		})
	}
	wg.Wait()
}

// TestCache starts with caches of all kinds of trouble.
func TestCache(t *testing.T) {
	start := func(dir string) error {
		e, err := New(t.Context(), &Options{CacheDir: dir})
		if err != nil {
			return err
		}
		return e.Close()
	}
	dir := filepath.Join(t.TempDir(), "new", "cache")
	if err := start(dir); err != nil {
		t.Fatal(err)
	}
	var files []string
	_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if len(files) < 2 {
		t.Fatalf("the cache has %q: want the rewritten and the compiled engine", files)
	}
	t.Run("damaged", func(t *testing.T) {
		for _, file := range files {
			for name, damage := range map[string]func(b []byte) []byte{
				"empty": func([]byte) []byte { return nil },
				"cut":   func(b []byte) []byte { return b[:len(b)/2] },
				"noise": func(b []byte) []byte { return []byte(strings.Repeat("noise", len(b)/5)) },
			} {
				whole, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, damage(whole), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := start(dir); err != nil {
					t.Errorf("%s %s: %v", filepath.Base(file), name, err)
				}
				_ = os.WriteFile(file, whole, 0o600)
			}
		}
	})
	t.Run("a file in its place", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := start(file); err != nil {
			t.Error(err)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		if err := start(dir); err != nil {
			t.Error(err)
		}
	})
	t.Run("concurrent first starts", func(t *testing.T) {
		dir := t.TempDir()
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				if i%2 == 0 {
					if err := start(dir); err != nil {
						t.Error(err)
					}
					return
				}
				child := exec.Command(os.Args[0], "-test.run=^TestStartInChild$")
				child.Env = append(os.Environ(), childCache+"="+dir)
				if out, err := child.CombinedOutput(); err != nil {
					t.Errorf("another process: %v\n%s", err, out)
				}
			})
		}
		wg.Wait()
	})
}

// childCache names, in the environment of a child process of TestCache, the cache to start with.
const childCache = "CELLMODE_TEST_CACHE"

// TestStartInChild is what the child processes of TestCache run.
func TestStartInChild(t *testing.T) {
	dir := os.Getenv(childCache)
	if dir == "" {
		return // not a child
	}
	e, err := New(t.Context(), &Options{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestTrap ends a VM by a fault of the engine: a block that does not exist is freed.
func TestTrap(t *testing.T) {
	e, img := newTestEngine(t, nil)
	vm := acquire(t, img)
	_, err := vm.invoke(fnFree, 0xfffffff0)
	var trap *TrapError
	if !errors.As(err, &trap) {
		t.Fatalf("got %v, want a TrapError", err)
	}
	if _, again := vm.Eval([]byte("1"), "test.js", 0); !errors.Is(again, err) {
		t.Errorf("a trapped VM goes on: %v", again)
	}
	before := e.Live()
	vm.Release()
	if e.Live() != before-1 {
		t.Error("a trapped VM was kept")
	}
	vm = acquire(t, img)
	defer vm.Release()
	if got := evalText(t, vm, `"clean"`); got != "clean" {
		t.Errorf("got %s", got)
	}
}

// TestInterpreter runs the engine where WebAssembly has no compiler.
func TestInterpreter(t *testing.T) {
	if testing.Short() {
		t.Skip("the interpreter takes seconds")
	}
	e := &Engine{memoryLimit: 32 << 20, capacity: 40 << 20, maxIdle: 1, logger: discard}
	hardened, err := harden.Rewrite(wasmBytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.compileWith(t.Context(), hardened, wazero.NewRuntimeConfigInterpreter()); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.selfCheck(t.Context()); err != nil {
		t.Error(err)
	}
	img, err := e.NewImage(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	vm := acquire(t, img)
	defer vm.Release()
	if got := evalText(t, vm, `JSON.stringify([1, 2, 3].map((x) => x * 2))`); got != "[2,4,6]" {
		t.Errorf("got %s", got)
	}
}
