package declgen

import (
	"slices"
	"strings"

	"github.com/cellmode/cellmode/schema"
)

// Hint is a type in one line.
type Hint struct {
	// Text is TypeScript, where "..." stands for more properties: ones that have no room, or that an open object may have.
	Text string
	// Complete reports whether Text says everything about the form of the values: every property, and that there are no
	// others. Constraints such as the length of a string are not part of the form.
	Complete bool
}

// InputHint returns a hint at what a tool takes, of at most 300 UTF-16 units. It is worth showing even if it is not complete.
// The schema nil gives a complete "unknown".
func InputHint(s *schema.Schema) Hint { return hint(s, true, inputHint) }

// OutputHint returns a hint at what a tool returns, of at most 800 UTF-16 units. Only a complete one is worth showing: a model
// writes a program against it, without another look. The schema nil gives a complete "unknown".
func OutputHint(s *schema.Schema) Hint { return hint(s, false, outputHint) }

func hint(s *schema.Schema, isInput bool, l limits) Hint {
	if s == nil {
		return Hint{unknownType, true}
	}
	b := newHintBuilder(l)
	v := s.View()
	r := renderer{limits: l, hint: true, notes: isInput, cuts: true}
	h := r.typ(b.root(v, isInput), l.units, 0, "")
	if !isInput && h.complete {
		if text, ok := selectedHint(s, v, l); ok {
			h.string = text
		}
	}
	return Hint{h.string, h.complete}
}

func newHintBuilder(l limits) *builder { return &builder{limits: l, pending: map[schema.View]bool{}} }

// selectedHint renders a result that depends on the input: before each form stand the values of the input property that
// select it, as in /* list */ { rows: Array<string> } | /* drop, purge */ { gone: boolean }. ok is false if there is no such
// dependence, if all values select the same form, or if there is no room to show it.
func selectedHint(s *schema.Schema, v schema.View, l limits) (text string, ok bool) {
	selector, ok := s.Discriminator()
	if !ok || !selector.Narrow || selector.Branches > l.variants {
		return "", false
	}
	b := newHintBuilder(l)
	r := renderer{limits: l, hint: true, cuts: true}
	var forms []string // each one once
	selects := map[string][]string{}
	byBranch := make([]string, selector.Branches)
	for i := range byBranch {
		b.selected = &selection{v, i}
		form := r.typ(b.root(v, false), l.units, 0, "")
		if !form.complete {
			return "", false
		}
		byBranch[i] = form.operand()
		if !slices.Contains(forms, byBranch[i]) {
			forms = append(forms, byBranch[i])
		}
	}
	if len(forms) == 1 {
		return "", false
	}
	slices.SortFunc(selector.Values, compareKeys)
	for _, value := range selector.Values {
		form := byBranch[selector.Branch[value]]
		selects[form] = append(selects[form], strings.ReplaceAll(oneLine(value), commentEnd, commentEndDefused))
	}
	for i, form := range forms {
		if values := selects[form]; len(values) > 0 {
			forms[i] = "/* " + strings.Join(values, ", ") + " */ " + form
		}
	}
	text = strings.Join(forms, " | ")
	return text, unitsOf(text) <= l.units
}

// root returns the type of a whole schema. An input is always an object.
func (b *builder) root(v schema.View, isInput bool) typ {
	if b.isHint() {
		b.pending[v] = true
	}
	t := b.schema(v, place{fills: isInput})
	if !isInput || t.any {
		return t
	}
	return b.both(t, typ{parts: []part{{kind: kindObject}}})
}
