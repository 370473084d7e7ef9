package toolcatalog_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cellmode/cellmode/toolcatalog"
)

func paths(files []toolcatalog.FileInfo) []string {
	list := []string{}
	for _, f := range files {
		list = append(list, f.Path)
	}
	return list
}

func TestFiles(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, named("b"), named("a-1"), echo("c"))
	all := []string{"results.d.ts", "guest.d.ts", "tools/a_1.d.ts", "tools/b.d.ts", "tools/c.d.ts"}
	for prefix, want := range map[string][]string{
		"": all, "/": all, " ": all,
		"tools": all[2:], "tools/": all[2:], "/tools//": all[2:],
		"tools/b.d.ts": {"tools/b.d.ts"}, "/tools/b.d.ts": {"tools/b.d.ts"}, "guest.d.ts": {"guest.d.ts"},
		"tool": {}, "tools/b": {}, "tools/a-1.d.ts": {}, "tools/x.d.ts": {}, "..": {}, "b.d.ts": {},
	} {
		if got := paths(c.Files(prefix)); !slices.Equal(got, want) {
			t.Errorf("Files(%q) = %q, want %q", prefix, got, want)
		}
	}
	if got := c.Files("tools")[1].Bytes; got != 0 {
		t.Errorf("a file that was not read has %d bytes", got)
	}
	file, err := c.ReadFile("tools/b.d.ts")
	if err != nil || file.Bytes != len(file.Content) || c.Files("tools")[1].Bytes != file.Bytes {
		t.Errorf("%+v, %v; listed with %d bytes", file, err, c.Files("tools")[1].Bytes)
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, named("raw-tool"), echo("echo"), toolcatalog.DefineRaw(toolcatalog.Spec{Name: "client", Source: toolcatalog.Client,
		Description: "Of a client.", Input: mustParse(t, `{"properties":{"secret":{"type":"string"}}}`)}, answer))
	for path, want := range map[string]string{
		"tools/echo.d.ts":     "declare function echo(input: {",
		"//tools/echo.d.ts":   "declare function echo(input: {",
		"tools/raw_tool.d.ts": "declare function raw_tool(input?: unknown): Promise<unknown>;",
		"tools/client.d.ts":   "declare function client(input?: unknown): Promise<unknown>;",
		"guest.d.ts":          "declare function text(",
		"results.d.ts":        "declare const results:",
	} {
		file, err := c.ReadFile(path)
		if err != nil || !strings.Contains(file.Content, want) || strings.Contains(file.Content, "secret") {
			t.Errorf("ReadFile(%q): %v\n%s", path, err, file.Content)
		}
		if again, err := c.ReadFile(file.Path); err != nil || again != file {
			t.Errorf("ReadFile(%q) is not the same the second time", path)
		}
	}
	for _, path := range []string{"", "/", ".", "..", "../echo.d.ts", "tools/../echo.d.ts", "tools//echo.d.ts", "tools/./echo.d.ts", "tools/", "\xff"} {
		if _, err := c.ReadFile(path); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("ReadFile(%q): %v", path, err)
		}
	}
	for path, hint := range map[string]string{
		"tools/ecko.d.ts": `did you mean "tools/echo.d.ts"?`, "echo": `did you mean "tools/echo.d.ts"?`, "tools/raw-tool.d.ts": `did you mean "tools/raw_tool.d.ts"?`,
		"tools/raw-tool": `did you mean "tools/raw_tool.d.ts"?`, "tools/zzzzzzzzz.d.ts": "API.list()", "mcp/x.d.ts": "API.list()", strings.Repeat("x", 1<<20): "API.list()",
	} {
		_, err := c.ReadFile(path)
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), hint) || len(err.Error()) > 500 {
			t.Errorf("ReadFile(%.50q): %.300v", path, err)
		}
	}
}

// Skills are in the guest's declarations only if there are any.
func TestGuestFile(t *testing.T) {
	t.Parallel()
	with, err := toolcatalog.New(nil, &toolcatalog.Options{Skills: []toolcatalog.Skill{{Name: "s"}}})
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range map[*toolcatalog.Catalog]bool{with: true, newCatalog(t): false} {
		file, err := c.ReadFile("guest.d.ts")
		if err != nil || strings.Contains(file.Content, "declare const skills") != want {
			t.Errorf("skills %t: %v\n%s", want, err, file.Content)
		}
	}
}

// Everything that is made on demand can be asked for by many at once.
func TestDiscoveryIsConcurrent(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, echo("a"), echo("b"), named("c"), reporting("d"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c.All()
			c.Search("b", 3)
			c.Search("text", 3)
			c.QuickIndex(0)
			c.QuickIndex(300)
			c.Files("")
			c.Describe("d")
			if _, err := c.ReadFile("tools/a.d.ts"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	const clientInput = `{"type":"object","properties":{"a":{"type":"integer"}}}`
	tools := []*toolcatalog.Tool{
		toolcatalog.Define(toolcatalog.Spec{Name: "native-tool", Label: "L", Description: "D", Examples: []any{echoInput{I: 1}}},
			func(_ context.Context, in echoInput) (echoInput, error) { return in, nil }),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "client", Source: toolcatalog.Client, Input: mustParse(t, clientInput), Output: mustParse(t, `{"type":"string"}`)}, answer),
		named("raw"),
	}
	c := newCatalog(t, tools...)
	d, ok := c.Describe("native_tool")
	if !ok || d.Name != "native-tool" || d.CallableName != "native_tool" || d.Label != "L" || d.Description != "D" ||
		d.Input == "unknown" || d.Output == "" || len(d.Parameters) < 10 || len(d.OutputSchema) < 10 || len(d.Examples) != 1 || string(d.Examples[0]) != `{"i":1}` {
		t.Errorf("%+v, %t", d, ok)
	}
	if d, _ := c.Describe("client"); d.Input != "unknown" || d.Output != "" || string(d.Parameters) != clientInput || string(d.OutputSchema) != `{"type":"string"}` {
		t.Errorf("%+v", d)
	}
	if d, _ := c.Describe("raw"); string(d.Parameters) != "{}" || d.OutputSchema != nil {
		t.Errorf("%+v", d)
	}
	for _, name := range []string{"native-tool", "nope", ""} { // callable names only
		if _, ok := c.Describe(name); ok {
			t.Errorf("Describe(%q) finds something", name)
		}
	}
}
