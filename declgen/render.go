package declgen

import (
	"slices"
	"strconv"
	"strings"
)

const (
	unknownType = "unknown"
	emptyObject = "Record<string, never>"
	anyObject   = "{ [key: string]: unknown }"
	anyArray    = "Array<unknown>"
)

// renderer writes types. In a hint, what is left out is shown as "..."; in a declaration, the text is TypeScript.
type renderer struct {
	limits
	hint   bool
	notes  bool   // comments on numbers
	docs   bool   // comments on properties
	prefix string // of the names of types

	oneLine bool // no line breaks; fails is set if there is a comment, which needs one
	cuts    bool // what there is no room for becomes unknown; otherwise fails is set
	fails   bool
	used    []*named // in the order of their first use
}

// isInputHint reports whether the text is a hint at an input, which has comments. Output hints have none.
func (r *renderer) isInputHint() bool { return r.hint && r.notes }

// text is a type as it is written.
type text struct {
	string
	complete bool // it says everything about the form of the values
	union    bool // it needs parentheses as an operand
	vague    bool // an object that has no room for what tells it from others
}

// operand is the text as it can stand before "?" and "[]".
func (t text) operand() string {
	if t.union {
		return "(" + t.string + ")"
	}
	return t.string
}

var (
	incomplete   = text{string: unknownType}
	wholeUnknown = text{string: unknownType, complete: true}
)

// typ renders a type in at most room UTF-16 units, or as unknown if that is not enough.
func (r *renderer) typ(t typ, room, depth int, indent string) text {
	switch {
	case t.any && !t.lossy:
		return wholeUnknown
	case t.any, t.isEverything():
		return incomplete
	case t.isNever():
		return text{string: "never", complete: !t.lossy}
	}
	one, ok := r.union(t, room, depth, indent)
	if !ok && r.hint {
		if shared, several := t.shared(); several {
			// The values that tell the variants apart may take most of the line.
			wide := *r
			wide.literals, wide.literalUnits = typeLiterals, 2*r.literalUnits
			return wide.typ(shared, room, depth, indent)
		}
	}
	return one
}

// union renders a type with parts. ok is false if there are too many, or if there is no room for what tells them apart.
func (r *renderer) union(t typ, room, depth int, indent string) (result text, ok bool) {
	var (
		variants     = make([]string, 0, 8)
		literals     int
		literalUnits int
		forms        int // objects with a form
		vague        bool
		left         = room
		complete     = !t.lossy
		isUnion      bool
	)
	for _, p := range t.parts {
		one := r.part(p, left, depth, indent)
		complete = complete && one.complete
		isUnion = isUnion || one.union || len(variants) > 0
		if one.string == unknownType {
			return incomplete, true
		}
		if slices.Contains(variants, one.string) {
			continue
		}
		variants = append(variants, one.string)
		units := unitsOf(one.string)
		switch {
		case p.literal != "":
			literals++
			literalUnits += units
		case p.object != nil:
			forms++
			vague = vague || one.vague
		}
		if len(variants) > 1 {
			left -= len(" | ")
		}
		left -= units
		switch {
		case literals > r.literals, literalUnits > r.literalUnits, left < 0 && r.cuts && literals > 0:
			return r.typ(t.widened(everyKind, nil), room, depth, indent), true
		case left < 0:
			return r.noRoom(), false
		case len(variants)-literals > r.variants:
			return incomplete, false
		}
	}
	separator := " | "
	if forms > 1 && !r.hint && !r.oneLine && room-left > lineUnits {
		separator = "\n" + indent + "  | "
	}
	return text{string: strings.Join(variants, separator), complete: complete, union: isUnion}, !vague || forms == 1
}

// noRoom is what becomes of a type that is too long.
func (r *renderer) noRoom() text {
	r.fails = r.fails || !r.cuts
	return incomplete
}

// isEverything reports whether t has all values of every kind.
func (t typ) isEverything() bool {
	var kinds kind
	for _, p := range t.parts {
		if p.isPlain() {
			kinds |= p.kind
		}
	}
	return kinds == everyKind
}

func (r *renderer) part(p part, room, depth int, indent string) text {
	switch {
	case p.named != nil:
		if !slices.Contains(r.used, p.named) {
			r.used = append(r.used, p.named)
		}
		return text{string: r.prefix + p.named.name}
	case p.literal != "":
		return text{string: p.literal, complete: true}
	}
	switch p.kind {
	case kindString:
		return r.sampled("string", p.sample, room)
	case kindBoolean:
		return text{string: "boolean", complete: true}
	case kindNull:
		return text{string: "null", complete: true}
	case kindNumber:
		if p.sample != nil {
			return r.sampled("number", p.sample, room)
		}
		return text{string: "number" + r.note(p.note), complete: true}
	case kindArray:
		return r.array(p.array, room, depth, indent)
	}
	return r.object(p.object, room, depth, indent)
}

// sampled renders a kind of which only some values are possible. The hint at an input, which is worth showing even if it is not
// complete, has those that there is room for, and says how many there are.
func (r *renderer) sampled(kind string, s *sample, room int) text {
	if s == nil || !r.isInputHint() {
		return text{string: kind, complete: true}
	}
	all := kind + " /* one of " + strconv.Itoa(s.of) + " */"
	left := room - len(all)
	if left < 0 {
		return text{string: kind}
	}
	left = min(left, r.literalUnits)
	var shown []string
	for _, literal := range s.first {
		if left -= unitsOf(literal) + len(" | "); left < 0 || len(shown) == r.literals {
			break
		}
		shown = append(shown, literal)
	}
	if len(shown) < s.of {
		shown = append(shown, all)
	}
	return text{string: strings.Join(shown, " | "), union: len(shown) > 1}
}

func (r *renderer) note(n note) string {
	if !r.notes {
		return ""
	}
	var facts []string
	if n.integer {
		facts = append(facts, "integer")
	}
	for _, b := range n.bounds {
		facts = append(facts, b.Operator+" "+b.Limit)
	}
	if len(facts) == 0 {
		return ""
	}
	return " /* " + strings.Join(facts, ", ") + " */"
}

func (r *renderer) array(a *array, room, depth int, indent string) text {
	switch {
	case a == nil:
		return text{string: anyArray}
	case a.isPlain():
		return text{string: anyArray, complete: !a.open && !a.rest.lossy}
	case depth >= r.depth:
		return incomplete
	}
	if len(a.first) == 0 && !a.rest.isNever() {
		item := r.typ(a.rest, room-len("Array<>"), depth+1, indent)
		return text{string: "Array<" + item.string + ">", complete: item.complete}
	}
	var (
		items    []string
		complete = !a.open
		left     = room - len("[]")
	)
	labels := a.needsLabels()
	add := func(t typ, before, label, after string) {
		item := r.typ(t, left, depth+1, indent)
		complete = complete && item.complete
		s := item.string
		if after == "[]" || after == "?" && !labels {
			s = item.operand()
		}
		switch {
		case labels && after == "?":
			s = label + "?: " + s
		case labels:
			s = before + label + ": " + s + after
		default:
			s = before + s + after
		}
		items = append(items, s)
		left -= unitsOf(s) + len(", ")
	}
	for i, t := range a.first {
		mark := "?"
		if i < a.min {
			mark = ""
		}
		add(t, "", "item"+strconv.Itoa(i), mark)
	}
	if !a.rest.isNever() {
		add(a.rest, "...", "more", "[]")
	}
	s := "[" + strings.Join(items, ", ") + "]"
	if unitsOf(s) > room {
		return r.noRoom()
	}
	return text{string: s, complete: complete}
}

// needsLabels reports whether the items of a tuple have labels, which change nothing of the type. Without, the compiler refuses a
// tuple that refers to itself from inside of an optional tuple: type A = [[A?]?].
func (a *array) needsLabels() bool {
	return len(a.first) > a.min && slices.ContainsFunc(a.first[a.min:], typ.hasTuple)
}

// hasTuple reports whether a tuple, or an array of tuples, stands in the text of t, and not only in that of an object.
func (t typ) hasTuple() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool {
		return p.array != nil && (len(p.array.first) > 0 || p.array.rest.hasTuple())
	})
}

// flat renders a type in one line, if it has at most limit units and nothing in it has a comment.
func flat(t typ, limit int) (string, bool) {
	r := renderer{limits: fileLimits, notes: true, docs: true, oneLine: true}
	s := r.typ(t, limit, 0, "").string
	return s, !r.fails
}
