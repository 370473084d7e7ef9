package schema

import "strings"

// fill makes the node of a schema from its keywords. The nodes of the schemas inside exist already, if only as places.
func (c *compiler) fill(e *entry) error {
	n := e.node
	if e.value.isBool() {
		n.never = !e.value.isTrue()
		n.trivial = !n.never
		return nil
	}
	f := filler{c: c, e: e, n: n}
	err := keywordsOf(e.value, e.resource.dialect, func(name string, _ keyword, v *value) error {
		return f.keyword(name, v)
	})
	if err != nil {
		return err
	}
	f.finish()
	return nil
}

// filler is the work on one node.
type filler struct {
	c *compiler
	e *entry
	n *node
}

func (f *filler) get(name string) *value { return f.e.value.get(name) }

func (f *filler) child(v *value) *node { return f.c.entries[v].node }

func (f *filler) children(v *value) []*node {
	nodes := make([]*node, len(v.members))
	for i := range v.members {
		nodes[i] = f.child(&v.members[i].value)
	}
	return nodes
}

func (f *filler) object() *objectRules {
	if f.n.object == nil {
		f.n.object = &objectRules{max: -1}
	}
	return f.n.object
}

func (f *filler) array() *arrayRules {
	if f.n.array == nil {
		f.n.array = &arrayRules{max: -1, minContains: 1, maxContains: -1}
	}
	return f.n.array
}

func (f *filler) text() *textRules {
	if f.n.text == nil {
		f.n.text = &textRules{max: -1}
	}
	return f.n.text
}

func (f *filler) number() *numberRules {
	if f.n.number == nil {
		f.n.number = &numberRules{}
	}
	return f.n.number
}

func (f *filler) apply() *applicators {
	if f.n.apply == nil {
		f.n.apply = &applicators{}
	}
	return f.n.apply
}

func (f *filler) rest() *restRules {
	if f.n.rest == nil {
		f.n.rest = &restRules{}
	}
	return f.n.rest
}

func (f *filler) keyword(name string, v *value) error {
	switch name {
	case "type":
		f.n.types = parseTypes(v)
	case "enum":
		f.n.values = append(f.n.values, newLiteralSet(v.members))
	case "const":
		f.n.values = append(f.n.values, newLiteralSet([]member{{value: *v}}))
	case "$ref":
		return f.reference(name, v.str())
	case "$dynamicRef", "$recursiveRef":
		return f.dynamicReference(name, v.str())
	case "unevaluatedItems":
		f.rest().items = f.child(v)
	case "unevaluatedProperties":
		f.rest().properties = f.child(v)
	case "allOf":
		f.apply().all = f.children(v)
	case "anyOf":
		f.apply().any = f.children(v)
	case "oneOf":
		f.apply().one = f.children(v)
	case "not":
		f.apply().not = f.child(v)
	case "if":
		f.apply().when = f.child(v)
	case "then":
		f.apply().then = f.child(v)
	case "else":
		f.apply().els = f.child(v)
	case "contentEncoding":
		f.n.isBytes = v.str() == "base64"
	case "pattern":
		p, err := f.c.pattern(v.str(), f.e.at.member(name))
		f.text().pattern = p
		return err
	case "minLength":
		f.text().min = parseCount(v)
	case "maxLength":
		f.text().max = parseCount(v)
	case "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum":
		f.bound(name, v)
	case "multipleOf":
		d, ok := newDivisor(parseDecimal(nil, v.text))
		if !ok {
			return &ParseError{f.e.at.member(name).String(), "has more than 19 digits"}
		}
		f.number().multiple, f.number().step = &d, string(v.text)
	default:
		return f.containerKeyword(name, v)
	}
	return nil
}

// containerKeyword handles the keywords for arrays and objects; others are annotations.
func (f *filler) containerKeyword(name string, v *value) error {
	switch name {
	case "prefixItems":
		f.array().prefix = f.children(v)
	case "items":
		if v.isArray() {
			f.array().prefix = f.children(v)
		} else {
			f.array().items = f.child(v)
		}
	case "additionalItems":
		if items := f.get("items"); items != nil && items.isArray() {
			f.array().items = f.child(v)
		}
	case "minItems":
		f.array().min = parseCount(v)
	case "maxItems":
		f.array().max = parseCount(v)
	case "uniqueItems":
		f.array().unique = v.isTrue()
	case "contains":
		f.array().contains = f.child(v)
		f.array().containsCounts = f.e.resource.dialect >= draft2020
	case "minContains":
		f.array().minContains = parseCount(v)
	case "maxContains":
		f.array().maxContains = parseCount(v)
	case "properties":
		for i := range v.members {
			f.property(v.members[i].key).node = f.child(&v.members[i].value)
		}
	case "required":
		f.require(v)
	case "patternProperties":
		for i := range v.members {
			m := &v.members[i]
			p, err := f.c.pattern(m.key, f.e.at.member(name).member(m.key))
			if err != nil {
				return err
			}
			f.object().patterns = append(f.object().patterns, patternRule{p, f.child(&m.value)})
		}
	case "additionalProperties":
		f.object().additional = f.child(v)
	case "propertyNames":
		f.object().names = f.child(v)
	case "minProperties":
		f.object().min = parseCount(v)
	case "maxProperties":
		f.object().max = parseCount(v)
	case "dependentRequired", "dependentSchemas", "dependencies":
		for i := range v.members {
			m := &v.members[i]
			d := dependent{name: m.key}
			if m.value.isArray() {
				d.requires = names(&m.value)
			} else {
				d.node = f.child(&m.value)
			}
			f.object().dependents = append(f.object().dependents, d)
		}
	}
	return nil
}

func (f *filler) reference(keyword, ref string) error {
	target, d, err := f.c.resolve(f.e, keyword, ref)
	if err != nil || d != 0 {
		f.apply().metaschema = d
		return err
	}
	f.apply().ref = target.node
	return nil
}

// dynamicReference resolves a reference that can lead elsewhere during an evaluation: to the schema with the same dynamic
// anchor in the outermost resource that has one, if there is such an anchor where it leads on its own.
func (f *filler) dynamicReference(keyword, ref string) error {
	target, d, err := f.c.resolve(f.e, keyword, ref)
	if err != nil || d != 0 {
		f.apply().metaschema = d
		return err
	}
	_, anchor, _ := strings.Cut(ref, "#")
	f.c.dynamic = true
	f.apply().dynamic = &dynamicRef{
		static: target.node,
		anchor: anchor,
		plain:  target.resource.dynamic[anchor] != target.node,
	}
	return nil
}

// property returns the rule for a property, which is new if neither properties nor required had it before. The result is
// good until the next call.
func (f *filler) property(name string) *property {
	o := f.object()
	const few = 8
	i := o.find([]byte(name), len(o.properties))
	if i < 0 {
		i = len(o.properties)
		o.properties = append(o.properties, property{name: name})
		if o.index != nil {
			o.index[name] = i
		} else if len(o.properties) > few {
			o.index = make(map[string]int, 2*few)
			for i := range o.properties {
				o.index[o.properties[i].name] = i
			}
		}
	}
	return &o.properties[i]
}

// require marks properties as required. Those of properties come first, whichever keyword comes first, because their order is
// the one that objects tend to have.
func (f *filler) require(required *value) {
	if properties := f.get("properties"); properties != nil {
		for i := range properties.members {
			f.property(properties.members[i].key)
		}
	}
	for _, name := range names(required) {
		f.property(name).required = true
		f.object().required++
	}
}

func (f *filler) bound(keyword string, v *value) {
	b := bound{
		upper:     keyword == "maximum" || keyword == "exclusiveMaximum",
		exclusive: keyword == "exclusiveMinimum" || keyword == "exclusiveMaximum",
	}
	if v.isBool() {
		return // draft-04: the sibling looks here
	}
	if f.e.resource.dialect <= draft4 {
		sibling := f.get("exclusiveM" + keyword[1:])
		b.exclusive = sibling != nil && sibling.isTrue()
	}
	b.literal = string(v.text)
	b.decimal = parseDecimal(nil, v.text)
	b.small, b.isSmall = smallInteger(v.text)
	f.number().bounds = append(f.number().bounds, b)
}

// finish settles what depends on all keywords together.
func (f *filler) finish() {
	n := f.n
	if a := n.array; a != nil && a.contains == nil {
		a.minContains, a.maxContains = 0, -1
	}
	if a := n.apply; a != nil && a.when == nil {
		a.then, a.els = nil, nil
	}
	n.trivial = n.apply == nil && n.looksAtNothing()
}

// looksAtNothing reports whether n applies to values nothing of its own, but at most what its applicators name.
func (n *node) looksAtNothing() bool {
	return !n.never && n.types == 0 && n.object == nil && n.array == nil && n.text == nil && n.number == nil &&
		len(n.values) == 0 && n.rest == nil
}

// isReference reports whether n is nothing but a $ref to another schema of the document.
func (n *node) isReference() bool {
	a := n.apply
	return a != nil && a.ref != nil && n.looksAtNothing() && a.dynamic == nil && a.not == nil && a.when == nil && a.metaschema == 0 &&
		len(a.all)+len(a.any)+len(a.one) == 0
}

func parseTypes(v *value) typeSet {
	if v.isString() {
		return typeNamed(v.str())
	}
	var set typeSet
	for _, name := range names(v) {
		set |= typeNamed(name)
	}
	return set
}

// names returns the strings of an array of strings.
func names(v *value) []string {
	list := make([]string, len(v.members))
	for i := range v.members {
		list[i] = v.members[i].value.str()
	}
	return list
}

// pattern compiles each expression of the document once.
func (c *compiler) pattern(source string, at *place) (*pattern, error) {
	if p := c.patterns[source]; p != nil {
		return p, nil
	}
	p, err := compilePattern(source)
	if err != nil {
		return nil, &ParseError{at.String(), bounded("the pattern is not usable: " + err.Error())}
	}
	if c.size += p.size; c.size > maxPatternsSize {
		return nil, &ParseError{at.String(), "the patterns of this schema are too large together"}
	}
	c.patterns[source] = p
	return p, nil
}
