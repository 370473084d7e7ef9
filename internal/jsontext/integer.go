package jsontext

import (
	"bytes"
	"strconv"
)

// safeDigits is how many digits an integer may have without a look at its value: 2^53 has sixteen.
const safeDigits = 15

// QuoteUnsafeIntegers makes a JSON string of every integer in src whose digits a JavaScript number would change:
// 1915883588174806058 becomes "1915883588174806058", where JSON.parse would silently give 1915883588174806000. Integers
// that print as they are written (9007199254740991, 123456789012345680000), and numbers with a fraction or an exponent, stay.
//
// src must be valid JSON, as [Compact] returns it. If there is nothing to change, the result is src itself, found without an
// allocation.
func QuoteUnsafeIntegers(src []byte) []byte {
	if !hasLongDigits(src) {
		return src
	}
	var (
		dst  []byte
		mark int // src[:mark] is in dst
	)
	for pos := 0; pos < len(src); {
		switch b := src[pos]; {
		case b == '"':
			pos = stringEnd(src, pos)
		case b == '-' || isDigit(b):
			end, integer := numberEnd(src, pos)
			if integer && end-pos > safeDigits && !survivesJavaScript(src[pos:end]) {
				if dst == nil {
					dst = make([]byte, 0, len(src)+len(src)/8+2)
				}
				dst = append(dst, src[mark:pos]...)
				dst = append(dst, '"')
				dst = append(dst, src[pos:end]...)
				dst = append(dst, '"')
				mark = end
			}
			pos = end
		default:
			pos++
		}
	}
	if mark == 0 {
		return src
	}
	return append(dst, src[mark:]...)
}

// hasLongDigits reports whether src holds, inside or outside of strings, a run of digits too long for [safeDigits]. Such a run
// covers one byte of every safeDigits+1 in a row, so it is enough to look at those.
func hasLongDigits(src []byte) bool {
	const stride = safeDigits + 1
	for pos := stride - 1; pos < len(src); pos += stride {
		if !isDigit(src[pos]) {
			continue
		}
		start, end := pos, pos+1
		for start > 0 && isDigit(src[start-1]) {
			start--
		}
		for end < len(src) && isDigit(src[end]) && end-start < stride {
			end++
		}
		if end-start >= stride {
			return true
		}
	}
	return false
}

// stringEnd is the place after the string whose opening quote is at pos.
func stringEnd(src []byte, pos int) int {
	for pos++; ; pos++ {
		next := bytes.IndexByte(src[pos:], '"')
		if next < 0 {
			return len(src) // not valid JSON: leave the rest alone
		}
		pos += next
		slashes := 0
		for src[pos-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return pos + 1
		}
	}
}

// numberEnd is the place after the number at pos, and whether it is written as an integer.
func numberEnd(src []byte, pos int) (end int, integer bool) {
	integer = true
	for end = pos + 1; end < len(src); end++ {
		switch b := src[end]; {
		case isDigit(b):
		case b == '.' || b == 'e' || b == 'E' || b == '+' || b == '-':
			integer = false
		default:
			return end, integer
		}
	}
	return end, integer
}

// survivesJavaScript reports whether Number(literal) prints as literal. JavaScript prints the shortest digits that read
// back to the same double, with an exponent from 1e21 on: no integer literal looks like that.
func survivesJavaScript(literal []byte) bool {
	const longest = len("-100000000000000000000") // 1e20
	if len(literal) > longest {
		return false
	}
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil || f >= 1e21 || f <= -1e21 {
		return false
	}
	var room [32]byte
	return bytes.Equal(strconv.AppendFloat(room[:0], f, 'f', -1, 64), literal)
}
