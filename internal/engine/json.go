package engine

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONMode says which objects [VM.AppendJSON] takes for plain data.
type JSONMode int

const (
	// JSONData reads own properties only: what an object inherits does not matter.
	JSONData JSONMode = iota
	// JSONStringify gives what JSON.stringify gives: an object that has or inherits a toJSON method is not
	// plain data.
	JSONStringify
)

// Limits of AppendJSON, beyond which the engine's own code has to do the work, under the guest's limits.
const (
	maxJSONDepth = 256
	maxIndexes   = 1 << 14
	jsonPatience = 1 << 12 // values and properties between two looks at the guest's limits
	largeJSON    = 64 << 10
)

// Layout of objects. A shape lists the names of an object's properties, with their flags; the object has the values in
// the same order. A fast array has its elements apart.
const (
	objectFlags  = 5
	objectShape  = 16
	objectProps  = 20
	arrayValues  = 36
	arrayCount   = 40
	objectSize   = 48
	flagExotic   = 4
	flagFast     = 8
	classObject  = 1
	classArray   = 2
	shapeCount   = 32
	shapeProto   = 44
	shapeNames   = 48
	enumerable   = 4
	special      = 0x30 // an accessor, or a value that is elsewhere or not made yet
	atomSize     = 48   // JSRuntime: how many atoms there are
	atomArray    = 60   // JSRuntime: their strings
	atomIsIndex  = 1 << 31
	atomTypeBits = 30
	atomString   = 1
)

// AppendJSON appends the JSON text of a value that consists of plain data: primitives, arrays without holes, and
// ordinary objects whose properties are neither accessors nor functions. It reads the guest's memory and runs no guest
// code, many times faster than the engine's own JSON.stringify. For anything else it answers false, and the engine's own
// code has to decide, under the guest's limits: for data that is nested very deeply or is cyclic, for a text of more
// than limit bytes, and when the guest's time is up. A lone surrogate in a string is written as an escape, as
// JSON.stringify does.
//
// A text of more than 64 KiB for which dst has no room is first only counted and then written into memory of its exact size:
// to read the data twice costs less time than to let a large buffer grow, and half of the memory.
func (vm *VM) AppendJSON(dst []byte, v Value, mode JSONMode, limit int) (text []byte, ok bool) {
	w := jsonWriter{vm: vm, mem: vm.mem.buf, out: dst, mode: mode, limit: len(dst) + limit, kept: len(dst), room: max(largeJSON, cap(dst))}
	if mode == JSONStringify && v.IsObject() && !vm.image.protos.untouched(vm) {
		return dst, false
	}
	if !w.value(v, 0) || len(w.out) > w.limit {
		return dst, false
	}
	if w.dropped == 0 {
		return w.out, true
	}
	exact := append(make([]byte, 0, w.size()), dst...)
	w = jsonWriter{vm: vm, mem: vm.mem.buf, out: exact, mode: mode, limit: cap(exact), kept: len(dst), room: cap(exact)}
	if !w.value(v, 0) { // time is up
		return dst, false
	}
	return w.out, true
}

// jsonWriter reads a memory that the guest can have filled with anything: every address is checked.
type jsonWriter struct {
	vm    *VM
	mem   []byte
	out   []byte
	mode  JSONMode
	limit int // of out
	steps int // values and properties looked at

	kept    int // bytes of out that are not this writer's
	room    int // beyond which what was written is dropped, and only counted
	dropped int
}

// size is how much there was to write, and what is kept.
func (w *jsonWriter) size() int { return w.dropped + len(w.out) }

func (w *jsonWriter) u32(at uint32) uint32 {
	if uint64(at)+4 > uint64(len(w.mem)) {
		return 0
	}
	return binary.LittleEndian.Uint32(w.mem[at:])
}

// step counts one thing to look at, and answers false when it is time to give up: data can refer to other data again and
// again, so that little memory stands for a text without end.
func (w *jsonWriter) step() bool {
	w.steps++
	if len(w.out) > w.room {
		w.drop()
	}
	return len(w.out) <= w.limit && (w.steps%jsonPatience != 0 || w.vm.Expired() == nil)
}

// drop makes room for more, and counts what it drops.
func (w *jsonWriter) drop() {
	n := len(w.out) - w.kept
	w.dropped += n
	w.limit -= n
	w.out = w.out[:w.kept]
}

// value writes one value. It answers false for what is no plain data.
func (w *jsonWriter) value(v Value, depth int) bool {
	if !w.step() {
		return false
	}
	switch tag := v.tag(); tag {
	case tagInt:
		w.out = strconv.AppendInt(w.out, int64(int32(v.addr())), 10)
	case tagBool:
		w.out = strconv.AppendBool(w.out, v.addr() != 0)
	case tagNull:
		w.out = append(w.out, "null"...)
	case tagString:
		return w.str(v)
	case tagObject:
		return w.object(v.addr(), depth)
	default:
		if tag+tagShift < tagFloat+tagShift {
			return false
		}
		w.out = appendNumber(w.out, v.AsFloat())
	}
	return true
}

func (w *jsonWriter) object(at uint32, depth int) bool {
	if depth >= maxJSONDepth || uint64(at)+objectSize > uint64(len(w.mem)) {
		return false
	}
	flags := w.mem[at+objectFlags]
	shape := w.u32(at + objectShape)
	switch class := binary.LittleEndian.Uint16(w.mem[at+6:]); {
	case class == classArray && flags&flagFast != 0:
		if w.mode == JSONStringify && w.u32(shape+shapeProto) != w.vm.image.protos.array.at {
			return false
		}
		return w.array(at, shape, depth)
	case class == classObject && flags&flagExotic == 0:
		if proto := w.u32(shape + shapeProto); w.mode == JSONStringify && proto != 0 && proto != w.vm.image.protos.object.at {
			return false
		}
		return w.record(at, shape, depth)
	}
	return false
}

func (w *jsonWriter) array(at, shape uint32, depth int) bool {
	values, count := w.u32(at+arrayValues), w.u32(at+arrayCount)
	if uint64(values)+8*uint64(count) > uint64(len(w.mem)) {
		return false
	}
	// length is an array's first property. If it is not the count, the array ends in holes.
	if length, ok := w.property(at, 0).AsInt(); !ok || uint32(length) != count {
		return false
	}
	if w.mode == JSONStringify && w.u32(shape+shapeCount) != 1 {
		return false // it has named properties: one could be toJSON
	}
	w.out = append(w.out, '[')
	for i := range count {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		v := Value(binary.LittleEndian.Uint64(w.mem[values+8*i:]))
		if v.IsUndefined() {
			v = tagNull << 32
		}
		if !w.value(v, depth+1) {
			return false
		}
	}
	w.out = append(w.out, ']')
	return true
}

// property reads the value of an object's i-th property.
func (w *jsonWriter) property(at, i uint32) Value {
	p := uint64(w.u32(at+objectProps)) + 8*uint64(i)
	if p+8 > uint64(len(w.mem)) {
		return tagException << 32
	}
	return Value(binary.LittleEndian.Uint64(w.mem[p:]))
}

type indexed struct{ index, property uint32 }

func (w *jsonWriter) record(at, shape uint32, depth int) bool {
	count := w.u32(shape + shapeCount)
	if uint64(shape)+shapeNames+8*uint64(count) > uint64(len(w.mem)) {
		return false
	}
	w.out = append(w.out, '{')
	start := w.size()
	var indexes []indexed // keys that are array indexes come first, by number
	for i := range count {
		if !w.step() {
			return false
		}
		if name := w.u32(shape + shapeNames + 8*i + 4); name&atomIsIndex != 0 {
			indexes = append(indexes, indexed{name &^ atomIsIndex, i})
		}
	}
	if len(indexes) > maxIndexes {
		return false // sorting them would take long, and nothing could stop it
	}
	slices.SortFunc(indexes, func(a, b indexed) int { return int(int64(a.index) - int64(b.index)) })
	for _, x := range indexes {
		key := strconv.AppendUint([]byte{'"'}, uint64(x.index), 10)
		if !w.member(at, shape, x.property, append(key, '"'), 0, start, depth) {
			return false
		}
	}
	for i := range count {
		name := w.u32(shape + shapeNames + 8*i + 4)
		if name == 0 || name&atomIsIndex != 0 { // deleted, or written above
			continue
		}
		if name == w.vm.image.protos.toJSON && w.mode == JSONStringify {
			return false
		}
		if !w.member(at, shape, i, nil, name, start, depth) {
			return false
		}
	}
	w.out = append(w.out, '}')
	return true
}

// member writes one property, whose key is given as JSON or by its atom.
func (w *jsonWriter) member(at, shape, i uint32, key []byte, name uint32, start, depth int) bool {
	if !w.step() {
		return false
	}
	flags := w.u32(shape+shapeNames+8*i) >> 26
	if flags&enumerable == 0 {
		return true
	}
	v := w.property(at, i)
	if flags&special != 0 {
		return false
	}
	if v.IsUndefined() {
		return true
	}
	before := w.size()
	if before > start {
		w.out = append(w.out, ',')
	}
	if key != nil {
		w.out = append(w.out, key...)
	} else {
		rt := w.vm.image.rt
		if name >= w.u32(rt+atomSize) {
			return false
		}
		s := w.u32(w.u32(rt+atomArray) + 4*name)
		if w.u32(s+stringKind)>>atomTypeBits != atomString {
			w.out = w.out[:before-w.dropped] // a symbol
			return true
		}
		text := tagString<<32 | Value(s)
		if b, wide, err := w.vm.chars(text); err != nil || !wide && isLargeIndex(b) {
			return false // ten digits may be an array index too large for an atom: it belongs to the front
		}
		if !w.str(text) {
			return false
		}
	}
	w.out = append(w.out, ':')
	return w.value(v, depth+1)
}

func isLargeIndex(key []byte) bool {
	for _, c := range key {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(key) == 10
}

// maxStretch is how many bytes of a string are written between two looks at the limits.
const maxStretch = 64 << 10

func (w *jsonWriter) str(s Value) bool {
	b, wide, err := w.vm.chars(s)
	if err != nil || len(w.out)+len(b)/2 > w.limit {
		return false
	}
	w.out = append(w.out, '"')
	for len(b) > 0 {
		n := min(len(b), maxStretch)
		if wide {
			if n < len(b) && b[n-1]&^3 == 0xd8 { // not between the halves of a pair
				n += 2
			}
			w.out = appendQuotedUTF16(w.out, b[:n])
		} else {
			w.out = appendQuotedLatin1(w.out, b[:n])
		}
		if len(w.out) > w.room {
			w.drop()
		}
		if b = b[n:]; len(b) > 0 && (len(w.out) > w.limit || w.vm.Expired() != nil) {
			return false
		}
	}
	w.out = append(w.out, '"')
	return true
}

func appendQuotedLatin1(dst, b []byte) []byte {
	start := 0
	for i, c := range b {
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, b[start:i]...)
		start = i + 1
		if c >= utf8.RuneSelf {
			dst = append(dst, 0xc0|c>>6, 0x80|c&0x3f)
		} else {
			dst = appendEscape(dst, c)
		}
	}
	return append(dst, b[start:]...)
}

func appendQuotedUTF16(dst, b []byte) []byte {
	for i := 0; i+1 < len(b); i += 2 {
		c := binary.LittleEndian.Uint16(b[i:])
		switch {
		case c < 0x20 || c == '"' || c == '\\':
			dst = appendEscape(dst, byte(c))
		case c < utf8.RuneSelf:
			dst = append(dst, byte(c))
		case utf16.IsSurrogate(rune(c)):
			var low rune
			if i+3 < len(b) {
				low = rune(binary.LittleEndian.Uint16(b[i+2:]))
			}
			r := utf16.DecodeRune(rune(c), low)
			if r == utf8.RuneError {
				dst = append(dst, '\\', 'u', hexDigits[c>>12], hexDigits[c>>8&15], hexDigits[c>>4&15], hexDigits[c&15])
				continue
			}
			i += 2
			dst = utf8.AppendRune(dst, r)
		default:
			dst = utf8.AppendRune(dst, rune(c))
		}
	}
	return dst
}

const hexDigits = "0123456789abcdef"

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendNumber writes a number as JavaScript does.
func appendNumber(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	if f == 0 {
		return append(dst, '0') // minus zero, too
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' { // e-07 is e-7
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// protos are the prototypes of plain data, as they are in an image.
type protos struct {
	object, array proto
	toJSON        uint32 // the atom
}

type proto struct{ at, shape, count, parent uint32 }

func (vm *VM) findProto(at uint32) proto {
	w := jsonWriter{vm: vm, mem: vm.mem.buf}
	shape := w.u32(at + objectShape)
	return proto{at, shape, w.u32(shape + shapeCount), w.u32(shape + shapeProto)}
}

// findProtos looks up what JSONStringify has to know.
func (vm *VM) findProtos() (p protos, err error) {
	list, err := vm.Eval([]byte(`[Object.prototype, Array.prototype, { toJSON: 1 }]`), "boot.js", 0)
	if err != nil {
		return p, err
	}
	var found [3]Value
	for i := range found {
		if found[i], err = vm.Element(list, uint32(i)); err != nil {
			return p, err
		}
	}
	p.object, p.array = vm.findProto(found[0].addr()), vm.findProto(found[1].addr())
	p.toJSON, err = vm.u32(vm.findProto(found[2].addr()).shape + shapeNames + 4)
	for _, v := range found {
		vm.Free(v)
	}
	vm.Free(list)
	return p, err
}

// untouched tells whether no property was added to the prototypes, so that no toJSON is inherited.
func (p *protos) untouched(vm *VM) bool {
	return p.object == vm.findProto(p.object.at) && p.array == vm.findProto(p.array.at)
}
