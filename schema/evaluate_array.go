package schema

// array applies the rules for arrays to the array at pos, and notes which items they concern.
func (e *evaluation) array(a *arrayRules, pos int, notes *notes) int {
	start := pos
	total, ok := 0, true
	for pos++; e.text[pos] != ']'; total++ {
		if e.text[pos] == ',' {
			pos++
		}
		n := a.items
		if total < len(a.prefix) {
			n = a.prefix[total]
		}
		var end int
		if n == nil {
			end = skip(e.text, pos)
		} else {
			if end = e.item(n, total, pos); end == invalid {
				if ok = false; e.done() {
					return invalid
				}
				end = skip(e.text, pos)
			}
			if notes != nil {
				notes.add(total)
			}
		}
		if !e.spend(1 + (end-pos)/64) {
			return invalid
		}
		pos = end
	}
	if total < a.min {
		e.problem("must have at least %s", count(int64(a.min), "item", "items"))
		ok = false
	}
	if a.max >= 0 && total > a.max {
		e.problem("must have at most %s", count(int64(a.max), "item", "items"))
		ok = false
	}
	if a.contains != nil && !e.contains(a, start, notes) {
		ok = false
	}
	if a.unique && ok && !e.uniqueItems(start) {
		ok = false
	}
	if !ok {
		return invalid
	}
	return pos + 1
}

// item applies a schema to one item of an array.
func (e *evaluation) item(n *node, index, pos int) int {
	if e.report == nil {
		return e.eval(n, pos)
	}
	e.report.path = append(e.report.path, step{index: index})
	end := e.eval(n, pos)
	e.report.path = e.report.path[:len(e.report.path)-1]
	return end
}

func (e *evaluation) contains(a *arrayRules, pos int, notes *notes) bool {
	found, i := 0, 0
	for pos++; e.text[pos] != ']'; i++ {
		if e.text[pos] == ',' {
			pos++
		}
		end := e.quiet(a.contains, pos)
		if end == invalid {
			end = skip(e.text, pos)
		} else {
			found++
			if notes != nil && a.containsCounts {
				notes.add(i)
			}
		}
		if e.gaveUp {
			return false
		}
		pos = end
	}
	if found < a.minContains {
		e.problem(`must have at least %s that match "contains"`, count(int64(a.minContains), "item", "items"))
		return false
	}
	if a.maxContains >= 0 && found > a.maxContains {
		e.problem(`must have at most %s that match "contains"`, count(int64(a.maxContains), "item", "items"))
		return false
	}
	return true
}

func (e *evaluation) uniqueItems(pos int) bool {
	items := map[string]int{}
	for pos++; e.text[pos] != ']'; {
		if e.text[pos] == ',' {
			pos++
		}
		canonical, end := canonicalValue(e.scratch, e.text, pos)
		if !e.spend(2 + (end-pos)/4) {
			return false
		}
		if first, ok := items[string(canonical)]; ok {
			e.problem("items must differ: items %d and %d are equal", first, len(items))
			return false
		}
		items[string(canonical)] = len(items)
		pos = end
	}
	return true
}
