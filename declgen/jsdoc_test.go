package declgen

import (
	"strings"
	"testing"
)

func TestComment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, want string
	}{
		{"nothing", "", ""},
		{"blank", " \n\t\r\n\u2028", ""},
		{"one line", " a  b ", "/** a b */\n"},
		{"lines", "a\r\nb\rc\u2028d\u2029e\u0085f\n\n\ng", "/**\n * a\n * b\n * c\n * d\n * e\n * f\n * g\n */\n"},
		{"the end of a comment", "*/ **/ *//", "/** *\\/ **\\/ *\\// */\n"},
		{"an end in two lines", "a *\n/ b", "/**\n * a *\n * / b\n */\n"},
		{"hidden characters", "a\u202eb\u200bc\x00d\ufeff", "/** abcd */\n"},
		{"a directive", "@ts-ignore", "/**\n * @ts-ignore\n */\n"},
		{"not UTF-8", "a\xffb", "/** a\ufffdb */\n"},
		{"too many lines", strings.Repeat("x\n", docLines+1), "/**\n" + strings.Repeat(" * x\n", docLines-1) + " * x…\n */\n"},
		{"too long", strings.Repeat("😀", docUnits), "/** " + strings.Repeat("😀", docUnits/2) + "… */\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := doc{text: test.text}.comment("")
			if got != test.want {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}
