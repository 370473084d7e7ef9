package schema

import (
	"fmt"
	"net/url"
	"strings"
)

// compiler turns a schema document into nodes. index finds every schema in the document, and the URIs and anchors that
// references can name; fill makes the node of each; then the graph is looked at as a whole.
type compiler struct {
	resources map[string]*resource // by URI without fragment
	entries   map[*value]*entry
	order     []*entry // parents before what is inside of them
	patterns  map[string]*pattern
	size      int  // of all patterns together
	dynamic   bool // there is a $dynamicRef or $recursiveRef
}

// resource is a part of a document that has its own URI: the document itself, or a schema with $id.
type resource struct {
	base    *url.URL
	root    *entry
	dialect dialect
	anchors map[string]*entry
	dynamic map[string]*node // by $dynamicAnchor; "" is $recursiveAnchor
}

// entry is one schema of the document.
type entry struct {
	value    *value
	at       *place
	depth    int // schemas around it
	resource *resource
	node     *node
}

const (
	maxSchemas      = 100_000 // schemas inside of a schema, itself included
	maxPatternsSize = 500_000 // instructions of all its patterns together
	maxDefaultBytes = 8 << 20 // all its defaults together, each completed by the defaults inside of it
)

func (c *compiler) compile(doc *value) (*node, error) {
	c.resources = map[string]*resource{}
	c.entries = map[*value]*entry{}
	c.patterns = map[string]*pattern{}
	if err := c.index(doc, &place{}, &resource{base: &url.URL{}, dialect: draft2020}); err != nil {
		return nil, err
	}
	for i := 0; i < len(c.order); i++ { // fill may append: schemas in places where only a reference expects one
		if err := c.fill(c.order[i]); err != nil {
			return nil, err
		}
	}
	if c.dynamic {
		for _, e := range c.order {
			e.node.scope = e.resource
		}
	}
	if at := findLoop(c.order); at != nil {
		return nil, &ParseError{at.String(), "the references form a loop that never gets to a part of the value"}
	}
	c.shortenReferences()
	c.findTags()
	return c.entries[doc].node, c.adoptDefaults()
}

// shortenReferences lets every schema that is nothing but a reference stand for the schema at the end of the chain. There is
// one: loops have been refused.
func (c *compiler) shortenReferences() {
	var chain []*node
	for _, e := range c.order {
		n := e.node
		for n.alias == nil && n.scope == nil && n.isReference() {
			chain = append(chain, n)
			n = n.apply.ref
		}
		if n.alias != nil {
			n = n.alias
		}
		for _, link := range chain {
			link.alias = n
		}
		chain = chain[:0]
	}
}

// index enters a schema and all schemas inside of it.
func (c *compiler) index(v *value, at *place, around *resource) error {
	var walk schemaWalk
	walk.enter = func(v *value, at *place, around *resource) (*resource, error) {
		if len(c.order) >= maxSchemas {
			return nil, &ParseError{at.String(), fmt.Sprintf("there are more than %d schemas in this schema", maxSchemas)}
		}
		e := &entry{value: v, at: at, depth: walk.depth, resource: around, node: &node{}}
		if err := c.identify(e); err != nil {
			return nil, err
		}
		c.entries[v] = e
		c.order = append(c.order, e)
		return e.resource, nil
	}
	return walk.schema(v, at, around)
}

// identify notes the URI and the anchors of a schema.
func (c *compiler) identify(e *entry) error {
	if e.resource.root == nil || e.value.get("$id") != nil || e.value.get("id") != nil {
		if err := c.enterResource(e); err != nil {
			return err
		}
	}
	if e.resource.dialect < draft2019 {
		return nil
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if anchor := e.value.get(keyword); anchor != nil && anchor.isString() {
			if err := e.resource.addAnchor(anchor.str(), e, keyword); err != nil {
				return err
			}
			if keyword == "$dynamicAnchor" {
				e.resource.dynamic[anchor.str()] = e.node
			}
		}
	}
	if anchor := e.value.get("$recursiveAnchor"); anchor != nil && anchor.isTrue() && e.resource.root == e {
		e.resource.dynamic[""] = e.node
	}
	return nil
}

// enterResource makes a resource of the schema, if it is one.
func (c *compiler) enterResource(e *entry) error {
	around := e.resource
	d := around.dialect
	if declared := e.value.get("$schema"); declared != nil {
		if known := dialectOf(declared.str()); known != 0 {
			d = known
		}
	}
	keyword := "$id"
	if d <= draft4 {
		keyword = "id"
	}
	id := ""
	if v := e.value.get(keyword); v != nil && (d > draft7 || e.value.get("$ref") == nil) {
		id = v.str()
	}
	if id == "" && around.root != nil {
		return nil
	}
	if anchor, ok := strings.CutPrefix(id, "#"); ok && anchor != "" && d <= draft7 {
		if around.root != nil {
			return around.addAnchor(anchor, e, keyword)
		}
		id = ""
	}
	here := &ParseError{e.at.member(keyword).String(), ""}
	uri, err := url.Parse(id)
	if err != nil {
		here.Reason = "is not a URI"
		return here
	}
	if uri.Fragment != "" {
		here.Reason = "must not have a fragment; use $anchor"
		return here
	}
	r := &resource{base: around.base.ResolveReference(uri), root: e, dialect: d, anchors: map[string]*entry{}, dynamic: map[string]*node{}}
	name := withoutFragment(r.base)
	if _, ok := c.resources[name]; ok {
		here.Reason = "stands twice in this schema"
		return here
	}
	c.resources[name] = r
	e.resource = r
	return nil
}

func (r *resource) addAnchor(anchor string, e *entry, keyword string) error {
	if other, ok := r.anchors[anchor]; ok && other != e {
		return &ParseError{e.at.member(keyword).String(), "the anchor " + quoteName(anchor) + " stands twice in this schema"}
	}
	r.anchors[anchor] = e
	return nil
}

func withoutFragment(u *url.URL) string {
	bare := *u
	bare.Fragment, bare.RawFragment = "", ""
	return bare.String()
}

// resolve finds what a reference names. For the meta-schema of a dialect, which no document contains, it returns the dialect.
func (c *compiler) resolve(from *entry, keyword, ref string) (*entry, dialect, error) {
	at := from.at.member(keyword)
	fail := func(reason string) (*entry, dialect, error) { return nil, 0, &ParseError{at.String(), reason} }
	uri, err := url.Parse(ref)
	if err != nil {
		return fail("is not a URI reference")
	}
	target, fragment := from.resource, uri.Fragment
	if !strings.HasPrefix(ref, "#") {
		name := withoutFragment(from.resource.base.ResolveReference(uri))
		var ok bool
		if target, ok = c.resources[name]; !ok {
			if d := dialectOf(name); d != 0 && fragment == "" {
				return nil, d, nil
			}
			return fail(quoteName(ref) + " is not in this schema, and other documents are never loaded; copy it into $defs")
		}
	}
	switch {
	case fragment == "":
		return target.root, 0, nil
	case fragment[0] != '/':
		if e, ok := target.anchors[fragment]; ok {
			return e, 0, nil
		}
		return fail("no anchor " + quoteName(fragment) + " in this schema")
	}
	e, err := c.follow(target, fragment)
	if err != nil {
		return nil, 0, err
	}
	if e == nil {
		return fail(quoteName(ref) + " names nothing in this schema")
	}
	return e, 0, nil
}

// follow goes along a JSON Pointer from the root of a resource. The schema it leads to may be in a place where no keyword
// puts one; then it is entered now.
func (c *compiler) follow(r *resource, pointer string) (*entry, error) {
	v, at := r.root.value, r.root.at
	for _, key := range strings.Split(pointer[1:], "/") {
		key = unescapeToken(key)
		next := v.step(key)
		if next == nil {
			return nil, nil
		}
		v, at = next, at.member(key)
		if e := c.entries[v]; e != nil {
			r = e.resource
		}
	}
	if c.entries[v] == nil {
		if err := c.index(v, at, r); err != nil {
			return nil, err
		}
	}
	return c.entries[v], nil
}

// checkShape checks that a text is a schema in the sense of the meta-schema of a dialect.
func checkShape(text []byte, d dialect) error {
	doc, err := parseDocument(text)
	if err != nil {
		return err
	}
	return (&schemaWalk{}).schema(doc, &place{}, &resource{dialect: d})
}
