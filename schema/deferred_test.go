package schema

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestParseDeferred(t *testing.T) {
	t.Parallel()
	good := ParseDeferred([]byte(` {"type":"integer"} `))
	if err := good.Err(); err != nil || string(good.Text()) != ` {"type":"integer"} ` {
		t.Errorf("%q: %v", good.Text(), err)
	}
	if good.Validate([]byte(`1`)) != nil || good.Validate([]byte(`"1"`)) == nil {
		t.Error("a deferred schema is not applied")
	}
	for _, text := range []string{`{"type":"sting"}`, `{"properties":`, "\xff", ``, `{"$ref":"http://127.0.0.1/x.json"}`, `{"x-openclaw-input-discriminator":{}}`,
		strings.Repeat(" ", MaxTextBytes+1), `{"$ref":"#"}`} {
		s := ParseDeferred([]byte(text))
		refusal, ok := errors.AsType[*ParseError](s.Err())
		if !ok || string(s.Text()) != text {
			t.Errorf("%.50q: %v", s.Text(), s.Err())
			continue
		}
		checkInapplicable(t, s, refusal.Reason)
	}
}

func TestZeroSchema(t *testing.T) {
	t.Parallel()
	s := &Schema{}
	if err := s.Err(); err == nil {
		t.Error("the zero Schema has no error")
	} else if _, ok := errors.AsType[*ParseError](err); ok {
		t.Errorf("the zero Schema was never parsed, but its error is %v", err)
	}
	if text := s.Text(); len(text) != 0 {
		t.Errorf("Text is %q", text)
	}
	checkInapplicable(t, s, "zero Schema")
}

// checkInapplicable checks what holds for every schema with an error.
func checkInapplicable(t *testing.T, s *Schema, reason string) {
	t.Helper()
	if s.IsAny() {
		t.Errorf("%.50q accepts everything", s.Text())
	}
	if d, ok := s.Discriminator(); ok {
		t.Errorf("%.50q: %+v", s.Text(), d)
	}
	for _, value := range []string{`{}`, `null`, `["1915883588174806058",1.0]`, ``, `{`} {
		for _, err := range []error{s.Validate([]byte(value)), s.ValidateFor([]byte(value), "a")} {
			if err == nil || !strings.Contains(err.Error(), reason[:min(len(reason), 100)]) {
				t.Errorf("%.50q, value %q: %v, want %q", s.Text(), value, err, reason)
				continue
			}
			checkProblems(t, err)
		}
		if got := s.CoerceIntegers([]byte(value)); string(got) != value {
			t.Errorf("CoerceIntegers(%q) = %q", value, got)
		}
		if got := s.FillNils([]byte(value)); string(got) != value {
			t.Errorf("FillNils(%q) = %q", value, got)
		}
	}
	if got, err := s.ApplyDefaults([]byte(`{ }`)); err != nil || string(got) != `{ }` {
		t.Errorf("ApplyDefaults gives %q, %v", got, err)
	}
	any := mustParse(t, `{}`)
	if _, err := Variants("op", Variant{"a", any}, Variant{"broken", s}); !errors.Is(err, s.Err()) || !strings.Contains(err.Error(), `"broken"`) {
		t.Errorf("Variants: %v, want an error that names the variant", err)
	}
}

// TestNoRequests is case C078: whatever a schema refers to, nothing is loaded.
func TestNoRequests(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = w.Write([]byte(`{}`))
	}))
	defer server.Close()
	refused := 0
	for _, text := range []string{
		`{"properties":{"a":{"$ref":"URL/x.json"},"b":{"$ref":"file:///etc/hostname"}},"$schema":"URL/meta"}`,
		`{"$ref":"URL/x.json#/a"}`,
		`{"$schema":"URL/meta"}`,
		`{"$id":"URL/a.json","$ref":"b.json"}`,
		`{"$id":"URL/a.json","$defs":{"b":{"$id":"b.json","type":"integer"}},"$ref":"b.json"}`,
		`{"$dynamicRef":"URL/x.json#a"}`,
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"URL/x.json"}`,
		`{"$schema":"URL/meta","$id":"URL/id","$ref":"URL/id#/$defs/a","$defs":{"a":{"type":"object"}}}`,
		`{"$vocabulary":{"URL/vocabulary":true},"contentSchema":{"$ref":"URL/x.json"}}`,
		`{"anyOf":[{"$ref":"URL/x.json"}],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0}}}`,
	} {
		s := ParseDeferred([]byte(strings.ReplaceAll(text, "URL", server.URL)))
		if s.Err() != nil {
			refused++
		}
		if _, err := Parse(s.Text()); (err == nil) != (s.Err() == nil) {
			t.Errorf("%s: Parse gives %v, ParseDeferred %v", text, err, s.Err())
		}
		_, _ = s.Discriminator()
		_, _ = s.ApplyDefaults([]byte(`{"a":1}`))
		_ = s.CoerceIntegers([]byte(`{"a":"1915883588174806058"}`))
		_ = s.FillNils([]byte(`{"a":null}`))
		_ = s.ValidateFor([]byte(`{"a":1}`), "a")
		if err := s.Validate([]byte(`{"a":1}`)); err == nil && s.Err() != nil {
			t.Errorf("%s: a value matches", text)
		}
		_, _ = Variants("op", Variant{"a", s})
	}
	if refused != 7 {
		t.Errorf("%d schemas were refused, want 7", refused)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}
