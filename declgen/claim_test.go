package declgen_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/declgen"
	"github.com/cellmode/cellmode/internal/tscheck"
	"github.com/cellmode/cellmode/schema"
)

// sample is a schema with values that it accepts, and values that it does not accept.
type sample struct {
	name           string
	schema         *schema.Schema
	valid, invalid [][]byte
}

// sort makes a sample of values by what accept says about them.
func sort(name string, s *schema.Schema, values [][]byte, accept func(value []byte) error) sample {
	in := sample{name: name, schema: s}
	for _, value := range values {
		if value = bytes.TrimSpace(value); accept(value) == nil {
			in.valid = append(in.valid, value)
		} else {
			in.invalid = append(in.invalid, value)
		}
	}
	return in
}

// objectsOnly is the sample without the values that are no objects: an input is one.
func (s sample) objectsOnly() sample {
	other := func(value []byte) bool { return value[0] != '{' }
	s.valid = slices.DeleteFunc(slices.Clone(s.valid), other)
	s.invalid = slices.DeleteFunc(slices.Clone(s.invalid), other)
	return s
}

// claim says that the valid values of a sample are of a type, and that the compiler takes the type at all.
type claim struct {
	sample
	form        string // of generated text: input, output hint, ...
	declaration string // of a function, if the type is about one
	alias       string // one line of TypeScript that declares Type
	settled     bool   // the values are not written where they are assigned, see assignments
}

// forms makes a claim for each form in which a schema becomes a type. A function that is declared has the name given.
func forms(s sample, function string, settled bool) []claim {
	in := s.objectsOnly()
	claims := []claim{
		{s, "output", declgen.Declare(declgen.Function{Name: function, Output: s.schema}),
			"type Type = Awaited<ReturnType<typeof " + function + ">>;", settled},
		{in, "input", declgen.Declare(declgen.Function{Name: function + "i", Input: s.schema}),
			"type Type = Parameters<typeof " + function + "i>[0];", settled},
	}
	if hint := declgen.OutputHint(s.schema); hint.Complete {
		claims = append(claims, claim{s, "output hint", "", "type Type = " + hint.Text + ";", settled})
	}
	if hint := declgen.InputHint(s.schema); hint.Complete {
		claims = append(claims, claim{in, "input hint", "", "type Type = " + hint.Text + ";", settled})
	}
	return claims
}

// tally counts what was checked of one form.
type tally struct {
	types    int
	valid    int // values that have the type
	invalid  int // values that the schema does not accept
	rejected int // those of them that the compiler does not accept either
}

// share is the part of the invalid values that are compile errors.
func (n tally) share() float64 { return float64(n.rejected) / float64(max(1, n.invalid)) }

const (
	groupSize   = 100 // claims that share a program: the more, the faster. A fault in one of them is still found at its place
	shownFaults = 12
)

// check fails for every claim that is not true. It returns what was checked, by form.
func check(t *testing.T, claims []claim) map[string]tally {
	t.Helper()
	tscheck.Require(t)
	tallies := map[string]tally{}
	count := func(form string, types, valid, invalid, rejected int) {
		n := tallies[form]
		tallies[form] = tally{n.types + types, n.valid + valid, n.invalid + invalid, n.rejected + rejected}
	}
	var groups []tscheck.Group
	for i, c := range claims {
		if strings.ContainsAny(c.alias, "\n\r\u2028\u2029") {
			t.Fatalf("%s: the %s has more than one line: %q", c.name, c.form, c.alias)
		}
		if i%groupSize == 0 {
			groups = append(groups, tscheck.Group{})
		}
		group := groups[len(groups)-1]
		if c.declaration != "" {
			group[fmt.Sprintf("%d/f.d.ts", i)] = c.declaration
		}
		group[fmt.Sprintf("%d/values.ts", i)] = c.assignments()
		count(c.form, 1, len(c.valid), len(c.invalid), 0)
	}
	faults := 0
	seen := map[string]bool{} // file and line
	for _, d := range slices.Concat(tscheck.CheckAll(t, groups)...) {
		folder, file, _ := strings.Cut(d.File, "/")
		i, err := strconv.Atoi(folder)
		if err != nil {
			t.Fatal(d)
		}
		c := claims[i]
		value := -1 // in the order of the lines
		if file == "values.ts" {
			value = d.Line - 2
		}
		if value >= len(c.valid) {
			if place := fmt.Sprintf("%s:%d", d.File, d.Line); !seen[place] {
				seen[place] = true
				count(c.form, 0, 0, 0, 1)
			}
			continue
		}
		if faults++; faults > shownFaults {
			continue
		}
		subject := "does not compile"
		if value >= 0 {
			subject = fmt.Sprintf("does not have the valid value %s", c.valid[value])
		}
		t.Errorf("%s: %s: the type %s\nschema %s\n%s%s\n%s", c.name, c.form, subject, c.schema.Text(), c.declaration, c.alias, d)
	}
	if faults > shownFaults {
		t.Errorf("%d faults in all", faults)
	}
	for _, form := range slices.Sorted(maps.Keys(tallies)) {
		n := tallies[form]
		t.Logf("%s: %d types, %d valid values; %d of %d invalid values (%.0f %%) are compile errors",
			form, n.types, n.valid, n.rejected, n.invalid, 100*n.share())
	}
	return tallies
}

// assignments writes a module with a line for each value, the valid ones first, below one for the type.
//
// A value that is written where it is assigned is held to more than its type: it may have no property that the type does not
// name. A model writes inputs like that, so types should bear it. But the compiler also guesses then which part of a union is
// meant, and in types that nobody would write it guesses wrong. So a settled value comes as the type that has that value only.
func (c claim) assignments() string {
	before := ""
	if c.settled {
		before = "null! as "
	}
	var b strings.Builder
	b.WriteString(c.alias)
	for i, value := range slices.Concat(c.valid, c.invalid) {
		text, err := literal(value)
		if err != nil {
			panic(err) // all values come from encoding/json, or are made by the tests
		}
		fmt.Fprintf(&b, "\nexport const v%d: Type = %s%s;", i, before, text)
	}
	return b.String() + "\nexport {};\n"
}
