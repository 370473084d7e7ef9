package harden

const (
	copyUnitShift = 6        // 64 copied bytes cost as much as one loop iteration
	copyPiece     = 64 << 10 // what one memory.copy or memory.fill gets at most, in bytes
)

// added is the index of each function that the rewriting appends to the module.
type added struct {
	tracker uint32 // host_promise_rejection_tracker
	copy    uint32 // stands in for memory.copy
	fill    uint32 // stands in for memory.fill
	tick    uint32 // restarts the countdown and calls the host
	fence   uint32 // does nothing, but empties the registers
	size8   uint32 // n * 8 that cannot wrap around
	deeper  uint32 // checks and notes a stack pointer that is lower than any before
}

func addedAt(first uint32) added {
	return added{first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6}
}

// function is one of them.
type function struct {
	signature []byte
	body      []byte // local declarations and code
}

func signature(params []byte, results ...byte) []byte {
	out := appendSized([]byte{typeFunc}, params)
	return appendSized(out, results)
}

// functions are what added numbers.
func (rw *rewriter) functions() []function {
	i3 := []byte{typeI32, typeI32, typeI32}
	return []function{
		{signature([]byte{typeI32, typeI64, typeI64, typeI32, typeI32}), trackerBody()},
		{signature(i3), rw.copyBody()},
		{signature(i3), rw.fillBody()},
		{signature(nil), rw.tickBody()},
		{signature(nil), asm(0, opEnd)},
		{signature([]byte{typeI32}, typeI32), size8Body()},
		{signature(nil), rw.deeperBody()},
	}
}

// trackerBody is (ctx, promise, reason, handled, opaque): it passes ctx and promise on to the host.
func trackerBody() []byte {
	return asm(0,
		opLocalGet, 0,
		opLocalGet, 1,
		opI32Const, ArgcRejected, opLocalGet, 3, opI32Sub, // ArgcNowHandled if handled is 1
		opI32Const, 0,
		opCall, hostCallFn, opDrop,
		opEnd)
}

// tickBody restarts the countdown, then calls the host, which may set it otherwise.
func (rw *rewriter) tickBody() []byte {
	return asm(0,
		opI32Const, int(rw.period), opGlobalSet, int(rw.counter),
		opI32Const, 0, opI64Const, 0, opI32Const, ArgcTick, opI32Const, 0,
		opCall, hostCallFn, opDrop,
		opEnd)
}

// size8Body is (n): n * 8, or a size that no allocator has.
func size8Body() []byte {
	return asm(0,
		opLocalGet, 0, opI32Const, 3, opI32Shl,
		opI32Const, -8,
		opLocalGet, 0, opI32Const, 1<<29, opI32LtU,
		opSelect,
		opEnd)
}

// charge takes the price of copying the n bytes of local 2, or one piece if that is less, off the
// countdown, and calls the host if it ran out.
func (rw *rewriter) charge() []byte {
	return asm(
		opGlobalGet, int(rw.counter),
		opLocalGet, 2, opI32Const, copyPiece, opLocalGet, 2, opI32Const, copyPiece, opI32LtU, opSelect,
		opI32Const, copyUnitShift, opI32ShrU,
		opI32Sub, opGlobalSet, int(rw.counter),
		opGlobalGet, int(rw.counter), opI32Const, 0, opI32GtS,
		opIf, typeNone, opElse, opCall, int(rw.added.tick), opEnd)
}

// copyBody is (to, from, n), piece by piece from the end that the overlap asks for.
func (rw *rewriter) copyBody() []byte {
	const to, from, n = 0, 1, 2
	memoryCopy := asm(opPrefix, subMemoryCopy, 0, 0)
	return asm(0,
		opLoop, typeNone,
		rw.charge(),
		opLocalGet, n, opI32Const, copyPiece, opI32LeU,
		opIf, typeNone,
		opLocalGet, to, opLocalGet, from, opLocalGet, n, memoryCopy, opReturn,
		opEnd,

		// What ends beyond 32 bits traps as a whole: the addresses of its pieces would wrap around.
		opLocalGet, to, opLocalGet, n, opI32Add, opLocalGet, to, opI32LtU,
		opLocalGet, from, opLocalGet, n, opI32Add, opLocalGet, from, opI32LtU,
		opI32Or, opIf, typeNone, opUnreachable, opEnd,

		opLocalGet, n, opI32Const, copyPiece, opI32Sub, opLocalSet, n,
		opLocalGet, to, opLocalGet, from, opI32Sub, opLocalGet, n, opI32Const, copyPiece, opI32Add, opI32LtU,
		opIf, typeNone, // to lies inside the source: the last piece first
		opLocalGet, to, opLocalGet, n, opI32Add,
		opLocalGet, from, opLocalGet, n, opI32Add,
		opI32Const, copyPiece, memoryCopy,
		opElse,
		opLocalGet, to, opLocalGet, from, opI32Const, copyPiece, memoryCopy,
		opLocalGet, to, opI32Const, copyPiece, opI32Add, opLocalSet, to,
		opLocalGet, from, opI32Const, copyPiece, opI32Add, opLocalSet, from,
		opEnd,
		opBr, 0,
		opEnd,
		opEnd)
}

// fillBody is (to, value, n), piece by piece.
func (rw *rewriter) fillBody() []byte {
	const to, value, n = 0, 1, 2
	memoryFill := asm(opPrefix, subMemoryFill, 0)
	return asm(0,
		opLoop, typeNone,
		rw.charge(),
		opLocalGet, n, opI32Const, copyPiece, opI32LeU,
		opIf, typeNone,
		opLocalGet, to, opLocalGet, value, opLocalGet, n, memoryFill, opReturn,
		opEnd,
		opLocalGet, to, opLocalGet, value, opI32Const, copyPiece, memoryFill,
		opLocalGet, to, opI32Const, copyPiece, opI32Add, opLocalSet, to,
		opLocalGet, n, opI32Const, copyPiece, opI32Sub, opLocalSet, n,
		opBr, 0,
		opEnd,
		opEnd)
}

// loopHead is what stands at the head of each loop. In the source form of WebAssembly:
//
//	(global.set $count (i32.add (global.get $count) (i32.const -1)))
//	(if (i32.gt_s (global.get $count) (i32.const 0))
//	  (then)
//	  (else (call $tick) (br $loop)))
//
// The call stands in the else branch, and goes back to the loop head instead of on into the loop,
// for wazero's compiler: it lays out the branches in this order and gives a block the registers of
// its first predecessor, so that the usual path has one jump, not taken, and keeps every value in
// the register it was in. The comparison is signed so that no value of the countdown can turn the
// metering off.
func (rw *rewriter) loopHead() []byte {
	return asm(
		opGlobalGet, int(rw.counter), opI32Const, -1, opI32Add, opGlobalSet, int(rw.counter),
		opGlobalGet, int(rw.counter), opI32Const, 0, opI32GtS,
		opIf, typeNone, opElse, opCall, int(rw.added.tick), opBr, 1, opEnd)
}

// stackBound is what follows each write of the stack pointer that may lower it. One comparison
// serves the bound and the reach. It is signed so that a pointer lowered past 0 is below every bound.
func (rw *rewriter) stackBound() []byte {
	return asm(
		opGlobalGet, stackPointer, opGlobalGet, int(rw.reach), opI32GeS,
		opIf, typeNone, opElse, opCall, int(rw.added.deeper), opEnd)
}

// deeperBody traps if the stack pointer is below its bound, and otherwise notes its page.
func (rw *rewriter) deeperBody() []byte {
	return asm(0,
		opGlobalGet, stackPointer, opGlobalGet, int(rw.spMin), opI32GeS,
		opIf, typeNone, opElse, opUnreachable, opEnd,
		opGlobalGet, stackPointer, opI32Const, -StackPage, opI32And, opGlobalSet, int(rw.reach),
		opEnd)
}
