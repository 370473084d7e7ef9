package harden

// instruction is one instruction without most of its immediates.
type instruction struct {
	op  op
	sub uint32 // behind opPrefix: which one
	arg uint32 // global.set: the global; i32.const: the value; block, loop and if: whether they take parameters
}

// instruction reads the next instruction. It knows the instructions of WebAssembly 2.0 but for the
// vector ones, which the engine does not use, and fails at any other.
func (r *reader) instruction() instruction {
	in := instruction{op: op(r.byte())}
	switch o := in.op; {
	case o == opBlock, o == opLoop, o == opIf:
		// A block type is a negative number of one byte (none, or the type of the result) or the
		// index of a function type.
		if c := r.byte(); c&0xc0 != 0x40 {
			in.arg = 1
			if c >= 0x80 {
				r.skip(4)
			}
		}
	case o == opGlobalSet:
		in.arg = r.u32()
	case o == opI32Const:
		in.arg = uint32(r.s32())
	case o == opI64Const:
		r.skip(10)
	case o == opF32Const:
		r.take(4)
	case o == opF64Const:
		r.take(8)
	case o == opBrTable:
		for n := uint64(r.u32()) + 1; n > 0 && r.err == nil; n-- {
			r.skip(5)
		}
	case o == opSelectTyped:
		r.take(r.u32())
	case o == opCallIndirect, o >= opI32Load && o <= opI64Store32:
		r.skip(5)
		r.skip(5)
	case o == opBr, o == opBrIf, o == opCall, o >= opLocalGet && o <= opTableSet,
		o == opMemorySize, o == opMemoryGrow, o == opRefNull, o == opRefFunc:
		r.skip(5)
	case o == opPrefix:
		in.sub = r.u32()
		switch {
		case in.sub <= subTruncSat:
		case in.sub == subMemoryInit, in.sub == subMemoryCopy, in.sub == subTableInit, in.sub == subTableCopy:
			r.skip(5)
			r.skip(5)
		case in.sub <= subTableFill:
			r.skip(5)
		default:
			r.fail("unknown instruction %#x %d", byte(o), in.sub)
		}
	case o <= opNop, o == opElse, o == opEnd, o == opReturn, o == opDrop, o == opSelect,
		o >= opI32Eqz && o <= opExtend32, o == opRefIsNull:
	default:
		r.fail("unknown instruction %#x", byte(o))
	}
	return in
}
