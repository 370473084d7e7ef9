package heapdelta

import "strconv"

// heap is a memory as QuickJS makes it with dlmalloc: chunks of a header and what was asked for, in them objects with their
// shapes, arrays of properties and strings. What is free and what is behind the end of a string holds what was there
// before.
type heap struct {
	image, memory []byte
	first         int // what malloc gave first
	top           int // the header of the chunk at the end
	last          int // the object made last
	dust          uint32
}

func newHeap(size int) *heap {
	h := &heap{memory: make([]byte, size), top: 1024 - 4}
	h.first = h.malloc(512)
	for range 100 {
		h.malloc(48)
	}
	h.setTop()
	h.image = append([]byte(nil), h.memory[:page]...)
	return h
}

func (h *heap) put(at int, words ...uint32) {
	for i, w := range words {
		le.PutUint32(h.memory[at+4*i:], w)
	}
}

func (h *heap) setTop() { h.put(h.top, uint32(len(h.memory)-h.top-52)|prevInUse) }

func (h *heap) malloc(size int) int {
	chunk := (size + 4 + 15) &^ 15
	at := h.top + 4
	h.put(h.top, uint32(chunk)|inUse|prevInUse)
	for i := at; i < at+chunk-4; i += 4 {
		if h.dust = h.dust*1664525 + 1013904223; h.dust>>28 == 0 {
			h.put(i, h.dust>>8)
		}
	}
	h.top += chunk
	return at
}

// free frees the chunk at an address that malloc gave. The next one must be in use.
func (h *heap) free(at int) {
	size := le.Uint32(h.memory[at-4:]) &^ flagBits
	h.put(at-4, size|prevInUse, 0x1111, 0x2222)
	next := at - 4 + int(size)
	h.put(next-4, size)
	h.put(next, le.Uint32(h.memory[next:])&^prevInUse)
}

func (h *heap) str(s string) int {
	at := h.malloc(16 + len(s) + 1)
	h.put(at, 1, uint32(len(s)), 0, 0)
	copy(h.memory[at+16:], s+"\x00")
	return at
}

func (h *heap) object(class, shape uint32, values ...uint32) int {
	at := h.malloc(48)
	props := h.malloc(16 * ((len(values) + 3) / 4))
	h.put(at, 1, class, uint32(h.last), 0, shape, uint32(props), 0)
	h.put(props, values...)
	if h.last != 0 {
		h.put(h.last+12, uint32(at))
	}
	h.last = at
	return at
}

// grow makes n objects of {id, name: "item "+id, tags: ["a"], price: id*1.5}.
func (h *heap) grow(n int) {
	const isString, isObject, shape, arrayShape = 0xfffffff9, 0xffffffff, 0x1230, 0x1260
	for id := range n {
		name := h.str("item " + strconv.Itoa(id))
		tag := h.str("a")
		tags := h.object(0x20d00, arrayShape, uint32(tag), isString)
		h.object(0x10100, shape, uint32(id), 0, uint32(name), isString, uint32(tags), isObject, 0, 0xc0920000+uint32(id)<<10)
	}
	h.setTop()
}
