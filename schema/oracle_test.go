package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	validator "github.com/kaptinlin/jsonschema"
)

// oracle applies a schema with kaptinlin/jsonschema, an independent implementation. Its known faults are left out by inCommon.
func oracle(text []byte) (func(value []byte) (bool, error), error) {
	compiler := validator.NewCompiler()
	compiler.Loaders = map[string]func(string) (io.ReadCloser, error){} // there are some for http and https
	compiled, err := compiler.Compile(text)
	if err != nil {
		return nil, err
	}
	return func(value []byte) (bool, error) {
		var v any
		if err := json.Unmarshal(value, &v); err != nil { // its own decoder refuses a key that stands twice
			return false, err
		}
		return compiled.ValidateStruct(v).IsValid(), nil
	}, nil
}

var (
	// notInCommon are the keywords that the oracle is known to get wrong, or that need what it does not have: it applies
	// content keywords, takes everything for valid below the third level of a recursive schema, and ignores items after
	// the first ones when it looks for equal items.
	notInCommon = regexp.MustCompile(`"(\$\w+|content\w+|uniqueItems|default|id|definitions|dependencies|additionalItems)"\s*:`)
	emptyEnum   = regexp.MustCompile(`"enum"\s*:\s*\[\s*\]`)
	// plainNumber are the numbers that a float64 holds as they are written, or nearly so.
	plainNumber = regexp.MustCompile(`^-?\d{1,9}(\.\d{1,3})?$`)
	anyNumber   = regexp.MustCompile(`-?\d[\d.eE+-]*`)
)

// inCommon reports whether a schema and a value hold only what the oracle is right about.
func inCommon(schema, value []byte) bool {
	if notInCommon.Match(schema) || emptyEnum.Match(schema) || strings.Contains(string(schema), `\`) {
		return false
	}
	if bytes.Contains(schema, []byte(`"unevaluated`)) && bytes.Contains(schema, []byte("true")) {
		return false // it takes the schema true for one that evaluates every property
	}
	for _, text := range [][]byte{schema, value} {
		for _, number := range anyNumber.FindAll(text, -1) {
			if !plainNumber.Match(number) || string(number) == "-0" {
				return false
			}
		}
	}
	return true
}

// compareWithOracle fails if the two validators disagree. It reports whether they were compared.
func compareWithOracle(t *testing.T, text, value []byte) bool {
	t.Helper()
	if !inCommon(text, value) || !json.Valid(value) {
		return false
	}
	s, err := Parse(text)
	if err != nil {
		return false
	}
	check, err := oracle(text)
	if err != nil {
		return false
	}
	want, err := check(value)
	if err != nil {
		return false
	}
	got := s.Validate(value)
	if got != nil && strings.Contains(got.Error(), "cannot be checked") {
		return false
	}
	if (got == nil) != want {
		t.Errorf("schema %s\nvalue %s\nValidate: %v\noracle: valid %v", text, value, got, want)
	}
	return true
}

// TestOracleSuite compares the two validators on the official suite, every schema against every value of its group's file.
func TestOracleSuite(t *testing.T) {
	t.Parallel()
	compared := 0
	for file, groups := range suiteGroups(t, "draft2020-12") {
		if file == "refRemote" {
			continue
		}
		for _, g := range groups {
			text := regexp.MustCompile(`"\$schema"\s*:\s*"[^"]*",?`).ReplaceAll(g.Schema, nil)
			for _, other := range groups {
				for _, test := range other.Tests {
					if compareWithOracle(t, text, test.Data) {
						compared++
					}
				}
			}
		}
	}
	if compared < 10_000 {
		t.Errorf("only %d comparisons were made", compared)
	}
}

// TestOracleRandom compares the two validators on random schemas and values over few names and literals, so that they often
// nearly match.
func TestOracleRandom(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(2_000) {
		r := randomJSON{rand.New(rand.NewPCG(seed, 1))}
		text := []byte(r.schema(3))
		for range 5 {
			if compareWithOracle(t, text, []byte(r.value(3))) {
				compared++
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	if compared < 5_000 {
		t.Errorf("only %d comparisons were made", compared)
	}
}

// randomJSON makes schemas and values.
type randomJSON struct{ *rand.Rand }

func (r randomJSON) oneOf(choices ...string) string { return choices[r.IntN(len(choices))] }

func (r randomJSON) key() string {
	return r.oneOf(`"a"`, `"b"`, `"c"`, `"__proto__"`, `"é"`, `"a"`)
}

// escapedKey is a key in one of the ways to write it.
func (r randomJSON) escapedKey() string {
	return r.oneOf(r.key(), r.key(), `"\u0061"`, `"\u00e9"`, `"\ud83e\udd80"`)
}

func (r randomJSON) scalar() string {
	return r.oneOf(`0`, `1`, `2`, `1.0`, `1.5`, `-3`, `10`, `true`, `false`, `null`, `""`, `"a"`, `"ab"`, `"\u0061b"`, `"é"`, `"🦀🦀"`,
		`"\ud83e\udd80"`, `"\ud83e"`, `"abc"`)
}

func (r randomJSON) value(depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		return r.scalar()
	}
	var parts []string
	for range r.IntN(4) {
		part := r.value(depth - 1)
		parts = append(parts, part)
	}
	if r.IntN(2) == 0 {
		return "[" + strings.Join(parts, r.oneOf(",", " , ")) + "]"
	}
	for i := range parts {
		parts[i] = r.escapedKey() + r.oneOf(":", " : ") + parts[i]
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (r randomJSON) list(make func() string, atLeast int) string {
	var parts []string
	for range atLeast + r.IntN(3) {
		parts = append(parts, make())
	}
	return strings.Join(parts, ",")
}

func (r randomJSON) schema(depth int) string {
	if r.IntN(12) == 0 {
		return r.oneOf("true", "false", "{}")
	}
	sub := func() string { return r.schema(depth - 1) }
	literal := func() string { // no escapes, see inCommon
		return r.oneOf(`0`, `1`, `1.5`, `true`, `null`, `"a"`, `"ab"`, `"é"`, `[1]`, `{"a":1}`)
	}
	entry := func() string { return r.key() + ":" + sub() }
	count := func() string { return fmt.Sprint(r.IntN(4)) }
	number := func() string { return r.oneOf("0", "1", "1.5", "2", "-1") }
	type keyword struct {
		name string
		make func() string
	}
	keywords := []keyword{
		{"type", func() string {
			return r.oneOf(`"object"`, `"array"`, `"string"`, `"number"`, `"integer"`, `"boolean"`, `"null"`, `["object","null"]`,
				`["string","integer"]`, `["array","object"]`)
		}},
		{"enum", func() string { return "[" + r.list(literal, 1) + "]" }},
		{"const", literal},
		{"minimum", number}, {"maximum", number}, {"exclusiveMinimum", number}, {"exclusiveMaximum", number},
		{"multipleOf", func() string { return r.oneOf("1", "2", "0.5", "3") }},
		{"minLength", count}, {"maxLength", count}, {"pattern", func() string { return r.oneOf(`"^a"`, `"b$"`, `"^.{2}$"`) }},
		{"minItems", count}, {"maxItems", count}, {"minProperties", count}, {"maxProperties", count},
		{"required", func() string { return r.oneOf(`["a"]`, `["b"]`, `["a","b"]`, `[]`) }},
		{"dependentRequired", func() string { return r.oneOf(`{"a":["b"]}`, `{"b":["a","c"]}`) }},
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
