package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

func snapshot(tb testing.TB, vm *VM) *Snapshot {
	tb.Helper()
	s, err := vm.Snapshot(64 << 20)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func restore(tb testing.TB, img *Image, s *Snapshot) *VM {
	tb.Helper()
	vm, err := img.Restore(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return vm
}

// reread gives a snapshot that has been written and read again.
func reread(tb testing.TB, s *Snapshot) *Snapshot {
	tb.Helper()
	text := s.AppendBinary([]byte("before"))[len("before"):]
	if len(text) != s.Size() {
		tb.Errorf("the binary form has %d bytes, Size says %d", len(text), s.Size())
	}
	again, err := ParseSnapshot(text)
	if err != nil {
		tb.Fatal(err)
	}
	return again
}

// TestSnapshots shares an engine, which takes half a second to start.
func TestSnapshots(t *testing.T) {
	opts := Options{MemoryLimit: 32 << 20, CacheDir: t.TempDir()}
	_, img := newTestEngine(t, &opts)
	for name, test := range map[string]func(*testing.T, *Image){
		"apart":      snapshotApart,
		"chain":      snapshotChain,
		"limit":      snapshotLimitIsExact,
		"grown":      snapshotOfGrownMemory,
		"refusals":   snapshotKeepsRefusals,
		"rejections": snapshotKeepsRejections,
		"dead":       snapshotOfADeadVM,
		"damaged":    damagedSnapshots,
	} {
		t.Run(name, func(t *testing.T) { test(t, img) })
	}
	t.Run("other limits", func(t *testing.T) { snapshotUnderOtherLimits(t, img, opts) })
	t.Run("closed", func(t *testing.T) { snapshotAfterClose(t, opts) })
}

// snapshotApart takes a VM, lets it go on, and makes others of what was taken: as often as wanted, each apart.
func snapshotApart(t *testing.T, img *Image) {
	vm := acquire(t, img)
	if _, err := vm.Eval([]byte(`
		const map = new Map([["k", { n: 1 }]]), bytes = new Uint8Array([1, 2, 3])
		let n = 0
		const next = (function* () { for (;;) yield ++n })()
		next.next()
		const resolve = []
		const p = new Promise((r) => resolve.push(r)).then((v) => { n += v })
		function state() { return JSON.stringify([n, next.next().value, map.get("k"), [...bytes], typeof later]) }
		0`), "test.js", 0); err != nil {
		t.Fatal(err)
	}
	f, err := vm.Eval([]byte(`(x) => { map.get("k").n += x; return state() }`), "test.js", 0)
	if err != nil {
		t.Fatal(err)
	}
	taken := snapshot(t, vm)
	before := bytes.Clone(taken.AppendBinary(nil))
	evalText(t, vm, `globalThis.later = 1; bytes.fill(9); map.clear(); n = 100; "changed"`)
	if got := evalText(t, vm, `state()`); got != `[100,101,null,[9,9,9],"number"]` {
		t.Errorf("the VM goes on as %s", got)
	}
	vm.Release()

	var wg sync.WaitGroup
	for _, s := range []*Snapshot{taken, reread(t, taken)} {
		for range 3 {
			wg.Go(func() {
				vm := restore(t, img, s)
				defer vm.Release()
				if got := evalText(t, vm, `state()`); got != `[1,2,{"n":1},[1,2,3],"undefined"]` {
					t.Errorf("restored as %s", got)
				}
				v, err := vm.Call(f, Int(5)) // values are the same
				if err != nil {
					t.Error(err)
					return
				}
				text, err := vm.AppendString(nil, v)
				if want := `[2,3,{"n":6},[1,2,3],"undefined"]`; string(text) != want || err != nil {
					t.Errorf("after a call %s, %v", text, err)
				}
				vm.Free(v)
				if _, err := vm.Eval([]byte(`resolve[0](40)`), "test.js", 0); err != nil {
					t.Error(err)
				}
				if err := vm.Drain(); err != nil {
					t.Error(err)
				}
				if got := evalText(t, vm, `String(n)`); got != "43" {
					t.Errorf("the promise of before gives %s", got)
				}
			})
		}
	}
	wg.Wait()
	if !bytes.Equal(before, taken.AppendBinary(nil)) {
		t.Error("restoring has changed the snapshot")
	}
	vm = acquire(t, img)
	defer vm.Release()
	if got := evalText(t, vm, `typeof state`); got != "undefined" {
		t.Errorf("a fresh VM has %s", got)
	}
}

// snapshotChain parks a VM a hundred times; it does not grow by that.
func snapshotChain(t *testing.T, img *Image) {
	vm := acquire(t, img)
	if _, err := vm.Eval([]byte(`let n = 0; const list = []; function step() { list.push({ n: ++n }); if (list.length > 10) list.shift(); return String(n) }; 0`), "test.js", 0); err != nil {
		t.Fatal(err)
	}
	sizes := map[int]int{}
	for i := 1; i <= 100; i++ {
		s := reread(t, snapshot(t, vm))
		vm.Release()
		vm = restore(t, img, s)
		if got := evalText(t, vm, `step()`); got != fmt.Sprint(i) {
			t.Fatalf("after %d parkings %s", i, got)
		}
		sizes[i] = s.Size()
	}
	vm.Release()
	if sizes[100] > 2*sizes[20] {
		t.Errorf("the snapshot has grown from %d to %d bytes", sizes[20], sizes[100])
	}
}

// snapshotLimitIsExact: a snapshot has no more bytes than it may have, all counted.
func snapshotLimitIsExact(t *testing.T, img *Image) {
	vm := acquire(t, img)
	defer vm.Release()
	if _, err := vm.Eval([]byte(`const l = []; for (let i = 0; i < 2000; i++) l.push({ i, s: "s" + i }); for (let i = 0; i < 9; i++) Promise.reject(i); 0`), "test.js", 0); err != nil {
		t.Fatal(err)
	}
	size := snapshot(t, vm).Size()
	if s, err := vm.Snapshot(size); err != nil || s.Size() != size {
		t.Errorf("with room for all %d bytes: %v", size, err)
	}
	for _, limit := range []int{size - 1, size / 2, snapshotHead, 1, 0, -1 << 40} {
		if _, err := vm.Snapshot(limit); !errors.Is(err, ErrSnapshotLimit) {
			t.Errorf("with room for %d of %d bytes: %v", limit, size, err)
		}
	}
	if got := evalText(t, vm, `String(l.length)`); got != "2000" {
		t.Errorf("the VM goes on as %s", got)
	}
}

// snapshotOfGrownMemory: what a VM took beyond its image comes with it, and the limit of the restoring engine holds.
func snapshotOfGrownMemory(t *testing.T, img *Image) {
	e := img.engine
	vm := acquire(t, img)
	if _, err := vm.Eval([]byte(`const big = new Uint32Array(3 << 20); for (let i = 0; i < big.length; i += 9973) big[i] = i; 0`), "test.js", 0); err != nil {
		t.Fatal(err)
	}
	s := snapshot(t, vm)
	vm.Release()
	before := e.Live()
	for range 2 {
		vm = restore(t, img, s)
		if got := evalText(t, vm, `let wrong = 0; for (let i = 0; i < big.length; i += i % 9973 ? 1 : 9972) if (big[i] !== (i % 9973 ? 0 : i)) wrong++; wrong + " of " + big.length`); got != "0 of 3145728" {
			t.Errorf("wrong: %s", got)
		}
		if _, err := vm.Eval([]byte(`new Uint8Array(24 << 20)`), "test.js", 0); err == nil {
			t.Error("a restored VM takes more memory than the limit")
		}
		vm.Release()
	}
	if n := e.Live(); n > before {
		t.Errorf("%d VMs after, %d before: a grown one was kept", n, before)
	}
}

// snapshotUnderOtherLimits is restored in an engine with less memory, and in one with more.
func snapshotUnderOtherLimits(t *testing.T, img *Image, opts Options) {
	vm := acquire(t, img)
	if _, err := vm.Eval([]byte(`const big = new Uint8Array(12 << 20); 0`), "test.js", 0); err != nil {
		t.Fatal(err)
	}
	s := snapshot(t, vm)
	vm.Release()
	for limit, fits := range map[int64]bool{8 << 20: false, 64 << 20: true} {
		opts.MemoryLimit = limit
		_, other := newTestEngine(t, &opts)
		if other.ID() != img.ID() {
			t.Fatal("the same image has another id")
		}
		vm, err := other.Restore(t.Context(), s)
		if fits != (err == nil) || err != nil && !errors.Is(err, ErrSnapshot) {
			t.Errorf("with %d bytes of memory: %v", limit, err)
		}
		if err == nil {
			vm.Release()
		}
		vm = acquire(t, other)
		if got := evalText(t, vm, `typeof big`); got != "undefined" {
			t.Errorf("the next VM has %s", got)
		}
		vm.Release()
	}
}

// snapshotKeepsRefusals: a guest that was refused memory is known for that afterwards.
func snapshotKeepsRefusals(t *testing.T, img *Image) {
	vm := acquire(t, img)
	if s := snapshot(t, vm); reread(t, s).refusals != 0 {
		t.Error("a fresh VM was refused memory")
	}
	if _, err := vm.Eval([]byte(`new Uint8Array(100 << 20)`), "test.js", 0); err == nil {
		t.Fatal("memory beyond the limit")
	}
	s := reread(t, snapshot(t, vm))
	vm.Release()
	vm = restore(t, img, s)
	defer vm.Release()
	if !vm.MemoryRefused() {
		t.Error("forgotten")
	}
}

// snapshotKeepsRejections: rejected promises are the same ones, in their order, and may be handled late; more than can be told apart
// are still counted.
func snapshotKeepsRejections(t *testing.T, img *Image) {
	for _, made := range []int{0, 1, 5, maxTracked, maxTracked + 100} {
		vm := acquire(t, img)
		own, err := vm.Eval([]byte(`const all = []; const reject = (n) => { for (let i = 0; i < n; i++) all.push(Promise.reject("r" + i)) }; (async () => { await null; throw "own" })`), "test.js", 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := vm.Call(own)
		if err != nil {
			t.Fatal(err)
		}
		vm.Ignore(p)
		if _, err := vm.Eval(fmt.Appendf(nil, `reject(%d)`, made), "test.js", 0); err != nil {
			t.Fatal(err)
		}
		s := reread(t, snapshot(t, vm))
		vm.Release()
		vm = restore(t, img, s)
		if err := vm.Drain(); err != nil { // now the program's own promise is rejected
			t.Fatal(err)
		}
		first, n := vm.Unhandled()
		if n != made && made < maxTracked { // else the own one is among those that are only counted
			t.Errorf("%d unhandled, want %d", n, made)
		}
		if made > 0 {
			_, reason, err := vm.Promise(first)
			if text, _ := vm.AppendString(nil, reason); err != nil || string(text) != "r0" {
				t.Errorf("of %d the first is %s, %v", made, text, err)
			}
		}
		if _, err := vm.Eval([]byte(`for (const p of all) p.catch(() => {})`), "test.js", 0); err != nil {
			t.Fatal(err)
		}
		if _, n := vm.Unhandled(); n > 1 {
			t.Errorf("of %d, %d are unhandled after all were handled", made, n)
		}
		vm.Release()
	}
}

// snapshotOfADeadVM is none.
func snapshotOfADeadVM(t *testing.T, img *Image) {
	vm := acquire(t, img)
	defer vm.Release()
	vm.Limit(time.Now().Add(20*time.Millisecond), nil)
	if _, err := vm.Eval([]byte(`for (;;) {}`), "test.js", 0); !errors.Is(err, ErrDeadline) {
		t.Fatal(err)
	}
	if _, err := vm.Snapshot(64 << 20); !errors.Is(err, ErrDeadline) {
		t.Errorf("got %v", err)
	}
}

// snapshotAfterClose: there is nothing to restore into.
func snapshotAfterClose(t *testing.T, opts Options) {
	e, img := newTestEngine(t, &opts)
	vm := acquire(t, img)
	s := snapshot(t, vm)
	vm.Release()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := img.Restore(t.Context(), s); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// damagedSnapshots: what cannot be a snapshot of the image is refused, and the pool is as before.
func damagedSnapshots(t *testing.T, img *Image) {
	vm := acquire(t, img)
	evalText(t, vm, `globalThis.planted = "x".repeat(10000)`)
	good := snapshot(t, vm).AppendBinary(nil)
	vm.Release()
	for name, text := range map[string][]byte{
		"empty":                  {},
		"head cut":               good[:snapshotHead-1],
		"too many promises":      append(bytes.Clone(good[:snapshotHead-4]), 0xff, 0xff, 0xff, 0xff),
		"promises cut":           append(bytes.Clone(good[:snapshotHead-4]), 3, 0, 0, 0, 1, 2, 3),
		"no memory":              append([]byte{0, 0, 0, 0}, good[4:]...),
		"memory of odd size":     append([]byte{1, 0, 32, 0}, good[4:]...),
		"less than the image":    append([]byte{0, 0, 1, 0}, good[4:]...),
		"more than there can be": append([]byte{0, 0, 0xff, 0xff}, good[4:]...),
		"cut in an operation":    good[:len(good)-1],
		"more behind":            append(bytes.Clone(good), bytes.Repeat([]byte{0x7f}, 100)...),
	} {
		s, err := ParseSnapshot(text)
		if err == nil {
			var vm *VM
			if vm, err = img.Restore(t.Context(), s); err == nil {
				vm.Release()
			}
		}
		if !errors.Is(err, ErrSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
		checkFresh(t, img)
	}
}

// checkFresh checks that the pool gives a VM that is the image, to the last byte.
func checkFresh(tb testing.TB, img *Image) {
	tb.Helper()
	vm := acquire(tb, img)
	defer vm.Release()
	if !bytes.Equal(vm.mem.buf, img.memory) {
		at := 0
		for at < len(img.memory) && vm.mem.buf[at] == img.memory[at] {
			at++
		}
		tb.Fatalf("a fresh VM is not its image at %#x; the stack is from %#x to %#x", at, img.stack, img.sp)
	}
	if got := evalText(tb, vm, `[typeof planted, 1 + 1].join()`); got != "undefined,2" {
		tb.Errorf("a fresh VM gives %s", got)
	}
}

// childImage names, in the environment of a child process of TestImageID, the cache to start with.
const childImage = "CELLMODE_TEST_IMAGE"

// TestImageID: the id is that of every image which is made in the same way, in other engines and processes, and of no other.
func TestImageID(t *testing.T) {
	cache := os.Getenv(childImage)
	if cache != "" {
		_, img := newTestEngine(t, &Options{CacheDir: cache})
		fmt.Println("id " + img.ID())
		return
	}
	cache = t.TempDir()
	_, img := newTestEngine(t, &Options{CacheDir: cache})
	e, again := newTestEngine(t, &Options{CacheDir: cache, MemoryLimit: 5 << 20})
	if img.ID() != again.ID() || len(img.ID()) != 64 {
		t.Errorf("two images of the same kind: %s and %s", img.ID(), again.ID())
	}
	other, err := e.NewImage(t.Context(), func(vm *VM, host Value) ([]Value, error) {
		_, err := vm.Eval([]byte(`globalThis.prepared = 1`), "test.js", 0)
		return nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if other.ID() == img.ID() {
		t.Error("another image has the same id")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestImageID$", "-test.v")
	child.Env = append(os.Environ(), childImage+"="+cache)
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "id "+img.ID()+"\n") {
		t.Errorf("in another process: %v\n%s", err, out)
	}
}

// FuzzParseSnapshot reads and restores anything: at worst the VM is nonsense, which ends it, and the next one is fresh.
func FuzzParseSnapshot(f *testing.F) {
	_, img := newTestEngine(f, nil)
	vm := acquire(f, img)
	for i, script := range []string{
		`globalThis.planted = 1; "x"`,
		`const list = []; for (let i = 0; i < 500; i++) list.push({ i }); for (let i = 0; i < 5; i++) Promise.reject(i); "x"`,
		`const big = new Uint8Array(2 << 20); big[1 << 20] = 1; "x"`,
	} {
		evalText(f, vm, script)
		text := snapshot(f, vm).AppendBinary(nil)
		f.Add(text)
		for at := 1; at < len(text); at += len(text)/(3+i) + 1 {
			flipped := bytes.Clone(text)
			flipped[at] ^= 0x11
			f.Add(flipped)
			f.Add(text[:at])
		}
	}
	// Nothing but what the image has, and something in the stack, where nothing is at rest.
	text := append(snapshot(f, vm).AppendBinary(nil)[:snapshotHead-4], 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(text, uint32(len(img.memory)))
	text = binary.AppendUvarint(append(text, 0), uint64(img.stack/16)) // so many lines are the same
	text = append(append(text, 1<<5|1), bytes.Repeat([]byte{0xa5}, 16)...)
	f.Add(text)
	vm.Release()
	f.Fuzz(func(t *testing.T, text []byte) {
		began := time.Now()
		defer func() {
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("held the host for %v", took)
			}
		}()
		s, err := ParseSnapshot(text)
		if err != nil {
			if !errors.Is(err, ErrSnapshot) {
				t.Errorf("got %v", err)
			}
			return
		}
		if got := s.AppendBinary(nil); !bytes.Equal(got, text) {
			t.Errorf("read and written again it is another: %d bytes of %d", len(got), len(text))
		}
		if vm, err := img.Restore(t.Context(), s); err == nil {
			vm.Limit(time.Now().Add(50*time.Millisecond), nil)
			if first, n := vm.Unhandled(); n > 0 {
				_, _, _ = vm.Promise(first)
			}
			_ = vm.Drain()
			if v, err := vm.Eval([]byte(`Object.keys(globalThis)`), "test.js", 0); err == nil {
				_, _ = vm.AppendJSON(nil, v, JSONStringify, 1<<16)
				vm.Free(v)
			}
			if again, err := vm.Snapshot(64 << 20); err == nil {
				_ = again.Size()
			}
			vm.Release()
		} else if !errors.Is(err, ErrSnapshot) && !errors.Is(err, ErrMemory) {
			t.Errorf("got %v", err)
		}
		checkFresh(t, img)
	})
}
