package guest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/cellmode/cellmode/internal/engine"
)

// consoleImage is a VM with the console, which writes to the host as text items do: as JSON. Its named
// value is a function that gives any value as a string.
var consoleImage = sync.OnceValues(func() (*engine.Image, error) {
	ctx := context.Background()
	e, err := engine.New(ctx, nil)
	if err != nil {
		return nil, err
	}
	return e.NewImage(ctx, func(vm *engine.VM, host engine.Value) ([]engine.Value, error) {
		install, err := vm.Eval([]byte(`(host, console) => {
			const { stringify } = JSON;
			console(
				(name, value) => { Object.defineProperty(globalThis, name, { value }); },
				(message) => host(stringify(message), 0, 0, 0),
				{ reveal: (value) => value },
			);
		}`), "install.js", engine.EvalStrict)
		if err != nil {
			return nil, err
		}
		script, err := os.ReadFile("console.js")
		if err != nil {
			return nil, err
		}
		console, err := vm.Eval(script, "console.js", engine.EvalStrict)
		if err != nil {
			return nil, err
		}
		if _, err := vm.Call(install, host, console); err != nil {
			return nil, err
		}
		vm.Free(install)
		vm.Free(console)
		toText, err := vm.Eval([]byte(`(() => { const text = String; return (value) => text(value); })()`), "text.js", engine.EvalStrict)
		return []engine.Value{toText}, err
	})
})

// consoleGuest is a VM with the console, and what has been printed there so far.
type consoleGuest struct {
	t       *testing.T
	vm      *engine.VM
	printed []string // as JSON texts
}

func newConsoleGuest(t *testing.T) *consoleGuest {
	t.Helper()
	img, err := consoleImage()
	if err != nil {
		t.Fatal(err)
	}
	vm, err := img.Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vm.Release)
	g := &consoleGuest{t: t, vm: vm}
	vm.OnHostCall(func(args []engine.Value) engine.Value {
		text, err := vm.AppendString(nil, args[0])
		if err != nil {
			t.Errorf("what was printed is no string: %v", err)
		}
		g.printed = append(g.printed, string(text))
		return engine.Undefined
	})
	return g
}

// run evaluates a script and gives its completion value as text. A script that throws fails the test.
func (g *consoleGuest) run(script string) string {
	g.t.Helper()
	g.vm.Limit(time.Now().Add(10*time.Second), nil)
	value, err := g.vm.Eval([]byte(script), "cell.js", 0)
	exception, thrown := errors.AsType[*engine.Exception](err)
	if thrown {
		value = exception.Value
	} else if err != nil {
		g.t.Fatal(err)
	}
	text, err := g.vm.Call(g.vm.Named(0), value)
	if err != nil {
		g.t.Fatal(err)
	}
	out, err := g.vm.AppendString(nil, text)
	if err != nil {
		g.t.Fatal(err)
	}
	if thrown {
		g.t.Fatalf("the script throws %s", out)
	}
	return string(out)
}

// messages gives what has been printed, and forgets it.
func (g *consoleGuest) messages() []string {
	g.t.Helper()
	messages := make([]string, len(g.printed))
	for i, text := range g.printed {
		if err := json.Unmarshal([]byte(text), &messages[i]); err != nil {
			g.t.Fatalf("%s: %v", text, err)
		}
	}
	g.printed = nil
	return messages
}

// units gives a text's length as JavaScript counts it.
func units(text string) int { return len(utf16.Encode([]rune(text))) }

// TestConsoleScripts runs the scripts of testdata/console that say, in comments that begin with
// "//> ", what they print.
func TestConsoleScripts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"values", "levels", "errors", "objects", "cells"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := os.ReadFile(filepath.Join("testdata", "console", name+".js"))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(script)) {
				if text, ok := strings.CutPrefix(line, "//> "); ok {
					want = append(want, strings.TrimSuffix(text, "\n"))
				}
			}
			g := newConsoleGuest(t)
			g.run(string(script))
			got := g.messages()
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Errorf("message %d\n got %s\nwant %s", i, got[i], want[i])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d messages, want %d", len(got), len(want))
			}
		})
	}
}

const (
	cutSuffix  = "…[truncated]"
	rocket     = "🚀"
	bigObject  = `Object.fromEntries(Array.from({ length: 50 }, (_, i) => ["k" + i, "x".repeat(500)]))`
	outputCut  = "[console output truncated]"
	outputSize = 16384
)

// TestConsoleLimits holds the size of what one call prints.
func TestConsoleLimits(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	list := func(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	fields := func(format string, n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(list, ",")
	}
	tests := []struct{ name, args, want string }{
		{"string that fits", `"x".repeat(512)`, x(512)},
		{"string", `"x".repeat(513)`, x(500) + cutSuffix},
		{"string inside", `["x".repeat(513)]`, `["` + x(500) + cutSuffix + `"]`},
		{"key that fits", `{ ["x".repeat(512)]: 1 }`, `{"` + x(512) + `":1}`},
		{"key", `{ ["x".repeat(513)]: 1 }`, `{"` + x(500) + cutSuffix + `":1}`},
		{"symbol", `Symbol("x".repeat(1000))`, "Symbol(" + x(493) + cutSuffix},
		{"BigInt", `10n ** 1000n`, "1" + strings.Repeat("0", 499) + cutSuffix},
		{"surrogate pairs", `"🚀".repeat(300)`, strings.Repeat(rocket, 250) + cutSuffix},
		{"surrogate pair at the cut", `"x" + "🚀".repeat(300)`, "x" + strings.Repeat(rocket, 249) + cutSuffix},
		{"lone surrogate after the cut", `"x".repeat(500) + "\udc00".repeat(20)`, x(500) + cutSuffix},
		{"array that fits", `Array(50).fill(1)`, "[" + list("1", 50) + "]"},
		{"array", `Array(51).fill(1)`, "[" + list("1", 50) + `,"[truncated]"]`},
		{"huge sparse array", `Array(2 ** 32 - 1)`, "[" + list("null", 50) + `,"[truncated]"]`},
		{"object that fits", `record(50)`, "{" + fields(`"k%d":1`, 50) + "}"},
		{"object", `record(51)`, "{" + fields(`"k%d":1`, 50) + `,"…":"[truncated]"}`},
		{"hidden properties do not count", `Object.defineProperties(record(50), { h: {} })`, "{" + fields(`"k%d":1`, 50) + "}"},
		{"error of many fields", `Object.assign(new Error("m"), record(49))`, "{" + fields(`"k%d":1`, 49) + `,"message":"m"}`},
		{"typed array", `new Int8Array(51)`, "{" + fields(`"%d":0`, 50) + `,"…":"[truncated]"}`},
		{"arguments that fit", `...Array(100).fill(1)`, strings.TrimSuffix(strings.Repeat("1 ", 100), " ")},
		{"arguments", `...Array(101).fill(1)`, strings.Repeat("1 ", 100) + "[truncated]"},
		{"values that fit", `Array(50).fill(1), Array(48).fill(1)`, "[" + list("1", 50) + "] [" + list("1", 48) + "]"},
		{"values", `Array(50).fill(1), Array(49).fill(1)`, "[" + list("1", 50) + "] [" + list("1", 48) + `,"[truncated]"]`},
		{"values in objects", `[Array(50).fill(1), { a: Array(47).fill(1) }, 3], 4`, `[[` + list("1", 50) + `],{"a":[` + list("1", 46) + `,"[truncated]"]},"[truncated]"] [truncated]`},
		{"message that fits", `...Array(7).fill("x".repeat(511)), "x".repeat(512)`, strings.Repeat(x(511)+" ", 7) + x(512)},
		{"message", `...Array(7).fill("x".repeat(511)), "x".repeat(511), "", ""`, strings.Repeat(x(511)+" ", 7) + x(500) + cutSuffix},
		{"message of pairs", `"a", ...Array(17).fill("🚀".repeat(250))`, "a " + strings.Repeat(strings.Repeat(rocket, 250)+" ", 8) + strings.Repeat(rocket, 37) + cutSuffix},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := newConsoleGuest(t)
			g.run(`const record = (n) => Object.fromEntries(Array(n).fill(1).map((one, i) => ["k" + i, one]));
				console.log(` + test.args + `)`)
			got := g.messages()
			if len(got) != 1 || got[0] != test.want {
				t.Fatalf("console.log(%s)\n got %q\nwant %q", test.args, got, test.want)
			}
			if n := units(got[0]); n > 4096 {
				t.Errorf("the message has %d units", n)
			}
		})
	}
}

// TestConsoleCost takes values whose full text would not fit into the guest's time or memory.
func TestConsoleCost(t *testing.T) {
	t.Parallel()
	g := newConsoleGuest(t)
	g.run(`
		console.log(new Uint8Array(32 << 20));
		console.log(Array(1e6).fill("x"), "x".repeat(1e7));
		let deep = null;
		for (let i = 0; i < 1e5; i++) deep = { deep };
		console.log(deep);
		const again = new Proxy({}, { ownKeys() { console.log(again); return []; } });
		console.log(again);
	`)
	if g.vm.MemoryRefused() {
		t.Error("the guest ran out of memory")
	}
	got := g.messages()
	for i, want := range []string{`{"0":0,"1":0,`, `["x","x",`, `{"deep":{"deep":{"deep":{"deep":"[truncated]"}}}}`} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("message %d is %q, want %q", i, got[i], want)
		}
	}
}

// TestConsoleOutputCap holds the size of what all calls together print, also over several runs of the
// same guest, as a resumed cell has them.
func TestConsoleOutputCap(t *testing.T) {
	t.Parallel()
	const empty = len(`{"type":"text","text":""}`)
	for name, test := range map[string]struct {
		call string
		fit  int // messages before the notice
	}{
		"empty":   {`console.log()`, (outputSize - 100) / empty},
		"escapes": {`console.log("\u0001".repeat(100))`, (outputSize - 100) / (empty + 600)},
		"exact":   {`console.log("x".repeat(92 - 25))`, (outputSize - 100) / 92},
		"large":   {`console.log(` + bigObject + `)`, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newConsoleGuest(t)
			for range 7 {
				g.run(`for (let i = 0; i < 100; i++) ` + test.call)
			}
			size := 0
			for _, text := range g.printed {
				size += len(utf16.Encode([]rune(text))) + empty - 2
			}
			if size > outputSize {
				t.Errorf("%d units were printed", size)
			}
			got := g.messages()
			if len(got) != test.fit+1 || got[len(got)-1] != outputCut {
				t.Fatalf("%d messages, the last is %q; want %d and the notice", len(got), got[len(got)-1], test.fit)
			}
			for _, message := range got[:test.fit] {
				if message == outputCut {
					t.Error("the notice comes twice")
				}
			}
			g.run(`console.error("after"); console.log(new Proxy({}, { ownKeys() { throw 1; } }))`)
			if got := g.messages(); len(got) != 0 {
				t.Errorf("after the notice: %q", got)
			}
		})
	}
}

// TestConsoleCapInTrap lets a proxy's trap print until the cap while a message is being made.
func TestConsoleCapInTrap(t *testing.T) {
	t.Parallel()
	g := newConsoleGuest(t)
	g.run(`console.log(new Proxy({}, { ownKeys() { for (let i = 0; i < 1000; i++) console.log("x"); return []; } }))`)
	got := g.messages()
	if n := len(got) - 1; got[n] != outputCut || got[n-1] != "x" {
		t.Errorf("the last messages are %q", got[n-1:])
	}
}

// TestConsoleHostile replaces every built-in that a cell can reach.
func TestConsoleHostile(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(filepath.Join("testdata", "console", "hostile.js"))
	if err != nil {
		t.Fatal(err)
	}
	g := newConsoleGuest(t)
	if called := g.run(string(script)); called != "" {
		t.Errorf("replaced built-ins were called: %s", called)
	}
	got := g.messages()
	if len(got) != 10 {
		t.Fatalf("%d messages, want 10: %q", len(got), got)
	}
	for i, before := range got[:5] {
		if after := got[i+5]; before != after {
			t.Errorf("message %d changed:\nbefore %s\nafter  %s", i, before, after)
		}
	}
}

// TestConsolePromiseNote holds that a promise reads the same wherever it is emitted.
func TestConsolePromiseNote(t *testing.T) {
	t.Parallel()
	controller, err := os.ReadFile("controller.js")
	if err != nil {
		t.Fatal(err)
	}
	g := newConsoleGuest(t)
	g.run(`console.log(Promise.resolve())`)
	if note := g.messages()[0]; !strings.Contains(string(controller), quote(note)) {
		t.Errorf("controller.js does not have %q", note)
	}
}
