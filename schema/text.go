package schema

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file read compact and valid JSON text, as jsontext.Compact returns it, and check nothing.

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// skip is the place after the value that starts at pos.
func skip(text []byte, pos int) int {
	switch text[pos] {
	case '"':
		return stringEnd(text, pos)
	case '{', '[':
		return containerEnd(text, pos)
	case 't', 'n':
		return pos + len("true")
	case 'f':
		return pos + len("false")
	}
	return numberEnd(text, pos)
}

// stringEnd is the place after the string whose opening quote is at pos.
func stringEnd(text []byte, pos int) int {
	for pos++; ; pos++ {
		switch text[pos] {
		case '"':
			return pos + 1
		case '\\':
			pos++
		}
	}
}

// numberEnd is the place after the number that starts at pos.
func numberEnd(text []byte, pos int) int {
	for pos++; pos < len(text); pos++ {
		switch text[pos] {
		case ',', '}', ']':
			return pos
		}
	}
	return pos
}

// containerEnd is the place after the object or array that starts at pos. It is a loop, so depth costs no stack.
func containerEnd(text []byte, pos int) int {
	depth := 0
	for {
		switch text[pos] {
		case '"':
			pos = stringEnd(text, pos)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return pos + 1
			}
		}
		pos++
	}
}

// unquote appends the characters of a JSON string, given with its quotes, to dst.
func unquote(dst, quoted []byte) []byte {
	s := quoted[1 : len(quoted)-1]
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		switch c := s[i+1]; c {
		case 'u':
			r := rune(hex4(s[i+2:]))
			s = s[i+6:]
			if utf16.IsSurrogate(r) {
				low := rune(utf8.RuneError)
				if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
					low = rune(hex4(s[2:]))
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					s = s[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		default: // quote, backslash, slash
			dst = append(dst, c)
		}
		s = s[i+2:]
	}
}

// unquoted returns the characters of a JSON string, given with its quotes. It copies them only if there are escapes.
func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	return unquote(nil, quoted)
}

func hex4(s []byte) (unit uint16) {
	for _, b := range s[:4] {
		if !isDigit(b) {
			b = b | 0x20 - 'a' + '0' + 10
		}
		unit = unit<<4 | uint16(b-'0')
	}
	return unit
}
