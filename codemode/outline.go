package codemode

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// Limits of what is looked at to describe a saved value, whatever its size.
const (
	searchVisits    = 128 // values in the search for arrays
	searchDepth     = 5   // of the search, below the root
	searchKeys      = 16  // of one object
	searchPathBytes = 192 // of a path that is followed
	maxArrays       = 8

	// largeValue is the size from which the place of a value is kept, so that its text is not read again. Values that
	// are smaller are cheap to read a few times.
	largeValue = 4 << 10
	// knownDepth is how many levels of nesting are known: those of the search, and of the samples below its deepest array.
	knownDepth = searchDepth + 1 + sampleDepth + 1
)

// outline finds its way in a large JSON text, given compact and valid, without decoding it. One pass over the text, by scan(0),
// notes where the large values are; everything later reads only small ones.
type outline struct {
	text  []byte
	large map[int]extent // by the place where they start, to the depth of knownDepth
}

// extent is what there is to know about an array or object (only the end, for other values).
type extent struct {
	end          int // the place after it
	count        int // elements or keys
	middle, last int // places of the elements count/2 and count-1
}

// scan reads the array or object at start and notes the large values in it.
func (o *outline) scan(start int) extent {
	var (
		text  = o.text
		open  = 0
		known [knownDepth]bracket
	)
	for pos := start; pos < len(text); {
		switch text[pos] {
		case '"':
			end := jsontext.End(text, pos)
			if end-pos >= largeValue && open < knownDepth {
				o.note(pos, extent{end: end})
			}
			pos = end
		case '{', '[':
			if open < knownDepth {
				known[open].begin(pos, o.at(pos+1))
			}
			open++
			pos++
		case '}', ']':
			open--
			pos++
			if open >= knownDepth {
				continue
			}
			if b := &known[open]; open == 0 || pos-b.start >= largeValue {
				e := extent{end: pos, count: b.count, middle: b.middle(o), last: b.last}
				o.note(b.start, e)
				if open == 0 {
					return e
				}
			}
		case ',':
			pos++
			if open <= knownDepth {
				known[open-1].next(pos)
			}
		default:
			pos++
		}
	}
	return extent{end: len(text)} // not valid JSON
}

// note keeps an extent for later, if reading the value again would cost more than that.
func (o *outline) note(pos int, e extent) {
	if e.end-pos < largeValue {
		return
	}
	if o.large == nil {
		o.large = map[int]extent{}
	}
	o.large[pos] = e
}

// bracket is an array or object that is being read. It keeps the places of up to 16 elements at equal distances, so that the
// middle one is found without reading half of the array again.
type bracket struct {
	start, count, last int
	stride, marks      int
	places             [16]int // of the elements 0, stride, 2*stride, ...
}

// begin starts with the array or object at pos, which has the byte next behind its bracket.
func (b *bracket) begin(pos int, next byte) {
	b.start, b.count, b.marks, b.stride = pos, 0, 0, 1
	if next != ']' && next != '}' {
		b.next(pos + 1)
	}
}

// next notes that one more element, or key, starts at pos.
func (b *bracket) next(pos int) {
	if b.count&(b.stride-1) == 0 {
		if b.marks == len(b.places) {
			b.marks /= 2
			b.stride *= 2
			for i := range b.marks {
				b.places[i] = b.places[2*i]
			}
		}
		b.places[b.marks] = pos
		b.marks++
	}
	b.last = pos
	b.count++
}

// middle is the place of element count/2.
func (b *bracket) middle(o *outline) int {
	if b.count == 0 {
		return b.start
	}
	index := b.count / 2
	pos := b.places[index/b.stride]
	for range index % b.stride {
		pos = o.end(pos) + 1
	}
	return pos
}

// at is the byte at pos, or 0 at the end of the text.
func (o *outline) at(pos int) byte {
	if pos < len(o.text) {
		return o.text[pos]
	}
	return 0
}

// end is the place after the value at pos.
func (o *outline) end(pos int) int {
	switch o.at(pos) {
	case '{', '[', '"':
		if e, ok := o.large[pos]; ok {
			return e.end
		}
	}
	return jsontext.End(o.text, pos)
}

// extent measures the array or object at pos.
func (o *outline) extent(pos int) extent {
	if e, ok := o.large[pos]; ok {
		return e
	}
	return o.scan(pos)
}

// raw is the text of the value at pos.
func (o *outline) raw(pos int) []byte {
	return o.text[min(pos, len(o.text)):min(o.end(pos), len(o.text))]
}

// members gives the places of the keys of an object and of their values.
func (o *outline) members(object int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for key := object + 1; o.at(key) == '"'; {
			value := o.end(key) + 1
			if !yield(key, value) {
				return
			}
			if key = o.end(value); o.at(key) != ',' {
				return
			}
			key++
		}
	}
}

// foundArray is an array in the text: how a program reaches it from the value $, and where it is.
type foundArray struct {
	path string
	pos  int
	extent
}

// element is one of an array.
type element struct{ index, pos int }

// samples are the first, the middle and the last element, each once.
func (a foundArray) samples() []element {
	if a.count == 0 {
		return nil
	}
	all := []element{{0, a.pos + 1}, {a.count / 2, a.middle}, {a.count - 1, a.last}}
	return slices.CompactFunc(all, func(a, b element) bool { return a.index == b.index })
}

// arrays searches the value breadth first and gives the longest arrays it finds, the longest first. limited says that there
// is something it did not look at.
func (o *outline) arrays() (found []foundArray, limited bool) {
	type visit struct {
		path       string
		pos, depth int
	}
	queue := []visit{{path: "$"}}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		b := o.at(v.pos)
		if b != '[' && b != '{' {
			continue
		}
		var a foundArray
		if b == '[' {
			a = foundArray{v.path, v.pos, o.extent(v.pos)}
			found = append(found, a)
			slices.SortFunc(found, func(a, b foundArray) int {
				return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.path, b.path))
			})
			if len(found) > maxArrays {
				found, limited = found[:maxArrays], true
			}
		}
		if v.depth == searchDepth {
			limited = true
			continue
		}
		follow := func(pos int, segment string) {
			if len(queue) == searchVisits || len(v.path)+len(segment) > searchPathBytes {
				limited = true
				return
			}
			queue = append(queue, visit{v.path + segment, pos, v.depth + 1})
		}
		if b == '[' {
			samples := a.samples()
			limited = limited || len(samples) < a.count
			for _, e := range samples {
				follow(e.pos, indexSegment(e.index))
			}
			continue
		}
		keys := 0
		for key, value := range o.members(v.pos) {
			if keys++; keys > searchKeys {
				limited = true
				break
			}
			name, whole := jsontext.StringPrefix(o.text[key:], searchPathBytes)
			if !whole {
				limited = true
				continue
			}
			follow(value, nameSegment(name))
		}
	}
	return found, limited
}

// short decodes the string at pos, if it has no more than so many UTF-16 units.
func (o *outline) short(pos, units int) (string, bool) {
	s, whole := jsontext.StringPrefix(o.text[pos:], 3*units) // a unit takes at most three bytes of UTF-8
	return s, whole && jsontext.UTF16Len(s) <= units
}
