package declgen

import (
	"slices"

	"github.com/cellmode/cellmode/schema"
)

// typ is a TypeScript type: the union of its parts, or unknown. It is never narrower than the schema it was made from: every
// value that the schema accepts is of the type.
type typ struct {
	any     bool // unknown; there are no parts
	lossy   bool // the schema says more about the form of the value than the type, apart from what is inside of a part
	overlap bool // a value may be of several parts, and mean all of them
	parts   []part
}

// kind is one of the six kinds of JSON values, as a bit.
type kind uint8

const (
	kindObject kind = 1 << iota
	kindArray
	kindString
	kindNumber
	kindBoolean
	kindNull
	scalars   = kindString | kindNumber | kindBoolean | kindNull
	everyKind = kindObject | kindArray | scalars
)

// part is one alternative of a union.
type part struct {
	kind    kind   // 0: named
	literal string // the one value, as TypeScript writes it; "": all values of the kind
	note    note   // of a number
	sample  *sample
	object  *object
	array   *array
	named   *named
}

// sample is what is known of a long enum: not all values of the kind are possible, but only so many. nil: nothing is known.
type sample struct {
	first []string // some of the values, as literals
	of    int
}

// object is the form of an object. nil stands for any object.
type object struct {
	fields []field // sorted by name, each name once
	rest   typ     // of all other properties
	open   bool    // nothing was said about other properties
	more   bool    // there are fields that have been left out
}

type field struct {
	name     string
	typ      typ
	required bool
	doc      doc
}

// array is the form of an array. nil stands for any array.
type array struct {
	first []typ // of the first items
	rest  typ   // of all further ones
	open  bool  // nothing was said about further ones
	min   int   // how many there are at least
}

// note is what is known about a number beside that it is one.
type note struct {
	integer bool
	bounds  []schema.Bound
}

func (n note) equal(other note) bool {
	return n.integer == other.integer && slices.Equal(n.bounds, other.bounds)
}

func unknown() typ { return typ{any: true} }

// lost is unknown where the schema says more.
func lost() typ { return typ{any: true, lossy: true} }

func (t typ) isNever() bool { return !t.any && len(t.parts) == 0 }

// kinds is the set of the kinds of values that t allows.
func (t typ) kinds() kind {
	if t.any {
		return everyKind
	}
	var k kind
	for _, p := range t.parts {
		if p.named != nil {
			return everyKind
		}
		k |= p.kind
	}
	return k
}

// isPlain reports whether p is all values of its kind.
func (p part) isPlain() bool {
	return p.kind != 0 && p.literal == "" && p.object.isPlain() && p.array.isPlain()
}

// isAnything reports whether a schema says that all properties may be anything, which is more than to say nothing.
func (o *object) isAnything() bool { return o.isPlain() && o != nil && !o.open && !o.rest.lossy }

func (o *object) isPlain() bool { return o == nil || len(o.fields) == 0 && o.rest.any && !o.more }

func (a *array) isPlain() bool { return a == nil || len(a.first) == 0 && a.rest.any }

// allows reports whether t allows all values of the kind.
func (t typ) allows(k kind) bool {
	return t.any || slices.ContainsFunc(t.parts, func(p part) bool { return p.kind == k && p.isPlain() })
}

// union is what is of at least one of two types.
func union(x, y typ) typ {
	t := typ{lossy: x.lossy || y.lossy, overlap: x.overlap || y.overlap}
	switch {
	case x.any || y.any:
		t.any = true
	case len(x.parts)+len(y.parts) > maxParts:
		return lost()
	default:
		t.parts = slices.Clone(x.parts)
		for _, p := range y.parts {
			t.add(p)
		}
	}
	return t
}

// add adds a part to a union, unless it is there already.
func (t *typ) add(p part) {
	for i := range t.parts {
		q := &t.parts[i]
		if q.kind != p.kind || p.kind&scalars == 0 {
			continue
		}
		if q.sample != p.sample { // there are more values than either knows
			q.sample, p.sample = nil, nil
		}
		if q.literal == p.literal {
			if !q.note.equal(p.note) {
				q.note = note{integer: q.note.integer && p.note.integer}
			}
			return
		}
	}
	t.parts = append(t.parts, p)
}

// expanded returns t with what is behind named types in their place. ok is false if that is not known yet.
func (t typ) expanded() (x typ, ok bool) {
	x = typ{any: t.any, lossy: t.lossy, overlap: t.overlap}
	for _, p := range t.parts {
		if p.named == nil {
			x.parts = append(x.parts, p)
			continue
		}
		inner, ok := p.named.typ.expanded()
		if !ok || p.named.building {
			return t, false
		}
		x = union(x, inner)
	}
	return x, true
}
