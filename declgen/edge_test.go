package declgen_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/declgen"
	"github.com/cellmode/cellmode/internal/schematest"
	"github.com/cellmode/cellmode/internal/tscheck"
	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

// repeat joins n texts, made of their numbers, by commas.
func repeat(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(format, "%d", fmt.Sprint(i))
	}
	return strings.Join(parts, ",")
}

// edges are schemas at the borders of what TypeScript or a renderer can do, with values that they accept.
var edges = []struct {
	name   string
	schema string
	values []string
}{
	{"numbers", `{"enum":[1e400,-1e400,-0,1e21,9007199254740993,0.1e1,1.50,-1e-400,123456789012345678901234567890]}`,
		[]string{`1e400`, `-1e400`, `-0`, `0`, `1e21`, `9007199254740993`, `1`, `1.5`, `123456789012345678901234567890`}},
	{"infinite constant", `{"const":1e400}`, []string{`1e400`, `10e399`}},
	{"constant number", `{"const":1.0}`, []string{`1`, `1.0`, `1e0`}},
	{"constant zero", `{"const":-0}`, []string{`0`, `-0`, `0.0`}},
	{"constant array", `{"const":[1e400,-5,{"a":-0.0}]}`, []string{`[1e400,-5,{"a":0}]`}},
	{"constant with inherited names", `{"const":{"__proto__":1,"toString":"x"}}`, []string{`{"__proto__":1,"toString":"x"}`}},
	{"strings", `{"enum":["\ud83e","\u0000","\u2028","a\nb","*/"]}`, []string{`"\ud83e"`, `"\u0000"`, `"\u2028"`, `"a\nb"`, `"*/"`}},
	{"long string", `{"enum":["a","` + strings.Repeat("x", 50_000) + `"]}`, []string{`"a"`, `"` + strings.Repeat("x", 50_000) + `"`}},
	{"empty values", `{"enum":[[],{},[[]],[{}],""]}`, []string{`[]`, `{}`, `[[]]`, `[{}]`, `""`}},
	{"long enum", `{"enum":[` + repeat(300, `"v%d"`) + `]}`, []string{`"v0"`, `"v299"`}},
	{"long mixed enum", `{"enum":[null,` + repeat(300, `"v%d",%d`) + `]}`, []string{`"v0"`, `299`, `null`}},
	{"many properties", `{"type":"object","additionalProperties":false,"required":["p299"],"properties":{` + repeat(300, `"p%d":{"type":"string"}`) + `}}`,
		[]string{`{"p299":"a"}`, `{"p0":"a","p298":"b","p299":"c"}`}},
	{"many open properties", `{"type":"object","required":["p299"],"properties":{` + repeat(300, `"p%d":{"description":"`+strings.Repeat("d", 300)+`"}`) + `}}`,
		[]string{`{"p299":"a"}`, `{"p0":"a","p298":1,"p299":"c","q":1}`}},
	{"many required", `{"type":"object","required":[` + repeat(300, `"p%d"`) + `],"additionalProperties":{"type":"integer"}}`, []string{`{` + repeat(301, `"p%d":1`) + `}`}},
	{"deep object", strings.Repeat(`{"type":"object","properties":{"a":`, 100) + `{"type":"string"}` +
		strings.Repeat(`},"required":["a"],"additionalProperties":false}`, 100), []string{strings.Repeat(`{"a":`, 100) + `"x"` + strings.Repeat(`}`, 100)}},
	{"deep array", strings.Repeat(`{"type":"array","items":`, 100) + `{"type":"string"}` + strings.Repeat(`}`, 100),
		[]string{strings.Repeat(`[`, 100) + `"x"` + strings.Repeat(`]`, 100)}},
	{"deep tuple", strings.Repeat(`{"type":"array","minItems":1,"prefixItems":[`, 100) + `{"type":"string"}` + strings.Repeat(`]}`, 100),
		[]string{strings.Repeat(`[`, 100) + `"x"` + strings.Repeat(`]`, 100)}},
	{"long union", `{"anyOf":[` + repeat(300, `{"type":"object","properties":{"k":{"const":%d},"x%d":{"type":"string"}},"required":["k","x%d"],"additionalProperties":false}`) + `]}`,
		[]string{`{"k":3,"x3":"a"}`, `{"k":299,"x299":"a"}`}},
	{"product of unions", `{"type":"object","allOf":[` + repeat(12, `{"anyOf":[{"required":["a%d"],"properties":{"a%d":{"type":"string"}}},{"required":["b%d"],"properties":{"b%d":{"type":"number"}}}]}`) + `]}`,
		[]string{`{` + repeat(12, `"a%d":"x"`) + `}`, `{` + repeat(12, `"b%d":1`) + `}`}},
	{"all types", `{"type":["string","number","boolean","null","array","object","integer"]}`, []string{`"a"`, `1`, `[]`, `{"a":1}`, `null`, `true`}},
	{"at least five hundred items", `{"type":"array","minItems":500,"items":{"type":"string"}}`, []string{`[` + repeat(500, `"a"`) + `]`}},
	{"five or six items", `{"type":"array","minItems":5,"maxItems":6,"items":{"type":"string"}}`, []string{`["a","b","c","d","e"]`, `["a","b","c","d","e","f"]`}},
	{"no items", `{"type":"array","maxItems":0}`, []string{`[]`}},
	{"long tuple", `{"type":"array","prefixItems":[` + repeat(300, `{"type":"string"}`) + `],"items":false}`, []string{`[` + repeat(300, `"a"`) + `]`, `[]`, `["a"]`}},
	{"tuple and rest", `{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"minItems":1,"items":{"type":"boolean"}}`,
		[]string{`["a"]`, `["a",1]`, `["a",1,true,false]`}},
	{"inherited names", `{"type":"object","properties":{"toString":{"type":"number"},"valueOf":{"type":"string"},"constructor":{"type":"number"}},"additionalProperties":false}`,
		[]string{`{}`, `{"toString":1}`, `{"constructor":1,"valueOf":"x"}`}},
	{"required inherited names", `{"type":"object","properties":{"toString":{"type":"number"},"a":{"type":"number"}},"required":["toString"],"additionalProperties":{"type":"string"}}`,
		[]string{`{"toString":1}`, `{"toString":1,"a":2,"b":"c"}`}},
	{"map", `{"type":"object","additionalProperties":{"type":"number"}}`, []string{`{}`, `{"toString":1}`, `{"constructor":1,"__proto__":2}`}},
	{"then", `{"type":"object","properties":{"then":{"type":"object","properties":{"then":{}}}},"required":["then"]}`, []string{`{"then":{}}`, `{"then":{"then":1}}`}},
	{"array of itself", `{"type":"array","items":{"$ref":"#"}}`, []string{`[]`, `[[],[[]]]`}},
	{"map of itself", `{"type":"object","additionalProperties":{"$ref":"#"}}`, []string{`{}`, `{"a":{"b":{}}}`}},
	{"union with itself", `{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}},{"type":"object","additionalProperties":{"$ref":"#"}}]}`,
		[]string{`"a"`, `["a",["b"]]`, `{"a":{"b":["c"]}}`}},
	{"two that need each other", `{"$defs":{"A":{"anyOf":[{"$ref":"#/$defs/B"},{"type":"null"}]},"B":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/A"}},{"type":"string"}]}},"$ref":"#/$defs/A"}`,
		[]string{`null`, `[null,["a"]]`}},
	{"tuples of itself", `{"type":["array","null"],"prefixItems":[{"type":"array","prefixItems":[{"$ref":"#"}]}]}`, []string{`[]`, `null`, `[[null]]`, `[[[[]]],1]`}},
	{"rest of itself", `{"anyOf":[{"type":"string"},{"type":"array","prefixItems":[{"$ref":"#"}],"items":{"type":"array","items":{"$ref":"#"}}}]}`,
		[]string{`"a"`, `["a",["b"]]`, `[["a"],[["b"]]]`}},
	{"only in the index signature", `{"$defs":{"A":{"type":"object","properties":{"next":{"$ref":"#/$defs/A"}}}},"type":"object","properties":{"x":{"const":"a"}},"additionalProperties":{"$ref":"#/$defs/A"}}`,
		[]string{`{}`, `{"x":"a","y":{"next":{}}}`}},
	{"named fields and patterns", `{"type":"object","properties":{"xa":{"type":"integer"}},"patternProperties":{"^x":{"type":"number"},"y$":{"type":"string"}},"additionalProperties":{"type":"boolean"}}`,
		[]string{`{"xa":1,"xb":1.5,"ay":"s","z":true}`}},
	{"names of properties", `{"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"string"}}`, []string{`{"a":"1"}`, `{}`}},
	{"dependencies", `{"type":"object","dependentRequired":{"a":["b"]},"dependentSchemas":{"a":{"properties":{"c":{"type":"string"}}}},"properties":{"a":{"type":"number"}}}`,
		[]string{`{"a":1,"b":2,"c":"s"}`, `{"c":4}`}},
	{"choice of required", `{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false}`,
		[]string{`{"a":"x"}`, `{"b":"y"}`}},
	{"embedded resources", `{"$id":"http://x.test/a","$defs":{"B":{"$id":"b","type":"object","properties":{"c":{"$ref":"#/$defs/C"}},"$defs":{"C":{"type":"string"}}},"C":{"type":"number"}},
		"properties":{"b":{"$ref":"b"},"c":{"$ref":"#/$defs/C"},"d":{"$ref":"http://x.test/b#/$defs/C"}},"type":"object"}`, []string{`{"b":{"c":"s"},"c":1,"d":"s"}`}},
	{"dynamic reference", `{"$dynamicAnchor":"n","type":"object","properties":{"a":{"$dynamicRef":"#n"}},"additionalProperties":false}`, []string{`{"a":{"a":{}}}`}},
	{"draft 2019-09", `{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}},"unevaluatedProperties":false}`,
		[]string{`{"a":{"a":{}}}`}},
	{"draft-04", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true},"b":{"$ref":"#/definitions/x","type":"string"}},
		"definitions":{"x":{"type":"number"}}}`, []string{`{"a":2,"b":3}`}},
}

// edgeClaims are about the edges.
func edgeClaims(t *testing.T) []claim {
	t.Helper()
	var claims []claim
	for i, edge := range edges {
		s, err := schema.Parse([]byte(edge.schema))
		if err != nil {
			t.Errorf("%s: %v", edge.name, err)
			continue
		}
		var values [][]byte
		for _, value := range edge.values {
			if err := s.Validate([]byte(value)); err != nil {
				t.Errorf("%s: %v", edge.name, err)
			}
			values = append(values, []byte(value))
		}
		r := rand.New(rand.NewPCG(uint64(i), 5))
		for range 4 {
			values = append(values, schematest.Instance(r, []byte(edge.schema)))
		}
		claims = append(claims, forms(sort(edge.name, s, values, s.Validate), fmt.Sprint("edge", i), false)...)
	}
	return claims
}

// TestNames declares tools with every name that a catalog gives them where they are called like something of the language, of its
// library or of the guest, all of them beside the guest's own declarations.
func TestNames(t *testing.T) {
	t.Parallel()
	names := strings.Fields(`abstract any as asserts async await bigint boolean break case catch class const constructor debugger declare default delete do
		else enum export extends false finally for from function get global if implements import in infer instanceof interface intrinsic is keyof let
		module namespace never new null number object of out override package private protected public readonly require return satisfies set static
		string super switch symbol this throw true try type typeof undefined unique unknown using var void while with yield eval arguments
		globalThis Infinity NaN __proto__ prototype Tool tool API Skill ToolHandle ToolError ToolDescription APIFile skills catalog text json console
		Input Output OutputByInput Output0 exports process document window self 9lives a-b 名前`)
	library, err := filepath.Glob(filepath.Join(tscheck.Require(t), "lib", "lib.es20*.d.ts"))
	if err != nil || len(library) == 0 {
		t.Fatalf("no declarations of the library: %v", err)
	}
	for _, path := range append(library, filepath.Join(tscheck.Require(t), "lib", "lib.es5.d.ts")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^(?:declare )?(?:var|function|namespace|type|interface) (\w+)`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
	}
	slices.Sort(names)
	var tools []*toolcatalog.Tool
	for _, name := range slices.Compact(names) {
		tools = append(tools, toolcatalog.DefineRaw(toolcatalog.Spec{Name: name, Description: "Something."},
			func(context.Context, json.RawMessage) (any, error) { return nil, nil }))
	}
	catalog, err := toolcatalog.New(tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	parse := func(text string) *schema.Schema {
		s, err := schema.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	recursive := parse(`{"type":"object","properties":{"op":{"type":"string"},"next":{"$ref":"#"},"names":{"$ref":"#/$defs/Array"}},
		"$defs":{"Array":{"type":"array","items":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/Array"}]}}}}`)
	selected := parse(`{"anyOf":[{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]},{"type":"array","items":{"type":"null"}}],
		"` + schema.DiscriminatorKeyword + `":{"version":1,"inputProperty":"op","mapping":{"list":0,"drop-all":1}}}`)
	plain, overloaded := tscheck.Group{"guest.d.ts": guestFile()}, tscheck.Group{"guest.d.ts": guestFile()}
	for i, tool := range catalog.All() {
		// The compiler wants the names of files to differ in more than case, so they have numbers.
		name, declaration, use := tool.CallableName, fmt.Sprintf("%d.d.ts", i), fmt.Sprintf("%d-use.ts", i)
		plain[declaration] = declgen.Declare(declgen.Function{Name: name, Input: recursive, Output: recursive})
		plain[use] = "const x: string | undefined = (await " + name + "({})).next?.next?.names?.[0]?.at(0) as string; export { x };"
		overloaded[declaration] = declgen.Declare(declgen.Function{Name: name, Input: recursive, Output: selected})
		overloaded[use] = "const x: string = (await " + name + `({ op: "list" })).n; export { x };`
	}
	if len(plain) < 500 {
		t.Errorf("only %d names were tried", len(plain)/2)
	}
	for _, found := range tscheck.CheckAll(t, []tscheck.Group{plain, overloaded}) {
		for _, d := range found {
			t.Error(d)
		}
	}
}

// TestDefinitionNames declares types that are called like something of the language, of the library or of the declaration itself.
func TestDefinitionNames(t *testing.T) {
	t.Parallel()
	tscheck.Require(t)
	names := append(strings.Fields(`Input Output OutputByInput Output0 Array Promise Record Exclude Partial string number any unknown never void object undefined
		null type namespace module f globalThis this then default await yield let static implements infer readonly unique keyof __proto__ constructor
		a-b a_b a.b 9x $ _ x/y x~y é 名 🦀 "quote" String Object`), "", " ", "a b", "*/", "\u2028", "%41", "#")
	var groups []tscheck.Group
	for _, name := range names {
		pointer := strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", " ", "%20", "\"", "%22").Replace(name)
		definition := map[string]any{"type": "object", "required": []string{"label"}, "properties": map[string]any{
			"self": map[string]any{"$ref": "#/$defs/" + pointer}, "other": map[string]any{"$ref": "#/$defs/" + pointer + "_2"}, "label": map[string]any{"type": "string"},
		}}
		text, err := json.Marshal(map[string]any{"type": "object", "$defs": map[string]any{name: definition, name + "_2": definition},
			"properties": map[string]any{"x": map[string]any{"$ref": "#/$defs/" + pointer}, "me": map[string]any{"$ref": "#"}}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Parse(text)
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		groups = append(groups, tscheck.Group{
			"f.d.ts": declgen.Declare(declgen.Function{Name: "f", Input: s, Output: s}),
			"use.ts": `const out = await f({ me: {}, x: { label: "", self: { label: "", other: { label: "" } } } });
const label: string | undefined = out.me?.me?.x?.self?.other?.self?.label;
// @ts-expect-error
f({ x: { self: {} } });
export { label };`,
		})
	}
	for i, found := range tscheck.CheckAll(t, groups) {
		for _, d := range found {
			t.Errorf("%q: %v\n%s", names[i], d, groups[i]["f.d.ts"])
		}
	}
}
