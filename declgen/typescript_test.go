package declgen_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/declgen"
	"github.com/cellmode/cellmode/internal/schematest"
	"github.com/cellmode/cellmode/internal/tscheck"
	"github.com/cellmode/cellmode/schema"
)

// guestFile is the declaration of everything that a guest has but its tools.
func guestFile() string { return declgen.GuestAPI(declgen.Guest{Skills: true}) + declgen.ResultsAPI() }

// TestMCPTools compiles the declarations of the tools of real MCP servers, each alone and then all of them as one program.
func TestMCPTools(t *testing.T) {
	t.Parallel()
	tscheck.Require(t)
	all := tscheck.Group{"guest.d.ts": guestFile()}
	var groups []tscheck.Group
	var refused []string
	servers := schematest.MCPTools(t)
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		for _, tool := range servers[server] {
			parse := func(text json.RawMessage) *schema.Schema {
				if text == nil {
					return nil
				}
				s, err := schema.Parse(text)
				if err != nil {
					refused = append(refused, fmt.Sprintf("%s/%s: %v", server, tool.Name, err))
				}
				return s
			}
			name := regexp.MustCompile(`\W`).ReplaceAllString(server+"_"+tool.Name, "_")
			path := "tools/" + name + ".d.ts"
			text := declgen.Declare(declgen.Function{
				Name: name, Description: tool.Description, Input: parse(tool.InputSchema), Output: parse(tool.OutputSchema),
			})
			all[path] = text
			groups = append(groups, tscheck.Group{path: text})
		}
	}
	if len(groups) != 241 || len(all) != 242 {
		t.Errorf("%d tools with %d different names, there should be 241", len(groups), len(all)-1)
	}
	if len(refused) > 0 {
		t.Errorf("%d schemas are refused: %v", len(refused), refused)
	}
	for _, found := range tscheck.CheckAll(t, append(groups, all)) {
		for _, d := range found {
			t.Errorf("%v\n%s", d, all[d.File])
		}
	}
}

// scriptTool is a tool of a program in testdata/types, with inputs for it.
type scriptTool struct {
	Name, Description string
	Input, Output     json.RawMessage
	Examples          []json.RawMessage
	Accepts           []json.RawMessage // by the type and by the schema
	Refuses           []json.RawMessage // by the type and by the schema
	RefusesAtRun      []json.RawMessage // by the schema only: TypeScript cannot say it
}

// TestScripts runs the programs in testdata/types. Beside each there is a JSON file with the tools whose declarations it uses,
// and inputs that these must take or refuse. The programs say what they expect of the types; lines that must not compile have a
// comment @ts-expect-error.
func TestScripts(t *testing.T) {
	t.Parallel()
	tscheck.Require(t)
	scripts, err := filepath.Glob("testdata/types/*.ts")
	if err != nil {
		t.Fatal(err)
	}
	common, err := os.ReadFile("testdata/types/types.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var groups []tscheck.Group
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".ts")
		if name == "types.d" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		group := tscheck.Group{name + ".ts": string(text), "types.d.ts": string(common), "guest.d.ts": guestFile()}
		addTools(t, group, strings.TrimSuffix(path, ".ts")+".json")
		names = append(names, name)
		groups = append(groups, group)
	}
	if len(names) < 15 {
		t.Errorf("only %d scripts: %v", len(names), names)
	}
	for i, found := range tscheck.CheckAll(t, groups) {
		for _, d := range found {
			text := groups[i][d.File]
			t.Errorf("%s: %v\n%s", names[i], d, strings.Split(text, "\n")[max(0, d.Line-1)])
		}
		if len(found) > 0 {
			for file, text := range groups[i] {
				if strings.HasPrefix(file, "tools/") {
					t.Logf("%s:\n%s", file, text)
				}
			}
		}
	}
}

// addTools adds to a group the declarations of the tools in a JSON file, and a program that calls them with the inputs there.
func addTools(t *testing.T, group tscheck.Group, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var tools []scriptTool
	if err := json.Unmarshal(text, &tools); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var calls strings.Builder
	for _, tool := range tools {
		input, err := schema.Parse(tool.Input)
		if err != nil {
			t.Fatalf("%s: %s: %v", path, tool.Name, err)
		}
		var output *schema.Schema
		if tool.Output != nil {
			if output, err = schema.Parse(tool.Output); err != nil {
				t.Fatalf("%s: %s: %v", path, tool.Name, err)
			}
		}
		group["tools/"+tool.Name+".d.ts"] = declgen.Declare(declgen.Function{
			Name: tool.Name, Description: tool.Description, Input: input, Output: output, Examples: tool.Examples,
		})
		call := func(values []json.RawMessage, accepted bool, before string) {
			for _, value := range values {
				completed, err := input.ApplyDefaults(value)
				if err == nil {
					err = input.Validate(completed)
				}
				if (err == nil) != accepted {
					t.Errorf("%s: %s: the schema says of %s: %v", path, tool.Name, value, err)
				}
				text, err := literal(value)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&calls, "%s%s(%s);\n", before, tool.Name, text)
			}
		}
		call(tool.Accepts, true, "")
		call(tool.Refuses, false, "// @ts-expect-error\n")
		call(tool.RefusesAtRun, false, "")
	}
	group["calls.ts"] = calls.String()
}
