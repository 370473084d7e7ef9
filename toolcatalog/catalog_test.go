package toolcatalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

// returning is a function that takes nothing and returns value.
func returning[Out any](value Out) func(context.Context, struct{}) (Out, error) {
	return func(context.Context, struct{}) (Out, error) { return value, nil }
}

func taking[In any]() func(context.Context, In) (any, error) {
	return func(context.Context, In) (any, error) { return nil, nil }
}

type selfDescribing struct{}

func (selfDescribing) JSONSchema() *jsonschema.Schema { panic("no schema today") }

func TestNewNamesEveryBadDefinition(t *testing.T) {
	t.Parallel()
	tools := []*toolcatalog.Tool{
		named("good"),
		nil,
		named("  "),
		named("a\nb"),
		named("a\xffb"),
		named(strings.Repeat("x", toolcatalog.MaxToolNameBytes+1)),
		toolcatalog.Define[struct{}, string](toolcatalog.Spec{Name: "no_function"}, nil),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "no_raw_function"}, nil),
		toolcatalog.Define(toolcatalog.Spec{Name: "takes_string"}, taking[string]()),
		toolcatalog.Define(toolcatalog.Spec{Name: "takes_list"}, taking[[]int]()),
		toolcatalog.Define(toolcatalog.Spec{Name: "takes_channel"}, taking[struct{ C chan int }]()),
		toolcatalog.Define(toolcatalog.Spec{Name: "gives_channel"}, returning(struct{ C chan int }{})),
		rawTool(toolcatalog.Spec{Name: "string_schema", Input: mustParse(t, `{"type":"string"}`)}),
		named("good"),
		rawTool(toolcatalog.Spec{Name: "odd_source", Source: 9}),
		rawTool(toolcatalog.Spec{Name: "odd_effect", Effect: 9}),
		toolcatalog.Define(toolcatalog.Spec{Name: "describes_itself"}, taking[selfDescribing]()),
	}
	c, err := toolcatalog.New(tools, nil)
	if c != nil {
		t.Error("a catalog in spite of errors")
	}
	var list toolcatalog.DefinitionErrors
	if !errors.As(err, &list) {
		t.Fatalf("got %v", err)
	}
	if len(list) != len(tools)-1 {
		t.Fatalf("%d errors for %d bad tools:\n%v", len(list), len(tools)-1, err)
	}
	reasons := []string{
		"is nil", "blank", "control character", "not valid UTF-8", "at most 16384", "function is nil", "function is nil",
		"does not accept an object", "does not accept an object", "input schema: ", "output schema: ", "does not accept an object",
		"same name", "unknown source", "unknown effect",
		"panic: no schema today",
	}
	for i, bad := range list {
		if bad.Index != i+1 {
			t.Errorf("error %d is about tool %d: %v", i, bad.Index, bad)
		}
		if i > 0 && bad.Name != tools[i+1].Name() {
			t.Errorf("error %d is about tool %q: %v", i, bad.Name, bad)
		}
		if !strings.Contains(bad.Error(), reasons[i]) {
			t.Errorf("error %d does not say %q: %v", i, reasons[i], bad)
		}
		if !strings.Contains(err.Error(), bad.Error()) {
			t.Errorf("the whole error leaves out %v", bad)
		}
	}
	if len(err.Error()) > 4096 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func TestDefinitionErrorText(t *testing.T) {
	t.Parallel()
	_, err := toolcatalog.New([]*toolcatalog.Tool{named(" ")}, nil)
	if want := `toolcatalog: bad definition: tool " " (index 0): the name is blank`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	var one *toolcatalog.DefinitionError
	if !errors.As(err, &one) || one.Index != 0 {
		t.Errorf("errors.As finds %v", one)
	}
	_, err = toolcatalog.New(make([]*toolcatalog.Tool, 1000), nil)
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 22 || lines[21] != "and 980 more" {
		t.Errorf("got %v", err)
	}
}

func TestNewEmpty(t *testing.T) {
	t.Parallel()
	made, err := toolcatalog.New(nil, &toolcatalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*toolcatalog.Catalog{made, {}} {
		if c.Len() != 0 || len(c.All()) != 0 || len(c.Search("a word", 5)) != 0 || len(c.Skills()) != 0 || len(c.SearchSkills("a word", 5)) != 0 ||
			c.QuickIndex(0) != "" || len(c.Files("")) != 2 || c.MayAsk() || c.MayRefuse() {
			t.Errorf("%v is not empty", c)
		}
		_, err = c.Call(t.Context(), "x", nil)
		callFails(t, err, toolcatalog.CodeUnknownTool, toolcatalog.EffectStatusNone)
	}
}

func TestClientToolTakesThePlaceOfANativeOne(t *testing.T) {
	t.Parallel()
	native := toolcatalog.Define(toolcatalog.Spec{Name: "get-it"}, returning("native"))
	client := toolcatalog.Define(toolcatalog.Spec{Name: "get-it", Source: toolcatalog.Client}, returning("client"))
	for _, tools := range [][]*toolcatalog.Tool{{native, client, named("other")}, {named("other"), client, native}} {
		c := newCatalog(t, tools...)
		if c.Len() != 2 || c.Count(toolcatalog.Client) != 1 || c.Count(toolcatalog.Native) != 1 {
			t.Errorf("%d tools: %d client, %d native", c.Len(), c.Count(toolcatalog.Client), c.Count(toolcatalog.Native))
		}
		if got, err := c.Call(t.Context(), "get_it", nil); err != nil || string(got) != `"client"` {
			t.Errorf("got %s, %v", got, err)
		}
	}
	if _, err := toolcatalog.New([]*toolcatalog.Tool{native, client, client}, nil); err == nil {
		t.Error("two client tools of one name: no error")
	}
}

func TestToolInSeveralCatalogs(t *testing.T) {
	t.Parallel()
	tool := named("llm-task")
	alone, both := newCatalog(t, tool), newCatalog(t, tool, named("llm_task"))
	if got := alone.All()[0].CallableName; got != "llm_task" {
		t.Errorf("alone: %q", got)
	}
	if got, _ := both.Lookup("llm_task"); got.ToolName != "llm_task" {
		t.Errorf("both: llm_task is %q", got.ToolName)
	}
}

// Input schemas that could accept an object pass, whatever else they say; the others are named by New.
func TestInputRoot(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema string
		ok     bool
	}{
		{`true`, true},
		{`{}`, true},
		{`{"type":"object"}`, true},
		{`{"type":["null","object"]}`, true},
		{`{"properties":{"a":{"type":"string"}}}`, true},
		{`{"enum":[{"a":1},2]}`, true},
		{`{"const":{}}`, true},
		{`{"$ref":"#/$defs/In","$defs":{"In":{"type":"object"}}}`, true},
		{`{"$ref":"#/$defs/a~1b~0c","$defs":{"a/b~c":{"type":"object"}}}`, true},
		{`{"anyOf":[{"type":"string"},{"type":"object"}]}`, true},
		{`{"$ref":"#/$defs/A","$defs":{"A":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/B"}]},"B":{"type":"object"}}}`, true},
		{` false `, false},
		{`{"type":"array"}`, false},
		{`{"type":["string","null"]}`, false},
		{`{"enum":[1,"a"]}`, false},
		{`{"const":null}`, false},
		{`{"$ref":"#/$defs/In","$defs":{"In":{"type":"string"}}}`, false},
		{`{"anyOf":[{"type":"string"},{"type":"number"}]}`, false},
		{`{"oneOf":[{"type":"string"},false]}`, false},
		{`{"allOf":[{"type":["object","string"]},{"type":"string"}]}`, false},
	} {
		_, err := toolcatalog.New([]*toolcatalog.Tool{rawTool(toolcatalog.Spec{Name: "t", Input: mustParse(t, tt.schema)})}, nil)
		if ok := err == nil; ok != tt.ok {
			t.Errorf("%s: %v", tt.schema, err)
		}
	}
}

type sharedInput struct {
	ID int `json:"id"`
}

func TestSchemasAreDerivedOncePerType(t *testing.T) {
	t.Parallel()
	const n = 2_000
	var tools []*toolcatalog.Tool
	for i := range n {
		tools = append(tools, toolcatalog.Define(toolcatalog.Spec{Name: fmt.Sprintf("tool_%d", i)},
			func(_ context.Context, in sharedInput) (sharedInput, error) { return in, nil }))
	}
	c := newCatalog(t, tools...)
	if got, err := c.Call(t.Context(), "tool_1999", json.RawMessage(`{"id":1}`)); err != nil || string(got) != `{"id":1}` {
		t.Fatalf("got %s, %v", got, err)
	}
	_, err := c.Call(t.Context(), "tool_0", json.RawMessage(`{"id":"x"}`))
	failure := callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
	var invalid *schema.ValidationError
	if !errors.As(failure, &invalid) {
		t.Error("the validation error is not in the chain")
	}
}
