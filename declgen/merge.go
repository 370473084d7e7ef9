package declgen

import (
	"cmp"
	"slices"

	"github.com/cellmode/cellmode/schema"
)

// merger computes what two types have in common. It gives up, with a type that is too wide, when that takes too much work.
type merger struct {
	merges int // parts and fields that have been intersected
}

// both is the type of what is of two types at the same time.
func (m *merger) both(x, y typ) typ {
	t := typ{lossy: x.lossy || y.lossy, overlap: x.overlap || y.overlap}
	switch {
	case x.any:
		t.any, t.parts = y.any, y.parts
		return t
	case y.any:
		t.parts = x.parts
		return t
	case len(x.parts)*len(y.parts) > maxPairs, m.merges > maxMerges:
		t.parts, t.lossy = x.parts, true
		return t
	}
	left, kept := m.split(x, y, &t)
	right, alsoKept := m.split(y, x, &t)
	for _, p := range left {
		for _, q := range right {
			if r, ok := m.parts(p, q, &t); ok {
				t.parts = append(t.parts, r)
			}
		}
	}
	for _, p := range slices.Concat(kept, alsoKept) {
		if !slices.ContainsFunc(t.parts, func(other part) bool { return other.named == p.named && p.named != nil }) {
			t.parts = append(t.parts, p)
		}
	}
	return t
}

// split returns the parts of x with what is behind named types in their place, and those named types that can stay as they
// are: y allows all that they allow, or what is behind them is not known yet.
func (m *merger) split(x, y typ, result *typ) (parts, kept []part) {
	for _, p := range x.parts {
		n := p.named
		switch {
		case n == nil:
			parts = append(parts, p)
		case n.building:
			kept = append(kept, p)
			result.lossy = true
		case n.typ.any, y.covers(n.typ), slices.ContainsFunc(y.parts, func(q part) bool { return q.named == n }):
			kept = append(kept, p)
		default:
			result.lossy, result.overlap = result.lossy || n.typ.lossy, result.overlap || n.typ.overlap
			inner, innerKept := m.split(n.typ, y, result)
			parts, kept = append(parts, inner...), append(kept, innerKept...)
		}
	}
	return parts, kept
}

// covers reports whether t is all values of each kind that x has. It may say no where the answer is yes.
func (t typ) covers(x typ) bool {
	for _, p := range x.parts {
		if p.named != nil || !t.allows(p.kind) {
			return false
		}
	}
	return true
}

// parts intersects two parts that are not named. ok is false if they have nothing in common.
func (m *merger) parts(p, q part, result *typ) (r part, ok bool) {
	m.merges++
	if p.kind != q.kind {
		return part{}, false
	}
	switch {
	case p.literal != "" && q.literal != "" && p.kind&(kindObject|kindArray) == 0:
		return p, p.literal == q.literal
	case p.literal != "":
		return p, !q.note.integer || isIntegerLiteral(p.literal)
	case q.literal != "":
		return q, !p.note.integer || isIntegerLiteral(q.literal)
	}
	r = p
	r.sample = cmp.Or(p.sample, q.sample)
	switch p.kind {
	case kindNumber:
		r.note = bothNotes(p.note, q.note)
	case kindObject:
		r.object = m.objects(p.object, q.object)
	case kindArray:
		r.array, ok = m.arrays(p.array, q.array)
		return r, ok
	}
	return r, true
}

func bothNotes(x, y note) note {
	n := note{integer: x.integer || y.integer, bounds: slices.Clone(x.bounds)}
	for _, b := range y.bounds {
		if !slices.Contains(n.bounds, b) {
			n.bounds = append(n.bounds, b)
		}
	}
	slices.SortStableFunc(n.bounds, func(a, b schema.Bound) int { return operatorRank(a.Operator) - operatorRank(b.Operator) })
	return n
}

// operatorRank is the place of an operator in a note.
func operatorRank(operator string) int { return slices.Index([]string{">=", "<=", ">", "<"}, operator) }

func (m *merger) objects(x, y *object) *object {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	m.merges += len(x.fields) + len(y.fields)
	o := &object{rest: m.both(x.rest, y.rest), open: x.open && y.open, more: x.more || y.more}
	for i, j := 0, 0; i < len(x.fields) || j < len(y.fields); {
		order := 0
		switch {
		case j == len(y.fields):
			order = -1
		case i == len(x.fields):
			order = 1
		default:
			order = compareKeys(x.fields[i].name, y.fields[j].name)
		}
		var f field
		switch {
		case order < 0:
			f = x.fields[i]
			f.typ = m.both(f.typ, y.other())
			i++
		case order > 0:
			f = y.fields[j]
			f.typ = m.both(x.other(), f.typ)
			j++
		default:
			f = x.fields[i]
			other := y.fields[j]
			f.typ, f.required, f.doc = m.both(f.typ, other.typ), f.required || other.required, f.doc.or(other.doc)
			i, j = i+1, j+1
		}
		o.fields = append(o.fields, f)
	}
	return o
}

// other is the type of a property that is not among the fields.
func (o *object) other() typ {
	if o.more {
		return lost()
	}
	return o.rest
}

// arrays intersects two forms of arrays. ok is false if no array is of both.
func (m *merger) arrays(x, y *array) (a *array, ok bool) {
	switch {
	case x == nil:
		return y, true
	case y == nil:
		return x, true
	}
	a = &array{rest: m.both(x.rest, y.rest), open: x.open && y.open, min: max(x.min, y.min)}
	for i := range max(len(x.first), len(y.first)) {
		item := m.both(x.item(i), y.item(i))
		if item.isNever() {
			a.rest, a.open = item, false
			return a, i >= a.min
		}
		a.first = append(a.first, item)
	}
	return a, !a.rest.isNever() || len(a.first) >= a.min
}

// item is the type of the item with that index, if it is there.
func (a *array) item(i int) typ {
	if i < len(a.first) {
		return a.first[i]
	}
	return a.rest
}
