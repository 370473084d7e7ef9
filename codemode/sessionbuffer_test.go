package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cellmode/cellmode/store"
)

// fakeStore is a MemoryStore that counts its calls and can be told to fail or to wait.
type fakeStore struct {
	MemoryStore
	mu             sync.Mutex
	loads, commits int
	err            error         // of both
	wait           chan struct{} // if not nil, both wait for it to be closed
}

func (f *fakeStore) before(ctx context.Context, calls *int) error {
	f.mu.Lock()
	*calls++
	err, wait := f.err, f.wait
	f.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return err
}

func (f *fakeStore) LoadSession(ctx context.Context, id string) (map[string]store.SessionValue, error) {
	if err := f.before(ctx, &f.loads); err != nil {
		return nil, err
	}
	return f.MemoryStore.LoadSession(ctx, id)
}

func (f *fakeStore) CommitSession(ctx context.Context, id string, change store.SessionChange) error {
	if err := f.before(ctx, &f.commits); err != nil {
		return err
	}
	return f.MemoryStore.CommitSession(ctx, id, change)
}

// A testCell is a buffer with keys and values as Go strings.
type testCell struct {
	tb testing.TB
	*sessionBuffer
}

func newTestCell(tb testing.TB, kept SessionStore) testCell {
	return testCell{tb, newSessionBuffer(kept, "s")}
}

func quoted(key string) []byte {
	text, err := json.Marshal(key)
	if err != nil {
		panic(err)
	}
	return text
}

// put stores a JSON text, or deletes for "".
func (c testCell) put(key, text string) error {
	value := store.SessionValue{}
	if text != "" {
		value.JSON = json.RawMessage(text)
	}
	return c.store(context.Background(), quoted(key), value)
}

func (c testCell) mustPut(key, text string) {
	c.tb.Helper()
	if err := c.put(key, text); err != nil {
		c.tb.Fatalf("store(%.40q, %.80s): %v", key, text, err)
	}
}

// want checks what load gives, "" for nothing.
func (c testCell) want(key, text string) {
	c.tb.Helper()
	value, ok, err := c.load(context.Background(), quoted(key))
	if err != nil || string(value.JSON) != text || ok != (text != "") {
		c.tb.Errorf("load(%.40q) gives %.80s (%d bytes, there: %t), %v; want %.80s (%d bytes)", key, value.JSON, len(value.JSON), ok, err, text, len(text))
	}
}

func (c testCell) mustCommit() {
	c.tb.Helper()
	if err := c.commit(context.Background()); err != nil {
		c.tb.Fatalf("commit: %v", err)
	}
}

// xs is a JSON string of so many bytes.
func xs(size int) string { return `"` + strings.Repeat("x", size-2) + `"` }

// TestSessionBufferValues is the program of case C061.
func TestSessionBufferValues(t *testing.T) {
	t.Parallel()
	kept := new(fakeStore)
	c := newTestCell(t, kept)
	c.mustPut("k", `{"n":[1],"__proto__":"d"}`)
	c.mustPut("z", "null")
	c.mustPut("k2", "1")
	c.mustPut("k2", "")
	c.mustPut("spaced", ` { "half" : "\ud83d" } `)
	check := func(c testCell) {
		t.Helper()
		c.want("k", `{"n":[1],"__proto__":"d"}`)
		c.want("z", "null")
		c.want("k2", "")
		c.want("none", "")
		c.want("spaced", "{\"half\":\"\ufffd\"}")
	}
	check(c)
	c.mustCommit()
	check(newTestCell(t, kept))

	c = newTestCell(t, kept)
	c.mustPut("k", "")
	c.mustCommit()
	newTestCell(t, kept).want("k", "")
	if kept.loads != 4 || kept.commits != 2 {
		t.Errorf("%d loads and %d commits for 4 cells of which 2 stored", kept.loads, kept.commits)
	}
	if err := newTestCell(t, kept).put("k", "{"); !errors.Is(err, store.ErrSessionValue) {
		t.Errorf("storing no JSON: %v", err)
	}
}

// TestSessionBufferRefusesKeys also holds that a key is looked at before the store is.
func TestSessionBufferRefusesKeys(t *testing.T) {
	t.Parallel()
	bad := []string{
		"", "undefined", "null", "2", "true", "[]", `["a"]`, `{"toJSON":1}`, // no strings
		`""`, `"` + strings.Repeat("x", 257) + `"`, `"` + strings.Repeat("😀", 129) + `"`, `"` + strings.Repeat(`\u0041`, 257) + `"`,
		xs(1 << 20), `"\ud83d"`, `"\ude00\ud83d"`, "\"\xff\"", `"a`, `"a"b`, `"a" `, "\"\n\"", `"\x"`,
	}
	kept := &fakeStore{err: errors.New("must not be called")}
	b := newSessionBuffer(kept, "s")
	for _, key := range bad {
		if err := b.store(t.Context(), []byte(key), store.SessionValue{JSON: json.RawMessage("1")}); !errors.Is(err, store.ErrSessionKey) {
			t.Errorf("store with the key %.40s: %v", key, err)
		}
		if _, _, err := b.load(t.Context(), []byte(key)); !errors.Is(err, store.ErrSessionKey) || len(err.Error()) > 200 || !strings.Contains(err.Error(), "1 to 256 UTF-16 units") {
			t.Errorf("load with the key %.40s: %v", key, err)
		}
	}
	if kept.loads != 0 {
		t.Errorf("a bad key loads the session")
	}
}

func TestSessionBufferTakesKeys(t *testing.T) {
	t.Parallel()
	kept := new(fakeStore)
	c := newTestCell(t, kept)
	keys := []string{"__proto__", "constructor", "\x00", " ", "é", "e\u0301", "😀", "\ufffd", strings.Repeat("x", 256), strings.Repeat("日", 256), strings.Repeat("😀", 128), strings.Repeat("\x01", 256)}
	for i, key := range keys {
		c.mustPut(key, fmt.Sprint(i+1))
	}
	c.want("A", "")
	if err := c.store(t.Context(), []byte(`"\u0041"`), store.SessionValue{JSON: json.RawMessage("7")}); err != nil {
		t.Error(err)
	}
	c.want("A", "7") // the same key, however it is written
	c.mustCommit()
	c = newTestCell(t, kept)
	for i, key := range keys {
		c.want(key, fmt.Sprint(i+1))
	}
}

// TestSessionBufferLimits holds that a refused value leaves all as it was, what the cell stored before included.
func TestSessionBufferLimits(t *testing.T) {
	t.Parallel()
	kept := new(fakeStore)
	c := newTestCell(t, kept)
	largest := xs(store.MaxSessionValueBytes)
	c.mustPut("k", largest)
	for _, text := range []string{xs(store.MaxSessionValueBytes + 1), `"` + strings.Repeat("é", 131_072) + `"`} {
		err := c.put("k", text)
		if !errors.Is(err, store.ErrSessionRange) || errors.Is(err, store.ErrSessionFull) || !strings.Contains(err.Error(), "262144") {
			t.Errorf("a value of %d bytes: %v", len(text), err)
		}
	}
	c.want("k", largest)
	for _, key := range []string{"a", "b", "c"} {
		c.mustPut(key, largest)
	}
	full := func(key, text string) {
		t.Helper()
		if err := c.put(key, text); !errors.Is(err, store.ErrSessionFull) || !errors.Is(err, store.ErrSessionRange) || !strings.Contains(err.Error(), "1048576") {
			t.Errorf("store(%q) of %d bytes into a full session: %v", key, len(text), err)
		}
	}
	full("d", "1")
	c.mustPut("a", "null")
	c.mustPut("a", largest) // what is replaced does not count
	full("d", "1")
	c.mustPut("b", "")
	c.mustPut("d", largest)
	full("b", "1")
	c.want("b", "")
	c.mustCommit()

	// The committed values count for a cell that has not asked for them.
	c = newTestCell(t, kept)
	full("e", "1")
	c.want("e", "")
	c.mustPut("d", "")
	c.mustPut("e", largest)
	c.mustCommit()
}

func TestSessionBufferKeyLimit(t *testing.T) {
	t.Parallel()
	c := newTestCell(t, new(fakeStore))
	for i := range store.MaxSessionKeys { // deletions of what is not there are kept for the commit too
		c.mustPut(fmt.Sprint(i), "")
	}
	for _, text := range []string{"1", ""} {
		if err := c.put("more", text); !errors.Is(err, store.ErrSessionFull) || !strings.Contains(err.Error(), "65536 keys") {
			t.Errorf("one change more: %v", err)
		}
	}
	for i := range store.MaxSessionKeys {
		c.mustPut(fmt.Sprint(i), "1")
	}
	c.mustPut("0", "2") // what is replaced does not count
	c.mustCommit()
	c = newTestCell(t, c.session)
	if err := c.put("more", "1"); !errors.Is(err, store.ErrSessionFull) {
		t.Errorf("one key more than are committed: %v", err)
	}
	c.mustPut("0", "")
	c.mustPut("more", "1")
	c.mustCommit()
}

// TestSessionBufferCells is case C062: what a cell stores is its own until it completes.
func TestSessionBufferCells(t *testing.T) {
	t.Parallel()
	kept := new(fakeStore)
	parked, other, failed := newTestCell(t, kept), newTestCell(t, kept), newTestCell(t, kept)
	parked.mustPut("k", "7")
	failed.mustPut("k", "9") // and is never committed
	other.want("k", "")
	parked.want("k", "7")
	parked.mustPut("k", "8")
	parked.mustCommit()
	other.want("k", "") // it has loaded before
	other.mustCommit()  // has nothing to commit
	newTestCell(t, kept).want("k", "8")
	if kept.commits != 1 {
		t.Errorf("%d commits, not 1", kept.commits)
	}
}

// TestSessionBufferCommits holds that a later commit goes on top of the newer state and is checked again there.
func TestSessionBufferCommits(t *testing.T) {
	t.Parallel()
	kept := new(fakeStore)
	largest := xs(store.MaxSessionValueBytes)
	first, second, third := newTestCell(t, kept), newTestCell(t, kept), newTestCell(t, kept)
	for _, c := range []testCell{first, second, third} {
		c.want("a", "")
	}
	first.mustPut("a", largest)
	first.mustPut("b", largest)
	second.mustPut("b", "2")
	second.mustPut("c", largest)
	third.mustPut("b", largest)
	third.mustPut("d", largest)
	third.mustPut("e", largest)
	third.mustPut("c", "3")
	first.mustCommit()
	second.mustCommit()
	c := newTestCell(t, kept)
	c.mustPut("f", largest)
	c.mustCommit()
	err := third.commit(t.Context())
	if !errors.Is(err, store.ErrSessionFull) || !strings.HasPrefix(err.Error(), "nothing of what this program stored was kept") {
		t.Errorf("the commit that does not fit any more: %v", err)
	}
	c = newTestCell(t, kept)
	for key, text := range map[string]string{"a": largest, "b": "2", "c": largest, "d": "", "e": "", "f": largest} {
		c.want(key, text)
	}
}

func TestSessionBufferStoreFails(t *testing.T) {
	t.Parallel()
	damaged := errors.New("entry 17 is malformed: repair the session")
	kept := &fakeStore{err: damaged}
	c := newTestCell(t, kept)
	for range 2 {
		_, _, loading := c.load(t.Context(), quoted("k"))
		for _, err := range []error{c.put("k", "1"), loading} {
			if err == nil || err.Error() != "the session could not be loaded: "+damaged.Error() {
				t.Errorf("a session that does not load: %v", err)
			}
		}
	}
	kept.err = nil
	c.want("k", "") // it is tried again
	c.mustPut("k", "1")
	kept.err = damaged
	if err := c.commit(t.Context()); !errors.Is(err, damaged) || !strings.HasPrefix(err.Error(), "it is not confirmed") {
		t.Errorf("a commit that fails: %v", err)
	}
	kept.err = nil
	newTestCell(t, kept).want("k", "")
	c.mustCommit() // once is all
	newTestCell(t, kept).want("k", "")
	if kept.commits != 1 {
		t.Errorf("%d commits, not 1", kept.commits)
	}
}

func TestSessionBufferNetwork(t *testing.T) {
	t.Parallel()
	kept := new(fakeStore)
	c := newTestCell(t, kept)
	if err := c.store(t.Context(), quoted("k"), store.SessionValue{JSON: json.RawMessage("1"), Network: true}); err != nil {
		t.Fatal(err)
	}
	c.mustPut("own", "2")
	check := func(c testCell) {
		t.Helper()
		for key, network := range map[string]bool{"k": true, "own": false, "none": false} {
			if value, _, err := c.load(t.Context(), quoted(key)); err != nil || value.Network != network {
				t.Errorf("load(%q) has the network mark %t, %v", key, value.Network, err)
			}
		}
	}
	check(c)
	c.mustCommit()
	check(newTestCell(t, kept))
}

func TestSessionBufferDetached(t *testing.T) {
	t.Parallel()
	c := newTestCell(t, new(fakeStore))
	text := json.RawMessage(`"original"`)
	if err := c.store(t.Context(), quoted("k"), store.SessionValue{JSON: text}); err != nil {
		t.Fatal(err)
	}
	copy(text, `"tampered"`)
	value, _, err := c.load(t.Context(), quoted("k"))
	if err != nil || string(value.JSON) != `"original"` {
		t.Errorf("the caller's text is kept: %s, %v", value.JSON, err)
	}
	copy(value.JSON, `"tampered"`)
	c.want("k", `"original"`)
}

// TestSessionBufferWaits has a store that does not answer: its caller and those behind it wait no longer than their contexts.
func TestSessionBufferWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the cell was given up")
		kept := &fakeStore{wait: make(chan struct{})}
		c := newTestCell(t, kept)
		run := func(call func(ctx context.Context) error) (cancel func(error), result chan error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			result = make(chan error, 1)
			go func() { result <- call(ctx) }()
			synctest.Wait()
			return cancel, result
		}
		store1 := func(ctx context.Context) error {
			return c.store(ctx, quoted("k"), store.SessionValue{JSON: json.RawMessage("1")})
		}
		load := func(ctx context.Context) error { _, _, err := c.load(ctx, quoted("k")); return err }

		cancelFirst, first := run(c.open)
		cancelSecond, second := run(store1)
		_, third := run(load)
		cancelSecond(cause)
		if err := <-second; !errors.Is(err, cause) {
			t.Errorf("a call that waits for its turn ends with %v", err)
		}
		cancelFirst(cause)
		if err := <-first; err == nil || !strings.Contains(err.Error(), cause.Error()) {
			t.Errorf("a call that waits for the store ends with %v", err)
		}
		close(kept.wait) // the third has its turn now, and loads
		if err := <-third; err != nil {
			t.Errorf("the call behind them: %v", err)
		}
		if err := store1(t.Context()); err != nil {
			t.Error(err)
		}

		kept.wait = make(chan struct{})
		cancel, committed := run(c.commit)
		cancelLate, late := run(c.commit)
		cancelLate(cause)
		cancel(cause)
		for _, result := range []chan error{late, committed} {
			if err := <-result; !errors.Is(err, cause) || !strings.HasPrefix(err.Error(), "it is not confirmed") {
				t.Errorf("a commit that is given up ends with %v", err)
			}
		}
		kept.wait = nil
		newTestCell(t, kept).want("k", "")
	})
}

// TestSessionBufferDoneContext holds that a cell without changes completes without a warning whatever its context.
func TestSessionBufferDoneContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if err := newTestCell(t, new(fakeStore)).commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	c := newTestCell(t, new(fakeStore))
	c.mustPut("k", "1")
	if err := c.commit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a commit with a done context: %v", err)
	}
}

func TestSessionBufferConcurrent(t *testing.T) {
	t.Parallel()
	kept := new(fakeStore)
	c := newTestCell(t, kept)
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			key := fmt.Sprint(i)
			if err := c.put(key, key); err != nil {
				t.Error(err)
			}
			c.want(key, key)
		})
	}
	group.Wait()
	if c.mustCommit(); kept.loads != 1 {
		t.Errorf("the session was loaded %d times", kept.loads)
	}
	c = newTestCell(t, kept)
	for i := range 50 {
		c.want(fmt.Sprint(i), fmt.Sprint(i))
	}
}

// TestSessionBufferModel compares random programs of several cells with plain maps.
func TestSessionBufferModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 4))
		kept := new(fakeStore)
		committed := map[string]string{}
		total := func(m map[string]string) (n int) {
			for _, text := range m {
				n += len(text)
			}
			return n
		}
		for range 20 {
			c, own, changed := newTestCell(t, kept), maps.Clone(committed), false
			for range random.IntN(40) {
				key, text := fmt.Sprint(random.IntN(12)), ""
				if random.IntN(4) > 0 {
					text = xs(2 + random.IntN(store.MaxSessionValueBytes+10_000))
				}
				next := maps.Clone(own)
				if next[key] = text; text == "" {
					delete(next, key)
				}
				fits := len(text) <= store.MaxSessionValueBytes && total(next) <= store.MaxSessionBytes
				if err := c.put(key, text); (err == nil) != fits || err != nil && !errors.Is(err, store.ErrSessionRange) {
					t.Fatalf("seed %d: store of %d bytes onto %d: %v", seed, len(text), total(own), err)
				}
				if fits {
					own, changed = next, true
				}
				c.want(key, own[key])
			}
			if changed && random.IntN(3) > 0 {
				c.mustCommit()
				committed = own
			}
		}
		c := newTestCell(t, kept)
		for i := range 12 {
			c.want(fmt.Sprint(i), committed[fmt.Sprint(i)])
		}
	}
}

// FuzzSessionKey holds the keys that are taken to what encoding/json reads, and their length to that of JavaScript.
func FuzzSessionKey(f *testing.F) {
	for _, seed := range []string{``, `""`, `"a"`, `"\u0000"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ufffd"`, "\"\xff\"", `"a`, `"a" `, `1`, `"\/"`, xs(258), xs(259)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := readSessionKey(text)
		if err != nil {
			if !errors.Is(err, store.ErrSessionKey) {
				t.Fatalf("the error is no store.ErrSessionKey: %v", err)
			}
			return
		}
		var want string
		if err := json.Unmarshal(text, &want); err != nil || want != key || !utf8.ValidString(key) {
			t.Fatalf("%q is read as %q, not %q, %v", text, key, want, err)
		}
		if n := len(utf16.Encode([]rune(key))); n < 1 || n > store.MaxSessionKeyUnits {
			t.Fatalf("a key of %d units was taken", n)
		}
	})
}

// BenchmarkSessionBuffer is one cell over a session of 64 values of 16 KiB, full to the byte: it loads it, reads one value,
// writes one and commits.
func BenchmarkSessionBuffer(b *testing.B) {
	kept := NewMemoryStore()
	c := newTestCell(b, kept)
	for i := range 64 {
		c.mustPut(fmt.Sprint(i), xs(16<<10))
	}
	c.mustCommit()
	key, value := quoted("7"), store.SessionValue{JSON: json.RawMessage(xs(16 << 10))}
	b.ReportAllocs()
	for b.Loop() {
		c := newSessionBuffer(kept, "s")
		if _, ok, err := c.load(b.Context(), key); !ok || err != nil {
			b.Fatal(ok, err)
		}
		if err := c.store(b.Context(), key, value); err != nil {
			b.Fatal(err)
		}
		if err := c.commit(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSessionBufferStore is one further store and load of a cell, of a small value.
func BenchmarkSessionBufferStore(b *testing.B) {
	c := newSessionBuffer(NewMemoryStore(), "s")
	key, value := quoted("last seen"), store.SessionValue{JSON: json.RawMessage(`{"page":7,"id":"shp_000001"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.store(b.Context(), key, value); err != nil {
			b.Fatal(err)
		}
		if _, ok, err := c.load(b.Context(), key); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
