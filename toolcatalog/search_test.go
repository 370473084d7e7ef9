package toolcatalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

// found searches, and returns the tools' own names.
func found(c *toolcatalog.Catalog, query string, limit int) []string {
	var names []string
	for _, e := range c.Search(query, limit) {
		names = append(names, e.ToolName)
	}
	return names
}

func namedTools(names ...string) []*toolcatalog.Tool {
	var tools []*toolcatalog.Tool
	for _, name := range names {
		tools = append(tools, named(name))
	}
	return tools
}

// TestSearchSplitsIdentifiers is case C019.
func TestSearchSplitsIdentifiers(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, append(namedTools("addPerson_mcp_crm", "addActivity_mcp_crm", "bitable_v1_appTableRecord_search"), fixture.Tools()[:10]...)...)
	for _, query := range []string{"addPerson", "addPerson_mcp_crm"} {
		if got := found(c, query, 1); !slices.Equal(got, []string{"addPerson_mcp_crm"}) {
			t.Errorf("%s: %v", query, got)
		}
	}
	if got := found(c, "table record", 3); !slices.Contains(got, "bitable_v1_appTableRecord_search") {
		t.Errorf("table record: %v", got)
	}
}

// TestSearchFindsEveryName is the part of case C021 about search: whatever a tool is called, its names find it alone.
func TestSearchFindsEveryName(t *testing.T) {
	t.Parallel()
	tools := namedTools("llm-task", "llm_task", "listURL", "listUrl", "catalog", "class", "9patch", "text", "await", "__openclaw_hook",
		"do", "the", "_", "???", "news", " padded ", "Ünïcode", "工具", strings.Repeat("long_", 1800), "search", "search_search", "web search")
	c := newCatalog(t, append(tools, fixture.Tools()...)...)
	for _, e := range c.All() {
		for _, limit := range []int{1, 0, 50} {
			for _, name := range []string{e.CallableName, e.ToolName} {
				if got := c.Search(name, limit); !slices.Equal(got, []toolcatalog.Entry{e}) {
					t.Errorf("%q, limit %d: %d entries, want the tool alone", name, limit, len(got))
				}
			}
		}
	}
}

func TestSearchIgnoresCaseOfNames(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, namedTools("listURL", "listUrl", "list_url", "llm-task", "LLM_TASK", "Class", "class")...)
	for _, test := range []struct {
		query string
		limit int
		want  []string
	}{
		{"listURL", 5, []string{"listURL"}},
		{"listUrl", 5, []string{"listUrl"}},
		{" listUrl\n", 5, []string{"listUrl"}},
		{"LISTURL", 5, []string{"listURL", "listUrl"}},
		{"LISTURL", 1, []string{"listURL"}},
		{"List_URL", 5, []string{"list_url"}},
		{"LLM-Task", 5, []string{"llm-task"}},
		{"llm_Task", 5, []string{"LLM_TASK", "llm-task"}}, // llm_task_ and digits

		{"CLASS", 5, []string{"Class", "class"}},
	} {
		if got := found(c, test.query, test.limit); !slices.Equal(got, test.want) {
			t.Errorf("%q, limit %d: %q, want %q", test.query, test.limit, got, test.want)
		}
	}
}

func TestSearchLimits(t *testing.T) {
	t.Parallel()
	var tools []*toolcatalog.Tool
	for i := range 200 {
		tools = append(tools, rawTool(toolcatalog.Spec{Name: fmt.Sprintf("tool_%03d", i), Description: "Convert a file."}))
	}
	c := newCatalog(t, tools...)
	for limit, want := range map[int]int{-5: 8, 0: 8, 1: 1, 8: 8, 49: 49, 50: 50, 51: 50, 1 << 40: 50} {
		got := c.Search("convert files", limit)
		if len(got) != want {
			t.Errorf("limit %d gives %d entries, want %d", limit, len(got), want)
		}
		for i, e := range got {
			if e.CallableName != fmt.Sprintf("tool_%03d", i) {
				t.Errorf("limit %d: entry %d of equal ones is %s", limit, i, e.CallableName)
			}
		}
	}
	for _, query := range []string{"", " ", "do the", "zebra", "?", "\xff", strings.Repeat("x", 20<<20)} {
		if got := c.Search(query, 5); got == nil || len(got) > 0 {
			t.Errorf("%.20q gives %v, want an empty slice", query, got)
		}
	}
	c.Search("convert", 1)[0].ToolName = "changed"
	if got := found(c, "convert", 1); got[0] != "tool_000" {
		t.Errorf("a caller changed the catalog: %v", got)
	}
	if got := newCatalog(t).Search("anything", 5); got == nil || len(got) > 0 {
		t.Errorf("an empty catalog gives %v", got)
	}
}

// TestSearchReadsParameters checks what of a schema is searched, and whose.
func TestSearchReadsParameters(t *testing.T) {
	t.Parallel()
	input := mustParse(t, `{"type": "object", "description": "zroot", "properties": {
		"zname\u0061": {"type": "string", "description": "A zdescribed \"thing\"."},
		"deep": {"items": {"anyOf": [{"type": "null"}, {"properties": {"zfourth": {"description": "zfourthtoo",
			"properties": {"zfifth": {"properties": {"zsixth": true}}}}}}]}},
		"tuple": {"items": {"allOf": [{"oneOf": [{"description": "zoneof"}]}]}},
		"value": {"enum": ["zenum"], "default": "zdefault", "title": "ztitle", "const": "zenum", "not": {"description": "znot"},
			"examples": [{"description": "zexample"}], "description": "plain"}
	}, "$defs": {"x": {"description": "zdefs"}}}`)
	spec := toolcatalog.Spec{Name: "native_one", Input: input}
	native := newCatalog(t, rawTool(spec), named("other"))
	spec.Source = toolcatalog.Client
	client := newCatalog(t, rawTool(spec), named("native_two"), rawTool(toolcatalog.Spec{Name: "native_one"}))
	for word, read := range map[string]bool{
		"zroot": true, "znamea": true, "zdescribed": true, "thing": true, "zfourth": true, "zfourthtoo": true, "zoneof": true, "plain": true,
		"zfifth": true, "zsixth": false, "zenum": false, "zdefault": false, "ztitle": false, "znot": false, "zexample": false, "zdefs": false,
		"properties": false, "description": false, "string": false,
	} {
		if got := len(native.Search(word, 5)) == 1; got != read {
			t.Errorf("%s of a native tool is found: %v, want %v", word, got, read)
		}
		if got := client.Search(word, 5); len(got) > 0 {
			t.Errorf("%s of a client tool is found", word)
		}
	}
}

// TestSearchSeesTheCatalogOnly is the part of case C077 about search: what the policy does not offer cannot be found, by its
// name or by words, nor can a native tool whose place a client tool took.
func TestSearchSeesTheCatalogOnly(t *testing.T) {
	t.Parallel()
	c := newCatalog(t,
		rawTool(toolcatalog.Spec{Name: "danger", Description: "Launches rockets."}),
		rawTool(toolcatalog.Spec{Name: "danger", Description: "Draws a warning sign.", Source: toolcatalog.Client}),
		named("safe"))
	if got := c.Search("rockets", 5); len(got) > 0 {
		t.Errorf("the native tool is found: %v", got)
	}
	if got := c.Search("danger", 5); len(got) != 1 || got[0].Source != toolcatalog.Client {
		t.Errorf("danger gives %v", got)
	}
	denied, err := toolcatalog.New([]*toolcatalog.Tool{rawTool(toolcatalog.Spec{Name: "danger", Description: "Launches rockets."}), named("safe")},
		&toolcatalog.Options{Policy: toolcatalog.Policy{Offers: func(tool toolcatalog.Entry) bool { return tool.ToolName != "danger" }}})
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"danger", "DANGER", "dangers", "rockets"} {
		if got := found(denied, query, 5); len(got) > 0 {
			t.Errorf("%s finds %v, which is not offered", query, got)
		}
	}
}

// TestSearchConcurrently makes the first searches of a catalog at once.
func TestSearchConcurrently(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, fixture.Tools()...)
	want := found(newCatalog(t, fixture.Tools()...), "list the files", 5)
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			if i%4 == 0 {
				c.Search("FILE_LIST", 5)
			}
			if got := found(c, "list the files", 5); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	group.Wait()
}

// TestSearchHostileMetadata has tools whose texts are made to be found first, or to be expensive.
func TestSearchHostileMetadata(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, `"file_%d": {"description": "read file contents"}, `, i)
	}
	nested := strings.Repeat(`{"anyOf": [{}, `, 600) + `{}` + strings.Repeat(`]}`, 600)
	for name, spec := range map[string]toolcatalog.Spec{
		"a megabyte":      {Description: strings.Repeat("read file contents. ", 50_000)},
		"repeated word":   {Description: strings.Repeat("file ", 10_000)},
		"zero width":      {Description: strings.Repeat("file\u200b\u202e", 10_000)},
		"combining":       {Description: strings.Repeat("file \u0301\u0302\u0303", 10_000)},
		"right to left":   {Description: strings.Repeat("\u202efile\u202c קובץ ", 10_000)},
		"label":           {Label: strings.Repeat("file read ", 50_000)},
		"name":            {Name: strings.Repeat("file_read_", 1_600)},
		"parameters":      {Input: mustParse(t, `{"properties": {`+many.String()+`"file": true}}`)},
		"parameter":       {Input: mustParse(t, `{"properties": {"file": {"description": "`+strings.Repeat("file ", 200_000)+`"}}}`)},
		"nested":          {Description: "file", Input: mustParse(t, `{"properties": {"a": `+nested+`}}`)},
		"large enum":      {Description: "x", Input: mustParse(t, `{"properties": {"a": {"enum": [`+strings.Repeat(`"file",`, 100_000)+`1]}}}`)},
		"not valid UTF-8": {Description: strings.Repeat("file\xff\xfe", 10_000)},
	} {
		if spec.Name == "" {
			spec.Name = "spam"
		}
		c := newCatalog(t, append(fixture.Tools(), rawTool(spec))...)
		if got := found(c, "read file contents", 3); got[0] != "file_read" {
			t.Errorf("%s: %.99q, want file_read first", name, got)
		}
	}
}

// TestSearchRelevance looks for the tools of the fixture and of real MCP servers with queries as a model writes them. Each
// line of the files says within how many results a tool must be.
func TestSearchRelevance(t *testing.T) {
	t.Parallel()
	for file, tools := range map[string]func(testing.TB) []*toolcatalog.Tool{
		"relevance_fixture.txt": func(testing.TB) []*toolcatalog.Tool { return fixture.Tools() },
		"relevance_mcp.txt":     mcpTools,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			c := newCatalog(t, tools(t)...)
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
					continue
				}
				checkRelevance(t, c, line)
			}
		})
	}
}

// checkRelevance checks one line: rank | query | tool, or several tools of which one is enough.
func checkRelevance(t *testing.T, c *toolcatalog.Catalog, line string) {
	fields := strings.Split(line, "|")
	var within int
	if _, err := fmt.Sscan(fields[0], &within); err != nil || len(fields) != 3 {
		t.Fatalf("bad line: %s", line)
	}
	query, want := strings.TrimSpace(fields[1]), strings.Fields(fields[2])
	for _, name := range want {
		if !slices.ContainsFunc(c.All(), func(e toolcatalog.Entry) bool { return e.ToolName == name }) {
			t.Fatalf("no such tool: %s", line)
		}
	}
	got := found(c, query, within)
	if !slices.ContainsFunc(want, func(name string) bool { return slices.Contains(got, name) }) {
		t.Errorf("%s: the first %d are %v, want one of %v", query, within, got, want)
	}
	if most := found(c, query, toolcatalog.MaxSearchLimit); !slices.Equal(got, most[:min(within, len(most))]) {
		t.Errorf("%s: limit %d gives %v, the greatest limit %v", query, within, got, most)
	}
}

// TestSearchNamesOfMCPServers looks for each of the real tools by its names.
func TestSearchNamesOfMCPServers(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, mcpTools(t)...)
	if c.Len() != 241 {
		t.Fatalf("%d tools", c.Len())
	}
	for _, e := range c.All() {
		words := strings.NewReplacer("_", " ", "-", " ").Replace(e.ToolName)
		for _, query := range []string{e.CallableName, e.ToolName, strings.ToUpper(e.ToolName), words} {
			if got := found(c, query, 1); !slices.Equal(got, []string{e.ToolName}) {
				t.Errorf("%q gives %v", query, got)
			}
		}
	}
}

func FuzzCatalogSearch(f *testing.F) {
	f.Add("create_issue", "Create \xff an issue.", `{"properties":{"a":{"description":"x\u00e9"}}}`, "creating issues", 3)
	f.Add("do", "URLs2x\u200d", `{"items":[true,{"anyOf":[{}]}]}`, "DO", 0)
	f.Add("x", "", `[]`, "\ufeff", -1)
	tools := fixture.Tools()
	f.Fuzz(func(t *testing.T, name, description, schemaText, query string, limit int) {
		spec := toolcatalog.Spec{Name: name, Description: description}
		if s, err := schema.Parse([]byte(schemaText)); err == nil {
			spec.Input = s
		}
		c, err := toolcatalog.New(append(slices.Clip(tools), rawTool(spec)), nil)
		if err != nil {
			t.Skip()
		}
		got := c.Search(query, limit)
		if got == nil || len(got) > toolcatalog.MaxSearchLimit || limit > 0 && len(got) > limit {
			t.Fatalf("limit %d gives %d entries", limit, len(got))
		}
		for _, e := range got {
			if known, ok := c.Lookup(e.CallableName); !ok || known != e {
				t.Fatalf("%q is not in the catalog", e.CallableName)
			}
		}
		if got := found(c, name, 1); !slices.Equal(got, []string{name}) {
			t.Fatalf("the name %q finds %q", name, got)
		}
	})
}
