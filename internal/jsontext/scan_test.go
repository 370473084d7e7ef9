package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

func TestEnd(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		`null`, `true`, `false`, `0`, `-1.5e+300`, `""`, `"a"`, `"\"]}"`, `"\\"`, `"é,\u0022"`, `[]`, `{}`, `[1,[2,"]"],{}]`,
		`{"}":{"a":[]},"b":"{"}`, strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
	} {
		for _, around := range [][2]string{{``, ``}, {`[`, `]`}, {`[1,`, `,2]`}, {`{"k":`, `}`}, {`{"k":`, `,"l":[]}`}} {
			text := around[0] + value + around[1]
			if got, want := jsontext.End([]byte(text), len(around[0])), len(text)-len(around[1]); got != want {
				t.Errorf("End(%.60s, %d) = %d, want %d", text, len(around[0]), got, want)
			}
		}
	}
}

func FuzzEnd(f *testing.F) {
	for _, seed := range []string{`[1,{"a":"\""}]`, `"a`, `]`, `{"a":[`, `tru`, `,,`, `"\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for pos := range in {
			if end := jsontext.End(in, pos); end <= pos || end > len(in) {
				t.Fatalf("End(%q, %d) = %d", in, pos, end)
			}
		}
		if text, err := jsontext.Compact(in); err == nil && jsontext.End(text, 0) != len(text) {
			t.Fatalf("End(%q, 0) = %d", text, jsontext.End(text, 0))
		}
	})
}

func TestStringPrefix(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		quoted string
		limit  int
		want   string
		whole  bool
	}{
		{`""`, 0, ``, true},
		{`"a"`, 0, ``, false},
		{`"abc"`, 3, `abc`, true},
		{`"abc"`, 2, `ab`, false},
		{`"abc","d"]`, 10, `abc`, true},
		{`"aé"`, 2, `a`, false},
		{`"aé"`, 3, `aé`, true},
		{`"\ud83d\ude00"`, 3, ``, false},
		{`"\ud83d\ude00"`, 4, `😀`, true},
		{`"\b\f\n\r\t\"\\\/\u0041\u00e9"`, 99, "\b\f\n\r\t\"\\/Aé", true},
		{`"\ud83d\u0041\ude00\ud83d"`, 99, "\ufffdA\ufffd\ufffd", true},
		{`"\ud83d\ud83d\ude00"`, 99, "\ufffd😀", true},
		{"\"\xff\xed\xa0\"", 99, "\ufffd\ufffd\ufffd", true},
		{`"\\"`, 99, `\`, true},
		{`"abc`, 99, `abc`, true},
	} {
		if got, whole := jsontext.StringPrefix([]byte(tt.quoted), tt.limit); got != tt.want || whole != tt.whole {
			t.Errorf("StringPrefix(%s, %d) = %q, %v, want %q, %v", tt.quoted, tt.limit, got, whole, tt.want, tt.whole)
		}
	}
}

func FuzzStringPrefix(f *testing.F) {
	for _, seed := range []string{`"abc"`, `"\ud83d\ude00é"`, `"\u`, `"\`, `"\x80"`, "\"\xff"} {
		f.Add([]byte(seed), 5)
	}
	f.Fuzz(func(t *testing.T, quoted []byte, limit int) {
		got, _ := jsontext.StringPrefix(quoted, limit)
		if len(got) > max(limit, 0) || !utf8.ValidString(got) {
			t.Fatalf("StringPrefix(%q, %d) = %q", quoted, limit, got)
		}
		text, err := jsontext.Compact(quoted)
		if err != nil || text[0] != '"' {
			return
		}
		var all string
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		got, whole := jsontext.StringPrefix(text, limit)
		if !strings.HasPrefix(all, got) || whole != (got == all) {
			t.Fatalf("StringPrefix(%q, %d) = %q, %v", text, limit, got, whole)
		}
		if _, size := utf8.DecodeRuneInString(all[len(got):]); !whole && len(got)+size <= limit {
			t.Fatalf("StringPrefix(%q, %d) = %q: there is room for more", text, limit, got)
		}
	})
}

func TestEncodedPrefix(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s     string
		limit int
		want  string
	}{
		{"abc", 5, "abc"},
		{"abc", 4, "ab"},
		{"abc", 2, ""},
		{"abc", 1, ""},
		{"abc", -1, ""},
		{"", 0, ""},
		{`a"b`, 4, "a"},
		{`a"b`, 5, `a"`},
		{"a\x00b", 8, "a"},
		{"a\x00b", 9, "a\x00"},
		{"aé", 4, "a"},
		{"a😀", 6, "a"},
		{"a😀", 7, "a😀"},
		{"\u2028", 5, "\u2028"},
		{"\xff", 4, ""}, // U+FFFD takes three bytes
		{"\xff", 5, "\xff"},
	} {
		if got := jsontext.EncodedPrefix(tt.s, tt.limit); got != tt.want {
			t.Errorf("EncodedPrefix(%q, %d) = %q, want %q", tt.s, tt.limit, got, tt.want)
		}
	}
}

func FuzzEncodedPrefix(f *testing.F) {
	f.Add("a\"é😀\x00\xff", 7)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := jsontext.EncodedPrefix(s, limit)
		if !strings.HasPrefix(s, got) || got != "" && len(jsontext.AppendString(nil, got)) > limit {
			t.Fatalf("EncodedPrefix(%q, %d) = %q", s, limit, got)
		}
		if got == s {
			return
		}
		_, size := utf8.DecodeRuneInString(s[len(got):])
		if n := len(jsontext.AppendString(nil, s[:len(got)+size])); n <= limit {
			t.Fatalf("EncodedPrefix(%q, %d) = %q: there is room for more", s, limit, got)
		}
	})
}
