package harden

// instruction is one instruction, without the immediates that do not matter here.
type instruction struct {
	op  op
	sub uint32 // behind opPrefix: which one
	arg uint32 // opI32Const: the value; opGlobalSet: the global; opLoop: 0 if it takes no parameters
}

// immediate says what follows an opcode.
type immediate byte

const (
	immUnknown immediate = iota // not an opcode
	immNone
	immIndex   // a number of 32 bits
	immIndexes // two
	immBlock   // a block type
	immI32     // a signed number of 32 bits
	immI64     // a signed number of 64 bits
	immF32     // 4 bytes
	immF64     // 8 bytes
	immLabels  // a vector of numbers and one more
	immTypes   // a vector of value types
	immPrefix  // the number of an instruction, and what follows it
)

// immediates knows the instructions of WebAssembly 2.0 but for the vector ones, which the engine
// does not use.
var immediates = func() (t [256]immediate) {
	set := func(imm immediate, first, last op) {
		for o := int(first); o <= int(last); o++ {
			t[o] = imm
		}
	}
	set(immNone, opUnreachable, opNop)
	set(immBlock, opBlock, opIf)
	set(immNone, opElse, opElse)
	set(immNone, opEnd, opEnd)
	set(immIndex, opBr, opBrIf)
	set(immLabels, opBrTable, opBrTable)
	set(immNone, opReturn, opReturn)
	set(immIndex, opCall, opCall)
	set(immIndexes, opCallIndirect, opCallIndirect)
	set(immNone, opDrop, opSelect)
	set(immTypes, opSelectTyped, opSelectTyped)
	set(immIndex, opLocalGet, opTableSet)
	set(immIndexes, opI32Load, opI64Store32) // alignment, offset
	set(immIndex, opMemorySize, opMemoryGrow)
	set(immI32, opI32Const, opI32Const)
	set(immI64, opI64Const, opI64Const)
	set(immF32, opF32Const, opF32Const)
	set(immF64, opF64Const, opF64Const)
	set(immNone, opI32Eqz, opExtend32) // comparisons, arithmetic, conversions
	set(immIndex, opRefNull, opRefNull)
	set(immNone, opRefIsNull, opRefIsNull)
	set(immIndex, opRefFunc, opRefFunc)
	set(immPrefix, opPrefix, opPrefix)
	return t
}()

// instruction reads the next instruction.
func (r *reader) instruction() instruction {
	in := instruction{op: op(r.byte())}
	switch immediates[in.op] {
	case immNone:
	case immIndex:
		in.arg = r.u32()
	case immI32:
		in.arg = uint32(r.s32())
	case immIndexes:
		r.u32()
		r.u32()
	case immBlock:
		// A negative number of one byte, which is a result type or none, or the index of a type.
		if c := r.byte(); c&0xc0 != 0x40 {
			in.arg = 1
			if c >= 0x80 {
				r.skip(4)
			}
		}
	case immI64:
		r.skip(10)
	case immF32:
		r.take(4)
	case immF64:
		r.take(8)
	case immLabels:
		for n := uint64(r.u32()) + 1; n > 0 && r.err == nil; n-- {
			r.u32()
		}
	case immTypes:
		r.take(r.u32())
	case immPrefix:
		in.sub = r.u32()
		switch {
		case in.sub <= subTruncSat:
		case in.sub == subMemoryInit, in.sub == subMemoryCopy, in.sub == subTableInit, in.sub == subTableCopy:
			r.u32()
			r.u32()
		case in.sub <= subTableFill:
			r.u32()
		default:
			r.fail("unknown instruction %#x %d", byte(in.op), in.sub)
		}
	default:
		r.fail("unknown instruction %#x", byte(in.op))
	}
	return in
}
