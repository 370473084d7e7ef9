package schema

import "bytes"

// tag is the property by which the branches of an anyOf or oneOf differ, as in a tagged union: each branch allows only some
// strings there, and no two the same. So the value of the property says which branch an object can match at all.
type tag struct {
	property string
	branches map[string]*node // by canonical text of the value
	required bool             // no branch matches an object without the property
	allowed  string           // what the property must be, in words
}

const (
	maxTagCandidates = 4 // properties that are tried
	maxTagValues     = 8 // strings of one branch

	maxTagShownBytes = 160 // values in a message

	// maxTagBytes is how much one rewriting reads to find tags: an object that is inside of others is read for each of them.
	maxTagBytes = 64 << 20
)

// findTag returns the tag of the branches, or nil. Branches that match no object do not count.
func findTag(branches []*node) *tag {
	var objects []*node
	for _, n := range branches {
		if types := n.target().types; types == 0 || types&typeObject != 0 {
			objects = append(objects, n)
		}
	}
	if len(objects) == 0 || objects[0].target().object == nil {
		return nil
	}
	tried := 0
	for _, p := range objects[0].target().object.properties {
		if p.tagValues() == nil {
			continue
		}
		if t := newTag(p.name, objects); t != nil {
			return t
		}
		if tried++; tried == maxTagCandidates {
			break
		}
	}
	return nil
}

// newTag returns the tag of that name, or nil if the property is no tag of all branches.
func newTag(property string, branches []*node) *tag {
	t := &tag{property: property, branches: make(map[string]*node, len(branches)), required: true}
	values := &literalSet{}
	shown := 0
	for _, n := range branches {
		o := n.target().object
		if o == nil {
			return nil
		}
		i := o.find([]byte(property), 0)
		if i < 0 {
			return nil
		}
		set := o.properties[i].tagValues()
		if set == nil {
			return nil
		}
		t.required = t.required && o.properties[i].required
		for value := range set.canonical {
			if t.branches[value] != nil {
				return nil
			}
			t.branches[value] = n
		}
		for i, literal := range set.shown {
			if len(values.shown) == values.total+i && shown < maxTagShownBytes {
				values.shown = append(values.shown, literal)
				shown += len(literal)
			}
		}
		values.total += set.total
	}
	t.allowed = values.describe()
	return t
}

// tagValues returns the strings that the property may be, if they are few and the only ones; else nil.
func (p *property) tagValues() *literalSet {
	if p.node == nil {
		return nil
	}
	n := p.node.target()
	if len(n.values) != 1 || len(n.values[0].canonical) == 0 || n.values[0].total > maxTagValues {
		return nil
	}
	for value := range n.values[0].canonical {
		if value[0] != '"' {
			return nil
		}
	}
	return n.values[0]
}

// target is the schema that n stands for.
func (n *node) target() *node {
	if n.alias != nil {
		return n.alias
	}
	return n
}

// findTags looks for the tags of all unions.
func (c *compiler) findTags() {
	for _, e := range c.order {
		if a := e.node.apply; a != nil {
			a.anyTag, a.oneTag = findTag(a.any), findTag(a.one)
		}
	}
}

// value finds the tag of the object at pos: the place of the value, and the branch that it selects. The place is 0 if the
// object does not have the property, the branch nil if there is none. looked is how many bytes were read to find out.
func (t *tag) value(text []byte, pos int) (at int, branch *node, looked int) {
	start := pos
	for pos++; text[pos] != '}'; {
		if text[pos] == ',' {
			pos++
		}
		keyEnd := stringEnd(text, pos)
		key := text[pos+1 : keyEnd-1]
		if string(key) == t.property || bytes.IndexByte(key, '\\') >= 0 && string(unquoted(text[pos:keyEnd])) == t.property {
			at = keyEnd + 1 // the last one counts
		}
		pos = skip(text, keyEnd+1)
	}
	if at > 0 && text[at] == '"' {
		canonical, _ := canonicalValue(nil, text, at)
		branch = t.branches[string(canonical)]
	}
	return at, branch, pos - start
}

// reportTagged reports why the object at pos matches no branch, from its tag. It reports whether it found something to say.
func (e *evaluation) reportTagged(t *tag, pos int) bool {
	at, branch, looked := t.value(e.text, pos)
	if !e.spend(1 + looked/16) {
		return true
	}
	switch {
	case branch != nil:
		before := len(e.report.problems)
		e.eval(branch, pos)
		return len(e.report.problems) > before || e.report.full()
	case at > 0:
		e.report.path = append(e.report.path, step{name: []byte(t.property), index: -1})
		e.problem("%s", t.allowed)
		e.report.path = e.report.path[:len(e.report.path)-1]
		return true
	case t.required:
		e.problem("the required property %s is missing; it %s", quoteName(t.property), t.allowed)
		return true
	}
	return false
}

// tagged is the branch of n that the tag of the object at pos selects, if n is nothing but a union of branches, or nil.
func (r *rewriter) tagged(n *node, pos int) *node {
	a := n.apply
	if a == nil || n.object != nil || a.ref != nil || a.dynamic != nil || a.not != nil || a.when != nil || len(a.all) > 0 {
		return nil
	}
	t := a.anyTag
	switch {
	case t == nil:
		t = a.oneTag
	case a.one != nil:
		return nil
	}
	if t == nil || r.text[pos] != '{' || r.looked > maxTagBytes {
		return nil
	}
	_, branch, looked := t.value(r.text, pos)
	r.looked += looked
	return branch
}
