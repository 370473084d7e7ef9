package corpus

import (
	"fmt"
	"strings"
)

// A nest is a construct that can hold itself: open as often as the depth says,
// then core, then as many close.
type nest struct {
	name              string
	before            string
	open, core, close string
	after             string
	value             string
}

// nests are programs in which one construct holds itself, 1,000 to 200,000 deep.
// Constructs that only lean to the left, such as 1+1+1, are no recursion for a
// parser but may be one for whoever walks its tree.
func nests() []shape {
	var shapes []shape
	for _, n := range nestKinds {
		for _, depth := range [...]int{1_000, 20_000, 200_000} {
			shapes = append(shapes, shape{
				name:   fmt.Sprintf("nest-%s-%d", n.name, depth),
				why:    fmt.Sprintf("%d levels: %s", depth, n.name),
				accept: giving(n.value),
				build: func() string {
					return n.before + strings.Repeat(n.open, depth) + n.core + strings.Repeat(n.close, depth) + n.after
				},
			})
		}
	}
	return shapes
}

var nestKinds = []nest{
	// Brackets.
	{"parentheses", "return ", "(", "1", ")", ";", "1"},
	{"arrays", "const a = ", "[", "1", "]", "; return 1;", "1"},
	{"array-spreads", "const a = ", "[...", "[]", "]", "; return a.length;", "0"},
	{"objects", "const o = ", "{a:", "1", "}", "; return 1;", "1"},
	{"object-spreads", "const o = ", "{...", "{}", "}", "; return 1;", "1"},
	{"computed-keys", "const o = ", "{[", "1", "]:1}", "; return 1;", "1"},
	{"array-patterns", "const f = (", "[", "v", "]", ") => v; return 1;", "1"},
	{"object-patterns", "const f = (", "{a:", "v", "}", ") => v; return 1;", "1"},
	{"assignment-patterns", "let v = []; const f = () => { ", "[", "v", "]", " = v; }; return 1;", "1"},
	{"default-patterns", "const f = (", "[a=", "1", "]=[]", ") => 1; return 1;", "1"},
	{"indexes", "const a = [0]; return ", "a[", "0", "]", ";", "0"},
	{"calls", "const f = (x) => x; return ", "f(", "1", ")", ";", "1"},
	{"news", "function F() {} const o = ", "new F(", "1", ")", "; return 1;", "1"},
	{"templates", "const s = ", "`${", "1", "}`", "; return s;", "1"},
	{"blocks", "", "{", "", "}", " return 1;", "1"},
	{"evals", "const f = () => ", "eval(", "1", ")", "; return 1;", "1"},

	// Functions and classes.
	{"functions", "", "function f(){", "", "}", " return 1;", "1"},
	{"function-expressions", "const f = ", "function(){return ", "1", "}", "; return 1;", "1"},
	{"called-functions", "return ", "(function(){return ", "1", "})()", ";", "1"},
	{"arrows", "const f = ", "()=>", "1", "", "; return 1;", "1"},
	{"arrow-blocks", "const f = ", "()=>{return ", "1", "}", "; return 1;", "1"},
	{"arrow-defaults", "const f = ", "(a=", "1", ")=>1", "; return 1;", "1"},
	{"async-arrows", "const f = ", "async()=>", "1", "", "; return 1;", "1"},
	{"generators", "", "function* g(){yield* ", "[]", "}", " return 1;", "1"},
	{"methods", "const o = ", "{m(){return ", "1", "}}", "; return 1;", "1"},
	{"classes", "const c = ", "class{static m(){return ", "1", "}}", "; return 1;", "1"},
	{"class-heritage", "const c = ", "class extends ", "Object", "{}", "; return 1;", "1"},
	{"static-blocks", "", "class C{static{", "", "}}", " return 1;", "1"},

	// Statements.
	{"ifs", "", "if(1)", ";", "", " return 1;", "1"},
	{"if-blocks", "", "if(1){", "", "}", " return 1;", "1"},
	{"else-ifs", "", "if(0);else ", ";", "", " return 1;", "1"},
	{"fors", "", "for(;0;)", ";", "", " return 1;", "1"},
	{"for-ofs", "", "for(const x of []){", "", "}", " return 1;", "1"},
	{"whiles", "", "while(0)", ";", "", " return 1;", "1"},
	{"dos", "", "do ", ";", " while(0);", " return 1;", "1"},
	{"switches", "", "switch(1){case 1:", "", "}", " return 1;", "1"},
	{"tries", "", "try{", "", "}catch{}", " return 1;", "1"},
	{"catches", "", "try{throw 1}catch{", "", "}", " return 1;", "1"},
	{"finallys", "", "try{}finally{", "", "}", " return 1;", "1"},

	// Operators that lean to the right.
	{"nots", "return ", "!!", "1", "", ";", "true"},
	{"minuses", "return ", "- - ", "1", "", ";", "1"},
	{"tildes", "return ", "~~", "1", "", ";", "1"},
	{"typeofs", "return ", "typeof ", "1", "", ";", "string"},
	{"voids", "return ", "void ", "1", "", ";", "undefined"},
	{"deletes", "return ", "delete ", "1", "", ";", "true"},
	{"awaits", "return ", "await ", "1", "", ";", "1"},
	{"powers", "return ", "1**", "1", "", ";", "1"},
	{"assignments", "let a; return ", "a=", "1", "", ";", "1"},
	{"compound-assignments", "let a = 0; return ", "a+=", "1", "", ";", "1"},
	{"conditionals", "return ", "0?0:", "1", "", ";", "1"},
	{"conditional-middles", "return ", "1?", "1", ":0", ";", "1"},
	{"bare-news", "function F() { return F; } const o = ", "new ", "F", "", "; return 1;", "1"},
	{"yields", "function* g() { ", "yield ", "1", "", "; } return 1;", "1"},

	// Operators and suffixes that lean to the left.
	{"sums", "return 0", "+0", "", "", ";", "0"},
	{"string-sums", "return ''", "+''", "", "", ";", ""},
	{"products", "return 1", "*1", "", "", ";", "1"},
	{"ands", "return 1", "&&1", "", "", ";", "1"},
	{"ors", "return 0", "||0", "", "", ";", "0"},
	{"nullishes", "return null", "??null", "", "", ";", "null"},
	{"comparisons", "return 0", "<1", "", "", ";", "false"},
	{"ins", "const r = 'a'", " in {}", "", "", "; return 1;", "1"},
	{"commas", "return 0", ",0", "", "", ";", "0"},
	{"members", "const a = {}; a.a = a; return a", ".a", "", "", "===a;", "true"},
	{"optional-chains", "const a = {}; a.a = a; return a", "?.a", "", "", "===a;", "true"},
	{"index-chains", "const a = []; a[0] = a; return a", "[0]", "", "", "===a;", "true"},
	{"call-chains", "const f = () => f; return f", "()", "", "", "===f;", "true"},
	{"tagged-templates", "const f = () => f; return f", "``", "", "", "===f;", "true"},
	{"method-chains", "const o = {m: () => o}; return o", ".m()", "", "", "===o;", "true"},

	// Regular expressions.
	{"regexp-groups", "return /", "(", "r", ")", `/.test("r");`, "true"},
	{"regexp-plain-groups", "return /", "(?:", "r", ")", `/.test("r");`, "true"},
	{"regexp-lookaheads", "return /", "(?=", "r", ")", `/.test("r");`, "true"},
	{"regexp-lookbehinds", "return /", "(?<=", "", ")", `/.test("r");`, "true"},
	{"regexp-stars", "return /", "(?:", "r", ")*", `/.test("r");`, "true"},
	{"regexp-classes", "const r = /", "[", "r", "]", "/v; return 1;", "1"},

	// Brackets that never close: always a syntax error.
	{"open-parentheses", "return ", "(", "", "", "", "never"},
	{"open-arrays", "return ", "[", "", "", "", "never"},
	{"open-objects", "return ", "{a:", "", "", "", "never"},
	{"open-blocks", "", "{", "", "", "", "never"},
	{"open-templates", "return ", "`${", "", "", "", "never"},
	{"open-functions", "", "function f(){", "", "", "", "never"},
	{"open-mix", "", "if(1){[(`${{a:", "", "", "", "never"},
}
