package harden

import "bytes"

// code returns the new body of the code section.
func (rw *rewriter) code(r *reader) ([]byte, error) {
	functions := rw.functions()
	n := r.u32()
	out := appendU(make([]byte, 0, len(r.b)+len(r.b)/8), n+uint32(len(functions)))
	var body []byte
	for i := uint32(0); i < n && r.err == nil; i++ {
		fn := r.sub()
		body = rw.rewriteBody(body[:0], rw.imports+i, fn)
		if fn.err != nil {
			return nil, fn.err
		}
		out = appendSized(out, body)
	}
	if r.err != nil {
		return nil, r.err
	}
	for _, f := range functions {
		out = appendSized(out, f.body)
	}
	return out, nil
}

// rewriteBody appends the new body of the function index to out; r reads the old one.
func (rw *rewriter) rewriteBody(out []byte, index uint32, r *reader) []byte {
	p := rw.patches[index]
	if p.body != nil {
		return append(out, p.body...)
	}
	for n := r.u32(); n > 0 && r.err == nil; n-- { // local declarations: how many, of which type
		r.u32()
		r.byte()
	}
	kept := 0 // how much of r.b is in out, or replaced
	emit := func(upTo int, code []byte, resume int) {
		out = append(append(out, r.b[kept:upTo]...), code...)
		kept = resume
	}
	emit(r.p, p.prologue, r.p)

	var loops, edits int
	var constant bool // the last instruction was an i32.const, of value
	var value int32
	var raised bool // the last two instructions added a constant that is not negative
	for r.more() {
		at := r.p
		if p.from != nil && bytes.HasPrefix(r.b[at:], p.from) {
			edits++
			r.p += len(p.from)
			emit(at, p.to, r.p)
			constant, raised = false, false
			continue
		}
		in := r.instruction()
		wasConstant, wasRaised := constant, raised
		constant, raised = false, false
		switch {
		case in.op == opI32Const:
			constant, value = true, int32(in.arg)
		case in.op == opI32Add:
			raised = wasConstant && value >= 0
		case in.op == opI32Sub:
			raised = wasConstant && value <= 0
		case in.op == opGlobalSet && in.arg == stackPointer && !wasRaised:
			emit(r.p, rw.bound, r.p)
		case in.op == opPrefix && in.sub == subMemoryCopy:
			emit(at, rw.callCopy, r.p)
		case in.op == opPrefix && in.sub == subMemoryFill:
			emit(at, rw.callFill, r.p)
		case in.op == opLoop && in.arg != 0:
			r.fail("a loop with parameters")
		case in.op == opLoop:
			if loops++; loops == p.fence {
				emit(at, rw.callFence, at)
			}
			emit(r.p, rw.head, r.p)
		}
	}
	if p.from != nil && edits != 1 {
		r.fail("function %d has %d places to patch, want 1", index, edits)
	}
	if loops < p.fence {
		r.fail("function %d has %d loops, want %d or more", index, loops, p.fence)
	}
	return append(out, r.b[kept:]...)
}
