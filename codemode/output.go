package codemode

import (
	"encoding/json"
	"unicode/utf8"
)

// output is what a cell emitted: its compact JSON array in pieces, complete as long as it fits the
// budget, else a prefix of it and the size of the whole.
type output struct {
	entries []Output
	size    int    // bytes of the whole array as compact JSON; 0 if nothing was emitted
	prefix  []byte // the start of the array, once entries are not complete
	cut     bool
}

// add appends one emission, given as JSON text of size bytes, of which text is the start if it is more than limit. It keeps no
// more than limit bytes in all.
func (o *output) add(isText bool, text []byte, size, limit int) {
	head, kind := `{"type":"json","value":`, OutputJSON
	if isText {
		head, kind = `{"type":"text","text":`, OutputText
	}
	n := len(head) + size + 1
	if o.size == 0 {
		o.size = 2 + n
	} else {
		o.size += 1 + n
	}
	if o.cut {
		return
	}
	if o.size > limit {
		o.cut = true
		o.prefix = o.join()
		if len(o.entries) > 0 {
			o.prefix = append(o.prefix, ',')
		}
		o.prefix = append(append(append(o.prefix, head...), text[:min(len(text), limit)]...), "}]"...)
		o.prefix = o.prefix[:runeStart(o.prefix, min(limit, len(o.prefix)))]
		o.entries = nil
		return
	}
	encoded := append(append(append(make([]byte, 0, n), head...), text...), '}')
	entry := Output{Type: kind, encoded: encoded}
	if body := encoded[len(head) : n-1]; isText {
		_ = json.Unmarshal(body, &entry.Text)
	} else {
		entry.Value = body
	}
	o.entries = append(o.entries, entry)
}

// join gives the array of the entries without its closing bracket.
func (o *output) join() []byte {
	b := []byte{'['}
	for i, e := range o.entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e.encoded...)
	}
	return b
}

// render divides limit bytes between the output, the returned value and the failure text, and cuts what does not
// fit its share: a short one leaves its rest to the others. value is nil for a failed cell.
func (o *output) render(limit int, value []byte, failure string) ([]Output, json.RawMessage, string) {
	if failure != "" {
		failure = truncateError(failure, limit-min(o.size+len(value), limit/2))
	}
	left := limit
	if failure != "" {
		left -= encodedSize(failure)
	}
	entries, charged := o.entries, o.size
	if allowance := left - min(len(value), left/2); o.cut || o.size > allowance {
		prefix := o.prefix
		if !o.cut {
			prefix = append(o.join(), ']')
		}
		marker := truncate(prefix, o.size, allowance-2)
		entries = []Output{{Truncated: marker}}
		text, _ := marshal(marker)
		charged = len(text) + 2
	}
	if value != nil && len(value) > left-charged {
		value, _ = marshal(truncate(value, len(value), left-charged))
	}
	return entries, value, failure
}

const outputGuidance = "output truncated: run it again with narrower arguments, or return a smaller projection"

// truncate makes the marker for a value of size bytes, of whose compact JSON the start is given, so that the marker
// itself takes no more than allowance bytes where that is possible.
func truncate(text []byte, size, allowance int) *Truncation {
	m := &Truncation{Truncated: true, OmittedBytes: size, Guidance: outputGuidance}
	empty, _ := marshal(m)
	left := allowance - len(empty)
	end := 0
	for end < len(text) {
		_, n := utf8.DecodeRune(text[end:])
		cost := runeCost(text[end:], n)
		if left < cost || end+n == size {
			break
		}
		left -= cost
		end += n
	}
	m.Prefix = string(text[:end])
	m.OmittedBytes = size - end
	return m
}

// runeCost is what the first character of b, n bytes long, takes in a JSON string.
func runeCost(b []byte, n int) int {
	switch c := b[0]; {
	case c == '"' || c == '\\' || c == '\b' || c == '\t' || c == '\n' || c == '\f' || c == '\r':
		return 2
	case c < 0x20:
		return 6
	case n == 1 && c >= utf8.RuneSelf:
		return 6 // not UTF-8: becomes \ufffd
	case n == 3 && c == 0xe2 && b[1] == 0x80 && b[2]&^1 == 0xa8:
		return 6 // U+2028 and U+2029
	}
	return n
}

// encodedSize is the size of s as a JSON string.
func encodedSize(s string) int {
	size := 2
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		size += runeCost([]byte(s[i:i+n]), n)
		i += n
	}
	return size
}

const errorSuffix = " [error truncated]"

// truncateError cuts a failure text so that it takes no more than allowance bytes as a JSON string. Its start is
// kept: that is where the cause stands.
func truncateError(s string, allowance int) string {
	if encodedSize(s) <= allowance {
		return s
	}
	left := allowance - 2 - len(errorSuffix)
	end := 0
	for end < len(s) {
		_, n := utf8.DecodeRuneInString(s[end:])
		cost := runeCost([]byte(s[end:end+n]), n)
		if left < cost {
			break
		}
		left -= cost
		end += n
	}
	return s[:end] + errorSuffix
}

// runeStart gives the largest index of at most i that does not split a character of b.
func runeStart(b []byte, i int) int {
	for i > 0 && i < len(b) && !utf8.RuneStart(b[i]) {
		i--
	}
	return i
}
