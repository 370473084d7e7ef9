package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// mustParse compiles a schema that must be right.
func mustParse(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse(%.200s): %v", text, err)
	}
	return s
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	draft7 := `"$schema":"http://json-schema.org/draft-07/schema#"`
	tests := []struct{ name, text, path, reason string }{
		{"empty", "", "#", "not valid JSON"},
		{"blank", " \n", "#", "not valid JSON"},
		{"truncated", `{"type":`, "#", "not valid JSON"},
		{"two values", `{} {}`, "#", "not valid JSON"},
		{"byte order mark", "\xef\xbb\xbf{}", "#", "byte order mark"},
		{"not UTF-8", "{\"title\":\"\xff\"}", "#", "not valid UTF-8"},
		{"number", `1`, "#", "object or a boolean"},
		{"null inside", `{"properties":{"a":null}}`, "#/properties/a", "object or a boolean"},
		{"key twice", `{"type":"string","type":"object"}`, "#", `"type" stands twice`},
		{"key twice, escaped", `{"properties":{"a":{},"\u0061":{}}}`, "#/properties", `"a" stands twice`},
		{"key twice in data", `{"const":{"a":1,"a":2}}`, "#/const", "stands twice"},
		{"misspelled type", `{"type":"sting"}`, "#/type", `"sting" is not a type`},
		{"misspelled type in a branch", `{"anyOf":[{},{"type":["string","sting"]}]}`, "#/anyOf/1/type/1", "is not a type"},
		{"misspelled type in unused $defs", `{"$defs":{"a/b~":{"type":"int"}}}`, "#/$defs/a~1b~0/type", "is not a type"},
		{"type is a number", `{"type":1}`, "#/type", "must be a type"},
		{"no types", `{"type":[]}`, "#/type", "must be a type"},
		{"types repeat", `{"type":["null","null"]}`, "#/type", "different types"},
		{"required is a string", `{"required":"x"}`, "#/required", "array of strings"},
		{"required repeats", `{"required":["a","a"]}`, "#/required", "all different"},
		{"required is true", `{"properties":{"a":{"required":true}}}`, "#/properties/a/required", "array of strings"},
		{"negative length", `{"minLength":-1}`, "#/minLength", "not negative"},
		{"fractional count", `{"maxItems":1.5}`, "#/maxItems", "not negative"},
		{"minimum is a string", `{"minimum":"1"}`, "#/minimum", "must be a number"},
		{"exclusiveMinimum of draft-04", `{"minimum":1,"exclusiveMinimum":true}`, "#/exclusiveMinimum", "must be a number"},
		{"multipleOf zero", `{"multipleOf":0}`, "#/multipleOf", "greater than 0"},
		{"multipleOf with many digits", `{"multipleOf":1.00000000000000000001}`, "#/multipleOf", "19 digits"},
		{"enum is an object", `{"enum":{}}`, "#/enum", "must be an array"},
		{"anyOf is empty", `{"anyOf":[]}`, "#/anyOf", "non-empty"},
		{"properties is an array", `{"properties":[]}`, "#/properties", "must be an object"},
		{"title is a number", `{"title":1}`, "#/title", "must be a string"},
		{"uniqueItems is a string", `{"uniqueItems":"yes"}`, "#/uniqueItems", "must be a boolean"},
		{"dependentRequired", `{"dependentRequired":{"a":"b"}}`, "#/dependentRequired/a", "array of strings"},
		{"list under items", `{"items":[{}]}`, "#/items", "prefixItems"},
		{"bad schema under contentSchema", `{"contentSchema":{"type":"x"}}`, "#/contentSchema/type", "is not a type"},
		{"bad schema under dependencies", `{` + draft7 + `,"dependencies":{"a":{"type":"x"}}}`, "#/dependencies/a/type", "is not a type"},
		{"pattern", `{"pattern":"("}`, "#/pattern", "missing closing )"},
		{"patternProperties", `{"patternProperties":{"[":{}}}`, "#/patternProperties/[", "not usable"},
		{"lookbehind", `{"pattern":"(?<=a)b"}`, "#/pattern", "lookaround"},
		{"back reference", `{"pattern":"(a)\\1"}`, "#/pattern", "reference back"},
		{"large pattern", `{"pattern":"((a{1000}){1000}){1000}"}`, "#/pattern", "not usable"},
		{"missing reference", `{"properties":{"a":{"$ref":"#/$defs/Missing"}}}`, "#/properties/a/$ref", "names nothing"},
		{"missing reference in unused $defs", `{"$defs":{"a":{"$ref":"#/$defs/b"}}}`, "#/$defs/a/$ref", "names nothing"},
		{"missing anchor", `{"$ref":"#a"}`, "#/$ref", "no anchor"},
		{"missing dynamic anchor", `{"$dynamicRef":"#a"}`, "#/$dynamicRef", "no anchor"},
		{"reference to a non-schema", `{"$ref":"#/$defs","$defs":{"type":{"a":1}}}`, "#/$defs/type/a", ""},
		{"remote reference", `{"$ref":"https://example.com/x.json"}`, "#/$ref", "never loaded"},
		{"file reference", `{"$ref":"file:///etc/hostname"}`, "#/$ref", "never loaded"},
		{"relative reference", `{"$ref":"other.json"}`, "#/$ref", "never loaded"},
		{"reference is no URI", `{"$ref":"#/%zz"}`, "#/$ref", "not a URI"},
		{"anchor twice", `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, "#/$defs/b/$anchor", "stands twice"},
		{"id twice", `{"$defs":{"a":{"$id":"http://x/y"},"b":{"$id":"http://x/y"}}}`, "#/$defs/b/$id", "stands twice"},
		{"id with a fragment", `{"$id":"http://x/y#z"}`, "#/$id", "fragment"},
		{"reference to itself", `{"$ref":"#"}`, "#", "loop"},
		{"loop of references", `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "#", "loop"},
		{"loop in unused $defs", `{"$defs":{"a":{"anyOf":[true,{"$ref":"#/$defs/a"}]}}}`, "#/$defs/a", "loop"},
		{"boolean schema in draft-04", `{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":true}}`, "#/properties/a", "object"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := Parse([]byte(test.text))
			refusal, ok := errors.AsType[*ParseError](err)
			if !ok || s != nil {
				t.Fatalf("Parse gives %v, %v, want a *ParseError", s, err)
			}
			if test.path != "" && refusal.Path != test.path && test.reason != "" {
				t.Errorf("path %q, want %q (%v)", refusal.Path, test.path, err)
			}
			if !strings.Contains(refusal.Reason, test.reason) {
				t.Errorf("reason %q, want it to contain %q", refusal.Reason, test.reason)
			}
		})
	}
}

func TestParseAccepts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`true`, `false`, `{}`, ` {"type" : "object"} `,
		`{"$schema":"http://127.0.0.1:1/meta","type":"string"}`,
		`{"x-vendor":{"type":"sting","$ref":"#/nowhere"},"nullable":"perhaps"}`,
		`{"properties":{"$ref":{"type":"string"},"type":{"enum":["sting"]},"required":{"default":"x"}}}`,
		`{"default":{"$ref":"#/nowhere"},"examples":[{"$ref":"#"}],"const":{"type":"sting"},"enum":[{"$ref":"#"}]}`,
		`{"properties":{"child":{"$ref":"#"}}}`,
		`{"items":{"$ref":"#/$defs/node"},"$defs":{"node":{"anyOf":[{"type":"null"},{"properties":{"next":{"$ref":"#/$defs/node"}}}]}}}`,
		`{"pattern":"^(?!a)"}`,
		`{"minLength":2.0,"maxLength":1e400}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","prefixItems":"unknown to this draft","items":[{}]}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true,"id":"http://x/y"}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","additionalProperties":false,"items":[{}],"additionalItems":false}`,
	} {
		s := mustParse(t, text)
		if got := string(s.Text()); got != text {
			t.Errorf("Text() = %s, want it as it was given: %s", got, text)
		}
	}
}

func TestTextIsACopy(t *testing.T) {
	t.Parallel()
	given := []byte(`{"type":"string"}`)
	s := mustParse(t, string(given))
	s2, err := Parse(given)
	if err != nil {
		t.Fatal(err)
	}
	copy(given, "xxxxxxxxxxxxxxxxx")
	s2.Text()[0] = 'y'
	if string(s2.Text()) != string(s.Text()) || s2.Validate([]byte(`"a"`)) != nil || s2.Validate([]byte(`1`)) == nil {
		t.Errorf("a schema changed with the slices it was made from or gave away: %s", s2.Text())
	}
}

func TestIsAny(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{}`: true, `true`: true, `{"description":"x","default":1,"$defs":{"a":{"type":"string"}}}`: true,
		`false`: false, `{"type":"object"}`: false, `{"not":{}}`: false, `{"unevaluatedProperties":false}`: false,
	} {
		if got := mustParse(t, text).IsAny(); got != want {
			t.Errorf("IsAny of %s = %v", text, got)
		}
	}
}

// TestLimits feeds schemas and values that grow without bound, and wants an answer soon.
func TestLimits(t *testing.T) {
	t.Parallel()
	chain := func(n int, link string) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
		for i := range n {
			fmt.Fprintf(&b, `"a%d":`+link+`,`, i, i+1)
		}
		fmt.Fprintf(&b, `"a%d":{"type":"string"}}}`, n)
		return b.String()
	}
	repeat := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	generate := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+",", i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	members := `{` + generate(`"k%d":[1,2,3]`, 5_000) + `,"last":1}`
	manyPatterns := generate(`"a%d":{}`, 5_000)
	names := generate(`"m%d"`, 20_000)
	binaryTree := `{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}],"properties":{"a":{},"end":false}}`
	tests := []struct {
		name, schema, value string
		want                string // of the error; "" for none
	}{
		{"nested 100,000 deep", strings.Repeat(`{"not":`, 100_000) + "{}" + strings.Repeat("}", 100_000), `1`, "nesting too deep"},
		{"nested 3,000 deep", strings.Repeat(`{"not":`, 3_000) + "{}" + strings.Repeat("}", 3_000), `1`, "deeper than 2000 levels"},
		{"nested 1,999 deep", strings.Repeat(`{"items":`, 1_998) + "{}" + strings.Repeat("}", 1_998), `[[[1]]]`, ""},
		{"too long", `{"title":"` + strings.Repeat("x", MaxTextBytes) + `"}`, `1`, "the limit is"},
		{"enum of 1 MB", `{"enum":[` + repeat(`"0123456789"`, 80_000) + `,"last"]}`, `"last"`, ""},
		{"enum of 1 MB, no match", `{"enum":[` + repeat(`{"a":[1,2]}`, 90_000) + `]}`, `{"a":[2,1]}`, "must be one of"},
		{"many schemas", `{"anyOf":[` + repeat(`{}`, 150_000) + `]}`, `1`, "more than 100000 schemas"},
		{"long chain of references", chain(40_000, `{"$ref":"#/$defs/a%d"}`), `1`, "must be string"},
		{"long chain of schemas", chain(40_000, `{"allOf":[{"$ref":"#/$defs/a%d"}]}`), `1`, "cannot be checked"},
		{"doubling references", chain(40, `{"allOf":[{"$ref":"#/$defs/a%[2]d"},{"$ref":"#/$defs/a%[2]d"}]}`), `"x"`, "cannot be checked"},
		{"branches that multiply", binaryTree, strings.Repeat(`{"a":`, 60) + `{"end":1}` + strings.Repeat("}", 60), "cannot be checked"},
		{"many patterns", `{"patternProperties":{` + generate(`"x{900}%d":{}`, 3_000) + `}}`, `{}`, "too large"},
		{"costly pattern", `{"pattern":"(x+x+)+y(a|b){900}"}`, `"` + strings.Repeat("x", 1_000_000) + `"`, "cannot be checked"},
		{"many looks at one value", `{"allOf":[` + repeat(`{"minProperties":2}`, 20_000) + `]}`, `{"b":2,` + repeat(`"a":1`, 20_000) + `}`, "cannot be checked"},
		{"many schemas that check nothing", `{"allOf":[` + repeat(`{}`, 90_000) + `]}`, members, "cannot be checked"},
		{"many branches that fail late", `{"anyOf":[` + repeat(`{"properties":{"last":false}}`, 20_000) + `]}`, members, "cannot be checked"},
		{"many patterns for many keys", `{"patternProperties":{` + manyPatterns + `}}`, members, "cannot be checked"},
		{"many keys that stand twice", `{"additionalProperties":{"type":"string"}}`, `{` + strings.Repeat(`"a":1,`, 20_000) + members[1:], "$.a must be string"},
		{"many required properties in many objects", `{"items":{"anyOf":[{"required":[` + names + `]},{}]}}`, `[` + repeat(`{}`, 50_000) + `]`, ""},
		{"value nested 10,001 deep", `{"items":{"$ref":"#"}}`, strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), "nesting too deep"},
		{"value nested 10,000 deep", `{"items":{"$ref":"#"}}`, strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), ""},
		{"unique items", `{"uniqueItems":true}`, `[` + generate(`%d`, 50_000) + `]`, ""},
		{"number with a large exponent", `{"maximum":1e999999999,"multipleOf":3}`, `3e99999999`, ""},
		{"number with many digits", `{"type":"integer","multipleOf":7}`, strings.Repeat("7", 1_000_000), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			s, err := Parse([]byte(test.schema))
			if err == nil {
				err = s.Validate([]byte(test.value))
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			switch {
			case test.want == "" && err != nil, err == nil && test.want != "":
				t.Errorf("error %.300v, want %q", err, test.want)
			case err != nil && !strings.Contains(err.Error(), test.want):
				t.Errorf("error %.300v, want %q", err, test.want)
			}
		})
	}
}

// TestParseMCP compiles the schemas of real MCP servers.
func TestParseMCP(t *testing.T) {
	t.Parallel()
	count := 0
	for name, text := range mcpSchemas(t) {
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		count++
	}
	if count < 280 {
		t.Errorf("only %d schemas", count)
	}
}
