package declgen

import (
	"slices"

	"github.com/cellmode/cellmode/schema"
)

// object returns the form of the objects that a schema accepts, with as many properties as are shown. It marks the type that the
// object is a part of, if something cannot be said.
func (b *builder) object(v schema.View, at place, t *typ) *object {
	o := &object{}
	b.rest(v, at, o, t)
	properties, _ := v.Keyword("properties")
	required := requiredNames(v, t)
	var keys []string
	keys, o.more = b.keys(properties, required)
	o.fields = make([]field, 0, len(keys))
	for _, key := range keys {
		f := field{name: key, required: required[key]}
		if property, ok := properties.Get(key); ok {
			f.typ = b.schema(property, at.inside())
			if value, ok := property.Get("default"); ok && at.fills && f.typ.kinds()&kindOf(value) != 0 {
				f.required = false
			}
			if !b.isHint() {
				f.doc = docOf(property)
			}
		} else {
			f.typ = o.rest
		}
		o.fields = append(o.fields, f)
	}
	return o
}

// rest sets what is known about the properties of o that have no schema of their own.
func (b *builder) rest(v schema.View, at place, o *object, t *typ) {
	additional, closed := v.Keyword("additionalProperties")
	patterns, patterned := v.Keyword("patternProperties")
	patterned = patterned && patterns.Len() > 0
	switch {
	case !closed:
		o.rest, o.open = unknown(), !patterned
	default:
		o.rest = b.schema(additional, at.inside())
	}
	if !patterned {
		return
	}
	t.lossy = true // TypeScript cannot say which names match
	if patterns.Len() > b.variants {
		o.rest = lost()
	}
	names := make([]string, 0, patterns.Len())
	for name := range patterns.Members() {
		names = append(names, name)
	}
	slices.SortFunc(names, compareKeys)
	for _, name := range names {
		if o.rest.any {
			return
		}
		pattern, _ := patterns.Get(name)
		o.rest = union(o.rest, b.schema(pattern, place{depth: at.depth + 1}))
	}
}

func requiredNames(v schema.View, t *typ) map[string]bool {
	list, ok := v.Keyword("required")
	if !ok {
		return nil
	}
	names := make(map[string]bool, list.Len())
	for name := range list.Items() {
		if !name.IsString() {
			t.lossy = true
			continue
		}
		names[name.Str()] = true
	}
	if !list.IsArray() {
		t.lossy = true
	}
	return names
}

// keys returns the names of the properties that are shown, sorted, and whether there are more. Required ones are taken first. It
// keeps as many names as are shown, however many there are.
func (b *builder) keys(properties schema.View, required map[string]bool) (keys []string, more bool) {
	compare := func(x, y string) int {
		if required[x] != required[y] {
			if required[x] {
				return -1
			}
			return 1
		}
		return compareKeys(x, y)
	}
	keys = make([]string, 0, min(b.properties, properties.Len()+len(required)))
	add := func(key string) {
		if len(key) > b.keyUnits && unitsOf(key) > b.keyUnits {
			more = true
			return
		}
		if len(keys) == b.properties {
			more = true
			if compare(key, keys[len(keys)-1]) > 0 {
				return
			}
			keys = keys[:len(keys)-1]
		}
		i, _ := slices.BinarySearchFunc(keys, key, compare)
		keys = slices.Insert(keys, i, key)
	}
	for key := range properties.Members() {
		add(key)
	}
	for key := range required {
		if _, ok := properties.Get(key); !ok {
			add(key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	return keys, more
}
