package source

import (
	"strings"
	"unicode/utf8"
)

// The functions of this file look at the head of a source: at what may stand before a command, and at the forms of shell
// scripts that need no command. Each goes through its text once.

// skipBlanks skips spaces, tabs and escaped line ends.
func skipBlanks(s string) string {
	for {
		s = strings.TrimLeft(s, " \t")
		rest, ok := strings.CutPrefix(s, "\\\n")
		if !ok {
			return s
		}
		s = rest
	}
}

// skipComments skips white space and the comments of JavaScript and of the shell. Of an unterminated comment nothing is
// left.
func skipComments(s string) string {
	for {
		s = skipSpace(s)
		switch {
		case strings.HasPrefix(s, "//"), strings.HasPrefix(s, "#"):
			_, s, _ = strings.Cut(s, "\n")
		case strings.HasPrefix(s, "/*"):
			_, s, _ = strings.Cut(s[2:], "*/")
		default:
			return s
		}
	}
}

func skipSpace(s string) string {
	if s != "" && s[0] > ' ' && s[0] < utf8.RuneSelf {
		return s
	}
	return strings.TrimLeftFunc(s, isSpace)
}

// skipAssignments skips NAME=value words, as they may stand before a command or on lines of their own, and comments between
// such lines. The flag tells whether what is left stands on the line of the last assignment, or is the whole of s.
// An assignment that only JavaScript can mean leaves nothing.
func skipAssignments(s string) (rest string, inLine bool) {
	inLine = true
	for {
		value, ok := cutAssignmentName(s)
		if !ok {
			return s, inLine
		}
		n := shellWordLen(value)
		rest := skipBlanks(value[n:])
		inLine = rest != "" && strings.IndexByte("\r\n;", rest[0]) < 0
		if isListed(keywords, value[:n]) || !inLine && n == 0 || n > 0 && endsOpen(value[:n]) {
			return "", false
		}
		if s = rest; !inLine {
			s = skipComments(strings.TrimLeft(rest, "\r\n; \t"))
		}
	}
}

// cutAssignmentName returns what follows NAME= at the start of s, unless that is a comparison or an arrow.
func cutAssignmentName(s string) (value string, ok bool) {
	n := identifierLen(s)
	if n == 0 || byteAt(s, n) != '=' || byteAt(s, n+1) == '=' || byteAt(s, n+1) == '>' {
		return "", false
	}
	return s[n+1:], byteClasses[s[0]] != classPart
}

// endsOpen reports whether a value ends with an operator, so that in JavaScript it would go on after white space.
func endsOpen(value string) bool {
	last := value[len(value)-1]
	return byteClasses[last] == classOther && strings.IndexByte("\"'`)]}/~@#\\", last) < 0
}

// shellWordLen returns the length of the shell word that s starts with. Blanks count as part of it in quotes, after a
// backslash, and in the parentheses or braces of an expansion.
func shellWordLen(s string) int {
	depth := 0 // of $( and ${
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '$' && (byteAt(s, i+1) == '(' || byteAt(s, i+1) == '{'):
			depth++
			i++
		case depth > 0:
			if c == ')' || c == '}' {
				depth--
			}
		case strings.IndexByte(" \t\r\n;&|<>", c) >= 0:
			return i
		}
	}
	return len(s)
}

// isExportStatement reports whether s starts with an export of a JavaScript module, and not with the shell's export.
func isExportStatement(s string) bool {
	rest, ok := cutWord(s, "export")
	if !ok {
		return false
	}
	rest = skipSpace(rest)
	if c := byteAt(rest, 0); c == '{' || c == '*' {
		return true
	}
	return isListed(exportKeywords, rest[:identifierLen(rest)])
}

// isControlForm reports whether s starts with a control structure of the shell.
func isControlForm(s string) bool {
	n := identifierLen(s)
	rest := skipBlanks(s[n:])
	if len(rest) == len(s)-n {
		return false // no blank: if(x), for(;;)
	}
	switch s[:n] {
	case "if", "elif", "while", "until":
		return isCondition(rest)
	case "for":
		return isForIn(rest) || isForLoop(rest)
	case "case":
		line := firstLine(rest)
		return strings.HasSuffix(strings.TrimRight(line, " \t\r"), " in") || strings.Contains(line, " in ")
	case "function":
		word, _, _ := strings.Cut(firstLine(rest), "{")
		return len(word) < len(firstLine(rest)) && isHyphenated(strings.TrimRight(word, " \t"))
	}
	return false
}

// isCondition reports whether s is what follows if or while in the shell: a test, or the bare word of a command.
func isCondition(s string) bool {
	if s[:min(1, len(s))] == "[" {
		return true
	}
	n := 0
	for n < len(s) && isWordByte(s[n]) {
		n++
	}
	return n > 0 && n < len(s) && strings.IndexByte(" \t;", s[n]) >= 0 && !readsAsJavaScript(s[n:])
}

// isForIn reports whether s is `NAME in`.
func isForIn(s string) bool {
	n := identifierLen(s)
	rest := skipBlanks(s[n:])
	_, ok := cutWord(rest, "in")
	return n > 0 && len(rest) < len(s)-n && ok
}

// isForLoop reports whether s is `((...)); do`.
func isForLoop(s string) bool {
	rest, ok := strings.CutPrefix(s, "((")
	if !ok {
		return false
	}
	_, rest, ok = strings.Cut(rest, "))")
	rest = skipBlanks(rest)
	if c := byteAt(rest, 0); !ok || c != ';' && c != '\n' && c != '\r' {
		return false
	}
	_, ok = cutWord(skipSpace(rest[1:]), "do")
	return ok
}

// readsAsJavaScript reports whether the line that s starts with has a form that JavaScript uses and commands hardly do: an
// assignment or comparison between blanks, an arrow, a parenthesis that is no expansion, an opening brace at the end, or
// a declaration in second place. Quoted text does not count.
func readsAsJavaScript(s string) bool {
	line := strings.Trim(firstLine(s), " \t\r")
	if isListed(declarators, line[:identifierLen(line)]) || strings.HasSuffix(line, "{") {
		return true
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '\\':
			i++
		case '"', '\'', '`':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				return false
			}
			i += 1 + end
		case '(':
			if i == 0 || line[i-1] != '$' {
				return true
			}
		case '=':
			if next := byteAt(line, i+1); next == '>' || next == '=' || next == ' ' && i > 0 && line[i-1] == ' ' {
				return true
			}
		}
	}
	return false
}

// cutWord cuts the identifier word off the start of s, if s starts with exactly that.
func cutWord(s, word string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(s, word)
	if !ok || identifierLen(rest) > 0 {
		return s, false
	}
	return rest, true
}

func firstLine(s string) string {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return s[:n]
	}
	return s
}

// byteAt returns the byte at i, or 0 behind the end.
func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}
