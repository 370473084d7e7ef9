package schema

import "strings"

// node is one compiled subschema. A nil group of rules means that no keyword of that group is there. Nodes are built by
// the compiler and never change afterwards.
type node struct {
	alias   *node   // the schema is nothing but a $ref, or a chain of them, to this one
	never   bool    // the schema false
	trivial bool    // accepts everything
	types   typeSet // 0: any

	object *objectRules
	array  *arrayRules
	text   *textRules
	number *numberRules
	values []*literalSet // enum and const: each must hold the value
	apply  *applicators
	rest   *restRules
	scope  *resource // the resource that the node is in; nil if the schema has no dynamic references

	isBytes  bool // contentEncoding base64: what a Go []byte is
	defaults bool // a property, or something inside of one, has a default
}

// objectRules are the keywords that apply to objects only.
type objectRules struct {
	properties []property
	index      map[string]int // by name, if there are many properties
	required   int            // how many properties are required
	patterns   []patternRule
	additional *node // for other properties; nil: anything
	names      *node // propertyNames
	min, max   int   // properties; max -1: any number
	dependents []dependent
}

// property is a name that a schema mentions, in properties or in required.
type property struct {
	name     string
	node     *node // nil: mentioned in required only
	required bool
	fallback []byte // the default, if it matches node; else nil
}

type patternRule struct {
	pattern *pattern
	node    *node
}

// dependent is an entry of dependentRequired or dependentSchemas.
type dependent struct {
	name     string
	requires []string
	node     *node
}

// find returns the number of the property with that name, or -1. guess is where it is looked for first: objects tend to have
// their keys in the order of the schema.
func (o *objectRules) find(name []byte, guess int) int {
	if guess < len(o.properties) && o.properties[guess].name == string(name) {
		return guess
	}
	if o.index != nil {
		if i, ok := o.index[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range o.properties {
		if o.properties[i].name == string(name) {
			return i
		}
	}
	return -1
}

// arrayRules are the keywords that apply to arrays only.
type arrayRules struct {
	prefix                   []*node
	items                    *node // after the prefix; nil: anything
	min, max                 int   // items; max -1: any number
	unique                   bool
	contains                 *node
	minContains, maxContains int  // maxContains -1: any number
	containsCounts           bool // an item that matches contains counts as evaluated
}

// textRules are the keywords that apply to strings only. Lengths are counted in Unicode characters.
type textRules struct {
	min, max int // max -1: any length
	pattern  *pattern
}

// numberRules are the keywords that apply to numbers only.
type numberRules struct {
	bounds   []bound
	multiple *divisor
	step     string // multipleOf as it was written
}

// bound is one of the four limits of a number.
type bound struct {
	literal   string // as it was written
	decimal   decimal
	small     int64 // its value, if isSmall
	isSmall   bool
	upper     bool // maximum or exclusiveMaximum
	exclusive bool
}

// allows reports whether a number that compares to the bound with the result c keeps it.
func (b *bound) allows(c int) bool {
	if b.upper {
		c = -c
	}
	return c > 0 || c == 0 && !b.exclusive
}

// literalSet is the list of an enum, or the one value of a const.
type literalSet struct {
	canonical map[string]struct{} // by canonical text
	shown     []string            // the first few, as JSON text
	total     int
}

// applicators are the keywords that apply other schemas to the same value.
type applicators struct {
	ref             *node
	dynamic         *dynamicRef
	all, any, one   []*node
	anyTag, oneTag  *tag // by which the branches of any and of one differ, if they do by a tag
	not             *node
	when, then, els *node
	metaschema      dialect // the value must be a schema of that dialect; 0: no such rule
}

// dynamicRef is a $dynamicRef or $recursiveRef.
type dynamicRef struct {
	static *node  // what a plain $ref would lead to
	anchor string // the dynamic anchor that stands there
	plain  bool   // there is none: it is a plain $ref
}

// restRules are unevaluatedProperties and unevaluatedItems: what holds for the parts of a value that no other keyword has
// looked at.
type restRules struct {
	properties, items *node
}

// typeSet is a set of the types of JSON Schema.
type typeSet uint8

const (
	typeObject typeSet = 1 << iota
	typeArray
	typeString
	typeNumber
	typeInteger
	typeBoolean
	typeNull
)

var typeNames = [...]string{"object", "array", "string", "number", "integer", "boolean", "null"}

// typeNamed returns the set of the one type of that name, or 0.
func typeNamed(name string) typeSet {
	for i, n := range typeNames {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// typeAt returns the type of the value that starts with b; integers count as numbers.
func typeAt(b byte) typeSet {
	switch b {
	case '{':
		return typeObject
	case '[':
		return typeArray
	case '"':
		return typeString
	case 't', 'f':
		return typeBoolean
	case 'n':
		return typeNull
	}
	return typeNumber
}

// String renders the set as "string or null".
func (t typeSet) String() string {
	var names []string
	for i, n := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
