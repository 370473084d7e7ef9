package source

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file read a text that json.Valid accepted, and rely on it.

const jsonSpace = " \t\r\n"

// field is a field of the exec input.
type field uint8

const (
	fieldUnknown field = iota
	fieldTitle
	fieldCode
	fieldCommand
	fieldRestartSafe
	fieldAwaitResults
	fieldLanguage
	fieldTypecheck
)

var fieldNames = [...]string{
	fieldTitle:        "title",
	fieldCode:         "code",
	fieldCommand:      "command",
	fieldRestartSafe:  "restartSafe",
	fieldAwaitResults: "awaitResults",
	fieldLanguage:     "language",
	fieldTypecheck:    "typecheck",
}

// String returns the name of the field as the model writes it.
func (f field) String() string { return fieldNames[f] }

// fieldNamed returns the field that a quoted key names; names are case-sensitive.
func fieldNamed(key []byte) field {
	name := key[1 : len(key)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(unquote(key))
	}
	for f := fieldTitle; int(f) < len(fieldNames); f++ {
		if string(name) == fieldNames[f] {
			return f
		}
	}
	return fieldUnknown
}

// fieldSet is a set of fields.
type fieldSet uint16

func (s fieldSet) has(f field) bool { return s&(1<<f) != 0 }
func (s *fieldSet) add(f field)     { *s |= 1 << f }

// members yields the quoted keys and the values of a JSON object, in order and without decoding them.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		rest := bytes.TrimLeft(object, jsonSpace)[1:] // the opening brace
		for {
			rest = bytes.TrimLeft(rest, jsonSpace+",")
			if rest[0] == '}' {
				return
			}
			end := stringEnd(rest)
			key := rest[:end]
			rest = bytes.TrimLeft(rest[end:], jsonSpace+":")
			end = valueEnd(rest)
			if !yield(key, rest[:end]) {
				return
			}
			rest = rest[end:]
		}
	}
}

// valueEnd returns the length of the value that text starts with.
func valueEnd(text []byte) int {
	switch text[0] {
	case '"':
		return stringEnd(text)
	case '{', '[':
		depth := 0
		for i := 0; ; i++ {
			switch text[i] {
			case '"':
				i += stringEnd(text[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	return bytes.IndexAny(text, jsonSpace+",}]")
}

// stringEnd returns the length of the quoted string that text starts with.
func stringEnd(text []byte) int {
	for i := 1; ; i++ {
		i += bytes.IndexByte(text[i:], '"')
		escapes := 0
		for text[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// unquote decodes a quoted JSON string. A lone surrogate becomes U+FFFD.
func unquote(quoted []byte) string {
	text := quoted[1 : len(quoted)-1]
	next := bytes.IndexByte(text, '\\')
	if next < 0 {
		return string(text)
	}
	var b strings.Builder
	b.Grow(len(text))
	for ; next >= 0; next = bytes.IndexByte(text, '\\') {
		b.Write(text[:next])
		escape := text[next+1]
		text = text[next+2:]
		switch escape {
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			r := codeUnit(text)
			text = text[4:]
			if utf16.IsSurrogate(r) {
				r = completePair(r, text)
				if r != utf8.RuneError {
					text = text[6:]
				}
			}
			b.WriteRune(r)
		default: // a quote, a backslash or a slash, which stand for themselves
			b.WriteByte(escape)
		}
	}
	b.Write(text)
	return b.String()
}

// completePair returns the character whose surrogate pair is high and the escape that text starts with, or U+FFFD.
func completePair(high rune, text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return utf8.RuneError
	}
	return utf16.DecodeRune(high, codeUnit(text[2:]))
}

// codeUnit reads four hexadecimal digits.
func codeUnit(text []byte) rune {
	unit, _ := strconv.ParseUint(string(text[:4]), 16, 16) // the digits are known to be valid
	return rune(unit)
}

// kindOf names the type of a JSON value.
func kindOf(value []byte) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
