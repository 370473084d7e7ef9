package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

func TestAppendString(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{``, `""`},
		{`plain`, `"plain"`},
		{`<a href="x">&</a>`, `"<a href=\"x\">&</a>"`},
		{"\b\f\n\r\t\\\x00\x1f\x7f", `"\b\f\n\r\t\\\u0000\u001f` + "\x7f\""},
		{"line\u2028separator\u2029", "\"line\u2028separator\u2029\""},
		{"é 日本 😀", `"é 日本 😀"`},
		{"a\xffb\xed\xa0\xbd", "\"a\ufffdb\ufffd\ufffd\ufffd\""},
		{"\ufffd", "\"\ufffd\""},
		{`eight by\eight by"eight`, `"eight by\\eight by\"eight"`},
	} {
		if got := jsontext.AppendString(nil, tt.in); string(got) != tt.want {
			t.Errorf("AppendString(%q) = %s, want %s", tt.in, got, tt.want)
		}
		if got := jsontext.EncodedLen(tt.in); got != len(tt.want) {
			t.Errorf("EncodedLen(%q) = %d, want %d", tt.in, got, len(tt.want))
		}
	}
}

// Every byte at every place of an eight-byte word: the scan by words must agree with the scan by bytes.
func TestAppendStringEveryByteEveryPlace(t *testing.T) {
	t.Parallel()
	for b := range 256 {
		for place := range 17 {
			in := strings.Repeat("x", place) + string([]byte{byte(b)}) + strings.Repeat("y", 16-place)
			checkString(t, in)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "a\"b\\c", "\x00\xff\u2028", "<&>", "\ud7ff\ue000"} {
		f.Add(seed)
	}
	f.Fuzz(checkString)
}

func checkString(t *testing.T, in string) {
	t.Helper()
	got := jsontext.AppendString(nil, in)
	var back string
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatalf("AppendString(%q) = %q: %v", in, got, err)
	}
	if want := string([]rune(in)); back != want { // []rune turns each invalid byte into U+FFFD
		t.Fatalf("AppendString(%q) reads back as %q", in, back)
	}
	if !utf8.Valid(got) || jsontext.EncodedLen(in) != len(got) {
		t.Fatalf("AppendString(%q) = %q, EncodedLen %d", in, got, jsontext.EncodedLen(in))
	}
	bytes := 2
	for _, r := range in {
		if n := utf8.RuneLen(r); n > 1 {
			bytes += n
		} else {
			bytes += jsontext.EncodedByteLen(byte(r))
		}
	}
	if bytes != len(got) {
		t.Fatalf("AppendString(%q) = %q, and its characters take %d", in, got, bytes)
	}
	if same, err := jsontext.Compact(got); err != nil || string(same) != string(got) {
		t.Fatalf("Compact(%q) = %q, %v", got, same, err)
	}
}

func TestUTF16Len(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", "é", "日本語", "a😀b", "😀", "\U0010ffff\uffff", "a\xffb\xe2\x80", "\xed\xa0\x80"} {
		if got, want := jsontext.UTF16Len(s), len(utf16.Encode([]rune(s))); got != want {
			t.Errorf("UTF16Len(%q) = %d, want %d", s, got, want)
		}
	}
}
