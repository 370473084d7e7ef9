package schema

import (
	"fmt"
	"maps"
	"slices"
)

// DiscriminatorKeyword is the annotation that says which branch of a result is selected by a property of the tool's input.
// It stands at the root of a schema, beside an anyOf, and is an object with the members version (1), inputProperty, and
// mapping, which leads from values of that property to indexes into the anyOf. For [Schema.Validate] it changes nothing.
// [Variants] writes it. Anywhere else in a schema it is an unknown keyword.
const DiscriminatorKeyword = "x-openclaw-input-discriminator"

// A schema with more than this is not narrowed: see [Discriminator].
const (
	maxNarrowSchemas = 4_096 // schemas inside of it, itself included
	maxNarrowDepth   = 64    // levels of schemas, the root not counted
)

// Discriminator is what the annotation [DiscriminatorKeyword] of a schema says.
type Discriminator struct {
	InputProperty string         // the property of the tool's input whose value selects; never empty
	Values        []string       // the values that are mapped, in the order of the mapping; at least one
	Branch        map[string]int // by value: the index of the branch in the anyOf
	Branches      int            // how many branches the anyOf has; some may be mapped by no value

	// Narrow reports whether a branch is selected at all. A schema with $ref, $dynamicRef or $recursiveRef in it, with more
	// than 4,096 schemas or more than 64 levels of them is taken as a whole: every value of the property allows every branch.
	// Properties named $ref, and references in enum, const, default and examples, which are data, do not count.
	Narrow bool
}

// Discriminator returns what the annotation [DiscriminatorKeyword] at the root says, and false if there is none. The result is
// a copy: keep it instead of asking before each call.
func (s *Schema) Discriminator() (Discriminator, bool) {
	if s.selector == nil {
		return Discriminator{}, false
	}
	d := s.selector.Discriminator
	d.Values, d.Branch = slices.Clone(d.Values), maps.Clone(d.Branch)
	return d, true
}

// ValidateFor is [Schema.Validate] for the result of a call whose input property, see [Discriminator], has the value inputValue:
// the result must match the schema, and in particular the selected branch. If nothing is selected, because there is no
// annotation, the value is not mapped or the schema is not narrowed, ValidateFor is Validate.
func (s *Schema) ValidateFor(value []byte, inputValue string) error {
	if s.selector != nil && s.selector.Narrow {
		if branch, ok := s.selector.Branch[inputValue]; ok {
			return s.validate(s.selector.roots[branch], value)
		}
	}
	return s.Validate(value)
}

// selector is a Discriminator that is ready to be used.
type selector struct {
	Discriminator
	roots []*node // if Narrow, for each mapped branch: the root of the schema as it is with that branch
}

// selector reads the annotation of a document that has been compiled. Without one, the result is nil.
func (c *compiler) selector(doc *value) (*selector, error) {
	annotation := doc.get(DiscriminatorKeyword)
	if annotation == nil {
		return nil, nil
	}
	at := (&place{}).member(DiscriminatorKeyword)
	s := &selector{}
	if err := s.read(annotation, doc.get("anyOf"), at); err != nil {
		return nil, err
	}
	if s.Narrow = c.narrowable(); s.Narrow {
		s.narrow(c.entries[doc].node)
	}
	return s, nil
}

func (s *selector) read(annotation, anyOf *value, at *place) error {
	fail := func(at *place, reason string) error { return &ParseError{at.String(), reason} }
	if !annotation.isObject() {
		return fail(at, `must be an object with the members "version", "inputProperty" and "mapping"`)
	}
	if version := annotation.get("version"); version == nil || parseCount(version) != 1 {
		return fail(at.member("version"), "must be 1; no other version is known")
	}
	if property := annotation.get("inputProperty"); property != nil {
		s.InputProperty = property.str()
	}
	if s.InputProperty == "" {
		return fail(at.member("inputProperty"), "must be the name of a property of the input: a string that is not empty")
	}
	if anyOf == nil || !anyOf.isArray() || len(anyOf.members) == 0 {
		return fail(at, `needs an "anyOf" beside it, with the branches that the mapping leads to`)
	}
	s.Branches = len(anyOf.members)
	mapping := annotation.get("mapping")
	if mapping == nil || !mapping.isObject() || len(mapping.members) == 0 {
		return fail(at.member("mapping"), "must be an object that leads from values of the input property to branches of the anyOf, at least one")
	}
	s.Branch = make(map[string]int, len(mapping.members))
	for i := range mapping.members {
		m := &mapping.members[i]
		index := parseCount(&m.value)
		if index < 0 || index >= s.Branches {
			return fail(at.member("mapping").member(m.key), fmt.Sprintf("must be the index of a branch of the anyOf: an integer from 0 to %d", s.Branches-1))
		}
		s.Values = append(s.Values, m.key)
		s.Branch[m.key] = index
	}
	return nil
}

// narrowable reports whether all schemas of the document mean the same wherever they stand, and are few.
func (c *compiler) narrowable() bool {
	if len(c.order) > maxNarrowSchemas {
		return false
	}
	for _, e := range c.order {
		if e.depth > maxNarrowDepth || slices.ContainsFunc(referenceKeywords, func(k string) bool { return e.value.get(k) != nil }) {
			return false
		}
	}
	return true
}

// narrow makes the roots: each is the root as it would be with one more entry in allOf, the branch. It stands there as the
// target of a $ref, of which a schema that is narrowed has none. The anyOf holds where the branch does. All that it can still
// add is what its other branches have evaluated, for unevaluatedProperties and unevaluatedItems; a branch that accepts
// everything keeps it from reporting again what the selected one has reported.
func (s *selector) narrow(root *node) {
	var others []*node
	if root.rest != nil {
		others = append(slices.Clip(root.apply.any), &node{trivial: true})
	}
	s.roots = make([]*node, s.Branches)
	for _, branch := range s.Branch {
		n, apply := *root, *root.apply
		apply.ref, apply.any, apply.anyTag = root.apply.any[branch], others, nil
		n.apply = &apply
		s.roots[branch] = &n
	}
}
