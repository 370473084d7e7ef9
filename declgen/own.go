package declgen

import (
	"slices"

	"github.com/cellmode/cellmode/schema"
)

// own returns the type that the keywords of a schema give, without other schemas for the same value.
func (b *builder) own(v schema.View, at place) typ {
	kinds, typed, ok := b.kinds(v)
	if !ok {
		return lost()
	}
	constant, isConst := v.Keyword("const")
	list, isEnum := v.Keyword("enum")
	if !isConst && !isEnum {
		return b.shape(v, kinds, typed, at)
	}
	t := kinds
	if isEnum {
		t = b.both(b.literals(list), t)
	}
	if isConst {
		t = b.both(b.constant(constant), t)
	}
	return t
}

// kinds returns all values of the kinds that the keyword type names, or of every kind without that keyword. ok is false if the
// keyword cannot be read.
func (b *builder) kinds(v schema.View) (t typ, typed, ok bool) {
	types, typed := v.Keyword("type")
	if !typed {
		return typ{parts: []part{
			{kind: kindObject}, {kind: kindArray}, {kind: kindString}, {kind: kindNumber, note: noteOf(v)}, {kind: kindBoolean}, {kind: kindNull},
		}}, false, true
	}
	names := make([]string, 0, maxTypeNames)
	switch {
	case !types.IsArray():
		names = append(names, types.Str())
	case types.Len() > maxTypeNames:
		return typ{}, true, false
	default:
		for name := range types.Items() {
			names = append(names, name.Str())
		}
	}
	for _, name := range names {
		p := part{}
		switch name {
		case "object":
			p.kind = kindObject
		case "array":
			p.kind = kindArray
		case "string":
			p.kind = kindString
		case "number", "integer":
			p.kind, p.note = kindNumber, noteOf(v)
			p.note.integer = !slices.Contains(names, "number")
		case "boolean":
			p.kind = kindBoolean
		case "null":
			p.kind = kindNull
		default:
			return typ{}, true, false
		}
		if t.kinds()&p.kind == 0 {
			t.parts = append(t.parts, p)
		}
	}
	if nullable, _ := v.Get("nullable"); nullable.IsTrue() && t.kinds()&kindNull == 0 && !hasAny(v, []string{"enum", "const"}) {
		t.parts = append(t.parts, part{kind: kindNull})
	}
	return t, true, true
}

const maxLimitUnits = 24 // of a bound; no limit of a fixed-width number is longer

func noteOf(v schema.View) note {
	isLong := func(b schema.Bound) bool { return len(b.Limit) > maxLimitUnits }
	return note{bounds: slices.DeleteFunc(v.Bounds(), isLong)}
}

var (
	objectKeywords = []string{"properties", "required", "patternProperties", "additionalProperties"}
	arrayKeywords  = []string{"items", "prefixItems", "minItems", "maxItems", "contains"}
	// otherConstraints are keywords that let a schema without a type refuse values.
	otherConstraints = []string{
		"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "uniqueItems",
		"maxProperties", "minProperties", "propertyNames", "dependentRequired", "not",
	}
)

// shape returns the kinds with the form that the schema gives to objects and arrays.
func (b *builder) shape(v schema.View, kinds typ, typed bool, at place) typ {
	isObject, isArray := hasAny(v, objectKeywords), hasAny(v, arrayKeywords)
	if !typed && !isObject && !isArray && !hasAny(v, otherConstraints) {
		return unknown()
	}
	if typed && !isObject && !isArray {
		return kinds
	}
	t := typ{lossy: kinds.lossy, parts: make([]part, 0, len(kinds.parts))}
	var plain []part
	for _, p := range kinds.parts {
		switch {
		case p.kind == kindObject && isObject, p.kind == kindArray && isArray:
			if at.depth >= b.depth {
				return lost()
			}
			b.level++
			if p.kind == kindObject {
				p.object = b.object(v, at, &t)
			} else {
				p.array = b.array(v, at)
			}
			b.level--
			t.parts = append(t.parts, p)
		case typed:
			t.parts = append(t.parts, p)
		default: // what says most comes first
			plain = append(plain, p)
		}
	}
	t.parts = append(t.parts, plain...)
	return t
}

// array returns the form of the arrays that a schema accepts. A tuple that is too long is any array.
func (b *builder) array(v schema.View, at place) (a *array) {
	first, further := v.Tuple()
	if first.Len() > b.properties {
		return &array{rest: lost()}
	}
	a = &array{rest: unknown(), open: further.IsZero()}
	for item := range first.Items() {
		a.first = append(a.first, b.schema(item, at.inside()))
	}
	switch _, contains := v.Keyword("contains"); {
	case !further.IsZero():
		a.rest = b.schema(further, at.inside())
	case contains: // it says something about further items, in its way
		a.rest, a.open = lost(), false
	}
	if least, ok := v.Keyword("minItems"); ok {
		a.min = max(0, least.Count())
	}
	if most, ok := v.Keyword("maxItems"); ok {
		if n := most.Count(); n >= 0 && n <= len(a.first) {
			a.first, a.rest, a.open = a.first[:n], typ{}, false
		}
	}
	for i, item := range a.first {
		if item.isNever() { // so there is no further one either
			a.first, a.rest, a.open = a.first[:i], item, false
			break
		}
	}
	return a
}

// literals returns the values of an enum. Where there are too many of a kind, or one that no literal can say, it returns the
// kind.
func (b *builder) literals(list schema.View) typ {
	if !list.IsArray() {
		return lost()
	}
	var t typ
	var kinds kind
	untold := map[kind]int{} // how many values, by kind
	i := 0
	for item := range list.Items() {
		if p, ok := b.literal(item); ok && i < typeLiterals {
			t.add(p)
		} else {
			kinds |= p.kind
			untold[p.kind]++
		}
		i++
	}
	if kinds != 0 {
		return t.widened(kinds, untold)
	}
	return t
}

// constant returns the type of one value, or of its kind if no literal can say it.
func (b *builder) constant(v schema.View) typ {
	p, ok := b.literal(v)
	return typ{parts: []part{p}, lossy: !ok}
}

// literal returns the part for one value. ok is false if no literal can say it; then it is the whole kind.
func (b *builder) literal(v schema.View) (p part, ok bool) {
	p.kind = kindOf(v)
	switch p.kind {
	case kindNull:
		return p, true
	case kindNumber:
		if _, ok := numberText(string(v.Text())); !ok {
			return p, false
		}
	}
	text, ok := literalType(v, b.literalUnits)
	if ok {
		p.literal = text
	}
	return p, ok
}

func kindOf(v schema.View) kind {
	switch {
	case v.IsObject():
		return kindObject
	case v.IsArray():
		return kindArray
	case v.IsString():
		return kindString
	case v.IsBool():
		return kindBoolean
	case v.IsNull():
		return kindNull
	}
	return kindNumber
}
