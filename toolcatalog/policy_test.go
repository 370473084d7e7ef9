package toolcatalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

func newCatalogWith(t testing.TB, opts toolcatalog.Options, tools ...*toolcatalog.Tool) *toolcatalog.Catalog {
	t.Helper()
	c, err := toolcatalog.New(tools, &opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// traced records when it is decoded and encoded.
type traced struct {
	record func(format string, args ...any)
	N      int
}

var tracedRecord atomic.Pointer[func(format string, args ...any)]

func (v *traced) UnmarshalJSON(text []byte) error {
	type plain struct{ N int }
	var p plain
	err := json.Unmarshal(text, &p)
	(*tracedRecord.Load())("decode %s", text)
	v.N = p.N
	return err
}

func (v traced) MarshalJSON() ([]byte, error) {
	v.record("encode")
	return fmt.Appendf(nil, `{"n":%d,"list":null}`, v.N), nil
}

// The order of a call, and what each stage gets to see.
func TestOrderOfACall(t *testing.T) {
	t.Parallel()
	var trace []string
	record := func(format string, args ...any) { trace = append(trace, fmt.Sprintf(format, args...)) }
	tracedRecord.Store(&record)
	hook := func(name string) toolcatalog.Hook {
		return toolcatalog.Hook{
			Before: func(_ context.Context, call toolcatalog.Call) (json.RawMessage, error) {
				record("before %s %s", name, call.Input)
				return json.RawMessage(`{ "N" : "9007199254740993", "by": "` + name + `" }`), nil
			},
			After: func(_ context.Context, call toolcatalog.Call, result json.RawMessage) (json.RawMessage, error) {
				record("after %s %s %s", name, call.Input, result)
				return fmt.Appendf(nil, ` {"n":1, "list":["%s"]}`, name), nil
			},
		}
	}
	c := newCatalogWith(t, toolcatalog.Options{
		Policy: toolcatalog.Policy{
			Offers: func(tool toolcatalog.Entry) bool {
				record("offers %s", tool.CallableName)
				return true
			},
			Decide: func(_ context.Context, call toolcatalog.Call) toolcatalog.Decision {
				record("decide %d %s %s", call.ID, call.Tool.ToolName, call.Input)
				return toolcatalog.Ask("it is new")
			},
		},
		Hooks: []toolcatalog.Hook{hook("a"), {}, hook("b")},
		Approver: func(_ context.Context, call toolcatalog.Call, reason string) error {
			record("approve %s: %s", call.Input, reason)
			return nil
		},
		Observer: func(_ context.Context, event toolcatalog.Event) { record("%s at %s", event.Kind, event.Stage) },
	}, toolcatalog.Define(
		toolcatalog.Spec{
			Name:  "trace-it",
			Input: mustParse(t, `{"type":"object","properties":{"N":{"type":"integer"},"limit":{"default":20}}}`),
			Output: mustParse(t, `{"type":"object","properties":{"n":{"type":"integer"},"list":{"type":"array"}},
				"required":["n","list"],"additionalProperties":false}`),
		},
		func(_ context.Context, in *traced) (traced, error) {
			record("run")
			return traced{record, in.N}, nil
		}))
	admission := c.Admit("trace_it")
	admission.OnApproval(func(waiting bool) { record("waiting %v", waiting) })
	admission.Do(t.Context(), json.RawMessage(`{ "N" : 1 }`), func(result json.RawMessage, err error) { record("done %s %v", result, err) })
	want := []string{
		`offers trace_it`,
		`decide 1 trace-it {"N":1}`,
		`before a {"N":1}`,
		`before b {"N":"9007199254740993","by":"a"}`,
		`decode {"N":9007199254740993,"by":"b","limit":20}`,
		`waiting true`,
		`approve {"N":9007199254740993,"by":"b","limit":20}: it is new`,
		`waiting false`,
		`started at run`,
		`run`,
		`encode`,
		`after b {"N":9007199254740993,"by":"b","limit":20} {"n":9007199254740993,"list":[]}`,
		`after a {"N":9007199254740993,"by":"b","limit":20} {"n":1,"list":["b"]}`,
		`finished at output`,
		`done {"n":1,"list":["a"]} <nil>`,
	}
	if !slices.Equal(trace, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(trace, "\n"), strings.Join(want, "\n"))
	}
}

var errHost = errors.New("the host says no")

// Whoever refuses: nothing is executed, the model reads who and why, and the host finds its own error.
func TestRefusals(t *testing.T) {
	t.Parallel()
	decide := func(d toolcatalog.Decision) toolcatalog.Options {
		return toolcatalog.Options{Policy: toolcatalog.Policy{Decide: func(context.Context, toolcatalog.Call) toolcatalog.Decision { return d }}}
	}
	before := func(input string, err error) toolcatalog.Options {
		return toolcatalog.Options{Hooks: []toolcatalog.Hook{{Before: func(context.Context, toolcatalog.Call) (json.RawMessage, error) {
			return json.RawMessage(input), err
		}}}}
	}
	approve := func(f func() error) toolcatalog.Options {
		return toolcatalog.Options{Approver: func(context.Context, toolcatalog.Call, string) error { return f() }}
	}
	refused, invalid := toolcatalog.CodeRefused, toolcatalog.CodeInvalidInput
	for _, tt := range []struct {
		name    string
		opts    toolcatalog.Options
		code    toolcatalog.ErrorCode
		message string
		is      error // beside ErrRefused
	}{
		{"zero decision", decide(toolcatalog.Decision{}), refused, "policy: this call is not allowed", nil},
		{"reason", decide(toolcatalog.Refuse("not on\xff Fridays")), refused, "policy: not on\ufffd Fridays", nil},
		{"nobody to ask", decide(toolcatalog.Ask("it is new")), refused, "policy: the call needs approval, and nobody can approve calls here", nil},
		{"hook", before("", errHost), refused, "hook: the host says no", errHost},
		{"hook, invalid input", before("", toolcatalog.InvalidInput(errHost)), invalid, "hook: the host says no", errHost},
		{"hook, not JSON", before("{secret", nil), refused, "hook: it rewrote the input to something that is not valid JSON: no object key at byte 1", nil},
		{"hook, empty", before("{}", nil), "", "", nil},
		{"approver", approve(func() error { return errHost }), refused, "approval: the host says no", errHost},
		{"approver, invalid input", approve(func() error { return toolcatalog.InvalidInput(errHost) }), invalid, "approval: the host says no", errHost},
		{"approver, a call of its own failed", approve(func() error { return &toolcatalog.CallError{Code: invalid, Err: toolcatalog.InvalidInput(errHost)} }),
			refused, `approval: toolcatalog: call of "" failed (invalid_input): the host says no`, errHost},
		{"approver approves", approve(func() error { return nil }), "", "", nil},
		{"policy panics", toolcatalog.Options{Policy: toolcatalog.Policy{Decide: func(context.Context, toolcatalog.Call) toolcatalog.Decision { panic("secret") }}},
			refused, "policy: it panicked; the log of the host has the details", toolcatalog.ErrPanic},
		{"hook panics", toolcatalog.Options{Hooks: []toolcatalog.Hook{{Before: func(context.Context, toolcatalog.Call) (json.RawMessage, error) { panic("secret") }}}},
			refused, "hook: it panicked; the log of the host has the details", toolcatalog.ErrPanic},
		{"approver panics", approve(func() error { panic("secret") }), refused, "approval: it panicked; the log of the host has the details", toolcatalog.ErrPanic},
		{"error whose text panics", approve(func() error { return (*nilError)(nil) }), refused, "approval: it panicked; the log of the host has the details", toolcatalog.ErrPanic},
		{"approver ends its goroutine", approve(func() error { runtime.Goexit(); return nil }), refused, "approval: it ended without an answer", toolcatalog.ErrNoResult},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			ran := 0
			tt.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
			c := newCatalogWith(t, tt.opts, toolcatalog.Define(toolcatalog.Spec{Name: "danger", Sequential: true},
				func(context.Context, any) (bool, error) {
					ran++
					return true, nil
				}))
			for range 2 { // the second call proves that the place of the first is free
				got, err := c.Call(t.Context(), "danger", json.RawMessage(`{"a":1}`))
				if tt.code == "" {
					if err != nil || string(got) != "true" {
						t.Errorf("got %s, %v", got, err)
					}
					continue
				}
				failure := callFails(t, err, tt.code, toolcatalog.EffectStatusNone)
				if want := "danger was not executed: " + tt.message; failure.Message() != want {
					t.Errorf("got  %s\nwant %s", failure.Message(), want)
				}
				if failure.ExecutionStarted() || !errors.Is(err, toolcatalog.ErrRefused) || tt.is != nil && !errors.Is(err, tt.is) {
					t.Errorf("%+v", failure)
				}
				if ran > 0 {
					t.Error("the function ran")
				}
			}
			if interrupted := tt.is == toolcatalog.ErrPanic || tt.is == toolcatalog.ErrNoResult; interrupted != strings.Contains(log.String(), "tool=danger") {
				t.Errorf("logged %s", log.String())
			}
		})
	}
}

// Case C077: a tool that is not offered is nowhere, and does not change the names of the others.
func TestPolicyOffers(t *testing.T) {
	t.Parallel()
	tools := []*toolcatalog.Tool{
		named("llm_task"), named("llm-task"), named("danger"), named("second"),
		rawTool(toolcatalog.Spec{Name: "danger", Source: toolcatalog.Client}),
		rawTool(toolcatalog.Spec{Name: "exclusive", Sequential: true}),
	}
	everything := newCatalog(t, tools...)
	asked := map[string]int{}
	var log bytes.Buffer
	c := newCatalogWith(t, toolcatalog.Options{
		Policy: toolcatalog.Policy{Offers: func(tool toolcatalog.Entry) bool {
			asked[tool.ToolName]++
			if tool.ToolName == "exclusive" {
				panic("no such rule")
			}
			return tool.ToolName != "danger" && tool.ToolName != "llm_task"
		}},
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}, tools...)

	var names []string
	for _, e := range c.All() {
		names = append(names, e.CallableName)
		if other, ok := everything.Lookup(e.CallableName); !ok || other.ToolName != e.ToolName {
			t.Errorf("%s has another name without the others", e.ToolName)
		}
	}
	if len(names) != 2 || c.Len() != 2 || c.Count(toolcatalog.Client) != 0 || !slices.Equal(slices.Collect(c.CallableNames()), names) {
		t.Errorf("%d tools: %v", c.Len(), names)
	}
	for name, n := range asked {
		if n != 1 {
			t.Errorf("asked %d times for %s", n, name)
		}
	}
	if !strings.Contains(log.String(), "tool=exclusive") || !strings.Contains(log.String(), "no such rule") {
		t.Errorf("logged %s", log.String())
	}
	for _, name := range []string{"danger", "exclusive", "llm_task"} {
		if _, ok := c.Lookup(name); ok {
			t.Errorf("%s is found", name)
		}
		_, err := c.Call(t.Context(), name, nil)
		failure := callFails(t, err, toolcatalog.CodeUnknownTool, toolcatalog.EffectStatusNone)
		if want := fmt.Sprintf("there is no tool %q in the catalog.", name); failure.Message() != want {
			t.Errorf("got %s, want %s", failure.Message(), want)
		}
		_, err = c.Call(t.Context(), name+"x", nil)
		if failure := callFails(t, err, toolcatalog.CodeUnknownTool, toolcatalog.EffectStatusNone); strings.Contains(failure.Message(), "Did you mean") {
			t.Error(failure.Message())
		}
	}
	if none := newCatalogWith(t, toolcatalog.Options{Policy: toolcatalog.Policy{Offers: func(toolcatalog.Entry) bool { return false }}}, tools...); none.Len() != 0 {
		t.Errorf("%d tools", none.Len())
	}
}

// Case C077: a tool that was offered is refused at the call, if its permission is gone by then.
func TestPolicyThatChanges(t *testing.T) {
	t.Parallel()
	var denied atomic.Bool
	c := newCatalogWith(t, toolcatalog.Options{Policy: toolcatalog.Policy{
		Offers: func(toolcatalog.Entry) bool { return !denied.Load() },
		Decide: func(context.Context, toolcatalog.Call) toolcatalog.Decision {
			if denied.Load() {
				return toolcatalog.Refuse("the permission was withdrawn")
			}
			return toolcatalog.Allow()
		},
	}}, named("danger"))
	if _, err := c.Call(t.Context(), "danger", nil); err != nil {
		t.Fatal(err)
	}
	denied.Store(true)
	_, err := c.Call(t.Context(), "danger", nil)
	callFails(t, err, toolcatalog.CodeRefused, toolcatalog.EffectStatusNone)
}

func TestDecisionText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		d            toolcatalog.Decision
		text, reason string
	}{
		{toolcatalog.Decision{}, "refuse", ""},
		{toolcatalog.Allow(), "allow", ""},
		{toolcatalog.Ask("a"), "ask", "a"},
		{toolcatalog.Refuse("b"), "refuse", "b"},
	} {
		if tt.d.String() != tt.text || tt.d.Reason() != tt.reason {
			t.Errorf("%v, %q, want %s, %q", tt.d, tt.d.Reason(), tt.text, tt.reason)
		}
	}
}

// Cases C025 and C078: a native tool whose schema cannot be applied is not executed, whatever policy and hooks say; the schemas
// of a client do not matter.
func TestBrokenContracts(t *testing.T) {
	t.Parallel()
	annotated := func(annotation string) string {
		return `{"anyOf":[{"type":"object"},{"type":"array"}],"x-openclaw-input-discriminator":` + annotation + `}`
	}
	for _, text := range []string{
		annotated(`{"version":2,"inputProperty":"op","mapping":{"list":0}}`),
		annotated(`{"version":1,"inputProperty":"op","mapping":{"list":2}}`),
		annotated(`{"version":1,"inputProperty":"op","mapping":{"list":-1}}`),
		annotated(`{"version":1,"inputProperty":"op","mapping":{"list":1.5}}`),
		annotated(`{"version":1,"inputProperty":"op","mapping":{}}`),
		annotated(`{"version":1,"inputProperty":"","mapping":{"list":0}}`),
		annotated(`"op"`),
		`{"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"list":0}}}`,
		`{"anyOf":[{"type":"object"},{"type":"sting"}],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"list":0}}}`,
		`{"anyOf":[{"type":"object"},{"$ref":"#/$defs/Missing"}]}`,
		`{"type":"string","pattern":"("}`,
		`{"properties":{"` + strings.Repeat("x", 100_000) + `":{"type":"sting"}}}`,
		`{"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"},"b":{"$ref":"file:///etc/hostname"}}}`,
		`{`,
	} {
		reached := false
		reach := func(context.Context, json.RawMessage) (any, error) {
			reached = true
			return map[string]any{}, nil
		}
		opts := toolcatalog.Options{Policy: toolcatalog.Policy{Decide: func(_ context.Context, call toolcatalog.Call) toolcatalog.Decision {
			reached = call.Tool.Source == toolcatalog.Native || reached
			return toolcatalog.Allow()
		}}}
		broken := schema.ParseDeferred([]byte(text))
		c := newCatalogWith(t, opts,
			toolcatalog.DefineRaw(toolcatalog.Spec{Name: "bad_output", Output: broken}, reach),
			toolcatalog.DefineRaw(toolcatalog.Spec{Name: "bad_input", Input: broken}, reach),
			toolcatalog.DefineRaw(toolcatalog.Spec{Name: "client", Input: broken, Output: broken, Source: toolcatalog.Client}, reach))
		for _, part := range []string{"input", "output"} {
			name := "bad_" + part
			_, err := c.Call(t.Context(), name, json.RawMessage(`{"op":"list"}`))
			failure := callFails(t, err, toolcatalog.CodeInvalidContract, toolcatalog.EffectStatusNone)
			if !strings.HasPrefix(failure.Message(), name+" was not executed: the "+part+" schema of the tool cannot be used: ") || len(failure.Message()) > 1500 {
				t.Errorf("%.200s: %.2000s", text, failure.Message())
			}
			var parse *schema.ParseError
			if !errors.As(err, &parse) || reached {
				t.Errorf("%s: %v, reached %v", text, err, reached)
			}
		}
		if got, err := c.Call(t.Context(), "client", json.RawMessage(`{"op":"list"}`)); err != nil || string(got) != "{}" || !reached {
			t.Errorf("%s: client: %s, %v", text, got, err)
		}
	}
}
