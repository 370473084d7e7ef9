package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/internal/schematest"
)

// shapes is a tagged union with what tagged unions have in the wild: a type beside it, several values for one branch, a
// branch without properties of its own, a nested union.
const shapes = `{"type":"object","oneOf":[
	{"type":"object","properties":{"kind":{"const":"list"},"limit":{"type":"integer","minimum":1,"default":20},"cursor":{"type":["integer","null"]}},
	 "required":["kind"],"additionalProperties":false},
	{"type":"object","properties":{"kind":{"enum":["drop","drop-all"]},"id":{"type":"integer"},"ids":{"type":"array"}},"required":["kind","id"],"additionalProperties":false},
	{"type":"object","properties":{"kind":{"const":"n\u00e9st"},"inner":{"anyOf":[
		{"properties":{"t":{"const":"a"},"n":{"type":"integer","default":1}},"required":["t"]},
		{"properties":{"t":{"const":"b"},"n":{"type":"string","default":"x"}},"required":["t"]},
		{"type":"null"}]}},"required":["kind"],"additionalProperties":false}]}`

func TestTagProblems(t *testing.T) {
	t.Parallel()
	tests := []struct{ schema, value, want string }{
		{shapes, `{"kind":"list","limt":1}`, `$ the property "limt" is not allowed; known are "kind", "limit", "cursor"`},
		{shapes, `{"limit":0,"kind":"list"}`, `$.limit must be at least 1`},
		{shapes, `{"kind":"drop","kind":"list","limit":0}`, `$.limit must be at least 1`},
		{shapes, `{"k\u0069nd":"l\u0069st","limit":0}`, `$.limit must be at least 1`},
		{shapes, `{"kind":"drop-all","limit":2}`, `$ the property "limit" is not allowed; known are "kind", "id", "ids"; $ the required property "id" is missing`},
		{shapes, `{"kind":"delete"}`, `$.kind must be one of "list", "drop", "drop-all", "n\u00e9st"`},
		{shapes, `{"kind":7}`, `$.kind must be one of "list", "drop", "drop-all", "n\u00e9st"`},
		{shapes, `{"limit":3}`, `$ the required property "kind" is missing; it must be one of "list", "drop", "drop-all", "n\u00e9st"`},
		{shapes, `"list"`, `$ must be object, not string`},
		{shapes, `{"kind":"nést","inner":{"t":"a","n":"x"}}`, `$.inner.n must be integer, not string`},
		{shapes, `{"kind":"nést","inner":{"t":"c"}}`, `$.inner.t must be one of "a", "b"`},
		// As pydantic writes it: the tag is not required, because it has a default.
		{`{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}],"$defs":{"A":{"type":"object","properties":{"t":{"const":"a","default":"a"},"n":{"type":"integer"}},"required":["n"]},
			"B":{"type":"object","properties":{"t":{"const":"b","default":"b"},"m":{"type":"integer"}},"required":["m"]}}}`, `{"t":"b","m":"1"}`, `$.m must be integer, not string`},
		// No tags: the same string twice, a branch without the property, a branch of any object, no strings.
		{`{"anyOf":[{"properties":{"t":{"const":"a"}},"required":["x"]},{"properties":{"t":{"enum":["b","a"]}},"required":["y"]}]}`, `{"t":"b"}`,
			`$ matches none of 2 alternatives; the nearest needs: $ the required property "y" is missing`},
		{`{"anyOf":[{"properties":{"t":{"const":"a"}},"required":["x"]},{"minProperties":3}]}`, `{"t":"a"}`,
			`$ matches none of 2 alternatives; the nearest needs: $ the required property "x" is missing`},
		{`{"anyOf":[{"properties":{"t":{"const":1},"u":{"const":"u"}},"required":["t","x"]},{"properties":{"t":{"const":2},"u":{"const":"v"}},"required":["y"]}]}`,
			`{"t":2,"u":"v"}`, `$ the required property "y" is missing`},
	}
	for _, test := range tests {
		err := mustParse(t, test.schema).Validate([]byte(test.value))
		if err == nil || err.Error() != "value does not match the schema: "+test.want {
			t.Errorf("schema %s\nvalue %s\n got %v\nwant %s", test.schema, test.value, err, test.want)
			continue
		}
		checkProblems(t, err)
	}
}

// TestTagRewrites wants defaults and exact integers in the branch that the tag selects, and nothing where none is.
func TestTagRewrites(t *testing.T) {
	t.Parallel()
	s := mustParse(t, shapes)
	for _, test := range []struct{ value, want string }{
		{`{"kind":"list","cursor":"9007199254740993"}`, `{"kind":"list","cursor":9007199254740993,"limit":20}`},
		{`{"cursor":"-1915883588174806058","limit":1e1,"kind":"list"}`, `{"cursor":-1915883588174806058,"limit":10,"kind":"list"}`},
		{`{"kind":"drop","id":"9007199254740993"}`, `{"kind":"drop","id":9007199254740993}`},
		{`{"kind":"nést","inner":{"t":"a"}}`, `{"kind":"nést","inner":{"t":"a","n":1}}`},
		{`{"kind":"nést","inner":{"t":"b","n":"9007199254740993"}}`, `{"kind":"nést","inner":{"t":"b","n":"9007199254740993"}}`},
		{`{"kind":"nést","inner":{"t":"a","n":"9007199254740993"}}`, `{"kind":"nést","inner":{"t":"a","n":9007199254740993}}`},
		{`{"kind":"other","id":"9007199254740993"}`, `{"kind":"other","id":"9007199254740993"}`},
		{`{"id":"9007199254740993"}`, `{"id":"9007199254740993"}`},
		{`{"kind":"list","kind":"drop","id":"9007199254740993"}`, `{"kind":"list","kind":"drop","id":9007199254740993}`},
		{`["9007199254740993"]`, `["9007199254740993"]`},
	} {
		got, err := s.ApplyDefaults(s.CoerceIntegers([]byte(test.value)))
		if err != nil || string(got) != test.want {
			t.Errorf("%s\n got %s, %v\nwant %s", test.value, got, err, test.want)
		}
	}
	if got := s.FillNils([]byte(`{"kind":"drop","id":1,"ids":null}`)); string(got) != `{"kind":"drop","id":1,"ids":[]}` {
		t.Errorf("FillNils gives %s", got)
	}
	// Beside other keywords, more than one schema has a say about what is missing.
	open := mustParse(t, `{"minProperties":1,"anyOf":[{"properties":{"t":{"const":"a"},"n":{"default":1}}}]}`)
	if got, err := open.ApplyDefaults([]byte(`{"t":"a"}`)); err != nil || string(got) != `{"t":"a"}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestTagRandom wants that a value that matches a tagged union matches the branch its tag selects, and that the problems of
// others are those of that branch.
func TestTagRandom(t *testing.T) {
	t.Parallel()
	matched, refused := 0, 0
	for seed := range uint64(1_000) {
		r := schematest.Random{Rand: rand.New(rand.NewPCG(seed, 3))}
		branches := map[string]string{}
		for _, value := range []string{`"a"`, `"ab"`, `"é"`} {
			branch := map[string]json.RawMessage{}
			if text := r.Schema(2); text[0] == '{' {
				if err := json.Unmarshal([]byte(text), &branch); err != nil {
					t.Fatal(err)
				}
			}
			properties := map[string]json.RawMessage{}
			if text, ok := branch["properties"]; ok {
				if err := json.Unmarshal(text, &properties); err != nil {
					t.Fatal(err)
				}
			}
			properties["t"] = json.RawMessage(`{"const":` + value + `}`)
			branch["properties"] = encoded(t, properties)
			branches[value] = string(encoded(t, branch))
		}
		s := mustParse(t, fmt.Sprintf(`{%q:[%s]}`, r.OneOf("anyOf", "oneOf"), strings.Join(slices.Sorted(maps.Values(branches)), ",")))
		for range 10 {
			selected := r.OneOf(`"a"`, `"ab"`, `"é"`)
			value := `{"t":` + strings.TrimSuffix(selected+","+strings.Trim(r.Value(2), "{}[]"), ",") + "}"
			if !json.Valid([]byte(value)) {
				continue
			}
			branch := mustParse(t, branches[selected])
			got, want := s.Validate([]byte(value)), branch.Validate([]byte(value))
			if types := branch.root.types; fmt.Sprint(got) != fmt.Sprint(want) && (types == 0 || types&typeObject != 0) {
				t.Fatalf("seed %d: schema %s\nvalue %s\nin the union: %v\nin the branch: %v", seed, s.Text(), value, got, want)
			}
			if got == nil {
				matched++
			} else {
				refused++
			}
		}
	}
	if matched < 200 || refused < 200 {
		t.Errorf("only %d values matched and %d did not", matched, refused)
	}
}

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTagBounds wants tags to be looked for among few properties and values only, and in a value that nests so that each level is
// read for all levels around it, up to a limit.
func TestTagBounds(t *testing.T) {
	t.Parallel()
	branch := func(candidates, values int, name string) string {
		var properties, enum []string
		for i := range candidates {
			properties = append(properties, fmt.Sprintf(`"p%d":{"const":"same"}`, i))
		}
		for i := range values {
			enum = append(enum, fmt.Sprintf(`"%s%d"`, name, i))
		}
		return `{"properties":{` + strings.Join(append(properties, `"tag":{"enum":[`+strings.Join(enum, ",")+`]}`), ",") + `}}`
	}
	for _, test := range []struct {
		candidates, values int
		found              bool
	}{{3, 8, true}, {4, 8, false}, {0, 9, false}} {
		s := mustParse(t, `{"anyOf":[`+branch(test.candidates, test.values, "a")+`,`+branch(test.candidates, test.values, "b")+`]}`)
		if found := s.root.apply.anyTag; (found != nil) != test.found {
			t.Errorf("%d other candidates, %d values: found %+v", test.candidates, test.values, found)
		}
	}

	s := mustParse(t, `{"anyOf":[{"properties":{"t":{"const":"a"},"n":{"type":"integer"},"child":{"$ref":"#"}}},{"properties":{"t":{"const":"b"}}}]}`)
	for levels, rewritten := range map[int]bool{500: true, 5_000: false} {
		value := strings.Repeat(`{"child":`, levels) + `{"t":"a","n":"9007199254740993"}` + strings.Repeat(`,"t":"a"}`, levels)
		if got := s.CoerceIntegers([]byte(value)); strings.Contains(string(got), `"n":9007199254740993`) != rewritten {
			t.Errorf("%d levels: rewritten is not %v", levels, rewritten)
		}
	}
}
