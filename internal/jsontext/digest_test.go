package jsontext_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// exact decodes a JSON text with its numbers as they are written.
func exact(tb testing.TB, text []byte) (value any) {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		tb.Fatal(err)
	}
	return value
}

func TestDigest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[true,null]}`, `{"b":[true,null],"a":1}`, true},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"y":2,"x":1}}`, true},
		{`"\u00e9\n\/"`, `"é\u000a/"`, true},
		{`{"\u0061":1}`, `{"a":1}`, true},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`{"a":2,"a":1}`, `{"a":2}`, false},
		{`{"a":2,"a":1}`, `{"a":2,"a":1,"b":0}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[[1],2]`, `[[1,2]]`, false},
		{`[]`, `{}`, false},
		{`[[]]`, `[]`, false},
		{`["a,b"]`, `["a","b"]`, false},
		{`"1"`, `1`, false},
		{`null`, `"null"`, false},
		{`{"a":{"b":1}}`, `{"a":1,"b":1}`, false},
		{`{"a":{}}`, `{"a":[]}`, false},
		{`9007199254740993`, `9007199254740992`, false},
		{`0.1234567890123456789`, `0.1234567890123456788`, false},
		{`1`, `1.0`, false},
		{`1e400`, `1e401`, false},
	} {
		if got := jsontext.Digest([]byte(tt.a)) == jsontext.Digest([]byte(tt.b)); got != tt.same {
			t.Errorf("%s and %s have the same digest: %v", tt.a, tt.b, got)
		}
	}
}

// TestDigestOfLargeTexts has texts that would take too long if members were moved at each level.
func TestDigestOfLargeTexts(t *testing.T) {
	t.Parallel()
	deep := func(inner string) []byte {
		n := jsontext.MaxDepth - 1
		return []byte(strings.Repeat(`{"b":0,"a":`, n) + inner + strings.Repeat("}", n))
	}
	long := strings.Repeat("x", 10<<20)
	if jsontext.Digest(deep(`"`+long+`y"`)) == jsontext.Digest(deep(`"`+long+`z"`)) {
		t.Error("the innermost value does not count")
	}
	wide := "[" + strings.Repeat(`{"":0},`, 500_000)
	if jsontext.Digest([]byte(wide+"1]")) == jsontext.Digest([]byte(wide+"2]")) {
		t.Error("the last value does not count")
	}
}

// FuzzDigest compares digests with the values of texts.
func FuzzDigest(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x\u0000",{"b":null,"b":1e5}],"c":-0}`), []byte(`{"c":-0,"a":[1,"x\u0000",{"b":1e5}]}`))
	f.Add([]byte(`["\ud83d",{}]`), []byte(`["\ufffd",{"":[]}]`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		a, errA := jsontext.Compact(a)
		b, errB := jsontext.Compact(b)
		if errA != nil || errB != nil {
			return
		}
		if got, want := jsontext.Digest(a) == jsontext.Digest(b), reflect.DeepEqual(exact(t, a), exact(t, b)); got != want {
			t.Errorf("%s and %s have the same digest: %v", a, b, got)
		}
		// A text is the same as its value, written anew.
		again, err := json.Marshal(exact(t, a))
		if err != nil {
			t.Fatal(err)
		}
		if again, err = jsontext.Compact(again); err != nil || jsontext.Digest(again) != jsontext.Digest(a) {
			t.Errorf("%s has another digest than %s", again, a)
		}
	})
}
