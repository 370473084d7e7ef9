package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `true`, `{"type":"sting"}`, `{"$ref":"#"}`, `{"$ref":"#/$defs/a","$defs":{"a":{"$anchor":"x"}}}`, "\xef\xbb\xbf{}",
		`{"$id":"http://a/b","$dynamicRef":"#c","$defs":{"c":{"$dynamicAnchor":"c","$id":"d"}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]},"items":[{}],"definitions":{}}`,
		`{"pattern":"^(?!a)[\\s\\u00e9]\\p{L}$","patternProperties":{"[^]":false},"multipleOf":1e-7,"minimum":-0.0e5}`,
		`{"properties":{"a":{"default":{},"properties":{"b":{"default":1}}}},"required":["a"],"unevaluatedProperties":false}`,
		orderSchema, recordsSchema, shapes,
		`{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{}},"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`,
		`{"anyOf":[],"x-openclaw-input-discriminator":{"version":2,"inputProperty":"","mapping":{"a":-1,"b":1.5}}}`,
	} {
		f.Add([]byte(seed))
	}
	values := [][]byte{[]byte(`{}`), []byte(`{"a":[1,"x",null],"b":{"a":1.5}}`), []byte(`"12345678901234567890"`)}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		deferred := ParseDeferred(text)
		if fmt.Sprint(deferred.Err()) != fmt.Sprint(err) || !bytes.Equal(deferred.Text(), text) {
			t.Fatalf("ParseDeferred(%q) gives %q, %v; Parse %v", text, deferred.Text(), deferred.Err(), err)
		}
		if err != nil {
			if refusal, ok := errors.AsType[*ParseError](err); !ok || len(refusal.Path) > maxMessageBytes+3 {
				t.Fatalf("Parse(%q) gives %#v", text, err)
			}
			checkInvariants(t, deferred, []byte(`{}`))
			return
		}
		if d, ok := s.Discriminator(); ok && (d.InputProperty == "" || len(d.Values) == 0 || len(d.Values) != len(d.Branch) || d.Branches == 0) {
			t.Fatalf("Parse(%q) gives %+v", text, d)
		}
		if !bytes.Equal(s.Text(), text) || !utf8.Valid(text) || !json.Valid(text) {
			t.Fatalf("Parse accepted %q and gives back %q", text, s.Text())
		}
		for _, value := range values {
			checkInvariants(t, s, value)
		}
	})
}

func FuzzValidate(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"properties":{"a":{"type":"string","minLength":2}},"required":["a"],"additionalProperties":false}`, `{"a":"\ud83d","\u0061":"xx"}`},
		{`{"items":{"anyOf":[{"const":1},{"type":"null"}]},"minItems":1,"contains":{"enum":["a",{"b":[]}]}}`, `[1.0,null,{"b":[]}]`},
		{`{"minimum":1.5,"multipleOf":0.5,"exclusiveMaximum":3}`, `2.50`},
		{orderSchema, orderValue(1)},
		{`{"properties":{"n":{"type":"integer","default":3}},"unevaluatedProperties":{"type":["array","boolean"]}}`, `{"n":"1915883588174806058","x":null}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, text, value []byte) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		checkInvariants(t, s, value)
		if !bytes.Contains(value, []byte(`\`)) && !bytes.Contains(text, []byte(`attern`)) { // expressions are not the same
			compareWithOracle(t, text, value)
		}
	})
}

// checkInvariants checks what holds for every schema and every value.
func checkInvariants(t *testing.T, s *Schema, value []byte) {
	t.Helper()
	compact, syntaxErr := jsontext.Compact(value)
	err := s.Validate(value)
	if syntaxErr != nil && err == nil {
		t.Fatalf("%q matches", value)
	}
	if err != nil {
		checkProblems(t, err)
	}
	if again := s.Validate(compact); syntaxErr == nil && (err == nil) != (again == nil) {
		t.Fatalf("%q gives %v, and without white space %v", value, err, again)
	}
	filled, fillErr := s.ApplyDefaults(value)
	if (fillErr == nil) != (syntaxErr == nil) {
		t.Fatalf("ApplyDefaults(%q): %v", value, fillErr)
	}
	if fillErr == nil {
		again, err := s.ApplyDefaults(filled)
		if err != nil || !bytes.Equal(again, filled) || !json.Valid(filled) {
			t.Fatalf("ApplyDefaults(%q) gives %q, then %q, %v", value, filled, again, err)
		}
	}
	for name, rewrite := range map[string]func([]byte) []byte{"CoerceIntegers": s.CoerceIntegers, "FillNils": s.FillNils} {
		out := rewrite(value)
		if syntaxErr != nil && !bytes.Equal(out, value) || syntaxErr == nil && !json.Valid(out) {
			t.Fatalf("%s(%q) gives %q", name, value, out)
		}
	}
}

// checkProblems checks the bounds of an error of Validate.
func checkProblems(t testing.TB, err error) {
	t.Helper()
	invalid, ok := errors.AsType[*ValidationError](err)
	if !ok || len(invalid.Problems) == 0 || len(invalid.Problems) > 5 {
		t.Fatalf("Validate gives %#v", err)
	}
	for _, p := range invalid.Problems {
		for _, s := range []string{p.Path, p.Message} {
			if s == "" || len(s) > 256+len("...") || !utf8.ValidString(s) {
				t.Fatalf("problem %+q", p)
			}
		}
	}
}
