package declgen

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/schema"
)

func mustParse(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// object returns the text of a closed object schema.
func closed(properties, required string) string {
	return `{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`
}

func TestHints(t *testing.T) {
	t.Parallel()
	const name = `"name":{"type":"string"}`
	// Where the hints of input and output differ, output is given too. A Text with a ! in front is not complete.
	tests := []struct{ name, schema, input, output string }{
		{"nothing", `{}`, `unknown`, ``},
		{"true", `true`, `unknown`, ``},
		{"false", `false`, `never`, ``},
		{"closed", closed(name+`,"age":{"type":"integer"}`, `"name"`), `{ name: string; age?: number /* integer */ }`, `{ name: string; age?: number }`},
		{"closed and empty", `{"type":"object","additionalProperties":false}`, `{}`, ``},
		{"open", `{"type":"object","properties":{` + name + `}}`, `!{ name?: string; ... }`, ``},
		{"open and empty", `{"type":"object"}`, `!{ ... }`, ``},
		{"open inside", closed(`"a":{"type":"object","properties":{`+name+`}}`, ``), `!{ a?: { name?: string; ... } }`, ``},
		{"additional true", `{"type":"object","properties":{` + name + `},"additionalProperties":true}`, `!{ name?: string; ... }`, ``},
		{"additional schema", `{"type":"object","properties":{` + name + `},"additionalProperties":{"type":"number"}}`, `!{ name?: string; ... }`, ``},
		{"dictionary", `{"type":"object","additionalProperties":{"type":"number"}}`, `{ [key: string]: number }`, ``},
		{"dictionary of anything", `{"type":"object","additionalProperties":true}`, `!{ ... }`, `{ [key: string]: unknown }`},
		{"dictionary of anything, inside", closed(`"a":{"type":"array","items":{"type":"object","additionalProperties":{}}},"b":{"type":"object"}`, ``),
			`!{ a?: Array<{ ... }>; b?: { ... } }`, `!{ a?: Array<{ [key: string]: unknown }>; b?: { ... } }`},
		{"dictionary of what cannot be said", `{"type":"object","additionalProperties":{"minLength":1}}`, `!{ [key: string]: unknown }`, ``},
		{"dictionary by name", `{"type":"object","additionalProperties":{},"patternProperties":{"^x":{"type":"string"}}}`, `!{ ... }`, `!{ [key: string]: unknown }`},
		{"required comes first, and both are sorted", closed(`"b":{"type":"string"},"a":{"type":"string"},"d":{"type":"null"},"c":{"type":"null"}`, `"d","c"`),
			`{ c: null; d: null; a?: string; b?: string }`, ``},
		{"required without a property", `{"type":"object","required":["id"]}`, `!{ id: unknown; ... }`, ``},
		{"unknown inside of a closed object", closed(`"any":{}`, ``), `{ any?: unknown }`, ``},
		{"quoted names", closed(`"a-b":{"type":"string"},"\"":{"type":"string"},"1":{"type":"string"},"é":{"type":"string"}`, ``),
			`{ "\""?: string; "1"?: string; "a-b"?: string; "é"?: string }`, ``},
		{"numbers", closed(`"a":{"type":"integer","minimum":0,"maximum":10,"exclusiveMinimum":1,"exclusiveMaximum":9.5},"b":{"type":"number","minimum":-1e3},"c":{"type":["integer","number"]}`, ``),
			`{ a?: number /* integer, >= 0, <= 10, > 1, < 9.5 */; b?: number /* >= -1e3 */; c?: number }`, `{ a?: number; b?: number; c?: number }`},
		{"draft-04", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","additionalProperties":false,"properties":{"n":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`,
			`{ n?: number /* > 0 */ }`, `{ n?: number }`},
		{"strings have no comment", closed(`"a":{"type":"string","minLength":1,"pattern":"^a"}`, ``), `{ a?: string }`, ``},
		{"arrays", closed(`"a":{"type":"array","items":{"enum":["x","y"]}},"b":{"type":"array","items":{}}`, ``), `{ a?: Array<"x" | "y">; b?: Array<unknown> }`, ``},
		{"array of whatever", closed(`"a":{"type":"array"}`, ``), `!{ a?: Array<unknown> }`, ``},
		{"tuple", closed(`"a":{"type":"array","prefixItems":[{"type":"string"},{"type":["number","null"]}],"items":false,"minItems":1}`, ``), `{ a?: [string, (number | null)?] }`, ``},
		{"open tuple", closed(`"a":{"type":"array","prefixItems":[{"type":"string"}]}`, ``), `!{ a?: [string?, ...unknown[]] }`, ``},
		{"const and enum", closed(`"a":{"const":"x"},"b":{"enum":[1,"x",null,true,1]},"c":{"const":{"k":[1]}}`, ``), `{ a?: "x"; b?: 1 | "x" | null | true; c?: { k: [1] } }`, ``},
		{"enum and type", closed(`"a":{"type":"integer","enum":[1,1.5,"1",2.0]},"b":{"type":"string","enum":[1]}`, ``), `{ a?: 1 | 2 }`, ``},
		{"nullable", closed(`"a":{"type":"string","nullable":true},"b":{"type":"string","nullable":true,"enum":["x"]},"c":{"type":["string","null"]},"d":{"nullable":true}`, ``),
			`{ a?: string | null; b?: "x"; c?: string | null; d?: unknown }`, ``},
		{"anyOf", closed(`"a":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"string"}]}`, ``), `{ a?: string | number /* integer */ }`, `{ a?: string | number }`},
		{"oneOf of literals", closed(`"a":{"oneOf":[{"const":"a"},{"const":"b"},{"const":"c"},{"const":"d"},{"const":"e"},{"const":"f"}]}`, ``), `{ a?: "a" | "b" | "c" | "d" | "e" | "f" }`, ``},
		{"anyOf and oneOf", closed(`"a":{"anyOf":[{"type":"string"},{"type":"null"}],"oneOf":[{"type":"string"},{"type":"boolean"}]}`, ``), `{ a?: string }`, ``},
		{"a constraint without a type", closed(`"a":{"minLength":1}`, ``), `!{ a?: unknown }`, ``},
		{"a form without a type", closed(`"a":{"properties":{"b":{}}}`, ``), `!{ a?: unknown }`, ``},
		{"an unknown variant", closed(`"a":{"anyOf":[{"type":"string"},{"minLength":1}]}`, ``), `!{ a?: unknown }`, ``},
		{"allOf", `{"allOf":[` + `{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]},{"properties":{"a":{"minLength":1},"b":{"type":"boolean"}}}],"unevaluatedProperties":false}`,
			`{ a: string | null; b?: boolean }`, ``},
		{"allOf that stays open", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"required":["a"]}]}`, `!{ a: string; ... }`, ``},
		{"reference", `{"$defs":{"n":` + closed(name, `"name"`) + `},"type":"array","items":{"$ref":"#/$defs/n"}}`, `never`, `Array<{ name: string }>`},
		{"recursion", closed(`"next":{"$ref":"#"}`, ``), `!{ next?: unknown }`, ``},
		{"reference to nothing", `{"type":"object","properties":{"a":{"$dynamicRef":"#x"}},"additionalProperties":false,"$defs":{"x":{"$dynamicAnchor":"x"}}}`, `!{ a?: unknown }`, ``},
		{"patterns", `{"type":"object","patternProperties":{"^x":{"type":"number"}},"additionalProperties":false}`, `!{ [key: string]: number }`, ``},
		{"condition", `{"type":"object","additionalProperties":false,"if":{},"then":{"required":["a"]}}`, `!{}`, ``},
		{"not", closed(`"a":{"type":"string","not":{"const":"x"}}`, ``), `{ a?: string }`, ``},
		{"a property that cannot be", closed(`"a":false,"b":{"type":"string"}`, ``), `{ b?: string }`, ``},
		{"a default makes a required property optional", closed(`"a":{"type":"string","default":"x"},"b":{"type":"string","default":null}`, `"a","b"`), `{ b: string; a?: string }`, `{ a: string; b: string }`},
		{"variants", `{"anyOf":[` + closed(`"a":{"type":"string"}`, `"a"`) + `,` + closed(`"b":{"type":"string"}`, `"b"`) + `]}`, `{ a: string } | { b: string }`, ``},
		{"long literals", closed(`"a":{"type":"string","enum":["`+strings.Repeat("x", 50)+`","`+strings.Repeat("y", 50)+`"]}`, ``), `!{ a?: "` + strings.Repeat("x", 50) + `" | string /* one of 2 */ }`, `!{ a?: string }`},
		{"many literals", closed(`"a":{"enum":[1,2,3,4,5,6,7,8,9,"x",null]}`, ``),
			`!{ a?: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | number /* one of 9 */ | "x" | null }`, `!{ a?: number | string | null }`},
		{"literals that are too long", closed(`"a":{"enum":["x","`+strings.Repeat("y", 200)+`",1,1e400]}`, ``),
			`!{ a?: "x" | string /* one of 2 */ | 1 | number /* one of 2 */ }`, `!{ a?: string | number }`},
		{"more literals than are read", closed(`"a":{"type":"string","enum":[`+repeat(300, ",", func(i int) string { return fmt.Sprintf(`"value %d"`, i) })+`]}`, ``),
			`!{ a?: "value 0" | "value 1" | "value 2" | "value 3" | "value 4" | "value 5" | "value 6" | "value 7" | string /* one of 300 */ }`, `!{ a?: string }`},
		{"many literals in a tuple", closed(`"a":{"type":"array","prefixItems":[{"enum":["a","b","c","d","e","f","g","h","i"]}],"items":false}`, ``),
			`!{ a?: [("a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | string /* one of 9 */)?] }`, `!{ a?: [string?] }`},
		{"many literals or any string", closed(`"a":{"anyOf":[{"enum":["a","b","c","d","e","f","g","h","i"]},{"type":"string"}]}`, ``), `!{ a?: string }`, ``},
		{"many literals, twice", closed(`"a":{"anyOf":[{"enum":["`+strings.Repeat("x", 97)+`"]},{"enum":["a"]}]}`, ``), `!{ a?: string | "a" }`, ``},
		{"types", closed(`"a":{"type":["string","number","boolean","null","array"]},"b":{"type":["string","number","boolean","null","array","object"]}`, ``),
			`!{ a?: string | number | boolean | null | Array<unknown>; b?: unknown }`, ``},
		{"depth", closed(`"a":`+closed(`"b":`+closed(`"c":`+closed(`"d":`+closed(`"e":{"type":"null"}`, ``)+`,"f":{"enum":["x"]}`, ``), ``), ``), ``),
			`!{ a?: { b?: { c?: { d?: unknown; f?: "x" } } } }`, `{ a?: { b?: { c?: { d?: { e?: null }; f?: "x" } } } }`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.output == "" {
				test.output = test.input
			}
			s := mustParse(t, test.schema)
			for _, side := range []struct {
				name string
				got  Hint
				want string
			}{{"input", InputHint(s), test.input}, {"output", OutputHint(s), test.output}} {
				text, isIncomplete := strings.CutPrefix(side.want, "!")
				if want := (Hint{text, !isIncomplete}); side.got != want {
					t.Errorf("%s\n%s: got  %v\nwant %v", test.schema, side.name, side.got, want)
				}
			}
		})
	}
	if got, want := OutputHint(nil), (Hint{"unknown", true}); got != want || InputHint(nil) != want {
		t.Errorf("without a schema: %v", got)
	}
}

// TestHintsOfSelectedResults wants the index to show which value of the input selects which result.
func TestHintsOfSelectedResults(t *testing.T) {
	t.Parallel()
	annotated := func(mapping string, branches ...string) *schema.Schema {
		return mustParse(t, `{"anyOf":[`+strings.Join(branches, ",")+`],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{`+mapping+`}}}`)
	}
	rows, gone := closed(`"rows":{"type":"array","items":{"type":"string"}}`, `"rows"`), closed(`"gone":{"type":"boolean"}`, `"gone"`)
	tests := []struct {
		name   string
		schema *schema.Schema
		want   string
	}{
		{"each has a value", annotated(`"list":0,"drop":1`, rows, gone), `/* list */ { rows: Array<string> } | /* drop */ { gone: boolean }`},
		{"values that share a branch are sorted", annotated(`"purge":1,"list":0,"drop":1`, rows, gone), `/* list */ { rows: Array<string> } | /* drop, purge */ { gone: boolean }`},
		{"a branch that nothing selects", annotated(`"list":0`, rows, gone), `/* list */ { rows: Array<string> } | { gone: boolean }`},
		{"a branch of alternatives", annotated(`"list":0,"drop":1`, `{"type":["string","null"]}`, gone), `/* list */ (string | null) | /* drop */ { gone: boolean }`},
		{"a value that looks like the end of a comment", annotated(`"*/\n\u2028x":0`, rows, gone), `/* *\/ x */ { rows: Array<string> } | { gone: boolean }`},
		{"one branch", annotated(`"list":0,"drop":0`, rows), `{ rows: Array<string> }`},
		{"the same form twice", annotated(`"list":0,"drop":1`, rows, rows), `{ rows: Array<string> }`},
		{"the same form for some", annotated(`"show":2,"drop":1,"list":0`, rows, gone, rows), `/* list, show */ { rows: Array<string> } | /* drop */ { gone: boolean }`},
		{"values that are too long", annotated(`"`+strings.Repeat("x", outputHintUnits)+`":0`, rows, gone), `{ rows: Array<string> } | { gone: boolean }`},
	}
	for _, test := range tests {
		if got := OutputHint(test.schema); got != (Hint{test.want, true}) {
			t.Errorf("%s: got %v, want %s", test.name, got, test.want)
		}
	}
	if h := OutputHint(annotated(`"list":0`, rows, `{"type":"object"}`)); h.Complete {
		t.Errorf("a branch is open, and the hint is complete: %v", h)
	}
}

// TestHintsOfManyVariants wants the hint at an input with too many variants to show what they have in common, and above all the
// values that tell them apart.
func TestHintsOfManyVariants(t *testing.T) {
	t.Parallel()
	actions := func(n int, properties func(i int) string) string {
		return `{"type":"object","anyOf":[` + repeat(n, ",", func(i int) string {
			return closed(fmt.Sprintf(`"action":{"const":"action_%d"},%s`, i, properties(i)), `"action","owner"`)
		}) + `]}`
	}
	owner := func(i int) string { return fmt.Sprintf(`"owner":{"type":"string"},"of_%d":{"type":"integer"}`, i) }
	long := func(i int) string {
		return `"owner":{"type":"string"},` + repeat(30, ",", func(k int) string {
			return fmt.Sprintf(`"a_property_%d_%d":{"type":"object","properties":{"x":{}}}`, i, k)
		})
	}
	values := func(n int) string {
		return repeat(n, " | ", func(i int) string { return fmt.Sprintf(`"action_%d"`, i) })
	}
	tests := []struct{ name, schema, want string }{
		{"3 long actions", actions(3, long), `{ action: ` + values(3) + `; owner: string; ... }`},
		{"5 actions", actions(5, owner), `{ action: ` + values(5) + `; owner: string; ... }`},
		{"12 actions", actions(12, owner), `{ action: ` + values(12) + `; owner: string; ... }`},
		{"60 actions", actions(60, owner), `{ action: ` + values(14) + ` | string /* one of 60 */; owner: string; ... }`},
		{"60 long actions", actions(60, long), `{ action: ` + values(14) + ` | string /* one of 60 */; owner: string; ... }`},
		{"inside", closed(`"do":{"type":"array","items":`+actions(7, owner)+`}`, `"do"`), `{ do: Array<{ action: ` + values(7) + `; owner: string; ... }> }`},
		{"a field of two types", `{"anyOf":[` + repeat(6, ",", func(i int) string {
			return closed(fmt.Sprintf(`"a":{"type":%q},"b%d":{}`, []string{"string", "number"}[i%2], i), []string{`"a"`, ``}[i/5])
		}) + `]}`, `{ a?: string | number; ... }`},
		{"nothing in common", `{"anyOf":[` + repeat(6, ",", func(i int) string { return closed(fmt.Sprintf(`"b%d":{}`, i), ``) }) + `]}`, `{ ... }`},
		{"something else beside", closed(`"a":{"anyOf":[{"type":"string"},`+repeat(6, ",", func(i int) string { return closed(fmt.Sprintf(`"x":{"const":%d},"b%d":{}`, i, i), `"x"`) })+`]}`, ``),
			`{ a?: string | { x: 0 | 1 | 2 | 3 | 4 | 5; ... } }`},
		{"no objects", closed(`"a":{"anyOf":[`+repeat(6, ",", func(i int) string {
			return fmt.Sprintf(`{"type":"array","prefixItems":[{"const":%d}],"items":false}`, i)
		})+`]}`, ``), `{ a?: unknown }`},
	}
	for _, test := range tests {
		if got := InputHint(mustParse(t, test.schema)); got != (Hint{test.want, false}) {
			t.Errorf("%s\n got %v\nwant %s", test.name, got, test.want)
		}
	}
}

type order struct {
	ID       int64             `json:"id" jsonschema:"minimum=1"`
	Notes    []string          `json:"notes,omitempty"`
	Created  time.Time         `json:"created"`
	Customer *customer         `json:"customer,omitempty"`
	Labels   map[string]string `json:"labels"`
	Amount   json.Number       `json:"amount"`
	Scan     []byte            `json:"scan"`
	Lines    []line            `json:"lines"`
	Extra    any               `json:"extra"`
	Previous *line             `json:"previous"`
}

type customer struct {
	Name  string `json:"name" jsonschema_description:"As on the invoice."`
	Email string `json:"email"`
}

type line struct {
	SKU   string `json:"sku"`
	Count uint16 `json:"count"`
}

// TestHintOfGoType wants what an ordinary Go function returns to have a complete hint.
func TestHintOfGoType(t *testing.T) {
	t.Parallel()
	s, err := schema.For[[]order]()
	if err != nil {
		t.Fatal(err)
	}
	const want = "Array<{ amount: number; created: string; extra: unknown; id: number; labels: { [key: string]: string }; " +
		"lines: Array<{ count: number; sku: string }>; scan: string; customer?: { email: string; name: string } | null; " +
		"notes?: Array<string>; previous?: { count: number; sku: string } | null }>"
	if got := OutputHint(s); got != (Hint{want, true}) {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}
