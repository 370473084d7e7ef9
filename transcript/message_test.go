package transcript_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/transcript"
)

func TestMessageJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, out string }{
		{"text", `{"role":"user","content":"hi"}`, `{"role":"user","content":"hi"}`},
		{"all fields", `{"zeta":1,"__openclaw":{"b":1,"a":[2]},"provenance":{"kind":"external_user"},"display":false,"excludeFromContext":true,
			"idempotencyKey":"k","isError":true,"toolName":"t","toolCallId":"c","content":[],"role":"toolResult","alpha":null}`,
			`{"role":"toolResult","content":[],"toolCallId":"c","toolName":"t","isError":true,"idempotencyKey":"k","excludeFromContext":true,` +
				`"display":false,"provenance":{"kind":"external_user"},"__openclaw":{"a":[2],"b":1},"alpha":null,"zeta":1}`},
		{"no content", `{"role":"user"}`, `{"role":"user","content":""}`},
		{"a result says whether it is an error", `{"role":"toolResult","content":"x"}`, `{"role":"toolResult","content":"x","isError":false}`},
		{"members of other types stay", `{"role":"toolResult","content":7,"isError":"no","display":"yes","idempotencyKey":null,"__openclaw":[1]}`,
			`{"role":"toolResult","content":7,"__openclaw":[1],"display":"yes","idempotencyKey":null,"isError":"no"}`},
		{"a content that is null stays", `{"role":"r","content":null,"provenance":null}`, `{"role":"r","content":null,"provenance":null}`},
		{"numbers stay", `{"role":"r","content":1e400,"n":12345678901234567890.10}`, `{"role":"r","content":1e400,"n":12345678901234567890.10}`},
		{"html and odd letters", `{"role":"r","content":"<&>\u2028 é \ud83d\ude00"}`, "{\"role\":\"r\",\"content\":\"<&>\u2028 é 😀\"}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var m transcript.Message
			if err := json.Unmarshal([]byte(test.in), &m); err != nil {
				t.Fatal(err)
			}
			out, err := m.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if string(out) != test.out && !sameText(out, test.out) {
				t.Errorf("got  %s\nwant %s", out, test.out)
			}
		})
	}
	for _, bad := range []string{`null`, `7`, `{}`, `{"role":7,"content":""}`, `{"role":"","content":""}`, `[]`} {
		var m transcript.Message
		if err := json.Unmarshal([]byte(bad), &m); err == nil {
			t.Errorf("%s was read as %+v", bad, m)
		}
	}
}

// sameText compares two JSON texts but for how their strings are escaped.
func sameText(a []byte, b string) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

func TestMessageTextAndCalls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ content, text, calls string }{
		{`"hi"`, "hi", ""},
		{`[{"type":"text","text":"a"},{"type":"image","data":"…"},{"type":"input_text","text":"b"},{"type":"output_text","text":"c"}]`, "a\nb\nc", ""},
		{`[{"type":"toolCall","id":"1","name":"f","arguments":{"x":1}},7,{"type":"text","text":8},{"type":"toolCall","id":"2","name":"g"}]`, "", "1f 2g"},
		{`7`, "", ""},
		{`{"type":"text","text":"a"}`, "", ""},
		{`null`, "", ""},
		{``, "", ""},
	} {
		m := transcript.Message{Role: "assistant", Content: json.RawMessage(test.content)}
		var calls []string
		for _, call := range m.ToolCalls() {
			calls = append(calls, call.ID+call.Name)
		}
		if m.Text() != test.text || strings.Join(calls, " ") != test.calls {
			t.Errorf("%s has the text %q and the calls %q", test.content, m.Text(), calls)
		}
	}
}

// What is read of any text can be written, and is read from that as the same.
func FuzzMessage(f *testing.F) {
	f.Add(`{"role":"user","content":"hi","__openclaw":{"a":1},"display":null}`)
	f.Add(`{"role":"toolResult","isError":1,"isError":true}`)
	f.Fuzz(func(t *testing.T, text string) {
		var m, again transcript.Message
		if json.Unmarshal([]byte(text), &m) != nil {
			return
		}
		out, err := m.MarshalJSON()
		if err != nil {
			if !errors.Is(err, transcript.ErrInvalidEntry) {
				t.Fatal(err)
			}
			return
		}
		if !utf8.Valid(out) {
			t.Fatalf("%q is no UTF-8", out)
		}
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if twice, err := again.MarshalJSON(); err != nil || string(twice) != string(out) {
			t.Fatalf("%s is written as %s, %v", out, twice, err)
		}
		m.Text()
		m.ToolCalls()
	})
}
