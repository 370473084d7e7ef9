package harden

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

// module is what the structure tests look at.
type module struct {
	types, imports, functions, globals int
	bodies                             [][]byte // the code section
}

func readModule(t *testing.T, wasm []byte) module {
	t.Helper()
	var m module
	for r := (&reader{b: wasm, p: len(header)}); r.more(); {
		id, s := r.byte(), r.sub()
		if id == secCustom {
			continue
		}
		n := int(s.u32())
		switch id {
		case secType:
			m.types = n
		case secImport:
			m.imports = n
		case secFunction:
			m.functions = n
		case secGlobal:
			m.globals = n
		case secCode:
			for range n {
				m.bodies = append(m.bodies, s.sub().b)
			}
		}
		if s.err != nil || r.err != nil {
			t.Fatal(s.err, r.err)
		}
	}
	return m
}

// locals passes over a body's local declarations.
func locals(body []byte) *reader {
	r := &reader{b: body}
	for n := r.u32(); n > 0; n-- {
		r.u32()
		r.byte()
	}
	return r
}

// counts are the places of the binary that are rewritten.
type counts struct{ loops, lowerings, raises, copies, fills int }

// undo takes out of a rewritten body what all functions get. It knows the rewriting only by its
// result: each loop is followed by the head, each write of the stack pointer by the bound but for
// those that add a constant, and nothing copies but the two functions for it.
func undo(t *testing.T, rw *rewriter, body []byte, c *counts) []byte {
	t.Helper()
	r := locals(body)
	out := bytes.Clone(body[:r.p])
	follows := func(code []byte) bool {
		ok := bytes.HasPrefix(r.b[r.p:], code)
		if ok {
			r.p += len(code)
		}
		return ok
	}
	var last []instruction
	for r.more() {
		at := r.p
		if follows(rw.callCopy) {
			c.copies++
			out = append(out, asm(opPrefix, subMemoryCopy, 0, 0)...)
			continue
		}
		if follows(rw.callFill) {
			c.fills++
			out = append(out, asm(opPrefix, subMemoryFill, 0)...)
			continue
		}
		in := r.instruction()
		out = append(out, r.b[at:r.p]...)
		switch {
		case in.op == opLoop:
			c.loops++
			if !follows(rw.head) {
				t.Errorf("offset %d: a loop without the countdown", at)
			}
		case in.op == opGlobalSet && in.arg == stackPointer && follows(rw.bound):
			c.lowerings++
		case in.op == opGlobalSet && in.arg == stackPointer:
			c.raises++
			k := last[len(last)-2]
			sum := last[len(last)-1]
			if k.op != opI32Const || !(sum.op == opI32Add && int32(k.arg) >= 0 || sum.op == opI32Sub && int32(k.arg) <= 0) {
				t.Errorf("offset %d: an unchecked stack pointer that adds no constant", at)
			}
		case in.op == opGlobalSet:
			t.Errorf("offset %d: sets global %d", at, in.arg)
		case in.op == opPrefix && in.sub >= subMemoryInit:
			t.Errorf("offset %d: bulk instruction %d", at, in.sub)
		}
		last = append(last, in)
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	return out
}

func TestStructure(t *testing.T) {
	t.Parallel()
	before, after := readModule(t, pinned), readModule(t, hardened())
	rw := &rewriter{counter: uint32(before.globals), spMin: uint32(before.globals) + 1, reach: uint32(before.globals) + 2,
		added: addedAt(uint32(before.imports + before.functions))}
	rw.head, rw.bound = rw.loopHead(), rw.stackBound()
	rw.callCopy, rw.callFill = asm(opCall, int(rw.added.copy)), asm(opCall, int(rw.added.fill))

	added := len(rw.functions())
	if after.types != before.types+added || after.functions != before.functions+added || len(after.bodies) != len(before.bodies)+added ||
		after.imports != before.imports || after.globals != before.globals+3 {
		t.Fatalf("before: %d types, %d functions, %d imports, %d globals; after: %d, %d, %d, %d", before.types, before.functions,
			before.imports, before.globals, after.types, after.functions, after.imports, after.globals)
	}

	patches := rw.pinnedPatches()
	var got counts
	for i, body := range before.bodies {
		index := uint32(before.imports + i)
		undone := undo(t, rw, after.bodies[i], &got)
		if p, ok := patches[index]; ok {
			if bytes.Equal(undone, body) {
				t.Errorf("function %d: not patched", index)
			}
			if p.from != nil && !bytes.Equal(undone, bytes.Replace(body, p.from, p.to, 1)) {
				t.Errorf("function %d: more changed than the patch", index)
			}
		} else if !bytes.Equal(undone, body) {
			t.Errorf("function %d: more changed than the loops, the stack pointer and the copies", index)
		}
	}
	want := counts{loops: 1726, lowerings: 535, raises: 486, copies: 2, fills: 1}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A write of the stack pointer that is not checked goes back to where the function found it: it
// adds a constant to a local that got the stack pointer less a constant, or to a copy of it.
func TestRaisesRestore(t *testing.T) {
	t.Parallel()
	m := readModule(t, pinned)
	for i, body := range m.bodies {
		r := locals(body)
		frames := map[uint32]bool{}
		last := make([]instruction, 3) // so that there are three before the first
		for r.more() {
			at := r.p
			in := r.instruction()
			first, constant, sum := last[len(last)-3], last[len(last)-2], last[len(last)-1]
			sums := constant.op == opI32Const && (sum.op == opI32Add || sum.op == opI32Sub)
			switch {
			case (in.op == opLocalSet || in.op == opLocalTee) && (sum.op == opLocalTee || sum.op == opLocalGet) && frames[sum.arg]:
				frames[in.arg] = true
			case !sums:
			case in.op == opLocalTee && first == instruction{op: opGlobalGet, arg: stackPointer}:
				frames[in.arg] = true
			case in.op == opGlobalSet && (sum.op == opI32Add) == (int32(constant.arg) >= 0):
				const viaMemcpy = 781 // has it back from memcpy, which returns its first argument
				if (first.op != opLocalGet || !frames[first.arg]) && m.imports+i != viaMemcpy {
					t.Errorf("function %d, offset %d: raises from instruction %#x of local %d", m.imports+i, at, first.op, first.arg)
				}
			}
			last = append(last, in)
		}
		if r.err != nil {
			t.Fatal(r.err)
		}
	}
}

// The dispatch loop is the loop that takes longest to end: it holds the largest br_table.
func TestFenceStandsBeforeDispatch(t *testing.T) {
	t.Parallel()
	m := readModule(t, pinned)
	r := locals(m.bodies[interpretFn-m.imports])
	loop, largest, dispatch := 0, 0, 0
	for r.more() {
		at := r.p
		in := r.instruction()
		if in.op == opLoop {
			loop++
		}
		if in.op == opBrTable && r.p-at > largest {
			largest, dispatch = r.p-at, loop
		}
	}
	if dispatch != dispatchLoop {
		t.Errorf("the largest br_table is in loop %d", dispatch)
	}
}

// The pinned binary is what the constants say.
func TestPinnedLayout(t *testing.T) {
	t.Parallel()
	text := append([]byte("Maximum call stack size exceeded"), 0)
	var data []byte
	for r := (&reader{b: pinned, p: len(header)}); r.more(); {
		if id, s := r.byte(), r.sub(); id == 11 {
			n := s.u32()
			for range n { // active segments: 0, i32.const, end, bytes
				s.byte()
				s.byte()
				at := int(s.s32())
				s.byte()
				segment := s.take(s.u32())
				data = slices.Grow(data, max(0, at+len(segment)-len(data)))[:max(len(data), at+len(segment))]
				copy(data[at:], segment)
			}
			if s.err != nil {
				t.Fatal(s.err)
			}
		}
	}
	if !bytes.HasPrefix(data[stackOverflowText:], text) {
		t.Errorf("at %d: %q", stackOverflowText, data[stackOverflowText:stackOverflowText+len(text)])
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	const file = "testdata/golden.txt"
	got := fmt.Sprintf("sha256 %x\nbytes %d\n", sha256.Sum256(hardened()), len(hardened()))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the rewritten binary changed (if it should, run the test with -update):\ngot  %s\nwant %s", got, want)
	}
}
