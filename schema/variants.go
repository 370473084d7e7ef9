package schema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// Variant says what a tool returns if a property of its input has a certain value.
type Variant struct {
	Value  string  // of the input property; not empty, and different for each variant
	Schema *Schema // of the result
}

// Variants returns the schema of a result whose form depends on a property of the input, such as the name of an operation:
// an anyOf with a branch for each form, and the annotation [DiscriminatorKeyword] that says which value selects which branch.
//
// [Schema.ValidateFor] then checks a result against the branch of its input.
//
// Variants whose schemas are the same, or have the same text, share a branch. A reference inside of a branch keeps its
// meaning, but a schema with a reference is not narrowed, see [Discriminator]. The schemas must be of one draft, and without
// an error ([Schema.Err]). The error names the variant that cannot be used.
func Variants(inputProperty string, variants ...Variant) (*Schema, error) {
	if inputProperty == "" || !utf8.ValidString(inputProperty) {
		return nil, errors.New("schema: Variants needs the name of an input property, in valid UTF-8")
	}
	if len(variants) == 0 {
		return nil, fmt.Errorf("schema: no variants for %s", quoteName(inputProperty))
	}
	var (
		u       = union{inputProperty: inputProperty}
		texts   []string // of the branches, as they were given
		seen    = map[string]bool{}
		mapping []byte
	)
	for _, v := range variants {
		switch {
		case v.Value == "":
			return nil, u.fail(v, "has no value")
		case !utf8.ValidString(v.Value):
			return nil, u.fail(v, "is not valid UTF-8")
		case v.Schema == nil:
			return nil, u.fail(v, "has no schema")
		case v.Schema.Err() != nil:
			return nil, fmt.Errorf("%w: %w", u.fail(v, "has a schema that cannot be applied"), v.Schema.Err())
		case seen[v.Value]:
			return nil, u.fail(v, "stands twice")
		}
		seen[v.Value] = true
		branch := slices.Index(texts, string(v.Schema.text))
		if branch < 0 {
			branch = len(texts)
			texts = append(texts, string(v.Schema.text))
			if err := u.addBranch(branch, v); err != nil {
				return nil, err
			}
		}
		if len(mapping) > 0 {
			mapping = append(mapping, ',')
		}
		mapping = append(jsontext.AppendString(mapping, v.Value), ':')
		mapping = strconv.AppendInt(mapping, int64(branch), 10)
	}
	return Parse(u.text(mapping))
}

// union is the schema that Variants writes.
type union struct {
	inputProperty string
	dialect       dialect
	declared      string // $schema of the branches, or ""
	branches      []byte
}

func (u *union) fail(v Variant, reason string) error {
	return fmt.Errorf("schema: variant %s of %s %s", quoteName(v.Value), quoteName(u.inputProperty), reason)
}

func (u *union) addBranch(index int, v Variant) error {
	doc, err := parseDocument(v.Schema.text)
	if err != nil {
		return err
	}
	var c compiler
	if _, err := c.compile(doc); err != nil {
		return err
	}
	root := c.entries[doc]
	if index == 0 {
		u.dialect = root.resource.dialect
		if u.dialect != draft2020 {
			u.declared = doc.get("$schema").str()
		}
	} else {
		u.branches = append(u.branches, ',')
		if u.dialect != root.resource.dialect {
			return u.fail(v, "has a schema of another draft than the first variant")
		}
	}
	w := branchWriter{entries: c.entries, out: u.branches}
	if root.resource.base.String() == "" { // else the branch stays a resource of its own
		w.resource, w.prefix = root.resource, "#/anyOf/"+strconv.Itoa(index)
	}
	w.value(doc, true)
	u.branches = w.out
	return nil
}

func (u *union) text(mapping []byte) []byte {
	text := []byte{'{'}
	if u.declared != "" {
		text = append(jsontext.AppendString(append(text, `"$schema":`...), u.declared), ',')
	}
	text = append(append(append(text, `"anyOf":[`...), u.branches...), `],"`+DiscriminatorKeyword+`":{"version":1,"inputProperty":`...)
	text = jsontext.AppendString(text, u.inputProperty)
	return append(append(append(text, `,"mapping":{`...), mapping...), "}}}"...)
}

// branchWriter writes a schema so that it can stand inside of another one.
type branchWriter struct {
	entries  map[*value]*entry
	resource *resource // references in it that start at its root ...
	prefix   string    // ... start here now
	out      []byte
}

var referenceKeywords = []string{"$ref", "$dynamicRef", "$recursiveRef"}

func (w *branchWriter) value(v *value, root bool) {
	if len(v.members) == 0 {
		w.out = append(w.out, v.text...)
		return
	}
	e := w.entries[v]
	start := len(w.out)
	for i := range v.members {
		m := &v.members[i]
		if root && m.key == "$schema" {
			continue
		}
		if len(w.out) > start {
			w.out = append(w.out, ',')
		} else {
			w.out = append(w.out, v.text[0])
		}
		if v.isObject() {
			w.out = append(jsontext.AppendString(w.out, m.key), ':')
		}
		if e != nil && w.resource != nil && e.resource == w.resource && slices.Contains(referenceKeywords, m.key) {
			if fragment, ok := strings.CutPrefix(m.value.str(), "#"); ok && (fragment == "" || fragment[0] == '/') {
				w.out = jsontext.AppendString(w.out, w.prefix+fragment)
				continue
			}
		}
		w.value(&m.value, false)
	}
	if len(w.out) == start {
		w.out = append(w.out, "{}"...)
		return
	}
	w.out = append(w.out, v.text[0]+2)
}
