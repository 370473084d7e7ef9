package schematest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Group is one group of the official test suite: a schema and values for it.
type Group struct {
	Draft       string // draft2020-12 or draft7
	Description string
	Schema      json.RawMessage // as it stands in the suite
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// Text is the schema of the group, with the draft declared that the suite takes for granted.
func (g *Group) Text() []byte {
	members, isObject := strings.CutPrefix(string(g.Schema), "{")
	if g.Draft == "draft2020-12" || !isObject || members == "}" {
		return g.Schema
	}
	return []byte(`{"$schema":"http://json-schema.org/draft-07/schema#",` + members)
}

// Suite returns the groups of the official test suite for a draft, by file.
func Suite(t testing.TB, draft string) map[string][]Group {
	t.Helper()
	groups := map[string][]Group{}
	for name, text := range files(t, filepath.Join("json-schema-test-suite", "tests", draft)) {
		var in []Group
		if err := json.Unmarshal(text, &in); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range in {
			in[i].Draft = draft
		}
		groups[name] = in
	}
	return groups
}

// MCPTool is a tool of a real MCP server.
type MCPTool struct {
	Name         string
	Title        string // empty if the tool has none
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage // nil if the tool declares none
}

// MCPTools returns the tools of eleven MCP servers, by server.
func MCPTools(t testing.TB) map[string][]MCPTool {
	t.Helper()
	servers := map[string][]MCPTool{}
	for name, text := range files(t, "mcp") {
		var list struct{ Tools []MCPTool }
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		servers[name] = list.Tools
	}
	return servers
}

// files reads the JSON files of a folder of the shared data. The names are without .json.
func files(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	root, given := os.LookupEnv("CELLMODE_SHARED")
	if !given {
		root = filepath.Join("..", "..", "shared")
	}
	dir := filepath.Join(root, "data", folder)
	if _, err := os.Stat(dir); err != nil {
		if given {
			t.Fatalf("CELLMODE_SHARED is set, but it has no data/%s: %v", folder, err)
		}
		t.Skipf("no %s; set CELLMODE_SHARED to the folder that has data/%s", dir, folder)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no JSON files in %s: %v", dir, err)
	}
	texts := map[string][]byte{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(path), ".json")] = text
	}
	return texts
}
