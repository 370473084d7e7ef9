package declgen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/schema"
)

// randomSchema writes schemas that use everything that this package renders, with names and texts that are made to be hard.
type randomSchema struct {
	*rand.Rand
	names []string
}

func newRandomSchema(seed uint64) *randomSchema {
	return &randomSchema{rand.New(rand.NewPCG(seed, 7)), []string{
		"a", "b", "id", "a-b", "a_b", "toString", "constructor", "__proto__", "$ref", "properties", "\u2028", "😀", "\ufffd", "*/", `"`, "", "name", "zz",
	}}
}

func (r *randomSchema) name() string { return r.names[r.IntN(len(r.names))] }

// whole returns a schema with definitions.
func (r *randomSchema) whole() map[string]any {
	s := r.object(3)
	defs := map[string]any{}
	for _, name := range []string{"Node", "a/b", "😀", "Output"} {
		defs[name] = r.schema(2)
	}
	s["$defs"] = defs
	if r.IntN(4) == 0 {
		s["anyOf"] = []any{r.object(2), r.object(2)}
		s["x-openclaw-input-discriminator"] = map[string]any{"version": 1, "inputProperty": r.name() + "x", "mapping": map[string]any{"list": 0, "drop": 1, r.name(): 1}}
	}
	return s
}

func (r *randomSchema) schema(depth int) any {
	if depth == 0 {
		return []any{true, map[string]any{}, map[string]any{"type": "string"}, map[string]any{"type": []any{"integer", "null"}, "minimum": r.IntN(9), "maximum": 99}}[r.IntN(4)]
	}
	switch r.IntN(11) {
	case 0:
		return map[string]any{"$ref": []string{"#", "#/$defs/Node", "#/$defs/a~1b", "#/$defs/%F0%9F%98%80", "#/$defs/Output"}[r.IntN(5)]}
	case 1:
		return map[string]any{"type": "array", "items": r.schema(depth - 1), "minItems": r.IntN(3)}
	case 2:
		return map[string]any{"prefixItems": []any{r.schema(depth - 1), r.schema(depth - 1)}, "items": r.schema(depth - 1)}
	case 3:
		return map[string]any{"enum": []any{r.name(), r.IntN(5), nil, 1.5, map[string]any{r.name(): 1, r.name(): 2}}, "description": r.name() + "\n" + r.name()}
	case 4:
		return map[string]any{"anyOf": []any{r.schema(depth - 1), r.schema(depth - 1)}}
	case 5:
		return map[string]any{"allOf": []any{r.object(depth - 1), r.object(depth - 1)}, "unevaluatedProperties": false}
	case 6:
		return map[string]any{"const": r.name()}
	case 7:
		return map[string]any{"type": []any{"string", "object"}, "oneOf": []any{r.schema(depth - 1), r.schema(depth - 1)}, "nullable": true}
	case 8:
		return r.IntN(2) == 0
	}
	return r.object(depth - 1)
}

func (r *randomSchema) object(depth int) map[string]any {
	properties := map[string]any{}
	for range r.IntN(7) {
		properties[r.name()] = r.schema(depth)
	}
	s := map[string]any{"properties": properties}
	if r.IntN(5) > 0 {
		s["type"] = "object"
	}
	if r.IntN(3) > 0 {
		s["additionalProperties"] = []any{false, false, r.schema(0)}[r.IntN(3)]
	}
	if r.IntN(2) == 0 {
		s["required"] = []any{"a", "z" + r.name()}
	}
	if r.IntN(6) == 0 {
		s["patternProperties"] = map[string]any{"^x": r.schema(0), "^y": r.schema(0), "z$": r.schema(0)}
	}
	if r.IntN(4) == 0 {
		s["default"] = map[string]any{r.name(): 1, r.name(): []any{2}}
		s["description"] = strings.Repeat(r.name()+" */ ", r.IntN(200))
	}
	return s
}

// shuffled writes JSON with the members of every object in a random order.
func (r *randomSchema) shuffled(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for key, member := range v {
			k, _ := json.Marshal(key)
			members = append(members, string(k)+":"+r.shuffled(member))
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = r.shuffled(v[i])
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestOrderDoesNotMatter renders 1,000 schemas, each twice, with the keywords and properties in another order.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	render := func(s *schema.Schema) string {
		return fmt.Sprint(InputHint(s), OutputHint(s), Declare(Function{Name: "f", Input: s, Output: s}))
	}
	usable, complete := 0, 0
	for seed := range uint64(1_000) {
		r := newRandomSchema(seed)
		whole := r.whole()
		first := schema.ParseDeferred([]byte(r.shuffled(whole)))
		want := render(first)
		if first.Err() == nil {
			usable++
		}
		if OutputHint(first).Complete {
			complete++
		}
		text := r.shuffled(whole)
		if got := render(schema.ParseDeferred([]byte(text))); got != want {
			t.Fatalf("seed %d: two orders of the same schema, one is\n%s\ngot\n%s\nwant\n%s", seed, text, got, want)
		}
	}
	if usable < 500 || complete < 20 {
		t.Errorf("of the schemas, %d can be applied and %d have complete hints: the test looks at too little", usable, complete)
	}
}
