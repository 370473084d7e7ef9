package source_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/internal/source"
)

func TestModuleAccess(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		want bool
		code []string
	}{
		{name: "import", want: true, code: []string{
			`import("x")`, `const m = await import("node:fs");`, "return import\n(\"x\")", `import/* c */("x")`, "import // c\n('x')", `(import("x")).then(f)`, `f(() => import(x))`,
			"text(`${await import('x')}`)", `const { a } = await import("x", { with: { type: "json" } })`, `class A { x = import("y") }`, `async function* f() { yield import("x") }`,
			`x = a / 2; import("b"); y = c / 2`, `o = { import: import("x") }`, `switch (1) { default: import("x") }`, `let x = import("y")`, `a?.[import("x")]`,
		}},
		{name: "require", want: true, code: []string{
			`require("fs")`, `const fs = require("fs");`, `require ("fs")`, `(require)("fs")`, `((require))("fs")`, `require?.("fs")`, `(require)?.("fs")`, `(0, require)("fs")`,
			`(a, (b, require))("fs")`, `require/**/("fs")`, `require("fs").readFile`, `new (require("events"))()`, `if (x) { f(require("a")) }`, `(require /* r */)("fs")`,
			`require()`, "f`${require('x')}`", `r\u0065quire("fs")`, `\u{72}equire("fs")`, `requir\u{000065}("fs")`, `\u0072\u0065\u0071\u0075\u0069\u0072\u0065("fs")`,
			`function f(require) { require("x") }`,
		}},
		{name: "neither", code: []string{
			"return 1", `obj.require("x")`, `obj?.require("x")`, `obj["require"]("x")`, `this.import("x")`, `// import("x")`, `/* require("x") */`, `"import('x')"`, `'require("x")'`,
			"`import('x') ${1} require('x')`", `/import("x")/.test(s)`, `importer("x")`, `requirements("x")`, `my_require("x")`, `required(1)`, `$require("x")`, `requireé("x")`,
			`const require = 1; return require`, `typeof require`, `x = require`, `f(require)`, `const o = { require() {} }`, `const o = { import(a) { return a } }`,
			`class A { require(x) {} import(y) {} static require() {} }`, `function require(x) {}`, "require`fs`", `(require, f)("x")`, `(require.resolve)("x")`, `require.resolve("x")`,
			`(x ? require : f)("x")`, `new require("x")`, `let o = { require: (x) => x }; o.require(1)`, `o.r\u0065quire("x")`, `"\u0072equire('x')"`, `"\u00e9\u{1F980}\u"`, `e\u0072quire("x")`,
			`r\u0065quired("x")`, `\u{72equire("x")`, `\u`, `\u{`, `\u{}`, `\u{ffffffffffff}equire("x")`, `import`, `require`, ``,
		}},
		{name: "not for this parser", code: []string{
			`import x from "y"`, `import { a } from "b"`, `import.meta.url`, `import(`, `require(`, `import.source("x")`,
			strings.Repeat("(", 10_000) + `require("x")` + strings.Repeat(")", 10_000),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, code := range tt.code {
				if got := source.ModuleAccess(code); got != tt.want {
					t.Errorf("%.80q: got %v, want %v", code, got, tt.want)
				}
			}
		})
	}
}

// TestModuleAccessInRealPrograms finds access in the hostile programs that are about it, and nowhere else.
func TestModuleAccessInRealPrograms(t *testing.T) {
	t.Parallel()
	want := []string{
		"534-esc-import-std", "535-esc-import-os", "537-esc-import-file", "538-esc-import-url", "539-esc-import-json-attributes", "541-esc-import-hostile-specifier",
		"545-esc-import-never-handled", "550-esc-require",
	}
	var got []string
	for _, p := range programs(t) {
		if source.ModuleAccess(p.code) {
			got = append(got, p.name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("module access in %q, want %q", got, want)
	}
}

// TestModuleAccessIsBounded takes sources that keep a parser busy: the time for each must stay far from what the
// parser alone would need, and the process must survive their depth.
func TestModuleAccessIsBounded(t *testing.T) {
	t.Parallel()
	repeat := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i))
		}
		return b.String()
	}
	name := func(i int) string {
		return "a" + strings.Repeat("b", i%7) + strings.Repeat("c", i/7%11) + strings.Repeat("d", i/77) + ";"
	}
	nest := func(open string, n int, body, end string) string {
		return strings.Repeat(open, n) + body + strings.Repeat(end, n)
	}
	tests := map[string]string{
		"names in nested functions":   nest("function f(){", 450, repeat(3000, name), "}"),
		"names in nested blocks":      nest("{", 900, repeat(3000, name), "}"),
		"brackets in strings":         nest(`function f(){"}";`, 450, repeat(3000, name), "}"),
		"nested brackets":             nest("[", 10_000, "1", "]"),
		"nested patterns":             "let " + nest("[", 60_000, "a", "]") + " = 1",
		"nested patterns, unfinished": "let " + strings.Repeat("{a:", 40_000),
		"nested arrows":               strings.Repeat("x=>", 40_000) + "1",
		"nested async calls":          nest("async(", 10_000, "1", ")"),
		"nested templates":            nest("`${", 10_000, "1", "}`"),
		"sums":                        strings.Repeat("a+", 60_000) + "1",
		"comments":                    strings.Repeat("import/*", 100_000),
		"line comments":               strings.Repeat("require//", 200_000),
		"escapes":                     strings.Repeat(`\u{0`, 400_000),
		"words":                       strings.Repeat("import require ", 100_000),
		"two megabytes":               strings.Repeat("x = [1, 'two', /3/];\n", 100_000),
	}
	for name, code := range tests {
		for _, probe := range []string{"require(1);", "r\\u0065quire(1);"} {
			start := time.Now()
			source.ModuleAccess(probe + code)
			source.ModuleAccess(code + ";" + probe)
			if spent := time.Since(start); spent > 5*time.Second {
				t.Errorf("%s: %v", name, spent)
			}
		}
	}
}

func FuzzModuleAccess(f *testing.F) {
	for _, seed := range []string{
		`import("x")`, `(0, require)("x")`, `r\u0065quire("x")`, "`${require(1)}`", `class A { require() {} }`, `x = /require(1)/`, `\u{72}`, "import/*", "let [a, {b}] = require()",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) {
		found := source.ModuleAccess(code)
		if found && !strings.Contains(code, "import") && !strings.Contains(code, "require") && source.Unescape(code) == code {
			t.Errorf("%q: access without the words", code)
		}
		if ok, _ := parses(t.Context(), code); found && !ok {
			t.Errorf("%q: access in a source that does not parse", code)
		}
	})
}
