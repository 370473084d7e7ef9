package source

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// CodeIdentifiers yields the identifiers in the code of a program, keywords and names of properties included, in order and as
// often as they occur. Those in strings, comments and regular expressions are left out, those between ${ and } of a
// template are not; escapes are replaced.
//
// It serves to find out whether a program uses a name that is an everyday word as well. Where only a parser could tell a
// regular expression from a division, it yields what is in it: a name too many costs little, one too few breaks the
// program. It takes time linear in the code, and memory for the brackets that are open at once.
func CodeIdentifiers(code string) iter.Seq[string] {
	return func(yield func(string) bool) {
		s := codeScanner{code: code, after: statement, yield: yield}
		for s.i < len(s.code) && !s.stopped {
			s.token()
		}
	}
}

// position is what the last token says of the next: whether a slash divides, and whether a brace opens an object.
type position uint8

const (
	operand   position = iota // ends a value: a slash divides
	operator                  // wants a value: a slash starts a regular expression, a brace an object
	statement                 // a slash starts a regular expression, a brace a block
	block                     // closes a block, or so it seems: a slash is taken for the start of a regular expression
)

// Brackets that are open, by what follows when they are closed.
const (
	openPlain    = '(' // an operand
	openHead     = 'h' // the head of a statement, as in if (...): a statement
	openBlock    = '{' // a block
	openTemplate = '`' // the rest of a template
)

type codeScanner struct {
	code    string
	i       int // of the next token
	after   position
	word    string // the last token, if it is a word that is no name of a property
	dot     bool   // the last token is a dot: a word is the name of a property
	open    []byte
	noRegex int // no regular expression ends before this index
	yield   func(string) bool
	stopped bool
}

// token goes behind the next token, white space, or comment.
func (s *codeScanner) token() {
	c := s.code[s.i]
	switch class := byteClasses[c]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.i++
		return
	case c == '/' && byteAt(s.code, s.i+1) == '/', strings.HasPrefix(s.code[s.i:], "<!--"): // both are comments of JavaScript
		s.i = lineEnd(s.code, s.i)
		return
	case c == '/' && byteAt(s.code, s.i+1) == '*':
		s.i += len("/*")
		s.skipTo("*/")
		return
	case class == classStart, c == '\\', class == classNonASCII:
		s.identifier()
		return
	case class == classPart:
		s.i += identifierLen(s.code[s.i:])
		if byteAt(s.code, s.i) == '.' {
			s.i++
			s.i += identifierLen(s.code[s.i:])
		}
		s.after = operand
	default:
		s.punctuator(c)
	}
	s.word, s.dot = "", c == '.'
}

func (s *codeScanner) punctuator(c byte) {
	s.i++
	switch c {
	case '"', '\'':
		s.quoted(c)
	case '`':
		s.template()
	case '/':
		s.slash()
	case '(':
		kind := byte(openPlain)
		switch s.word {
		case "if", "while", "for", "with":
			kind = openHead
		}
		s.push(kind)
		s.after = operator
	case '[':
		s.push(openPlain)
		s.after = operator
	case '{':
		if s.after == operator {
			s.push(openPlain)
		} else {
			s.push(openBlock)
		}
		s.after = statement
	case ')', ']', '}':
		s.close()
	case ';', ':':
		s.after = statement
	case '=':
		s.after = operator
		if byteAt(s.code, s.i) == '>' {
			s.i++
			s.after = statement
		}
	case '+', '-':
		if byteAt(s.code, s.i) == c { // behind a value it belongs to that, in front of one to the other
			s.i++
		} else {
			s.after = operator
		}
	default:
		s.after = operator
	}
}

func (s *codeScanner) push(kind byte) { s.open = append(s.open, kind) }

func (s *codeScanner) close() {
	s.after = operand
	if len(s.open) == 0 {
		return
	}
	kind := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	switch kind {
	case openHead:
		s.after = statement
	case openBlock:
		s.after = block
	case openTemplate:
		s.template()
	}
}

// identifier goes behind a word, or a character that is none.
func (s *codeScanner) identifier() {
	start := s.i
	for n := 1; n > 0; s.i += n {
		s.i += identifierLen(s.code[s.i:])
		if n = 0; strings.HasPrefix(s.code[s.i:], `\u`) {
			_, n = unescape(s.code[s.i:])
		}
	}
	if s.i == start { // white space, or what the engine will not compile
		_, size := utf8.DecodeRuneInString(s.code[s.i:])
		s.i += size
		return
	}
	name := Unescape(s.code[start:s.i])
	s.stopped = !s.yield(name)
	property := s.dot
	s.word, s.dot, s.after = name, false, operand
	switch {
	case property:
		s.word = ""
	case name == "else", name == "do", name == "try", name == "finally":
		s.after = statement
	case isListed(valueKeywords, name):
		s.after = operator
	}
}

// valueKeywords stand in front of a value. The list is sorted.
var valueKeywords = []string{
	"await", "case", "delete", "extends", "in", "instanceof", "new", "of", "return", "throw", "typeof", "void", "yield",
}

// quoted goes to the end of a string, or of its line.
func (s *codeScanner) quoted(quote byte) {
	s.after = operand
	for s.i < len(s.code) {
		c := s.code[s.i]
		s.i++
		switch c {
		case quote:
			return
		case '\n', '\r': // the engine will not compile it
			return
		case '\\':
			if s.i++; strings.HasPrefix(s.code[s.i-1:], "\r\n") {
				s.i++
			}
		}
	}
}

// template goes to the end of a template, or to a value in it.
func (s *codeScanner) template() {
	s.after = operand
	for s.i < len(s.code) {
		c := s.code[s.i]
		s.i++
		switch {
		case c == '`':
			return
		case c == '\\':
			s.i++
		case c == '$' && byteAt(s.code, s.i) == '{':
			s.i++
			s.push(openTemplate)
			s.after = operator
			return
		}
	}
}

// slash goes behind a division, or a regular expression with its flags.
func (s *codeScanner) slash() {
	last := s.after
	s.after = operator
	if last == operand || s.i < s.noRegex {
		return
	}
	n, ok := regexLen(s.code[s.i:])
	if !ok { // of several slashes on the line only the first has to look
		s.noRegex = s.i + n
		return
	}
	text := s.code[s.i : s.i+n]
	s.i += n
	s.i += identifierLen(s.code[s.i:])
	s.after = operand
	if last == block {
		for name := range Identifiers(Unescape(text)) {
			if s.stopped = !s.yield(name); s.stopped {
				return
			}
		}
	}
}

// regexLen gives the length of a regular expression behind its first slash, up to the last, or that of the line if there is no last.
func regexLen(s string) (n int, ok bool) {
	class := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n', '\r':
			return i, false
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return i + 1, true
			}
		}
	}
	return len(s), false
}

// lineEnd gives the index of the end of the line at i.
func lineEnd(code string, i int) int {
	if n := strings.IndexAny(code[i:], "\n\r\u2028\u2029"); n >= 0 {
		return i + n
	}
	return len(code)
}

// skipTo goes behind a text, or to the end.
func (s *codeScanner) skipTo(text string) {
	if n := strings.Index(s.code[s.i:], text); n >= 0 {
		s.i += n + len(text)
	} else {
		s.i = len(s.code)
	}
}
