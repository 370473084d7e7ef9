package schema

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	validator "github.com/kaptinlin/jsonschema"

	"github.com/cellmode/cellmode/internal/schematest"
)

// oracle applies a schema with kaptinlin/jsonschema, an independent implementation. Its known faults are left out by inCommon.
func oracle(text []byte) (func(value []byte) (bool, error), error) {
	compiler := validator.NewCompiler()
	compiler.Loaders = map[string]func(string) (io.ReadCloser, error){} // there are some for http and https
	compiled, err := compiler.Compile(text)
	if err != nil {
		return nil, err
	}
	return func(value []byte) (bool, error) {
		var v any
		if err := json.Unmarshal(value, &v); err != nil { // its own decoder refuses a key that stands twice
			return false, err
		}
		return compiled.ValidateStruct(v).IsValid(), nil
	}, nil
}

var (
	// notInCommon are the keywords that the oracle is known to get wrong, or that need what it does not have: it applies
	// content keywords, takes everything for valid below the third level of a recursive schema, and ignores items after
	// the first ones when it looks for equal items.
	notInCommon = regexp.MustCompile(`"(\$\w+|content\w+|uniqueItems|default|id|definitions|dependencies|additionalItems)"\s*:`)
	emptyEnum   = regexp.MustCompile(`"enum"\s*:\s*\[\s*\]`)
	// plainNumber are the numbers that a float64 holds as they are written, or nearly so.
	plainNumber = regexp.MustCompile(`^-?\d{1,9}(\.\d{1,3})?$`)
	anyNumber   = regexp.MustCompile(`-?\d[\d.eE+-]*`)
)

// inCommon reports whether a schema and a value hold only what the oracle is right about.
func inCommon(schema, value []byte) bool {
	if notInCommon.Match(schema) || emptyEnum.Match(schema) || strings.Contains(string(schema), `\`) {
		return false
	}
	if bytes.Contains(schema, []byte(`"unevaluated`)) && bytes.Contains(schema, []byte("true")) {
		return false // it takes the schema true for one that evaluates every property
	}
	for _, text := range [][]byte{schema, value} {
		for _, number := range anyNumber.FindAll(text, -1) {
			if !plainNumber.Match(number) || string(number) == "-0" {
				return false
			}
		}
	}
	return true
}

// compareWithOracle fails if the two validators disagree. It reports whether they were compared.
func compareWithOracle(t *testing.T, text, value []byte) bool {
	t.Helper()
	if !inCommon(text, value) || !json.Valid(value) {
		return false
	}
	s, err := Parse(text)
	if err != nil {
		return false
	}
	check, err := oracle(text)
	if err != nil {
		return false
	}
	want, err := check(value)
	if err != nil {
		return false
	}
	got := s.Validate(value)
	if got != nil && strings.Contains(got.Error(), "cannot be checked") {
		return false
	}
	if (got == nil) != want {
		t.Errorf("schema %s\nvalue %s\nValidate: %v\noracle: valid %v", text, value, got, want)
	}
	return true
}

// TestOracleSuite compares the two validators on the official suite, every schema against every value of its group's file.
func TestOracleSuite(t *testing.T) {
	t.Parallel()
	compared := 0
	for file, groups := range schematest.Suite(t, "draft2020-12") {
		if file == "refRemote" {
			continue
		}
		for _, g := range groups {
			text := regexp.MustCompile(`"\$schema"\s*:\s*"[^"]*",?`).ReplaceAll(g.Schema, nil)
			for _, other := range groups {
				for _, test := range other.Tests {
					if compareWithOracle(t, text, test.Data) {
						compared++
					}
				}
			}
		}
	}
	if compared < 10_000 {
		t.Errorf("only %d comparisons were made", compared)
	}
}

// TestOracleRandom compares the two validators on random schemas and values over few names and literals, so that they often
// nearly match.
func TestOracleRandom(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(2_000) {
		r := schematest.Random{Rand: rand.New(rand.NewPCG(seed, 1))}
		text := []byte(r.Schema(3))
		for range 5 {
			if compareWithOracle(t, text, []byte(r.Value(3))) {
				compared++
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	if compared < 5_000 {
		t.Errorf("only %d comparisons were made", compared)
	}
}
