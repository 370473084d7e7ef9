package heapdelta

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

const page = 64 << 10

// restore gives what Apply makes of the image and the delta.
func restore(t testing.TB, image, delta []byte, size int) []byte {
	t.Helper()
	got := make([]byte, size)
	copy(got, image)
	if err := Apply(got, delta); err != nil {
		t.Fatal(err)
	}
	return got
}

// roundTrip checks that the delta of memory makes memory, except for the skipped range, which stays the image's.
func roundTrip(t testing.TB, image, memory []byte, skipFrom, skipTo int) []byte {
	t.Helper()
	before := bytes.Clone(memory)
	delta, err := Append([]byte("in front"), image, memory, skipFrom, skipTo, 2*len(memory))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(memory, before) {
		t.Fatal("Append has changed the memory")
	}
	delta, ok := bytes.CutPrefix(delta, []byte("in front"))
	if !ok {
		t.Fatal("what was in the buffer is lost")
	}
	want := make([]byte, len(memory))
	copy(want, image)
	copy(want[:skipFrom], memory)
	copy(want[skipTo:], memory[skipTo:])
	got := restore(t, image, delta, len(memory))
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("byte %#x is %#x, want %#x", i, got[i], want[i])
		}
	}
	return delta
}

func random(seed uint64, size int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, size)
	for i := 0; i < size; i += 8 {
		le.PutUint64(b[i:], r.Uint64())
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	noise := random(1, 4*page)
	heap := newHeap(8 * page)
	heap.grow(400)
	edited := func(memory []byte, edit func(memory []byte)) []byte {
		memory = bytes.Clone(memory)
		edit(memory)
		return memory
	}
	extended := func(memory []byte, size int) []byte { return append(bytes.Clone(memory), make([]byte, size)...) }
	for _, tt := range []struct {
		name             string
		image, memory    []byte
		skipFrom, skipTo int
		most             int // bytes of the delta
	}{
		{name: "nothing", most: 0},
		{name: "the image", image: noise, memory: noise, most: 0},
		{name: "the image, grown", image: noise, memory: extended(noise, 2*page), most: 0},
		{name: "all zero", image: noise, memory: make([]byte, len(noise)), most: len(noise) / 300},
		{name: "all different", image: noise, memory: random(2, len(noise)), most: len(noise) * 101 / 100},
		{name: "no image", memory: noise, most: len(noise) * 101 / 100},
		{name: "first and last byte", image: noise, memory: edited(noise, func(m []byte) { m[0]++; m[len(m)-1]++ }), most: 40},
		{name: "first and last byte, grown", image: noise, memory: edited(extended(noise, page), func(m []byte) { m[0]++; m[len(m)-1]++ }), most: 40},
		{name: "edges of the skipped range", image: noise, skipFrom: 4096 + 16, skipTo: page + 48, most: 40,
			memory: edited(noise, func(m []byte) { m[4096+15]++; copy(m[4096+16:page+48], noise[7:]); m[page+48]++ })},
		{name: "all is skipped", image: noise, memory: make([]byte, len(noise)), skipTo: len(noise), most: 0},
		{name: "like the skipped range", image: noise, skipFrom: page, skipTo: 2 * page, most: page + 2*page/100,
			memory: edited(noise, func(m []byte) { copy(m[page:2*page], m); copy(m[2*page:], m[page:2*page]) })},
		{name: "one block again and again", memory: bytes.Repeat(noise[:992], 3*page/992+1)[:3*page], most: 1700},
		{name: "period of no line", memory: bytes.Repeat([]byte("abcdefghij"), page/10+1)[:page], most: 300},
		{name: "every second line", image: noise, memory: edited(noise, func(m []byte) {
			for at := 0; at < len(m); at += 2 * line {
				m[at]++
			}
		}), most: len(noise)/2 + len(noise)/8},
		{name: "far and near", memory: edited(make([]byte, 64*page), func(m []byte) {
			copy(m[16:], noise[:page])
			copy(m[63*page:], noise[:page])
		}), most: page * 103 / 100},
		{name: "words around the ends of the numbers", memory: edited(make([]byte, page), func(m []byte) {
			for i, d := range []uint32{0, 1, 1<<15 - 1, 1 << 15, 1<<15 + 1, 1 << 16, 1 << 31, -1 << 15 & (1<<32 - 1), (-1<<15 - 1) & (1<<32 - 1), 1<<32 - 1} {
				copy(m[1024+16*i:], "abcdefghijklmnop")
				le.PutUint32(m[1024+16*i+4*(i%4):], le.Uint32(m[1024+4*(i%4):])+d)
			}
		}), most: 120},
		{name: "objects", image: heap.image, memory: heap.memory, most: 400 * 42},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			delta := roundTrip(t, tt.image, tt.memory, tt.skipFrom, tt.skipTo)
			if len(delta) > tt.most {
				t.Errorf("%d bytes, want %d at most", len(delta), tt.most)
			}
			again := roundTrip(t, tt.image, tt.memory, tt.skipFrom, tt.skipTo)
			if !bytes.Equal(delta, again) {
				t.Error("the second delta is another one")
			}
		})
	}
}

// What is skipped must not be seen in the delta: it differs from one machine to the next.
func TestSkippedIsNotRead(t *testing.T) {
	t.Parallel()
	image := make([]byte, 2*page)
	var deltas [2][]byte
	for i := range deltas {
		memory := append(random(3, page), random(3, page)...)
		copy(memory[page/2:page], random(uint64(4+i), page/2))
		deltas[i] = roundTrip(t, image, memory, page/2, page)
	}
	if !bytes.Equal(deltas[0], deltas[1]) {
		t.Error("the deltas differ")
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	heap := newHeap(8 * page)
	heap.grow(400)
	for name, memory := range map[string][]byte{"objects": heap.memory, "noise": random(5, 8*page), "one word": append([]byte{1}, make([]byte, page-1)...)} {
		delta := roundTrip(t, nil, memory, page/2, page/2)
		n := len(delta)
		for _, limit := range []int{n, n + 1} {
			if got, err := Append(make([]byte, 100), nil, memory, page/2, page/2, limit); err != nil || !bytes.Equal(got[100:], delta) {
				t.Errorf("%s: limit %d of %d: %v", name, limit, n, err)
			}
		}
		for _, limit := range []int{n - 1, n / 2, 0, -1} {
			if got, err := Append(make([]byte, 100), nil, memory, page/2, page/2, limit); !errors.Is(err, ErrTooLarge) || got != nil {
				t.Errorf("%s: limit %d of %d: %v", name, limit, n, err)
			}
		}
	}
	if _, err := Append(nil, nil, make([]byte, page), 0, 0, 0); err != nil {
		t.Error("no difference:", err)
	}
}

// Not parallel, as it counts what is allocated.
func TestTooLargeIsNoticedSoon(t *testing.T) {
	noise := random(6, 64*page)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Append(nil, nil, noise, 0, 0, 1000)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
		t.Errorf("%d bytes of memory for a limit of 1,000", n)
	}
}

// Deltas are stored: what the package comment says of the format is a promise to the next version.
func TestFormat(t *testing.T) {
	t.Parallel()
	image := make([]byte, page)
	copy(image[240:], "the image's line")
	var (
		digits = hex.EncodeToString([]byte("0123456789abcdef"))
		cs     = "21" + strings.Repeat("63", 16)
	)
	for _, tt := range []struct {
		name, delta string
		at          int
		want        string // memory from at on
	}{
		{"literal", "22" + digits + digits, 0, "0123456789abcdef0123456789abcdef\x00"},
		{"same", "0f" + "21" + digits, 224, strings.Repeat("\x00", 16) + "0123456789abcdef\x00"},
		{"same, many", "00fe1f" + "21" + digits, 4094 * 16, "0123456789abcdef"},
		{"copy", "22" + digits + strings.Repeat("64", 16) + "c302", 16, "dddddddddddddddd0123456789abcdefdddddddddddddddd0123456789abcdef\x00"},
		{"copy of the image", "00" + "12" + "c102", 18 * 16, strings.Repeat("\x00", 16)},
		{"copy of the image", "00" + "11" + "c102", 17 * 16, "the image's line\x00"},
		{"copy, the same distance", cs + "c101" + "01" + "21" + digits + "81", 48, "0123456789abcdef0123456789abcdef\x00"},
		{"adjust: same and moved", cs + "e101" + "11", 16, "sccccccc" + "sccccccc" + "\x00"},
		{"adjust: near", cs + "e101" + "88" + "0201" + "feff", 16, "cccc" + "edcc" + "cccc" + "accc" + "\x00"},
		{"adjust: far", cs + "e101" + "33" + "01020304" + "ffffffff", 16, "defg" + "cccc" + "bccc" + "cccc" + "\x00"},
		{"adjust: all", cs + "e101" + "e4" + "0100" + "00000001", 16, "cccc" + "sccc" + "dccc" + "cccd" + "\x00"},
		{"adjust: lines", cs + "e201" + "00" + "02" + "0100" + "a1" + "01", 32, "dcccccccccccccccc"[:16] + "tccccccccccccccc" + "\x00"},
	} {
		delta, err := hex.DecodeString(tt.delta)
		if err != nil {
			t.Fatal(err)
		}
		memory := bytes.Clone(image)
		if err := Apply(memory, delta); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if got := string(memory[tt.at : tt.at+len(tt.want)]); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestApplyDamaged(t *testing.T) {
	t.Parallel()
	literal := "21" + strings.Repeat("61", 16)
	for _, tt := range []struct{ name, delta string }{
		{"cut literal", "21" + strings.Repeat("61", 15)},
		{"literal behind the end", "00ff1f" + "22" + strings.Repeat("61", 32)},
		{"same without its number", "00"},
		{"same behind the end", "008120"},
		{"same of an endless number", "00" + strings.Repeat("ff", 20)},
		{"same of a large number", "00ffffffffffffffff7f" + literal},
		{"copy without a distance", literal + "81"},
		{"adjust without a distance", literal + "a100"},
		{"copy from in front", literal + "c102"},
		{"copy at distance 0", literal + "c100"},
		{"copy, cut in its distance", literal + "c1"},
		{"copy of an endless distance", literal + "c1" + strings.Repeat("ff", 20)},
		{"copy behind the end", "00ff1f" + "c201"},
		{"adjust behind the end", "00ff1f" + "e2010000"},
		{"adjust without tags", literal + "e101"},
		{"adjust with too few tags", literal + "e301" + "0000"},
		{"adjust, cut in its words", literal + "e101" + "ff" + strings.Repeat("00", 15)},
		{"unknown kind", literal + "41" + strings.Repeat("61", 16)},
		{"unknown kind", literal + "61" + strings.Repeat("61", 16)},
	} {
		delta, err := hex.DecodeString(tt.delta)
		if err != nil {
			t.Fatal(err)
		}
		around := make([]byte, 3*page)
		if err := Apply(around[page:2*page:2*page], delta); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if !bytes.Equal(around[:page], make([]byte, page)) || !bytes.Equal(around[2*page:], make([]byte, page)) {
			t.Errorf("%s: has written elsewhere", tt.name)
		}
	}
}

func TestDropFree(t *testing.T) {
	t.Parallel()
	h := newHeap(8 * page)
	h.grow(100)
	var inUseBefore [][]byte
	for range 50 {
		garbage := h.malloc(500)
		copy(h.memory[garbage:], random(uint64(garbage), 488))
		kept := h.malloc(40)
		copy(h.memory[kept:], "what is in use")
		h.free(garbage)
		inUseBefore = append(inUseBefore, bytes.Clone(h.memory[kept-4:kept+40]))
	}
	h.setTop()
	copy(h.memory[h.top+64:], random(7, page)) // it was in use once
	with := roundTrip(t, h.image, h.memory, 0, 0)
	memory := bytes.Clone(h.memory)
	DropFree(h.image, memory, h.first)
	without := roundTrip(t, h.image, memory, 0, 0)
	if saved := len(with) - len(without); saved < 50*400+page*9/10 {
		t.Errorf("%d bytes with what is free, %d without", len(with), len(without))
	}
	// In use or needed by the allocator: everything but the inner part of what is free.
	chunks := 0
	for at := h.first - 4; at < h.top; chunks++ {
		header := le.Uint32(h.memory[at:])
		next := at + int(header&^flagBits)
		from, to := at, next
		if header&inUse == 0 {
			to = at + freeFields
			if !bytes.Equal(memory[to:next-4], make([]byte, next-4-to)) {
				t.Fatalf("the free chunk at %#x is not like in the image", at)
			}
			if !bytes.Equal(memory[next-4:next], h.memory[next-4:next]) {
				t.Fatalf("the free chunk at %#x has lost its size at the end", at)
			}
		}
		if !bytes.Equal(memory[from:to], h.memory[from:to]) {
			t.Fatalf("the chunk at %#x has changed", at)
		}
		at = next
	}
	if chunks < 500 {
		t.Fatalf("%d chunks", chunks)
	}
	for _, b := range inUseBefore {
		if !bytes.Contains(memory, b) {
			t.Fatal("a chunk in use is lost")
		}
	}
	if !bytes.Equal(memory[:page][:h.first], h.image[:h.first]) || !bytes.Equal(memory[len(memory)-topFoot+4:], h.memory[len(memory)-topFoot+4:]) {
		t.Error("something outside of the heap has changed")
	}
}

// A guest may have written anything over the allocator's fields.
func TestDropFreeDamaged(t *testing.T) {
	t.Parallel()
	for i := range 200 {
		h := newHeap(2 * page)
		h.grow(20)
		r := rand.New(rand.NewPCG(uint64(i), 1))
		for range 100 {
			at := r.IntN(len(h.memory)/4) * 4
			h.put(at, []uint32{0, 1, 2, 3, 8, 16, 17, 0xfffffff1, 0xffffffff, uint32(page) | 1, r.Uint32(), r.Uint32N(4096)}[r.IntN(12)])
		}
		around := append(append(random(8, page), h.memory...), random(9, page)...)
		DropFree(h.image, around[page:len(around)-page:len(around)-page], []int{h.first, 0, 4, 3, len(h.memory), len(h.memory) + 4, -page}[i%7])
		if !bytes.Equal(around[:page], random(8, page)) || !bytes.Equal(around[len(around)-page:], random(9, page)) {
			t.Fatal("has written elsewhere")
		}
	}
}

func FuzzApply(f *testing.F) {
	h := newHeap(2 * page)
	h.grow(30)
	f.Add([]byte{})
	f.Add(roundTrip(f, h.image, h.memory, 0, 0))
	f.Add(roundTrip(f, nil, bytes.Repeat([]byte("abcdefghij"), page/10+1)[:page], 0, 0))
	f.Fuzz(func(t *testing.T, delta []byte) {
		around := make([]byte, 3*page)
		before := bytes.Clone(delta)
		err := Apply(around[page:2*page:2*page], delta)
		if !bytes.Equal(around[:page], make([]byte, page)) || !bytes.Equal(around[2*page:], make([]byte, page)) {
			t.Fatal("has written elsewhere")
		}
		if !bytes.Equal(delta, before) {
			t.Fatal("has changed the delta")
		}
		if err == nil { // what a delta makes has a delta
			roundTrip(t, nil, around[page:2*page], 0, 0)
		}
	})
}

// FuzzRoundTrip edits a heap: each 6 bytes of edits are a kind, an address, a length and a value; the first 50 count.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("0aabbc1ddeef2gghhi3jjkkl4mmnno"), uint16(64), uint16(5000))
	f.Add(random(10, 600), uint16(0), uint16(0))
	h := newHeap(2 * page)
	h.grow(50)
	f.Fuzz(func(t *testing.T, edits []byte, skipFrom, skipLength uint16) {
		memory := bytes.Clone(h.memory)
		edits = edits[:min(len(edits), 300)]
		for ; len(edits) >= 6; edits = edits[6:] {
			at := 2 * int(le.Uint16(edits[1:]))
			n := min(int(edits[3])*8, len(memory)-at)
			switch edits[0] % 4 {
			case 0:
				copy(memory[at:at+n], bytes.Repeat(edits[4:6], n))
			case 1:
				copy(memory[at:at+n], memory[2*int(le.Uint16(edits[4:])):])
			case 2:
				copy(memory[at:at+n], random(uint64(edits[4]), 2048))
			case 3:
				for i := at &^ 3; i+4 <= at+n; i += 4 * (1 + int(edits[5])) {
					le.PutUint32(memory[i:], le.Uint32(memory[i:])+uint32(edits[4])<<(edits[5]%32))
				}
			}
		}
		from := int(skipFrom) &^ 15
		roundTrip(t, h.image, memory, from, min(from+int(skipLength)&^15, len(memory)))
	})
}

func Benchmark(b *testing.B) {
	objects := newHeap(32 * page)
	objects.grow(1600)
	one := bytes.Clone(objects.image)
	for at := page / 2; at < page/2+40*line; at += line {
		one[at]++
	}
	for _, bb := range []struct {
		name          string
		image, memory []byte
	}{
		{"objects", objects.image, objects.memory},
		{"noise", objects.image, append(bytes.Clone(objects.image), random(11, 2*page)...)},
		{"little", objects.image, one},
	} {
		delta, err := Append(nil, bb.image, bb.memory, 0, 0, 1<<30)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bb.name+"/Append", func(b *testing.B) {
			for b.Loop() {
				delta, _ = Append(delta[:0], bb.image, bb.memory, 0, 0, 1<<30)
			}
			b.ReportMetric(float64(len(delta)), "bytes/delta")
			b.ReportMetric(float64(len(bb.memory))/float64(len(delta)+1), "memory/delta")
		})
		b.Run(bb.name+"/Apply", func(b *testing.B) {
			memory := append(bytes.Clone(bb.image), make([]byte, len(bb.memory)-len(bb.image))...)
			for b.Loop() {
				if err := Apply(memory, delta); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
