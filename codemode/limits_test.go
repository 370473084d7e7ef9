package codemode_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/jsontext"
)

// Each option has a default and a range, which a cell can feel. The whole table is in options_test.go.
func TestOptionsAreFelt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		given, want time.Duration
	}{
		{0, codemode.DefaultTimeout}, {-time.Second, codemode.DefaultTimeout}, {time.Nanosecond, codemode.MinTimeout},
		{3 * time.Second, 3 * time.Second}, {time.Hour, codemode.MaxTimeout},
	} {
		inBubble(t, &codemode.Options{Timeout: test.given}, func(t *testing.T, b *bubble) {
			began := time.Now()
			r := b.run(t.Context(), `await gate({})`)
			if took := time.Since(began); r.Status != codemode.StatusWaiting || took != test.want {
				t.Errorf("Timeout %v: %s after %v, want %v", test.given, describe(r), took, test.want)
			}
		})
	}
	for _, test := range []struct {
		given, most, over int // bytes of a result
	}{
		{0, 9_000_000, 11_000_000}, {-1, 9_000_000, 11_000_000}, {1, 1000, 1100}, {5000, 4900, 5100},
	} {
		b := newBench(t, codemode.Options{MaxSnapshotBytes: int64(test.given)})
		r := b.run(t.Context(), fmt.Sprintf(`return [(await blob({ bytes: %d })).data.length, await blob({ bytes: %d }).catch((e) => e.code)]`, test.most, test.over))
		if want := fmt.Sprintf(`[%d,"tool_error"]`, test.most); string(r.Value) != want {
			t.Errorf("MaxSnapshotBytes %d: %s, want %s", test.given, describe(r), want)
		}
	}
	for _, test := range []struct{ given, want int }{{0, 16}, {-5, 16}, {1, 1}, {7, 7}, {1000, 128}} {
		b := newBench(t, codemode.Options{MaxPendingToolCalls: test.given})
		r := b.run(t.Context(), `for (let i = 0; i < 1000; i++) echo(i)`)
		expectFailure(t, r, codemode.CodeInvalidInput, fmt.Sprintf("too many tool calls and timers were pending at once (%d run at a time and 128 wait)", test.want))
	}
	for _, test := range []struct{ given, want int }{{0, 65536}, {-1, 65536}, {1, 1024}, {5000, 5000}} {
		b := newBench(t, codemode.Options{MaxOutputBytes: int64(test.given)})
		for _, code := range []string{`return "x".repeat(%d)`, `throw "x".repeat(%d)`} {
			for _, over := range []int{0, 1} {
				r := b.run(t.Context(), fmt.Sprintf(code, test.want-2+over)) // without the quotes
				checkResult(t, r, test.want)
				if cut := r.Value != nil && r.Value[0] == '{' || strings.HasSuffix(r.Error, " [error truncated]"); cut != (over > 0) {
					t.Errorf("MaxOutputBytes %d: "+code+" cut: %t", test.given, test.want-2+over, cut)
				}
			}
		}
	}
}

// Reaching the memory limit is an InternalError that a cell may catch; uncaught it is told apart from others.
func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	const fill = `const kept = []; for (;;) kept.push("x".repeat(1e5) + kept.length);`
	for _, test := range []struct {
		limit int64
		text  string
	}{{1, "1 MiB"}, {8 << 20, "8 MiB"}, {0, "64 MiB"}} {
		b := newBench(t, codemode.Options{MemoryLimitBytes: test.limit})
		r := b.run(t.Context(), fill)
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		expectFailure(t, r, codemode.CodeInternal, "InternalError: out of memory")
		if !errors.Is(r.Err(), codemode.ErrMemoryLimit) || !strings.Contains(r.Error, "limit of "+test.text) {
			t.Errorf("%s: %v", test.text, r.Err())
		}
		b.works(t)
		r = b.run(t.Context(), `const use = () => { `+fill+` }; try { use() } catch (e) { return [e.name, e.message, await echo("after")] }`)
		if want := `["InternalError","out of memory","after"]`; string(r.Value) != want {
			t.Errorf("%s, caught: %s", test.text, describe(r))
		}
		b.works(t)
	}
	b := newBench(t, codemode.Options{MemoryLimitBytes: 4 << 20})
	// Of a program that fails in another way later on, both are told.
	r := b.run(t.Context(), `const use = () => { `+fill+` }; try { use() } catch {} throw new TypeError("then")`)
	if !strings.HasPrefix(r.Error, "TypeError: then\n") || !strings.Contains(r.Error, "\nearlier: InternalError: out of memory: ") || !errors.Is(r.Err(), codemode.ErrMemoryLimit) {
		t.Errorf("got %s: %v", describe(r), r.Err())
	}
	if r := b.run(t.Context(), fill); !strings.HasPrefix(r.Error, "InternalError: out of memory: the cell reached") || strings.Contains(r.Error, "earlier") {
		t.Errorf("got %s", describe(r))
	}
	for _, code := range []string{
		`new ArrayBuffer(5e6)`, `"x".repeat(5e6)`, `Array(1e6).fill(0)`, `await blob({ bytes: 4_100_000 })`, `setTimeout(() => { ` + fill + ` }, 0)`,
		`Promise.resolve().then(() => { ` + fill + ` })`, `return { get a() { ` + fill + ` } }`, `(async () => { await echo(1); ` + fill + ` })()`,
	} {
		r := b.run(t.Context(), code)
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		if r.Status != codemode.StatusFailed || r.Code != codemode.CodeInternal {
			t.Errorf("%s: %s", code, describe(r))
		}
		b.works(t)
	}
}

func TestStackLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	r := b.run(t.Context(), `const down = (n) => down(n + 1) + 1; down(0)`)
	checkResult(t, r, codemode.DefaultMaxOutputBytes)
	expectFailure(t, r, codemode.CodeInternal, "RangeError: Maximum call stack size exceeded")
	if !errors.Is(r.Err(), codemode.ErrStackLimit) || errors.Is(r.Err(), codemode.ErrMemoryLimit) {
		t.Errorf("got %v", r.Err())
	}
	// What looks like one is none.
	if r := b.run(t.Context(), `throw new RangeError("stack")`); errors.Is(r.Err(), codemode.ErrStackLimit) {
		t.Errorf("got %v", r.Err())
	}
	r = b.run(t.Context(), `let n = 0; const down = () => { n++; down() }; try { down() } catch {} return n > 500`)
	if string(r.Value) != "true" {
		t.Errorf("the depth of recursion: %s", describe(r))
	}
}

// randomText makes strings out of characters that differ in what they take in JSON.
func randomText(random *rand.Rand, most int) string {
	alphabet := []rune("abc xyz<>&\"\\/\n\t\b\u0001\u001f\u007fßé漢😀\u2028\u2029\ufffd")
	n := random.IntN(most + 1)
	if random.IntN(3) == 0 {
		return strings.Repeat(string(alphabet[random.IntN(len(alphabet))]), n)
	}
	var b strings.Builder
	for range n {
		b.WriteRune(alphabet[random.IntN(len(alphabet))])
	}
	return b.String()
}

// scriptString writes a string as a literal of JavaScript.
func scriptString(s string) string { return string(must(json.Marshal(s))) }

// Whatever a cell emits and returns, it arrives whole or as a marker that says exactly how it does not: the start of
// the compact JSON, and how many of its bytes are missing. All together stays within the budget and uses it.
func TestOutputBudget(t *testing.T) {
	t.Parallel()
	const limit = codemode.MinMaxOutputBytes
	b := newBench(t, codemode.Options{MaxOutputBytes: limit})
	random := rand.New(rand.NewPCG(7, 11))
	sizes := []int{0, 3, 40, 200, 450, 900, 3000}
	size := func() int { return sizes[random.IntN(len(sizes))] }
	retained := 0
	for range 600 {
		var code strings.Builder
		output := []byte{'['}
		for i := range random.IntN(5) {
			if i > 0 {
				output = append(output, ',')
			}
			s := randomText(random, size())
			if random.IntN(2) == 0 {
				fmt.Fprintf(&code, "text(%s);", scriptString(s))
				output = append(jsontext.AppendString(append(output, `{"type":"text","text":`...), s), '}')
			} else {
				fmt.Fprintf(&code, "json({ s: [%s] });", scriptString(s))
				output = append(jsontext.AppendString(append(output, `{"type":"json","value":{"s":[`...), s), "]}}"...)
			}
		}
		output = append(output, ']')
		s := randomText(random, size())
		fails := random.IntN(3) == 0
		if fails {
			fmt.Fprintf(&code, "throw %s", scriptString("E"+s)) // not empty
		} else {
			fmt.Fprintf(&code, "return { v: %s }", scriptString(s))
		}
		r := b.run(t.Context(), code.String())
		checkResult(t, r, limit)
		whole := checkWhole(t, "output", []byte(outputText(r)), output)
		if fails {
			if want := "E" + s; r.Error != want {
				whole = false
				start, ok := strings.CutSuffix(r.Error, " [error truncated]")
				if !ok || !strings.HasPrefix(want, start) {
					t.Errorf("the error %q is no start of %q", r.Error, want)
				}
			}
		} else {
			value := append(jsontext.AppendString([]byte(`{"v":`), s), '}')
			if id := referenceOf(r.Value); id != "" {
				if kept, err := b.Results().Load(id); err != nil || !bytes.Equal(kept, value) {
					t.Errorf("%v; %s was kept, want %s", err, kept, value)
				}
				retained++
				continue // how much of a reference is shown is its own matter
			}
			whole = checkWhole(t, "value", r.Value, value) && whole
		}
		if n := renderedSize(t, r); !whole && n < limit-20 {
			t.Errorf("something was cut though %d bytes are free: %s", limit-n, code.String())
		}
		if t.Failed() {
			t.Log(code.String())
			return
		}
	}
	if retained != codemode.MaxResults {
		t.Errorf("%d values were retained, want as many as there is room for: %d", retained, codemode.MaxResults)
	}
}

// referenceOf gives the id under which a value was retained, or "".
func referenceOf(value json.RawMessage) string {
	var r codemode.Retained
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if d.Decode(&r) != nil {
		return ""
	}
	return r.Reference.ID
}

// checkWhole tells whether got is want; if not, it must be a marker for it.
func checkWhole(t *testing.T, what string, got, want []byte) bool {
	t.Helper()
	if bytes.Equal(got, want) {
		return true
	}
	var marker codemode.Truncation
	text := got
	if what == "output" {
		text = bytes.TrimSuffix(bytes.TrimPrefix(got, []byte("[")), []byte("]"))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&marker); err != nil {
		t.Errorf("the %s is neither whole nor a marker: %v\n got: %s\nwant: %s", what, err, got, want)
		return false
	}
	if keys := strings.Join(topKeys(t, text), " "); keys != "truncated omittedBytes guidance prefix" || !marker.Truncated || marker.Guidance == "" {
		t.Errorf("the marker is %s", text)
	}
	if !bytes.HasPrefix(want, []byte(marker.Prefix)) || len(marker.Prefix)+marker.OmittedBytes != len(want) || marker.OmittedBytes <= 0 || !utf8.ValidString(marker.Prefix) {
		t.Errorf("the %s has %d bytes; the marker has a prefix of %d and omits %d: %s", what, len(want), len(marker.Prefix), marker.OmittedBytes, got)
	}
	return false
}

// A channel that is short gives what it does not use to the others.
func TestBudgetIsShared(t *testing.T) {
	t.Parallel()
	const limit = 2000
	b := newBench(t, codemode.Options{MaxOutputBytes: limit})
	for _, test := range []struct {
		name, code string
		cut        [3]bool // output, value, error
	}{
		{"all fit", `text("x".repeat(900)); return "y".repeat(1000)`, [3]bool{}},
		{"long output", `text("x".repeat(3000)); return "y".repeat(400)`, [3]bool{true, false, false}},
		{"long value", `text("x".repeat(400)); return "y".repeat(3000)`, [3]bool{false, true, false}},
		{"long error", `text("x".repeat(400)); throw "y".repeat(3000)`, [3]bool{false, false, true}},
		{"long output of a failure", `text("x".repeat(3000)); throw "y".repeat(400)`, [3]bool{true, false, false}},
		{"both long", `text("x".repeat(3000)); return "y".repeat(3000)`, [3]bool{true, true, false}},
		{"both long, failed", `text("x".repeat(3000)); throw "y".repeat(3000)`, [3]bool{true, false, true}},
		{"many pieces", `for (let i = 0; i < 1e5; i++) json(i)`, [3]bool{true, false, false}},
	} {
		r := b.run(t.Context(), test.code)
		checkResult(t, r, limit)
		cut := [3]bool{
			len(r.Output) == 1 && r.Output[0].Truncated != nil,
			len(r.Value) > 0 && r.Value[0] == '{',
			strings.HasSuffix(r.Error, " [error truncated]"),
		}
		if cut != test.cut {
			t.Errorf("%s: cut are %v, want %v", test.name, cut, test.cut)
		}
		if n := renderedSize(t, r); test.cut != [3]bool{} && n < limit-20 {
			t.Errorf("%s: %d bytes are free", test.name, limit-n)
		}
	}
}
