package source

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// byteClass tells what a byte can be in an identifier.
type byteClass uint8

const (
	classOther    byteClass = iota
	classPart               // may continue an identifier: a digit
	classStart              // may start one: a letter, $ or _
	classNonASCII           // belongs to a character that has to be decoded
)

var byteClasses = func() (classes [256]byteClass) {
	for c := range classes {
		switch {
		case c >= utf8.RuneSelf:
			classes[c] = classNonASCII
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '$' || c == '_':
			classes[c] = classStart
		case '0' <= c && c <= '9':
			classes[c] = classPart
		}
	}
	return classes
}()

// Identifiers yields every identifier that code mentions, in order and as often as it occurs. It does not tell code from
// strings and comments, so that globalThis["name"] counts as a mention; keywords are yielded too. What it cannot see is an
// identifier spelled with escapes (see [Unescape]) and a name that the program computes.
//
// It serves to install only the globals that a program can reach by name. It does not allocate: the strings are parts
// of code.
func Identifiers(code string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(code); {
			class := byteClasses[code[i]]
			if class == classOther {
				i++
				continue
			}
			start := i
			i += identifierLen(code[i:])
			switch {
			case i == start: // a character of no identifier
				_, size := utf8.DecodeRuneInString(code[i:])
				i += size
			case class == classPart: // a number, its suffix included
			case !yield(code[start:i]):
				return
			}
		}
	}
}

// Unescape gives code with every \u escape replaced by the character that it stands for, and code itself if there is none. A
// program can spell an identifier with escapes; [Identifiers] finds it in the unescaped text. What else the replacement
// does to the text does not matter there.
func Unescape(code string) string {
	at := strings.Index(code, `\u`)
	if at < 0 {
		return code
	}
	var b strings.Builder
	for ; at >= 0; at = strings.Index(code, `\u`) {
		b.WriteString(code[:at])
		code = code[at:]
		r, n := unescape(code)
		if n == 0 {
			b.WriteString(`\u`)
			n = len(`\u`)
		} else {
			b.WriteRune(r)
		}
		code = code[n:]
	}
	b.WriteString(code)
	return b.String()
}

// identifierLen returns the length of the run of identifier characters that s starts with, digits included.
func identifierLen(s string) int {
	for i := 0; i < len(s); {
		switch byteClasses[s[i]] {
		case classOther:
			return i
		case classNonASCII:
			r, size := utf8.DecodeRuneInString(s[i:])
			if !isIdentifierRune(r) {
				return i
			}
			i += size
		default:
			i++
		}
	}
	return len(s)
}

// isIdentifierRune reports whether the non-ASCII character r can be part of an identifier: whether it has the Unicode
// property ID_Continue, or is a joiner.
func isIdentifierRune(r rune) bool {
	return unicode.IsLetter(r) ||
		unicode.In(r, unicode.Nl, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Start, unicode.Other_ID_Continue) ||
		r == '\u200c' || r == '\u200d'
}

// isIdentifier reports whether s is one identifier.
func isIdentifier(s string) bool {
	return s != "" && byteClasses[s[0]] != classPart && identifierLen(s) == len(s)
}
