package jsontext_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/internal/jsontext"
)

func TestQuoteUnsafeIntegers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		// Case C018: the id that was rounded on its way, and another record deleted.
		{`{"id":1915883588174806058}`, `{"id":"1915883588174806058"}`},
		{`-1915883588174806058`, `"-1915883588174806058"`},
		{`9007199254740991`, `9007199254740991`},
		{`9007199254740992`, `9007199254740992`},
		{`9007199254740993`, `"9007199254740993"`},
		{`9223372036854775807`, `"9223372036854775807"`},
		{`18446744073709551615`, `"18446744073709551615"`},
		{`123456789012345680000`, `123456789012345680000`},
		{`123456789012345678901`, `"123456789012345678901"`},
		{`999999999999999900000`, `999999999999999900000`},
		{`1000000000000000000000`, `"1000000000000000000000"`}, // JavaScript prints 1e+21
		{`1e+21`, `1e+21`},
		{`1e21`, `1e21`},
		{`0.12345678901234567890`, `0.12345678901234567890`},
		{`1915883588174806058.0`, `1915883588174806058.0`},
		{`1915883588174806058e0`, `1915883588174806058e0`},
		{`"1915883588174806058"`, `"1915883588174806058"`},
		{`{"1915883588174806058":1}`, `{"1915883588174806058":1}`},
		{`["a\"1915883588174806058",1915883588174806059,"\\",1915883588174806057]`,
			`["a\"1915883588174806058","1915883588174806059","\\","1915883588174806057"]`},
		{`[1,22,333,4444]`, `[1,22,333,4444]`},
		{strings.Repeat("9", 400), `"` + strings.Repeat("9", 400) + `"`},
		{`null`, `null`},
		{``, ``},
	} {
		if got := jsontext.QuoteUnsafeIntegers([]byte(tt.in)); string(got) != tt.want {
			t.Errorf("QuoteUnsafeIntegers(%s) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

// The search for a long run looks at one byte in sixteen: the run must be found wherever it begins.
func TestQuoteUnsafeIntegersAtEveryPlace(t *testing.T) {
	t.Parallel()
	for before := range 40 {
		in := `["` + strings.Repeat("x", before) + `",9007199254740993]`
		want := strings.Replace(in, "9007199254740993", `"9007199254740993"`, 1)
		if got := jsontext.QuoteUnsafeIntegers([]byte(in)); string(got) != want {
			t.Errorf("after %d bytes: %s", before, got)
		}
	}
}

func TestQuoteUnsafeIntegersAllocatesNothing(t *testing.T) {
	in := []byte(`{"id":123456789012345,"text":"call 030 123456 or 1234567890","list":[1,2,3.14159265358979]}`)
	if n := testing.AllocsPerRun(100, func() { jsontext.QuoteUnsafeIntegers(in) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzQuoteUnsafeIntegers(f *testing.F) {
	for _, seed := range []string{`[9007199254740993,"9007199254740993\\",{"a":-18446744073709551616}]`, `1e400`, `12345678901234567890123`, `"`, `\"1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got := jsontext.QuoteUnsafeIntegers(in) // must not panic, whatever comes
		if !json.Valid(in) {
			return
		}
		want, have := decode(t, in), decode(t, got)
		compareQuoted(t, want, have)
		if again := jsontext.QuoteUnsafeIntegers(got); !bytes.Equal(again, got) {
			t.Fatalf("twice: %s, then %s", got, again)
		}
	})
}

// compareQuoted checks that have is want with exactly the integers quoted that a double prints differently.
func compareQuoted(t *testing.T, want, have any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		for key, value := range want {
			compareQuoted(t, value, have.(map[string]any)[key])
		}
	case []any:
		for i, value := range want {
			compareQuoted(t, value, have.([]any)[i])
		}
	case json.Number:
		literal := want.String()
		f, _ := strconv.ParseFloat(literal, 64)
		printed, _ := json.Marshal(f) // the notation of JavaScript
		unsafe := !strings.ContainsAny(literal, ".eE") && string(printed) != literal && literal != "-0"
		if s, quoted := have.(string); quoted != unsafe || quoted && s != literal {
			t.Fatalf("%s became %v", literal, have)
		}
	default:
		if want != have {
			t.Fatalf("%v became %v", want, have)
		}
	}
}
