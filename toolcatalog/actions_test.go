package toolcatalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

type listInput struct {
	Limit int    `json:"limit,omitempty" jsonschema:"minimum=1,default=20"`
	After *int64 `json:"after,omitempty"`
}

type listResult struct {
	IDs   []int64 `json:"ids"`
	Limit int     `json:"limit"`
}

type dropInput struct {
	ID int64 `json:"id"`
}

type dropResult struct {
	Gone int64 `json:"gone"`
}

type chain struct {
	Name string `json:"name"`
	Next *chain `json:"next,omitempty"`
}

var errLocked = errors.New("locked")

// records is a tool with an action of each kind.
func records(spec toolcatalog.Spec) *toolcatalog.Tool {
	return toolcatalog.DefineActions(spec, "action",
		toolcatalog.On("list", func(_ context.Context, in listInput) (listResult, error) {
			r := listResult{Limit: in.Limit}
			if in.After != nil {
				r.IDs = []int64{*in.After + 1}
			}
			return r, nil
		}),
		toolcatalog.On("drop", func(_ context.Context, in dropInput) (dropResult, error) { return dropResult{in.ID}, nil }),
		toolcatalog.On("status", func(context.Context, struct{}) (bool, error) { return true, nil }),
		toolcatalog.On("label", func(_ context.Context, in map[string]int64) (any, error) { return in, nil }),
		toolcatalog.On("chain", func(_ context.Context, in *chain) (*chain, error) { return in.Next, nil }),
		toolcatalog.On("fail", func(context.Context, struct{}) (json.RawMessage, error) { return nil, errLocked }),
		toolcatalog.On("explode", func(context.Context, struct{}) (int, error) { panic("boom") }),
	)
}

func TestActions(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, records(toolcatalog.Spec{Name: "records"}))
	for _, tt := range []struct{ in, want string }{
		{`{"action":"list"}`, `{"ids":[],"limit":20}`},
		{`{"limit":3,"after":"9007199254740993","action":"list"}`, `{"ids":[9007199254740994],"limit":3}`},
		{`{"action":"list","after":1915883588174806058,"limit":1e1}`, `{"ids":[1915883588174806059],"limit":10}`},
		{`{"action":"drop","id":"-1915883588174806058"}`, `{"gone":-1915883588174806058}`},
		{`{"\u0061ction":"dr\u006fp","id":7}`, `{"gone":7}`},
		{`{"action":"status"}`, `true`},
		{`{"b":2,"action":"label","a":"9007199254740993"}`, `{"a":9007199254740993,"b":2}`},
		{`{"action":"label"}`, `{}`},
		{`{"action":"chain","name":"a","next":{"name":"b","next":{"name":"c"}}}`, `{"name":"b","next":{"name":"c"}}`},
		{`{"action":"chain","name":"a"}`, `null`},
	} {
		got, err := c.Call(t.Context(), "records", json.RawMessage(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.in, got, err, tt.want)
		}
	}
}

// An input that does not match gives the problems of its action, and of no other.
func TestActionsInputProblems(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, records(toolcatalog.Spec{Name: "records"}))
	const all = `"list", "drop", "status", "label", "chain", "fail", "explode"`
	for _, tt := range []struct{ in, want string }{
		{`{"action":"list","limit":0}`, `$.limit must be at least 1`},
		{`{"action":"list","id":7}`, `$ the property "id" is not allowed; known are "action", "limit", "after"`},
		{`{"action":"drop"}`, `$ the required property "id" is missing`},
		{`{"action":"status","x":1}`, `$ the property "x" is not allowed; known are "action"`},
		{`{"action":"label","x":"y"}`, `$.x must be integer, not string`},
		{`{"action":"chain","name":"a","next":{"name":1}}`, `$.next.name must be string, not number`},
		{`{"action":"chain","name":"a","next":{"name":"b","action":"chain"}}`, `$.next the property "action" is not allowed; known are "name", "next"`},
		{`{"action":"delete"}`, `$.action must be one of ` + all},
		{`{"action":{"list":1}}`, `$.action must be one of ` + all},
		{`{"limit":3}`, `$ the required property "action" is missing; it must be one of ` + all},
		{``, `$ the required property "action" is missing; it must be one of ` + all},
		{`["list"]`, `$ must be object, not array`},
	} {
		_, err := c.Call(t.Context(), "records", json.RawMessage(tt.in))
		failure := callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
		var got []string
		for _, p := range failure.Problems {
			got = append(got, p.Path+" "+p.Message)
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.in, strings.Join(got, "; "), tt.want)
		}
	}
}

func TestActionsFailures(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, records(toolcatalog.Spec{Name: "records"}))
	_, err := c.Call(t.Context(), "records", json.RawMessage(`{"action":"fail"}`))
	if failure := callFails(t, err, toolcatalog.CodeToolError, toolcatalog.EffectStatusUnknown); !errors.Is(err, errLocked) || failure.Message() != "locked" {
		t.Errorf("got %v", err)
	}
	_, err = c.Call(t.Context(), "records", json.RawMessage(`{"action":"explode"}`))
	callFails(t, err, toolcatalog.CodeToolError, toolcatalog.EffectStatusUnknown)
	if !errors.Is(err, toolcatalog.ErrPanic) {
		t.Errorf("got %v", err)
	}
}

// The schemas of a client tool are not applied, but its actions are told apart all the same.
func TestActionsOfAClient(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, records(toolcatalog.Spec{Name: "records", Source: toolcatalog.Client}))
	got, err := c.Call(t.Context(), "records", json.RawMessage(`{"action":"drop","id":7,"more":true}`))
	if err != nil || string(got) != `{"gone":7}` {
		t.Errorf("got %s, %v", got, err)
	}
	for _, in := range []string{`{"action":"delete"}`, `{"id":7}`, `{"action":7}`, `[]`, `7`, ``} {
		_, err := c.Call(t.Context(), "records", json.RawMessage(in))
		callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
	}
}

// A type that is particular about its keys does not see the property of the action.
type strict map[string]string

func (s *strict) UnmarshalText([]byte) error { return errors.New("never called") }

func TestActionsTakeTheProperty(t *testing.T) {
	t.Parallel()
	type shouting struct {
		Action string `json:"ACTION,omitempty"`
		Order  json.RawMessage
	}
	c := newCatalog(t, toolcatalog.DefineActions(toolcatalog.Spec{Name: "t"}, "action",
		toolcatalog.On("map", func(_ context.Context, in map[string]any) (any, error) { return slices.Sorted(maps.Keys(in)), nil }),
		toolcatalog.On("fields", func(_ context.Context, in shouting) (any, error) { return in, nil })))
	for _, tt := range []struct{ in, want string }{
		{`{"x":1,"action":"map","é":{"action":2}}`, `["x","é"]`},
		{`{"action":"fields","Order":{"z":1,"a":[1.50]}}`, `{"Order":{"z":1,"a":[1.50]}}`},
		{`{"ACTION":"loud","action":"fields","Order":0}`, `{"ACTION":"loud","Order":0}`},
	} {
		if got, err := c.Call(t.Context(), "t", json.RawMessage(tt.in)); err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.in, got, err, tt.want)
		}
	}
}

func TestActionsBadDefinitions(t *testing.T) {
	t.Parallel()
	type taken struct {
		Action string `json:"action"`
	}
	ok := toolcatalog.On("ok", func(context.Context, struct{}) (int, error) { return 1, nil })
	spec := toolcatalog.Spec{Name: "t"}
	define := func(actions ...toolcatalog.Action) *toolcatalog.Tool {
		return toolcatalog.DefineActions(spec, "action", actions...)
	}
	for _, tt := range []struct {
		tool *toolcatalog.Tool
		want []string
	}{
		{define(), []string{"there are no actions"}},
		{toolcatalog.DefineActions(spec, "", ok), []string{"no name"}},
		{toolcatalog.DefineActions(spec, "\xff", ok), []string{"valid UTF-8"}},
		{define(ok, ok), []string{`action "ok" (index 1): another action has the same value`}},
		{define(ok, toolcatalog.Action{}), []string{`action "" (index 1): the action has no value`}},
		{define(toolcatalog.On("", func(context.Context, struct{}) (int, error) { return 1, nil }), toolcatalog.On[struct{}, int]("nil", nil)),
			[]string{"the action has no value", `action "nil" (index 1): the function is nil`}},
		{define(toolcatalog.On("x", func(context.Context, int) (int, error) { return 1, nil })), []string{`action "x" (index 0): input schema:`, "a struct or a map"}},
		{define(toolcatalog.On("x", func(context.Context, any) (int, error) { return 1, nil })), []string{"a struct or a map"}},
		{define(toolcatalog.On("x", func(context.Context, strict) (int, error) { return 1, nil })), []string{"a struct or a map"}},
		{define(toolcatalog.On("x", func(context.Context, taken) (int, error) { return 1, nil })), []string{`the property "action" is there already`}},
		{define(toolcatalog.On("x", func(context.Context, struct{}) (chan int, error) { return nil, nil })), []string{`action "x" (index 0): output schema:`, "chan int"}},
		{define(toolcatalog.On("\xff", func(context.Context, struct{}) (int, error) { return 1, nil })), []string{"valid UTF-8"}},
		{toolcatalog.DefineActions(toolcatalog.Spec{Name: "t", Input: mustParse(t, `{}`)}, "action", ok), []string{"Spec.Input", "DefineRaw"}},
		{toolcatalog.DefineActions(toolcatalog.Spec{Name: "t", Output: mustParse(t, `{}`)}, "action", ok), []string{"Spec.Output", "DefineRaw"}},
	} {
		_, err := toolcatalog.New([]*toolcatalog.Tool{tt.tool}, nil)
		bad, isDefinition := errors.AsType[*toolcatalog.DefinitionError](err)
		for _, want := range tt.want {
			if !isDefinition || bad.Name != "t" || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want a DefinitionError with %q", err, want)
			}
		}
	}
}

func TestNewRefusesTheZeroSchema(t *testing.T) {
	t.Parallel()
	run := func(context.Context, json.RawMessage) (any, error) { return 1, nil }
	for _, spec := range []toolcatalog.Spec{{Name: "t", Input: &schema.Schema{}}, {Name: "t", Output: &schema.Schema{}}} {
		_, err := toolcatalog.New([]*toolcatalog.Tool{toolcatalog.DefineRaw(spec, run)}, nil)
		if bad, ok := errors.AsType[*toolcatalog.DefinitionError](err); !ok || !strings.Contains(bad.Error(), "zero Schema") {
			t.Errorf("got %v", err)
		}
	}
}

// A tool with an operation in its input, each with its own input and result.
func ExampleDefineActions() {
	type page struct {
		Limit int `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,default=2"`
	}
	type job struct {
		ID int64 `json:"id"`
	}
	jobs := toolcatalog.DefineActions(toolcatalog.Spec{Name: "jobs", Description: "Lists and cancels jobs."}, "action",
		toolcatalog.On("list", func(_ context.Context, in page) ([]job, error) {
			return make([]job, in.Limit), nil
		}),
		toolcatalog.On("cancel", func(_ context.Context, in job) (bool, error) {
			return in.ID != 0, nil
		}),
	)

	catalog, err := toolcatalog.New([]*toolcatalog.Tool{jobs}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, input := range []string{`{"action":"list"}`, `{"action":"cancel","id":7}`, `{"action":"list","limit":500}`, `{"action":"pause"}`} {
		result, err := catalog.Call(context.Background(), "jobs", json.RawMessage(input))
		if failure, ok := errors.AsType[*toolcatalog.CallError](err); ok {
			fmt.Println(failure.Problems[0].Path, failure.Problems[0].Message)
			continue
		}
		fmt.Println(string(result))
	}
	// Output:
	// [{"id":0},{"id":0}]
	// true
	// $.limit must be at most 100
	// $.action must be one of "list", "cancel"
}
