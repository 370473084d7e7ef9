package harden

// patch is what is done to one function of the binary beside what is done to all.
type patch struct {
	body     []byte // if not nil: the function's new locals and code, and nothing else matters
	prologue []byte // put before the function's code
	from, to []byte // if from is not nil: the instructions from, which occur once, become to
	fence    int    // if not 0: which loop, from 1, gets a register fence before it
}

// pinnedPatches returns the patches of the pinned binary by function index. Instructions to replace
// are looked for where an instruction starts, never inside one.
func (rw *rewriter) pinnedPatches() map[uint32]patch {
	// How many elements an array can have in 2 GiB. 2^32, the limit of the language, times 8 bytes
	// wraps around 32 bits.
	lengthLimit := patch{
		from: asm(opI64Const, int64(1<<32), opI64GeS),
		to:   asm(opI64Const, 1<<28, opI64GeS),
	}
	return map[uint32]patch{
		// JS_NewContext alone, without the modules std, os and bjson.
		newContextFn: {body: asm(0, opLocalGet, 0, opCall, jsNewContextFn, opEnd)},

		// p == 0 ? 0 : (*(p - 4) & -8) - 4, which is the size of the allocator's chunk.
		usableSizeFn: {body: asm(0,
			opLocalGet, 0, opI32Eqz,
			opIf, typeI32, opI32Const, 0,
			opElse, opLocalGet, 0, opI32Const, 4, opI32Sub, opI32Load, 2, 0,
			opI32Const, -8, opI32And, opI32Const, 4, opI32Sub,
			opEnd,
			opEnd)},

		interpretFn: {fence: dispatchLoop},

		// if (sp < ctx->rt->stack_limit) { *done = 0; return JS_ThrowRangeError(...); }
		helperNextFn: {prologue: asm(
			opGlobalGet, stackPointer,
			opLocalGet, 0, opI32Load, 2, ContextRuntime, opI32Load, 2, RuntimeStackLimit,
			opI32LtU,
			opIf, typeNone,
			opLocalGet, 4, opI32Const, 0, opI32Store, 2, 0,
			opLocalGet, 0, opI32Const, stackOverflowText, opI32Const, 0, opCall, throwRangeFn, opDrop,
			opI64Const, int64(jsException), opReturn,
			opEnd)},

		arrayWithFn:  lengthLimit,
		toReversedFn: lengthLimit,
		toSortedFn:   lengthLimit,
		toSplicedFn:  lengthLimit,

		// The new length, which the language lets be 2^53 - 1, is cut to 32 bits later.
		bufTransferFn: {
			from: asm(opI64Const, int64(1<<53), opI64LtU),
			to:   asm(opI64Const, int64(1<<31), opI64LtU),
		},

		// The number of keys, in local 9, times the size of a key is what it allocates.
		proxyKeysFn: {
			from: asm(opLocalGet, 9, opI32Const, 3, opI32Shl, opLocalTee, 5),
			to:   asm(opLocalGet, 9, opCall, int(rw.added.size8), opLocalTee, 5),
		},
	}
}
