package declgen

import (
	"slices"

	"github.com/cellmode/cellmode/schema"
)

// builder makes types from schemas. It looks at a bounded number of schemas, and each part of the result is bounded too.
type builder struct {
	merger
	limits
	names    *namer               // of types for references; nil: references are replaced by what they lead to
	nodes    int                  // schemas looked at
	level    int                  // objects and arrays around the schema, through references too
	selected *selection           // or nil
	pending  map[schema.View]bool // without names: what is being built because a reference leads there
}

// place is where a schema stands.
type place struct {
	depth   int  // objects and arrays around it, in the same text
	inPlace int  // schemas around it that speak about the same value
	fills   bool // missing properties are completed by their defaults
}

func (p place) inside() place { return place{depth: p.depth + 1, fills: p.fills} }

// combined is the place of a schema that speaks about the same value as the one at p.
func (p place) combined() place { return place{depth: p.depth, inPlace: p.inPlace + 1} }

// schema returns the type of the values that a schema accepts.
func (b *builder) schema(v schema.View, at place) typ {
	if b.spent() || at.inPlace > maxInPlace {
		return lost()
	}
	b.nodes++
	switch {
	case v.IsBool() && v.IsTrue():
		return unknown()
	case v.IsBool():
		return typ{}
	case !v.IsObject():
		return lost()
	}
	t := b.own(v, at)
	if _, ok := v.Keyword("$ref"); ok {
		t = b.both(t, b.reference(v, at))
	}
	if all, ok := v.Keyword("allOf"); ok {
		for sub := range all.Items() {
			if b.spent() {
				t.lossy = true
				break
			}
			t = b.both(t, b.schema(sub, at.combined()))
		}
	}
	if alternatives, ok := v.Keyword("anyOf"); ok {
		t = b.both(t, b.anyOf(v, alternatives, at))
	}
	if alternatives, ok := v.Keyword("oneOf"); ok {
		t = b.both(t, b.union(alternatives, at))
	}
	if hasAny(v, conditions) {
		t.lossy = true
	}
	return b.close(v, t)
}

// conditions are keywords that can say something about the form of a value and that TypeScript cannot say. The type is wider.
var conditions = []string{"$dynamicRef", "$recursiveRef", "if", "dependentSchemas", "dependencies"}

// spent reports whether the builder has looked at as many schemas as it may.
func (b *builder) spent() bool { return b.nodes >= b.limits.nodes }

// isHint reports whether the types are for a hint. They are cut to what a hint can show.
func (b *builder) isHint() bool { return b.names == nil }

func hasAny(v schema.View, keywords []string) bool {
	return slices.ContainsFunc(keywords, func(keyword string) bool {
		_, ok := v.Keyword(keyword)
		return ok
	})
}

// anyOf returns what is of at least one alternative, or of the selected one. Others may hold too.
func (b *builder) anyOf(v, alternatives schema.View, at place) typ {
	t := typ{}
	if b.selected == nil || b.selected.schema != v {
		t = b.union(alternatives, at)
	} else {
		i := 0
		for sub := range alternatives.Items() {
			if i == b.selected.branch {
				t = b.schema(sub, at.combined())
			}
			i++
		}
	}
	t.overlap = t.overlap || alternatives.Len() > 1
	return t
}

func (b *builder) union(alternatives schema.View, at place) typ {
	left, limit := alternatives.Len(), b.limits.nodes
	if !alternatives.IsArray() || left > maxAlternatives {
		return lost()
	}
	var t typ
	for sub := range alternatives.Items() {
		if b.isHint() { // it may show what all have in common, so the first ones must not take all
			b.limits.nodes = b.nodes + (limit-b.nodes)/left
			left--
		}
		t = union(t, b.schema(sub, at.combined()))
	}
	b.limits.nodes = limit
	return t
}

// close applies unevaluatedProperties and unevaluatedItems where they only say that there is nothing else. That is known if all
// that the schema says about the value went into the type.
func (b *builder) close(v schema.View, t typ) typ {
	properties, isObject := v.Keyword("unevaluatedProperties")
	items, isArray := v.Keyword("unevaluatedItems")
	if !isObject && !isArray {
		return t
	}
	whole, known := t.expanded()
	if !known || whole.any || whole.lossy || whole.overlap || isObject && !isFalse(properties) || isArray && !isFalse(items) {
		t.lossy = true
		return t
	}
	for i := range whole.parts {
		p := &whole.parts[i]
		switch {
		case p.literal != "":
		case p.kind == kindObject && isObject:
			p.object = p.object.closed()
		case p.kind == kindArray && isArray:
			p.array = p.array.closed()
		}
	}
	return whole
}

func isFalse(v schema.View) bool { return v.IsBool() && !v.IsTrue() }

// closed returns the form without properties of which nothing was said.
func (o *object) closed() *object {
	switch {
	case o == nil:
		return &object{}
	case !o.open:
		return o
	}
	c := *o
	c.open, c.rest = false, typ{}
	return &c
}

// closed returns the form without items of which nothing was said.
func (a *array) closed() *array {
	switch {
	case a == nil:
		return &array{}
	case !a.open:
		return a
	}
	c := *a
	c.open, c.rest = false, typ{}
	return &c
}
