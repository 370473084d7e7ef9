package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// dialect is a draft of JSON Schema, named by its number or year, so that later ones are greater.
type dialect int

const (
	draft4    dialect = 4
	draft6    dialect = 6
	draft7    dialect = 7
	draft2019 dialect = 2019
	draft2020 dialect = 2020
)

// dialectOf returns the dialect that a $schema names, or 0.
func dialectOf(uri string) dialect {
	uri = strings.TrimSuffix(uri, "#")
	for _, scheme := range []string{"http://", "https://"} {
		rest, ok := strings.CutPrefix(uri, scheme+"json-schema.org/")
		if !ok {
			continue
		}
		switch rest {
		case "draft/2020-12/schema":
			return draft2020
		case "draft/2019-09/schema":
			return draft2019
		case "draft-07/schema":
			return draft7
		case "draft-06/schema":
			return draft6
		case "draft-04/schema":
			return draft4
		}
	}
	return 0
}

// shape is the form that a keyword's value must have.
type shape int

const (
	anyValue          shape = iota
	aSchema                 // a schema
	schemaOrBoolean         // additionalProperties: a schema, or a boolean in every draft
	schemaList              // a non-empty array of schemas
	schemaMap               // an object of schemas
	schemaOrList            // items before 2020-12
	schemaOrNames           // the entries of dependencies: an object of schemas or name lists
	aString                 // a string
	aBoolean                // a boolean
	aNumber                 // a number
	aNumberOrBoolean        // exclusiveMinimum in draft-04
	aPositiveNumber         // a number greater than 0
	aCount                  // an integer that is not negative
	aList                   // an array
	nameSet                 // an array of different strings
	nameSetMap              // an object of nameSets
	booleanMap              // an object of booleans
	typeNameOrNameSet       // the value of type
)

// keyword says what is known about a keyword of JSON Schema.
type keyword struct {
	shape        shape
	since, until dialect // the drafts that have it; 0: unlimited
}

// in reports whether the dialect has the keyword. Other keywords are annotations and may have any value.
func (k keyword) in(d dialect) bool { return d >= k.since && (k.until == 0 || d <= k.until) }

// keywords are all keywords of the drafts 4 to 2020-12.
var keywords = map[string]keyword{
	"$schema":          {shape: aString},
	"$id":              {shape: aString, since: draft6},
	"id":               {shape: aString, until: draft4},
	"$ref":             {shape: aString},
	"$anchor":          {shape: aString, since: draft2019},
	"$dynamicRef":      {shape: aString, since: draft2020},
	"$dynamicAnchor":   {shape: aString, since: draft2020},
	"$recursiveRef":    {shape: aString, since: draft2019, until: draft2019},
	"$recursiveAnchor": {shape: aBoolean, since: draft2019, until: draft2019},
	"$vocabulary":      {shape: booleanMap, since: draft2019},
	"$comment":         {shape: aString, since: draft7},
	"$defs":            {shape: schemaMap},
	"definitions":      {shape: schemaMap},

	"allOf":                 {shape: schemaList},
	"anyOf":                 {shape: schemaList},
	"oneOf":                 {shape: schemaList},
	"not":                   {shape: aSchema},
	"if":                    {shape: aSchema, since: draft7},
	"then":                  {shape: aSchema, since: draft7},
	"else":                  {shape: aSchema, since: draft7},
	"dependentSchemas":      {shape: schemaMap, since: draft2019},
	"dependencies":          {shape: schemaOrNames, until: draft7},
	"prefixItems":           {shape: schemaList, since: draft2020},
	"items":                 {shape: schemaOrList},
	"additionalItems":       {shape: schemaOrBoolean, until: draft2019},
	"contains":              {shape: aSchema, since: draft6},
	"properties":            {shape: schemaMap},
	"patternProperties":     {shape: schemaMap},
	"additionalProperties":  {shape: schemaOrBoolean},
	"propertyNames":         {shape: aSchema, since: draft6},
	"unevaluatedItems":      {shape: aSchema, since: draft2019},
	"unevaluatedProperties": {shape: aSchema, since: draft2019},

	"type":              {shape: typeNameOrNameSet},
	"enum":              {shape: aList},
	"const":             {since: draft6},
	"multipleOf":        {shape: aPositiveNumber},
	"maximum":           {shape: aNumber},
	"exclusiveMaximum":  {shape: aNumberOrBoolean},
	"minimum":           {shape: aNumber},
	"exclusiveMinimum":  {shape: aNumberOrBoolean},
	"maxLength":         {shape: aCount},
	"minLength":         {shape: aCount},
	"pattern":           {shape: aString},
	"maxItems":          {shape: aCount},
	"minItems":          {shape: aCount},
	"uniqueItems":       {shape: aBoolean},
	"maxContains":       {shape: aCount, since: draft2019},
	"minContains":       {shape: aCount, since: draft2019},
	"maxProperties":     {shape: aCount},
	"minProperties":     {shape: aCount},
	"required":          {shape: nameSet},
	"dependentRequired": {shape: nameSetMap, since: draft2019},

	"format":           {shape: aString},
	"contentEncoding":  {shape: aString, since: draft7},
	"contentMediaType": {shape: aString, since: draft7},
	"contentSchema":    {shape: aSchema, since: draft2019},
	"title":            {shape: aString},
	"description":      {shape: aString},
	"default":          {},
	"deprecated":       {shape: aBoolean, since: draft2019},
	"readOnly":         {shape: aBoolean, since: draft7},
	"writeOnly":        {shape: aBoolean, since: draft7},
	"examples":         {shape: aList, since: draft6},
}

// keywordNames has the name of each keyword, so that all schemas can share it.
var keywordNames = func() map[string]string {
	names := make(map[string]string, len(keywords))
	for name := range keywords {
		names[name] = name
	}
	return names
}()

// keywordsOf calls visit for each member of a schema object that is a keyword of the dialect. Beside a $ref, drafts up to
// 7 know nothing but the definitions that others refer to.
func keywordsOf(v *value, d dialect, visit func(name string, k keyword, v *value) error) error {
	alone := d <= draft7 && v.get("$ref") != nil
	for i := range v.members {
		m := &v.members[i]
		k, ok := keywords[m.key]
		if !ok || !k.in(d) {
			continue
		}
		if alone && m.key != "$ref" && m.key != "definitions" && m.key != "$defs" {
			continue
		}
		if err := visit(m.key, k, &m.value); err != nil {
			return err
		}
	}
	return nil
}

// schemaWalk visits a schema and all schemas inside of it, parents first, and checks that every keyword has its shape. This
// is what the meta-schema of the dialect would check.
type schemaWalk struct {
	// enter is called for each schema, before what is inside. It gets the resource around the schema and returns the one
	// that the schema is in. nil: no calls.
	enter func(v *value, at *place, r *resource) (*resource, error)
	depth int // schemas around the one that is visited
}

func (w *schemaWalk) schema(v *value, at *place, r *resource) error {
	if !v.isObject() && (!v.isBool() || r.dialect < draft6) {
		return &ParseError{at.String(), "must be an object or a boolean, as every schema"}
	}
	return w.inside(v, at, r)
}

// inside visits a schema whose kind has been checked.
func (w *schemaWalk) inside(v *value, at *place, r *resource) error {
	if w.enter != nil {
		var err error
		if r, err = w.enter(v, at, r); err != nil {
			return err
		}
	}
	w.depth++
	defer func() { w.depth-- }()
	return keywordsOf(v, r.dialect, func(name string, k keyword, v *value) error {
		return w.keyword(k.shape, v, at.member(name), r)
	})
}

func (w *schemaWalk) keyword(s shape, v *value, at *place, r *resource) error {
	fail := func(must string) error { return &ParseError{at.String(), "must be " + must} }
	switch s {
	case anyValue:
	case aSchema:
		return w.schema(v, at, r)
	case schemaOrBoolean:
		if v.isBool() {
			return w.inside(v, at, r)
		}
		return w.schema(v, at, r)
	case schemaOrList:
		if !v.isArray() {
			return w.schema(v, at, r)
		}
		if r.dialect >= draft2020 {
			return fail(`a schema; for the older list form, use "prefixItems", or declare the draft with "$schema"`)
		}
		return w.list(v, at, r)
	case schemaList:
		if !v.isArray() || len(v.members) == 0 {
			return fail("a non-empty array of schemas")
		}
		return w.list(v, at, r)
	case schemaMap, schemaOrNames, nameSetMap, booleanMap:
		if !v.isObject() {
			return fail("an object")
		}
		return w.entries(s, v, at, r)
	case aString:
		if !v.isString() {
			return fail("a string")
		}
	case aBoolean:
		if !v.isBool() {
			return fail("a boolean")
		}
	case aNumber:
		if !v.isNumber() {
			return fail("a number")
		}
	case aNumberOrBoolean:
		if old := r.dialect <= draft4; old && !v.isBool() || !old && !v.isNumber() {
			return fail("a number (in draft-04: a boolean)")
		}
	case aPositiveNumber:
		if !v.isNumber() || parseDecimal(nil, v.text).sign() <= 0 {
			return fail("a number greater than 0")
		}
	case aCount:
		if n := parseCount(v); n < 0 {
			return fail("an integer that is not negative")
		}
	case aList:
		if !v.isArray() {
			return fail("an array")
		}
	case nameSet:
		if !isNameSet(v) {
			return fail("an array of strings that are all different")
		}
	case typeNameOrNameSet:
		return checkType(v, at)
	default:
		panic(fmt.Sprintf("schema: keyword shape %d has no check", s))
	}
	return nil
}

func (w *schemaWalk) list(v *value, at *place, r *resource) error {
	for i := range v.members {
		if err := w.schema(&v.members[i].value, at.index(i), r); err != nil {
			return err
		}
	}
	return nil
}

// entries checks the values of an object whose keys are names and not keywords.
func (w *schemaWalk) entries(s shape, v *value, at *place, r *resource) error {
	for i := range v.members {
		m := &v.members[i]
		entry := aSchema
		switch {
		case s == booleanMap:
			entry = aBoolean
		case s == nameSetMap, s == schemaOrNames && m.value.isArray():
			entry = nameSet
		}
		if err := w.keyword(entry, &m.value, at.member(m.key), r); err != nil {
			return err
		}
	}
	return nil
}

func isNameSet(v *value) bool {
	if !v.isArray() {
		return false
	}
	seen := make(map[string]bool, len(v.members))
	for i := range v.members {
		entry := &v.members[i].value
		name := entry.str()
		if !entry.isString() || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// checkType checks the value of the keyword type, which is the one that models and people misspell.
func checkType(v *value, at *place) error {
	known := strings.Join(typeNames[:], ", ")
	if v.isString() {
		if typeNamed(v.str()) == 0 {
			return &ParseError{at.String(), quoteName(v.str()) + " is not a type; the types are " + known}
		}
		return nil
	}
	if !isNameSet(v) || len(v.members) == 0 {
		return &ParseError{at.String(), "must be a type or a non-empty array of different types; the types are " + known}
	}
	for i := range v.members {
		if err := checkType(&v.members[i].value, at.index(i)); err != nil {
			return err
		}
	}
	return nil
}

// parseCount returns the value of a keyword that counts something, or -1 if it is not a count. A count too large for an int
// is as good as the largest.
func parseCount(v *value) int {
	if !v.isNumber() {
		return -1
	}
	d := parseDecimal(nil, v.text)
	if d.sign() < 0 || !d.isInteger() {
		return -1
	}
	const huge = int(^uint(0) >> 1)
	if d.exp > 18 {
		return huge
	}
	n, err := strconv.Atoi(string(d.appendTo(nil)))
	if err != nil {
		return huge
	}
	return n
}
