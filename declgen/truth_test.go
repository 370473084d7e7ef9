package declgen_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/declgen"
	"github.com/cellmode/cellmode/internal/schematest"
	"github.com/cellmode/cellmode/internal/tscheck"
	"github.com/cellmode/cellmode/schema"
)

// TestTruth: a declaration is true if every value that the schema accepts has the declared type. The test writes such values into
// programs, and the compiler is the judge. The share of the other values that it refuses says how much the types are worth:
// unknown is true as well.
//
// It is one test because the compiler takes seconds to get going.
func TestTruth(t *testing.T) {
	t.Parallel()
	tscheck.Require(t)
	sources := []struct {
		name   string
		claims func(t *testing.T) []claim
		form   string  // that the bounds are about
		types  int     // there have to be at least
		valid  int     // values of them
		share  float64 // of the invalid values that are compile errors
	}{
		{"suite", suiteClaims, "output", 600, 3_000, 0.45},
		{"servers", serverClaims, "output", 280, 1_000, 0.9},
		{"random", randomClaims, "output", 250, 1_000, 0.45},
		{"names", nameClaims, "output", 250, 1_000, 0.45},
		{"discriminated", discriminatedClaims, "selected", 250, 1_000, 0.55},
		{"edges", edgeClaims, "output", 40, 200, 0.45},
	}
	var claims []claim
	made := map[string]bool{}
	for _, source := range sources {
		t.Run(source.name, func(t *testing.T) { // it may have no data, and be skipped
			for _, c := range source.claims(t) {
				c.form = source.name + ", " + c.form
				claims = append(claims, c)
			}
			made[source.name] = true
		})
	}
	tallies := check(t, claims)
	for _, source := range sources {
		n := tallies[source.name+", "+source.form]
		if made[source.name] && (n.types < source.types || n.valid < source.valid || n.share() < source.share) {
			t.Errorf("%s: only %d types with %d values were checked, or only %.2f of the other values are compile errors",
				source.name, n.types, n.valid, n.share())
		}
	}
}

// suiteClaims are about the schemas and the values of the official test suite, and more values that follow the schemas. Schemas
// that refer to another document, which is never loaded, are among them: such a part has to be unknown.
func suiteClaims(t *testing.T) []claim {
	t.Helper()
	var claims []claim
	schemas, deferred := 0, 0
	for _, draft := range []string{"draft2020-12", "draft7"} {
		suite := schematest.Suite(t, draft)
		for _, file := range slices.Sorted(maps.Keys(suite)) {
			for i, g := range suite[file] {
				s := schema.ParseDeferred(g.Text())
				r := rand.New(rand.NewPCG(uint64(i), 5))
				var more [][]byte
				for range 4 {
					more = append(more, schematest.Instance(r, g.Schema))
				}
				in := sort(draft+"/"+file+"/"+g.Description, s, more, s.Validate)
				if s.Err() != nil {
					deferred++
					in.invalid = nil // Validate says so about all values
				}
				for _, test := range g.Tests {
					if test.Valid {
						in.valid = append(in.valid, test.Data)
					} else {
						in.invalid = append(in.invalid, test.Data)
					}
				}
				schemas++
				claims = append(claims, forms(in, fmt.Sprintf("suite%d", schemas), false)...)
			}
		}
	}
	t.Logf("%d schemas, %d of them refer to another document", schemas, deferred)
	return claims
}

// randomClaims are about random schemas with random values, most of which follow the schema.
func randomClaims(t *testing.T) []claim {
	t.Helper()
	var claims []claim
	for seed := range uint64(300) {
		r := schematest.Random{Rand: rand.New(rand.NewPCG(seed, 11))}
		claims = append(claims, randomForms("random", seed, r, strings.NewReplacer(), false)...)
	}
	return claims
}

// nameClaims are about random schemas for properties whose names mean something to TypeScript or to JavaScript.
func nameClaims(t *testing.T) []claim {
	t.Helper()
	names := []string{`"toString"`, `"constructor"`, `"then"`, `"valueOf"`, `"hasOwnProperty"`, `"isPrototypeOf"`, `"length"`, `"prototype"`, `"name"`,
		`"Input"`, `"0"`, `"-1"`, `"1.5"`, `"a-b"`, `"x y"`, `""`}
	var claims []claim
	for seed := range uint64(300) {
		r := schematest.Random{Rand: rand.New(rand.NewPCG(seed, 23))}
		first := r.IntN(len(names))
		rename := strings.NewReplacer(`"a"`, names[first], `"b"`, names[(first+1)%len(names)], `"c"`, names[(first+5)%len(names)])
		claims = append(claims, randomForms("name", seed, r, rename, true)...)
	}
	return claims
}

// randomForms makes the claims about a random schema. It makes none if the schema is not valid. The functions have names with the
// prefix.
func randomForms(prefix string, seed uint64, r schematest.Random, rename *strings.Replacer, settled bool) []claim {
	text := r.Schema(3)
	if seed%2 == 1 {
		text = r.Referring(2)
	}
	text = rename.Replace(text)
	s, err := schema.Parse([]byte(text))
	if err != nil {
		return nil
	}
	var values [][]byte
	for range 4 {
		values = append(values, schematest.Instance(r.Rand, []byte(text)))
	}
	for depth := range 2 {
		values = append(values, []byte(rename.Replace(r.Value(2+depth))))
	}
	return forms(sort(fmt.Sprintf("seed %d", seed), s, values, s.Validate), fmt.Sprint(prefix, seed), settled)
}

// serverClaims are about the schemas of real MCP servers with values that follow them.
func serverClaims(t *testing.T) []claim {
	t.Helper()
	var claims []claim
	servers := schematest.MCPTools(t)
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		for i, tool := range servers[server] {
			for side, text := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
				if text == nil {
					continue
				}
				s, err := schema.Parse(text)
				if err != nil {
					t.Errorf("%s/%s: %v", server, tool.Name, err)
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 13))
				var values [][]byte
				for range 4 {
					values = append(values, schematest.Instance(r, text))
				}
				in := sort(fmt.Sprintf("%s/%s/%d", server, tool.Name, side), s, values, s.Validate)
				claims = append(claims, forms(in, fmt.Sprintf("server%d", len(claims)), false)...)
			}
		}
	}
	return claims
}

// discriminatedClaims say that a literal input selects a type that all results for it have: random branches, with and
// without a root around them.
func discriminatedClaims(t *testing.T) []claim {
	t.Helper()
	input := schema.ParseDeferred([]byte(`{"type":"object","properties":{"op":{"type":"string"},"n":{"type":"number"}}}`))
	var claims []claim
	for seed := range uint64(90) {
		r := schematest.Random{Rand: rand.New(rand.NewPCG(seed, 19))}
		branches := make([]json.RawMessage, 1+r.IntN(3))
		for i := range branches {
			branches[i] = json.RawMessage(r.Schema(2))
		}
		root := map[string]any{"anyOf": branches, schema.DiscriminatorKeyword: map[string]any{
			"version": 1, "inputProperty": "op", "mapping": map[string]any{"a": 0, "b-c": r.IntN(len(branches)), "\"*/": len(branches) - 1},
		}}
		if r.IntN(3) == 0 {
			root["type"] = "object"
			root["properties"] = map[string]json.RawMessage{"a": json.RawMessage(r.Schema(1))}
		}
		text, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Parse(text)
		if err != nil {
			continue
		}
		selector, ok := s.Discriminator()
		if !ok || !selector.Narrow {
			t.Fatalf("seed %d: %s is not narrowed", seed, text)
		}
		for i, value := range append(selector.Values, "other") {
			function := fmt.Sprintf("f%d_%d", seed, i)
			declaration := declgen.Declare(declgen.Function{Name: function, Input: input, Output: s})
			form, alias := "selected", fmt.Sprintf("const call = %s({ op: %q, n: 1 }); type Type = Awaited<typeof call>;", function, value)
			if value == "other" {
				form = "not selected"
			}
			var values [][]byte
			for range 4 {
				values = append(values, schematest.Instance(r.Rand, text))
				if branch, ok := selector.Branch[value]; ok {
					values = append(values, schematest.Instance(r.Rand, branches[branch]))
				}
			}
			in := sort(fmt.Sprintf("seed %d, %s", seed, value), s, values, func(v []byte) error { return s.ValidateFor(v, value) })
			claims = append(claims, claim{in, form, declaration, alias, false})
		}
	}
	return claims
}
