package schema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/internal/schematest"
)

// withBranch is the schema that ValidateFor is defined by: the root with one more entry in allOf. That is a reference to the branch
// or, for a validator that has trouble with references, the branch itself.
func withBranch(t testing.TB, text []byte, branch int, inline bool) []byte {
	t.Helper()
	doc, err := parseDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	entry := []byte(fmt.Sprintf(`{"$ref":"#/anyOf/%d"}`, branch))
	if inline {
		entry = doc.get("anyOf").members[branch].value.text
	}
	out, entered := []byte{'{'}, false
	for i := range doc.members {
		m := &doc.members[i]
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%s:", quoteJSON(t, m.key))
		value := m.value.text
		if m.key == "allOf" {
			value, entered = fmt.Appendf(nil, "%s,%s]", value[:len(value)-1], entry), true
		}
		out = append(out, value...)
	}
	if !entered {
		out = fmt.Appendf(out, `,"allOf":[%s]`, entry)
	}
	return append(out, '}')
}

func quoteJSON(t testing.TB, s string) []byte {
	t.Helper()
	quoted, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return quoted
}

// compareWithBranch fails if ValidateFor does not do what Validate does with the schema it is defined by. It reports whether
// they were compared, and whether with the oracle, too.
func compareWithBranch(t *testing.T, text, value []byte, inputValue string) (compared, withOracle bool) {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		return false, false
	}
	got := s.ValidateFor(value, inputValue)
	if got != nil {
		checkProblems(t, got)
	}
	d, _ := s.Discriminator()
	branch, mapped := d.Branch[inputValue]
	if !mapped || !d.Narrow {
		if want := s.Validate(value); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("schema %s\nvalue %s for %q\nValidateFor: %v\nValidate: %v", text, value, inputValue, got, want)
		}
		return false, false
	}
	explicit := mustParse(t, string(withBranch(t, text, branch, false)))
	want := explicit.Validate(value)
	for _, err := range []error{got, want} {
		if err != nil && strings.Contains(err.Error(), tooMuchWork) {
			return false, false
		}
	}
	if (got == nil) != (want == nil) {
		t.Errorf("schema %s\nvalue %s for %q\nValidateFor: %v\nwith the branch in allOf: %v", text, value, inputValue, got, want)
	}
	inlined := withBranch(t, text, branch, true)
	if !inCommon(inlined, value) || !json.Valid(value) {
		return true, false
	}
	check, err := oracle(inlined)
	if err != nil {
		return true, false
	}
	valid, err := check(value)
	if err != nil {
		return true, false
	}
	if (got == nil) != valid {
		t.Errorf("schema %s\nvalue %s for %q\nValidateFor: %v\noracle: valid %v", text, value, inputValue, got, valid)
	}
	return true, true
}

// annotated makes a random schema with branches and the annotation.
func annotated(r schematest.Random) []byte {
	keywords := map[string]json.RawMessage{}
	if root := r.Schema(2); root[0] == '{' {
		if err := json.Unmarshal([]byte(root), &keywords); err != nil {
			panic(err)
		}
	}
	branches := make([]string, 1+r.IntN(3))
	for i := range branches {
		branches[i] = r.Schema(2)
	}
	keywords["anyOf"] = json.RawMessage("[" + strings.Join(branches, ",") + "]")
	keywords[DiscriminatorKeyword] = json.RawMessage(fmt.Sprintf(`{"version":1,"inputProperty":"op","mapping":{"x":%d,"y":%d}}`,
		r.IntN(len(branches)), r.IntN(len(branches))))
	if r.IntN(2) == 0 {
		keywords["unevaluatedProperties"] = json.RawMessage(r.OneOf("false", `{"type":"string"}`))
	}
	text, err := json.Marshal(keywords)
	if err != nil {
		panic(err)
	}
	return text
}

func TestValidateForRandom(t *testing.T) {
	t.Parallel()
	compared, withOracle := 0, 0
	for seed := range uint64(500) {
		r := schematest.Random{Rand: rand.New(rand.NewPCG(seed, 2))}
		text := annotated(r)
		for range 5 {
			branch, oracle := compareWithBranch(t, text, []byte(r.Value(3)), r.OneOf("x", "x", "y", "z"))
			if branch {
				compared++
			}
			if oracle {
				withOracle++
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if compared < 1_500 || withOracle < 750 {
		t.Errorf("only %d comparisons were made, %d with the oracle", compared, withOracle)
	}
}

func FuzzValidateFor(f *testing.F) {
	for _, seed := range [][3]string{
		{recordsSchema, `{"owner":"me","rows":["a"]}`, "list"},
		{recordsSchema, `{"owner":"me","gone":true}`, "list"},
		{`{"anyOf":[{"properties":{"a":true}},{"properties":{"b":{}},"required":["b"]}],"unevaluatedProperties":false,"allOf":[{"properties":{"c":{}}}],
			"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"x":1,"":0}}}`, `{"a":1,"b":2,"c":3}`, "x"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","anyOf":[{"items":[{"type":"null"}]},true],
			"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"x":0}}}`, `[null,1]`, "x"},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), seed[2])
	}
	f.Fuzz(func(t *testing.T, text, value []byte, inputValue string) {
		compareWithBranch(t, text, value, inputValue)
	})
}
