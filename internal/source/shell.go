package source

import (
	"context"
	"strings"
)

// ParseFunc reports whether body parses as the body of an async function of the guest's JavaScript. An error means that
// this could not be found out.
type ParseFunc func(ctx context.Context, body string) (bool, error)

// Shell reports whether code is a shell command or script where a program was wanted, the mistake of a model that took
// exec for a shell.
//
// The text decides nearly always. It leaves the question open where JavaScript and shell overlap (`make * foo`, or a
// command whose name the program declares itself); then parses is called, at most twice. A nil parses counts every open
// case as JavaScript. The error is one of parses, as it is.
func Shell(ctx context.Context, code string, parses ParseFunc) (bool, error) {
	verdict, word := classify(code)
	switch {
	case verdict == command, verdict == commandUnlessBound && !mayBind(code, word):
		return true, nil
	case verdict == javaScript, parses == nil:
		return false, nil
	case verdict == commandIfBroken:
		ok, err := parses(ctx, code)
		return !ok && err == nil, err
	}
	bound, err := isHoisted(ctx, code, word, parses)
	return !bound && err == nil, err
}

// verdict is what the text alone says about a source.
type verdict uint8

const (
	javaScript         verdict = iota // not a command, whether it parses or not
	commandIfBroken                   // a command if it is not JavaScript
	commandUnlessBound                // a command, unless it is JavaScript that declares the command's name
	command                           // a command: it cannot be JavaScript, or has the form of a script
)

// classify returns the verdict on code, and the command word that commandUnlessBound speaks of.
func classify(code string) (verdict, string) {
	if strings.HasPrefix(code, "#!") {
		return command, ""
	}
	head := skipComments(code)
	if isExportStatement(head) {
		return javaScript, ""
	}
	head, inLine := skipAssignments(head)
	if isControlForm(head) {
		return command, ""
	}
	word, rest := cutCommandWord(head)
	if word.kind == wordSlash && !inLine {
		return javaScript, "" // x = a, newline, /b/c: a division
	}
	return judge(word.kind, tailOf(rest), rest), word.text
}

// tail is how the text after a command word goes on.
type tail uint8

const (
	tailEmpty    tail = iota // nothing follows
	tailNewline              // the line ends here
	tailOperator             // ; & && | ||
	tailRedirect             // < > >>
	tailFlag                 // -x, --long
	tailNumber               // -1
	tailPath                 // /x ~/x
	tailDot                  // . .x: a directory, a dot file or a filter of jq, or else a member
	tailOperand              // a word, string, number or ./x: two operands in a row, which is never JavaScript
	tailAssign               // = += => ( , : and comparisons: JavaScript, be it broken
	tailInfix                // any other punctuation, or in and instanceof
	tailCount
)

// judgements holds the verdict for each kind of command word and tail.
var judgements = [wordKinds][tailCount]verdict{
	wordKnown: {
		tailEmpty:    commandUnlessBound,
		tailNewline:  commandUnlessBound,
		tailOperator: commandUnlessBound,
		tailRedirect: commandUnlessBound,
		tailFlag:     commandUnlessBound,
		tailNumber:   commandUnlessBound,
		tailPath:     commandUnlessBound,
		tailDot:      commandUnlessBound,
		tailOperand:  command,
		tailInfix:    commandIfBroken,
	},
	wordUnknown: {
		tailOperator: commandIfBroken,
		tailRedirect: commandIfBroken,
		tailFlag:     commandUnlessBound,
		tailPath:     commandUnlessBound,
		tailOperand:  command,
	},
	wordPath: {
		tailEmpty:    command,
		tailNewline:  command,
		tailOperator: command,
		tailRedirect: command,
		tailFlag:     command,
		tailNumber:   command,
		tailPath:     command,
		tailDot:      command,
		tailOperand:  command,
	},
	wordSlash: {
		tailEmpty:    commandIfBroken,
		tailNewline:  commandIfBroken,
		tailOperator: commandIfBroken,
		tailRedirect: commandIfBroken,
		tailFlag:     commandIfBroken,
		tailNumber:   commandIfBroken,
		tailPath:     commandIfBroken,
		tailDot:      commandIfBroken,
		tailOperand:  commandIfBroken,
		tailInfix:    commandIfBroken,
	},
}

// judge looks the verdict up. A first word that is no known command may as well be a mistyped keyword, so a line that
// reads as JavaScript speaks for a syntax error.
func judge(kind wordKind, t tail, rest string) verdict {
	v := judgements[kind][t]
	if kind == wordUnknown && (v == commandIfBroken || v == command) && readsAsJavaScript(rest) {
		return javaScript
	}
	return v
}

// tailOf classifies the text after a command word.
func tailOf(rest string) tail {
	s := skipBlanks(rest)
	if s == "" {
		return tailEmpty
	}
	if strings.IndexByte("&|<>-!+*%^?/", s[0]) >= 0 && byteAt(strings.TrimLeft(s, s[:1]), 0) == '=' {
		return tailAssign // -= ||= >= !== and their like
	}
	switch s[0] {
	case '\n', '\r':
		if isBlank(s) {
			return tailEmpty
		}
		return tailNewline
	case ';', '&', '|':
		return tailOperator
	case '<', '>':
		return tailRedirect
	case '-':
		return tailOfDash(strings.TrimLeft(s, "-"))
	case '=', '(', ',', ':':
		return tailAssign
	case '/', '.', '~':
		return tailOfPath(s)
	case '"', '\'', '{', '!', '@', '#', '\\':
		return tailOperand
	}
	word := s[:identifierLen(s)]
	if word == "" || word == "in" || word == "instanceof" {
		return tailInfix
	}
	return tailOperand
}

// tailOfDash classifies what follows one or more dashes.
func tailOfDash(s string) tail {
	switch c := byteAt(s, 0); {
	case '0' <= c && c <= '9':
		return tailNumber
	case byteClasses[c] == classStart:
		return tailFlag
	}
	return tailInfix
}

// tailOfPath classifies a text that starts with a slash, a dot or a tilde.
func tailOfPath(s string) tail {
	following := byteAt(s, 1)
	switch class := byteClasses[following]; {
	case s[0] == '~':
		return tailPath
	case s[0] == '.':
		if following == '/' || following == '.' || class == classPart {
			return tailOperand // ./x ../x and .5
		}
		return tailDot
	case class == classStart, class == classPart, following == '.', following == '~':
		return tailPath
	}
	return tailInfix
}

// mayBind reports whether code could declare word with var or function. It errs on the side of yes.
func mayBind(code, word string) bool {
	return isIdentifier(word) && strings.Count(code, word) > 1 && (strings.Contains(code, "var") || strings.Contains(code, "function"))
}

// isHoisted reports whether code is JavaScript in which word is usable from the first line on, because a var or a
// function declares it. Such a binding shows in that a let of the same name conflicts with it while another var does not.
func isHoisted(ctx context.Context, code, word string, parses ParseFunc) (bool, error) {
	if ok, err := parses(ctx, "let "+word+";\n"+code); ok || err != nil {
		return false, err
	}
	return parses(ctx, "var "+word+";\n"+code)
}
