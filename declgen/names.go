package declgen

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/cellmode/cellmode/schema"
)

// named is a type that has a name in a declaration, because references lead to it.
type named struct {
	name     string
	typ      typ
	building bool // typ is not known yet
	level    int  // of the builder when it began
	inline   bool // typ is written where it is used
	loops    bool // typ mentions the name
	doc      doc
}

// namer gives names to the types of one declaration. Names are unique in it.
type namer struct {
	schema schema.View    // the whole
	root   string         // its name, if a reference leads to it; this name is taken
	taken  map[string]int // names that are used, and the number of the last name made of each
	types  map[schema.View]*named
}

// inlineUnits is how long a type may be to stand where it is referred to, instead of having a name.
const inlineUnits = 60

// reference returns the type of what the $ref of a schema leads to.
func (b *builder) reference(v schema.View, at place) typ {
	target, ok := v.Ref()
	if !ok {
		return lost()
	}
	if b.isHint() {
		return b.inlined(target, at)
	}
	n := b.names.types[target]
	switch {
	case n == nil:
		n = b.define(target, v)
	case n.building && n.level == b.level:
		return lost() // the schema leads to itself, without getting to a part of the value
	case n.building:
		n.loops = true
	}
	if n.inline {
		return n.typ
	}
	return typ{parts: []part{{named: n}}}
}

// inlined returns the type of a schema that is referred to, in its place. What refers to itself is unknown at some point.
func (b *builder) inlined(target schema.View, at place) typ {
	if b.pending[target] {
		return lost()
	}
	b.pending[target] = true
	defer delete(b.pending, target)
	return b.schema(target, at.combined())
}

// define builds a type that gets a name.
func (b *builder) define(target, from schema.View) *named {
	n := &named{name: b.names.of(target, from), building: true, level: b.level, doc: docOf(target)}
	b.names.types[target] = n
	n.typ = b.schema(target, place{})
	n.building = false
	if !n.loops {
		_, short := flat(n.typ, inlineUnits)
		n.inline = short || n.typ.any
	}
	return n
}

// of returns a free name for what the $ref of a schema leads to: made of the last part of the reference.
func (n *namer) of(target, from schema.View) string {
	if target == n.schema {
		return n.root
	}
	ref, _ := from.Keyword("$ref")
	last := ref.Str()
	last = last[strings.LastIndexAny(last, "/#")+1:]
	if decoded, err := url.PathUnescape(last); err == nil {
		last = decoded
	}
	base := typeName(last)
	name := base
	for n.taken[name] > 0 { // counting on from where the last name like it was found
		n.taken[base]++
		name = base + "_" + strconv.Itoa(n.taken[base])
	}
	n.taken[name] = 1
	return name
}

const maxNameUnits = 64

// typeName makes a type name of any text: its words with upper-case initials. Such a name is no reserved word.
func typeName(text string) string {
	var b strings.Builder
	start := true
	for _, c := range []byte(text) {
		switch {
		case b.Len() >= maxNameUnits:
		case isLetter(c) && start:
			b.WriteByte(c &^ 0x20)
		case isLetter(c), isDigit(c) && b.Len() > 0:
			b.WriteByte(c)
		}
		start = !isLetter(c)
	}
	if b.Len() == 0 {
		return "Type"
	}
	return b.String()
}
