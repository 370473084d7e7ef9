package codemode

import (
	"bytes"
	"encoding/json"
)

// output is what a cell emitted in all of its legs (its Exec and later waits): one compact JSON array, whole as long as it
// fits the limit, else its start and the size of the whole. What every delivery shows is made from that, so that nothing is
// ever cut twice.
type output struct {
	array []byte  // without the closing bracket; a start of it once cut is set
	ends  []int   // where the entries end in array, as long as that is whole
	size  int     // bytes of the whole array; 0 if nothing was emitted
	cut   bool    // the whole array is larger than the limit
	acked receipt // what the last delivery showed
}

// receipt says what a result that was delivered has shown.
type receipt struct {
	entries int  // so many of the entries; 0 if there was a marker
	summary bool // in place of all of them, a marker
	size    int  // of the array that the marker stands for
	prefix  int  // bytes of its prefix
}

const (
	textHead = `{"type":"text","text":`
	jsonHead = `{"type":"json","value":`
)

// add appends one emission, given as JSON text of size bytes, of which text is the start if it is more than limit. It keeps no
// more than limit bytes in all.
func (o *output) add(isText bool, text []byte, size, limit int) {
	head := jsonHead
	if isText {
		head = textHead
	}
	o.size += 1 + len(head) + size + 1
	opening := byte(',')
	if len(o.ends) == 0 && !o.cut {
		opening, o.size = '[', o.size+1
	}
	if o.cut {
		return // never anything after a hole
	}
	o.array = append(append(o.array, opening), head...)
	o.array = append(append(o.array, text[:min(len(text), limit)]...), '}')
	if o.size <= limit {
		o.ends = append(o.ends, len(o.array))
		return
	}
	o.cut, o.ends = true, nil
	o.array = bytes.Clone(o.array[:runeStart(o.array, min(limit, len(o.array)))])
}

// entries are the emissions after the first so many, if all of them were kept.
func (o *output) entries(from int) []Output {
	shown := make([]Output, 0, len(o.ends)-from)
	for i := from; i < len(o.ends); i++ {
		encoded := o.encoded(i, i+1)
		if body, isText := bytes.CutPrefix(encoded, []byte(textHead)); isText {
			shown = append(shown, Output{Type: OutputText, Text: unquote(body[:len(body)-1]), encoded: encoded})
			continue
		}
		shown = append(shown, Output{Type: OutputJSON, Value: encoded[len(jsonHead) : len(encoded)-1], encoded: encoded})
	}
	return shown
}

// encoded is the JSON of entries, with the commas between them.
func (o *output) encoded(from, to int) []byte {
	if from == to {
		return nil
	}
	start, end := 1, o.ends[to-1]
	if from > 0 {
		start = o.ends[from-1] + 1
	}
	return o.array[start:end:end] // a result keeps it: nobody may append to it
}

// original is the whole array, or what was kept of it.
func (o *output) original() *original {
	text := o.array
	if !o.cut && o.size > 0 {
		text = append(text[:len(text):len(text)], ']')
	}
	return &original{text: text, size: o.size}
}

// unquote gives the string that a JSON string stands for.
func unquote(text []byte) (s string) {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	_ = json.Unmarshal(text, &s)
	return s
}
