package harden

import "fmt"

// reader reads the WebAssembly binary format. The first error sticks: every later read returns zero
// and moves nothing, so that a loop need only look at err once a turn.
type reader struct {
	b    []byte
	p    int // next byte of b
	base int // where b starts in the whole binary, for errors
	err  error
}

func (r *reader) more() bool { return r.err == nil && r.p < len(r.b) }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &FormatError{Offset: r.base + r.p, Reason: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) byte() byte {
	if r.err != nil || r.p == len(r.b) {
		r.fail("unexpected end")
		return 0
	}
	c := r.b[r.p]
	r.p++
	return c
}

// u32 reads an unsigned LEB128 number of 32 bits.
func (r *reader) u32() uint32 {
	if r.err == nil && r.p < len(r.b) && r.b[r.p] < 0x80 { // nearly always
		r.p++
		return uint32(r.b[r.p-1])
	}
	var v uint32
	for shift := 0; ; shift += 7 {
		c := r.byte()
		if shift == 28 && c > 0x0f {
			r.fail("number does not fit 32 bits")
			return 0
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
}

// s32 reads a signed LEB128 number of 32 bits.
func (r *reader) s32() int32 {
	var v int64
	for shift := 0; ; shift += 7 {
		c := r.byte()
		if shift == 28 && c > 0x07 && c < 0x78 || shift == 28 && c > 0x7f {
			r.fail("number does not fit 32 bits")
			return 0
		}
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return int32(v)
		}
	}
}

// skip passes over a LEB128 number of at most n bytes.
func (r *reader) skip(n int) {
	for range n {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail("number is longer than %d bytes", n)
}

// take returns the next n bytes.
func (r *reader) take(n uint32) []byte {
	if r.err != nil || uint64(n) > uint64(len(r.b)-r.p) {
		r.fail("length %d passes the end", n)
		return nil
	}
	b := r.b[r.p : r.p+int(n)]
	r.p += int(n)
	return b
}

// sub returns a reader of a length and as many bytes.
func (r *reader) sub() *reader {
	n := r.u32()
	base := r.base + r.p
	return &reader{b: r.take(n), base: base, err: r.err}
}

// An op is the opcode of an instruction.
type op byte

// The opcodes that the rewriting looks at or writes.
const (
	opUnreachable  op = 0x00
	opNop          op = 0x01
	opBlock        op = 0x02
	opLoop         op = 0x03
	opIf           op = 0x04
	opElse         op = 0x05
	opEnd          op = 0x0b
	opBr           op = 0x0c
	opBrIf         op = 0x0d
	opBrTable      op = 0x0e
	opReturn       op = 0x0f
	opCall         op = 0x10
	opCallIndirect op = 0x11
	opDrop         op = 0x1a
	opSelect       op = 0x1b
	opSelectTyped  op = 0x1c
	opLocalGet     op = 0x20
	opLocalSet     op = 0x21
	opLocalTee     op = 0x22
	opGlobalGet    op = 0x23
	opGlobalSet    op = 0x24
	opTableSet     op = 0x26
	opI32Load      op = 0x28
	opI32Store     op = 0x36
	opI64Store32   op = 0x3e
	opMemorySize   op = 0x3f
	opMemoryGrow   op = 0x40
	opI32Const     op = 0x41
	opI64Const     op = 0x42
	opF32Const     op = 0x43
	opF64Const     op = 0x44
	opI32Eqz       op = 0x45
	opI32LtU       op = 0x49
	opI32GtS       op = 0x4a
	opI32LeU       op = 0x4d
	opI32GeS       op = 0x4e
	opI32Add       op = 0x6a
	opI32Sub       op = 0x6b
	opI64LtU       op = 0x54
	opI64GeS       op = 0x59
	opI32And       op = 0x71
	opI32Or        op = 0x72
	opI32Shl       op = 0x74
	opI32ShrU      op = 0x76
	opExtend32     op = 0xc4
	opRefNull      op = 0xd0
	opRefIsNull    op = 0xd1
	opRefFunc      op = 0xd2
	opPrefix       op = 0xfc
)

// Instructions behind opPrefix.
const (
	subTruncSat   = 7 // and all below
	subMemoryInit = 8
	subMemoryCopy = 10
	subMemoryFill = 11
	subTableInit  = 12
	subTableCopy  = 14
	subTableFill  = 17
)

// Types as the format writes them.
const (
	typeI32     = 0x7f
	typeI64     = 0x7e
	typeFunc    = 0x60
	typeFuncref = 0x70
	typeNone    = 0x40 // block type: no parameters, no results
)

// asm assembles instructions from opcodes, immediates as int and finished code as []byte. The
// immediate of a constant is written as a signed number, every other one as an unsigned number.
func asm(parts ...any) []byte {
	var out []byte
	signed := false
	for _, part := range parts {
		switch v := part.(type) {
		case op:
			out = append(out, byte(v))
			signed = v == opI32Const || v == opI64Const
		case int:
			if signed {
				out = appendS(out, int64(v))
			} else {
				out = appendU(out, uint32(v))
			}
		case int64: // where an int can be too small
			out = appendS(out, v)
		case []byte:
			out = append(out, v...)
		default:
			panic(fmt.Sprintf("harden: asm of %T", part)) // a mistake in this package, not in its input
		}
	}
	return out
}

// appendU appends v as unsigned LEB128.
func appendU(out []byte, v uint32) []byte {
	for v >= 0x80 {
		out = append(out, byte(v)|0x80)
		v >>= 7
	}
	return append(out, byte(v))
}

// appendS appends v as signed LEB128.
func appendS(out []byte, v int64) []byte {
	for v < -0x40 || v >= 0x40 {
		out = append(out, byte(v&0x7f)|0x80)
		v >>= 7
	}
	return append(out, byte(v&0x7f))
}

// appendSized appends the length of b and b.
func appendSized(out, b []byte) []byte {
	return append(appendU(out, uint32(len(b))), b...)
}
