package schema

import "testing"

func TestPattern(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern   string
		match, no []string
	}{
		{`a+`, []string{"xaay"}, []string{"", "b"}},
		{`^a*$`, []string{"", "aaa"}, []string{"a\n", "b"}},
		{`^.$`, []string{"é", "🦀"}, []string{"\n", "\r", "\u2028", "\u2029", "ab"}},
		{`^\s$`, []string{" ", "\ufeff", "\u00a0", "\u2028", "\v"}, []string{"a", "\u200b"}},
		{`^\S$`, []string{"a", "é", "\u200b", "!", "\x00"}, []string{" ", "\ufeff", "\u3000"}},
		{`^[^\s\d]+$`, []string{"ab"}, []string{"a b", "a1", "\u00a0"}},
		{`^[\S]$`, []string{"a"}, []string{"\u2003"}},
		{`^\d\w$`, []string{"1_"}, []string{"٣a", "1é"}},
		{`^\u00e9\u{1F980}$`, []string{"é🦀"}, []string{"e"}},
		{`^\cJ\0[\b]$`, []string{"\n\x00\b"}, []string{"J0b"}},
		{`^\p{Letter}\p{Script=Greek}\P{L}$`, []string{"aβ1"}, []string{"1β1", "aa1"}},
		{`^[^]$`, []string{"a", "\n"}, []string{""}},
		{`[]`, nil, []string{"", "a"}},
		{`^[[:alpha:]]$`, []string{"a]", ":]"}, []string{"b", "b]"}},
		{`^\/\-\.$`, []string{"/-."}, []string{"/-a"}},
		{`^[\w\-.]+$`, []string{"a-b.c"}, []string{"a b"}},
		{`^(?<year>\d{4})-\d\d$`, []string{"2024-01"}, []string{"24-01"}},
		{`^(?!tmp|\.)[a-z.]+$`, []string{"abc", "xtmp"}, []string{"tmpfile", ".a", "A"}},
		{`^(?=.*\d)(?=.*[a-z])(?!.*\s).{4,}$`, []string{"abc1", "1a2b3c"}, []string{"abcd", "1234", "a1", "ab 12"}},
		{`^(?!a)`, []string{"", "b"}, []string{"a", "ab"}},
		{`^(?!aa)(a|[|b]\|)+$`, []string{"ab|", "||"}, []string{"aab|", "c"}},
		{`^(?![)(?!a)])b`, []string{"b"}, []string{"c"}},
	}
	for _, test := range tests {
		p, err := compilePattern(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		for _, s := range test.match {
			if !p.match([]byte(s)) {
				t.Errorf("%s does not match %q", test.pattern, s)
			}
		}
		for _, s := range test.no {
			if p.match([]byte(s)) {
				t.Errorf("%s matches %q", test.pattern, s)
			}
		}
	}
}

func TestPatternRefuses(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`(`, `[a`, `a**`, `\`, `(a)\1`, `(?<n>a)\k<n>`, `a(?=b)`, `(?!a)b`, `(?<!a)b`, `^(?!a)b|c`, `^(?=a)+b`, `^a(?!b)`, `^(?!a`, `^(?=a(?!b))`,
		`\Z`, `\A`, `\a`, `\Qa`, `(?P<n>a)`, `\u12`, `\u{}`, `\u{zz}`, `\c1`, `\p`, `\p{Nope}`, `a{2000}`, `(a{900}){900}`,
	} {
		if p, err := compilePattern(source); err == nil {
			t.Errorf("%s was compiled, to %v", source, p.must)
		}
	}
}
