package schema

import "bytes"

// object applies the rules for objects to the object at pos, and notes which members they concern.
func (e *evaluation) object(o *objectRules, pos int, notes *notes) int {
	start := pos
	var (
		room    [4]uint64
		seen    = room[:] // a bit for each property
		missing = o.required
		total   int
		guess   int
		ok      = true
	)
	if len(o.properties) > 64*len(room) {
		seen = make([]uint64, (len(o.properties)+63)/64)
		e.steps -= len(seen) / 16
	}
	for pos++; e.text[pos] != '}'; total++ {
		if e.text[pos] == ',' {
			pos++
		}
		keyEnd := stringEnd(e.text, pos)
		quoted := e.text[pos:keyEnd]
		i := o.find(e.unquoted(quoted), guess)
		if i >= 0 {
			guess = i + 1
			if bit := uint64(1) << (i & 63); seen[i>>6]&bit == 0 {
				seen[i>>6] |= bit
				if o.properties[i].required {
					missing--
				}
			}
		}
		pos = keyEnd + 1 // the colon
		problems := e.report.count()
		end := e.member(o, i, quoted, pos)
		if end == invalid {
			if end = skip(e.text, pos); !e.spend((end - pos) / 64) {
				return invalid
			}
			if e.overridden(quoted, end) {
				e.report.forget(problems)
			} else if ok = false; e.done() {
				return invalid
			}
		}
		if notes != nil && len(e.memberNodes(o, i, quoted)) > 0 {
			notes.add(total)
		}
		if !e.spend(1 + (end-pos)/64) {
			return invalid
		}
		pos = end
	}
	if missing > 0 {
		if ok = false; e.report != nil {
			e.reportMissing(o, seen)
		}
	}
	if total < o.min || o.min > 1 || o.max >= 0 && total > o.max || o.dependents != nil {
		ok = e.objectAsWhole(o, start, total, notes) && ok
	}
	if !ok {
		return invalid
	}
	return pos + 1
}

// member applies everything that concerns one member. i is the number of its property or -1, pos the place of its value. It
// returns the place after the value.
func (e *evaluation) member(o *objectRules, i int, quoted []byte, pos int) int {
	if e.report != nil {
		return e.reportMember(o, i, quoted, pos)
	}
	if o.patterns == nil && o.names == nil { // the common case
		n := o.additional
		if i >= 0 && o.properties[i].node != nil {
			n = o.properties[i].node
		}
		if n == nil {
			return skip(e.text, pos)
		}
		return e.eval(n, pos)
	}
	if o.names != nil && !e.nameMatches(o.names, quoted, nil) {
		return invalid
	}
	for _, n := range e.memberNodes(o, i, quoted) {
		if e.eval(n, pos) == invalid {
			return invalid
		}
	}
	return skip(e.text, pos)
}

// memberNodes returns the schemas that apply to the value of a member.
func (e *evaluation) memberNodes(o *objectRules, i int, quoted []byte) []*node {
	var nodes []*node
	if i >= 0 && o.properties[i].node != nil {
		nodes = append(nodes, o.properties[i].node)
	}
	if o.patterns != nil {
		name := e.unquoted(quoted)
		for k := range o.patterns {
			if e.matchPattern(o.patterns[k].pattern, name) {
				nodes = append(nodes, o.patterns[k].node)
			}
			if e.gaveUp {
				return nil
			}
		}
	}
	if len(nodes) == 0 && o.additional != nil {
		nodes = append(nodes, o.additional)
	}
	return nodes
}

// nameMatches applies propertyNames to a key, with a report of its own.
func (e *evaluation) nameMatches(n *node, quoted []byte, r *report) bool {
	text, outer := e.text, e.report
	e.text, e.report = quoted, r
	end := e.eval(n, 0)
	e.text, e.report = text, outer
	return end != invalid
}

// overridden reports whether the key stands again in the rest of the object: then the earlier value does not count.
// text[pos] is the comma or the brace after a member.
func (e *evaluation) overridden(quoted []byte, pos int) bool {
	var name []byte
	for e.text[pos] == ',' {
		keyEnd := stringEnd(e.text, pos+1)
		other := e.text[pos+1 : keyEnd]
		if bytes.Equal(quoted, other) {
			return true
		}
		if bytes.IndexByte(quoted, '\\') >= 0 || bytes.IndexByte(other, '\\') >= 0 {
			if name == nil {
				name = unquoted(quoted)
			}
			if bytes.Equal(name, e.unquoted(other)) {
				return true
			}
		}
		end := skip(e.text, keyEnd+1)
		if !e.spend(1 + (end-pos)/64) {
			return false
		}
		pos = end
	}
	return false
}

// reportMember is member with a report.
func (e *evaluation) reportMember(o *objectRules, i int, quoted []byte, pos int) int {
	name := unquoted(quoted)
	if o.names != nil {
		names := &report{nested: true}
		if !e.nameMatches(o.names, quoted, names) {
			why := "it is not allowed"
			if len(names.problems) > 0 {
				why = "it " + names.problems[0].Message
			}
			e.problem("the property name %s cannot be used: %s", quoteName(string(name)), why)
			return invalid
		}
	}
	ok := true
	for _, n := range e.memberNodes(o, i, quoted) {
		if n.never {
			e.reportUnexpected(o, string(name))
			ok = false
			continue
		}
		e.report.path = append(e.report.path, step{name: name, index: -1})
		ok = e.eval(n, pos) != invalid && ok
		e.report.path = e.report.path[:len(e.report.path)-1]
	}
	if !ok {
		return invalid
	}
	return skip(e.text, pos)
}

func (e *evaluation) reportUnexpected(o *objectRules, name string) {
	var known []string
	for i := range o.properties {
		if n := o.properties[i].node; n != nil && !n.never {
			known = append(known, o.properties[i].name)
		}
	}
	if len(known) == 0 {
		e.problem("the property %s is not allowed", quoteName(name))
		return
	}
	e.problem("the property %s is not allowed; known are %s", quoteName(name), nameList(known))
}

func (e *evaluation) reportMissing(o *objectRules, seen []uint64) {
	var missing []string
	for i := range o.properties {
		if p := &o.properties[i]; p.required && seen[i>>6]&(1<<(i&63)) == 0 {
			missing = append(missing, p.name)
		}
	}
	if len(missing) == 1 {
		e.problem("the required property %s is missing", quoteName(missing[0]))
		return
	}
	e.problem("the required properties %s are missing", nameList(missing))
}

// objectAsWhole applies the rules that need all the keys of an object. total counts its members, twice those whose key stands
// twice.
func (e *evaluation) objectAsWhole(o *objectRules, pos, total int, notes *notes) bool {
	keys := make(map[string]struct{}, total)
	for at := pos + 1; e.text[at] != '}'; {
		if e.text[at] == ',' {
			at++
		}
		keyEnd := stringEnd(e.text, at)
		keys[string(e.unquoted(e.text[at:keyEnd]))] = struct{}{}
		end := skip(e.text, keyEnd+1)
		e.steps -= 1 + (end-at)/16
		at = end
	}
	if !e.spend(len(o.dependents)) {
		return false
	}
	ok := true
	if len(keys) < o.min {
		e.problem("must have at least %s", count(int64(o.min), "property", "properties"))
		ok = false
	}
	if o.max >= 0 && len(keys) > o.max {
		e.problem("must have at most %s", count(int64(o.max), "property", "properties"))
		ok = false
	}
	for i := range o.dependents {
		d := &o.dependents[i]
		if _, present := keys[d.name]; !present {
			continue
		}
		e.steps -= len(d.requires)
		for _, name := range d.requires {
			if _, present := keys[name]; !present {
				e.problem("the property %s needs the property %s, which is missing", quoteName(d.name), quoteName(name))
				ok = false
			}
		}
		if d.node != nil {
			e.notes = notes
			ok = e.eval(d.node, pos) != invalid && ok
			e.notes = nil
		}
		if !ok && e.done() {
			return false
		}
	}
	return ok
}
