package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendASCII(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		``: ``, `{"a":"b\n"}`: `{"a":"b\n"}`, `"é"`: `"\u00e9"`, `{"名":"🚀"}`: `{"\u540d":"\ud83d\ude80"}`, "\"a\xffb\xe2\x82\"": `"a\ufffdb\ufffd\ufffd"`,
		"\"\u007f\u0080\uffff\U00010000\"": "\"\u007f" + `\u0080\uffff\ud800\udc00"`,
		strings.Repeat("x", 100) + "ü":     strings.Repeat("x", 100) + `\u00fc`,
	} {
		if got := string(AppendASCII(nil, []byte(src))); got != want {
			t.Errorf("%q: got %q, want %q", src, got, want)
		}
	}
}

func FuzzAppendASCII(f *testing.F) {
	f.Add([]byte("\"é\U0001f680\xff\xe2\x82\""))
	f.Fuzz(func(t *testing.T, src []byte) {
		dst := AppendASCII([]byte("kept"), src)
		if len(dst) != len("kept")+ASCIILen(src) || string(dst[:4]) != "kept" {
			t.Fatalf("%q: %q has not the length %d", src, dst, ASCIILen(src))
		}
		for _, b := range dst {
			if b >= utf8.RuneSelf {
				t.Fatalf("%q: %q", src, dst)
			}
		}
		if !json.Valid(src) {
			return
		}
		var before, after any
		if json.Unmarshal(src, &before) != nil {
			return
		}
		if err := json.Unmarshal(dst[4:], &after); err != nil {
			t.Fatal(err)
		}
		x, _ := json.Marshal(before)
		y, _ := json.Marshal(after)
		if string(x) != string(y) {
			t.Fatalf("%q is %s, %q is %s", src, x, dst, y)
		}
	})
}
