package schema

import (
	"bytes"
	"unicode/utf8"
)

// evaluation is one walk of a compiled schema over a value. The value is compact and valid JSON text, and is read where it
// stands: nothing is decoded that no keyword asks for.
//
// An evaluation without a report stops at the first problem. With a report it goes on and collects what is wrong.
type evaluation struct {
	text     []byte
	report   *report
	notes    *notes
	scopes   []*resource // with dynamic references: the resources that led here, the outermost first
	steps    int         // what may still be spent; see the constants
	depth    int         // schemas that are being applied right now, one inside of the other
	gaveUp   bool        // a limit was hit: the result means nothing
	scratch  []byte
	numerals [64]byte
}

const (
	// maxSteps is how much work one validation may do, in steps of about 50 ns, on top of stepsPerByte for each byte of
	// the value. Only schemas whose branches multiply get there.
	maxSteps     = 4_000_000
	stepsPerByte = 8
	// maxApplied is how many schemas may be applied inside of each other.
	maxApplied = 30_000
)

// invalid is what the functions of an evaluation return in place of the end of a value that does not match.
const invalid = -1

func newEvaluation(text []byte) evaluation {
	return evaluation{text: text, steps: maxSteps + stepsPerByte*len(text)}
}

// spend pays for some work and reports whether it may be done.
func (e *evaluation) spend(steps int) bool {
	if e.steps -= steps; e.steps < 0 {
		e.gaveUp = true
	}
	return !e.gaveUp
}

// eval applies a schema to the value at pos. It returns the place after the value, or invalid.
func (e *evaluation) eval(n *node, pos int) int {
	if n.alias != nil {
		n = n.alias
	}
	if n.trivial {
		end := skip(e.text, pos)
		if !e.spend(1 + (end-pos)/64) {
			return invalid
		}
		return end
	}
	if !e.spend(1) || e.depth >= maxApplied {
		e.gaveUp = true
		return invalid
	}
	e.depth++
	if n.scope != nil {
		e.scopes = append(e.scopes, n.scope)
	}
	outer := e.notes
	if outer != nil || n.rest != nil {
		e.notes = &notes{}
	}
	end := e.value(n, pos)
	if end != invalid && (n.apply != nil && !e.applied(n.apply, pos) || n.rest != nil && !e.unevaluated(n.rest, pos)) {
		end = invalid
	}
	if outer != nil && end != invalid {
		outer.merge(e.notes)
	}
	e.notes = outer
	if n.scope != nil {
		e.scopes = e.scopes[:len(e.scopes)-1]
	}
	e.depth--
	if e.gaveUp {
		return invalid
	}
	return end
}

// quiet is eval without a report.
func (e *evaluation) quiet(n *node, pos int) int {
	if e.report == nil {
		return e.eval(n, pos)
	}
	r := e.report
	e.report = nil
	end := e.eval(n, pos)
	e.report = r
	return end
}

// value applies the keywords that look at the value itself: all but the applicators.
func (e *evaluation) value(n *node, pos int) int {
	if n.never {
		e.problem("no value is allowed here")
		return invalid
	}
	is := typeAt(e.text[pos])
	if is == typeNumber && n.types&(typeNumber|typeInteger) == typeInteger && e.isInteger(pos) {
		is |= typeInteger
	}
	if n.types != 0 && n.types&is == 0 {
		e.typeProblem(n.types, is)
		return invalid
	}
	end := invalid
	notes := e.notes
	e.notes = nil // what is inside of the value has its own
	switch {
	case is == typeObject && n.object != nil:
		end = e.object(n.object, pos, notes)
	case is == typeArray && n.array != nil:
		end = e.array(n.array, pos, notes)
	case is == typeString && n.text != nil:
		end = e.string(n.text, pos)
	case is&typeNumber != 0 && n.number != nil:
		end = e.number(n.number, pos)
	default:
		end = skip(e.text, pos)
		e.steps -= (end - pos) / 64
	}
	e.notes = notes
	for _, set := range n.values {
		if !e.isOneOf(set, pos) {
			e.problem("%s", set.describe())
			return invalid
		}
	}
	return end
}

func (e *evaluation) isOneOf(set *literalSet, pos int) bool {
	canonical, end := canonicalValue(e.scratch, e.text, pos)
	if !e.spend((end - pos) / 4) {
		return false
	}
	_, ok := set.canonical[string(canonical)]
	return ok
}

func (e *evaluation) isInteger(pos int) bool {
	literal := e.text[pos:numberEnd(e.text, pos)]
	e.steps -= len(literal) / 16
	return isPlainInteger(literal) || parseDecimal(e.numerals[:], literal).isInteger()
}

// done reports whether there is no point in looking for further problems after one.
func (e *evaluation) done() bool { return e.report == nil || e.report.full() || e.gaveUp }

// problem reports what is wrong with the current value.
func (e *evaluation) problem(format string, args ...any) {
	if e.report != nil {
		e.report.add(format, args...)
	}
}

func (e *evaluation) typeProblem(want, is typeSet) {
	if e.report == nil {
		return
	}
	is &= typeObject | typeArray | typeString | typeNumber | typeBoolean | typeNull
	if is == typeNumber && want&typeInteger != 0 {
		e.problem("must be %s, not a number with a fraction", want)
		return
	}
	e.problem("must be %s, not %s", want, is)
}

// number applies the rules for numbers to the number at pos.
func (e *evaluation) number(r *numberRules, pos int) int {
	end := numberEnd(e.text, pos)
	literal := e.text[pos:end]
	e.steps -= len(literal) / 4 * (1 + len(r.bounds))
	ok := true
	small, isSmall := smallInteger(literal)
	var exact decimal
	if !isSmall || r.multiple != nil {
		exact = parseDecimal(e.numerals[:], literal)
	}
	for i := range r.bounds {
		b := &r.bounds[i]
		var c int
		switch {
		case isSmall && b.isSmall:
			c = compareIntegers(small, b.small)
		case isSmall && exact.digits == nil:
			exact = parseDecimal(e.numerals[:], literal)
			c = exact.cmp(b.decimal)
		default:
			c = exact.cmp(b.decimal)
		}
		if b.allows(c) {
			continue
		}
		if ok = false; e.done() {
			return invalid
		}
		e.problem("must be %s %s", b.relation(), b.literal)
	}
	if r.multiple != nil && !r.multiple.divides(exact) {
		e.problem("must be a multiple of %s", r.step)
		ok = false
	}
	if !ok {
		return invalid
	}
	return end
}

func compareIntegers(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// relation says in words what a number must be to the bound.
func (b *bound) relation() string {
	switch {
	case b.upper && b.exclusive:
		return "less than"
	case b.upper:
		return "at most"
	case b.exclusive:
		return "greater than"
	}
	return "at least"
}

// string applies the rules for strings to the string at pos.
func (e *evaluation) string(r *textRules, pos int) int {
	end := stringEnd(e.text, pos)
	e.steps -= (end - pos) / 16
	ok := true
	s := e.unquoted(e.text[pos:end])
	// A string has no more characters than bytes, and at least a quarter of that.
	if r.min > 0 && len(s) < 4*r.min && (len(s) < r.min || utf8.RuneCount(s) < r.min) {
		e.problem("must have at least %s", count(int64(r.min), "character", "characters"))
		ok = false
	}
	if r.max >= 0 && len(s) > r.max && utf8.RuneCount(s) > r.max {
		e.problem("must have at most %s", count(int64(r.max), "character", "characters"))
		ok = false
	}
	if r.pattern != nil && (ok || e.report != nil) {
		if !e.matchPattern(r.pattern, s) {
			e.problem("must match the pattern %s", r.pattern.source)
			ok = false
		}
	}
	if !ok {
		return invalid
	}
	return end
}

// matchPattern costs what the automaton of a regular expression costs in the worst case.
func (e *evaluation) matchPattern(p *pattern, s []byte) bool {
	const start = 20 // steps, for a short string
	return e.spend(start+len(s)*p.size/16) && p.match(s)
}

// unquoted returns the characters of a string, which are good until the next call.
func (e *evaluation) unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	e.scratch = unquote(e.scratch[:0], quoted)
	return e.scratch
}
