package jsontext

import (
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s to dst as a JSON string, in the form that JSON.stringify gives it: short escapes where there are
// some, \u00xx for other control characters, everything else as itself (no escaping for HTML). Bytes that are not
// UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n := plainPrefix(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; s == "" {
			return append(dst, '"')
		}
		b := s[0]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s)
			dst = utf8.AppendRune(dst, r)
			s = s[size:]
			continue
		}
		if short := shortEscape(b); short != 0 {
			dst = append(dst, '\\', short)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
		}
		s = s[1:]
	}
}

// EncodedLen is the number of bytes that [AppendString] appends for s. It allocates nothing.
func EncodedLen(s string) int {
	total := 2
	for {
		n := plainPrefix(s)
		total += n
		if s = s[n:]; s == "" {
			return total
		}
		if b := s[0]; b < utf8.RuneSelf {
			total += EncodedByteLen(b)
			s = s[1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		total += utf8.RuneLen(r)
		s = s[size:]
	}
}

// EncodedByteLen is the number of bytes that [AppendString] appends for one character of ASCII. Any other character takes what it
// takes in UTF-8.
func EncodedByteLen(b byte) int {
	switch {
	case shortEscape(b) != 0:
		return 2
	case b < ' ':
		return escapedSize
	}
	return 1
}

// shortEscape is the letter of the two-byte escape of b, or 0 where there is none.
func shortEscape(b byte) byte {
	switch b {
	case '"', '\\':
		return b
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	}
	return 0
}

// plainPrefix counts the leading bytes of s that are not special.
func plainPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		if special := specialBytes(w); special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for i < len(s) && !isSpecial(s[i]) {
		i++
	}
	return i
}

// isSpecial reports whether b does more in a JSON string than stand for itself: a control character, a quote, a backslash or
// a part of a character outside of ASCII.
func isSpecial(b byte) bool {
	return b < ' ' || b == '"' || b == '\\' || b >= utf8.RuneSelf
}

// specialBytes looks at the eight bytes of w at once. The lowest bit set in the result belongs to the first byte for which
// [isSpecial] holds; 0 means that none is. (Borrows of the subtractions can set wrong bits, but only above a right one.)
func specialBytes(w uint64) uint64 {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	quote, slash := w^ones*'"', w^ones*'\\'
	return ((w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash | w) & high
}

// unicodeEscape reads the \uXXXX that s starts with; ok is false if it does not start with one.
func unicodeEscape(s []byte) (unit uint16, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, b := range s[2:6] {
		switch {
		case isDigit(b):
			b -= '0'
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			b = b | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		unit = unit<<4 | uint16(b)
	}
	return unit, true
}

// isLowSurrogate reports whether s starts with the escape of the second half of a surrogate pair.
func isLowSurrogate(s []byte) bool {
	unit, ok := unicodeEscape(s)
	return ok && 0xdc00 <= unit && unit <= 0xdfff
}

// UTF16Len is the length of s in UTF-16 units, which is what JavaScript calls its length. A byte that is not UTF-8 counts as
// U+FFFD, as one.
func UTF16Len(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			n := i
			for _, r := range s[i:] {
				n += utf16.RuneLen(r)
			}
			return n
		}
	}
	return len(s)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// ASCIILen is the number of bytes that [AppendASCII] appends for src. It allocates nothing.
func ASCIILen(src []byte) int {
	n := len(src)
	for i := 0; i < len(src); {
		if src[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		n += escapedSize - size
		if r > 0xffff {
			n += escapedSize
		}
		i += size
	}
	return n
}

// AppendASCII appends JSON text with every character beyond ASCII as an escape: the same value, in a text that is one byte a
// character in any encoding. Bytes that are not UTF-8 become U+FFFD.
func AppendASCII(dst, src []byte) []byte {
	for len(src) > 0 {
		n := 0
		for n < len(src) && src[n] < utf8.RuneSelf {
			n++
		}
		dst = append(dst, src[:n]...)
		if src = src[n:]; len(src) == 0 {
			break
		}
		r, size := utf8.DecodeRune(src)
		src = src[size:]
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			dst, r = appendUnicodeEscape(dst, high), low
		}
		dst = appendUnicodeEscape(dst, r)
	}
	return dst
}

const escapedSize = len(`\u0000`)

func appendUnicodeEscape(dst []byte, unit rune) []byte {
	return append(dst, '\\', 'u', hexDigits[unit>>12&15], hexDigits[unit>>8&15], hexDigits[unit>>4&15], hexDigits[unit&15])
}
