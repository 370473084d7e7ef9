package schema

// notes are the members of an object, or the items of an array, that some keyword has looked at, by number. They are kept
// only while a schema around asks for them, with unevaluatedProperties or unevaluatedItems.
type notes struct {
	bits []uint64
}

func (n *notes) add(i int) {
	for len(n.bits) <= i>>6 {
		n.bits = append(n.bits, 0)
	}
	n.bits[i>>6] |= 1 << (i & 63)
}

func (n *notes) has(i int) bool { return i>>6 < len(n.bits) && n.bits[i>>6]&(1<<(i&63)) != 0 }

func (n *notes) merge(other *notes) {
	for len(n.bits) < len(other.bits) {
		n.bits = append(n.bits, 0)
	}
	for i, word := range other.bits {
		n.bits[i] |= word
	}
}

// unevaluated applies a schema to the parts of the value at pos that are not in the notes, and adds them.
func (e *evaluation) unevaluated(r *restRules, pos int) bool {
	notes := e.notes
	e.notes = nil // for what is inside
	defer func() { e.notes = notes }()
	switch {
	case e.text[pos] == '{' && r.properties != nil:
		return e.unevaluatedProperties(r.properties, pos, notes)
	case e.text[pos] == '[' && r.items != nil:
		return e.unevaluatedItems(r.items, pos, notes)
	}
	return true
}

func (e *evaluation) unevaluatedProperties(n *node, pos int, notes *notes) bool {
	rules := &objectRules{additional: n, max: -1}
	ok := true
	i := 0
	for pos++; e.text[pos] != '}'; i++ {
		if e.text[pos] == ',' {
			pos++
		}
		keyEnd := stringEnd(e.text, pos)
		quoted := e.text[pos:keyEnd]
		pos = keyEnd + 1
		end := skip(e.text, pos)
		if !notes.has(i) {
			notes.add(i)
			problems := e.report.count()
			if e.member(rules, -1, quoted, pos) == invalid {
				if e.overridden(quoted, end) {
					e.report.forget(problems)
				} else if ok = false; e.done() {
					return false
				}
			}
		}
		if !e.spend(1 + (end-pos)/64) {
			return false
		}
		pos = end
	}
	return ok
}

func (e *evaluation) unevaluatedItems(n *node, pos int, notes *notes) bool {
	ok := true
	i := 0
	for pos++; e.text[pos] != ']'; i++ {
		if e.text[pos] == ',' {
			pos++
		}
		if !notes.has(i) {
			notes.add(i)
			if e.item(n, i, pos) == invalid {
				if ok = false; e.done() {
					return false
				}
			}
		}
		end := skip(e.text, pos)
		if !e.spend(1 + (end-pos)/64) {
			return false
		}
		pos = end
	}
	return ok
}
