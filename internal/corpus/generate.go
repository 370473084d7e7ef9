package corpus

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// brokenEnd makes any complete program a syntax error, found only after all of it
// was read.
const brokenEnd = "\n)];"

// Generate yields hostile programs that consist of very long source text: single
// tokens of a megabyte, lists of 100,000 entries, and every kind of bracket and
// operator nested 1,000, 20,000 and 200,000 deep. Each comes a second time, named
// "...-broken", with a syntax error at its very end.
//
// A parser, compiler or evaluator that recurses without a limit does not survive
// them; one that takes quadratic time does not meet its deadline. A program that
// completes must give the right value; a runtime that refuses source of that size
// or depth ends in an error. The text of each program is built when it is
// yielded, so that only one is held at a time.
func Generate() iter.Seq[Program] {
	return func(yield func(Program) bool) {
		for _, s := range [...]func() []shape{tokens, lists, nests} {
			for _, shape := range s() {
				if !shape.yield(yield) {
					return
				}
			}
		}
	}
}

// A shape is a generated program before its text is built.
type shape struct {
	name, why string
	accept    []Ending
	build     func() string
}

func (s shape) yield(yield func(Program) bool) bool {
	code := s.build()
	if !yield(Program{Name: s.name, Why: s.why, Accept: s.accept, Code: code}) {
		return false
	}
	return yield(Program{
		Name:   s.name + "-broken",
		Why:    s.why + ", with a syntax error at the end",
		Accept: failures,
		Code:   code + brokenEnd,
	})
}

// failures are the ends of a program that is too big for the engine.
var failures = []Ending{{Class: Error}, {Class: Stack}, {Class: Memory}, {Class: Timeout}}

// giving accepts the right value, and that the program is too big.
func giving(value string) []Ending {
	return append([]Ending{{Class: Value, Text: value}}, failures...)
}

// tokens are programs with one token of a megabyte.
func tokens() []shape {
	const size = 1_000_000 // two of them are less than the 2 MiB that a cell may have
	long := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	token := func(name, value string, build func() string) shape {
		return shape{"token-" + name, "a token of 1 MB: " + name, giving(value), build}
	}
	return []shape{
		token("identifier", "1", func() string { return "const " + long("a") + " = 1; return " + long("a") + ";" }),
		token("identifier-escapes", "1", func() string { return "const " + long(`\u0061`) + " = 1; return 1;" }),
		token("identifier-astral", "1", func() string { return "const " + long("𝓐") + " = 1; return 1;" }),
		token("property-name", "1", func() string { return "return {" + long("p") + ": 1}." + long("p") + ";" }),
		token("private-name", "1", func() string {
			return "return new class { #" + long("p") + " = 1; get() { return this.#" + long("p") + "; } }().get();"
		}),
		token("label", "1", func() string { return long("l") + ": for (;;) { break " + long("l") + "; } return 1;" }),
		token("line-comment", "1", func() string { return "//" + long(" x") + "\nreturn 1;" }),
		token("block-comment", "1", func() string { return "/*" + long("* ") + "*/ return 1;" }),
		token("blank-lines", "1", func() string { return long("\n") + "return 1;" }),
		token("blanks", "1", func() string { return long(" \t") + "return 1;" }),
		token("semicolons", "1", func() string { return long(";") + "return 1;" }),
		token("string", strconv.Itoa(size), func() string { return `return "` + long("s") + `".length;` }),
		token("string-escapes", strconv.Itoa(size/4), func() string { return `return "` + long(`\x41`) + `".length;` }),
		token("string-continued", "0", func() string { return `return "` + long("\\\n") + `".length;` }),
		token("string-two-bytes", strconv.Itoa(size/2), func() string { return `return "` + long("é") + `".length;` }),
		token("template", strconv.Itoa(size), func() string { return "return `" + long("t") + "`.length;" }),
		token("template-parts", strconv.Itoa(size/4), func() string { return "return `" + long("${1}") + "`.length;" }),
		token("tagged-template-parts", strconv.Itoa(size/4+1), func() string { return "return ((s) => s.length)`" + long("${1}") + "`;" }),
		token("integer", "Infinity", func() string { return "return " + long("9") + ";" }),
		token("fraction", "0.1111111111111111", func() string { return "return 0." + long("1") + ";" }),
		token("hexadecimal", "Infinity", func() string { return "return 0x" + long("f") + ";" }),
		token("exponent", "Infinity", func() string { return "return 1e" + long("9") + ";" }),
		token("separators", "Infinity", func() string { return "return 1" + long("_1") + ";" }),
		token("bigint", "true", func() string { return "return " + long("9") + "n > 0n;" }),
		token("regexp", "false", func() string { return "return /" + long("r") + `/.test("r");` }),
		token("regexp-class", "true", func() string { return "return /[" + long("rs") + `]/.test("r");` }),
		token("regexp-alternatives", "true", func() string { return "return /" + long("r|") + `/.test("");` }),
		token("regexp-groups", "true", func() string { return "return /" + long("()") + `/.test("");` }),
		token("regexp-quantifiers", "true", func() string { return "return /" + long("r?") + `/.test("");` }),
		token("one-line-of-statements", "1", func() string { return long("0;") + "return 1;" }),
	}
}

// lists are programs with 100,000 of a thing.
func lists() []shape {
	const count = 100_000
	// each builds "before", count entries made from format and the entry's number,
	// and "after".
	each := func(before, format, after string) func() string {
		return func() string {
			var b strings.Builder
			b.WriteString(before)
			for i := range count {
				fmt.Fprintf(&b, format, i)
			}
			b.WriteString(after)
			return b.String()
		}
	}
	list := func(name, value string, build func() string) shape {
		return shape{"list-" + name, "100,000 of a thing: " + name, giving(value), build}
	}
	all := strconv.Itoa(count)
	last := strconv.Itoa(count - 1)
	return []shape{
		list("variables", last, each("", "let v%d = %[1]d;", "return v99999;")),
		list("var-statements", last, each("", "var v%d = %[1]d;", "return v99999;")),
		list("declarators", last, each("let z", ",v%d = %[1]d", "; return v99999;")),
		list("functions", "function", each("", "function f%d(){}", "return typeof f99999;")),
		list("arrow-functions", last, each("const f = [", "() => %d,", "]; return f[99999]();")),
		list("classes", "1", each("", "class C%d {}", "return 1;")),
		list("methods", "undefined", each("return new class {", "m%d(){}", "}().m99999();")),
		list("fields", last, each("return new class {", "f%d = %[1]d;", "}().f99999;")),
		list("private-fields", last, each("return new class {", "#f%d = %[1]d;", "get() { return this.#f99999; } }().get();")),
		list("cases", "1", each("switch (99999) {", "case %d:", "return 1; }")),
		list("labels", "1", each("", "l%d:", "; return 1;")),
		list("parameters", "1", each("function f(z", ",p%d", ") { return 1; } return f();")),
		list("default-parameters", "1", each("function f(z", ",p%d = %[1]d", ") { return 1; } return f(1);")),
		list("arguments", all, each("function f() { return arguments.length - 1; } return f(0", ",%d", ");")),
		list("array-entries", all, each("return [", "%d,", "].length;")),
		list("array-holes", all, func() string { return "return [" + strings.Repeat(",", count) + "].length;" }),
		list("array-spreads", all, each("const a = [1]; return [", "...a/*%d*/,", "].length;")),
		list("object-entries", last, each("return {", "k%d: %[1]d,", "}.k99999;")),
		list("object-index-entries", last, each("return {", "%d: %[1]d,", "}[99999];")),
		list("object-same-entries", last, each("return {", "k: %d,", "}.k;")),
		list("object-getters", "undefined", each("return {", "get k%d(){},", "}.k99999;")),
		list("object-computed-entries", "0", each("return {", `["k"+%d]:0,`, "}.k99999;")),
		list("array-pattern", "undefined", each("const [", "v%d,", "] = []; return v99999;")),
		list("object-pattern", "undefined", each("const {", "v%d,", "} = {}; return v99999;")),
		list("statements", last, each("let n = 0;", "n = %d;", "return n;")),
		list("expression-lines", last, each("let n;", "n = %d\n", "return n;")),
		list("blocks", "1", each("", "{ let v = %d; }", "return 1;")),
		list("loops", "1", each("", "for(;0;)%d;", "return 1;")),
		list("try-blocks", "1", each("", "try{%d}catch{}", "return 1;")),
		list("awaits", last, each("let n;", "n = await %d;", "return n;")),
		list("strings", all, each("return [", `"s%d",`, "].length;")),
		list("templates", all, each("return [", "`s${%d}`,", "].length;")),
		list("regexps", "1", each("", "/r%d/;", "return 1;")),
		list("bigints", "1", each("", "%dn;", "return 1;")),
		list("duplicate-var", "1", each("", "var v/*%d*/;", "return 1;")),
	}
}
