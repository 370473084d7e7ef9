// Package house holds tests of the repository as a whole.
package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/cellmode/cellmode/"

// layers are the packages from the top down. A package may import those below it and none above.
var layers = []struct {
	name    string
	imports []string // packages of this module that it may reach
	never   []string // what must not be reachable from it
}{
	{"codemode", []string{"toolcatalog", "declgen", "schema", "store", "internal/"}, []string{"sqlite", "modelcontextprotocol", "anthropic", "openai"}},
	{"transcript", []string{"store", "internal/jsontext"}, []string{"wazero", "jsonschema", "modelcontextprotocol"}},
	{"transcript/transcripttest", []string{"transcript", "store", "internal/jsontext"}, []string{"wazero", "jsonschema", "modelcontextprotocol"}},
	{"store", []string{"internal/jsontext"}, []string{"database/sql", "wazero"}},
	{"toolcatalog", []string{"schema", "declgen", "internal/jsontext", "internal/bm25"}, []string{"sqlite", "modelcontextprotocol", "wazero", "fastschema"}},
	{"declgen", []string{"schema", "internal/jsontext"}, []string{"sqlite", "wazero", "modelcontextprotocol"}},
	{"schema", []string{"internal/jsontext"}, []string{"sqlite", "wazero", "modelcontextprotocol"}},
	{"internal/engine", []string{"internal/engine/", "internal/heapdelta"}, []string{"jsonschema", "sqlite"}},
	{"internal/guest", []string{"internal/engine", "internal/engine/", "internal/heapdelta"}, []string{"jsonschema", "sqlite"}},
	{"internal/source", nil, []string{"wazero", "jsonschema"}},
	{"internal/bm25", nil, []string{"encoding/json", "wazero", "jsonschema"}},
	{"internal/jsontext", nil, []string{"wazero", "jsonschema"}},
}

// TestImports holds the lines of the design: imports point down only, and the core reaches neither a database nor
// the SDK of a protocol or a model.
func TestImports(t *testing.T) {
	for _, layer := range layers {
		t.Run(layer.name, func(t *testing.T) {
			out, err := exec.Command("go", "list", "-deps", module+layer.name).Output()
			if err != nil {
				t.Fatalf("go list: %v", err)
			}
			deps := strings.Fields(string(out))
			if len(deps) < 10 {
				t.Fatalf("go list names %d packages: that cannot be all", len(deps))
			}
			for _, dep := range deps {
				if own, ok := strings.CutPrefix(dep, module); ok && own != layer.name {
					if !slices.ContainsFunc(layer.imports, func(p string) bool { return own == p || strings.HasSuffix(p, "/") && strings.HasPrefix(own, p) }) {
						t.Errorf("reaches %s, which is not below it", own)
					}
				}
				for _, word := range layer.never {
					if strings.Contains(dep, word) {
						t.Errorf("reaches %s", dep)
					}
				}
			}
		})
	}
}
