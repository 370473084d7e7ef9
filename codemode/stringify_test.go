package codemode_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/jsontext"
)

// The host reads plain data out of a cell's memory by itself. For any value that must give what the engine's own
// JSON.stringify gives: emitted, as an argument and (without hooks) returned.
func TestDataIsReadAsTheEngineWritesIt(t *testing.T) {
	t.Parallel()
	g := valueMaker{rand.New(rand.NewPCG(8, 15))}
	b := newBench(t, codemode.Options{MaxOutputBytes: codemode.MaxMaxOutputBytes})
	for range 150 {
		hooks := g.IntN(2) == 0
		value := "[" + g.value(4, hooks) + "," + g.value(2, hooks) + "]"
		code := "const v = " + value + "; text(JSON.stringify(v)); text(v); json(v); await echo(v); return v"
		r := b.run(t.Context(), code)
		if r.Err() != nil || len(r.Output) != 3 {
			t.Fatalf("%s: %s", code, describe(r))
		}
		items := make([][]byte, 3)
		for i, item := range r.Output {
			items[i] = must(item.MarshalJSON())
		}
		if string(items[0]) != string(items[1]) {
			t.Fatalf("%s\ntext:  %s\nwants: %s", code, items[1], items[0])
		}
		var written struct{ Text string }
		if err := json.Unmarshal(items[0], &written); err != nil {
			t.Fatal(err)
		}
		want := written.Text
		if got := string(r.Output[2].Value); got != want {
			t.Fatalf("%s\njson:  %s\nwants: %s", code, got, want)
		}
		calls := b.rec.Calls("echo")
		argument := string(must(jsontext.Compact([]byte(want)))) // with U+FFFD for lone surrogates
		if got := string(calls[len(calls)-1].Input); got != argument {
			t.Fatalf("%s\nargument: %s\nwants:    %s", code, got, argument)
		}
		if !hooks && string(r.Value) != want {
			t.Fatalf("%s\nvalue: %s\nwants: %s", code, r.Value, want)
		}
	}
}

// valueMaker writes expressions of JavaScript.
type valueMaker struct{ *rand.Rand }

func (g valueMaker) value(depth int, hooks bool) string {
	if depth == 0 || g.IntN(4) == 0 {
		return g.scalar(hooks)
	}
	n := g.IntN(6)
	switch g.IntN(4) {
	case 0:
		return "[" + g.list(n, depth, hooks) + "]"
	case 1: // an array that was worked on
		change := []string{".slice(1)", ".concat([1,,2])", ".toReversed()", ".flat()", ".map((x) => x)", ".filter((x) => x)"}[g.IntN(6)]
		return "[" + g.list(n, depth, hooks) + "]" + change
	case 2: // an object that was worked on
		return fmt.Sprintf("(() => { const o = %s; for (const k of Object.keys(o)) if (k.length %% 2) delete o[k]; o.b = %s; o[%d] = 1; return o })()",
			g.object(n, depth, hooks), g.value(depth-1, hooks), g.IntN(3))
	}
	return g.object(n, depth, hooks)
}

func (g valueMaker) list(n, depth int, hooks bool) string {
	var items []string
	for range n {
		if g.IntN(8) == 0 {
			items = append(items, "") // a hole
		} else {
			items = append(items, g.value(depth-1, hooks))
		}
	}
	return strings.Join(items, ",")
}

func (g valueMaker) object(n, depth int, hooks bool) string {
	keys := []string{"a", "b", "c1", "1", "0", "10", "4294967294", "4294967295", "-1", "01", "__proto__", "constructor", "length", "é", "漢", "\x00", "\u2028", "\"", ""}
	var fields []string
	for range n {
		fields = append(fields, fmt.Sprintf("[%s]: %s", strconv.QuoteToASCII(keys[g.IntN(len(keys))]), g.value(depth-1, hooks)))
	}
	text := "({" + strings.Join(fields, ", ") + "})"
	return []string{text, text, "Object.freeze(" + text + ")", "Object.assign(Object.create(null), " + text + ")"}[g.IntN(4)]
}

func (g valueMaker) scalar(hooks bool) string {
	plain := []string{
		"null", "true", "false", "undefined", "() => 1", "Symbol('s')", "NaN", "-Infinity", "0", "-0", "[]", "({})", "''",
		`"a\u0000\u001f\u007f\"\\/\n\b"`, `"é漢😀"`, `"\ud83d"`, `"\udc00\ud83d\u2028"`, `"ab".repeat(20) + "é" + "x".repeat(9)`, `"0123456789".slice(2, 5)`,
		"2147483647", "-2147483648", "2147483648", "2 ** 53", "1e21", "123456789012345680000", "5e-324", "1.7976931348623157e308",
	}
	withHooks := []string{
		"new Date(86400000)", "({ toJSON: (k) => [k] })", "Object.assign([1], { toJSON: null })", "new Map([[1, 2]])", "new Uint8Array([1, 2])", "new String('s')",
		"new (class { x = 1; get y() { return 2 } })()", "({ get a() { return { b: [1] } } })", "new Proxy({ a: 1 }, {})", "new Proxy([1, , 2], {})",
	}
	switch g.IntN(4) {
	case 0:
		return strconv.FormatFloat(g.NormFloat64()*float64(slices.Max([]int{1, g.IntN(1e9)})), 'g', -1, 64)
	case 1:
		return strconv.FormatInt(int64(g.IntN(1<<33)-1<<32), 10)
	}
	if hooks && g.IntN(3) == 0 {
		return withHooks[g.IntN(len(withHooks))]
	}
	return plain[g.IntN(len(plain))]
}
