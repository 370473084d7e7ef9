package schema

import "testing"

// TestCases are schemas that users of other systems had trouble with, with values that match and values that do not. The
// numbers are those of the field cases.
func TestCases(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema string
		good, bad    []string
	}{
		{"C029 comment ends in text",
			`{"type":"object","properties":{"spec":{"type":"string","description":"*/5 * * * *"}},"required":["spec"]}`,
			[]string{`{"spec":"*/5 * * * *"}`}, []string{`{}`}},
		{"C030 property names that are not identifiers",
			`{"type":"object","properties":{"filter[bundleId]":{"type":"string"},"page[size]":{},"projects.any":{},"Account Number":{},"$schema":{},
			  "9lives":{},"say \"hi\"":{},"back\\slash":{},"":{"type":"string"},"名前":{"type":"string"},"a-b":{"type":"string"},"a_b":{"type":"number"}},
			  "required":["filter[bundleId]","a-b"],"additionalProperties":false}`,
			[]string{`{"filter[bundleId]":"x","a-b":"y","a_b":1,"":"e","名前":"n","say \"hi\"":1,"back\\slash":2}`},
			[]string{`{"filter[bundleId]":"x","a-b":1}`, `{"a-b":"x"}`, `{"filter[bundleId]":"x","a-b":"y","A-b":1}`}},
		{"C031 property names that are keywords",
			`{"type":"object","properties":{"type":{"type":"string"},"title":{"type":"string"},"description":{},"required":{},"definitions":{},
			  "properties":{"type":"object","additionalProperties":{"type":"string"}},"$ref":{"type":"string"},"enum":{},"default":{},"items":{}},
			  "required":["title","properties","$ref"],"additionalProperties":false}`,
			[]string{`{"title":"t","properties":{"a":"b"},"$ref":"main"}`}, []string{`{"title":"t","properties":{"a":1},"$ref":"main"}`, `{"title":"t"}`}},
		{"C034 null beside an enum",
			`{"properties":{"a":{"type":["string","null"],"enum":["x","y",null]},"b":{"type":["string","null"],"enum":["x","y"]},
			  "reason":{"enum":["Order won't fit","say \"hi\"","back\\slash","line\nbreak","\u2028","*/",1,1.5,true,null]}}}`,
			[]string{`{"a":null,"b":"x"}`, `{"reason":"\u2028"}`, `{"reason":1.50}`, `{"reason":"line\u000abreak"}`},
			[]string{`{"a":"x","b":null}`, `{"reason":"order won't fit"}`}},
		{"C035 named and other properties",
			`{"type":"object","properties":{"labels":{"type":"object","additionalProperties":{"type":"string"}},
			  "limits":{"type":"object","properties":{"cpu":{"type":"string"}},"required":["cpu"],"additionalProperties":{"type":"number"}}},
			  "required":["labels"],"additionalProperties":false}`,
			[]string{`{"labels":{"env":"prod"},"limits":{"cpu":"2","mem":4}}`}, []string{`{"labels":{"env":1}}`, `{"labels":{},"limits":{"cpu":"2","mem":"4"}}`}},
		{"C037 references to odd names",
			`{"properties":{"n":{"$ref":"#/$defs/a~1b~0c"},"p":{"$ref":"#/$defs/Page%5BItem%5D"},"e":{"$ref":"#/$defs/"},"u":{"$ref":"#/$defs/%E5%90%8D"},
			  "statusFilter":{"type":"array","items":{"$ref":"#/properties/status"}},"status":{"enum":["open","done"]},
			  "query_model":{"$ref":"#/$defs/ListArgs","description":"filter"}},
			  "$defs":{"a/b~c":{"type":"integer"},"Page[Item]":{"type":"string"},"":{"type":"boolean"},"名":{"type":"null"},
			  "ListArgs":{"properties":{"query":{"type":"string","default":null},"limit":{"type":"integer","default":20}}}}}`,
			[]string{`{"n":1,"p":"x","e":true,"u":null}`, `{"statusFilter":["open"]}`, `{"query_model":{"query":"oncall","limit":5}}`},
			[]string{`{"n":"1"}`, `{"p":1}`, `{"e":null}`, `{"u":true}`, `{"statusFilter":["x"]}`, `{"query_model":{"limit":"5"}}`}},
		{"C039 alternatives without properties",
			`{"type":"object","anyOf":[{"required":["content"]},{"required":["source_url"]},{"required":["source_file_id"]}]}`,
			[]string{`{"content":1}`, `{"source_url":1,"content":2}`}, []string{`{}`}},
		{"C039 condition",
			`{"type":"object","properties":{"mode":{"enum":["small","large"]},"size":{"type":"integer"}},"required":["mode"],
			  "allOf":[{"if":{"properties":{"mode":{"const":"small"}}},"then":{"properties":{"size":{"maximum":10}}},"else":{"required":["size"]}}]}`,
			[]string{`{"mode":"small"}`, `{"mode":"small","size":10}`, `{"mode":"large","size":99}`}, []string{`{"mode":"large"}`, `{"mode":"small","size":11}`}},
		{"C041 tuples",
			`{"properties":{"where":{"items":{"prefixItems":[{"type":"string"},{"enum":["eq","ne","in"]},{}]}},
			  "point":{"prefixItems":[{"type":"number"},{"type":"number"}],"items":false,"minItems":2},"ids":{"type":"array"}}}`,
			[]string{`{"where":[["age","eq",3]]}`, `{"point":[1,2]}`, `{"ids":[1,"x"]}`}, []string{`{"where":[["age","gt",3]]}`, `{"point":[1,2,3]}`, `{"point":[1]}`}},
		{"C041 tuple of draft-07",
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"range":{"items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}}}`,
			[]string{`{"range":["a",1]}`, `{"range":["a"]}`}, []string{`{"range":["a",1,2]}`, `{"range":[1]}`}},
		{"C042 patterns for keys",
			`{"properties":{"gid":{"type":"string"}},"patternProperties":{"^x-":{"type":"number"},"^\\S+/.*/$":{"type":"boolean"}},"additionalProperties":false}`,
			[]string{`{"gid":"g","x-n":3,"a/b/":true}`}, []string{`{"gid":1}`, `{"x-n":"3"}`, `{"other":1}`}},
		{"C043 not and const",
			`{"properties":{"kind":{"const":"issue"},"none":{"const":null},"shape":{"const":{"a":[1,"x"]}},"slug":{"type":"string","not":{"enum":["admin","root"]}},
			  "free":{"not":{"type":"null"}}},"required":["kind"]}`,
			[]string{`{"kind":"issue","slug":"bob","free":3,"none":null,"shape":{"a":[1.0,"x"]}}`}, []string{`{"kind":"bug"}`, `{"kind":"issue","slug":"root"}`, `{"kind":"issue","free":null}`}},
		{"C043 unevaluated beside a reference",
			`{"$defs":{"Meta":{"properties":{"id":{"type":"string"}},"required":["id"]}},"$ref":"#/$defs/Meta","unevaluatedProperties":false}`,
			[]string{`{"id":"a"}`}, []string{`{"id":"a","b":1}`, `{}`}},
		{"C049 union without a type", `{"anyOf":[{"type":"object"},{"type":"object"}]}`, []string{`{}`}, []string{`[]`}},
		{"C050 names of Object.prototype",
			`{"properties":{"__proto__":{"type":"string","default":"safe"},"constructor":{"type":"string"},"toString":{"type":"string"}},"required":["constructor"]}`,
			[]string{`{"constructor":"c"}`, `{"__proto__":"p","constructor":"c"}`}, []string{`{}`, `{"__proto__":{"constructor":"c"}}`, `{"constructor":"c","__proto__":1}`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := mustParse(t, test.schema)
			for _, value := range test.good {
				if err := s.Validate([]byte(value)); err != nil {
					t.Errorf("%s: %v", value, err)
				}
			}
			for _, value := range test.bad {
				if err := s.Validate([]byte(value)); err == nil {
					t.Errorf("%s matches", value)
				}
			}
		})
	}
}
