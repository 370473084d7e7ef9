package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sharedData returns a folder of the data that several packages test with.
func sharedData(t testing.TB, name string) string {
	t.Helper()
	root, given := os.LookupEnv("CELLMODE_SHARED")
	if !given {
		root = filepath.Join("..", "..", "shared")
	}
	dir := filepath.Join(root, "data", name)
	if _, err := os.Stat(dir); err != nil {
		if given {
			t.Fatalf("CELLMODE_SHARED is set, but it has no data/%s: %v", name, err)
		}
		t.Skipf("no %s; set CELLMODE_SHARED to the folder that has data/%s", dir, name)
	}
	return dir
}

// suiteGroup is one group of the official test suite: a schema and values for it.
type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// text is the schema of the group, with the draft declared that the suite takes for granted.
func (g *suiteGroup) text(draft string) []byte {
	members, isObject := strings.CutPrefix(string(g.Schema), "{")
	if draft == "draft2020-12" || !isObject || members == "}" {
		return g.Schema
	}
	return []byte(`{"$schema":"http://json-schema.org/draft-07/schema#",` + members)
}

func suiteGroups(t testing.TB, draft string) map[string][]suiteGroup {
	t.Helper()
	dir := filepath.Join(sharedData(t, "json-schema-test-suite"), "tests", draft)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files in %s: %v", dir, err)
	}
	groups := map[string][]suiteGroup{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var in []suiteGroup
		if err := json.Unmarshal(text, &in); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		groups[strings.TrimSuffix(filepath.Base(file), ".json")] = in
	}
	return groups
}

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
		groups := suiteGroups(t, draft)
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

func runSuiteGroup(t *testing.T, draft, file string, g *suiteGroup) (ran int) {
	name := draft + "/" + file + "/" + g.Description
	s, err := Parse(g.text(draft))
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
	files, err := filepath.Glob(filepath.Join(sharedData(t, "mcp"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no MCP tool lists: %v", err)
	}
	schemas := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Tools []struct {
				Name                      string
				InputSchema, OutputSchema json.RawMessage
			}
		}
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, tool := range list.Tools {
			name := filepath.Base(file) + "/" + tool.Name
			schemas[name+"/input"] = tool.InputSchema
			if tool.OutputSchema != nil {
				schemas[name+"/output"] = tool.OutputSchema
			}
		}
	}
	return schemas
}
