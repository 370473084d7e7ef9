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
	"github.com/cellmode/cellmode/schema"
)

// A declaration is true if every value that the schema accepts has the declared type. These tests write such values into
// programs, and the compiler is the judge. The share of the other values that it refuses says how much the types are worth:
// unknown is true as well.

// TestTruthSuite checks the schemas and the values of the official test suite, and more values that follow the schemas. Schemas
// that refer to another document, which is never loaded, are among them: such a part has to be unknown.
func TestTruthSuite(t *testing.T) {
	t.Parallel()
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
				claims = append(claims, forms(in, fmt.Sprintf("f%d", schemas), false)...)
			}
		}
	}
	t.Logf("%d schemas, %d of them refer to another document", schemas, deferred)
	tallies := check(t, claims)
	if n := tallies["output"]; n.types < 600 || n.valid < 3_000 || n.share() < 0.45 {
		t.Errorf("only %d types with %d values were checked, and %.2f of those that are not valid are compile errors", n.types, n.valid, n.share())
	}
}

// TestTruthRandom checks random schemas with random values, most of which follow the schema.
func TestTruthRandom(t *testing.T) {
	t.Parallel()
	var claims []claim
	for seed := range uint64(300) {
		r := schematest.Random{Rand: rand.New(rand.NewPCG(seed, 11))}
		claims = append(claims, randomForms(seed, r, strings.NewReplacer(), false)...)
	}
	tallies := check(t, claims)
	if n := tallies["output"]; n.valid < 1_000 || n.share() < 0.45 {
		t.Errorf("only %d values were checked, and %.2f of those that are not valid are compile errors", n.valid, n.share())
	}
}

// TestTruthNames does the same with properties whose names mean something to TypeScript or to JavaScript.
func TestTruthNames(t *testing.T) {
	t.Parallel()
	names := []string{`"toString"`, `"constructor"`, `"then"`, `"valueOf"`, `"hasOwnProperty"`, `"isPrototypeOf"`, `"length"`, `"prototype"`, `"name"`,
		`"Input"`, `"0"`, `"-1"`, `"1.5"`, `"a-b"`, `"x y"`, `""`}
	var claims []claim
	for seed := range uint64(300) {
		r := schematest.Random{Rand: rand.New(rand.NewPCG(seed, 23))}
		first := r.IntN(len(names))
		rename := strings.NewReplacer(`"a"`, names[first], `"b"`, names[(first+1)%len(names)], `"c"`, names[(first+5)%len(names)])
		claims = append(claims, randomForms(seed, r, rename, true)...)
	}
	tallies := check(t, claims)
	if n := tallies["output"]; n.valid < 1_000 || n.share() < 0.45 {
		t.Errorf("only %d values were checked, and %.2f of those that are not valid are compile errors", n.valid, n.share())
	}
}

// randomForms makes the claims about a random schema. It makes none if the schema is not valid.
func randomForms(seed uint64, r schematest.Random, rename *strings.Replacer, settled bool) []claim {
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
	return forms(sort(fmt.Sprintf("seed %d", seed), s, values, s.Validate), fmt.Sprintf("f%d", seed), settled)
}

// TestTruthMCP checks the schemas of real MCP servers with values that follow them.
func TestTruthMCP(t *testing.T) {
	t.Parallel()
	var claims []claim
	servers := schematest.MCPTools(t)
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		for i, tool := range servers[server] {
			for side, text := range map[string]json.RawMessage{"input": tool.InputSchema, "output": tool.OutputSchema} {
				if text == nil {
					continue
				}
				s, err := schema.Parse(text)
				if err != nil {
					t.Errorf("%s/%s: %s: %v", server, tool.Name, side, err)
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 13))
				var values [][]byte
				for range 4 {
					values = append(values, schematest.Instance(r, text))
				}
				in := sort(server+"/"+tool.Name+"/"+side, s, values, s.Validate)
				claims = append(claims, forms(in, fmt.Sprintf("f%d", len(claims)), false)...)
			}
		}
	}
	tallies := check(t, claims)
	if n := tallies["output"]; n.types < 280 || n.valid < 1_000 || n.share() < 0.9 {
		t.Errorf("only %d types with %d values were checked, and %.2f of those that are not valid are compile errors", n.types, n.valid, n.share())
	}
}

// TestTruthDiscriminated checks that a literal input selects a type that all results for it have: random branches, with and
// without a root around them.
func TestTruthDiscriminated(t *testing.T) {
	t.Parallel()
	input := schema.ParseDeferred([]byte(`{"type":"object","properties":{"op":{"type":"string"},"n":{"type":"number"}}}`))
	var claims []claim
	narrowed := 0
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
		narrowed++
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
	tallies := check(t, claims)
	if n := tallies["selected"]; narrowed < 80 || n.valid < 1_000 || n.share() < 0.55 {
		t.Errorf("only %d schemas with %d values were checked, and %.2f of those that are not valid are compile errors", narrowed, n.valid, n.share())
	}
}
