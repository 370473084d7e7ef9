package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestStrings reads strings of every form that the engine keeps them in.
func TestStrings(t *testing.T) {
	_, img := newTestEngine(t, nil)
	vm := acquire(t, img)
	defer vm.Release()
	long := strings.Repeat("0123456789", 2000)
	for script, want := range map[string]string{
		`""`:                        "",
		`"abc"`:                     "abc",
		`"na\u00efve"`:              "naïve",
		`"\u20ac\u00e9x"`:           "€éx",
		`"\ud83e\udd80!"`:           "🦀!",
		`"a\ud83e"`:                 "a\ufffd",
		`"\udd80\ud83eb"`:           "\ufffd\ufffdb",
		`"a\0b"`:                    "a\x00b",
		`"0123456789".repeat(2000)`: long,
		`"0123456789".repeat(2000).slice(5, 15000)`:                     long[5:15000],
		`("0123456789".repeat(2000) + "€").slice(3, 15000)`:             long[3:15000],
		`("€" + "0123456789".repeat(2000)).slice(1)`:                    long,
		`Object.keys({ toString: 1 })[0]`:                               "toString",
		`new TypeError("x").name`:                                       "TypeError",
		`"0123456789".repeat(2000).substring(100).substring(100, 9000)`: long[200:9100],
	} {
		if got := evalText(t, vm, script); got != want {
			t.Errorf("%s: got %.60q, want %.60q", script, got, want)
		}
	}
	v, err := vm.Eval([]byte(`"naïve 🦀"`), "test.js", 0)
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]string{100: "naïve 🦀", 11: "naïve 🦀", 10: "naïve ", 7: "naïve ", 3: "na", 4: "naï", 0: ""} {
		if text, size, err := vm.AppendPrefix([]byte("-"), v, most); string(text) != "-"+want || size != 11 || err != nil {
			t.Errorf("at most %d bytes: %q of %d, %v", most, text, size, err)
		}
	}
	if _, err := vm.AppendString(nil, Int(1)); err == nil {
		t.Error("a number was read as a string")
	}
}

// TestForgedAddresses reads values whose addresses lie anywhere: an error or nonsense, never a panic.
func TestForgedAddresses(t *testing.T) {
	_, img := newTestEngine(t, nil)
	vm := acquire(t, img)
	defer vm.Release()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 200_000 {
		at := random.Uint32()
		if i%2 == 0 {
			at %= uint32(len(vm.mem.buf) + 100)
		}
		_, _, _ = vm.AppendPrefix(nil, tagString<<32|Value(at), 100)
		_, _, _ = vm.Promise(tagObject<<32 | Value(at))
		w := jsonWriter{vm: vm, mem: vm.mem.buf, limit: 1 << 16, room: 1 << 16}
		w.object(at, maxJSONDepth-3)
	}
}

// TestAppendJSON compares with JSON.stringify: where the host answers, the text is the same.
func TestAppendJSON(t *testing.T) {
	_, img := newTestEngine(t, nil)
	for _, c := range []struct {
		script string
		plain  string // which modes must answer: d, s, both or neither
	}{
		{`1`, "ds"}, {`-5`, "ds"}, {`1.5`, "ds"}, {`-0`, "ds"}, {`NaN`, "ds"}, {`-Infinity`, "ds"}, {`2 ** 53`, "ds"}, {`1e21`, "ds"}, {`1e-7`, "ds"},
		{`123456789.123`, "ds"}, {`5e-324`, "ds"}, {`1.7976931348623157e308`, "ds"}, {`true`, "ds"}, {`null`, "ds"}, {`"a\u2028\u0001\"\\\n"`, "ds"}, {`"\ud800x"`, "ds"},
		{`({})`, "ds"}, {`[]`, "ds"}, {`[1, "a", null, undefined, [2], {}]`, "ds"}, {`({ a: 1, b: { c: [] } })`, "ds"},
		{`({ b: 1, 10: 2, 9: 3, a: 4, 2147483647: 5, "01": 6, "x123456789": 7 })`, "ds"}, {`({ a: 4, 4294967294: 5 })`, ""},
		{`({ a: undefined, b: 1 })`, "ds"}, {`({ [Symbol("s")]: 1, a: 2 })`, "ds"}, {`JSON.parse('{"__proto__": 1, "constructor": 2}')`, "ds"},
		{`{ const o = { a: 1, b: 2, c: 3 }; delete o.b; o.d = 4; o }`, "ds"},
		{`Object.defineProperty({ a: 1 }, "hidden", { value: 2 })`, "ds"},
		{`Object.freeze({ a: 1 })`, "ds"}, {`Object.freeze([1])`, ""}, {`Object.create(null, { a: { value: 1, enumerable: true } })`, "ds"},
		{`class A { x = 1; #y = 2 } new A()`, "d"}, {`Object.create({ inherited: 1 })`, "d"},
		{`({ get a() { return 1 } })`, ""}, {`({ f() {} })`, ""}, {`() => 1`, ""}, {`Symbol()`, ""}, {`1n`, ""}, {`[1n]`, ""}, {`2n ** 90n`, ""},
		{`undefined`, ""}, {`[1, , 3]`, ""}, {`{ const a = [1, 2]; a.length = 5; a }`, ""}, {`new Date(0)`, ""}, {`new Map()`, ""}, {`new Error("x")`, ""},
		{`new Uint8Array(2)`, ""}, {`new Proxy({}, {})`, ""}, {`new Proxy([], {})`, ""}, {`Promise.resolve()`, ""}, {`Object("s")`, ""}, {`/x/`, ""},
		{`({ toJSON: 1 })`, "d"}, {`({ toJSON() { return 1 } })`, ""}, {`Object.assign([1], { toJSON: 5 })`, "d"}, {`Object.assign([1], { extra: 5 })`, "d"},
		{`class B extends Array {} B.of(1)`, "d"}, {`Object.prototype.toJSON = () => 7; ({ a: 1 })`, "d"}, {`Array.prototype.toJSON = () => 7; [1]`, "d"},
		{`{ const o = {}; o.o = o; o }`, ""}, {`{ let a = []; for (let i = 0; i < 300; i++) a = [a]; a }`, ""},
	} {
		vm := acquire(t, img)
		v, err := vm.Eval([]byte(c.script), "test.js", 0)
		if err != nil {
			t.Fatalf("%s: %v", c.script, err)
		}
		for mode, letter := range map[JSONMode]string{JSONData: "d", JSONStringify: "s"} {
			text, ok := vm.AppendJSON([]byte("kept"), v, mode, 1<<24)
			if ok != strings.Contains(c.plain, letter) {
				t.Errorf("%s: mode %s answers %t: %s", c.script, letter, ok, text)
			}
			if !strings.HasPrefix(string(text), "kept") {
				t.Errorf("%s: lost what was there before: %s", c.script, text)
			}
			if ok && mode == JSONStringify {
				if want := stringify(t, vm, v); string(text[4:]) != want {
					t.Errorf("%s: got %s, JSON.stringify gives %s", c.script, text[4:], want)
				}
			}
			if ok && !json.Valid(text[4:]) {
				t.Errorf("%s: %s is no JSON", c.script, text)
			}
		}
		vm.Release()
	}
}

// TestAppendJSONLarge holds that a text that is counted first is the same one, in memory of its exact size.
func TestAppendJSONLarge(t *testing.T) {
	_, img := newTestEngine(t, nil)
	for name, script := range map[string]string{
		"rows":     `Array.from({ length: 9000 }, (_, id) => ({ id, name: "row \"é\"", [Symbol("s")]: 1, 7: "index", tags: ["a", undefined] }))`,
		"text":     `"plain ".repeat(30_000)`,
		"wide":     `"漢字 \ud83d\ude00 \n".repeat(30_000)`,
		"escapes":  `["\x01".repeat(40_000), { "\u2028": "\"".repeat(70_000) }]`,
		"key":      `({ ["k".repeat(200_000)]: { ["l".repeat(70_000)]: 1 }, last: 2 })`,
		"symbols":  `{ const o = {}; for (let i = 0; i < 9000; i++) { o["key" + i] = i; o[Symbol()] = i } o }`,
		"boundary": `["x".repeat(65_533), "y".repeat(65_536)]`,
	} {
		vm := acquire(t, img)
		v, err := vm.Eval([]byte(script), "test.js", 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := stringify(t, vm, v)
		for _, dst := range [][]byte{nil, []byte("kept"), make([]byte, 0, 70<<10), append(make([]byte, 0, 1<<20), "kept"...)} {
			for _, short := range []int{0, 1} {
				text, ok := vm.AppendJSON(dst, v, JSONStringify, len(want)-short)
				if ok != (short == 0) {
					t.Errorf("%s: %d bytes for a limit that is %d short: %t", name, len(text), short, ok)
				}
				if ok && string(text) != string(dst)+want {
					t.Errorf("%s: got %d bytes, want %d behind %q", name, len(text), len(want), dst)
				}
				if ok && cap(dst) < len(want) && cap(text) != len(text) {
					t.Errorf("%s: %d bytes in room for %d", name, len(text), cap(text))
				}
			}
		}
		vm.Release()
	}
}

func stringify(tb testing.TB, vm *VM, v Value) string {
	tb.Helper()
	f, err := vm.Eval([]byte("JSON.stringify"), "test.js", 0)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := vm.Call(f, v)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := vm.AppendString(nil, s)
	if err != nil {
		tb.Fatal(err)
	}
	vm.Free(s)
	vm.Free(f)
	return string(text)
}

// TestJSONRoundTrip sends random values through the guest: text in, value, text out.
func TestJSONRoundTrip(t *testing.T) {
	_, img := newTestEngine(t, nil)
	vm := acquire(t, img)
	defer vm.Release()
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		text := randomJSON(random, 5)
		v, err := vm.ParseJSON([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, ok := vm.AppendJSON(nil, v, JSONStringify, 1<<24)
		if want := stringify(t, vm, v); !ok || string(got) != want {
			t.Fatalf("%s: got %s, want %s", text, got, want)
		}
		vm.Free(v)
	}
}

func randomJSON(r *rand.Rand, depth int) string {
	kinds := 5
	if depth > 0 {
		kinds = 8
	}
	switch r.IntN(kinds) {
	case 0:
		return "null"
	case 1:
		return fmt.Sprint(r.Int32()) + []string{"", ".5", "e3", "e-12", "e19"}[r.IntN(5)]
	case 2:
		b, _ := json.Marshal(math.Float64frombits(r.Uint64() &^ (1 << 62)))
		return string(b)
	case 3, 4:
		return randomString(r)
	case 5, 6:
		var items []string
		for range r.IntN(6) {
			items = append(items, randomJSON(r, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var items []string
	for range r.IntN(8) {
		key := randomString(r)
		if r.IntN(3) == 0 {
			key = fmt.Sprintf(`"%d"`, r.IntN(20))
		}
		items = append(items, key+":"+randomJSON(r, depth-1))
	}
	return "{" + strings.Join(items, ",") + "}"
}

func randomString(r *rand.Rand) string {
	units := make([]uint16, r.IntN(12))
	limit := []int{0x80, 0x100, 0x10000}[r.IntN(3)]
	for i := range units {
		units[i] = uint16(1 + r.IntN(limit-1))
	}
	b, _ := json.Marshal(string(utf16.Decode(units)))
	return string(b)
}

func TestExceptions(t *testing.T) {
	_, img := newTestEngine(t, nil)
	vm := acquire(t, img)
	defer vm.Release()
	for _, script := range []string{`throw 1`, `null.x`, `syntax error here`, `throw undefined`} {
		_, err := vm.Eval([]byte(script), "test.js", 0)
		var exception *Exception
		if !errors.As(err, &exception) {
			t.Errorf("%s: got %v", script, err)
		}
	}
	f, err := vm.Eval([]byte(`() => { queueMicrotask(() => { throw 5 }); queueMicrotask(() => { globalThis.after = "ran" }) }`), "test.js", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vm.Call(f); err != nil {
		t.Fatal(err)
	}
	var exception *Exception
	if err := vm.Drain(); !errors.As(err, &exception) {
		t.Fatalf("got %v", err)
	}
	if n, ok := exception.Value.AsInt(); !ok || n != 5 {
		t.Errorf("threw %v", exception.Value)
	}
	if err := vm.Drain(); err != nil {
		t.Error(err)
	}
	if got := evalText(t, vm, `after`); got != "ran" {
		t.Errorf("the job behind the exception: %s", got)
	}
}

// TestRejections follows promises that are rejected, handled late, and made in floods.
func TestRejections(t *testing.T) {
	_, img := newTestEngine(t, nil)
	for script, want := range map[string]int{
		`0`:                                    0,
		`Promise.reject(1); 0`:                 1,
		`Promise.reject(1).catch(() => {}); 0`: 0,
		`const p = Promise.reject(1); Promise.reject(2); p.catch(() => {}); 0`:                                                1,
		`(async () => { throw 1 })(); 0`:                                                                                      1,
		`Promise.allSettled([1, 2, 3].map(async () => { throw 1 })); 0`:                                                       0,
		`{ const l = []; for (let i = 0; i < 5000; i++) l.push(Promise.reject(i)); for (const p of l) p.catch(() => {}); 0 }`: 0,
		`for (let i = 0; i < 5000; i++) Promise.reject(i); 0`:                                                                 5000,
		`for (let i = 0; i < 20000; i++) { const p = Promise.reject(i); p.catch(() => {}) } 0`:                                0,
	} {
		vm := acquire(t, img)
		if _, err := vm.Eval([]byte(script), "test.js", 0); err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		first, n := vm.Unhandled()
		if n != want {
			t.Errorf("%s: %d unhandled, want %d", script, n, want)
		}
		if n > 0 {
			if state, _, err := vm.Promise(first); state != Rejected || err != nil {
				t.Errorf("%s: the first is %v, %v", script, state, err)
			}
		}
		vm.Release()
	}
}

// TestIgnore: the promise whose outcome the host reads itself is not counted.
func TestIgnore(t *testing.T) {
	_, img := newTestEngine(t, nil)
	vm := acquire(t, img)
	defer vm.Release()
	f, err := vm.Eval([]byte(`async (x) => { if (x) Promise.reject("other"); throw "own" }`), "test.js", 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := vm.Call(f, Bool(false))
	if err != nil {
		t.Fatal(err)
	}
	vm.Ignore(p)
	if _, n := vm.Unhandled(); n != 0 {
		t.Errorf("%d unhandled", n)
	}
	if _, err := vm.Call(f, Bool(true)); err != nil {
		t.Fatal(err)
	}
	first, n := vm.Unhandled()
	_, reason, err := vm.Promise(first)
	if err != nil || n != 2 {
		t.Fatalf("%d unhandled, %v", n, err)
	}
	if text, err := vm.AppendString(nil, reason); err != nil || string(text) != "other" {
		t.Errorf("the first is %s, %v", text, err)
	}
}
