package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// recordsSchema is the one of case C026.
const recordsSchema = `{"type":"object","properties":{"owner":{"const":"me"}},"required":["owner"],
	"anyOf":[{"type":"object","properties":{"rows":{"type":"array","items":{"type":"string"}}},"required":["rows"]},
	         {"type":"object","properties":{"gone":{"type":"boolean"}},"required":["gone"]}],
	"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"list":0,"drop":1,"find":0}}}`

func TestDiscriminator(t *testing.T) {
	t.Parallel()
	d, ok := mustParse(t, recordsSchema).Discriminator()
	if !ok || d.InputProperty != "op" || !slices.Equal(d.Values, []string{"list", "drop", "find"}) || len(d.Branch) != 3 ||
		d.Branch["list"] != 0 || d.Branch["drop"] != 1 || d.Branch["find"] != 0 || d.Branches != 2 || !d.Narrow {
		t.Errorf("got %+v, %v", d, ok)
	}
	if d, ok := mustParse(t, `{"anyOf":[{}]}`).Discriminator(); ok {
		t.Errorf("a schema without the annotation gives %+v", d)
	}
	s := mustParse(t, recordsSchema)
	d, _ = s.Discriminator()
	d.Branch["list"], d.Values[0] = 1, "x"
	if again, _ := s.Discriminator(); again.Branch["list"] != 0 || again.Values[0] != "list" {
		t.Error("a change of what Discriminator returned changed the schema")
	}
}

// TestDiscriminatorMalformed is case C025: what cannot be applied is no schema.
func TestDiscriminatorMalformed(t *testing.T) {
	t.Parallel()
	const branches = `"anyOf":[{"type":"object"},{"type":"null"}],`
	annotation := func(members string) string {
		return `{` + branches + `"x-openclaw-input-discriminator":{` + members + `}}`
	}
	tests := []struct{ name, schema, path string }{
		{"null", `{` + branches + `"x-openclaw-input-discriminator":null}`, ""},
		{"string", `{` + branches + `"x-openclaw-input-discriminator":"op"}`, ""},
		{"array", `{` + branches + `"x-openclaw-input-discriminator":[]}`, ""},
		{"true", `{` + branches + `"x-openclaw-input-discriminator":true}`, ""},
		{"empty", annotation(``), "/version"},
		{"no version", annotation(`"inputProperty":"op","mapping":{"a":0}`), "/version"},
		{"version 2", annotation(`"version":2,"inputProperty":"op","mapping":{"a":0}`), "/version"},
		{"version 1.5", annotation(`"version":1.5,"inputProperty":"op","mapping":{"a":0}`), "/version"},
		{"version as text", annotation(`"version":"1","inputProperty":"op","mapping":{"a":0}`), "/version"},
		{"no property", annotation(`"version":1,"mapping":{"a":0}`), "/inputProperty"},
		{"empty property", annotation(`"version":1,"inputProperty":"","mapping":{"a":0}`), "/inputProperty"},
		{"property is no string", annotation(`"version":1,"inputProperty":["op"],"mapping":{"a":0}`), "/inputProperty"},
		{"no mapping", annotation(`"version":1,"inputProperty":"op"`), "/mapping"},
		{"mapping is a list", annotation(`"version":1,"inputProperty":"op","mapping":[0]`), "/mapping"},
		{"mapping is null", annotation(`"version":1,"inputProperty":"op","mapping":null`), "/mapping"},
		{"empty mapping", annotation(`"version":1,"inputProperty":"op","mapping":{}`), "/mapping"},
		{"negative", annotation(`"version":1,"inputProperty":"op","mapping":{"a":-1}`), "/mapping/a"},
		{"fraction", annotation(`"version":1,"inputProperty":"op","mapping":{"a":1.5}`), "/mapping/a"},
		{"out of range", annotation(`"version":1,"inputProperty":"op","mapping":{"a":0,"b":2}`), "/mapping/b"},
		{"far out of range", annotation(`"version":1,"inputProperty":"op","mapping":{"a/b":1e99}`), "/mapping/a~1b"},
		{"index as text", annotation(`"version":1,"inputProperty":"op","mapping":{"a":"0"}`), "/mapping/a"},
		{"index null", annotation(`"version":1,"inputProperty":"op","mapping":{"a":null}`), "/mapping/a"},
		{"no anyOf", `{"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`, ""},
		{"oneOf", `{"oneOf":[{}],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`, ""},
		{"empty anyOf beside a $ref that hides it", `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","anyOf":[],
			"definitions":{"a":{}},"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`, ""},
	}
	for _, test := range tests {
		_, err := Parse([]byte(test.schema))
		refusal, ok := errors.AsType[*ParseError](err)
		if want := "#/" + DiscriminatorKeyword + test.path; !ok || refusal.Path != want || refusal.Reason == "" {
			t.Errorf("%s: got %v, want an error at %s", test.name, err, want)
		}
	}
	for _, text := range []string{
		// The rest of the schema is checked in full, the branches that are never selected included.
		`{"anyOf":[],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`,
		`{"anyOf":[{},{"type":"sting"}],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`,
		`{"anyOf":[{},{"$ref":"#/$defs/Missing"}],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`,
		`{"anyOf":[{},{"pattern":"("}],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`,
		`{"allOf":{},"anyOf":[{}],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`,
	} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("Parse accepts %s", text)
		}
	}
	for _, text := range []string{
		annotation(`"version":1.0,"inputProperty":"op","mapping":{"a":1.0,"":0},"note":"unknown members are fine"`),
		`{"properties":{"a":{"x-openclaw-input-discriminator":0}},"items":{"anyOf":[{}],"x-openclaw-input-discriminator":{}}}`,
		`{"properties":{"x-openclaw-input-discriminator":{"type":"string"}},"default":{"x-openclaw-input-discriminator":0}}`,
	} {
		mustParse(t, text)
	}
}

// validity is what ValidateFor must say about a value.
type validity struct {
	inputValue, value string
	valid             bool
}

func checkValidateFor(t *testing.T, s *Schema, checks []validity) {
	t.Helper()
	for _, c := range checks {
		err := s.ValidateFor([]byte(c.value), c.inputValue)
		if err != nil {
			checkProblems(t, err)
		}
		if (err == nil) != c.valid {
			t.Errorf("%s for %q: %v", c.value, c.inputValue, err)
		}
	}
}

func TestValidateForC026(t *testing.T) {
	t.Parallel()
	checkValidateFor(t, mustParse(t, recordsSchema), []validity{
		{"list", `{"owner":"me","rows":["a"]}`, true},
		{"list", `{"owner":"me","gone":true}`, false},
		{"list", `{"rows":["a"]}`, false},
		{"find", `{"owner":"me","gone":true}`, false},
		{"drop", `{"owner":"me","gone":true}`, true},
		{"drop", `{"owner":"me","rows":["a"]}`, false},
		{"drop", `{"owner":"me","rows":["a"],"gone":false}`, true},
		{"", `{"owner":"me","gone":true}`, true},
		{"other", `{"owner":"me","rows":["a"]}`, true},
		{"other", `{"owner":"me","rows":[1]}`, false},
		{"other", `{"owner":"me"}`, false},
		{"other", `{"rows":["a"]}`, false},
	})
	referring := mustParse(t, `{"type":"object","properties":{"owner":{"const":"me"}},"required":["owner"],
		"$defs":{"list":{"properties":{"rows":{"type":"array","items":{"type":"string"}}},"required":["rows"]},
		         "drop":{"properties":{"gone":{"type":"boolean"}},"required":["gone"]}},
		"anyOf":[{"$ref":"#/$defs/list"},{"$ref":"#/$defs/drop"}],
		"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"list":0,"drop":1}}}`)
	checkValidateFor(t, referring, []validity{
		{"list", `{"owner":"me","gone":true}`, true},
		{"list", `{"rows":["a"]}`, false},
	})
	recursive := mustParse(t, `{"anyOf":[{"type":"object","properties":{"child":{"$ref":"#"}},"required":["child"]},{"type":"null"}],
		"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"tree":0}}}`)
	checkValidateFor(t, recursive, []validity{{"tree", `{"child":{"child":null}}`, true}, {"tree", `{"child":1}`, false}})
	for name, s := range map[string]*Schema{"references": referring, "recursive": recursive} {
		if d, ok := s.Discriminator(); !ok || d.Narrow {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestDiscriminatorNarrow(t *testing.T) {
	t.Parallel()
	const tail = `],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`
	nested := func(levels int) string {
		return strings.Repeat(`{"items":`, levels) + `{}` + strings.Repeat(`}`, levels)
	}
	wide := func(properties int) string {
		var b strings.Builder
		for i := range properties {
			fmt.Fprintf(&b, `,"p%d":{}`, i)
		}
		return `{"properties":{` + b.String()[1:] + `}}`
	}
	tests := []struct {
		name, schema string
		narrow       bool
	}{
		{"plain", `{"anyOf":[{"type":"object"}` + tail, true},
		{"booleans", `{"anyOf":[true,false` + tail, true},
		{"property named $ref", `{"anyOf":[{"properties":{"$ref":{"type":"string"},"$dynamicRef":{}},"required":["$ref"]}` + tail, true},
		{"data", `{"anyOf":[{"default":{"$ref":"#"},"examples":[{"$ref":"#"}],"enum":[{"$ref":"#"}],"const":{"$recursiveRef":"#"}}` + tail, true},
		{"annotation", `{"anyOf":[{"x-note":{"$ref":"#"}}` + tail, true},
		{"reference in a branch", `{"$defs":{"a":{}},"anyOf":[{"properties":{"x":{"$ref":"#/$defs/a"}}}` + tail, false},
		{"reference beside the branches", `{"$defs":{"a":{}},"allOf":[{"$ref":"#/$defs/a"}],"anyOf":[{}` + tail, false},
		{"reference in a definition", `{"$defs":{"a":{"$ref":"#"}},"anyOf":[{}` + tail, false},
		{"reference under not", `{"$defs":{"a":{}},"anyOf":[{"not":{"propertyNames":{"$ref":"#/$defs/a"}}}` + tail, false},
		{"dynamic reference", `{"$dynamicAnchor":"x","anyOf":[{"items":{"$dynamicRef":"#x"}}` + tail, false},
		{"recursive reference", `{"$schema":"https://json-schema.org/draft/2019-09/schema","anyOf":[{"items":{"$recursiveRef":"#"}}` + tail, false},
		{"meta-schema", `{"anyOf":[{"$ref":"https://json-schema.org/draft/2020-12/schema"}` + tail, false},
		{"draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}},"anyOf":[{"items":[{}]}` + tail, true},
		{"draft-07 with a reference", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}},"anyOf":[{"items":[{"$ref":"#"}]}` + tail, false},
		{"64 levels", `{"anyOf":[` + nested(63) + tail, true},
		{"65 levels", `{"anyOf":[` + nested(64) + tail, false},
		{"500 levels", `{"anyOf":[` + nested(500) + tail, false},
		{"4,096 schemas", `{"anyOf":[` + wide(4_094) + tail, true},
		{"4,097 schemas", `{"anyOf":[` + wide(4_095) + tail, false},
		{"5,000 properties", `{"anyOf":[` + wide(5_000) + tail, false},
	}
	for _, test := range tests {
		if d, ok := mustParse(t, test.schema).Discriminator(); !ok || d.Narrow != test.narrow {
			t.Errorf("%s: Narrow is %v, %v", test.name, d.Narrow, ok)
		}
	}
}

// TestValidateForKeepsTheRoot wants everything beside the branches to hold too, and the branch to count as evaluated.
func TestValidateForKeepsTheRoot(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{"properties":{"owner":{}},"allOf":[{"properties":{"tag":{"maxLength":2}}}],"minProperties":2,
		"anyOf":[{"properties":{"rows":{"type":"array"}},"required":["rows"]},
		         {"properties":{"gone":{"type":"boolean"}},"required":["gone"]},
		         {"properties":{"extra":{"type":"integer"}}}],
		"unevaluatedProperties":false,
		"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"list":0,"drop":1}}}`)
	checkValidateFor(t, s, []validity{
		{"list", `{"owner":1,"rows":[]}`, true},
		{"list", `{"owner":1,"rows":[],"tag":"ab"}`, true},
		{"list", `{"owner":1,"rows":[],"tag":"abc"}`, false},
		{"list", `{"rows":[]}`, false},
		{"list", `{"owner":1,"rows":[],"extra":1}`, true}, // the anyOf has evaluated extra
		{"list", `{"owner":1,"rows":[],"extra":"x"}`, false},
		{"list", `{"owner":1,"rows":[],"gone":true}`, true},
		{"list", `{"owner":1,"rows":[],"gone":1}`, false},
		{"list", `{"owner":1,"extra":1}`, false},
		{"drop", `{"owner":1,"rows":[]}`, false},
		{"none", `{"owner":1,"extra":1}`, true},
	})
}

// TestValidateForProblems wants the problems of the selected branch, and no word about the others.
func TestValidateForProblems(t *testing.T) {
	t.Parallel()
	send := mustParse(t, `{"anyOf":[
		{"type":"object","properties":{"status":{"type":"string"},"reply":{"type":"string"}},"required":["status","reply"],"additionalProperties":false},
		{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"}}}}},"required":["items"]}],
		"unevaluatedProperties":false,
		"x-openclaw-input-discriminator":{"version":1,"inputProperty":"action","mapping":{"send":0,"list":1}}}`)
	for _, test := range []struct{ inputValue, value, want string }{
		{"send", `{"status":"ok","message":"secret text"}`, // case C023
			`$ the property "message" is not allowed; known are "status", "reply"; $ the required property "reply" is missing`},
		{"list", `{"items":[{"id":1},{"id":"x"}]}`, `$.items[1].id must be integer, not string`},
		{"list", `[]`, `$ must be object, not array`},
		{"list", `{"items":[],"reply":"x"}`, `$ the property "reply" is not allowed`},
	} {
		err := send.ValidateFor([]byte(test.value), test.inputValue)
		if err == nil || err.Error() != "value does not match the schema: "+test.want {
			t.Errorf("%s for %q:\n got %v\nwant %s", test.value, test.inputValue, err, test.want)
		}
	}
}
