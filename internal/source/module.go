package source

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// Bounds on the sources that ModuleAccess parses. The parser's time to resolve names grows with the number of names times
// the number of scopes around them (256 KiB of names, 450 functions deep, take it ten seconds), and its depth of recursion in
// destructuring patterns with the length of the source. The bounds keep both small: some tens of milliseconds and 32 MiB of stack
// for the worst sources known. Programs as models write them, a kilobyte or two, stay a hundred times below.
const (
	maxScanBytes = 128 << 10
	maxScanWork  = 200_000 // names times scopes
)

// ModuleAccess reports whether code asks for a module: by import(...), or by a call of the identifier require, which may
// stand in parentheses, before ?. or at the end of a comma sequence. A method of that name, a comment or a string
// is not access.
//
// It serves to tell a model early what to do instead; keeping modules away from a cell is the work of the engine. So a source
// that the parser here cannot read, or that would keep it busy, counts as having no access.
func ModuleAccess(code string) bool {
	return mayAccessModules(code) && isCheapToScan(code) && scanModules(code)
}

// mayAccessModules reports whether the text contains something like a call of import or require, or an escape
// that could spell a letter of require. Most programs that contain these words at all contain them in strings.
func mayAccessModules(code string) bool {
	return isFollowed(code, "import", "(", "/*", "//") ||
		isFollowed(code, "require", "(", ")", "?.", "/*", "//") ||
		escapesLetter(code, "require")
}

// isFollowed reports whether the identifier word occurs in code before one of next, white space left out.
func isFollowed(code, word string, next ...string) bool {
	for at := strings.Index(code, word); at >= 0; at = strings.Index(code, word) {
		code = code[at+len(word):]
		rest := skipSpace(code)
		for _, n := range next {
			if strings.HasPrefix(rest, n) {
				return true
			}
		}
	}
	return false
}

// escapesLetter reports whether code contains a \u escape for one of letters.
func escapesLetter(code, letters string) bool {
	for at := strings.Index(code, `\u`); at >= 0; at = strings.Index(code, `\u`) {
		code = code[at:]
		r, n := unescape(code)
		if n > 0 && strings.ContainsRune(letters, r) {
			return true
		}
		code = code[max(n, 2):]
	}
	return false
}

// unescape decodes the \uXXXX or \u{X...} that s starts with. Its length is 0 if there is none.
func unescape(s string) (r rune, length int) {
	start, end := len(`\u`), len(`\uXXXX`)
	braced := byteAt(s, start) == '{'
	if braced {
		start++
		for end = start; strings.IndexByte("0123456789abcdefABCDEF", byteAt(s, end)) >= 0; {
			end++
		}
		if byteAt(s, end) != '}' {
			return 0, 0
		}
	}
	if end > len(s) {
		return 0, 0
	}
	code, err := strconv.ParseUint(s[start:end], 16, 32)
	if err != nil || code > utf8.MaxRune {
		return 0, 0
	}
	if braced {
		end++
	}
	return rune(code), end
}

// isCheapToScan reports whether code keeps within the bounds above. It counts names and scopes from above, for it does not
// tell strings from code.
func isCheapToScan(code string) bool {
	if len(code) > maxScanBytes {
		return false
	}
	names := make(map[string]struct{})
	for name := range Identifiers(code) {
		names[name] = struct{}{}
	}
	return len(names)*countScopes(code) <= maxScanWork
}

// countScopes counts what can open a scope: blocks, arrows, and parentheses that hold parameters or might hold those of an
// arrow function. It does not look for the ends of scopes, which strings could fake.
func countScopes(code string) int {
	return 1 + strings.Count(code, "{") + strings.Count(code, "(") + strings.Count(code, "=>")
}

// scanModules looks for module access in the syntax tree of code. maxScanBytes bounds the walk through the tree.
func scanModules(code string) (found bool) {
	defer func() {
		if recover() != nil {
			found = false
		}
	}()
	tree, err := parseTree(code)
	if err != nil {
		return false
	}
	var finder moduleFinder
	js.Walk(&finder, tree)
	return finder.found
}

// parseTree parses code, which must be cheap to scan. The parser gives up on statements and expressions nested more than a
// thousand levels deep. It is made for web pages that exist, and code is anything: a fault in it must not take the process down,
// and counts as a source that it cannot read.
func parseTree(code string) (tree *js.AST, err error) {
	defer func() {
		if recover() != nil {
			tree, err = nil, errParser
		}
	}()
	return js.Parse(parse.NewInputString(code), js.Options{Inline: true}) // inline: return is allowed outside functions
}

var errParser = errors.New("the parser failed")

// SyntaxErrorIn looks for the error in a source that the engine does not compile, and gives nil if it finds none. It is a second
// look: the engine decides what is an error, but its columns are those of an earlier token.
func SyntaxErrorIn(code string) *InputError {
	if !isCheapToScan(code) {
		return nil
	}
	_, err := parseTree(code)
	if at := (*parse.Error)(nil); errors.As(err, &at) {
		return SyntaxError(at.Line, at.Column, at.Message)
	}
	return nil
}

// moduleFinder is a visitor that stops at the first access to a module.
type moduleFinder struct{ found bool }

func (f *moduleFinder) Enter(node js.INode) js.IVisitor {
	if f.found {
		return nil
	}
	if call, ok := node.(*js.CallExpr); ok && isLoader(call.X) {
		f.found = true
		return nil
	}
	return f
}

func (f *moduleFinder) Exit(js.INode) {}

// isLoader reports whether a callee is import, or require as [ModuleAccess] describes it.
func isLoader(callee js.IExpr) bool {
	switch callee := callee.(type) {
	case *js.LiteralExpr:
		return callee.TokenType == js.ImportToken
	case *js.Var:
		return isRequire(callee.Data)
	case *js.GroupExpr:
		return isLoader(callee.X)
	case *js.CommaExpr:
		return isLoader(callee.List[len(callee.List)-1])
	}
	return false
}

// isRequire reports whether name is require, perhaps with escapes.
func isRequire(name []byte) bool {
	for _, want := range "require" {
		if bytes.HasPrefix(name, []byte(`\u`)) {
			r, n := unescape(string(name))
			if n == 0 || r != want {
				return false
			}
			name = name[n:]
		} else {
			if len(name) == 0 || rune(name[0]) != want {
				return false
			}
			name = name[1:]
		}
	}
	return len(name) == 0
}
