package schema

import (
	"strings"
	"testing"
)

func TestVariants(t *testing.T) {
	t.Parallel()
	list := mustParse(t, `{"type":"object","properties":{"rows":{"type":"array"}},"required":["rows"]}`)
	gone := mustParse(t, `{"type":"object","properties":{"gone":{"type":"boolean"}},"required":["gone"]}`)
	goneAgain := mustParse(t, string(gone.Text()))
	s, err := Variants("op", Variant{"list", list}, Variant{"drop-all", gone}, Variant{"drop", goneAgain}, Variant{"find", list})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"anyOf":[` + string(list.Text()) + `,` + string(gone.Text()) + `],"x-openclaw-input-discriminator":` +
		`{"version":1,"inputProperty":"op","mapping":{"list":0,"drop-all":1,"drop":1,"find":0}}}`
	if got := string(s.Text()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for value, valid := range map[string]bool{`{"rows":[]}`: true, `{"gone":true}`: true, `{"gone":1}`: false} {
		if err := s.Validate([]byte(value)); (err == nil) != valid {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestVariantsKeepReferences wants the references inside of a branch to lead where they led before.
func TestVariantsKeepReferences(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, branch, want string }{
		{"root", `{"properties":{"next":{"$ref":"#"}}}`, `{"properties":{"next":{"$ref":"#/anyOf/1"}}}`},
		{"definition", `{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"object"}}}`, `{"$ref":"#/anyOf/1/$defs/a~1b","$defs":{"a/b":{"type":"object"}}}`},
		{"anchor", `{"$ref":"#a","$defs":{"x":{"$anchor":"a"}}}`, `{"$ref":"#a","$defs":{"x":{"$anchor":"a"}}}`},
		{"property of that name", `{"properties":{"$ref":{"const":"#"}}}`, `{"properties":{"$ref":{"const":"#"}}}`},
		{"data", `{"const":{"$ref":"#"},"default":{"$ref":"#"}}`, `{"const":{"$ref":"#"},"default":{"$ref":"#"}}`},
		{"id", `{"$id":"http://x/y","properties":{"next":{"$ref":"#"}}}`, `{"$id":"http://x/y","properties":{"next":{"$ref":"#"}}}`},
		{"inner id", `{"properties":{"a":{"$id":"http://x/y","items":{"$ref":"#"}},"b":{"$ref":"#"}}}`,
			`{"properties":{"a":{"$id":"http://x/y","items":{"$ref":"#"}},"b":{"$ref":"#/anyOf/1"}}}`},
		{"declared draft", `{"$schema":"https://json-schema.org/draft/2020-12/schema"}`, `{}`},
		{"boolean", `false`, `false`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := Variants("op", Variant{"a", mustParse(t, `{"type":"null"}`)}, Variant{"b", mustParse(t, test.branch)})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(s.Text()); !strings.HasPrefix(got, `{"anyOf":[{"type":"null"},`+test.want+`],`) {
				t.Errorf("got %s, want the branch %s", got, test.want)
			}
		})
	}
}

func TestVariantsOfAnOlderDraft(t *testing.T) {
	t.Parallel()
	old := mustParse(t, `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`)
	s, err := Variants("op", Variant{"a", old})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate([]byte(`["x"]`)); err != nil {
		t.Error(err)
	}
	if s.Validate([]byte(`[1]`)) == nil || s.Validate([]byte(`["x",1]`)) == nil {
		t.Errorf("%s has lost its draft", s.Text())
	}
}

func TestVariantsRefuses(t *testing.T) {
	t.Parallel()
	any := mustParse(t, `{}`)
	old := mustParse(t, `{"$schema":"http://json-schema.org/draft-07/schema#"}`)
	for _, test := range []struct {
		property string
		variants []Variant
		want     string
	}{
		{"", []Variant{{"a", any}}, "input property"},
		{"op", nil, `no variants for "op"`},
		{"op", []Variant{{"a", any}, {"", any}}, `"" of "op" has no value`},
		{"\xff", []Variant{{"a", any}}, "input property"},
		{"op", []Variant{{"\xff", any}}, "is not valid UTF-8"},
		{"op", []Variant{{"a", any}, {"b", nil}}, `"b" of "op" has no schema`},
		{"op", []Variant{{"a", any}, {"b", any}, {"a", any}}, `"a" of "op" stands twice`},
		{"op", []Variant{{"a", any}, {"b", old}}, `"b" of "op" has a schema of another draft`},
		{"op", []Variant{{"a", mustParse(t, `{"$anchor":"x","title":"1"}`)}, {"b", mustParse(t, `{"$anchor":"x"}`)}}, "stands twice"},
	} {
		if s, err := Variants(test.property, test.variants...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, %v, want an error with %q", s, err, test.want)
		}
	}
}
