package toolcatalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/toolcatalog"
)

// reporting makes a tool with a declared, closed result.
func reporting(name string) *toolcatalog.Tool {
	return toolcatalog.Define(toolcatalog.Spec{Name: name, Description: "Do not show " + name + " in the index."},
		func(context.Context, struct{}) (struct {
			OK bool `json:"ok"`
		}, error) {
			panic("not called")
		})
}

func lines(index string) []string {
	var list []string
	for line := range strings.Lines(index) {
		if strings.HasPrefix(line, "- ") {
			list = append(list, strings.TrimSuffix(line, "\n"))
		}
	}
	return list
}

func TestQuickIndex(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, named("raw"), reporting("zzz-report"), reporting("a_report"),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "client", Source: toolcatalog.Client,
			Input: mustParse(t, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`), Output: mustParse(t, `{"type":"string"}`)}, answer),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "open", Output: mustParse(t, `{"type":"object","properties":{"a":{"type":"string"}}}`)}, answer),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "leaf", Output: mustParse(t, `{"type":"object","properties":{"any":{}},"required":["any"],"additionalProperties":false}`)}, answer),
	)
	want := []string{
		"- a_report {} -> { ok: boolean }",
		"- leaf unknown -> { any: unknown }",
		"- zzz_report {} -> { ok: boolean }",
		"- client unknown -> ?",
		"- open unknown -> ?",
		"- raw unknown -> ?",
	}
	index := c.QuickIndex(0)
	if got := lines(index); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if strings.Contains(index, "Do not show") {
		t.Errorf("a description is in the index:\n%s", index)
	}
	if got := newCatalog(t).QuickIndex(0); got != "" {
		t.Errorf("the index of an empty catalog is %q", got)
	}
}

func answer(context.Context, json.RawMessage) (any, error) { return 1, nil }

// Case C022: five hundred tools of unknown result, one that is declared, and one whose name is longer than the whole index.
func TestQuickIndexIsBounded(t *testing.T) {
	t.Parallel()
	tools := []*toolcatalog.Tool{reporting("zzz_report"), reporting(strings.Repeat("x", 9_000))}
	for i := range 500 {
		tools = append(tools, named(fmt.Sprintf("unknown_%d", i)))
	}
	index := newCatalog(t, tools...).QuickIndex(0)
	if len(index) > toolcatalog.DefaultQuickIndexBytes || len(index) < toolcatalog.DefaultQuickIndexBytes-50 {
		t.Errorf("the index has %d bytes", len(index))
	}
	listed := lines(index)
	if listed[0] != "- zzz_report {} -> { ok: boolean }" {
		t.Errorf("the first line is %q", listed[0])
	}
	if want := fmt.Sprintf("\n%d more tools are not listed", len(tools)-len(listed)); !strings.Contains(index, want) {
		t.Errorf("the last line is not %q:\n%s", want, index[len(index)-100:])
	}
	rand.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
	if again := newCatalog(t, tools...).QuickIndex(0); again != index {
		t.Error("the index depends on the order of the tools")
	}
}

// Whatever the bound: it holds, no line is cut, and the count of what is missing is right.
func TestQuickIndexOfEverySize(t *testing.T) {
	t.Parallel()
	var tools []*toolcatalog.Tool
	for i := range 40 {
		tools = append(tools, reporting(fmt.Sprintf("report_%d_%s", i, strings.Repeat("x", i*7%50))))
	}
	c := newCatalog(t, tools...)
	all := lines(c.QuickIndex(1 << 20))
	if len(all) != len(tools) {
		t.Fatalf("%d lines of %d tools", len(all), len(tools))
	}
	for bound := 1; bound < 4000; bound += 7 {
		index := c.QuickIndex(bound)
		listed := lines(index)
		if len(index) > bound {
			t.Fatalf("bound %d: %d bytes", bound, len(index))
		}
		for _, line := range listed {
			if !slices.Contains(all, line) {
				t.Fatalf("bound %d: line %q", bound, line)
			}
		}
		if missing := len(all) - len(listed); index != "" && missing > 0 && !strings.Contains(index, fmt.Sprintf("\n%d more tools", missing)) {
			t.Fatalf("bound %d: %d are missing:\n%s", bound, missing, index)
		}
	}
}
