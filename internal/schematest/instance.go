package schematest

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Instance makes a value that follows a schema: it has the properties that are required and some of the others, takes a
// constant where there is one and a branch where there is a choice. It mostly matches the schema, and in any case is near
// to what does. The result is JSON text; it is null if the schema is no JSON.
func Instance(r *rand.Rand, schema []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(schema))
	decoder.UseNumber()
	var root any
	if decoder.Decode(&root) != nil {
		return []byte("null")
	}
	text, err := json.Marshal(follower{r, root}.value([]any{root}, 6))
	if err != nil {
		panic(err)
	}
	return text
}

// follower makes values for the schemas inside of root.
type follower struct {
	*rand.Rand
	root any
}

// keywords is a schema that is an object.
type keywords = map[string]any

// value makes a value for all of the schemas at once, with at most depth levels below it.
func (f follower) value(schemas []any, depth int) any {
	var applied []keywords
	for _, s := range schemas {
		applied = f.apply(applied, s, 8)
	}
	for _, s := range applied {
		if constant, ok := s["const"]; ok {
			return constant
		}
		if enum, ok := s["enum"].([]any); ok && len(enum) > 0 {
			return enum[f.IntN(len(enum))]
		}
	}
	switch kind := f.kind(applied); {
	case kind == "object" && depth > 0:
		return f.object(applied, depth)
	case kind == "array" && depth > 0:
		return f.array(applied, depth)
	default:
		return f.scalar(kind, applied)
	}
}

// apply appends the schemas that apply where s does: s itself, what it refers to, all of allOf, one of each choice.
func (f follower) apply(to []keywords, s any, depth int) []keywords {
	k, ok := s.(keywords)
	if !ok || depth == 0 {
		return to
	}
	to = append(to, k)
	for _, name := range []string{"$ref", "$dynamicRef"} {
		if ref, ok := k[name].(string); ok {
			to = f.apply(to, f.resolve(ref), depth-1)
		}
	}
	all, _ := k["allOf"].([]any)
	for _, part := range all {
		to = f.apply(to, part, depth-1)
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if choices, ok := k[name].([]any); ok && len(choices) > 0 {
			to = f.apply(to, choices[f.IntN(len(choices))], depth-1)
		}
	}
	if _, ok := k["if"]; ok {
		to = f.apply(to, k["else"], depth-1)
		if f.IntN(2) == 0 {
			to = f.apply(f.apply(to, k["if"], depth-1), k["then"], depth-1)
		}
	}
	return to
}

// resolve follows a JSON Pointer. A reference of another form leads to nothing.
func (f follower) resolve(ref string) any {
	at := f.root
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	for _, step := range strings.Split(pointer, "/")[1:] {
		switch parent := at.(type) {
		case keywords:
			at = parent[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			at = parent[i]
		}
	}
	return at
}

// kind picks a type that the schemas allow, if they name one, else one that their keywords are about.
func (f follower) kind(applied []keywords) string {
	allowed := []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	var named bool
	var about []string
	for _, s := range applied {
		var types []string
		switch t := s["type"].(type) {
		case string:
			types = []string{t}
		case []any:
			for _, name := range t {
				if name, ok := name.(string); ok {
					types = append(types, name)
				}
			}
		}
		if types != nil {
			named = true
			if slices.Contains(types, "number") {
				types = append(types, "integer")
			}
			allowed = slices.DeleteFunc(allowed, func(name string) bool { return !slices.Contains(types, name) })
		}
		for _, name := range []string{"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"} {
			if _, ok := s[name]; ok {
				about = append(about, "object")
			}
		}
		for _, name := range []string{"items", "prefixItems", "contains", "minItems", "additionalItems"} {
			if _, ok := s[name]; ok {
				about = append(about, "array")
			}
		}
	}
	if !named && len(about) > 0 && f.IntN(4) > 0 {
		return about[f.IntN(len(about))]
	}
	if len(allowed) == 0 {
		return "null"
	}
	return allowed[f.IntN(len(allowed))]
}

func (f follower) object(applied []keywords, depth int) any {
	optional, required := map[string]bool{}, map[string]bool{}
	for _, s := range applied {
		if properties, ok := s["properties"].(keywords); ok {
			for name := range properties {
				optional[name] = true
			}
		}
		names, _ := s["required"].([]any)
		for _, name := range names {
			if name, ok := name.(string); ok {
				required[name] = true
			}
		}
	}
	if f.IntN(3) == 0 {
		optional[[]string{"a", "b", "c", "extra", "__proto__"}[f.IntN(5)]] = true
	}
	object := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(optional)) {
		if !required[name] && f.IntN(5) > 1 {
			object[name] = f.value(forKey(applied, name), depth-1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(required)) {
		object[name] = f.value(forKey(applied, name), depth-1)
	}
	return object
}

// forKey returns the schemas for the property of a name.
func forKey(applied []keywords, name string) []any {
	var schemas []any
	for _, s := range applied {
		known := false
		if properties, ok := s["properties"].(keywords); ok {
			if property, ok := properties[name]; ok {
				known = true
				schemas = append(schemas, property)
			}
		}
		if patterns, ok := s["patternProperties"].(keywords); ok {
			for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
				if re, err := regexp.Compile(pattern); err == nil && re.MatchString(name) {
					known = true
					schemas = append(schemas, patterns[pattern])
				}
			}
		}
		if rest, ok := s["additionalProperties"]; ok && !known {
			schemas = append(schemas, rest)
		}
	}
	return schemas
}

func (f follower) array(applied []keywords, depth int) any {
	length := f.IntN(4)
	for _, s := range applied {
		if least := int(number(s["minItems"], 0)); length < least && least < 20 {
			length = least + f.IntN(2)
		}
		if most := int(number(s["maxItems"], 20)); length > most {
			length = max(0, most)
		}
	}
	array := make([]any, length)
	for i := range array {
		var schemas []any
		for _, s := range applied {
			first, _ := s["prefixItems"].([]any)
			rest := s["items"]
			if old, ok := rest.([]any); ok { // of the drafts before 2020-12
				first, rest = old, s["additionalItems"]
			}
			if i < len(first) {
				rest = first[i]
			}
			schemas = append(schemas, rest)
			if i == 0 {
				schemas = append(schemas, s["contains"])
			}
		}
		array[i] = f.value(schemas, depth-1)
	}
	return array
}

func (f follower) scalar(kind string, applied []keywords) any {
	low, high, step, least := -2.0, 12.0, 0.5, 0
	for _, s := range applied {
		low = max(low, number(s["minimum"], low), number(s["exclusiveMinimum"], low))
		high = min(high, number(s["maximum"], high), number(s["exclusiveMaximum"], high))
		step = number(s["multipleOf"], step)
		least = max(least, min(40, int(number(s["minLength"], 0))))
	}
	switch kind {
	case "string":
		text := []string{"", "a", "ab", "é", "🦀", "a b", "*/", `"`}[f.IntN(8)]
		return text + strings.Repeat("a", max(0, least-len([]rune(text))))
	case "integer":
		return int64(low) + f.Int64N(max(1, int64(high-low)+1))
	case "number":
		return low + step*float64(f.IntN(8))
	case "boolean":
		return f.IntN(2) == 0
	case "object":
		return map[string]any{}
	case "array":
		return []any{}
	default:
		return nil
	}
}

// number is the value of a keyword, or other if it has none.
func number(keyword any, other float64) float64 {
	n, ok := keyword.(json.Number)
	if !ok {
		return other
	}
	value, err := n.Float64()
	if err != nil {
		return other
	}
	return value
}
