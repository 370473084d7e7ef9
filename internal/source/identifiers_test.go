package source_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/source"
)

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		code string
		want []string
	}{
		{code: ""},
		{code: "1 + 2e5 / 0x1f_00n // 3"},
		{code: "return await echo({i})", want: []string{"return", "await", "echo", "i"}},
		{code: "$a.b_1?.#c;_;$", want: []string{"$a", "b_1", "c", "_", "$"}},
		{code: `globalThis["shipping_list"] /* note */`, want: []string{"globalThis", "shipping_list", "note"}},
		{code: "1..toFixed()+a1", want: []string{"toFixed", "a1"}},
		{code: "größe=数+π;é", want: []string{"größe", "数", "π", "é"}},
		{code: "a\u00a0b\u2028c\ufeffd→e🦀f", want: []string{"a", "b", "c", "d", "e", "f"}},
		{code: "a\u200db ℮x a·b", want: []string{"a\u200db", "℮x", "a·b"}},
		{code: "`${a}b${c}`", want: []string{"$", "a", "b$", "c"}},
		{code: "a\xffb\xe6\x95", want: []string{"a", "b"}},
	}
	for _, tt := range tests {
		if got := slices.Collect(source.Identifiers(tt.code)); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.code, got, tt.want)
		}
	}
}

func TestIdentifiersStops(t *testing.T) {
	t.Parallel()
	for name := range source.Identifiers("a b c") {
		if name == "b" {
			break
		}
	}
}

func TestUnescape(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`plain`: `plain`, `\u0065cho`: `echo`, `ec\u{68}o`: `echo`, `\u`: `\u`, `\u12`: `\u12`, `\u{}x`: `\u{}x`, `a\\u0062`: "a\\b",
		`"\u20ac"`: `"€"`, `\ud83e`: "\ufffd", `\u0065\u0063`: `ec`,
	} {
		if got := source.Unescape(code); got != want {
			t.Errorf("%s: got %q, want %q", code, got, want)
		}
	}
}

// TestIdentifiersDoesNotAllocate holds the promise for the whole path of an ordinary cell.
func TestIdentifiersDoesNotAllocate(t *testing.T) {
	code := "const rows = await shipping_list({ status: 'late' });\nreturn rows.filter((r) => r.tons > 5);"
	allocs := testing.AllocsPerRun(100, func() {
		for name := range source.Identifiers(code) {
			if name == "" {
				t.Error("empty name")
			}
		}
		if shell, err := source.Shell(t.Context(), code, nil); shell || err != nil {
			t.Error(shell, err)
		}
		if source.ModuleAccess(code) || source.Unescape(code) != code {
			t.Error("unexpected")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func FuzzIdentifiers(f *testing.F) {
	for _, seed := range []string{"return await echo({i})", "größe\u00a0x", "\xff\xf0\x9f", "1a $"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) {
		rest := code
		for name := range source.Identifiers(code) {
			at := strings.Index(rest, name)
			if name == "" || at < 0 {
				t.Fatalf("%q: %q is not the next part", code, name)
			}
			rest = rest[at+len(name):]
		}
		// No identifier of ASCII letters may be missing, whatever surrounds it.
		if utf8.ValidString(code) && !slices.Contains(slices.Collect(source.Identifiers(code+" wanted\n"+code)), "wanted") {
			t.Errorf("%q hides an identifier", code)
		}
	})
}
