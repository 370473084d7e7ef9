package toolcatalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
	"github.com/cellmode/cellmode/toolcatalog"
)

type order struct {
	ID     int64           `json:"id"`
	Note   string          `json:"note,omitempty"`
	Any    any             `json:"any,omitempty"`
	Number json.Number     `json:"number,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
	Big    *big.Int        `json:"big,omitempty"`
}

func TestCallKeepsDigits(t *testing.T) {
	t.Parallel()
	const open = `{"type":"object"}`
	c := newCatalog(t,
		toolcatalog.Define(toolcatalog.Spec{Name: "typed", Input: mustParse(t, open), Output: mustParse(t, open)},
			func(_ context.Context, in order) (order, error) { return in, nil }),
		toolcatalog.Define(toolcatalog.Spec{Name: "anything"}, func(_ context.Context, in any) (any, error) { return in, nil }),
		toolcatalog.Define(toolcatalog.Spec{Name: "map"}, func(_ context.Context, in map[string]any) (map[string]any, error) { return in, nil }),
		named("raw"),
	)
	for _, in := range []string{
		`{"id":1915883588174806058}`,
		`{"id":9223372036854775807,"any":[18446744073709551616,{"x":1.10}],"number":123456789012345678901234567890,"raw":{"b":1,"a":0.10},"big":123456789012345678901234567890}`,
	} {
		for _, name := range []string{"typed", "raw", "anything", "map"} {
			got, err := c.Call(t.Context(), name, json.RawMessage(in))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if name == "typed" || name == "raw" {
				if string(got) != in {
					t.Errorf("%s: got %s, want %s", name, got, in)
				}
				continue
			}
			for _, digits := range []string{"1915883588174806058", "18446744073709551616", "123456789012345678901234567890", "1.10"} {
				if strings.Contains(in, digits) != bytes.Contains(got, []byte(digits)) {
					t.Errorf("%s: %s became %s", name, digits, got)
				}
			}
		}
	}
}

func TestCallInputForms(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, named("raw"), rawTool(toolcatalog.Spec{Name: "client", Source: toolcatalog.Client, Input: mustParse(t, `{"type":"string"}`)}))
	for _, tt := range []struct{ in, want string }{
		{``, `{}`},
		{" \n", `{}`},
		{`null`, `{}`},
		{` null `, `{}`},
		{`{ "b" : 1, "a" : [ ] }`, `{"b":1,"a":[]}`},
		{`[1,2]`, `[1,2]`},
		{`"text"`, `"text"`},
		{`{"__proto__":{"x":1},"constructor":"c"}`, `{"__proto__":{"x":1},"constructor":"c"}`}, // case C050
		{"{\"a\":\"\xff\"}", "{\"a\":\"\ufffd\"}"},
	} {
		for _, name := range []string{"raw", "client"} {
			if got, err := c.Call(t.Context(), name, json.RawMessage(tt.in)); err != nil || string(got) != tt.want {
				t.Errorf("%s(%q) = %s, %v, want %s", name, tt.in, got, err, tt.want)
			}
		}
	}
	if got, err := c.Call(t.Context(), "raw", nil); err != nil || string(got) != `{}` {
		t.Errorf("nil input: %s, %v", got, err)
	}
	for _, in := range []string{`{`, `{"a":1}x`, `{a:1}`, strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)} {
		_, err := c.Call(t.Context(), "client", json.RawMessage(in))
		failure := callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
		if len(failure.Problems) != 1 || !strings.Contains(failure.Message(), "not valid JSON") || len(failure.Message()) > 1000 {
			t.Errorf("%.20q: %s", in, failure.Message())
		}
	}
}

// Case C006: NUL and half surrogates shift nothing, and look the same whichever way a tool reads its input.
func TestCallOddStrings(t *testing.T) {
	t.Parallel()
	type in struct {
		A string `json:"a"`
		B string `json:"b"`
		C string `json:"c"`
	}
	seen := ""
	c := newCatalog(t, named("raw"), toolcatalog.Define(toolcatalog.Spec{Name: "typed"}, func(_ context.Context, v in) (in, error) {
		seen = v.A
		return v, nil
	}))
	const input = `{"a":"x\u0000y","b":"\ud83d","c":"after"}`
	const want = "{\"a\":\"x\\u0000y\",\"b\":\"\ufffd\",\"c\":\"after\"}"
	for _, name := range []string{"raw", "typed"} {
		got, err := c.Call(t.Context(), name, json.RawMessage(input))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if seen != "x\x00y" {
		t.Errorf("the tool saw %q", seen)
	}
}

type badMarshaler struct{ text string }

func (b badMarshaler) MarshalJSON() ([]byte, error) { return []byte(b.text), nil }

type failingMarshaler struct{}

func (failingMarshaler) MarshalJSON() ([]byte, error) { return nil, errors.New("secret value 42") }

type ring struct{ Next *ring }

func TestCallResults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		result any
		want   string
	}{
		{"nothing", nil, `null`},
		{"no HTML escaping", map[string]string{"a": "<b>&</b>"}, `{"a":"<b>&</b>"}`},
		{"key order of a struct", struct{ B, A int }{1, 2}, `{"B":1,"A":2}`},
		{"raw text is made compact", json.RawMessage("{ \"z\" : 1.0,\n\"a\" : [ 2 ] }"), `{"z":1.0,"a":[2]}`},
		{"nil raw text", json.RawMessage(nil), `null`},
		{"raw text inside", map[string]json.RawMessage{"a": json.RawMessage(" [ 1 ] ")}, `{"a":[1]}`},
		{"raw bytes that are not UTF-8", json.RawMessage("\"a\xff\""), "\"a\ufffd\""},
		{"marshaler with bytes that are not UTF-8", badMarshaler{"\"a\xff\""}, "\"a\ufffd\""},
		{"string that is not UTF-8", "a\xffb", `"a\ufffdb"`},
		{"half a surrogate pair", json.RawMessage(`"\ud83d"`), "\"\ufffd\""},
	} {
		c := newCatalog(t, toolcatalog.DefineRaw(toolcatalog.Spec{Name: "t"}, func(context.Context, json.RawMessage) (any, error) { return tt.result, nil }))
		got, err := c.Call(t.Context(), "t", nil)
		if err != nil || string(got) != tt.want || !utf8.Valid(got) {
			t.Errorf("%s: got %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestCallResultsThatAreNotJSON(t *testing.T) {
	t.Parallel()
	loop := &ring{}
	loop.Next = loop
	selfish := map[string]any{}
	selfish["self"] = selfish
	list := []any{nil}
	list[0] = list
	for _, tt := range []struct {
		name    string
		result  any
		problem string
	}{
		{"channel", make(chan int), "it holds a Go chan int"},
		{"function inside", map[string]any{"f": func() {}}, "it holds a Go func()"},
		{"complex", 1i, "it holds a Go complex128"},
		{"NaN", math.NaN(), "a number that is not finite"},
		{"infinity inside", []float64{math.Inf(1)}, "a number that is not finite"},
		{"pointer cycle", loop, "contains itself"},
		{"map cycle", selfish, "contains itself"},
		{"slice cycle", list, "contains itself"},
		{"raw text that is not JSON", json.RawMessage(`{"secret"`), "is not valid JSON"},
		{"empty raw text", json.RawMessage{}, "is not valid JSON"},
		{"two raw values", json.RawMessage(`1 2`), "is not valid JSON"},
		{"bad raw text inside", []json.RawMessage{json.RawMessage("secret")}, "the marshal method of Go type json.RawMessage failed"},
		{"marshaler that fails", failingMarshaler{}, "the marshal method of Go type toolcatalog_test.failingMarshaler failed"},
		{"marshaler that gives no JSON", badMarshaler{"secret"}, "the marshal method of Go type toolcatalog_test.badMarshaler failed"},
		{"number that is none", json.Number("secret"), "cannot be written as JSON"},
	} {
		c := newCatalog(t, toolcatalog.DefineRaw(toolcatalog.Spec{Name: "t"}, func(context.Context, json.RawMessage) (any, error) { return tt.result, nil }))
		got, err := c.Call(t.Context(), "t", nil)
		failure := callFails(t, err, toolcatalog.CodeOutputContract, toolcatalog.EffectStatusUnknown)
		text := failure.Message()
		if got != nil || !strings.Contains(text, tt.problem) || !strings.HasPrefix(text, "t ran, but") || strings.Contains(text, "secret") || len(text) > 1000 {
			t.Errorf("%s: result %s, message %q", tt.name, got, text)
		}
	}
}

func TestCallInputContract(t *testing.T) {
	t.Parallel()
	type filter struct {
		Status string `json:"status,omitempty"`
		Limit  int    `json:"limit,omitempty"`
	}
	type query struct {
		Filter filter   `json:"filter"`
		Sort   string   `json:"sort,omitempty"`
		List   []filter `json:"list,omitempty"`
	}
	ran := false
	c := newCatalog(t, toolcatalog.Define(toolcatalog.Spec{Name: "find-it"}, func(context.Context, query) (int, error) {
		ran = true
		return 1, nil
	}))
	for _, tt := range []struct{ in, hint string }{
		{`{"filter":{},"srot":"x"}`, `Did you mean "sort"? Expected: find_it({ filter: {`},
		{`{"filter":{"statsu":"x"}}`, `Did you mean "status"? Expected`},
		{`{"filter":{},"list":[{},{"limits":1}]}`, `Did you mean "limit"? Expected`},
		{`{"filter":{"zzz":1}}`, `"status", "limit"`},
		{`{"filter":{"status":"x","statsu":"y"}}`, `known are "status", "limit". Expected`}, // status is given
		{`{}`, `is missing. Expected: find_it({ filter: {`},
		{`{"filter":{"limit":"many"}}`, `Expected: find_it({ filter: {`},
		{`[]`, `Expected: find_it({ filter: {`},
		{`"` + strings.Repeat("x", 100_000) + `"`, `Expected: find_it({ filter: {`},
		{`{"` + strings.Repeat("x", 100_000) + `":1}`, `"filter", "sort", "list"`},
	} {
		_, err := c.Call(t.Context(), "find_it", json.RawMessage(tt.in))
		failure := callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
		text := failure.Message()
		if !strings.HasPrefix(text, "find_it: ") || !strings.Contains(text, tt.hint) || !strings.Contains(text, "nothing was executed") || len(text) > 3000 {
			t.Errorf("%.100s: %s", tt.in, text)
		}
		if len(failure.Problems) == 0 || failure.Tool != "find-it" || failure.CallableName != "find_it" {
			t.Errorf("%.100s: %+v", tt.in, failure)
		}
		if host := err.Error(); !strings.Contains(host, `"find-it"`) || !strings.Contains(host, "input_contract") {
			t.Errorf("Error() = %s", host)
		}
	}
	if ran {
		t.Error("the function ran")
	}
}

// The hint follows references, so it works inside of recursive types.
func TestCallInputContractOfARecursiveType(t *testing.T) {
	t.Parallel()
	type node struct {
		Title    string  `json:"title"`
		Children []*node `json:"children,omitempty"`
	}
	c := newCatalog(t, toolcatalog.Define(toolcatalog.Spec{Name: "t"}, func(_ context.Context, in node) (node, error) { return in, nil }))
	const fine = `{"title":"a","children":[{"title":"b"}]}`
	if got, err := c.Call(t.Context(), "t", json.RawMessage(fine)); err != nil || string(got) != fine {
		t.Errorf("got %s, %v", got, err)
	}
	for _, in := range []string{
		`{"title":"a","children":[{"title":"b","children":[{"titel":"c"}]}]}`,
		strings.Repeat(`{"title":"a","children":[`, 40) + `{"titel":"c"}` + strings.Repeat(`]}`, 40),
	} {
		_, err := c.Call(t.Context(), "t", json.RawMessage(in))
		failure := callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
		if text := failure.Message(); strings.Contains(text, `Did you mean "title"?`) != (len(in) < 100) {
			t.Errorf("%.80s: %s", in, text)
		}
	}
}

// What passes the schema and still does not fit the Go type is an input error too.
func TestCallInputThatDoesNotDecode(t *testing.T) {
	t.Parallel()
	type in struct {
		N    int8      `json:"n"`
		When time.Time `json:"when"`
	}
	open := mustParse(t, `{"type":"object"}`)
	c := newCatalog(t, toolcatalog.Define(toolcatalog.Spec{Name: "t", Input: open}, func(context.Context, in) (any, error) {
		t.Error("the function ran")
		return nil, nil
	}))
	for _, tt := range []struct{ in, problem string }{
		{`{"n":1000}`, "$.n must be an integer from -128 to 127"},
		{`{"when":"soon"}`, "$ holds a text that cannot be read as a time"},
	} {
		_, err := c.Call(t.Context(), "t", json.RawMessage(tt.in))
		failure := callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
		if !strings.Contains(failure.Message(), tt.problem) {
			t.Errorf("%s: %s", tt.in, failure.Message())
		}
	}
}

func TestCallOutputContract(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, rawTool(toolcatalog.Spec{Name: "get", Output: mustParse(t, `{
		"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`)}))
	if got, err := c.Call(t.Context(), "get", json.RawMessage(`{"id":7}`)); err != nil || string(got) != `{"id":7}` {
		t.Fatalf("got %s, %v", got, err)
	}
	for _, result := range []string{`{"id":"secret"}`, `{}`, `["secret"]`, `{"id":1,"extra":"secret"}`} {
		got, err := c.Call(t.Context(), "get", json.RawMessage(result))
		failure := callFails(t, err, toolcatalog.CodeOutputContract, toolcatalog.EffectStatusUnknown)
		text := failure.Message()
		if got != nil || strings.Contains(text, "secret") || !strings.Contains(text, "get ran") || !strings.Contains(text, "check the state") {
			t.Errorf("%s: result %s, message %s", result, got, text)
		}
		if n := len(failure.Problems); n == 0 || n > 5 {
			t.Errorf("%s: %d problems", result, n)
		}
	}
}

// A slice that Go calls nil must not break the contract that its own type made.
func TestCallNilSlices(t *testing.T) {
	t.Parallel()
	type row struct {
		Tags  []string          `json:"tags"`
		Attrs map[string]string `json:"attrs"`
	}
	c := newCatalog(t,
		toolcatalog.Define(toolcatalog.Spec{Name: "list"}, returning([]row(nil))),
		toolcatalog.Define(toolcatalog.Spec{Name: "rows"}, returning([]row{{}})),
		toolcatalog.Define(toolcatalog.Spec{Name: "map"}, returning(map[string]int(nil))),
	)
	for name, want := range map[string]string{"list": `[]`, "rows": `[{"tags":[],"attrs":{}}]`, "map": `{}`} {
		if got, err := c.Call(t.Context(), name, nil); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	// Where the tool writes its result itself, null is what it says.
	raw := newCatalog(t, toolcatalog.DefineRaw(toolcatalog.Spec{Name: "raw", Output: mustParse(t, `{"type":"array"}`)},
		func(context.Context, json.RawMessage) (any, error) { return nil, nil }))
	_, err := raw.Call(t.Context(), "raw", nil)
	callFails(t, err, toolcatalog.CodeOutputContract, toolcatalog.EffectStatusUnknown)
}

// Case C018: an integer that crosses the guest as a string comes back with the same digits.
func TestCallIntegersThroughTheGuest(t *testing.T) {
	t.Parallel()
	type record struct {
		ID json.Number `json:"id"`
	}
	c := newCatalog(t, toolcatalog.Define(toolcatalog.Spec{Name: "echo"}, func(_ context.Context, in record) (record, error) { return in, nil }))
	for _, digits := range []string{"0", "-1", "9007199254740991", "9007199254740993", "-9007199254740993", "1915883588174806058",
		"9223372036854775807", "18446744073709551615", "123456789012345680000", "1000000000000000000000", "123456789012345678901234567890"} {
		want := `{"id":` + digits + `}`
		inGuest := jsontext.QuoteUnsafeIntegers([]byte(want))
		if got, err := c.Call(t.Context(), "echo", inGuest); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v", inGuest, got, err)
		}
	}
}

// The schemas of a client are not trusted: they neither refuse nor change anything.
func TestCallClientTool(t *testing.T) {
	t.Parallel()
	strict := mustParse(t, `{"type":"object","properties":{"a":{"type":"integer","default":1}},"required":["a"],"additionalProperties":false}`)
	c := newCatalog(t, rawTool(toolcatalog.Spec{Name: "t", Source: toolcatalog.Client, Input: strict, Output: strict}))
	for _, in := range []string{`{}`, `{"b":2}`, `{"a":"9007199254740993"}`} {
		if got, err := c.Call(t.Context(), "t", json.RawMessage(in)); err != nil || string(got) != in {
			t.Errorf("%s: got %s, %v", in, got, err)
		}
	}
}

func TestCallPreparesInput(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, rawTool(toolcatalog.Spec{Name: "t", Input: mustParse(t, `{"type":"object","additionalProperties":false,"properties":{
		"id":{"type":"integer"},"limit":{"type":"integer","default":20},"name":{"type":"string"}}}`)}))
	for _, tt := range []struct{ in, want string }{
		{``, `{"limit":20}`},
		{`{"limit":5}`, `{"limit":5}`},
		{`{"id":"1915883588174806058"}`, `{"id":1915883588174806058,"limit":20}`}, // case C018, the way back
		{`{"limit":1,"name":"1915883588174806058"}`, `{"limit":1,"name":"1915883588174806058"}`},
	} {
		if got, err := c.Call(t.Context(), "t", json.RawMessage(tt.in)); err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.in, got, err, tt.want)
		}
	}
	_, err := c.Call(t.Context(), "t", json.RawMessage(`{"id":"12"}`))
	callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
}

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text } // panics for a nil *nilError

func TestCallToolErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk\nfull")
	for _, tt := range []struct {
		name    string
		err     error
		code    toolcatalog.ErrorCode
		message string
		is      error
	}{
		{"plain", broken, toolcatalog.CodeToolError, "disk\nfull", broken},
		{"wrapped", fmt.Errorf("open: %w", fs.ErrNotExist), toolcatalog.CodeToolError, "open: file does not exist", fs.ErrNotExist},
		{"invalid input", toolcatalog.InvalidInput(broken), toolcatalog.CodeInvalidInput, "disk\nfull", broken},
		{"invalid input, wrapped", fmt.Errorf("a: %w", toolcatalog.InvalidInput(broken)), toolcatalog.CodeInvalidInput, "a: disk\nfull", broken},
		{"invalid input, joined", errors.Join(broken, toolcatalog.InvalidInput(fs.ErrExist)), toolcatalog.CodeInvalidInput, "disk\nfull\nfile already exists", fs.ErrExist},
		{"invalid input of another call", fmt.Errorf("nested: %w", &toolcatalog.CallError{Code: toolcatalog.CodeInvalidInput, Tool: "x", Err: toolcatalog.InvalidInput(broken)}),
			toolcatalog.CodeToolError, `nested: toolcatalog: call of "x" failed (invalid_input): disk` + "\nfull", broken},
		{"not UTF-8", errors.New("a\xffb"), toolcatalog.CodeToolError, "a\ufffdb", nil},
		{"error whose text panics", (*nilError)(nil), toolcatalog.CodeToolError, toolcatalog.ErrPanic.Error(), toolcatalog.ErrPanic},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCatalog(t, toolcatalog.Define(toolcatalog.Spec{Name: "t"}, func(context.Context, struct{}) (int, error) { return 1, tt.err }))
			got, err := c.Call(t.Context(), "t", nil)
			failure := callFails(t, err, tt.code, toolcatalog.EffectStatusUnknown)
			if got != nil || failure.Message() != tt.message {
				t.Errorf("result %s, message %q, want %q", got, failure.Message(), tt.message)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
		})
	}
	if toolcatalog.InvalidInput(nil) != nil {
		t.Error("InvalidInput(nil) is an error")
	}
}

type panickyUnmarshaler struct{}

func (*panickyUnmarshaler) UnmarshalJSON([]byte) error { panic("secret") }

type panickyMarshaler struct{}

func (panickyMarshaler) MarshalJSON() ([]byte, error) { panic("secret") }

func TestCallPanics(t *testing.T) {
	t.Parallel()
	open := mustParse(t, `{}`)
	var log bytes.Buffer
	c, err := toolcatalog.New([]*toolcatalog.Tool{
		toolcatalog.Define(toolcatalog.Spec{Name: "run"}, func(context.Context, struct{}) (int, error) { panic("secret") }),
		toolcatalog.Define(toolcatalog.Spec{Name: "runtime_error"}, func(ctx context.Context, _ struct{}) (int, error) {
			return ctx.Value(contextKey{}).(int), nil // there is no such value
		}),
		toolcatalog.Define(toolcatalog.Spec{Name: "decode", Input: open}, taking[struct{ A *panickyUnmarshaler }]()),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "encode"}, func(context.Context, json.RawMessage) (any, error) { return panickyMarshaler{}, nil }),
		named("healthy"),
	}, &toolcatalog.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, input, effect, stack string }{
		{"run", `{}`, toolcatalog.EffectStatusUnknown, "TestCallPanics"},
		{"runtime_error", `{}`, toolcatalog.EffectStatusUnknown, "TestCallPanics"},
		{"decode", `{"A":1}`, toolcatalog.EffectStatusNone, "UnmarshalJSON"},
		{"encode", `{}`, toolcatalog.EffectStatusUnknown, "MarshalJSON"},
	} {
		log.Reset()
		_, err := c.Call(t.Context(), tt.name, json.RawMessage(tt.input))
		failure := callFails(t, err, toolcatalog.CodeToolError, tt.effect)
		if !errors.Is(err, toolcatalog.ErrPanic) || failure.Message() != toolcatalog.ErrPanic.Error() {
			t.Errorf("%s: %s", tt.name, failure.Message())
		}
		if !strings.Contains(log.String(), "tool="+tt.name) || !strings.Contains(log.String(), tt.stack) {
			t.Errorf("%s: logged %s", tt.name, log.String())
		}
		if got, err := c.Call(t.Context(), "healthy", nil); err != nil || string(got) != "{}" {
			t.Errorf("the next call: %s, %v", got, err)
		}
	}
}

func TestCallGoexit(t *testing.T) {
	t.Parallel()
	for _, sequential := range []bool{false, true} {
		c := newCatalog(t, toolcatalog.Define(toolcatalog.Spec{Name: "t", Sequential: sequential}, func(context.Context, struct{}) (int, error) {
			runtime.Goexit()
			return 0, nil
		}))
		for range 2 { // the second call proves that the place of the first is free
			_, err := c.Call(t.Context(), "t", nil)
			failure := callFails(t, err, toolcatalog.CodeToolError, toolcatalog.EffectStatusUnknown)
			if !errors.Is(err, toolcatalog.ErrNoResult) || failure.Tool != "t" {
				t.Errorf("got %v", err)
			}
		}
	}
}

func TestCallUnknownTool(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, named("shipping_list"), named("shipping_lost"), named("echo"))
	for _, tt := range []struct{ name, message string }{
		{"shiping_list", `there is no tool "shiping_list" in the catalog. Did you mean "shipping_list" or "shipping_lost"?`},
		{"Echo", `there is no tool "Echo" in the catalog. Did you mean "echo"?`},
		{"nothing_like_it", `there is no tool "nothing_like_it" in the catalog.`},
		{"", `there is no tool "" in the catalog.`},
		{"__proto__", `there is no tool "__proto__" in the catalog.`},
	} {
		_, err := c.Call(t.Context(), tt.name, nil)
		failure := callFails(t, err, toolcatalog.CodeUnknownTool, toolcatalog.EffectStatusNone)
		if failure.Message() != tt.message || failure.Tool != tt.name {
			t.Errorf("%q: %s", tt.name, failure.Message())
		}
	}
	_, err := c.Call(t.Context(), strings.Repeat("x", 1<<20), nil)
	if failure := callFails(t, err, toolcatalog.CodeUnknownTool, toolcatalog.EffectStatusNone); len(failure.Error()) > 1000 {
		t.Errorf("an error of %d bytes", len(failure.Error()))
	}
}

type contextKey struct{}

func TestCallContext(t *testing.T) {
	t.Parallel()
	for _, sequential := range []bool{false, true} {
		ran := 0
		c := newCatalog(t, toolcatalog.Define(toolcatalog.Spec{Name: "t", Sequential: sequential}, func(ctx context.Context, _ struct{}) (string, error) {
			ran++
			return ctx.Value(contextKey{}).(string), ctx.Err()
		}))
		ctx := context.WithValue(t.Context(), contextKey{}, "value")
		if got, err := c.Call(ctx, "t", nil); err != nil || string(got) != `"value"` {
			t.Errorf("got %s, %v", got, err)
		}

		cause := errors.New("permissions changed")
		cancelled, cancel := context.WithCancelCause(ctx)
		cancel(cause)
		expired, cancel2 := context.WithDeadline(ctx, time.Unix(0, 0))
		defer cancel2()
		for _, tt := range []struct {
			ctx context.Context
			is  error
		}{{cancelled, context.Canceled}, {cancelled, cause}, {expired, context.DeadlineExceeded}} {
			_, err := c.Call(tt.ctx, "t", nil)
			failure := callFails(t, err, toolcatalog.CodeToolError, toolcatalog.EffectStatusNone)
			if !errors.Is(err, tt.is) || !strings.HasPrefix(failure.Message(), "t was not called: ") {
				t.Errorf("got %v, want %v", err, tt.is)
			}
		}
		if ran != 1 {
			t.Errorf("ran %d times", ran)
		}
	}
}

// A tool may keep or change what it was given, and what it returned, without harm to the caller.
func TestCallSharesNoMemory(t *testing.T) {
	t.Parallel()
	kept := json.RawMessage(`{"kept":true}`)
	c := newCatalog(t, toolcatalog.DefineRaw(toolcatalog.Spec{Name: "t"}, func(_ context.Context, input json.RawMessage) (any, error) {
		clear(input)
		return kept, nil
	}))
	input := json.RawMessage(`{"a":1}`)
	got, err := c.Call(t.Context(), "t", input)
	if err != nil || string(input) != `{"a":1}` {
		t.Errorf("the input is now %q, %v", input, err)
	}
	clear(got)
	if string(kept) != `{"kept":true}` {
		t.Errorf("the result of the tool is now %q", kept)
	}
}

// Whatever comes as input, a call ends with valid compact JSON or a bounded *CallError.
func FuzzCall(f *testing.F) {
	type part struct {
		Name  string         `json:"name"`
		Count int            `json:"count,omitempty"`
		More  map[string]any `json:"more,omitempty"`
		Parts []json.Number  `json:"parts,omitempty"`
	}
	c := newCatalog(f, named("raw"), toolcatalog.Define(toolcatalog.Spec{Name: "typed"},
		func(_ context.Context, in part) (part, error) { return in, nil }))
	for _, seed := range []string{``, `null`, `{"name":"a"}`, `{"nmae":1,"count":1e3}`, `{"name":"\ud83d","more":{"x":[1.0]}}`, "[\xff", `{"parts":["9007199254740993"]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, name := range []string{"raw", "typed"} {
			got, err := c.Call(t.Context(), name, in)
			if err != nil {
				failure := callFails(t, err, toolcatalog.CodeInputContract, toolcatalog.EffectStatusNone)
				if text := failure.Message(); len(text) > 5000 || !utf8.ValidString(text) {
					t.Fatalf("%s(%q): %q", name, in, text)
				}
				continue
			}
			var compact bytes.Buffer
			if err := json.Compact(&compact, got); err != nil || !utf8.Valid(got) || !bytes.Equal(compact.Bytes(), got) {
				t.Fatalf("%s(%q) = %q, %v", name, in, got, err)
			}
		}
	})
}
