package guest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readFile(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "webapi", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// quote writes text as a JavaScript literal.
func quote(text string) string {
	literal, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(literal)
}

// evaluateAll gives, for each expression, the JSON text of its value, or "throws" and what it threw.
func evaluateAll(t *testing.T, expressions []string) []string {
	t.Helper()
	run := newGuest(t)
	if _, err := run(readFile(t, "prelude.js")); err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(expressions)
	if err != nil {
		t.Fatal(err)
	}
	text, err := run(fmt.Sprintf(`JSON.stringify(%s.map((code) => {
		try { return String(JSON.stringify((0, eval)("(" + code + ")"))); } catch (error) { return "throws " + error.name; }
	}))`, list))
	if err != nil {
		t.Fatal(err)
	}
	var results []string
	if err := json.Unmarshal([]byte(text), &results); err != nil {
		t.Fatal(err)
	}
	return results
}

// differs holds the recorded expressions for which the guest rightly gives something else than Node.
var differs = map[string]struct{ want, why string }{
	`url("foo:/..")`: {
		`["foo:/","null","foo:","","","","","","/","",""]`,
		"the standard keeps the slash: a last segment that is \"..\" leaves an empty one",
	},
	`url("foo://h/..")`: {
		`["foo://h/","null","foo:","","","h","h","","/","",""]`, "as above",
	},
	`url("..", "foo:/a")`: {
		`["foo:/","null","foo:","","","","","","/","",""]`, "as above",
	},
	`set("foo://h", "pathname", "/..")`: {
		`["foo://h/","null","foo:","","","h","h","","/","",""]`, "as above",
	},
	`thrown(() => new TextDecoder().decode(bytes(), 5))`: {
		`"TypeError"`, "the standard wants a dictionary; Node does not look",
	},
	`thrown(() => new atob("YQ=="))`: {
		`"TypeError"`, "a function of the web platform is no constructor; Node's is a plain function",
	},
	`[structuredClone.name, structuredClone.length]`: {
		`["structuredClone",1]`, "the standard's argument is required; Node's function declares none",
	},
}

// TestWebAPIAsNode compares the web APIs with what Node 20 was recorded to give: see
// testdata/webapi/record.mjs.
func TestWebAPIAsNode(t *testing.T) {
	t.Parallel()
	for _, suite := range []string{"url", "params", "encoding", "clone"} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			var recorded [][2]string
			if err := json.Unmarshal([]byte(readFile(t, suite+".json")), &recorded); err != nil {
				t.Fatal(err)
			}
			var expressions []string
			for _, r := range recorded {
				expressions = append(expressions, r[0])
			}
			for i, got := range evaluateAll(t, expressions) {
				code, want := recorded[i][0], recorded[i][1]
				if d, ok := differs[code]; ok {
					if d.want == want {
						t.Errorf("%s: listed as a difference (%s), but is the same in Node", code, d.why)
					}
					want = d.want
				}
				if got != want {
					t.Errorf("%s\n got %s\nwant %s", code, got, want)
				}
			}
		})
	}
}

// TestWebAPIBeyondNode holds what Node 20 does not do, or does otherwise than browsers.
func TestWebAPIBeyondNode(t *testing.T) {
	t.Parallel()
	tests := []struct{ why, code, want string }{
		{"windows-1252 is no ISO-8859-1", `units(new TextDecoder("latin1").decode(bytes(0x80, 0x92, 0x9f, 0x81)))`, `"20ac 2019 178 81"`},
		{"fatal errors leave nothing behind", `(() => { const d = new TextDecoder("utf-8", { fatal: true }); thrown(() => d.decode(bytes(0xe2, 0xff), { stream: true })); return d.decode(bytes(0x41)); })()`, `"A"`},
		{"a text that is no buffer names what is wanted", `(() => { try { new TextDecoder().decode("x"); } catch (e) { return e.message; } })()`, `"The \"input\" argument must be an instance of ArrayBuffer or ArrayBufferView"`},
		{"platform objects are not plain objects", `[new URL("http://h"), new URLSearchParams(), new TextEncoder(), new TextDecoder()].map((v) => thrown(() => structuredClone(v)))`, `["DataCloneError","DataCloneError","DataCloneError","DataCloneError"]`},
		{"a DOMException can be cloned", `(() => { const c = structuredClone(new DOMException("m", "AbortError")); return [c instanceof DOMException, c.name, c.message, c.code]; })()`, `[true,"AbortError","m",20]`},
		{"an error can be its own cause", `(() => { const e = new Error("x"); e.cause = e; const c = structuredClone(e); return c.cause === c && c !== e; })()`, `true`},
		{"depth is not bounded by the stack", `(() => { let o = null; for (let i = 0; i < 2e4; i++) o = { o }; let n = 0; for (let c = structuredClone(o); c; c = c.o) n++; return n; })()`, `20000`},
		{"nor for maps, sets, arrays and causes", `(() => { let v = 1; for (let i = 0; i < 2000; i++) v = new Map([[i, new Set([[new Error("x", { cause: v })]])]]); return structuredClone(v).size; })()`, `1`},
		{"what is transferred must be transferable", `[thrown(() => structuredClone(1, { transfer: [{}] })), thrown(() => structuredClone(1, { transfer: [bytes(1)] })), thrown(() => { const b = new ArrayBuffer(1); structuredClone(b, { transfer: [b] }); structuredClone(1, { transfer: [b] }); })]`, `["DataCloneError","DataCloneError","DataCloneError"]`},
		{"long sources are cut in messages", `(() => { try { structuredClone(new Function("x".repeat(1000))); } catch (e) { return e.message.length < 150; } })()`, `true`},
		{"a label too long is cut", `(() => { try { new TextDecoder("x".repeat(1000)); } catch (e) { return e.message.length < 120; } })()`, `true`},
		{"punycode labels are taken as they are", `[new URL("http://XN--A/").host, new URL("http://xn--/").host]`, `["xn--a","xn--"]`},
		{"functions that are not constructors", `[atob, btoa, structuredClone].map((f) => thrown(() => new f("")) + Object.hasOwn(f, "prototype"))`, `["TypeErrorfalse","TypeErrorfalse","TypeErrorfalse"]`},
		{"methods are not enumerable", `[URL, URLSearchParams, TextEncoder, TextDecoder].map((c) => Object.keys(c.prototype).length + Object.keys(c).length)`, `[0,0,0,0]`},
		{"an iterator gives no way to its class", `"constructor" in Object.getPrototypeOf(new URLSearchParams().keys()) && Object.getPrototypeOf(new URLSearchParams().keys()).constructor === Iterator`, `true`},
	}
	var expressions []string
	for _, test := range tests {
		expressions = append(expressions, test.code)
	}
	for i, got := range evaluateAll(t, expressions) {
		if got != tests[i].want {
			t.Errorf("%s: %s\n got %s\nwant %s", tests[i].why, tests[i].code, got, tests[i].want)
		}
	}
}

// TestStructuredCloneHandles loads clone.js again with a notion of handles.
func TestStructuredCloneHandles(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("clone.js")
	if err != nil {
		t.Fatal(err)
	}
	got, err := newGuest(t)(fmt.Sprintf(`(() => {
		const handle = { id: 1 };
		let clone;
		(%s)({ isHandle: (value) => value === handle }, (name, value) => { clone = value; });
		try {
			clone({ list: [handle] });
		} catch (error) {
			return error.name + ": " + error.message + " " + clone({ id: 1 }).id;
		}
	})()`, script))
	if want := "DataCloneError: #<Tool> could not be cloned. 1"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestWebAPIHostile replaces every built-in that a cell can reach.
func TestWebAPIHostile(t *testing.T) {
	t.Parallel()
	text, err := newGuest(t)(readFile(t, "hostile.js"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(text, "====\n")
	if len(parts) != 3 {
		t.Fatalf("hostile.js gives %q", text)
	}
	if before, after := parts[0], parts[1]; before != after {
		t.Errorf("results changed:\nbefore %s\nafter  %s", before, after)
	}
	if parts[2] != "" {
		t.Errorf("replaced built-ins were called: %s", parts[2])
	}
}

// TestWebAPIGlobals finds out whether a script leaves anything behind but what it is there for.
func TestWebAPIGlobals(t *testing.T) {
	t.Parallel()
	run := newGuest(t)
	got, err := run(`Object.getOwnPropertyNames(globalThis).slice(Object.getOwnPropertyNames(globalThis).indexOf("TextEncoder")).join()`)
	if err != nil {
		t.Fatal(err)
	}
	if want := "TextEncoder,TextDecoder,atob,btoa,URL,URLSearchParams,structuredClone"; got != want {
		t.Errorf("new globals are %s, want %s", got, want)
	}
}

// TestWebAPILarge takes inputs of a megabyte and more. Work that grows with the square of the input
// would run into the guest's deadline or its memory limit.
func TestWebAPILarge(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"encode and decode ASCII": `const s = "0123456789abcdef".repeat(65536); new TextDecoder().decode(new TextEncoder().encode(s)) === s`,
		"encode and decode wide":  `const s = "é日🚀x".repeat(100000); new TextDecoder().decode(new TextEncoder().encode(s)) === s`,
		"decode broken":           `new TextDecoder().decode(new Uint8Array(1 << 18).fill(0xe2)).length === 1 << 18`,
		"decode UTF-16":           `new TextDecoder("utf-16le").decode(new Uint16Array(1 << 20).fill(0x65e5)).length === 1 << 20`,
		"base64":                  `const s = "\u00ffab".repeat(100000); atob(btoa(s)) === s`,
		"data URL":                `new URL("data:text/plain,é " + "a b".repeat(350000)).pathname.length > 1e6`,
		"long path":               `new URL("http://h/" + "a/../b c/".repeat(20000)).pathname === "/" + "b%20c/".repeat(20000)`,
		"long query":              `const p = new URLSearchParams("a=b%20c&".repeat(20000)); p.toString().length === 119999 && p.size === 20000`,
		"wild percent":            `new URLSearchParams("a=" + "%ff".repeat(350000)).get("a").length === 350000`,
		"clone records":           `const list = Array.from({ length: 3000 }, (_, i) => ({ id: i, name: "n" + i, tags: ["a", "b"], at: { x: i } })); JSON.stringify(structuredClone(list)) === JSON.stringify(list)`,
		"clone bytes":             `structuredClone(new Uint8Array(8 << 20)).length === 8 << 20`,
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := newGuest(t)(script)
			if err != nil {
				t.Fatal(err)
			}
			if got != "true" {
				t.Errorf("%s gives %s", script, got)
			}
		})
	}
}

// FuzzURL holds that a URL that parses is ASCII, parses again to the same, and survives setters.
func FuzzURL(f *testing.F) {
	var recorded [][2]string
	if err := json.Unmarshal([]byte(readFile(f, "url.json")), &recorded); err != nil {
		f.Fatal(err)
	}
	for i, r := range recorded {
		args, ok := strings.CutPrefix(r[0], "url(")
		if !ok || i%7 != 0 {
			continue
		}
		var list []string
		if err := json.Unmarshal([]byte("["+strings.TrimSuffix(args, ")")+"]"), &list); err != nil {
			f.Fatal(err)
		}
		f.Add(list[0], strings.Join(list[1:], ""))
	}
	f.Fuzz(func(t *testing.T, input, base string) {
		got, err := newGuest(t)(fmt.Sprintf(`(() => {
			const input = %s, base = %s;
			let u;
			try {
				u = new URL(input, base === "" ? undefined : base);
			} catch (error) {
				return error instanceof TypeError && error.message === "Invalid URL" ? "" : String(error);
			}
			const check = (what) => {
				const { href } = u;
				if (/[^!-~ ]/.test(href)) throw new Error(what + ": not ASCII: " + href);
				if (new URL(href).href !== href) throw new Error(what + ": " + href + " parses to " + new URL(href).href);
			};
			check("parse");
			u.searchParams.append(input, base);
			check("append");
			for (const key of ["hash", "search", "pathname", "port", "hostname", "host", "password", "username", "protocol"]) {
				u[key] = input;
				check(key);
			}
			return "";
		})()`, quote(input), quote(base)))
		if err != nil || got != "" {
			t.Errorf("URL(%q, %q): %s %v", input, base, got, err)
		}
	})
}
