package declgen

import "slices"

// widened returns t with whole kinds in the place of its literals of these kinds. untold counts, by kind, the values that are
// possible and not among the literals.
func (t typ) widened(kinds kind, untold map[kind]int) typ {
	w := typ{lossy: true, overlap: t.overlap}
	var samples [kindNull + 1]*sample
	add := func(k kind, literals ...string) {
		p := part{kind: k}
		if k == kindString || k == kindNumber {
			if samples[k] == nil {
				samples[k] = &sample{of: untold[k]}
			}
			p.sample = samples[k]
			p.sample.first, p.sample.of = append(p.sample.first, literals...), p.sample.of+len(literals)
		}
		if !w.allows(k) || p.sample != nil {
			w.add(p)
		}
	}
	for _, p := range t.parts {
		if p.literal != "" && p.kind&kinds != 0 {
			add(p.kind, p.literal)
		} else {
			w.add(p)
		}
	}
	for k := kindObject; k <= kindNull; k <<= 1 {
		if untold[k] > 0 {
			add(k)
		}
	}
	return w
}

// shared returns t with what its objects have in common in their place. ok is false if there are not several.
func (t typ) shared() (s typ, ok bool) {
	s = typ{lossy: true, overlap: t.overlap}
	var common *object
	for _, p := range t.parts {
		switch {
		case p.kind != kindObject:
			s.parts = append(s.parts, p)
		case common == nil:
			common = p.form()
		default:
			common, ok = common.shared(p.form()), true
		}
	}
	s.parts = append(s.parts, part{kind: kindObject, object: common})
	return s, ok
}

// form is the form of a part that is objects. Of a literal, it says nothing.
func (p part) form() *object {
	if p.object == nil {
		return &object{rest: unknown(), open: true}
	}
	return p.object
}

// shared returns the fields that two objects have in common.
func (o *object) shared(other *object) *object {
	s := &object{more: true}
	byName := func(f field, name string) int { return compareKeys(f.name, name) }
	for _, f := range o.fields {
		if i, ok := slices.BinarySearchFunc(other.fields, f.name, byName); ok {
			g := other.fields[i]
			s.fields = append(s.fields, field{name: f.name, typ: union(f.typ, g.typ), required: f.required && g.required})
		}
	}
	return s
}
