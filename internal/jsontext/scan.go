package jsontext

import (
	"unicode/utf16"
	"unicode/utf8"
)

// End gives the place after the value that starts at pos.
//
// text must be valid and compact, as [Compact] returns it. For other text the result means nothing, but it is beyond pos,
// and at most len(text) if pos is inside of the text.
func End(text []byte, pos int) int {
	depth := 0
	for pos < len(text) {
		switch text[pos] {
		case '"':
			pos = stringEnd(text, pos)
		case '{', '[':
			depth++
			pos++
			continue
		case '}', ']':
			depth--
			pos++
		case ',', ':':
			pos++
			continue
		default:
			pos = scalarEnd(text, pos)
		}
		if depth <= 0 {
			return pos
		}
	}
	return pos
}

// scalarEnd is the place after the number, true, false or null at pos.
func scalarEnd(text []byte, pos int) int {
	for pos++; pos < len(text); pos++ {
		switch text[pos] {
		case ',', '}', ']', ':', '"':
			return pos
		}
	}
	return pos
}

// StringPrefix gives the start of a string, decoded: as many whole characters as take no more than limit bytes of UTF-8. whole
// says that it is all of the string. What it costs depends on limit and not on the length of the string.
//
// quoted is text from the string's opening quote on, with anything behind its closing one. Escapes of half a surrogate pair
// and bytes that are not UTF-8 read as U+FFFD.
func StringPrefix(quoted []byte, limit int) (s string, whole bool) {
	var room [64]byte
	dst := room[:0]
	for pos := 1; pos < len(quoted) && quoted[pos] != '"'; {
		r, size := decodeChar(quoted[pos:])
		if len(dst)+utf8.RuneLen(r) > limit {
			return string(dst), false
		}
		dst = utf8.AppendRune(dst, r)
		pos += size
	}
	return string(dst), true
}

// decodeChar reads the character that s starts with, as a string of JSON has it, and how many bytes it takes there.
func decodeChar(s []byte) (r rune, size int) {
	if s[0] != '\\' {
		return utf8.DecodeRune(s)
	}
	switch c := at(s, 1); c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		unit, ok := unicodeEscape(s)
		switch {
		case !ok:
			return utf8.RuneError, 2
		case !utf16.IsSurrogate(rune(unit)):
			return rune(unit), 6
		}
		low, _ := unicodeEscape(s[6:])
		if r := utf16.DecodeRune(rune(unit), rune(low)); r != utf8.RuneError {
			return r, 12
		}
		return utf8.RuneError, 6
	default: // quote, backslash, slash
		return rune(c), 2
	}
}

// EncodedPrefix gives the longest start of s that [AppendString] writes in no more than limit bytes, the two quotes included.
// It does not split a character, and is empty if limit is less than 2.
func EncodedPrefix(s string, limit int) string {
	limit -= 2
	for end := 0; end < len(s); {
		_, size := utf8.DecodeRuneInString(s[end:])
		if limit -= EncodedLen(s[end:end+size]) - 2; limit < 0 {
			return s[:end]
		}
		end += size
	}
	return s
}
