package toolcatalog

import "github.com/cellmode/cellmode/schema"

// maxShapeNodes is how many schemas are looked at to find whether an object could be accepted.
const maxShapeNodes = 256

// acceptsObject reports whether a schema could accept an object. It looks at the keywords that speak about the type of the
// value itself, and says yes when in doubt.
func acceptsObject(s *schema.Schema) bool {
	budget := maxShapeNodes
	return mayBeObject(s.View(), &budget)
}

func mayBeObject(v schema.View, budget *int) bool {
	if v.IsBool() {
		return v.IsTrue()
	}
	if *budget--; *budget < 0 {
		return true
	}
	sub := func(v schema.View) bool { return mayBeObject(v, budget) }
	if target, ok := v.Ref(); ok && !sub(target) {
		return false
	}
	for name, accepts := range map[string]func(schema.View) bool{
		"type": func(v schema.View) bool {
			return v.Str() == "object" || anyItem(v, func(t schema.View) bool { return t.Str() == "object" })
		},
		"const": schema.View.IsObject,
		"enum":  func(v schema.View) bool { return anyItem(v, schema.View.IsObject) },
		"allOf": func(v schema.View) bool { return !anyItem(v, func(v schema.View) bool { return !sub(v) }) },
		"anyOf": func(v schema.View) bool { return anyItem(v, sub) },
		"oneOf": func(v schema.View) bool { return anyItem(v, sub) },
	} {
		if value, ok := v.Keyword(name); ok && !accepts(value) {
			return false
		}
	}
	return true
}

func anyItem(v schema.View, is func(schema.View) bool) bool {
	for item := range v.Items() {
		if is(item) {
			return true
		}
	}
	return false
}
