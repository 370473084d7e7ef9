package schematest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Random makes schemas and values.
type Random struct {
	*rand.Rand
	references []string // what a schema may refer to
}

// OneOf picks one of some texts.
func (r Random) OneOf(choices ...string) string { return choices[r.IntN(len(choices))] }

func (r Random) key() string {
	return r.OneOf(`"a"`, `"b"`, `"c"`, `"__proto__"`, `"é"`, `"a"`)
}

// escapedKey is a key in one of the ways to write it.
func (r Random) escapedKey() string {
	return r.OneOf(r.key(), r.key(), `"\u0061"`, `"\u00e9"`, `"\ud83e\udd80"`)
}

func (r Random) scalar() string {
	return r.OneOf(`0`, `1`, `2`, `1.0`, `1.5`, `-3`, `10`, `true`, `false`, `null`, `""`, `"a"`, `"ab"`, `"\u0061b"`, `"é"`, `"🦀🦀"`,
		`"\ud83e\udd80"`, `"\ud83e"`, `"abc"`)
}

// Value returns JSON text of at most depth levels below the first.
func (r Random) Value(depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		return r.scalar()
	}
	var parts []string
	for range r.IntN(4) {
		part := r.Value(depth - 1)
		parts = append(parts, part)
	}
	if r.IntN(2) == 0 {
		return "[" + strings.Join(parts, r.OneOf(",", " , ")) + "]"
	}
	for i := range parts {
		parts[i] = r.escapedKey() + r.OneOf(":", " : ") + parts[i]
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (r Random) list(make func() string, atLeast int) string {
	var parts []string
	for range atLeast + r.IntN(3) {
		parts = append(parts, make())
	}
	return strings.Join(parts, ",")
}

// Schema returns a schema with at most depth levels of schemas below the first. It refers to nothing.
func (r Random) Schema(depth int) string {
	if len(r.references) > 0 && r.IntN(4) == 0 {
		return `{"$ref":"` + r.OneOf(r.references...) + `"}`
	}
	if r.IntN(12) == 0 {
		return r.OneOf("true", "false", "{}")
	}
	sub := func() string { return r.Schema(depth - 1) }
	literal := func() string { // no escapes, see inCommon
		return r.OneOf(`0`, `1`, `1.5`, `true`, `null`, `"a"`, `"ab"`, `"é"`, `[1]`, `{"a":1}`)
	}
	entry := func() string { return r.key() + ":" + sub() }
	count := func() string { return fmt.Sprint(r.IntN(4)) }
	number := func() string { return r.OneOf("0", "1", "1.5", "2", "-1") }
	type keyword struct {
		name string
		make func() string
	}
	keywords := []keyword{
		{"type", func() string {
			return r.OneOf(`"object"`, `"array"`, `"string"`, `"number"`, `"integer"`, `"boolean"`, `"null"`, `["object","null"]`,
				`["string","integer"]`, `["array","object"]`)
		}},
		{"enum", func() string { return "[" + r.list(literal, 1) + "]" }},
		{"const", literal},
		{"minimum", number}, {"maximum", number}, {"exclusiveMinimum", number}, {"exclusiveMaximum", number},
		{"multipleOf", func() string { return r.OneOf("1", "2", "0.5", "3") }},
		{"minLength", count}, {"maxLength", count}, {"pattern", func() string { return r.OneOf(`"^a"`, `"b$"`, `"^.{2}$"`) }},
		{"minItems", count}, {"maxItems", count}, {"minProperties", count}, {"maxProperties", count},
		{"required", func() string { return r.OneOf(`["a"]`, `["b"]`, `["a","b"]`, `[]`) }},
		{"dependentRequired", func() string { return r.OneOf(`{"a":["b"]}`, `{"b":["a","c"]}`) }},
	}
	if depth > 0 {
		keywords = append(keywords, []keyword{
			{"properties", func() string { return "{" + uniqueEntries(r.list(entry, 1)) + "}" }},
			{"properties", func() string { return "{" + uniqueEntries(r.list(entry, 1)) + "}" }},
			{"patternProperties", func() string { return `{"^[ab]":` + sub() + "}" }},
			{"additionalProperties", sub}, {"additionalProperties", func() string { return "false" }},
			{"unevaluatedProperties", func() string { return "false" }}, {"unevaluatedItems", func() string { return "false" }},
			{"propertyNames", sub}, {"items", sub}, {"contains", sub},
			{"prefixItems", func() string { return "[" + r.list(sub, 1) + "]" }},
			{"allOf", func() string { return "[" + r.list(sub, 1) + "]" }}, {"anyOf", func() string { return "[" + r.list(sub, 1) + "]" }},
			{"oneOf", func() string { return "[" + r.list(sub, 1) + "]" }}, {"not", sub},
			{"if", sub}, {"then", sub}, {"else", sub}, {"dependentSchemas", func() string { return `{"a":` + sub() + "}" }},
		}...)
	}
	var parts []string
	used := map[string]bool{}
	for range 1 + r.IntN(4) {
		k := keywords[r.IntN(len(keywords))]
		if !used[k.name] {
			used[k.name] = true
			parts = append(parts, fmt.Sprintf("%q:%s", k.name, k.make()))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// uniqueEntries drops entries whose key stands twice, by decoding and encoding.
func uniqueEntries(entries string) string {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte("{"+entries+"}"), &m); err != nil {
		panic(err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(text), "{"), "}")
}

// Referring returns a schema with definitions, to which its parts refer, and which refer to themselves and each other. Some
// are not valid, as a schema may refer to itself without getting to a part of the value.
func (r Random) Referring(depth int) string {
	r.references = []string{"#/$defs/A", "#/$defs/B", "#/$defs/A", "#"}
	definition := func() string {
		return fmt.Sprintf(`{"type":"object","properties":{"a":%s,"b":%s,"c":{"type":"array","items":%s}},"required":["b"]}`,
			r.Schema(1), r.Schema(1), r.Schema(1))
	}
	return fmt.Sprintf(`{"$defs":{"A":%s,"B":%s},"allOf":[%s]}`, definition(), definition(), r.Schema(depth))
}
