package schema

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/cellmode/cellmode/internal/schematest"
)

// suiteRefused are the files and groups of the suite whose schemas refer to another document, which this package never loads:
// Parse has to refuse them.
var suiteRefused = map[string]string{
	"draft2020-12/refRemote": "each schema refers to a document on a server",
	"draft7/refRemote":       "each schema refers to a document on a server",
	"draft2020-12/dynamicRef/strict-tree schema, guards against misspelled properties":       "refers to tree.json",
	"draft2020-12/dynamicRef/tests for implementation dynamic anchor and reference link":     "refers to extendible-dynamic-ref.json",
	"draft2020-12/dynamicRef/$ref and $dynamicAnchor are independent of order - $defs first": "refers to extendible-dynamic-ref.json",
	"draft2020-12/dynamicRef/$ref and $dynamicAnchor are independent of order - $ref first":  "refers to extendible-dynamic-ref.json",
	"draft2020-12/dynamicRef/$ref to $dynamicRef finds detached $dynamicAnchor":              "refers to detached-dynamicref.json",
}

// suiteDifferent are the tests of the suite that come out differently.
var suiteDifferent = map[string]string{
	"draft2020-12/vocabulary/schema that uses custom metaschema with with no validation vocabulary/no validation: invalid number, " +
		"but it still validates": "only the meta-schema, which would have to be loaded, says that minimum does not apply",
}

func TestSuite(t *testing.T) {
	t.Parallel()
	for _, draft := range []string{"draft2020-12", "draft7"} {
		groups := schematest.Suite(t, draft)
		ran := 0
		for _, file := range slices.Sorted(maps.Keys(groups)) {
			for _, g := range groups[file] {
				ran += runSuiteGroup(t, draft, file, &g)
			}
		}
		if want := map[string]int{"draft2020-12": 1200, "draft7": 850}[draft]; ran < want {
			t.Errorf("%s: only %d tests were run, there should be at least %d", draft, ran, want)
		}
	}
}

func runSuiteGroup(t *testing.T, draft, file string, g *schematest.Group) (ran int) {
	name := draft + "/" + file + "/" + g.Description
	s, err := Parse(g.Text())
	_, refused := suiteRefused[name]
	_, refusedFile := suiteRefused[draft+"/"+file]
	if refused || refusedFile {
		if _, ok := errors.AsType[*ParseError](err); !ok {
			t.Errorf("%s: Parse gives %v, want a *ParseError", name, err)
		}
		return 0
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	for _, test := range g.Tests {
		err := s.Validate(test.Data)
		matches := (err == nil) == test.Valid
		if _, different := suiteDifferent[name+"/"+test.Description]; different == matches {
			t.Errorf("%s/%s: Validate gives %v, the suite says valid: %v; listed as different: %v",
				name, test.Description, err, test.Valid, different)
		}
		ran++
	}
	return ran
}

// mcpSchemas returns the input and output schemas of the tools of real MCP servers.
func mcpSchemas(t testing.TB) map[string][]byte {
	t.Helper()
	schemas := map[string][]byte{}
	for server, tools := range schematest.MCPTools(t) {
		for _, tool := range tools {
			name := server + "/" + tool.Name
			schemas[name+"/input"] = tool.InputSchema
			if tool.OutputSchema != nil {
				schemas[name+"/output"] = tool.OutputSchema
			}
		}
	}
	return schemas
}
