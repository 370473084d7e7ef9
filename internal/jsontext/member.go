package jsontext

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Members goes through the members of an object in order: each name, decoded, and the text of its value, which is a part of
// text. What is no object has none.
//
// text must be valid and compact, as [Compact] returns it.
func Members(text []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if at(text, 0) != '{' {
			return
		}
		for pos := 1; at(text, pos) == '"'; pos++ {
			value := stringEnd(text, pos) + 1
			if value >= len(text) {
				return // not valid JSON
			}
			end := End(text, value)
			if !yield(unquote(text[pos:value-1]), text[value:end:end]) || at(text, end) != ',' {
				return
			}
			pos = end
		}
	}
}

// String decodes a JSON string. It is false for other values.
//
// text must be valid and compact, as [Compact] returns it.
func String(text []byte) (string, bool) {
	if at(text, 0) != '"' {
		return "", false
	}
	return unquote(text), true
}

// StringMember returns the string that an object has under a name, and false if it has none or something else there. If the
// name stands twice, the last one counts, as for JSON.parse and encoding/json.
//
// text must be valid and compact, as [Compact] returns it. It is read once, and nothing else in it is decoded.
func StringMember(text []byte, name string) (string, bool) {
	if at(text, 0) != '{' {
		return "", false
	}
	var value []byte // text from the value on
	depth := 0
	for pos := 0; pos < len(text); pos++ {
		switch text[pos] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := stringEnd(text, pos)
			if depth == 1 && at(text, end) == ':' && isString(text[pos:end], name) {
				value = text[end+1:]
			}
			pos = end - 1
		}
	}
	if at(value, 0) != '"' {
		return "", false
	}
	return String(value[:stringEnd(value, 0)])
}

// isString reports whether a quoted string stands for s. Comparing one without escapes allocates nothing.
func isString(quoted []byte, s string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == s
	}
	return unquote(quoted) == s
}

func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 && len(quoted) >= 2 {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return "" // not valid JSON
	}
	return s
}
