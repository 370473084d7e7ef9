package schema

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// value is one JSON value of a schema document: the text it came from, and what is inside.
type value struct {
	text    []byte         // compact JSON, never empty
	members []member       // of an object, in the order of the document, or of an array
	index   map[string]int // members by key, if there are many
}

// member is one entry of an object, or of an array (then key is "").
type member struct {
	key   string
	value value
}

func (v *value) isObject() bool { return v.text[0] == '{' }
func (v *value) isArray() bool  { return v.text[0] == '[' }
func (v *value) isString() bool { return v.text[0] == '"' }
func (v *value) isBool() bool   { return v.text[0] == 't' || v.text[0] == 'f' }
func (v *value) isTrue() bool   { return v.text[0] == 't' }
func (v *value) isNumber() bool { return v.text[0] == '-' || isDigit(v.text[0]) }

// str is the decoded text of a string, and "" for any other value.
func (v *value) str() string {
	if !v.isString() {
		return ""
	}
	return string(unquoted(v.text))
}

// get returns the member of an object with that key, or nil.
func (v *value) get(key string) *value {
	if v == nil || !v.isObject() {
		return nil
	}
	if i := v.find(key); i >= 0 {
		return &v.members[i].value
	}
	return nil
}

// find returns the number of the member with that key, or -1.
func (v *value) find(key string) int {
	if v.index != nil {
		if i, ok := v.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range v.members {
		if v.members[i].key == key {
			return i
		}
	}
	return -1
}

// place is where in a schema document a value stands, as a list linked towards the root. It is made for each value that is
// visited, and rendered only when something is wrong there.
type place struct {
	parent *place
	key    string // in an object
	item   int    // in an array: the number, from 1; 0 in an object
}

// String renders the place as a JSON Pointer in the form of a URI fragment, as a $ref would name it; "#" is the root.
func (p *place) String() string {
	var keys []string
	for ; p != nil && p.parent != nil; p = p.parent {
		key := p.key
		if p.item > 0 {
			key = strconv.Itoa(p.item - 1)
		}
		keys = append(keys, key)
	}
	var b strings.Builder
	b.WriteByte('#')
	for i := len(keys) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(keys[i]))
	}
	return bounded(b.String())
}

// member is the place of a member of the object at p.
func (p *place) member(key string) *place { return &place{parent: p, key: key} }

// index is the place of an item of the array at p.
func (p *place) index(i int) *place { return &place{parent: p, item: i + 1} }

// parseDocument reads the text of a schema. It is stricter than JSON: UTF-8 without a byte order mark, no key twice in an
// object, at most MaxTextBytes and maxDocumentDepth.
func parseDocument(text []byte) (*value, error) {
	root := &place{}
	switch {
	case len(text) > MaxTextBytes:
		return nil, &ParseError{root.String(), fmt.Sprintf("the text has %d bytes, the limit is %d", len(text), MaxTextBytes)}
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return nil, &ParseError{root.String(), "the text starts with a byte order mark; remove it"}
	case !utf8.Valid(text):
		return nil, &ParseError{root.String(), "the text is not valid UTF-8"}
	}
	compact, err := jsontext.Compact(text)
	if err != nil {
		return nil, &ParseError{root.String(), err.Error()}
	}
	if len(compact) > 0 && len(text) > 0 && &compact[0] == &text[0] {
		compact = bytes.Clone(compact) // the caller keeps its slice
	}
	p := documentParser{text: compact}
	doc, err := p.value(root, 1)
	if err != nil {
		return nil, err
	}
	return &doc, nil
}

// documentParser reads compact, valid JSON.
type documentParser struct {
	text []byte
	pos  int
}

func (p *documentParser) value(at *place, depth int) (value, error) {
	if depth > maxDocumentDepth {
		return value{}, &ParseError{at.String(), fmt.Sprintf("nested deeper than %d levels", maxDocumentDepth)}
	}
	start := p.pos
	switch p.text[start] {
	case '{', '[':
		return p.container(at, depth)
	}
	p.pos = skip(p.text, start)
	return value{text: p.text[start:p.pos]}, nil
}

func (p *documentParser) container(at *place, depth int) (value, error) {
	start := p.pos
	object := p.text[start] == '{'
	var v value
	for p.pos++; p.text[p.pos] != '}' && p.text[p.pos] != ']'; {
		if p.text[p.pos] == ',' {
			p.pos++
		}
		m := member{}
		here := place{parent: at}
		if object {
			end := stringEnd(p.text, p.pos)
			m.key = string(unquoted(p.text[p.pos:end]))
			here.key = m.key
			p.pos = end + 1
		} else {
			here.item = len(v.members) + 1
		}
		if object && v.find(m.key) >= 0 {
			return value{}, &ParseError{at.String(), "the key " + quoteName(m.key) + " stands twice in this object"}
		}
		var err error
		if m.value, err = p.value(&here, depth+1); err != nil {
			return value{}, err
		}
		v.members = append(v.members, m)
		if object {
			v.indexLast()
		}
	}
	p.pos++
	v.text = p.text[start:p.pos]
	return v, nil
}

// indexLast enters the last member into the index, which is made when there is more than a few.
func (v *value) indexLast() {
	const few = 16
	last := len(v.members) - 1
	switch {
	case v.index != nil:
		v.index[v.members[last].key] = last
	case last >= few:
		v.index = make(map[string]int, 4*few)
		for i := range v.members {
			v.index[v.members[i].key] = i
		}
	}
}
