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

func TestMembers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{`{"a":1,"b":[2,{"c":3}],"d":{"e":"}"}}`, `a=1 b=[2,{"c":3}] d={"e":"}"} `},
		{`{"a":"x\\","a":"\"","b":true}`, `a="x\\" a="\"" b=true `},
		{`{"\u006fp":null,"":-1e5}`, `op=null =-1e5 `},
		{`{}`, ``},
		{`[{"a":1}]`, ``},
		{`"a"`, ``},
		{``, ``},
	} {
		got := ""
		for name, value := range jsontext.Members([]byte(tt.text)) {
			got += name + "=" + string(value) + " "
		}
		if got != tt.want {
			t.Errorf("the members of %s are %s, not %s", tt.text, got, tt.want)
		}
	}
	for range jsontext.Members([]byte(`{"a":1,"b":2}`)) {
		break
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`"a"`: "a", `""`: "", `"\u00e9 \"é\""`: `é "é"`, `"\ud83d\ude00"`: "😀"} {
		if got, ok := jsontext.String([]byte(text)); got != want || !ok {
			t.Errorf("String(%s) = %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{``, `1`, `null`, `["a"]`, `{"a":"b"}`} {
		if got, ok := jsontext.String([]byte(text)); got != "" || ok {
			t.Errorf("String(%s) = %q, %v", text, got, ok)
		}
	}
}

func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{"op":"list"}`, `{"a":{"op":"x"},"\u006fp":"\ud83d"}`, `{"op":"a","op":[1,"op"]}`, `{"":{}}`, `["op"]`, `{"a`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		text, err := jsontext.Compact(in)
		if err != nil {
			for range jsontext.Members(in) { // which must not panic
			}
			return
		}
		got := map[string]json.RawMessage{}
		for name, value := range jsontext.Members(text) {
			got[name] = value
		}
		want := map[string]json.RawMessage{}
		json.Unmarshal(text, &want)
		if len(got) != len(want) {
			t.Fatalf("%s has %d members, not %d", text, len(got), len(want))
		}
		for name, value := range want {
			if string(got[name]) != string(value) {
				t.Fatalf("%s has as %q %s, not %s", text, name, got[name], value)
			}
		}
	})
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
