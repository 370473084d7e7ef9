package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/internal/jsontext"
)

func TestStringMember(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, want string
		ok         bool
	}{
		{`{"op":"list"}`, "list", true},
		{`{"a":1,"op":"list","b":[]}`, "list", true},
		{`{"op":""}`, "", true},
		{`{"op":"a","op":"b"}`, "b", true},
		{`{"op":"a","op":1}`, "", false},
		{`{"op":1,"op":"a"}`, "a", true},
		{`{"\u006fp":"escaped"}`, "escaped", true},
		{`{"op":"\u006cist \"x\" \ud83d\ude00"}`, `list "x" 😀`, true},
		{`{"op\\":"no","x":"op"}`, "", false},
		{`{"x":"\\","op":"after"}`, "after", true},
		{`{"in":{"op":"no"},"list":[{"op":"no"}]}`, "", false},
		{`{"in":{"op":"no"},"op":"yes"}`, "yes", true},
		{`{"x":"op","y":"op\":"}`, "", false},
		{`{"op":{"op":"no"}}`, "", false},
		{`{"op":null}`, "", false},
		{`{}`, "", false},
		{`[{"op":"no"}]`, "", false},
		{`"op"`, "", false},
		{`[]`, "", false},
		{``, "", false},
	} {
		if got, ok := jsontext.StringMember([]byte(tt.text), "op"); got != tt.want || ok != tt.ok {
			t.Errorf("StringMember(%s) = %q, %v, want %q, %v", tt.text, got, ok, tt.want, tt.ok)
		}
	}
}

func TestStringMemberAllocatesNothing(t *testing.T) {
	text := []byte(`{"a":{"op":[1,2,"three"]},"` + strings.Repeat("x", 100) + `":true,"n":1}`)
	if n := testing.AllocsPerRun(100, func() { jsontext.StringMember(text, "op") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzStringMember(f *testing.F) {
	for _, seed := range []string{`{"op":"list"}`, `{"a":{"op":"x"},"\u006fp":"\ud83d"}`, `{"op":"a","op":[1,"op"]}`, `{"op":"\\\""}`, `["op"]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		text, err := jsontext.Compact(in)
		if err != nil {
			return
		}
		got, ok := jsontext.StringMember(text, "op")
		var object map[string]any
		json.Unmarshal(text, &object)
		if want, wanted := object["op"].(string); got != want || ok != wanted {
			t.Fatalf("%s: got %q, %v, want %q, %v", text, got, ok, want, wanted)
		}
	})
}
