package harden

import (
	"bytes"
	"math"
	"slices"
)

const header = "\x00asm\x01\x00\x00\x00"

// Section ids of the binary format.
const (
	secCustom   = 0
	secType     = 1
	secImport   = 2
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

// rewriter is one rewriting of a module.
type rewriter struct {
	period  int32
	types   uint32           // how many the module has
	imports uint32           // how many functions it imports
	patches map[uint32]patch // by function; nil if the module is not the pinned one

	// What is appended to the module.
	counter, spMin, reach uint32 // globals
	added                 added  // functions

	// Code that is put in many places.
	head, bound                   []byte
	callCopy, callFill, callFence []byte
}

// rewrite is Rewrite without the hash. pinned says whether the module is the pinned binary: only
// then are there functions to patch and to export.
func rewrite(wasm []byte, period int32, pinned bool) ([]byte, error) {
	if !bytes.HasPrefix(wasm, []byte(header)) {
		return nil, &FormatError{Reason: "not a WebAssembly binary of version 1"}
	}
	type section struct {
		id   byte
		body *reader
	}
	var sections []section
	rw := &rewriter{period: period}
	var functions, globals uint32
	r := &reader{b: wasm, p: len(header)}
	for r.more() {
		s := section{id: r.byte()}
		s.body = r.sub()
		peek := *s.body
		switch s.id {
		case secCustom: // nothing that runs: debug information
			continue
		case secType:
			rw.types = peek.u32()
		case secImport:
			rw.imports = peek.importedFunctions()
		case secFunction:
			functions = peek.u32()
		case secGlobal:
			globals = peek.u32()
		}
		if peek.err != nil {
			return nil, peek.err
		}
		sections = append(sections, s)
	}
	if r.err != nil {
		return nil, r.err
	}
	rw.counter, rw.spMin, rw.reach = globals, globals+1, globals+2
	rw.added = addedAt(rw.imports + functions)
	rw.head, rw.bound = rw.loopHead(), rw.stackBound()
	rw.callCopy, rw.callFill = asm(opCall, int(rw.added.copy)), asm(opCall, int(rw.added.fill))
	rw.callFence = asm(opCall, int(rw.added.fence))
	if pinned {
		rw.patches = rw.pinnedPatches()
	}

	out := slices.Grow([]byte(header), len(wasm)+len(wasm)/8)
	for _, s := range sections {
		body, err := rw.section(s.id, s.body)
		if err != nil {
			return nil, err
		}
		out = appendSized(append(out, s.id), body)
	}
	return out, nil
}

// importedFunctions reads an import section and returns its length.
func (r *reader) importedFunctions() uint32 {
	n := r.u32()
	for i := n; i > 0 && r.err == nil; i-- {
		r.take(r.u32()) // module
		r.take(r.u32()) // name
		if kind := r.byte(); kind != kindFunc {
			r.fail("import of kind %d, want functions only", kind)
		}
		r.u32()
	}
	return n
}

// section returns the new body of a section.
func (rw *rewriter) section(id byte, r *reader) ([]byte, error) {
	switch id {
	case secType: // one for each added function
		var more [][]byte
		for _, f := range rw.functions() {
			more = append(more, f.signature)
		}
		return appendEntries(r, more...)
	case secFunction:
		var more [][]byte
		for i := range rw.functions() {
			more = append(more, appendU(nil, rw.types+uint32(i)))
		}
		return appendEntries(r, more...)
	case secTable: // its one table grows by the tracker's slot
		return asm(1, typeFuncref, 1, TrackerSlot+1, TrackerSlot+1), nil
	case secGlobal:
		const mutable = 1
		return appendEntries(r,
			asm(typeI32, mutable, opI32Const, int(rw.period), opEnd),
			asm(typeI32, mutable, opI32Const, 0, opEnd),
			asm(typeI32, mutable, opI32Const, math.MaxInt32, opEnd))
	case secExport:
		more := [][]byte{
			export(ExportSP, kindGlobal, stackPointer),
			export(ExportSPMin, kindGlobal, rw.spMin),
			export(ExportSPReach, kindGlobal, rw.reach),
			export(ExportCount, kindGlobal, rw.counter),
		}
		if rw.patches != nil {
			more = append(more, export(ExportLoop, kindFunc, stdLoopFn))
		}
		return appendEntries(r, more...)
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
	if r.err == nil && uint64(n) > uint64(len(r.b)) {
		r.fail("%d entries pass the end", n)
	}
	if r.err != nil {
		return nil, r.err
	}
	out := appendU(nil, n+uint32(len(more)))
	out = append(out, r.b[r.p:]...)
	return append(out, bytes.Join(more, nil)...), nil
}
