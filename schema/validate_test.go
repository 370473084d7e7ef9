package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cellmode/cellmode/internal/schematest"
)

// TestProblems shows the paths and messages for each keyword.
func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		schema, value string
		want          string // the problems, as Error writes them; "" for a value that matches
	}{
		{`{"type":"object"}`, ` { } `, ""},
		{`{"type":"object"}`, `[]`, `$ must be object, not array`},
		{`{"type":["string","null"]}`, `1`, `$ must be string or null, not number`},
		{`{"type":"integer"}`, `1.5`, `$ must be integer, not a number with a fraction`},
		{`{"type":"integer"}`, `"1"`, `$ must be integer, not string`},
		{`{"properties":{"a":{"type":"string"}},"required":["a","b"]}`, `{"a":null}`,
			`$.a must be string, not null; $ the required property "b" is missing`},
		{`{"required":["a","b"]}`, `{}`, `$ the required properties "a", "b" are missing`},
		{`{"properties":{"reply":{}},"required":["reply"],"additionalProperties":false}`, `{"message":"secret text"}`,
			`$ the property "message" is not allowed; known are "reply"; $ the required property "reply" is missing`},
		{`{"additionalProperties":false}`, `{"a":1}`, `$ the property "a" is not allowed`},
		{`{"additionalProperties":{"items":{"type":"boolean"}}}`, `{"page[size]":[true,0],"9x":[1],"é":[1]}`,
			`$["page[size]"][1] must be boolean, not number; $["9x"][0] must be boolean, not number; $["é"][0] must be boolean, not number`},
		{`{"properties":{"orders":{"items":{"properties":{"id":{"minimum":1}}}}}}`, `{"orders":[{"id":1},{"id":0}]}`,
			`$.orders[1].id must be at least 1`},
		{`{"properties":{"":{"type":"null"}}}`, `{"":1}`, `$[""] must be null, not number`},
		{`{"enum":["open","paid",1,null]}`, `"done"`, `$ must be one of "open", "paid", 1, null`},
		{`{"enum":[0,1,2,3,4,5,6,7,8,9]}`, `10`, `$ must be one of 0, 1, 2, 3, 4, 5, 6, 7 and 2 more`},
		{`{"enum":[]}`, `1`, `$ no value is allowed here: the enum is empty`},
		{`{"const":{"a":[1,2]}}`, `{"a":[2,1]}`, `$ must be {"a":[1,2]}`},
		{`false`, `1`, `$ no value is allowed here`},
		{`{"minimum":1,"maximum":0}`, `0.5`, `$ must be at least 1; $ must be at most 0`},
		{`{"exclusiveMinimum":1}`, `1`, `$ must be greater than 1`},
		{`{"exclusiveMaximum":1}`, `1`, `$ must be less than 1`},
		{`{"multipleOf":0.01}`, `0.015`, `$ must be a multiple of 0.01`},
		{`{"minLength":3}`, `"éé"`, `$ must have at least 3 characters`},
		{`{"maxLength":1}`, `"\ud83e\udd80b"`, `$ must have at most 1 character`},
		{`{"pattern":"^a+$"}`, `"b"`, `$ must match the pattern ^a+$`},
		{`{"minItems":1,"maxItems":2}`, `[]`, `$ must have at least 1 item`},
		{`{"maxItems":2}`, `[1,2,3]`, `$ must have at most 2 items`},
		{`{"uniqueItems":true}`, `[{"a":1,"b":2},2,{"b":2.0,"a":1}]`, `$ items must differ: items 0 and 2 are equal`},
		{`{"contains":{"type":"string"}}`, `[1]`, `$ must have at least 1 item that match "contains"`},
		{`{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, `$ must have at most 1 item that match "contains"`},
		{`{"minProperties":2}`, `{"a":1,"a":2}`, `$ must have at least 2 properties`},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, `$ must have at most 1 property`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `$ the property "a" needs the property "b", which is missing`},
		{`{"propertyNames":{"maxLength":2}}`, `{"abc":1}`, `$ the property name "abc" cannot be used: it must have at most 2 characters`},
		{`{"not":{"type":"string"}}`, `"a"`, `$ must not match the schema under "not"`},
		{`{"anyOf":[{"type":"integer","minimum":5},{"type":"null"}]}`, `3`, `$ must be at least 5`},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"3"`, `$ must be integer or null, not string`},
		{`{"anyOf":[{"required":["a","b"]},{"required":["c"]}]}`, `{}`,
			`$ matches none of 2 alternatives; the nearest needs: $ the required properties "a", "b" are missing`},
		{`{"oneOf":[{"minimum":1},{"maximum":5}]}`, `3`, `$ must match exactly one of 2 alternatives, but matches number 1 and number 2`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, `$ the required property "b" is missing`},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, `1`, `$ must be string, not number`},
		{`{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"a":1,"b":2}`, `$ the property "b" is not allowed`},
		{`{"prefixItems":[{}],"unevaluatedItems":false}`, `[1,2]`, `$[1] no value is allowed here`},
		{`{"items":{"type":"null"}}`, `[1,2,3,4,5,6,7]`, `$[0] must be null, not number; $[1] must be null, not number; ` +
			`$[2] must be null, not number; $[3] must be null, not number; $[4] must be null, not number`},
		{`{}`, `{"a":}`, `$ not valid JSON: no value at byte 5`},
		{`{}`, ``, `$ not valid JSON: text ends where a value should be at byte 0`},
		{`{}`, `1 2`, `$ not valid JSON: text after the value at byte 2`},
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"type":"sting"}`, `$ must be a JSON Schema`},
	}
	for _, test := range tests {
		err := mustParse(t, test.schema).Validate([]byte(test.value))
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "value does not match the schema: ")
			checkProblems(t, err)
		}
		if got != test.want {
			t.Errorf("schema %s, value %s:\n got %s\nwant %s", test.schema, test.value, got, test.want)
		}
	}
}

// TestKeyStandsTwice wants the last of several members with one key to count, however the key is written.
func TestKeyStandsTwice(t *testing.T) {
	t.Parallel()
	tests := []struct {
		schema, value string
		valid         bool
	}{
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1,"a":"x"}`, true},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1,"b":2,"\u0061":"x"}`, true},
		{`{"properties":{"a":{"type":"string"}}}`, `{"\u0061":1,"a":"x"}`, true},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":"x","a":1}`, false},
		{`{"additionalProperties":{"type":"string"}}`, `{"é":1,"\u00e9":"x"}`, true},
		{`{"additionalProperties":false}`, `{"a":1,"a":2}`, false},
		{`{"maxProperties":1}`, `{"a":1,"\u0061":2}`, true},
		{`{"minProperties":2}`, `{"a":1,"a":2}`, false},
		{`{"required":["a","b"]}`, `{"a":1,"a":2}`, false},
		{`{"const":{"a":2}}`, `{"a":1,"a":2}`, true},
		{`{"unevaluatedProperties":{"type":"string"}}`, `{"a":1,"a":"x"}`, true},
	}
	for _, test := range tests {
		if err := mustParse(t, test.schema).Validate([]byte(test.value)); (err == nil) != test.valid {
			t.Errorf("schema %s, value %s: %v", test.schema, test.value, err)
		}
	}
}

// TestAnnotations wants the content keywords and format to check nothing, as 2020-12 says.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{"type":"string","format":"date-time","contentEncoding":"base64","contentMediaType":"application/json","contentSchema":false}`)
	for _, value := range []string{`"%%% not base64"`, `"yesterday"`, `"e30="`} {
		if err := s.Validate([]byte(value)); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestEmptyEnum wants an empty enum to accept nothing.
func TestEmptyEnum(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"enum":[]}`, `{"properties":{"a":{"enum":[]}},"required":["a"]}`} {
		for _, value := range []string{`1`, `null`, `"a"`, `[]`} {
			if err := mustParse(t, text).Validate([]byte(`{"a":` + value + `}`)); err == nil {
				t.Errorf("%s accepts %s", text, value)
			}
		}
	}
}

// TestDeepRecursion wants a recursive schema to hold at every depth.
func TestDeepRecursion(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"properties":{"name":{"type":"string"},"kids":{"items":{"$ref":"#"}}},"additionalProperties":false}`,
		`{"properties":{"name":{"type":"string"},"kids":{"items":{"$ref":"#"}}},"unevaluatedProperties":false}`,
		`{"$dynamicAnchor":"node","properties":{"name":{"type":"string"},"kids":{"items":{"$dynamicRef":"#node"}}},"unevaluatedProperties":false}`,
	} {
		s := mustParse(t, text)
		for _, depth := range []int{0, 1, 3, 4, 5, 50, 500} {
			for leaf, valid := range map[string]bool{`{"name":"x"}`: true, `{"name":1}`: false, `{"nom":"x"}`: false} {
				value := strings.Repeat(`{"kids":[`, depth) + leaf + strings.Repeat(`]}`, depth)
				if err := s.Validate([]byte(value)); (err == nil) != valid {
					t.Errorf("%s at depth %d: %s: %v", text, depth, leaf, err)
				}
			}
		}
	}
}

// TestProblemsTellNoValues puts a secret everywhere in a value and looks for it in the problems.
func TestProblemsTellNoValues(t *testing.T) {
	t.Parallel()
	const secret = "4929123456781234"
	for _, group := range schematest.Suite(t, "draft2020-12") {
		for _, g := range group {
			s, err := Parse(g.Schema)
			if err != nil {
				continue
			}
			for _, value := range []string{`"S"`, `S`, `["S",S,{"a":"S"}]`, `{"foo":"S","bar":S,"baz":{"foo":["S"]},"a":["S"]}`} {
				err := s.Validate([]byte(strings.ReplaceAll(value, "S", secret)))
				if err == nil {
					continue
				}
				checkProblems(t, err)
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%s: schema %s: %v", g.Description, g.Schema, err)
				}
			}
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 300)
	deep := strings.Repeat(`{"properties":{"`+long+`":`, 20) + `{"type":"null"}` + strings.Repeat(`}}`, 20)
	value := strings.Repeat(`{"`+long+`":`, 20) + `1` + strings.Repeat(`}`, 20)
	for _, test := range [][2]string{
		{deep, value},
		{`{"required":["` + long + `","b` + long + `","c` + long + `","d` + long + `","e` + long + `"]}`, `{}`},
		{`{"const":"` + long + `"}`, `1`},
		{`{"enum":["` + strings.Repeat(long+`","`, 10) + `"]}`, `1`},
		{`{"pattern":"` + long + `"}`, `"x"`},
		{`{"additionalProperties":false}`, `{"` + long + `":1,"` + long + `1":1,"2":1,"3":1,"4":1,"5":1,"6":1}`},
	} {
		err := mustParse(t, test[0]).Validate([]byte(test[1]))
		checkProblems(t, err)
		if strings.Contains(err.Error(), "\uFFFD") {
			t.Errorf("a character was cut: %v", err)
		}
	}
}

// TestAllocations wants nothing to be allocated where nothing is wrong and nothing is to be done.
func TestAllocations(t *testing.T) {
	value := []byte(orderValue(7))
	s := mustParse(t, orderSchema)
	if n := testing.AllocsPerRun(100, func() {
		filled, err := s.ApplyDefaults(value)
		if err != nil || s.Validate(value) != nil {
			t.Error("the order does not match")
		}
		for _, same := range [][]byte{filled, s.CoerceIntegers(value)} {
			if &same[0] != &value[0] || len(same) != len(value) {
				t.Errorf("the order was rewritten to %s", same)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{"$dynamicAnchor":"a","patternProperties":{"^x":{"pattern":"^\\d+$"}},"properties":{"n":{"type":"integer","default":1},`+
		`"kids":{"items":{"$dynamicRef":"#a"}}},"unevaluatedProperties":false}`)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 50 {
				value := fmt.Appendf(nil, `{"x":"%d","kids":[{"n":"%d"},{"y":%d}]}`, i, k, k)
				if err := s.Validate(value); err == nil || !strings.Contains(err.Error(), `"y"`) {
					t.Errorf("%s: %v", value, err)
				}
				if _, err := s.ApplyDefaults(value); err != nil {
					t.Error(err)
				}
				s.CoerceIntegers(value)
				s.Text()
			}
		})
	}
	wg.Wait()
}

// TestRealSchemas checks values for schemas of real servers, and that their own examples of defaults match.
func TestRealSchemas(t *testing.T) {
	t.Parallel()
	for name, text := range mcpSchemas(t) {
		s := mustParse(t, string(text))
		filled, err := s.ApplyDefaults([]byte(`{}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var required struct{ Required []string }
		if err := json.Unmarshal(text, &required); err != nil {
			t.Fatal(err)
		}
		err = s.Validate(filled)
		for _, property := range required.Required {
			if !strings.Contains(string(filled), `"`+property+`":`) && err == nil {
				t.Errorf("%s: {} lacks %s and matches", name, property)
			}
		}
		if len(required.Required) == 0 && err != nil && !strings.Contains(string(text), `"anyOf"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
