package schema

import (
	"strings"
	"testing"
)

func TestApplyDefaults(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, value, want string }{
		{"top level, in the order of the schema", `{"properties":{"a":{"default":1},"b":{"default":"x"},"c":{"default":null}}}`, `{"b":2}`, `{"b":2,"a":1,"c":null}`},
		{"empty object", `{"properties":{"a":{"default":[1, 2]}}}`, `{}`, `{"a":[1,2]}`},
		{"required", `{"properties":{"a":{"default":true}},"required":["a"]}`, `{}`, `{"a":true}`},
		{"nested", `{"properties":{"p":{"properties":{"a":{"default":1}}}}}`, `{"p":{"x":0},"q":1}`, `{"p":{"x":0,"a":1},"q":1}`},
		{"items", `{"items":{"properties":{"a":{"default":1}}}}`, `[{},{"a":2},3]`, `[{"a":1},{"a":2},3]`},
		{"prefixItems", `{"prefixItems":[{},{"properties":{"a":{"default":1}}}]}`, `[{},{},{}]`, `[{},{"a":1},{}]`},
		{"additionalProperties", `{"additionalProperties":{"properties":{"a":{"default":1}}}}`, `{"x":{},"y":{"a":0}}`, `{"x":{"a":1},"y":{"a":0}}`},
		{"a default is completed", `{"properties":{"p":{"default":{},"properties":{"a":{"default":1},"q":{"default":{"z":0},"properties":{"b":{"default":2}}}}}}}`,
			`{}`, `{"p":{"a":1,"q":{"z":0,"b":2}}}`},
		{"exact digits", `{"properties":{"a":{"default":1915883588174806058}}}`, `{"b":0.10000000000000000000001}`,
			`{"b":0.10000000000000000000001,"a":1915883588174806058}`},
		{"__proto__", `{"properties":{"__proto__":{"type":"string","default":"safe"},"constructor":{"type":"string"}}}`, `{"constructor":"c"}`,
			`{"constructor":"c","__proto__":"safe"}`},
		{"escaped key is there", `{"properties":{"a":{"default":1}}}`, `{"\u0061":0}`, `{"\u0061":0}`},
		{"key that needs escapes", `{"properties":{"say \"hi\"":{"default":1}}}`, `{}`, `{"say \"hi\"":1}`},
		{"null is a value", `{"properties":{"a":{"default":1}}}`, `{"a":null}`, `{"a":null}`},
		{"default that does not match", `{"properties":{"a":{"type":"string","default":null},"b":{"type":"string","default":"x"}}}`, `{}`, `{"b":"x"}`},
		{"not behind $ref", `{"properties":{"p":{"$ref":"#/$defs/p"}},"$defs":{"p":{"properties":{"a":{"default":1}}}}}`, `{"p":{}}`, `{"p":{}}`},
		{"not behind anyOf", `{"anyOf":[{"properties":{"a":{"default":1}}}]}`, `{}`, `{}`},
		{"not an object", `{"properties":{"a":{"default":1}}}`, `[1]`, `[1]`},
		{"white space", `{"properties":{"a":{"default":1}}}`, ` { "b" : [ 1 ] } `, `{"b":[1],"a":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := mustParse(t, test.schema).ApplyDefaults([]byte(test.value))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
	s := mustParse(t, `{"properties":{"a":{"default":1}}}`)
	if _, err := s.ApplyDefaults([]byte(`{"b":`)); err == nil {
		t.Error("no error for text that is not JSON")
	} else {
		checkProblems(t, err)
	}
	value := []byte(` {"a" : 2} `)
	if got, err := s.ApplyDefaults(value); err != nil || &got[0] != &value[0] || len(got) != len(value) {
		t.Errorf("a value that lacks nothing comes back as %q, %v", got, err)
	}
	large := mustParse(t, `{"items":{"properties":{"a":{"default":"`+strings.Repeat("x", 1<<20)+`"}}}}`)
	if _, err := large.ApplyDefaults([]byte("[" + strings.Repeat("{},", 10_000) + "{}]")); err == nil || !strings.Contains(err.Error(), "cannot be completed") {
		t.Errorf("10 GB of defaults give %.100v", err)
	}
}

// TestCoerceIntegers is the way back of case C018: integers that a JavaScript number cannot hold come as strings.
func TestCoerceIntegers(t *testing.T) {
	t.Parallel()
	const id = "1915883588174806058"
	tests := []struct{ name, schema, value, want string }{
		{"integer", `{"properties":{"id":{"type":"integer"}}}`, `{"id":"` + id + `"}`, `{"id":` + id + `}`},
		{"number", `{"type":"number"}`, `"-` + id + `"`, `-` + id},
		{"nullable", `{"type":["integer","null"]}`, `"` + id + `"`, id},
		{"string", `{"type":"string"}`, `"` + id + `"`, `"` + id + `"`},
		{"string or integer", `{"type":["integer","string"]}`, `"` + id + `"`, `"` + id + `"`},
		{"no type", `{}`, `"` + id + `"`, `"` + id + `"`},
		{"items", `{"items":{"type":"integer"}}`, `["` + id + `",1,"` + id + `1"]`, `[` + id + `,1,` + id + `1]`},
		{"prefixItems", `{"prefixItems":[{"type":"string"},{"type":"integer"}]}`, `["` + id + `","` + id + `"]`, `["` + id + `",` + id + `]`},
		{"additionalProperties", `{"properties":{"s":{"type":"string"}},"additionalProperties":{"type":"integer"}}`,
			`{"s":"` + id + `","x":"` + id + `"}`, `{"s":"` + id + `","x":` + id + `}`},
		{"behind $ref", `{"properties":{"next":{"$ref":"#"},"id":{"type":"integer"}}}`, `{"next":{"next":{"id":"` + id + `"}}}`, `{"next":{"next":{"id":` + id + `}}}`},
		{"behind an anyOf with null", `{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"` + id + `"`, id},
		{"not behind other anyOfs", `{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"` + id + `"`, `"` + id + `"`},
		{"2^53-1 is safe", `{"type":"integer"}`, `"9007199254740991"`, `"9007199254740991"`},
		{"2^53 prints as it is", `{"type":"integer"}`, `"9007199254740992"`, `"9007199254740992"`},
		{"2^53+1 does not", `{"type":"integer"}`, `"9007199254740993"`, `9007199254740993`},
		{"1e21 has an exponent", `{"type":"integer"}`, `"1000000000000000000000"`, `1000000000000000000000`},
		{"1e20 has none", `{"type":"integer"}`, `"100000000000000000000"`, `"100000000000000000000"`},
		{"leading zero", `{"type":"integer"}`, `"01915883588174806058"`, `"01915883588174806058"`},
		{"plus", `{"type":"integer"}`, `"+` + id + `"`, `"+` + id + `"`},
		{"fraction", `{"type":"number"}`, `"` + id + `.5"`, `"` + id + `.5"`},
		{"digits in a longer string", `{"type":"integer"}`, `"` + id + ` "`, `"` + id + ` "`},
		{"not JSON", `{"type":"integer"}`, `["` + id + `"`, `["` + id + `"`},
		{"deep", `{"items":{"$ref":"#"},"type":["integer","array"]}`, strings.Repeat("[", 5000) + `"` + id + `"` + strings.Repeat("]", 5000),
			strings.Repeat("[", 5000) + id + strings.Repeat("]", 5000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := mustParse(t, test.schema).CoerceIntegers([]byte(test.value)); string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestFillNils(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, value, want string }{
		{"slice", `{"properties":{"a":{"type":"array"}}}`, `{"a":null}`, `{"a":[]}`},
		{"map", `{"properties":{"a":{"type":"object","additionalProperties":{"type":"array"}}}}`, `{"a":null}`, `{"a":{}}`},
		{"slice in a map", `{"additionalProperties":{"type":"array"}}`, `{"a":null,"b":[null]}`, `{"a":[],"b":[null]}`},
		{"bytes", `{"items":{"type":"string","contentEncoding":"base64"}}`, `[null]`, `[""]`},
		{"root", `{"type":"array"}`, `null`, `[]`},
		{"in a recursive type", `{"properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`, `{"kids":[{"kids":null}]}`, `{"kids":[{"kids":[]}]}`},
		{"nullable", `{"type":["array","null"]}`, `null`, `null`},
		{"other string", `{"type":"string"}`, `null`, `null`},
		{"struct", `{"type":"object","required":["a"]}`, `null`, `null`},
		{"a string that says null", `{"items":{"type":"array"}}`, `["null"]`, `["null"]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := mustParse(t, test.schema).FillNils([]byte(test.value)); string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
