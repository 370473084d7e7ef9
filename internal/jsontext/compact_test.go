package jsontext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

func TestCompact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"scalar", `true`, `true`},
		{"white space around", " \t\r\n null \n", `null`},
		{"white space between", "{ \"b\" : [ 1 , 2 ] , \"a\" : { } }", `{"b":[1,2],"a":{}}`},
		{"white space in strings stays", `[" a  b "]`, `[" a  b "]`},
		{"empty brackets", "[ [ ] , { } , [ [ ] ] ]", `[[],{},[[]]]`},
		{"key order and double keys stay", `{"z":1,"a":2,"z":3}`, `{"z":1,"a":2,"z":3}`},
		{"digits stay", `[1915883588174806058,1.50,-0,1E400,0.1e-7]`, `[1915883588174806058,1.50,-0,1E400,0.1e-7]`},
		{"special keys are data", `{"__proto__":{"x":1},"constructor":2}`, `{"__proto__":{"x":1},"constructor":2}`},
		{"escapes stay", `"\u0041\/\n\ud83d\ude00\u2028"`, `"\u0041\/\n\ud83d\ude00\u2028"`},
		{"NUL escape stays", `{"k\u0000ey":"x\u0000y"}`, `{"k\u0000ey":"x\u0000y"}`},
		{"lone high surrogate", `{"a":"\ud83d","c":"after"}`, "{\"a\":\"\ufffd\",\"c\":\"after\"}"},
		{"lone low surrogate", `"\uDE00x"`, "\"\ufffdx\""},
		{"high surrogate before another escape", `"\ud83d\u0041"`, "\"\ufffd\\u0041\""},
		{"two high surrogates and a pair", `"\ud83d\ud83d\ude00"`, "\"\ufffd\\ud83d\\ude00\""},
		{"bytes that are not UTF-8", "\"a\xffb\xc3\"", "\"a\ufffdb\ufffd\""},
		{"surrogate written as three bytes", "\"\xed\xa0\xbd\"", "\"\ufffd\ufffd\ufffd\""},
		{"invalid byte after eight good ones", "\"12345678\xff\"", "\"12345678\ufffd\""},
		{"Unicode stays", `"é 日本 😀 ` + "\u2028" + `"`, `"é 日本 😀 ` + "\u2028" + `"`},
		{"DEL stays", "\"\x7f\"", "\"\x7f\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := jsontext.Compact([]byte(tt.in))
			if err != nil || string(got) != tt.want {
				t.Fatalf("Compact(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
			}
			appended, err := jsontext.Append([]byte("keep "), []byte(tt.in))
			if err != nil || string(appended) != "keep "+tt.want {
				t.Errorf("Append = %q, %v", appended, err)
			}
		})
	}
}

func TestCompactRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		offset   int
	}{
		{"nothing", ``, 0},
		{"only white space", "  ", 2},
		{"two values", `1 2`, 2},
		{"trailing bracket", `[]]`, 2},
		{"open array", `[1`, 2},
		{"open object", `{"a":1`, 6},
		{"array ends with comma", `[1,]`, 3},
		{"object ends with comma", `{"a":1,}`, 7},
		{"wrong bracket", `[1}`, 2},
		{"wrong empty bracket", `{]`, 1},
		{"number as key", `{1:2}`, 1},
		{"no colon", `{"a" 1}`, 5},
		{"no value", `{"a":}`, 5},
		{"leading zero", `01`, 1},
		{"plus", `+1`, 0},
		{"lone minus", `-`, 0},
		{"no fraction", `1.`, 2},
		{"no exponent", `1e+`, 3},
		{"NaN", `NaN`, 0},
		{"half a literal", `tru`, 0},
		{"literal with a tail", `nullx`, 4},
		{"open string", `"ab`, 3},
		{"open escape", `"ab\`, 3},
		{"unknown escape", `"\x41"`, 1},
		{"short unicode escape", `"\u12"`, 1},
		{"hex out of range", `"\u12g4"`, 1},
		{"line break in a string", "\"a\nb\"", 2},
		{"NUL", "1\x00", 1},
		{"byte order mark", "\ufeff1", 0},
		{"single quotes", `'a'`, 0},
		{"comment", `1 // one`, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := jsontext.Compact([]byte(tt.in))
			var syntax *jsontext.SyntaxError
			if !errors.As(err, &syntax) || got != nil {
				t.Fatalf("Compact(%q) = %q, %v", tt.in, got, err)
			}
			if syntax.Offset != tt.offset {
				t.Errorf("offset %d, want %d (%v)", syntax.Offset, tt.offset, err)
			}
			if kept, err := jsontext.Append([]byte("keep"), []byte(tt.in)); err == nil || string(kept) != "keep" {
				t.Errorf("Append = %q, %v", kept, err)
			}
		})
	}
}

func TestCompactDepth(t *testing.T) {
	t.Parallel()
	nested := func(depth int) []byte {
		return []byte(strings.Repeat(`{"a":[`, depth/2) + "1" + strings.Repeat(`]}`, depth/2))
	}
	if _, err := jsontext.Compact(nested(jsontext.MaxDepth)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := jsontext.Compact(nested(jsontext.MaxDepth + 2)); err == nil {
		t.Error("past the limit: no error")
	}
	if _, err := jsontext.Compact(bytes.Repeat([]byte("["), 10<<20)); err == nil {
		t.Error("10 MiB of brackets: no error")
	}
}

func TestCompactKeepsWhatIsCompact(t *testing.T) {
	in := []byte(`{"a":[1,2.5e3,"x é 😀"],"b":{}}`)
	if n := testing.AllocsPerRun(100, func() {
		got, err := jsontext.Compact(in)
		if err != nil || &got[0] != &in[0] {
			t.Fatal("not the input itself")
		}
	}); n != 0 {
		t.Errorf("%v allocations for text with nothing to change", n)
	}
}

func FuzzCompact(f *testing.F) {
	for _, seed := range []string{
		``, `1`, ` { "a" : [ 1 , true , null ] } `, `"\ud83d"`, `"\ud83d\ude00"`, "\"\xff\"", `[1,]`, `{"a":1e5,"a":-0.0}`, `[[[]]`, `"\u00`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		keep := bytes.Clone(in)
		got, err := jsontext.Compact(in)
		if !bytes.Equal(in, keep) {
			t.Fatal("the input changed")
		}
		if (err == nil) != json.Valid(in) {
			t.Fatalf("Compact(%q): %v, json.Valid: %v", in, err, json.Valid(in))
		}
		if err != nil {
			return
		}
		if !utf8.Valid(got) {
			t.Fatalf("Compact(%q) = %q is not UTF-8", in, got)
		}
		if want, have := decode(t, in), decode(t, got); !reflect.DeepEqual(want, have) {
			t.Fatalf("Compact(%q) = %q means something else", in, got)
		}
		var std bytes.Buffer
		if err := json.Compact(&std, got); err != nil || !bytes.Equal(std.Bytes(), got) {
			t.Fatalf("Compact(%q) = %q is not compact", in, got)
		}
		if again, err := jsontext.Compact(got); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("Compact twice: %q, then %q, %v", got, again, err)
		}
	})
}

func decode(t *testing.T, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decoding %q: %v", text, err)
	}
	return v
}
