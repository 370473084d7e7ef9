package schema

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestNumbersAreExact checks numbers that a float64 does not hold.
func TestNumbersAreExact(t *testing.T) {
	t.Parallel()
	tests := []struct {
		schema, value string
		valid         bool
	}{
		{`{"type":"integer"}`, `1915883588174806058`, true},
		{`{"type":"integer"}`, `1.0`, true},
		{`{"type":"integer"}`, `-0.0`, true},
		{`{"type":"integer"}`, `12.50e1`, true},
		{`{"type":"integer"}`, `12.50e0`, false},
		{`{"type":"integer"}`, `1e-1`, false},
		{`{"type":"integer"}`, `9007199254740993.5`, false},
		{`{"type":"integer"}`, `1e400`, true},
		{`{"type":"number"}`, `1e-400`, true},
		{`{"maximum":9007199254740992}`, `9007199254740993`, false},
		{`{"maximum":9007199254740992}`, `9007199254740992.0`, true},
		{`{"exclusiveMaximum":9223372036854775808}`, `9223372036854775807`, true},
		{`{"minimum":0.1}`, `0.09999999999999999999999`, false},
		{`{"minimum":-1e400}`, `-1e401`, false},
		{`{"minimum":1e-400}`, `0`, false},
		{`{"multipleOf":0.01}`, `1234567890123456789.01`, true},
		{`{"multipleOf":0.01}`, `1234567890123456789.015`, false},
		{`{"multipleOf":3}`, `100000000000000000000000000002`, true},
		{`{"multipleOf":1e-8}`, `12391239123`, true},
		{`{"multipleOf":0.123456789}`, `1e308`, false},
		{`{"multipleOf":1e5}`, `120000`, false},
		{`{"const":9007199254740993}`, `9007199254740992`, false},
		{`{"const":1}`, `1.000`, true},
		{`{"const":100}`, `1e2`, true},
		{`{"const":0}`, `-0`, true},
		{`{"enum":[[1.0,{"a":10}]]}`, `[1,{"a":1e1}]`, true},
		{`{"enum":[1]}`, `true`, false},
		{`{"enum":["1"]}`, `1`, false},
		{`{"uniqueItems":true}`, `[9007199254740992,9007199254740993]`, true},
		{`{"uniqueItems":true}`, `[1000000000000000000000000000000000000,1e36]`, false},
		{`{"uniqueItems":true}`, `[["a","b"],["a\",\"b"]]`, true},
	}
	for _, test := range tests {
		if err := mustParse(t, test.schema).Validate([]byte(test.value)); (err == nil) != test.valid {
			t.Errorf("schema %s, value %s: %v", test.schema, test.value, err)
		}
	}
}

// TestDecimal compares with math/big on random numbers in all the ways to write them.
func TestDecimal(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	literal := func() string {
		var b strings.Builder
		if r.IntN(3) == 0 {
			b.WriteByte('-')
		}
		switch r.IntN(3) {
		case 0:
			b.WriteByte('0')
		case 1:
			fmt.Fprint(&b, 1+r.IntN(99))
		default:
			fmt.Fprint(&b, 1+r.Uint64()/2, r.Uint64N(1000))
		}
		s := strings.ReplaceAll(b.String(), " ", "")
		if r.IntN(2) == 0 {
			s += fmt.Sprintf(".%0*d", 1+r.IntN(4), r.IntN(100))
		}
		if r.IntN(3) == 0 {
			s += fmt.Sprintf("%s%d", []string{"e", "E+", "e-"}[r.IntN(3)], r.IntN(12))
		}
		return s
	}
	for range 20_000 {
		a, b := literal(), literal()
		x, y := parseDecimal(nil, []byte(a)), parseDecimal(nil, []byte(b))
		ra, _ := new(big.Rat).SetString(a)
		rb, ok := new(big.Rat).SetString(b)
		if ra == nil || !ok {
			t.Fatalf("bad literal %s or %s", a, b)
		}
		if got, want := x.cmp(y), ra.Cmp(rb); got != want {
			t.Fatalf("cmp(%s, %s) = %d, want %d", a, b, got, want)
		}
		if got, want := x.isInteger(), ra.IsInt(); got != want {
			t.Fatalf("isInteger(%s) = %v", a, got)
		}
		if back, ok := new(big.Rat).SetString(string(x.appendTo(nil))); !ok || back.Cmp(ra) != 0 {
			t.Fatalf("%s is written as %s", a, x.appendTo(nil))
		}
		if same := string(x.appendTo(nil)) == string(y.appendTo(nil)); same != (ra.Cmp(rb) == 0) {
			t.Fatalf("%s and %s have the same form: %v", a, b, same)
		}
		if m, ok := newDivisor(y); ok {
			if got, want := m.divides(x), new(big.Rat).Quo(ra, rb).IsInt(); got != want {
				t.Fatalf("%s divides %s: %v", b, a, got)
			}
		} else if rb.Sign() > 0 && len(y.digits) <= 19 {
			t.Fatalf("%s is no divisor", b)
		}
	}
}
