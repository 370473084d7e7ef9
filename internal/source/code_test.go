package source_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/source"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

func TestCodeIdentifiers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ code, want string }{
		{"", ""},
		{"return await load('x', \"y\\\"z\\\\\")", "return await load"},
		{"a.b?.c?.(d)[e]['f'] ?? #g", "a b c d e g"},
		{"a // b 'c\nd /* e 'f */ g /* h", "a d g"},
		{"a // b\u2028c\u2029d\re", "a c d e"},
		{"a <!-- b 'c\nd", "a d"},
		{"`a ${b} c ${`d ${e + {f: '}'}.g} h`} i \\${j} \\` k` + l", "b e f g l"},
		{"`${'`'}${a}` + b", "a b"},
		{"`a", ""}, {"`${a", "a"}, {"'a", ""}, {"`a\\", ""}, {"'a\\", ""}, {"}a)b]c", "a b c"},
		{"'a\nb", "b"}, {"'a\\\nb' + c", "c"}, {"'a\\\r\nb' + c", "c"},
		{"1 + 0x1f + 2e5 + 3_0n + 1..a + 1.5.b + .5/c + 1./d + e1", "a b c d e1"},
		// Escapes.
		{`l\u006fad(\u{73}tore)`, "load store"},
		{`a\u12 + \ + \u{} b`, "a u12 u b"},
		{`"\u0061" + b`, "b"},
		{"größe\u00a0+ 数\ufeff→ 🦀x", "größe 数 x"},
		// Regular expressions and divisions.
		{`a = /b'c/g; d`, "a d"},
		{`a = /[/b'c]/; d`, "a d"},
		{`a = /\/b'c/; d`, "a d"},
		{`f(/b'/) + [/c'/, !/d'/, x ? /e'/ : /f'/] && /g'/`, "f x"},
		{"return /b'/", "return"},
		{"for (const a of /b'/.c) typeof /d'/", "for const a of c typeof"},
		{"if (a) /b'/.c()", "if a c"},
		{"while (f(a)) /b'/.c()", "while f a c"},
		{"else /b'/", "else"},
		{"() => /b'/", ""},
		{"`${/b'/}${a}`", "a"},
		{"a / b / c", "a b c"},
		{"(a) / b / c", "a b c"},
		{"f(a)[b] / c / d", "f a b c d"},
		{"a++ / b / c", "a b c"},
		{"a + ++/b'/.c", "a c"},
		{"'a' / b / c", "b c"}, {"`a` / b / c", "b c"}, {"/a/ / b / c", "b c"},
		{"1 / b / c", "b c"},
		{"this / b / c", "this b c"},
		{"a.return / b / c", "a return b c"},
		{"a.if (x) / b / c", "a if x b c"},
		{"({ a }) / b / c", "a b c"},
		{"x = { a } / b / c", "x a b c"},
		{"a = b / c; d = e", "a b c d e"},
		{"a = /b", "a b"}, // does not compile
		{"a = /[/b/c\nd", "a b c d"},
		// Only a parser can tell.
		{"if (a) { b } /c'd/.e()", "if a b c d e"},
		{"a = { b: { c } / d / e }", "a b c d e"},
		{"f = function () {} / load('x') / 2", "f function load x"},
		// Everything at once.
		{"const { store: s = load } = x; class A { load() { return this.store } }", "const store s load x class A load return this store"},
	} {
		if got := strings.Join(slices.Collect(source.CodeIdentifiers(tt.code)), " "); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.code, got, tt.want)
		}
	}
}

func TestCodeIdentifiersStops(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"a b c", "{} /a b c/ d"} {
		n := 0
		for name := range source.CodeIdentifiers(code) {
			if n++; name == "b" {
				break
			}
		}
		if n != 2 {
			t.Errorf("%q: %d names", code, n)
		}
	}
}

// referenced gives the variables that a program refers to by another parser, and whether that can read it.
func referenced(code string) (names []string, ok bool) {
	defer func() { // it is made for programs that exist
		if recover() != nil {
			names, ok = nil, false
		}
	}()
	tree, err := js.Parse(parse.NewInputString(code), js.Options{Inline: true})
	if err != nil {
		return nil, false
	}
	collect := collector{}
	js.Walk(collect, tree)
	for name := range collect { // private fields are not names of variables
		if name[0] != '#' {
			names = append(names, source.Unescape(name))
		}
	}
	return names, true
}

type collector map[string]bool

func (c collector) Enter(node js.INode) js.IVisitor {
	if v, ok := node.(*js.Var); ok {
		c[string(v.Data)] = true
	}
	return c
}

func (c collector) Exit(js.INode) {}

// missing gives the variables of a program that CodeIdentifiers leaves out.
func missing(code string) (names []string, ok bool) {
	names, ok = referenced(code)
	got := map[string]bool{}
	for name := range source.CodeIdentifiers(code) {
		got[name] = true
	}
	return slices.DeleteFunc(names, func(name string) bool { return got[name] }), ok
}

// TestCodeIdentifiersOfRealPrograms finds every variable that a parser finds.
func TestCodeIdentifiersOfRealPrograms(t *testing.T) {
	t.Parallel()
	read := 0
	for _, p := range programs(t) {
		names, ok := missing(p.code)
		if ok {
			read++
		}
		if len(names) > 0 {
			t.Errorf("%s: %q are left out", p.name, names)
		}
	}
	if read < 700 {
		t.Errorf("the parser can read only %d of %d programs", read, len(programs(t)))
	}
}

// TestCodeIdentifiersIsLinear takes sources that would keep a scanner busy that looks at a part of them again and again.
func TestCodeIdentifiersIsLinear(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	for _, unit := range []string{
		"[/[", "/", "/[", "=/[/", "{}/[", "}/a", "{", "`${", "(", "\\", `\u{`, `\u{0`, `\u0061`, "<!--", "/*", "*/", "//", "'", "`", "\u2028", "// \u2028é", "a", "a ", "é", "{}/\\",
		"+", ")", "a.b", "0.", "\xff", "\\\r\n", "'\\\r\n",
	} {
		code := strings.Repeat(unit, size/len(unit))
		began := time.Now()
		for range source.CodeIdentifiers(code) {
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%q: %s for %d bytes", unit, took, len(code))
		}
	}
}

// FuzzCodeIdentifiers holds the scanner to a parser: it must find every variable, in whatever that can read.
func FuzzCodeIdentifiers(f *testing.F) {
	for _, p := range programs(f) {
		if len(p.code) < 2000 {
			f.Add(p.code)
		}
	}
	f.Fuzz(func(t *testing.T, code string) {
		if len(code) > 10_000 || !utf8.ValidString(code) {
			return
		}
		if names, _ := missing(code); len(names) > 0 {
			t.Errorf("%q are left out of %q", names, code)
		}
	})
}
