package declgen

import (
	"slices"
	"strings"
)

func (r *renderer) object(o *object, room, depth int, indent string) text {
	if o == nil {
		o = &object{rest: unknown(), open: true}
	}
	if depth >= r.depth && !o.isPlain() {
		return incomplete
	}
	closed := o.rest.isNever() && !o.more
	fields := make([]*field, 0, len(o.fields))
	for i := range o.fields {
		if f := &o.fields[i]; f.required || !closed || !f.typ.isNever() {
			fields = append(fields, f)
		}
	}
	if r.hint {
		slices.SortStableFunc(fields, func(a, b *field) int {
			switch {
			case a.required == b.required:
				return 0
			case a.required:
				return -1
			}
			return 1
		})
		return r.hintObject(o, fields, closed, room, depth)
	}
	if !r.oneLine {
		short := *r
		short.oneLine, short.cuts = true, false
		if one := short.declaredObject(o, fields, closed, min(room, lineUnits-len(indent)), depth, indent); !short.fails {
			r.used = short.used
			return one
		}
	}
	return r.declaredObject(o, fields, closed, room, depth, indent)
}

const lineUnits = 90 // of an object that is written in one line

// hintObject renders an object with as many fields as there is room for.
func (r *renderer) hintObject(o *object, fields []*field, closed bool, room, depth int) text {
	const more = "..."
	if len(fields) == 0 {
		switch {
		case closed:
			return text{string: "{}", complete: true}
		case !r.notes && o.isAnything():
			return text{string: anyObject, complete: true}
		case o.rest.any || o.more:
			return text{string: "{ " + more + " }"}
		}
		value := r.typ(o.rest, room-len("{ [key: string]:  }"), depth+1, "")
		return text{string: "{ [key: string]: " + value.string + " }", complete: value.complete}
	}
	var (
		b         strings.Builder
		separator = "{ "
		complete  = closed
		vague     bool
		left      = room - len("{  }")
	)
	const usual = 24 // units of a field
	b.Grow(max(0, min(room, usual*len(fields))))
	for i, f := range fields {
		name, mark := keyText(f.name), mark(f)
		left -= unitsOf(name) + len(mark) + len(": ")
		reserve := len("; " + more)
		if i == len(fields)-1 && closed {
			reserve = 0
		}
		value := r.typ(f.shownType(), left-reserve, depth+1, "")
		if left -= unitsOf(value.string); left < reserve {
			complete, closed = false, false
			vague = i == 0 || slices.ContainsFunc(fields[i:], (*field).isTag)
			break
		}
		complete = complete && value.complete
		for _, s := range [...]string{separator, name, mark, ": ", value.string} {
			b.WriteString(s)
		}
		separator = "; "
		left -= len(separator)
	}
	if !closed {
		b.WriteString(separator + more)
	}
	b.WriteString(" }")
	return text{string: b.String(), complete: complete, vague: vague}
}

// isTag reports whether the field has only certain values, so that it may tell an object from others.
func (f *field) isTag() bool {
	isLiteral := func(p part) bool { return p.literal != "" }
	return f.required && len(f.typ.parts) > 0 && !slices.ContainsFunc(f.typ.parts, func(p part) bool { return !isLiteral(p) })
}

func mark(f *field) string {
	if f.required {
		return ""
	}
	return "?"
}

// declaredObject renders an object as TypeScript, each field on its own line unless the renderer writes one line.
func (r *renderer) declaredObject(o *object, fields []*field, closed bool, room, depth int, indent string) text {
	inner, separator := indent+"  ", ";\n"
	if r.oneLine {
		inner, separator = "", "; "
	}
	var (
		members []string
		left    = room - len("{  }") - len(indent)
	)
	add := func(s string) bool {
		members = append(members, s)
		left -= unitsOf(s) + len(separator)
		return left >= 0
	}
	for _, f := range fields {
		comment := ""
		if r.docs {
			comment = f.shownDoc().comment(inner)
		}
		if comment != "" && r.oneLine {
			r.fails = true
			return incomplete
		}
		value := r.typ(f.shownType(), left, depth+1, inner)
		if !add(comment + inner + keyText(f.name) + mark(f) + ": " + value.string) {
			return r.noRoom()
		}
	}
	if !closed && !add(inner+"[key: string]: "+r.indexType(o, fields, left, depth, inner)) {
		return r.noRoom()
	}
	switch {
	case len(members) == 0:
		return text{string: emptyObject}
	case r.oneLine:
		return text{string: "{ " + strings.Join(members, separator) + " }"}
	}
	return text{string: "{\n" + strings.Join(members, separator) + ";\n" + indent + "}"}
}

// shownDoc is the doc without what stands at the definition of the type.
func (f *field) shownDoc() doc {
	d := f.doc
	if len(f.typ.parts) == 1 {
		if n := f.typ.parts[0].named; n != nil && n.doc.text == d.text {
			d.text = ""
		}
	}
	return d
}

// shownType is the type of the field, or a wider one that TypeScript needs: every object has certain members, and an optional
// field with the name of one does not accept an object without it, unless it accepts the inherited member.
func (f *field) shownType() typ {
	if !f.required && isInherited(f.name) {
		return lost()
	}
	return f.typ
}

// isInherited reports whether every object of TypeScript has a member of that name.
func isInherited(name string) bool {
	switch name {
	case "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf":
		return true
	}
	return false
}

// indexType renders the type of the properties that are not named. TypeScript wants it to be wide enough for the named ones too.
func (r *renderer) indexType(o *object, fields []*field, room, depth int, indent string) string {
	if o.rest.any || o.more || r.cuts && len(fields) > 0 {
		return unknownType
	}
	all := o.rest
	if len(fields) == 0 {
		return r.typ(all, room, depth+1, indent).string
	}
	const short = 80 // a longer union says less than unknown
	optional := false
	for _, f := range fields {
		if isInherited(f.name) {
			return unknownType
		}
		all = union(all, f.typ)
		optional = optional || !f.required
	}
	line := *r
	line.oneLine, line.docs = true, false
	value := line.typ(all, min(room, short), depth+1, "").string
	if line.fails || value == unknownType {
		return unknownType
	}
	r.used = line.used
	if optional {
		return value + " | undefined"
	}
	return value
}
