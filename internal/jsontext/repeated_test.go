package jsontext

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestRepeatedKey(t *testing.T) {
	t.Parallel()
	many := func(last string) string {
		var b strings.Builder
		for i := range 1_000 {
			fmt.Fprintf(&b, `"k%d":{"k%d":1},`, i, i)
		}
		return "{" + b.String() + `"` + last + `":1}`
	}
	for text, want := range map[string]string{
		`{}`: "", `[]`: "", `"a"`: "", `12`: "", `null`: "",
		`{"a":1,"b":2}`: "", `{"a":{"a":{"a":1}}}`: "", `[{"a":1},{"a":2}]`: "", `{"a":[{"b":1},{"b":1}],"b":1}`: "",
		`{"a":1,"a":2}`: "a", `{"b":{"a":1,"x":[1,{"y":2}],"a":2}}`: "a", `[1,{"":0,"":0}]`: " ",
		`{"a":1,"\u0061":2}`: "a", `{"\u00e9":1,"é":2}`: "é", `{"a\"b":1,"a\"b":2}`: `a"b`, `{"a\"":1,"a":2}`: "",
		`{"a":"a","b":"a"}`: "", `{"a":":","b":"\":"}`: "",
		many("k1000"): "", many("k0"): "k0", many("k999"): "k999", many(`k\u0035`): "k5",
		strings.Repeat(`{"a":[`, 1_000) + strings.Repeat(`]}`, 1_000): "",
	} {
		if want == " " {
			want = ""
			if _, ok := RepeatedKey([]byte(text)); !ok {
				t.Errorf("%s: nothing found", text)
			}
			continue
		}
		if got, ok := RepeatedKey([]byte(text)); got != want || ok != (want != "") {
			t.Errorf("%.60s: got %q, %t, want %q", text, got, ok, want)
		}
	}
}

func TestRepeatedKeyAllocatesNothing(t *testing.T) {
	text := []byte(`{"id":"shp_000001","carrier":"Northwind","tons":12.25,"tags":["a","b"],"to":{"city":"Oslo"}}`)
	if n := testing.AllocsPerRun(100, func() { RepeatedKey(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzRepeatedKey compares with a reader of tokens.
func FuzzRepeatedKey(f *testing.F) {
	for _, seed := range []string{`{"a":1,"a":2}`, `[{"a":{"a":1}},{"\u0061":1,"a":[]}]`, `{"a":":","":{}}`, `{"\ud800":1,"\udc00":2}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		compact, err := Compact([]byte(text))
		if err != nil || len(compact) == 0 {
			return
		}
		_, got := RepeatedKey(compact)
		if want := repeatsKey(json.NewDecoder(strings.NewReader(string(compact)))); got != want {
			t.Fatalf("%q: got %t, want %t", compact, got, want)
		}
	})
}

// repeatsKey reads one value.
func repeatsKey(d *json.Decoder) bool {
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		return false
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return false
	}
	repeats := false
	seen := map[string]bool{}
	for d.More() {
		if delim == '{' {
			key, err := d.Token()
			if err != nil {
				return false
			}
			repeats = repeats || seen[key.(string)]
			seen[key.(string)] = true
		}
		repeats = repeatsKey(d) || repeats
	}
	_, _ = d.Token()
	return repeats
}
