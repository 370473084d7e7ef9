// Package heapdelta stores the memory of a VM as its difference from the image that the VM was made of.
//
//	heapdelta.DropFree(image, memory, stack)
//	delta, err := heapdelta.Append(nil, image, memory, stack, sp, limit)
//	...
//	err = heapdelta.Apply(fresh, delta) // fresh holds the image and zeros behind it; now it is memory
//
// # Why not a common compressor
//
// The heap of a QuickJS VM holds the same few shapes of object many thousand times. Between two of one shape some words are
// the same (the class, the shape, the prototype), and most others are pointers to what lies at the same place relative to
// themselves (the array of properties, the neighbours in a list), so that no two are the same. A compressor of bytes sees
// noise in them and is ten times slower than the whole of parking a cell may be. This one works on words of 32 bits and
// knows the two cases.
//
// # Format
//
// Memory is taken in lines of 16 bytes, to which the allocator aligns all that it gives. A delta is a sequence of
// operations that make line after line. Each begins with a byte: the kind in the three highest bits, the number of lines, 1
// to 31, in the others.
//
//	0 same      the lines are the image's; where the number is 0, it follows as an unsigned varint
//	1 literal   the lines follow
//	4 copy      each line is the one at the distance in front of it
//	5 adjust    for each line follows a tag, and what the tag says: see below
//	6, 7        4 and 5 with another distance than before, an unsigned varint of lines in front of all else
//
// A tag has two bits for each of the four words of a line, the first word in the lowest. The word is that of the line at
// the distance
//
//	0           as it is
//	1           plus the distance in bytes
//	2           plus a signed number of two bytes that follows
//	3           plus a number of four bytes that follows
//
// All is little-endian. The lines behind the last operation are the image's. There is no header and no checksum: who stores
// a delta adds them, with what says which image it belongs to. The same memory and image give the same delta on every
// machine.
//
// # Cost
//
// For 1,600 objects parsed from 96 KB of JSON, which change 840 KB of memory: 0.75 ms for all three functions, 111 KB. For
// 100 KB of random bytes 50 µs and 106 KB, for a cell that has done nothing 15 µs and 0.2 KB. Data that does not repeat is
// stored as it is.
//
// All functions are safe for concurrent use on different memories.
package heapdelta

import (
	"encoding/binary"
	"errors"
)

// ErrTooLarge reports a delta that would exceed its limit.
var ErrTooLarge = errors.New("heapdelta: the memory differs too much from its image")

// errDamaged reports a delta that does not fit the memory that it is applied to.
var errDamaged = errors.New("heapdelta: damaged delta")

const (
	line     = 16 // bytes
	maxLines = 31 // of an operation

	kindMask    = 7 << 5
	kindSame    = 0 << 5
	kindLiteral = 1 << 5
	kindCopy    = 4 << 5
	kindAdjust  = 5 << 5
	kindFar     = 2 << 5 // added to the two above
)

const (
	wordSame = iota
	wordMoved
	wordNear
	wordFar
)

// offsets gives for each tag in its bytes, from the lowest: where what follows for the words 1, 2 and 3 begins, and how
// long all is.
var offsets = func() (table [256]uint32) {
	for tag := range table {
		end := uint32(0)
		for word := range 4 {
			end += [...]uint32{wordNear: 2, wordFar: 4}[tag>>(2*word)&3]
			table[tag] |= end << (8 * word)
		}
	}
	return table
}()

// adjustedMax is the most that a line of kindAdjust takes, with what reading its last word may read too much.
const adjustedMax = 1 + line + 4

var le = binary.LittleEndian

// Apply makes memory, which holds the image and zeros behind it, what it was when the delta was taken. What lay in the
// skipped range stays as it is. The delta may be anything: one that does not fit is an error and leaves anything in memory,
// though nothing is written elsewhere and it takes no more time than its length and that of memory call for. That a delta
// has been changed or cut does not always show.
func Apply(memory, delta []byte) error {
	at, distance := 0, 0
	pos, size := 0, len(delta)
	uvarint := func(most int) (n int, ok bool) {
		v, k := binary.Uvarint(delta[pos:size])
		if k <= 0 || v > uint64(most) {
			return 0, false
		}
		pos += k
		return int(v), true
	}
	for pos < size {
		kind, n := delta[pos]&kindMask, int(delta[pos]&maxLines)
		pos++
		ok := true
		switch kind {
		case kindSame:
			if n == 0 {
				n, ok = uvarint(len(memory) / line)
			}
		case kindLiteral:
			ok = n*line <= size-pos
		case kindCopy | kindFar, kindAdjust | kindFar:
			distance, ok = uvarint(at / line)
			distance *= line
			kind &^= kindFar
			fallthrough
		case kindCopy, kindAdjust:
			ok = ok && 0 < distance && distance <= at
		default:
			ok = false
		}
		if !ok || n > (len(memory)-at)/line {
			return errDamaged
		}
		end := at + n*line
		switch kind {
		case kindLiteral:
			pos += copy(memory[at:end], delta[pos:])
		case kindCopy:
			for i := at; i < end; i += line {
				copy(memory[i:i+line], memory[i-distance:])
			}
		case kindAdjust:
			if len(delta)-pos < maxLines*adjustedMax {
				// The end is near. With some bytes behind it, adjust needs not look for it.
				delta = append(make([]byte, 0, size-pos+maxLines*adjustedMax), delta[pos:size]...)
				pos, size, delta = 0, len(delta), delta[:cap(delta)]
			}
			pos += adjust(memory[at:end], memory[at-distance:], delta[pos:], uint32(distance))
			if pos > size {
				return errDamaged
			}
		}
		at = end
	}
	return nil
}

// adjust makes the lines of dst of those of src, with the tags and numbers at the start of delta, and gives the length of
// these. Delta has at least adjustedMax bytes for each line. Where src overlaps dst, it is in front of it.
func adjust(dst, src, delta []byte, distance uint32) (n int) {
	src = src[:len(dst)]
	for i := 0; i <= len(dst)-line; i += line {
		b := delta[n : n+adjustedMax]
		lo, hi := le.Uint64(src[i:]), le.Uint64(src[i+8:])
		if tag := b[0]; tag != 0 {
			offset := offsets[tag]
			w0 := uint32(lo) + difference(tag&3, le.Uint32(b[1:]), distance)
			w1 := uint32(lo>>32) + difference(tag>>2&3, le.Uint32(b[1+offset&15:]), distance)
			w2 := uint32(hi) + difference(tag>>4&3, le.Uint32(b[1+offset>>8&15:]), distance)
			w3 := uint32(hi>>32) + difference(tag>>6, le.Uint32(b[1+offset>>16&15:]), distance)
			lo, hi = uint64(w0)|uint64(w1)<<32, uint64(w2)|uint64(w3)<<32
			n += int(offset >> 24)
		}
		n++
		le.PutUint64(dst[i:], lo)
		le.PutUint64(dst[i+8:], hi)
	}
	return n
}

// difference has no branches: which word is how is hard to predict.
func difference(how byte, stored, distance uint32) (d uint32) {
	if how == wordMoved {
		d = distance
	}
	if how == wordNear {
		d = uint32(int32(int16(stored)))
	}
	if how == wordFar {
		d = stored
	}
	return d
}
