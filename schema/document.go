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
	text := unquoted(v.text)
	switch string(text) { // names of types are so frequent that all schemas share them
	case "string":
		return "string"
	case "object":
		return "object"
	case "array":
		return "array"
	case "integer":
		return "integer"
	case "number":
		return "number"
	case "boolean":
		return "boolean"
	case "null":
		return "null"
	}
	return string(text)
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

// unescapeToken returns the key that one token of a JSON Pointer stands for.
func unescapeToken(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// step returns the member of an object with that key, or the item of an array with that number, or nil.
func (v *value) step(key string) *value {
	if v.isArray() {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v.members) {
			return &v.members[i].value
		}
	}
	return v.get(key)
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
// object, at most MaxTextBytes and maxDocumentDepth. The result may keep the text, which must not change.
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
	p := documentParser{text: compact, open: make([]member, 0, 16), path: make([]place, 0, 16)}
	doc, err := p.value()
	if err != nil {
		return nil, err
	}
	return &doc, nil
}

// documentParser reads compact, valid JSON.
type documentParser struct {
	text []byte
	pos  int
	open []member // the last one read of each object and array around pos, behind those before it
	path []place  // of pos; only keys and numbers
	done []member // of arrays and objects that have been read, with room for more
}

// keep copies members to where they stay: one allocation serves many objects and arrays.
func (p *documentParser) keep(members []member) []member {
	const perMember = 20 // bytes of text, or more in nearly every schema
	if n := len(members); n > cap(p.done)-len(p.done) {
		p.done = make([]member, 0, max(n, min(64, len(p.text)/perMember)))
	}
	start := len(p.done)
	p.done = append(p.done, members...)
	return p.done[start:len(p.done):len(p.done)]
}

// here is the place of the value that is read.
func (p *documentParser) here() *place {
	at := &place{}
	for _, step := range p.path {
		step.parent = at
		at = &step
	}
	return at
}

func (p *documentParser) value() (value, error) {
	if len(p.path) >= maxDocumentDepth {
		return value{}, &ParseError{p.here().String(), fmt.Sprintf("nested deeper than %d levels", maxDocumentDepth)}
	}
	start := p.pos
	switch p.text[start] {
	case '{', '[':
		return p.container()
	}
	p.pos = skip(p.text, start)
	return value{text: p.text[start:p.pos]}, nil
}

func (p *documentParser) container() (value, error) {
	start, first := p.pos, len(p.open)
	object := p.text[start] == '{'
	var v value
	for p.pos++; p.text[p.pos] != '}' && p.text[p.pos] != ']'; {
		if p.text[p.pos] == ',' {
			p.pos++
		}
		m, step := member{}, place{item: len(v.members) + 1}
		if object {
			end := stringEnd(p.text, p.pos)
			m.key = keyOf(p.text[p.pos:end])
			step = place{key: m.key}
			p.pos = end + 1
			if v.find(m.key) >= 0 {
				return value{}, &ParseError{p.here().String(), "the key " + quoteName(m.key) + " stands twice in this object"}
			}
		}
		p.path = append(p.path, step)
		var err error
		if m.value, err = p.value(); err != nil {
			return value{}, err
		}
		p.path = p.path[:len(p.path)-1]
		p.open = append(p.open, m)
		v.members = p.open[first:]
		if object {
			v.indexLast()
		}
	}
	p.pos++
	v.text = p.text[start:p.pos]
	if len(v.members) > 0 {
		v.members = p.keep(v.members)
	}
	p.open = p.open[:first]
	return v, nil
}

// keyOf is the text of a key, given with its quotes. Keywords, which most keys are, take no memory.
func keyOf(quoted []byte) string {
	key := unquoted(quoted)
	if name, ok := keywordNames[string(key)]; ok {
		return name
	}
	return string(key)
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
