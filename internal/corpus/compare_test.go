package corpus

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	const same = ""
	tests := []struct {
		want, got string
		exact     string // the difference that Diff finds
		subset    string // the difference that DiffSubset finds
	}{
		{`1`, ` 1 `, same, same},
		{`{"a":1,"b":[true,null,"x"]}`, "{ \"a\": 1,\n \"b\": [true, null, \"x\"] }", same, same},
		{`"\u003cé\u2028"`, "\"<\\u00e9\u2028\"", same, same},
		{`1e21`, `1E21`, "$: want 1e21, got 1E21", "$: want 1e21"},
		{`1`, `1.0`, "$: want 1, got 1.0", "$: want 1"},
		{`9007199254740993`, `9007199254740992`, "$: want 9007199254740993", "$: want"},
		{`"1"`, `1`, `$: want "1", got 1`, "$: want"},
		{`null`, `false`, "$: want null, got false", "$: want"},
		{`{}`, `[]`, "$: want an object with the keys []", "$: want"},
		{`[1,2]`, `[1]`, "$: want 2 items, got 1", "$: want 2"},
		{`[1,[2]]`, `[1,[3]]`, "$[1][0]: want 2, got 3", "$[1][0]: want 2"},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, `$: want key "a" at place 0`, `$: want key "b"`},
		{`{"a":1}`, `{"a":1,"b":2}`, `$: unexpected keys ["b"]`, same},
		{`{"b":1}`, `{"a":1,"b":2}`, `$: want key "b"`, "$.b: want 1, got 2"},
		{`{"a":1,"b":2}`, `{"a":1}`, `$: want key "b" at place 1`, `$: want key "b"`},
		{`{"a":{"b":1}}`, `{"x":0,"a":{"c":2,"b":1}}`, `$: want key "a"`, same},
		{`{"__proto__":1}`, `{"__proto__":1}`, same, same},
		{`{"$contains":["a","b"]}`, `"b and a"`, "$: want an object", same},
		{`{"$contains":["a","b"]}`, `"b"`, "$: want", `$: want a string with "a"`},
		{`{"$contains":["a"]}`, `["a"]`, "$: want", "$: want a string, got an array of 1"},
		{`1`, ``, "got no JSON", "got no JSON"},
		{`1`, `1 2`, "got no JSON", "got no JSON"},
		{`1`, `[1`, "got no JSON", "got no JSON"},
		{`{`, `1`, "the wanted text is not JSON", "the wanted text is not JSON"},
	}
	for _, test := range tests {
		check := func(name string, err error, want string) {
			switch {
			case want == same && err != nil:
				t.Errorf("%s(%s, %s): got %v", name, test.want, test.got, err)
			case want != same && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s(%s, %s): got %v, want %q", name, test.want, test.got, err, want)
			}
		}
		check("Diff", Diff([]byte(test.want), []byte(test.got)), test.exact)
		check("DiffSubset", DiffSubset([]byte(test.want), []byte(test.got)), test.subset)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add(`{"a":[1,"\ud800",{"b":null}]}`, `{"a":1}`)
	f.Add(`{"$contains":[1]}`, `[[[[`)
	f.Fuzz(func(t *testing.T, a, b string) {
		err := Diff([]byte(a), []byte(a))
		if valid := json.Valid([]byte(a)); valid != (err == nil) {
			t.Errorf("Diff(%q, same): got %v, valid JSON: %t", a, err, valid)
		}
		// Whatever is equal is also a subset.
		if Diff([]byte(a), []byte(b)) == nil && !strings.Contains(a, "contains") {
			if err := DiffSubset([]byte(a), []byte(b)); err != nil {
				t.Errorf("DiffSubset(%q, %q): got %v", a, b, err)
			}
		}
	})
}
