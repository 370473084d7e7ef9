package toolcatalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

// selecting is a tool that returns the member result of its input, whose operation selects the form of that.
func selecting(t testing.TB, output *schema.Schema) *toolcatalog.Tool {
	t.Helper()
	return toolcatalog.DefineRaw(toolcatalog.Spec{
		Name:   "records",
		Input:  mustParse(t, `{"type":"object","properties":{"op":{"default":"list"}}}`),
		Output: output,
	}, func(_ context.Context, input json.RawMessage) (any, error) {
		var in struct{ Result json.RawMessage }
		err := json.Unmarshal(input, &in)
		return in.Result, err
	})
}

// Case C026: the result must match the branch that the operation selects, and everything that holds for all operations.
func TestSelectedResults(t *testing.T) {
	t.Parallel()
	const rows, gone = `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"string"}}},"required":["rows"]}`,
		`{"type":"object","properties":{"gone":{"type":"boolean"}},"required":["gone"]}`
	schemaText := func(first, second, more string) string {
		return fmt.Sprintf(`{"type":"object","properties":{"owner":{"const":"me"}},"required":["owner"],"anyOf":[%s,%s],
			"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"list":0,"drop":1}}%s}`, first, second, more)
	}
	narrow := newCatalog(t, selecting(t, mustParse(t, schemaText(rows, gone, ""))))
	broad := newCatalog(t, selecting(t, mustParse(t, schemaText(`{"$ref":"#/$defs/Rows"}`, `{"$ref":"#/$defs/Gone"}`,
		`,"$defs":{"Rows":`+rows+`,"Gone":`+gone+`}`))))
	for _, tt := range []struct {
		input                string
		inNarrow, inUmbrella bool
	}{
		{`{"op":"list","result":{"owner":"me","rows":["a"]}}`, true, true},
		{`{"op":"list","result":{"owner":"me","gone":true}}`, false, true},
		{`{"op":"list","result":{"rows":["a"]}}`, false, false},
		{`{"op":"drop","result":{"owner":"me","gone":true}}`, true, true},
		{`{"op":"drop","result":{"owner":"me","rows":["a"]}}`, false, true},
		{`{"result":{"owner":"me","gone":true}}`, false, true}, // by default a list
		{`{"op":"dr\u006fp","result":{"owner":"me","gone":true}}`, true, true},
		{`{"op":"other","result":{"owner":"me","gone":true}}`, true, true}, // not mapped
		{`{"op":1,"result":{"owner":"me","gone":true}}`, true, true},
		{`{"op":null,"result":{"owner":"me","gone":true}}`, true, true},
		{`{"op":"other","result":{"gone":true}}`, false, false},
		{`{"in":{"op":"list"},"op":"drop","result":{"owner":"me","gone":true,"op":"list"}}`, true, true},
	} {
		for c, ok := range map[*toolcatalog.Catalog]bool{narrow: tt.inNarrow, broad: tt.inUmbrella} {
			_, err := c.Call(t.Context(), "records", json.RawMessage(tt.input))
			if (err == nil) != ok {
				t.Errorf("%s: %v, narrow %v", tt.input, err, c == narrow)
			}
			if err != nil {
				callFails(t, err, toolcatalog.CodeOutputContract, toolcatalog.EffectStatusUnknown)
			}
		}
	}
}

// A hook that changes the operation must not give a program the result of another one than it asked for.
func TestSelectionRewrittenByAHook(t *testing.T) {
	t.Parallel()
	items := mustParse(t, `{"type":"object","properties":{"items":{"type":"array"}},"required":["items"],"additionalProperties":false}`)
	status := mustParse(t, `{"type":"object","properties":{"ready":{"type":"boolean"}},"required":["ready"],"additionalProperties":false}`)
	output, err := schema.Variants("op", schema.Variant{Value: "list", Schema: items}, schema.Variant{Value: "search", Schema: items},
		schema.Variant{Value: "status", Schema: status}, schema.Variant{Value: "any", Schema: mustParse(t, `{"type":"object"}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, given, executed string // values of op, as JSON
		result                string
		message               string // a part; empty: the call succeeds
	}{
		{"same", `"list"`, `"list"`, `{"items":[]}`, ""},
		{"shared branch", `"list"`, `"search"`, `{"items":[]}`, ""},
		{"compatible result", `"any"`, `"status"`, `{"ready":true}`, ""},
		{"given value is not mapped", `"fresh"`, `"status"`, `{"ready":true}`, ""},
		{"given value is no string", `1`, `"status"`, `{"ready":true}`, ""},
		{"executed value is not mapped", `"list"`, `"fresh"`, `{"items":[]}`, ""},
		{"incompatible", `"list"`, `"status"`, `{"ready":true}`, `records ran, but a hook of the host had changed "op" in its input, and the result, which is withheld, is not one of the call as it was made: `},
		{"incompatible with a value that is not mapped", `"list"`, `"fresh"`, `{"ready":true}`, `had changed "op" in its input`},
		{"wrong for the executed one", `"list"`, `"status"`, `{"items":[]}`, `records ran, but its result does not match its output schema`},
		{"wrong for both", `"list"`, `"search"`, `{"ready":true}`, `records ran, but its result does not match its output schema`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var seen string
			c := newCatalogWith(t, toolcatalog.Options{Hooks: []toolcatalog.Hook{{
				Before: func(context.Context, toolcatalog.Call) (json.RawMessage, error) {
					return fmt.Appendf(nil, `{"op":%s,"result":%s}`, tt.executed, tt.result), nil
				},
				After: func(_ context.Context, call toolcatalog.Call, _ json.RawMessage) (json.RawMessage, error) {
					seen = string(call.Input)
					return nil, nil
				},
			}}}, selecting(t, output))
			got, err := c.Call(t.Context(), "records", fmt.Appendf(nil, `{"op":%s}`, tt.given))
			if seen == "" {
				t.Error("the tool did not run")
			}
			if tt.message == "" {
				if err != nil || string(got) != tt.result {
					t.Errorf("got %s, %v", got, err)
				}
				return
			}
			failure := callFails(t, err, toolcatalog.CodeOutputContract, toolcatalog.EffectStatusUnknown)
			if !strings.Contains(failure.Message(), tt.message) || !strings.HasSuffix(failure.Message(), "check the state before calling it again.") || got != nil {
				t.Errorf("got %s, %s", got, failure.Message())
			}
			if len(failure.Problems) == 0 || strings.Contains(failure.Message(), "list") {
				t.Errorf("%+v", failure)
			}
		})
	}
}

// Only a hook is blamed for a change of the selection, not what becomes of the input anyway.
func TestSelectionOfAnIntegerAsText(t *testing.T) {
	t.Parallel()
	output, err := schema.Variants("id",
		schema.Variant{Value: "9007199254740993", Schema: mustParse(t, `{"type":"string"}`)},
		schema.Variant{Value: "1", Schema: mustParse(t, `{"type":"integer"}`)})
	if err != nil {
		t.Fatal(err)
	}
	c := newCatalogWith(t, toolcatalog.Options{Hooks: []toolcatalog.Hook{{}}}, toolcatalog.DefineRaw(toolcatalog.Spec{
		Name: "t", Input: mustParse(t, `{"type":"object","properties":{"id":{"type":"integer"}}}`), Output: output,
	}, func(context.Context, json.RawMessage) (any, error) { return 1, nil }))
	if got, err := c.Call(t.Context(), "t", json.RawMessage(`{"id":"9007199254740993"}`)); err != nil || string(got) != "1" {
		t.Errorf("got %s, %v", got, err)
	}
}
