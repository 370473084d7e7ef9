package harden

import (
	"bytes"
	"slices"
)

const header = "\x00asm\x01\x00\x00\x00"

// Section ids of the binary format.
const (
	secCustom   = 0
	secType     = 1
	secFunction = 3
	secTable    = 4
	secGlobal   = 6
	secExport   = 7
	secElement  = 9
	secCode     = 10
)

// External kinds of the export section.
const (
	kindFunc   = 0
	kindGlobal = 3
)

// rewriter is one rewriting. Its indexes are those of what it appends to the module.
type rewriter struct {
	period         int32
	counter, spMin uint32 // globals
	added          added  // functions
	patches        map[uint32]patch

	// Code that is put in many places.
	head, bound                   []byte
	callCopy, callFill, callFence []byte
}

// rewrite is Rewrite without the hash. pinned says whether the functions that only the pinned
// binary has at their indexes are patched.
func rewrite(wasm []byte, period int32, pinned bool) ([]byte, error) {
	if !bytes.HasPrefix(wasm, []byte(header)) {
		return nil, &FormatError{Reason: "not a WebAssembly binary of version 1"}
	}
	type section struct {
		id   byte
		body *reader
	}
	var sections []section
	var types, funcs, globals uint32
	r := &reader{b: wasm, p: len(header)}
	for r.more() {
		s := section{id: r.byte()}
		s.body = r.sub()
		count := *s.body
		switch s.id {
		case secCustom:
			continue
		case secType:
			types = count.u32()
		case secFunction:
			funcs = count.u32()
		case secGlobal:
			globals = count.u32()
		}
		if count.err != nil {
			return nil, count.err
		}
		sections = append(sections, s)
	}
	if r.err != nil {
		return nil, r.err
	}

	rw := &rewriter{period: period, counter: globals, spMin: globals + 1, added: addedAt(importedFns + funcs)}
	rw.head, rw.bound = rw.loopHead(), rw.stackBound()
	rw.callCopy, rw.callFill = asm(opCall, int(rw.added.copy)), asm(opCall, int(rw.added.fill))
	rw.callFence = asm(opCall, int(rw.added.fence))
	if pinned {
		rw.patches = rw.pinnedPatches()
	}
	out := slices.Grow([]byte(header), len(wasm)+len(wasm)/8)
	for _, s := range sections {
		body, err := rw.section(s.id, s.body, types)
		if err != nil {
			return nil, err
		}
		out = appendSized(append(out, s.id), body)
	}
	return out, nil
}

// section returns the new body of one section. types is how many types the module has.
func (rw *rewriter) section(id byte, r *reader, types uint32) ([]byte, error) {
	functions := rw.functions()
	more := make([][]byte, len(functions))
	switch id {
	case secType: // one more for each function
		for i, f := range functions {
			more[i] = f.signature
		}
		return appendEntries(r, more...)
	case secFunction:
		for i := range functions {
			more[i] = appendU(nil, types+uint32(i))
		}
		return appendEntries(r, more...)
	case secTable: // its one table grows by the tracker's slot
		return asm(1, typeFuncref, 1, TrackerSlot+1, TrackerSlot+1), nil
	case secGlobal:
		const mutable = 1
		return appendEntries(r,
			asm(typeI32, mutable, opI32Const, int(rw.period), opEnd),
			asm(typeI32, mutable, opI32Const, 0, opEnd))
	case secExport:
		return appendEntries(r,
			export(ExportSP, kindGlobal, stackPointer),
			export(ExportSPMin, kindGlobal, rw.spMin),
			export(ExportCount, kindGlobal, rw.counter),
			export(ExportLoop, kindFunc, stdLoopFn))
	case secElement:
		return appendEntries(r, asm(0, opI32Const, TrackerSlot, opEnd, 1, int(rw.added.tracker)))
	case secCode:
		return rw.code(r)
	default:
		return r.b, nil
	}
}

func export(name string, kind byte, index uint32) []byte {
	return appendU(append(appendSized(nil, []byte(name)), kind), index)
}

// appendEntries returns a section body with more entries at its end.
func appendEntries(r *reader, more ...[]byte) ([]byte, error) {
	n := r.u32()
	if r.err != nil {
		return nil, r.err
	}
	out := appendU(nil, n+uint32(len(more)))
	out = append(out, r.b[r.p:]...)
	return append(out, bytes.Join(more, nil)...), nil
}
