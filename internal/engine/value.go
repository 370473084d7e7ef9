package engine

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Value is a JavaScript value of one VM: a tag in the upper 32 bits, a number or an address in the
// lower. It means nothing in another VM, and nothing after a reset, save for the values that an
// [Image] names.
type Value uint64

// Tags of the values that the host looks at.
const (
	tagInt       = 0
	tagBool      = 1
	tagNull      = 2
	tagUndefined = 3
	tagException = 6
	tagString    = 0xfffffff9
	tagObject    = 0xffffffff

	// Tags run from -9 to 7. Everything else is a float, kept with an offset that moves its bits
	// out of their way.
	tagShift    = 9
	tagFloat    = 8
	floatOffset = (0x7ff80000 + tagShift + 1) << 32
)

// Undefined is JavaScript's undefined.
const Undefined = Value(tagUndefined << 32)

// Int makes a JavaScript number.
func Int(n int32) Value { return Value(uint32(n)) }

// Bool makes a JavaScript boolean.
func Bool(b bool) Value {
	if b {
		return tagBool<<32 | 1
	}
	return tagBool << 32
}

func (v Value) tag() uint32  { return uint32(v >> 32) }
func (v Value) addr() uint32 { return uint32(v) }

// IsUndefined tells whether v is undefined.
func (v Value) IsUndefined() bool { return v.tag() == tagUndefined }

// IsString tells whether v is a string.
func (v Value) IsString() bool { return v.tag() == tagString }

// IsObject tells whether v is an object, a function included.
func (v Value) IsObject() bool { return v.tag() == tagObject }

// AsInt gives the number of a small integer value.
func (v Value) AsInt() (int32, bool) { return int32(uint32(v)), v.tag() == tagInt }

func (v Value) isException() bool { return v.tag() == tagException }

// Layout of a JSString: a reference count, the length with the width in its top bit, the hash with
// the mark of a slice in bit 29, two links, then the characters, one or two bytes each. A slice has
// the address of its parent string and an offset into its characters, in bytes, in their place.
const (
	stringLength  = 4
	stringKind    = 8
	stringChars   = 20
	sliceBit      = 1 << 29
	sliceParent   = 20
	sliceStart    = 24
	lengthMask    = 1<<31 - 1
	maxStringSize = 1 << 30
)

// chars finds the characters of a string in the VM's memory. The memory is the guest's: nothing
// read there is trusted before it is checked against the bounds.
func (vm *VM) chars(s Value) (b []byte, wide bool, err error) {
	if !s.IsString() {
		return nil, false, fmt.Errorf("engine: value %#x is not a string", uint64(s))
	}
	p := s.addr()
	length, err := vm.u32(p + stringLength)
	if err != nil {
		return nil, false, err
	}
	kind, err := vm.u32(p + stringKind)
	if err != nil {
		return nil, false, err
	}
	wide = length&^lengthMask != 0
	n, at := uint64(length&lengthMask), uint64(p)+stringChars
	width := uint64(1)
	if wide {
		width = 2
	}
	if kind&sliceBit != 0 {
		parent, err := vm.u32(p + sliceParent)
		if err != nil {
			return nil, false, err
		}
		start, err := vm.u32(p + sliceStart)
		if err != nil {
			return nil, false, err
		}
		at = uint64(parent) + stringChars + uint64(start)
	}
	if n > maxStringSize || at+n*width > uint64(len(vm.mem.buf)) {
		return nil, false, errBounds
	}
	return vm.mem.buf[at : at+n*width], wide, nil
}

// AppendString appends the characters of s to dst as UTF-8. A lone surrogate becomes U+FFFD.
func (vm *VM) AppendString(dst []byte, s Value) ([]byte, error) {
	text, _, err := vm.AppendPrefix(dst, s, math.MaxInt)
	return text, err
}

// Overwrite has write replace the characters of a string of the guest of that length, of which none is beyond ASCII. It is for a
// string that the guest has just made for this, which nothing else refers to.
func (vm *VM) Overwrite(s Value, length int, write func(chars []byte)) error {
	b, wide, err := vm.chars(s)
	if err != nil {
		return err
	}
	if wide || len(b) != length || asciiPrefix(b) != len(b) {
		return fmt.Errorf("engine: the string to be overwritten is not %d characters of ASCII", length)
	}
	write(b)
	return nil
}

// AppendPrefix is AppendString for a string that may be large and of which no more than max bytes are wanted, whole
// characters only. It also gives the size of the whole, in bytes of UTF-8.
func (vm *VM) AppendPrefix(dst []byte, s Value, max int) (text []byte, size int, err error) {
	b, wide, err := vm.chars(s)
	if err != nil {
		return dst, 0, err
	}
	if wide {
		size = sizeUTF16(b)
	} else {
		size = sizeLatin1(b)
	}
	if size > max { // a character takes a byte at least, so this much of the string is enough
		if wide {
			b = b[:min(2*max, len(b))]
		} else {
			b = b[:min(max, len(b))]
		}
	}
	// It is made at its size: a large buffer that grows takes twice the memory.
	before := len(dst)
	if n := min(size, max); cap(dst)-before < n {
		dst = append(make([]byte, 0, before+n), dst...)
	}
	if wide {
		text = appendUTF16(dst, b)
	} else {
		text = appendLatin1(dst, b)
	}
	end := len(text)
	if end-before > max {
		end = before + max
	}
	for end > before && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], size, nil
}

func sizeLatin1(b []byte) int {
	size := len(b)
	for len(b) >= 8 {
		size += bits.OnesCount64(binary.LittleEndian.Uint64(b) & 0x8080808080808080)
		b = b[8:]
	}
	for _, c := range b {
		size += int(c >> 7)
	}
	return size
}

func sizeUTF16(b []byte) int {
	size := 0
	for i := 0; i+1 < len(b); i += 2 {
		switch c := rune(binary.LittleEndian.Uint16(b[i:])); {
		case c < utf8.RuneSelf:
			size++
		case c < 0x800:
			size += 2
		case utf16.IsSurrogate(c) && i+3 < len(b) && utf16.DecodeRune(c, rune(binary.LittleEndian.Uint16(b[i+2:]))) != utf8.RuneError:
			size += 4
			i += 2
		default:
			size += 3
		}
	}
	return size
}

func appendLatin1(dst, b []byte) []byte {
	for len(b) > 0 {
		n := asciiPrefix(b)
		dst = append(dst, b[:n]...)
		b = b[n:]
		for len(b) > 0 && b[0] >= utf8.RuneSelf {
			dst = append(dst, 0xc0|b[0]>>6, 0x80|b[0]&0x3f)
			b = b[1:]
		}
	}
	return dst
}

// asciiPrefix gives the length of the longest prefix of b without a byte over 0x7f.
func asciiPrefix(b []byte) int {
	n := 0
	for ; n+8 <= len(b); n += 8 {
		if binary.LittleEndian.Uint64(b[n:])&0x8080808080808080 != 0 {
			break
		}
	}
	for n < len(b) && b[n] < utf8.RuneSelf {
		n++
	}
	return n
}

func appendUTF16(dst, b []byte) []byte {
	for i := 0; i+1 < len(b); i += 2 {
		r := rune(binary.LittleEndian.Uint16(b[i:]))
		if r < utf8.RuneSelf {
			dst = append(dst, byte(r))
			continue
		}
		if utf16.IsSurrogate(r) {
			var low rune
			if i+3 < len(b) {
				low = rune(binary.LittleEndian.Uint16(b[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 2
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// AsFloat gives the number of a value, NaN for a value that is none.
func (v Value) AsFloat() float64 {
	if n, ok := v.AsInt(); ok {
		return float64(n)
	}
	if v.tag()+tagShift < tagFloat+tagShift {
		return math.NaN()
	}
	return math.Float64frombits(uint64(v) + floatOffset)
}
