package schema

import (
	"bytes"
	"iter"
	"net/url"
	"strings"
)

// View is a read-only look at one place in the text of a schema: the schema itself, a schema inside of it, or any other JSON
// value. It is for programs that render or search schemas. What the text means to the package, which depends on its draft,
// View tells with [View.Keyword], [View.Ref], [View.Tuple] and [View.Bounds]; the other methods tell what stands there.
//
// The zero View shows nothing: it is of no kind, and has no text and no members. Two Views are equal (==) if they show the same
// place of the same document.
//
// A View, and all Views that come from it, are for one goroutine at a time.
type View struct {
	doc   *viewDocument
	value *value
}

// viewDocument is the parsed text that Views look at.
type viewDocument struct {
	root     *value
	dialect  dialect   // of the root
	indexed  bool      // compiler has been made, or cannot be
	compiler *compiler // knows all schemas; nil: one is malformed, so that they cannot be told apart
	mixed    bool      // there may be schemas of another dialect
	targets  map[*value]*value
}

// View returns a look at the schema. It parses the text anew, so keep the result while it is needed, and not longer.
//
// A schema that cannot be applied ([Schema.Err]) has a View too, as far as its text is JSON in the sense of [Parse]; if it is
// not, the result is the zero View.
func (s *Schema) View() View {
	root, err := parseDocument(s.text)
	if err != nil {
		return View{}
	}
	doc := &viewDocument{root: root, dialect: draft2020}
	declared := 0
	if v := root.get("$schema"); v != nil {
		declared = 1
		if d := dialectOf(v.str()); d != 0 {
			doc.dialect = d
		}
	}
	// A key with an escape could be $schema too.
	doc.mixed = bytes.Count(root.text, []byte(`"$schema"`)) > declared || bytes.Contains(root.text, []byte(`\u`))
	return View{doc, root}
}

// index finds all schemas. Most Views are never asked for what needs it.
func (d *viewDocument) index() *compiler {
	if !d.indexed {
		d.indexed = true
		c := &compiler{resources: map[string]*resource{}, entries: map[*value]*entry{}}
		if c.index(d.root, &place{}, &resource{base: &url.URL{}, dialect: draft2020}) == nil {
			d.compiler = c
		}
	}
	return d.compiler
}

// IsZero reports whether v shows nothing.
func (v View) IsZero() bool { return v.value == nil }

// IsObject reports whether v shows an object.
func (v View) IsObject() bool { return v.value != nil && v.value.isObject() }

// IsArray reports whether v shows an array.
func (v View) IsArray() bool { return v.value != nil && v.value.isArray() }

// IsString reports whether v shows a string.
func (v View) IsString() bool { return v.value != nil && v.value.isString() }

// IsNumber reports whether v shows a number.
func (v View) IsNumber() bool { return v.value != nil && v.value.isNumber() }

// IsBool reports whether v shows true or false.
func (v View) IsBool() bool { return v.value != nil && v.value.isBool() }

// IsTrue reports whether v shows true.
func (v View) IsTrue() bool { return v.value != nil && v.value.isTrue() }

// IsNull reports whether v shows null.
func (v View) IsNull() bool { return v.value != nil && v.value.text[0] == 'n' }

// Str is the decoded text of a string, and "" for everything else.
func (v View) Str() string {
	if v.value == nil {
		return ""
	}
	return v.value.str()
}

// Count is the value of a keyword that counts something, such as minItems: an integer that is not negative, the largest int
// if it is larger. It is -1 for everything else.
func (v View) Count() int {
	if v.value == nil {
		return -1
	}
	return parseCount(v.value)
}

// Text is a copy of the compact JSON text of what v shows. A number has the digits that it came with.
func (v View) Text() []byte {
	if v.value == nil {
		return nil
	}
	return bytes.Clone(v.value.text)
}

// Size is the number of bytes that Text returns.
func (v View) Size() int {
	if v.value == nil {
		return 0
	}
	return len(v.value.text)
}

// Len is the number of members of an object, or of items of an array; 0 for everything else.
func (v View) Len() int {
	if v.value == nil {
		return 0
	}
	return len(v.value.members)
}

// Members yields the keys of an object and what is behind each, in the order of the text.
func (v View) Members() iter.Seq2[string, View] {
	return func(yield func(string, View) bool) {
		if !v.IsObject() {
			return
		}
		for i := range v.value.members {
			m := &v.value.members[i]
			if !yield(m.key, View{v.doc, &m.value}) {
				return
			}
		}
	}
}

// Items yields the items of an array.
func (v View) Items() iter.Seq[View] {
	return func(yield func(View) bool) {
		if !v.IsArray() {
			return
		}
		for i := range v.value.members {
			if !yield(View{v.doc, &v.value.members[i].value}) {
				return
			}
		}
	}
}

// Get returns the member of an object with that key.
func (v View) Get(key string) (View, bool) {
	member := v.value.get(key)
	if member == nil {
		return View{}, false
	}
	return View{v.doc, member}, true
}

// Keyword returns the value of a keyword of a schema, if it means something there: the draft of the schema has the keyword, and
// does not ignore it because of a $ref beside it, as drafts up to 7 do. Names that no draft has are not keywords; see Get.
func (v View) Keyword(name string) (View, bool) {
	member, ok := v.Get(name)
	if !ok {
		return View{}, false
	}
	d := v.dialect()
	if k, ok := keywords[name]; !ok || !k.in(d) {
		return View{}, false
	}
	if d <= draft7 && name != "$ref" && v.value.get("$ref") != nil {
		return View{}, false
	}
	return member, true
}

func (v View) dialect() dialect {
	switch {
	case v.doc == nil:
		return draft2020
	case !v.doc.mixed:
		return v.doc.dialect
	}
	if c := v.doc.index(); c != nil {
		if e := c.entries[v.value]; e != nil {
			return e.resource.dialect
		}
	}
	return v.doc.dialect
}

// Ref returns the schema that the $ref of a schema names. The result is false if there is no $ref, if it names nothing in the
// text, and if it names the meta-schema of a draft, which is no part of the text.
//
// It resolves as [Parse] does. In a text whose schemas cannot be told apart because one is malformed, a JSON Pointer from the
// root resolves, and nothing else.
func (v View) Ref() (View, bool) {
	ref, ok := v.Keyword("$ref")
	if !ok || !ref.IsString() {
		return View{}, false
	}
	target, known := v.doc.targets[ref.value]
	if !known {
		target = v.doc.resolve(v.value, ref.Str())
		if v.doc.targets == nil {
			v.doc.targets = map[*value]*value{}
		}
		v.doc.targets[ref.value] = target
	}
	return View{v.doc, target}, target != nil
}

// resolve returns what a reference in the schema from leads to, or nil.
func (d *viewDocument) resolve(from *value, ref string) *value {
	if c := d.index(); c != nil {
		if e := c.entries[from]; e != nil {
			if target, _, err := c.resolve(e, "$ref", ref); err == nil && target != nil {
				return target.value
			}
		}
		return nil
	}
	fragment, local := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !local || err != nil {
		return nil
	}
	if pointer == "" {
		return d.root
	}
	if pointer[0] != '/' {
		return nil
	}
	target := d.root
	for key := range strings.SplitSeq(pointer[1:], "/") {
		if target = target.step(unescapeToken(key)); target == nil {
			return nil
		}
	}
	return target
}

// Tuple returns the keywords for the items of an array as 2020-12 has them: the list of schemas for the first items, and the
// schema for all further ones. Each is the zero View if it is not there. Before 2020-12, the list stands in items, and
// additionalItems is for the further ones.
func (v View) Tuple() (first, further View) {
	items, _ := v.Keyword("items")
	if prefix, ok := v.Keyword("prefixItems"); ok {
		return prefix, items
	}
	if !items.IsArray() {
		return View{}, items
	}
	further, _ = v.Keyword("additionalItems")
	return items, further
}

// Bound is a limit of a number.
type Bound struct {
	Operator string // that the number has to the limit: ">=", "<=", ">" or "<"
	Limit    string // as it stands in the text
}

// Bounds returns the limits of numbers that a schema sets: minimum, maximum, exclusiveMinimum and exclusiveMaximum, in this
// order. In draft-04, where the exclusive ones are booleans, a minimum may come with the operator ">".
func (v View) Bounds() []Bound {
	var bounds []Bound
	for _, b := range [...]struct{ keyword, exclusive, operator string }{
		{"minimum", "exclusiveMinimum", ">="}, {"maximum", "exclusiveMaximum", "<="},
		{"exclusiveMinimum", "", ">"}, {"exclusiveMaximum", "", "<"},
	} {
		limit, ok := v.Keyword(b.keyword)
		if !ok || !limit.IsNumber() {
			continue
		}
		if exclusive, _ := v.Keyword(b.exclusive); exclusive.IsTrue() {
			b.operator = b.operator[:1]
		}
		bounds = append(bounds, Bound{b.operator, string(limit.value.text)})
	}
	return bounds
}
