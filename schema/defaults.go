package schema

import (
	"fmt"
	"slices"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// ApplyDefaults adds to the objects in value the properties that they lack and for which the schema has a default, behind
// those that are there and in the order of the schema. It looks at the value itself, and inside of it as properties,
// additionalProperties, items and prefixItems lead; a default that is added is completed in the same way. It does not look behind
// $ref and the combining keywords, where more than one schema could have a say. The exception are tagged unions: where the
// branches of an anyOf or oneOf have a property in common that is another string (const or enum) in each, its value selects
// the branch, which is looked at if nothing but type stands beside the union.
//
// A default that does not match the schema it stands in is not applied: {"type":"string","default":null} only says that
// the property can be left out.
//
// If nothing is missing, the result is value itself. Everything that was given stays as it was: the order of the keys,
// every digit, and keys such as __proto__. A value that is not JSON gives the error that [Schema.Validate]
// has for it, and so does one that would grow by more than 8 MiB.
func (s *Schema) ApplyDefaults(value []byte) ([]byte, error) {
	text, err := compactValue(value)
	if err != nil {
		return nil, err
	}
	if s.root == nil || !s.root.defaults {
		return value, nil
	}
	r := rewriter{text: text}
	r.fillDefaults(s.root, 0)
	if r.tooLarge() {
		return nil, oneProblem(fmt.Sprintf("cannot be completed: the defaults it lacks have more than %d bytes", maxDefaultBytes))
	}
	return r.result(value), nil
}

// fillDefaults adds defaults to the value at pos and returns the place after it.
func (r *rewriter) fillDefaults(n *node, pos int) int {
	if n == nil || !n.defaults {
		return skip(r.text, pos)
	}
	if branch := r.tagged(n, pos); branch != nil {
		return r.fillDefaults(branch, pos)
	}
	switch r.text[pos] {
	case '[':
		return r.items(n.array, pos, r.fillDefaults)
	case '{':
	default:
		return skip(r.text, pos)
	}
	var present []bool
	if n.object != nil {
		present = make([]bool, len(n.object.properties))
	}
	empty := r.text[pos+1] == '}'
	end := r.members(n.object, pos, func(n *node, i, pos int) int {
		if i >= 0 {
			present[i] = true
		}
		return r.fillDefaults(n, pos)
	})
	for i, there := range present {
		p := &n.object.properties[i]
		if there || p.fallback == nil || r.tooLarge() {
			continue
		}
		var add []byte
		if !empty {
			add = append(add, ',')
		}
		add = append(jsontext.AppendString(add, p.name), ':')
		r.replace(end-1, end-1, append(add, p.fallback...))
		r.added += len(p.fallback)
		empty = false
	}
	return end
}

// adoptDefaults notes in the nodes which defaults ApplyDefaults may use. Inner schemas come first, so that a default is
// completed by what is known about them.
func (c *compiler) adoptDefaults() error {
	budget := newEvaluation(nil)
	total := 0
	for i := len(c.order) - 1; i >= 0; i-- {
		e := c.order[i]
		n := e.node
		if o := n.object; o != nil {
			properties := e.value.get("properties")
			for k := range o.properties {
				p := &o.properties[k]
				if p.node == nil {
					continue
				}
				if d := properties.get(p.name).get("default"); d != nil {
					p.fallback = completeDefault(p.node, d.text, &budget)
					if total += len(p.fallback); total > maxDefaultBytes {
						return &ParseError{e.at.String(), fmt.Sprintf("the defaults have more than %d bytes", maxDefaultBytes)}
					}
				}
				n.defaults = n.defaults || p.fallback != nil || p.node.defaults
			}
			n.defaults = n.defaults || o.patterns == nil && o.additional != nil && o.additional.defaults
		}
		if a := n.array; a != nil {
			n.defaults = n.defaults || a.items != nil && a.items.defaults
			for _, item := range a.prefix {
				n.defaults = n.defaults || item.defaults
			}
		}
		if a := n.apply; a != nil && (a.anyTag != nil || a.oneTag != nil) {
			inside := func(n *node) bool { return n.defaults }
			n.defaults = n.defaults || slices.ContainsFunc(a.any, inside) || slices.ContainsFunc(a.one, inside)
		}
	}
	return nil
}

// completeDefault returns a default with the defaults inside of it, or nil if the result does not match n.
func completeDefault(n *node, text []byte, budget *evaluation) []byte {
	r := rewriter{text: text}
	r.fillDefaults(n, 0)
	text = r.result(text)
	budget.text = text
	if budget.eval(n, 0) == invalid {
		return nil
	}
	return text
}
