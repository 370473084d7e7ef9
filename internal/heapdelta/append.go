package heapdelta

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
)

// block is what is compared with the image at once. An image is made of whole blocks.
const block = 1 << 10

var zeros [block]byte

// The cost of a line is the number of bytes that its tag has follow.
const (
	costRun     = 6  // up to this, a run goes on without a look for something better
	costFar     = 3  // of an operation with another distance
	costLiteral = 14 // from this on, a line is stored as it is
)

// Append appends to dst the delta that makes image, with zeros behind it up to the size of memory, into memory, and gives
// the extended buffer. Memory is at least as long as image; both are multiples of 64 KiB, and memory is less than 4 GiB.
// What lies from skipFrom to skipTo counts as equal: the two are multiples of 16. The delta has at most limit bytes, or it
// is ErrTooLarge: Append notices soon, and needs memory in proportion to the limit and not to what differs.
func Append(dst, image, memory []byte, skipFrom, skipTo, limit int) ([]byte, error) {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.image, e.memory, e.out, e.same = image, memory, dst, 0
	most := len(dst) + limit
	ok := e.part(0, skipFrom, most)
	e.same += (skipTo - skipFrom) / line
	ok = ok && e.part(skipTo, len(memory), most)
	dst = e.out
	e.image, e.memory, e.out = nil, nil, nil
	if !ok {
		return nil, ErrTooLarge
	}
	return dst, nil
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

type encoder struct {
	image, memory, out []byte

	from     int // start of the part: no line refers to one in front of it
	same     int // lines of the image that are not in out yet
	distance int // of the last run, 0 if there was none
	missed   int // lines since one was found to be like another

	seen [1 << 12]uint32 // where a line was last looked for, by its hash; 0 is nowhere
}

// part appends the lines from one address to another, and tells whether out has most bytes at most.
func (e *encoder) part(from, to, most int) bool {
	clear(e.seen[:])
	e.from, e.distance, e.missed = from, 0, 0
	for at := from; at < to; {
		end := min(at&^(block-1)+block, to)
		old := zeros[:end-at]
		if at < len(e.image) {
			old = e.image[at:end]
		}
		if bytes.Equal(old, e.memory[at:end]) {
			e.same += len(old) / line
		} else {
			if len(e.out) > most {
				return false
			}
			e.appendBlock(at, old)
		}
		at = end
	}
	return len(e.out) <= most
}

// appendBlock appends the lines from at on, which were old in the image.
func (e *encoder) appendBlock(at int, old []byte) {
	out := slices.Grow(e.out, 3*block) // enough whatever the lines are
	literal := -1                      // where the last operation begins, if it is a literal
	next := 0                          // the distance that the line at at is known to be best with
	for len(old) > 0 {
		if equal(old, e.memory[at:]) {
			e.same++
			literal = -1
			old, at = old[line:], at+line
			continue
		}
		far := next
		raw := false
		if far == 0 {
			cost := costLiteral
			if e.distance > 0 {
				cost = e.cost(at, e.distance)
			}
			if cost > costRun {
				far = e.search(at, cost)
			}
			raw = far == 0 && cost >= costLiteral
		}
		out = e.appendSame(out)
		var n int
		if raw {
			most := min(1+e.missed/16, maxLines/2, len(old)/line) // data that does not repeat is passed fast
			for n = 1; n < most && !equal(old[n*line:], e.memory[at+n*line:]); n++ {
			}
			e.missed += n
			if literal < 0 || int(out[literal]&maxLines)+n > maxLines {
				literal = len(out)
				out = append(out, kindLiteral)
			}
			out[literal] += byte(n)
			out = append(out, e.memory[at:at+n*line]...)
			next = 0
		} else {
			e.missed, literal = 0, -1
			out, n, next = e.appendRun(out, at, far, old)
		}
		old, at = old[n*line:], at+n*line
	}
	e.out = out
}

// appendSame appends the lines of the image that have been passed.
func (e *encoder) appendSame(out []byte) []byte {
	n := e.same
	e.same = 0
	if n == 0 {
		return out
	}
	if n <= maxLines {
		return append(out, kindSame|byte(n))
	}
	return binary.AppendUvarint(append(out, kindSame), uint64(n))
}

// appendRun appends the line at at and those that go on like it, n in all, with the distance far, or with the last one if
// that is 0. If next is not 0, the line behind them is best with that distance.
func (e *encoder) appendRun(out []byte, at, far int, old []byte) (_ []byte, n, next int) {
	head := len(out)
	out = append(out, kindAdjust)
	if far != 0 {
		e.distance = far
		out[head] |= kindFar
		out = binary.AppendUvarint(out, uint64(far/line))
	}
	size, tags := 0, byte(0)
	n, size, tags, next = e.run(out[len(out):cap(out)], at, old)
	if tags == 0 { // all lines are copies: away with the tags
		size = 0
		out[head] ^= kindAdjust ^ kindCopy
	}
	out[head] |= byte(n)
	return out[:len(out)+size], n, next
}

// run puts the tags of the run at at into buf, each with what follows it, and tells how many bytes it has put there and
// what bits the tags have.
func (e *encoder) run(buf []byte, at int, old []byte) (n, size int, tags byte, next int) {
	lines := e.memory[at:][:min(len(old), maxLines*line)]
	refs := e.memory[at-e.distance:][:len(lines)]
	d := uint32(e.distance)
	i := 0
	for ; i <= len(lines)-line; i += line {
		if i > 0 && equal(old[i:], lines[i:]) {
			break
		}
		lo, hi, rlo, rhi := le.Uint64(lines[i:]), le.Uint64(lines[i+8:]), le.Uint64(refs[i:]), le.Uint64(refs[i+8:])
		d0, d1 := uint32(lo)-uint32(rlo), uint32(lo>>32)-uint32(rlo>>32)
		d2, d3 := uint32(hi)-uint32(rhi), uint32(hi>>32)-uint32(rhi>>32)
		tag := byte(how(d0, d) | how(d1, d)<<2 | how(d2, d)<<4 | how(d3, d)<<6)
		offset := offsets[tag]
		if cost := int(offset >> 24); i > 0 && cost > costRun {
			if next = e.search(at+i, cost); next != 0 || cost >= costLiteral {
				break
			}
		}
		// Of every difference four bytes are put, and the next one over those that are too many.
		b := buf[size : size+adjustedMax]
		b[0] = tag
		le.PutUint32(b[1:], d0)
		le.PutUint32(b[1+offset&15:], d1)
		le.PutUint32(b[1+offset>>8&15:], d2)
		le.PutUint32(b[1+offset>>16&15:], d3)
		size += int(1 + offset>>24)
		tags |= tag
	}
	return i / line, size, tags, next
}

// search gives the distance of a line that makes the one at at for less than cost, or 0: also when it is asked again for
// the same line. It is the last one that has been searched for and has in common what tells of which kind an object is: the
// second word, the low byte of the first, and the low half of the word in front, where the allocator has the size.
func (e *encoder) search(at, cost int) (distance int) {
	lo := le.Uint64(e.memory[at:])
	key := lo>>32<<16 | lo&0xff
	if at > e.from {
		key ^= uint64(le.Uint32(e.memory[at-4:])) << 48
	}
	slot := &e.seen[key*0x9e3779b97f4a7c15>>(64-12)]
	distance = at - int(*slot)
	*slot = uint32(at)
	if distance == at || distance == 0 || costFar+e.cost(at, distance) >= min(cost, costLiteral) {
		return 0
	}
	return distance
}

// cost gives the cost of the line at at, made of the one at the distance.
func (e *encoder) cost(at, distance int) int {
	a, r, d := e.memory[at:][:line], e.memory[at-distance:][:line], uint32(distance)
	lo, hi, rlo, rhi := le.Uint64(a), le.Uint64(a[8:]), le.Uint64(r), le.Uint64(r[8:])
	tag := how(uint32(lo)-uint32(rlo), d) | how(uint32(lo>>32)-uint32(rlo>>32), d)<<2 |
		how(uint32(hi)-uint32(rhi), d)<<4 | how(uint32(hi>>32)-uint32(rhi>>32), d)<<6
	return int(offsets[byte(tag)] >> 24)
}

// how gives what a tag says of a word. It has no branches, see difference.
func how(difference, distance uint32) uint32 {
	h := uint32(wordFar)
	if difference+1<<15 < 1<<16 {
		h = wordNear
	}
	if difference == distance {
		h = wordMoved
	}
	if difference == 0 {
		h = wordSame
	}
	return h
}

// equal tells whether two lines are.
func equal(a, b []byte) bool {
	return le.Uint64(a) == le.Uint64(b) && le.Uint64(a[8:]) == le.Uint64(b[8:])
}
