package harden

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Programs without an end of their own. Each must be ended by its ticks, whatever it is busy with.
func TestEndless(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"loop":               `for (;;) {}`,
		"recursion":          `(function f(n) { if (n) { f(n - 1); f(n - 1) } })(200)`,
		"jobs":               `(function f() { Promise.resolve().then(f) })()`,
		"generator":          `for (const x of (function* () { for (;;) yield 1 })());`,
		"string search":      `"a".repeat(1e7).indexOf("a".repeat(5e6) + "b")`,
		"array-like":         `Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)`,
		"regular expression": `/^(a+)+$/.test("a".repeat(40) + "b")`,
		"sort":               `const a = new Float64Array(1e5); for (;;) { a[0] = a.length; a.sort() }`,
		"big integers":       `let x = 7n ** 50000n; for (;;) x * x`,
		"fill":               `const a = new Uint8Array(1 << 25); for (;;) a.fill(1)`,
		"copy":               `const a = new Uint8Array(1 << 25); for (;;) a.copyWithin(1, 0)`,
		"concatenation":      `const s = "x".repeat(6e6); for (;;) (s + "y").length`,
		"allocation":         `for (;;) new Uint8Array(1 << 24)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVM(t)
			v.budget = 300
			if got, err := v.eval(t, script); !errors.Is(err, errBudget) {
				t.Errorf("got %q, %v; want %v", got, err, errBudget)
			}
		})
	}
}

// What programs see of the hardening. Each VM works on afterwards.
func TestGuest(t *testing.T) {
	t.Parallel()
	try := func(expression string) string {
		return `try { ` + expression + `; "no error" } catch (e) { String(e) }`
	}
	const tooDeep = "RangeError: Maximum call stack size exceeded"
	for _, test := range []struct{ name, script, want string }{
		{"no host modules", `[typeof std, typeof os, typeof bjson, typeof console, typeof setTimeout].join()`,
			"undefined,undefined,undefined,undefined,undefined"},
		{"deep recursion", try(`(function f() { return f() + 1 })()`), tooDeep},
		{"deep JSON", try(`JSON.parse("[".repeat(1e5))`), tooDeep},
		{"deep source", try(`eval("(".repeat(1e5))`), tooDeep},
		{"iterator helper tower", try(`let i = [1].values(); for (let n = 0; n < 1e4; n++) i = i.map(x => x); i.next()`), tooDeep},
		{"memory", try(`const a = []; for (;;) a.push(new Uint8Array(1 << 20))`), "InternalError: out of memory"},
		{"cyclic garbage", `for (let i = 0; i < 400; i++) { const o = { b: new Uint8Array(1 << 20) }; o.o = o } "collected"`, "collected"},

		// Sizes that wrap around 32 bits.
		{"proxy keys", try(`Object.keys(new Proxy({}, { ownKeys: () => ({ length: 2 ** 29 }) }))`), "InternalError: out of memory"},
		{"proxy own keys", try(`Reflect.ownKeys(new Proxy({}, { ownKeys: () => ({ length: 2 ** 32 - 1 }) }))`), "InternalError: out of memory"},
		{"with", try(`Array.prototype.with.call({ length: 2 ** 29 + 3 }, 0, 1)`), "RangeError: invalid array length"},
		{"toReversed", try(`Array.prototype.toReversed.call({ length: 2 ** 29 + 3 })`), "RangeError: invalid array length"},
		{"toSorted", try(`Array.prototype.toSorted.call({ length: 2 ** 29 + 3 })`), "RangeError: invalid array length"},
		{"toSpliced", try(`Array.prototype.toSpliced.call({ length: 2 ** 29 + 3 }, 0, 1)`), "RangeError: invalid array length"},
		{"transfer", try(`new ArrayBuffer(8).transfer(2 ** 32 + 8)`), "RangeError: invalid array index"},
		{"transferToFixedLength", try(`new ArrayBuffer(8).transferToFixedLength(2 ** 32 + 8)`), "RangeError: invalid array index"},

		// The same functions, used as they should be.
		{"small sizes", `[Object.keys(new Proxy({ a: 1, b: 2 }, {})), [3, 1].with(0, 4), [3, 1].toReversed(), [3, 1].toSorted(),
			[3, 1].toSpliced(0, 1, 5, 6), new ArrayBuffer(8).transfer(16).byteLength, [1, 2].values().map(x => x * 2).toArray()].join(";")`,
			"a,b;4,1;1,3;1,3;5,6,1;16;2,4"},
		{"large sizes", `const a = new Array(2e5).fill(7); [a.toReversed().length, a.toSorted().length, a.with(5, 8)[5],
			a.toSpliced(1, 1).length, new ArrayBuffer(1e6).transfer(2e6).byteLength].join()`, "200000,200000,8,199999,2000000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v := newVM(t)
			if got, err := v.eval(t, test.script); got != test.want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
			if got, err := v.eval(t, `[..."ok"].join("")`); got != "ok" || err != nil {
				t.Errorf("afterwards: got %q, %v", got, err)
			}
		})
	}
}

func TestImportFindsNothing(t *testing.T) {
	t.Parallel()
	v := newVM(t)
	for _, module := range []string{"std", "os", "bjson", "qjs:std", "qjs:os", "qjs:bjson", "./vm_test.go"} {
		if _, err := v.eval(t, `import("`+module+`").then(() => outcome = "loaded", e => outcome = String(e)); var outcome`); err != nil {
			t.Fatal(err)
		}
		if got, _ := v.eval(t, `outcome`); !strings.Contains(got, "could not load module") {
			t.Errorf("import of %s: %s", module, got)
		}
	}
}

// C code that checks no stack limit still cannot leave the stack.
func TestStackBoundTraps(t *testing.T) {
	t.Parallel()
	v := newVM(t)
	const script = `(function f(n) { if (n) f(n - 1) })(200)`
	if _, err := v.eval(t, script+"; 0"); err != nil {
		t.Fatal(err)
	}
	v.global(ExportSPMin).Set(v.global(ExportSP).Get() - 16<<10)
	v.global(ExportSPReach).Set(math.MaxInt32)
	if got, err := v.eval(t, script); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("got %q, %v; want a trap", got, err)
	}
}

func TestRejectionTracker(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		script string
		want   []int32
	}{
		{`Promise.resolve(1).then(() => 2)`, nil},
		{`Promise.reject(1)`, []int32{ArgcRejected}},
		{`(async () => { throw 2 })()`, []int32{ArgcRejected}},
		{`const p = Promise.reject(3); p.catch(() => {})`, []int32{ArgcRejected, ArgcNowHandled}},
		{`Promise.reject(1); const q = Promise.reject(3); q.catch(() => {})`, []int32{ArgcRejected, ArgcRejected, ArgcNowHandled}},
	} {
		v := newVM(t)
		if _, err := v.eval(t, test.script); err != nil {
			t.Fatal(err)
		}
		var got []int32
		for _, e := range v.events {
			got = append(got, e.argc)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %d, want %d", test.script, got, test.want)
		}
	}
}

// The offsets of the layout, on a promise that the tracker hands over.
func TestLayout(t *testing.T) {
	t.Parallel()
	v := newVM(t)
	if _, err := v.eval(t, `globalThis.p = Promise.reject(42); globalThis.q = Promise.reject(43); q.catch(() => {}); 0`); err != nil {
		t.Fatal(err)
	}
	type state struct {
		class                  uint16
		state, handled, result uint32
	}
	var got []state
	for _, e := range v.events[:2] {
		object := e.promise & 0xffffffff
		data := uint64(v.u32(object + ObjectData))
		got = append(got, state{
			uint16(v.u32(object + ObjectClassID)), v.u32(data + PromiseState),
			v.u32(data+PromiseHandled) & 0xff, v.u32(data + PromiseResult),
		})
	}
	want := []state{{ClassPromise, PromiseRejected, 0, 42}, {ClassPromise, PromiseRejected, 1, 43}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}

	random := v.ctx + ContextRandomState
	v.setU32(random, 1)
	v.setU32(random+4, 2)
	first, _ := v.eval(t, `Math.random()`)
	v.setU32(random, 1)
	v.setU32(random+4, 2)
	if again, _ := v.eval(t, `Math.random()`); again != first {
		t.Errorf("the same seed gave %s, then %s", first, again)
	}
	if next, _ := v.eval(t, `Math.random()`); next == first {
		t.Errorf("Math.random repeats %s", next)
	}
}

// Bulk work is paid by the byte, if not by the element.
func TestBulkTicks(t *testing.T) {
	t.Parallel()
	v := newVM(t)
	if _, err := v.eval(t, `var a = new Uint8Array(1 << 22), b = new Uint8Array(1 << 22), s = "x".repeat(1 << 22), t`); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		script string
		bytes  int // copied or filled
	}{
		{`a.copyWithin(1, 0)`, 1 << 22},
		{`a.set(b)`, 1 << 22},
		{`t = s + "y"`, 1 << 22},
		{`new Uint8Array(1 << 22)`, 1 << 22},
		{`a.slice()`, 2 << 22}, // cleared, then copied
	} {
		v.ticks = 0
		if _, err := v.eval(t, test.script+"; 0"); err != nil {
			t.Fatal(err)
		}
		if want := test.bytes >> copyUnitShift / Period; v.ticks < want || v.ticks > want+2 {
			t.Errorf("%s: %d ticks, want %d", test.script, v.ticks, want)
		}
	}
}

func TestInterpreter(t *testing.T) {
	t.Parallel()
	m, err := newMachine(hardened(), wazero.NewRuntimeConfigInterpreter())
	if err != nil {
		t.Fatal(err)
	}
	v := m.newVM(t)
	if got, err := v.eval(t, `[1, 2, 3].map(x => x * 2).join()`); got != "2,4,6" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	v.budget = v.ticks + 5
	if _, err := v.eval(t, `for (;;) {}`); !errors.Is(err, errBudget) {
		t.Errorf("endless loop: %v", err)
	}
}

func TestExports(t *testing.T) {
	t.Parallel()
	v := newVM(t)
	for _, name := range []string{ExportSP, ExportSPMin, ExportCount} {
		if g, ok := v.mod.ExportedGlobal(name).(api.MutableGlobal); !ok || g.Type() != api.ValueTypeI32 {
			t.Errorf("%s is no mutable global of type i32", name)
		}
	}
	loop := v.mod.ExportedFunction(ExportLoop).Definition()
	if !slices.Equal(loop.ParamTypes(), []api.ValueType{api.ValueTypeI32}) || len(loop.ResultTypes()) != 0 {
		t.Errorf("%s has type %v -> %v", ExportLoop, loop.ParamTypes(), loop.ResultTypes())
	}
}
