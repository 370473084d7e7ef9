package toolcatalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/toolcatalog"
)

type branch map[string]*branch

// A nil pointer is null for encoding/json, and null must not break the contract that the Go type made.
func TestCallNilPointers(t *testing.T) {
	t.Parallel()
	type item struct {
		ID int `json:"id"`
	}
	type empty struct {
		ID int `json:"id,omitempty"`
	}
	c := newCatalog(t,
		toolcatalog.Define(toolcatalog.Spec{Name: "root"}, returning((*item)(nil))),
		toolcatalog.Define(toolcatalog.Spec{Name: "root_empty"}, returning((*empty)(nil))),
		toolcatalog.Define(toolcatalog.Spec{Name: "list"}, returning([]*item{{1}, nil})),
		toolcatalog.Define(toolcatalog.Spec{Name: "map"}, returning(map[string]*item{"a": nil})),
		toolcatalog.Define(toolcatalog.Spec{Name: "recursive"}, returning(branch{"a": nil, "b": {"c": nil}})),
		toolcatalog.Define(toolcatalog.Spec{Name: "big"}, returning(*big.NewInt(7))),
		toolcatalog.Define(toolcatalog.Spec{Name: "same_type_in"}, func(_ context.Context, in *item) (*item, error) { return in, nil }),
	)
	for name, want := range map[string]string{"root": `null`, "root_empty": `null`, "list": `[{"id":1},null]`, "map": `{"a":null}`,
		"recursive": `{"a":null,"b":{"c":null}}`, "big": `{}`} {
		if got, err := c.Call(t.Context(), name, nil); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	// An input is an object also for a pointer.
	_, err := c.Call(t.Context(), "same_type_in", json.RawMessage(`null`))
	callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
	if got, err := c.Call(t.Context(), "same_type_in", json.RawMessage(`{"id":1}`)); err != nil || string(got) != `{"id":1}` {
		t.Errorf("got %s, %v", got, err)
	}
}

type level string

func (l *level) UnmarshalText(text []byte) error { return errors.New("no level " + string(text)) }

// The problems of an input name places and rules, and never show a value.
func TestCallDecodeProblemsShowNoValue(t *testing.T) {
	t.Parallel()
	type inner struct {
		N int8 `json:"n,omitempty"`
	}
	type in struct {
		At     time.Time         `json:"at,omitzero"`
		Level  level             `json:"level,omitempty"`
		Quoted int               `json:"quoted,omitempty,string"`
		Small  int8              `json:"small,omitempty"`
		Wide   uint64            `json:"wide,omitempty"`
		Plain  int               `json:"plain,omitempty"`
		Text   string            `json:"text,omitempty"`
		Flag   bool              `json:"flag,omitempty"`
		Ratio  float32           `json:"ratio,omitempty"`
		List   []inner           `json:"list,omitempty"`
		Labels map[string]string `json:"labels,omitempty"`
		Bytes  []byte            `json:"bytes,omitempty"`
	}
	run := func(_ context.Context, v in) (in, error) { return v, nil }
	c := newCatalog(t,
		toolcatalog.Define(toolcatalog.Spec{Name: "own"}, run),
		toolcatalog.Define(toolcatalog.Spec{Name: "open", Input: mustParse(t, `{"type":"object"}`)}, run))
	for _, tt := range []struct{ tool, in, problem string }{
		{"own", `{"at":"secret"}`, "$ holds a text that cannot be read as a time in RFC 3339 form"},
		{"own", `{"level":"secret"}`, "$ holds a value that is not in the form the tool reads"},
		{"own", `{"quoted":"secret"}`, "$ holds a value that is not in the form the tool reads"},
		{"own", `{"bytes":"secret!"}`, "$ holds a value that is not in the form the tool reads"},
		{"own", `{"small":300}`, "$.small must be at most 127"},
		{"own", `{"wide":-1}`, "$.wide must be at least 0"},
		{"own", `{"plain":1e30}`, "$.plain must be an integer from -9223372036854775808 to 9223372036854775807"},
		{"own", `{"wide":99999999999999999999}`, "$.wide must be an integer from 0 to 18446744073709551615"},
		{"open", `{"small":300}`, "$.small must be an integer from -128 to 127"},
		{"open", `{"small":1.5}`, "$.small must be an integer from -128 to 127"},
		{"open", `{"small":"secret"}`, "$.small must be an integer from -128 to 127"},
		{"open", `{"list":[{"n":1000}]}`, "$.list.n must be an integer from -128 to 127"},
		{"open", `{"text":42}`, "$.text must be a string"},
		{"open", `{"flag":"secret"}`, "$.flag must be true or false"},
		{"open", `{"ratio":1e300}`, "$.ratio must be a number that a float32 can hold"},
		{"open", `{"list":"secret"}`, "$.list must be an array"},
		{"open", `{"labels":"secret"}`, "$.labels must be an object"},
		{"open", `{"bytes":42}`, "$.bytes must be a base64 string"},
	} {
		_, err := c.Call(t.Context(), tt.tool, json.RawMessage(tt.in))
		failure := callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
		text := failure.Message()
		if !strings.Contains(text, tt.problem) || strings.Contains(text, "secret") || strings.Contains(text, "300") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %s", tt.in, text)
		}
	}
	for in, want := range map[string]string{`{"plain":1.0}`: `{"plain":1}`, `{"small":1e2}`: `{"small":100}`} {
		if got, err := c.Call(t.Context(), "own", json.RawMessage(in)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}

type rereader struct{}

func (rereader) MarshalJSON() ([]byte, error) {
	var n int
	return nil, json.Unmarshal([]byte(`"secret"`), &n)
}

// A result that cannot be written is described as one, also where its marshal method failed to read something.
func TestCallMarshalMethodThatReads(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, toolcatalog.Define(toolcatalog.Spec{Name: "t"}, returning(rereader{})))
	_, err := c.Call(t.Context(), "t", nil)
	failure := callFails(t, err, toolcatalog.CodeOutputContract, toolcatalog.EffectStatusUnknown)
	if text := failure.Message(); !strings.Contains(text, "the marshal method of Go type toolcatalog_test.rereader failed") {
		t.Error(text)
	}
}

func TestNewReportsTags(t *testing.T) {
	t.Parallel()
	type in struct {
		Limit int `json:"limit" jsonschema:"minimun=3"`
	}
	_, err := toolcatalog.New([]*toolcatalog.Tool{
		toolcatalog.Define(toolcatalog.Spec{Name: "bad"}, func(context.Context, in) (int, error) { return 0, nil }),
		toolcatalog.Define(toolcatalog.Spec{Name: "channel"}, returning(make(chan int))),
	}, nil)
	var bad toolcatalog.DefinitionErrors
	if !errors.As(err, &bad) || len(bad) != 2 {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"toolcatalog_test.in", "Limit", "minimun=3"} {
		if !strings.Contains(bad[0].Error(), part) {
			t.Errorf("no %q in %v", part, bad[0])
		}
	}
	if strings.Contains(bad[1].Error(), "field") {
		t.Errorf("advice about a field that is not there: %v", bad[1])
	}
}

// A key that stands twice is read in as many ways as there are readers: nothing is executed, and no such result passes.
func TestRepeatedKeysAreRefused(t *testing.T) {
	t.Parallel()
	type transfer struct {
		Amount int    `json:"amount" jsonschema:"maximum=100"`
		To     string `json:"to,omitempty"`
	}
	type in struct {
		T transfer       `json:"t,omitzero"`
		M map[string]int `json:"m,omitempty"`
	}
	rewriting := func(text string) toolcatalog.Hook {
		return toolcatalog.Hook{Before: func(context.Context, toolcatalog.Call) (json.RawMessage, error) { return json.RawMessage(text), nil }}
	}
	returning := func(text string) toolcatalog.Hook {
		return toolcatalog.Hook{After: func(context.Context, toolcatalog.Call, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(text), nil
		}}
	}
	const twice = `{"t":{"amount":1000000,"to":"x"},"t":{"amount":1,"to":"me"}}`
	for _, tt := range []struct {
		name, input, result string
		hook                toolcatalog.Hook
		code                toolcatalog.ErrorCode
	}{
		{"field", twice, `{}`, toolcatalog.Hook{}, toolcatalog.CodeInputContract},
		{"map", `{"m":{"a":1000},"m":{"b":2}}`, `{}`, toolcatalog.Hook{}, toolcatalog.CodeInputContract},
		{"escaped", `{"m":{"a":1000},"\u006d":{"b":2}}`, `{}`, toolcatalog.Hook{}, toolcatalog.CodeInputContract},
		{"by a hook", `{}`, `{}`, rewriting(twice), toolcatalog.CodeRefused},
		{"result", `{}`, `{"ok":"secret","ok":true}`, toolcatalog.Hook{}, toolcatalog.CodeOutputContract},
		{"result of a hook", `{}`, `{"ok":true}`, returning(`{"ok":"secret","ok":true}`), toolcatalog.CodeOutputContract},
		{"once", `{"t":{"amount":1,"to":"t"},"m":{"t":2}}`, `{"ok":true}`, toolcatalog.Hook{}, ""},
	} {
		ran := false
		output := mustParse(t, `{"type":"object","properties":{"ok":{"type":"boolean"}}}`)
		tool := toolcatalog.Define(toolcatalog.Spec{Name: "t", Output: output}, func(context.Context, in) (json.RawMessage, error) {
			ran = true
			return json.RawMessage(tt.result), nil
		})
		c, err := toolcatalog.New([]*toolcatalog.Tool{tool}, &toolcatalog.Options{Hooks: []toolcatalog.Hook{tt.hook}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Call(t.Context(), "t", json.RawMessage(tt.input))
		if tt.code == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		failure, ok := errors.AsType[*toolcatalog.CallError](err)
		if !ok || failure.Code != tt.code || !strings.Contains(failure.Message(), "stands twice") || strings.Contains(failure.Message(), "secret") ||
			ran != failure.ExecutionStarted() {
			t.Errorf("%s: ran %t, %v", tt.name, ran, err)
		}
	}
}

// Looking for the names that were meant is bounded, whatever the schema and the input.
func TestInputHintsAreBounded(t *testing.T) {
	t.Parallel()
	var properties, keys strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&properties, `,"property_%d":{}`, i)
	}
	for i := range 4_000 {
		fmt.Fprintf(&keys, `,"propertie_%d":1`, i)
	}
	for _, size := range []int{1_000, properties.Len()} {
		text := properties.String()[1:size]
		text = text[:strings.LastIndex(text, ",")]
		c := newCatalog(t, rawTool(toolcatalog.Spec{Name: "t", Input: mustParse(t, `{"type":"object","properties":{`+text+`},"additionalProperties":false}`)}))
		began := time.Now()
		_, err := c.Call(t.Context(), "t", json.RawMessage("{"+keys.String()[1:]+"}"))
		callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
		if took := time.Since(began); took > 5*time.Second { // it was 40
			t.Errorf("%d bytes of properties: it took %s", size, took)
		}
	}
}
