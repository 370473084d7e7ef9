package schema

import "fmt"

// applied applies the schemas that a applies to the value at pos.
func (e *evaluation) applied(a *applicators, pos int) bool {
	ok := true
	if a.ref != nil && e.eval(a.ref, pos) == invalid {
		if ok = false; e.done() {
			return false
		}
	}
	if a.dynamic != nil && e.eval(e.dynamicTarget(a.dynamic), pos) == invalid {
		if ok = false; e.done() {
			return false
		}
	}
	for _, n := range a.all {
		if e.eval(n, pos) == invalid {
			if ok = false; e.done() {
				return false
			}
		}
	}
	if a.any != nil && !e.anyOf(a, pos) || a.one != nil && !e.oneOf(a, pos) {
		ok = false
	}
	if a.not != nil {
		notes := e.notes
		e.notes = nil
		if e.quiet(a.not, pos) != invalid {
			e.problem(`must not match the schema under "not"`)
			ok = false
		}
		e.notes = notes
	}
	if a.when != nil {
		branch := a.els
		if e.quiet(a.when, pos) != invalid {
			branch = a.then
		}
		if branch != nil && e.eval(branch, pos) == invalid {
			ok = false
		}
	}
	if a.metaschema != 0 {
		text := e.text[pos:skip(e.text, pos)]
		if !e.spend(len(text)) || checkShape(text, a.metaschema) != nil {
			e.problem("must be a JSON Schema")
			ok = false
		}
	}
	return ok
}

func (e *evaluation) dynamicTarget(d *dynamicRef) *node {
	if !d.plain {
		for _, r := range e.scopes {
			if n := r.dynamic[d.anchor]; n != nil {
				return n
			}
		}
	}
	return d.static
}

func (e *evaluation) anyOf(a *applicators, pos int) bool {
	found := false
	for _, n := range a.any {
		if e.quiet(n, pos) != invalid {
			if found = true; e.notes == nil {
				return true // with notes, the other branches have a say too
			}
		}
	}
	if !found {
		e.reportBranches(a.any, a.anyTag, pos)
	}
	return found
}

func (e *evaluation) oneOf(a *applicators, pos int) bool {
	first := -1
	for i, n := range a.one {
		if e.quiet(n, pos) == invalid {
			continue
		}
		if first >= 0 {
			e.problem("must match exactly one of %d alternatives, but matches number %d and number %d", len(a.one), first+1, i+1)
			return false
		}
		first = i
	}
	if first < 0 {
		e.reportBranches(a.one, a.oneTag, pos)
	}
	return first >= 0
}

// reportBranches reports that a value matches none of the branches. If the tag or the type of the value leaves only one of
// them, its problems are the ones to read; else the nearest branch is named.
func (e *evaluation) reportBranches(branches []*node, tag *tag, pos int) {
	if e.report == nil || e.gaveUp || tag != nil && e.text[pos] == '{' && e.reportTagged(tag, pos) {
		return
	}
	is := typeAt(e.text[pos])
	var (
		possible []*node
		types    typeSet
		open     bool // a branch does not name its types
	)
	for _, n := range branches {
		t := n.expects()
		types |= t
		open = open || t == 0
		if t == 0 || t&is != 0 || is == typeNumber && t&typeInteger != 0 {
			possible = append(possible, n)
		}
	}
	switch {
	case len(possible) == 0 && !open:
		e.typeProblem(types, is)
		return
	case len(possible) == 1:
		before := len(e.report.problems)
		e.eval(possible[0], pos)
		if len(e.report.problems) > before || e.report.full() {
			return
		}
	}
	message := fmt.Sprintf("matches none of %d alternatives", len(branches))
	if nearest := e.nearest(possible, pos); nearest != nil {
		message += "; the nearest needs: " + nearest.Path + " " + nearest.Message
	}
	e.problem("%s", message)
}

// nearest returns a problem of the branch with the fewest problems. It looks at a few branches only, and not again inside of
// itself, because every level would multiply the work.
func (e *evaluation) nearest(branches []*node, pos int) *Problem {
	const few = 8
	if e.report.nested {
		return nil
	}
	outer := e.report
	defer func() { e.report = outer }()
	var best *report
	for _, n := range branches[:min(len(branches), few)] {
		e.report = &report{path: outer.path, nested: true}
		e.eval(n, pos)
		if found := e.report; len(found.problems) > 0 && (best == nil || len(found.problems) < len(best.problems)) {
			best = found
		}
	}
	if best == nil {
		return nil
	}
	return &best.problems[0]
}

// expects returns the types that a value must have to match n, or 0 if they are not known.
func (n *node) expects() typeSet {
	const few = 8
	for range few {
		if n.types != 0 || n.apply == nil || n.apply.ref == nil {
			break
		}
		n = n.apply.ref
	}
	return n.types
}
