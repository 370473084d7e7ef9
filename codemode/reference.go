package codemode

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// MaxReferenceBytes is the size of a [Reference] as JSON, at most.
const MaxReferenceBytes = 768

// Limits of the samples in a [Reference].
const (
	wholePreview = 256 // bytes of a value that is its own preview

	sampleStringBytes = 48
	sampleKeyBytes    = 40
	sampleDepth       = 2 // from here on, arrays and objects are only named
	sampleItems       = 2 // of an array in a sample
	sampleKeys        = 6 // of an object in a sample

	maxFields     = 4
	maxFieldUnits = 48 // UTF-16 units of a string among the fields
	maxFieldBytes = 96 // of all fields as JSON
)

// Reference stands for a saved value where the model reads it: enough to write a program that loads the value and takes
// from it what is needed. Encoded as JSON it takes at most [MaxReferenceBytes] (by its MarshalJSON and by [Result.Text];
// json.Marshal itself writes <, > and & as escapes of six bytes).
type Reference struct {
	// ID is what results.load and [Results.Load] take: "result_" and a random UUID.
	ID string `json:"id"`

	// Bytes is the size of the value as compact JSON in UTF-8.
	Bytes int `json:"bytes"`

	// Count is the number of elements of an array or of keys of an object (a key that stands twice counts twice), and 1
	// for any other value.
	Count int `json:"count"`

	// Shape says what the value looks like, from samples: for each of its longest arrays the path, the length and the
	// fields of the first, middle and last element, and for a value without arrays its own fields. It starts with
	// "limited traversal; " if there are parts of the value that nobody looked at. Where room is short, its end is
	// missing.
	Shape string `json:"shape"`

	// Preview is the value's JSON if that takes no more than 256 bytes. Otherwise it is JSON with samples of the value,
	// and where room is short only the start of that JSON.
	Preview string `json:"preview"`

	// PreviewTruncated says that Preview is not the whole value.
	PreviewTruncated bool `json:"previewTruncated"`

	// Network tells that the cell which saved the value had content from the network, or that the host said so of the value
	// ([Results.SaveNetwork]): the value, its shape and its preview are content that nobody vouches for. It is for the
	// host, and no part of the JSON: the model is told by [Result].NetworkContent.
	Network bool `json:"-"`
}

// MarshalJSON gives the fields in a fixed order, written as JSON.stringify does.
func (r Reference) MarshalJSON() ([]byte, error) {
	b := jsontext.AppendString([]byte(`{"id":`), r.ID)
	b = strconv.AppendInt(append(b, `,"bytes":`...), int64(r.Bytes), 10)
	b = strconv.AppendInt(append(b, `,"count":`...), int64(r.Count), 10)
	b = jsontext.AppendString(append(b, `,"shape":`...), r.Shape)
	b = jsontext.AppendString(append(b, `,"preview":`...), r.Preview)
	b = strconv.AppendBool(append(b, `,"previewTruncated":`...), r.PreviewTruncated)
	return append(b, '}'), nil
}

func (r Reference) size() int {
	b, _ := r.MarshalJSON() // it never fails
	return len(b)
}

// fit gives a reference to the same value that takes no more than allowance bytes: r itself, or one with less of its shape and
// its preview. It answers false if there is no room for the other fields.
func (r Reference) fit(allowance int) (Reference, bool) {
	if r.size() <= allowance {
		return r, true
	}
	shape, preview := r.Shape, r.Preview
	r = r.identity()
	left := allowance - r.size()
	if left < 0 {
		return Reference{}, false
	}
	const quotes = len(`""`)
	r.Shape = jsontext.EncodedPrefix(shape, quotes+left/3)
	left -= jsontext.EncodedLen(r.Shape) - quotes
	r.Preview = jsontext.EncodedPrefix(preview, quotes+left)
	return r, true
}

// identity is the smallest reference to the same value.
func (r Reference) identity() Reference {
	r.Shape, r.Preview, r.PreviewTruncated = "", "", true
	return r
}

// newReference describes the value of a JSON text, which must be compact and valid. Its cost is one pass over the text, and
// a small part of another.
func newReference(id string, text []byte) Reference {
	o := &outline{text: text}
	r := Reference{ID: id, Bytes: len(text), Count: 1}
	if b := o.at(0); b == '[' || b == '{' {
		r.Count = o.scan(0).count
	}
	arrays, limited := o.arrays()
	r.Shape = o.shape(arrays, limited)
	if len(text) <= wholePreview {
		r.Preview = string(text)
		if over := r.size() - MaxReferenceBytes; over > 0 { // there is always room for all of a small value
			r.Shape = jsontext.EncodedPrefix(r.Shape, jsontext.EncodedLen(r.Shape)-over)
		}
		return r
	}
	r.Preview, r.PreviewTruncated = o.preview(arrays, limited), true
	r, _ = r.fit(MaxReferenceBytes) // the other fields take 150 bytes
	return r
}

// shape describes arrays, or the whole value if there are none. It may stop where the rest has no room anyway.
func (o *outline) shape(arrays []foundArray, limited bool) string {
	var b []byte
	if limited {
		b = append(b, "limited traversal; "...)
	}
	if len(arrays) == 0 {
		return string(o.appendShape(b, 0))
	}
	for i, a := range arrays {
		if len(b) > MaxReferenceBytes {
			break
		}
		if i > 0 {
			b = append(b, "; "...)
		}
		samples := a.samples()
		var shapes []string
		for _, e := range samples {
			if s := string(o.appendShape(nil, e.pos)); !slices.Contains(shapes, s) {
				shapes = append(shapes, s)
			}
		}
		b = fmt.Appendf(b, "%s: %d items, sampled %d/%d", a.path, a.count, len(samples), a.count)
		if len(shapes) > 1 {
			b = append(b, " heterogeneous"...)
		}
		b = append(append(b, ": "...), strings.Join(shapes, " | ")...)
	}
	return string(b)
}

// appendShape describes the value at pos: its keys and their kinds if it is an object, else its own kind.
func (o *outline) appendShape(b []byte, pos int) []byte {
	if o.at(pos) != '{' {
		return append(b, o.kind(pos)...)
	}
	b = append(b, '{')
	keys := 0
	for key, value := range o.members(pos) {
		if keys > 0 {
			b = append(b, ',')
		}
		b = o.appendCut(b, key, sampleKeyBytes)
		b = append(append(b, ':'), o.kind(value)...)
		if keys++; keys == sampleKeys {
			break
		}
	}
	return append(b, '}')
}

// kind names the type of the value at pos, as typeof does where that says enough.
func (o *outline) kind(pos int) string {
	switch o.at(pos) {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// preview is a JSON text with samples of arrays, or of the whole value if there are none. It may stop where the rest has no
// room anyway.
func (o *outline) preview(arrays []foundArray, limited bool) string {
	b := fmt.Appendf(nil, `{"sampled":true,"traversalLimited":%t`, limited)
	if len(arrays) == 0 {
		return string(append(o.appendSample(append(b, `,"value":`...), 0, 0), '}'))
	}
	if fields := o.fields(); fields != nil {
		b = append(append(b, `,"fields":`...), fields...)
	}
	b = append(b, `,"arrays":[`...)
	for i, a := range arrays {
		if len(b) > MaxReferenceBytes {
			break
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(append(b, `{"path":`...), a.path)
		b = fmt.Appendf(b, `,"count":%d,"items":[`, a.count)
		for j, e := range a.samples() {
			if j > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `{"index":%d,"value":`, e.index)
			b = append(o.appendSample(b, e.pos, 0), '}')
		}
		b = append(b, "]}"...)
	}
	return string(append(b, "]}"...))
}

// appendSample writes the value at pos with the start of its strings and the first of what it holds, depth levels below
// the value that was chosen as a sample.
func (o *outline) appendSample(b []byte, pos, depth int) []byte {
	switch o.at(pos) {
	case '"':
		return o.appendCut(b, pos, sampleStringBytes)
	case '[':
		if depth == sampleDepth {
			return fmt.Appendf(b, `"[array: %d items]"`, o.extent(pos).count)
		}
		b = append(b, '[')
		item := pos + 1
		for i := 0; i < sampleItems && o.at(item) != ']'; i++ {
			if i > 0 {
				b = append(b, ',')
			}
			b = o.appendSample(b, item, depth+1)
			if item = o.end(item); o.at(item) != ',' {
				break
			}
			item++
		}
		return append(b, ']')
	case '{':
		if depth == sampleDepth {
			return append(b, `"[object]"`...)
		}
		b = append(b, '{')
		keys := 0
		for key, value := range o.members(pos) {
			if keys > 0 {
				b = append(b, ',')
			}
			b = append(o.appendCut(b, key, sampleKeyBytes), ':')
			b = o.appendSample(b, value, depth+1)
			if keys++; keys == sampleKeys {
				break
			}
		}
		return append(b, '}')
	}
	raw := o.raw(pos)
	if len(raw) > sampleStringBytes { // a number of JSON may have any number of digits
		return jsontext.AppendString(b, string(raw[:sampleStringBytes])+"…")
	}
	return append(b, raw...)
}

// appendCut writes the string at pos, or its first limit bytes and a mark.
func (o *outline) appendCut(b []byte, pos, limit int) []byte {
	s, whole := jsontext.StringPrefix(o.text[pos:], limit)
	if !whole {
		s += "…"
	}
	return jsontext.AppendString(b, s)
}

// fields gives a few scalars from the start of the root object, which tell what its arrays are part of: flags and numbers
// first. It is nil if there are none.
func (o *outline) fields() []byte {
	if o.at(0) != '{' {
		return nil
	}
	var others, texts [][]byte // members, as JSON
	keys := 0
	for key, value := range o.members(0) {
		if keys++; keys > searchKeys {
			break
		}
		member := append(o.appendCut(nil, key, sampleKeyBytes), ':')
		switch o.at(value) {
		case '{', '[':
		case '"':
			if s, ok := o.short(value, maxFieldUnits); ok {
				texts = append(texts, jsontext.AppendString(member, s))
			}
		default:
			if raw := o.raw(value); len(raw) <= maxFieldBytes {
				others = append(others, append(member, raw...))
			}
		}
	}
	kept, size := [][]byte(nil), len("{}")
	for _, member := range append(others, texts...) {
		comma := min(len(kept), 1)
		if size+comma+len(member) <= maxFieldBytes {
			kept, size = append(kept, member), size+comma+len(member)
		}
		if len(kept) == maxFields {
			break
		}
	}
	if kept == nil {
		return nil
	}
	return append(append([]byte{'{'}, bytes.Join(kept, []byte{','})...), '}')
}

func indexSegment(index int) string { return "[" + strconv.Itoa(index) + "]" }

// nameSegment is how a program reads a property: .name, or ["odd name"].
func nameSegment(name string) string {
	if isIdentifier(name) {
		return "." + name
	}
	return "[" + string(jsontext.AppendString(nil, name)) + "]"
}

func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$'
		if !letter && (i == 0 || c < '0' || '9' < c) {
			return false
		}
	}
	return name != ""
}
