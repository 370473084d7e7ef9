package jsontext

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Compact checks that src is one JSON value and returns it without white space between tokens and as valid UTF-8.
// Digits, escapes and the order of keys stay as they are. If there is nothing to change, the result is src itself.
//
// The error is a [*SyntaxError]: text that is not JSON, text after the value, no text at all, or nesting deeper than
// [MaxDepth].
func Compact(src []byte) ([]byte, error) {
	c := compactor{src: src}
	if err := c.document(); err != nil {
		return nil, err
	}
	if c.mark == 0 {
		return src, nil
	}
	c.flush(len(src))
	return c.dst, nil
}

// Append appends what [Compact] returns for src to dst. On an error the result is dst as it was.
func Append(dst, src []byte) ([]byte, error) {
	c := compactor{src: src, dst: dst}
	if err := c.document(); err != nil {
		return dst, err
	}
	c.flush(len(src))
	return c.dst, nil
}

// compactor reads src once and copies the spans worth keeping to dst. Its methods take the place to read at and return
// the place after what they read; the place lives in a register and not here, which makes it half as fast again.
type compactor struct {
	src  []byte
	dst  []byte
	mark int // src[:mark] is already in dst, or dropped
}

// flush copies src[mark:end].
func (c *compactor) flush(end int) {
	if c.dst == nil {
		c.dst = make([]byte, 0, len(c.src))
	}
	c.dst = append(c.dst, c.src[c.mark:end]...)
	c.mark = end
}

// replace puts U+FFFD in the place of src[pos:end].
func (c *compactor) replace(pos, end int) int {
	c.flush(pos)
	c.dst = utf8.AppendRune(c.dst, utf8.RuneError)
	c.mark = end
	return end
}

// document reads one value and the end of the text. It is a loop and not a recursion, so the depth of foreign text
// costs one byte for each level and no stack.
func (c *compactor) document() error {
	var (
		room [64]byte // enough for nearly every text, without an allocation
		open = room[:0]
		src  = c.src
		pos  = c.space(0)
		err  error
	)
	for {
		// A value starts at pos.
		switch b := at(src, pos); b {
		case '{', '[':
			if len(open) == MaxDepth {
				return fail(pos, "nesting too deep")
			}
			closing := b + 2 // in ASCII, '}' and ']' are two places on
			open = append(open, closing)
			if pos = c.space(pos + 1); at(src, pos) == closing {
				break // nothing inside: closed below
			}
			if b == '{' {
				if pos, err = c.key(pos); err != nil {
					return err
				}
			}
			continue
		case '"':
			pos, err = c.str(pos)
		case 't':
			pos, err = literal(src, pos, "true")
		case 'f':
			pos, err = literal(src, pos, "false")
		case 'n':
			pos, err = literal(src, pos, "null")
		default:
			pos, err = number(src, pos)
		}
		if err != nil {
			return err
		}
		// A value ended before pos, or an empty bracket is about to.
		pos = c.space(pos)
		for len(open) > 0 && at(src, pos) == open[len(open)-1] {
			open = open[:len(open)-1]
			pos = c.space(pos + 1)
		}
		if len(open) == 0 {
			if pos < len(src) {
				return fail(pos, "text after the value")
			}
			return nil
		}
		if at(src, pos) != ',' {
			return fail(pos, "no comma or closing bracket")
		}
		pos = c.space(pos + 1)
		if open[len(open)-1] == '}' {
			if pos, err = c.key(pos); err != nil {
				return err
			}
		}
	}
}

// key reads a key and its colon, and returns the place of the value.
func (c *compactor) key(pos int) (int, error) {
	if at(c.src, pos) != '"' {
		return pos, fail(pos, "no object key")
	}
	pos, err := c.str(pos)
	if err != nil {
		return pos, err
	}
	if pos = c.space(pos); at(c.src, pos) != ':' {
		return pos, fail(pos, "no colon after an object key")
	}
	return c.space(pos + 1), nil
}

// space drops white space. This half is small enough to be inlined, and enough for text written by a program.
func (c *compactor) space(pos int) int {
	if pos < len(c.src) && c.src[pos] > ' ' {
		return pos
	}
	return c.dropSpace(pos)
}

func (c *compactor) dropSpace(pos int) int {
	end := pos
	for end < len(c.src) {
		if b := c.src[end]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			break
		}
		end++
	}
	if end > pos {
		c.flush(pos)
		c.mark = end
	}
	return end
}

// str reads the string whose opening quote is at pos.
func (c *compactor) str(pos int) (int, error) {
	src := c.src
	pos++
	for {
		for pos+8 <= len(src) {
			special := specialBytes(binary.LittleEndian.Uint64(src[pos:]))
			if special != 0 {
				if pos += bits.TrailingZeros64(special) / 8; src[pos] == '"' {
					return pos + 1, nil
				}
				break
			}
			pos += 8
		}
		for pos < len(src) && !isSpecial(src[pos]) {
			pos++ // the last few bytes of the text
		}
		if pos == len(src) {
			return pos, fail(pos, "string without end")
		}
		switch b := src[pos]; {
		case b == '"':
			return pos + 1, nil
		case b == '\\':
			var err error
			if pos, err = c.escape(pos); err != nil {
				return pos, err
			}
		case b < ' ':
			return pos, fail(pos, "control character in a string")
		default:
			r, size := utf8.DecodeRune(src[pos:])
			if r == utf8.RuneError && size == 1 {
				pos = c.replace(pos, pos+1)
			} else {
				pos += size
			}
		}
	}
}

// escape reads the escape sequence at pos, or the two of a surrogate pair.
func (c *compactor) escape(pos int) (int, error) {
	switch at(c.src, pos+1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return pos + 2, nil
	case 'u':
		unit, ok := unicodeEscape(c.src[pos:])
		switch {
		case !ok:
			return pos, fail(pos, "broken \\u escape")
		case unit < 0xd800 || unit > 0xdfff:
			return pos + 6, nil
		case unit < 0xdc00 && isLowSurrogate(c.src[pos+6:]):
			return pos + 12, nil
		}
		return c.replace(pos, pos+6), nil
	}
	return pos, fail(pos, "unknown escape")
}

// number reads a number, by the grammar of RFC 8259.
func number(src []byte, pos int) (int, error) {
	start := pos
	if at(src, pos) == '-' {
		pos++
	}
	switch b := at(src, pos); {
	case b == '0':
		pos++
	case isDigit(b):
		pos = digits(src, pos)
	case start == len(src):
		return start, fail(start, "text ends where a value should be")
	default:
		return start, fail(start, "no value")
	}
	if at(src, pos) == '.' {
		pos++
		if !isDigit(at(src, pos)) {
			return pos, fail(pos, "no digits after the decimal point")
		}
		pos = digits(src, pos)
	}
	if at(src, pos)|0x20 == 'e' {
		pos++
		if b := at(src, pos); b == '+' || b == '-' {
			pos++
		}
		if !isDigit(at(src, pos)) {
			return pos, fail(pos, "no digits in the exponent")
		}
		pos = digits(src, pos)
	}
	return pos, nil
}

// digits is the place after the run of digits at pos.
func digits(src []byte, pos int) int {
	for pos < len(src) && isDigit(src[pos]) {
		pos++
	}
	return pos
}

// literal reads exactly want.
func literal(src []byte, pos int, want string) (int, error) {
	end := pos + len(want)
	if end > len(src) || string(src[pos:end]) != want {
		return pos, fail(pos, "no value")
	}
	return end, nil
}

// at is the byte at pos, or 0 at the end of the text (no token of JSON starts with 0).
func at(src []byte, pos int) byte {
	if pos < len(src) {
		return src[pos]
	}
	return 0
}

func fail(pos int, reason string) error {
	return &SyntaxError{Offset: pos, Reason: reason}
}
