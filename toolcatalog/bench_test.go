package toolcatalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cellmode/cellmode/toolcatalog"
)

type echoInput struct {
	I    int    `json:"i"`
	Text string `json:"text,omitempty"`
}

func echo(name string) *toolcatalog.Tool {
	return toolcatalog.Define(toolcatalog.Spec{Name: name}, func(_ context.Context, in echoInput) (echoInput, error) { return in, nil })
}

func benchmarkCall(b *testing.B, input json.RawMessage, tools ...*toolcatalog.Tool) {
	c := newCatalog(b, tools...)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Call(ctx, "echo", input); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e3, "us/call")
}

func BenchmarkCall(b *testing.B) {
	benchmarkCall(b, json.RawMessage(`{"i":1,"text":"hello"}`), echo("echo"))
}

func BenchmarkCallRaw(b *testing.B) {
	benchmarkCall(b, json.RawMessage(`{"i":1,"text":"hello"}`), named("echo"))
}

func BenchmarkCallBesideSequential(b *testing.B) {
	benchmarkCall(b, json.RawMessage(`{"i":1,"text":"hello"}`), echo("echo"), rawTool(toolcatalog.Spec{Name: "s", Sequential: true}))
}

// BenchmarkCallWatched has all that a host can put around a call, doing nothing.
func BenchmarkCallWatched(b *testing.B) {
	c := newCatalogWith(b, toolcatalog.Options{
		Policy: toolcatalog.Policy{Decide: func(context.Context, toolcatalog.Call) toolcatalog.Decision { return toolcatalog.Ask("") }},
		Hooks: []toolcatalog.Hook{{
			Before: func(context.Context, toolcatalog.Call) (json.RawMessage, error) { return nil, nil },
			After:  func(context.Context, toolcatalog.Call, json.RawMessage) (json.RawMessage, error) { return nil, nil },
		}},
		Approver: func(context.Context, toolcatalog.Call, string) error { return nil },
		Observer: func(context.Context, toolcatalog.Event) {},
	}, echo("echo"))
	input := json.RawMessage(`{"i":1,"text":"hello"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Call(b.Context(), "echo", input); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e3, "us/call")
}

// BenchmarkCallFloor is what a call cannot do without: a goroutine, and encoding/json both ways.
func BenchmarkCallFloor(b *testing.B) {
	input := []byte(`{"i":1,"text":"hello"}`)
	b.ReportAllocs()
	for b.Loop() {
		done := make(chan []byte, 1)
		go func() {
			var in echoInput
			if err := json.Unmarshal(input, &in); err != nil {
				panic(err)
			}
			out, err := json.Marshal(in)
			if err != nil {
				panic(err)
			}
			done <- out
		}()
		<-done
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e3, "us/call")
}

func BenchmarkCallInLargeCatalog(b *testing.B) {
	tools := []*toolcatalog.Tool{echo("echo")}
	for i := range 10_000 {
		tools = append(tools, echo(fmt.Sprintf("tool_%d", i)))
	}
	benchmarkCall(b, json.RawMessage(`{"i":1,"text":"hello"}`), tools...)
}

func BenchmarkCallMegabyte(b *testing.B) {
	row := json.RawMessage(`{"id":"shp_000001","carrier":"Northwind","tons":12.25,"paid":true,"tags":["a","b"]}`)
	rows := make([]json.RawMessage, 0, 12_000)
	for size := 0; size < 1<<20; size += len(row) + 1 {
		rows = append(rows, row)
	}
	text, err := json.Marshal(rows)
	if err != nil {
		b.Fatal(err)
	}
	c := newCatalog(b, toolcatalog.DefineRaw(toolcatalog.Spec{Name: "rows"}, func(context.Context, json.RawMessage) (any, error) {
		return json.RawMessage(text), nil
	}))
	for b.Loop() {
		if _, err := c.Call(b.Context(), "rows", nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1e3, "ms/call")
}

// manyTools makes tools of which a third has a schema of its own.
func manyTools(b *testing.B, size int) []*toolcatalog.Tool {
	tools := make([]*toolcatalog.Tool, size)
	for i := range tools {
		if name := fmt.Sprintf("tool-%d", i); i%3 == 0 {
			tools[i] = rawTool(toolcatalog.Spec{Name: name, Input: mustParse(b, fmt.Sprintf(
				`{"type":"object","properties":{"field_%d":{"type":"string"}},"additionalProperties":false}`, i))})
		} else {
			tools[i] = echo(name)
		}
	}
	return tools
}

func BenchmarkNew(b *testing.B) {
	for _, size := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			tools := manyTools(b, size)
			for b.Loop() {
				newCatalog(b, tools...)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size)/1e3, "us/tool")
		})
	}
}

// BenchmarkQuickIndex makes the quick index with the hints of all tools, of a new catalog of known tools, and of a catalog
// that has made it before.
func BenchmarkQuickIndex(b *testing.B) {
	perTool := func(b *testing.B, size int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size)/1e3, "us/tool")
	}
	fresh := func(b *testing.B, c func() *toolcatalog.Catalog) {
		for b.Loop() {
			b.StopTimer()
			c := c()
			b.StartTimer()
			if c.QuickIndex(0) == "" {
				b.Fatal("no index")
			}
		}
	}
	for _, size := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("tools/%d", size), func(b *testing.B) {
			fresh(b, func() *toolcatalog.Catalog { return newCatalog(b, manyTools(b, size)...) })
			perTool(b, size)
		})
		b.Run(fmt.Sprintf("catalog/%d", size), func(b *testing.B) {
			tools := manyTools(b, size)
			newCatalog(b, tools...).QuickIndex(0)
			fresh(b, func() *toolcatalog.Catalog { return newCatalog(b, tools...) })
			perTool(b, size)
		})
		b.Run(fmt.Sprintf("again/%d", size), func(b *testing.B) {
			c := newCatalog(b, manyTools(b, size)...)
			for b.Loop() {
				c.QuickIndex(0)
			}
		})
	}
}

// BenchmarkNewDistinctTypes derives schemas too: nothing is shared between two catalogs.
func BenchmarkNewDistinctTypes(b *testing.B) {
	type a struct{ echoInput }
	type c struct {
		A a        `json:"a"`
		B []string `json:"b"`
	}
	tools := []*toolcatalog.Tool{
		toolcatalog.Define(toolcatalog.Spec{Name: "a"}, func(_ context.Context, in a) (c, error) { return c{A: in}, nil }),
		toolcatalog.Define(toolcatalog.Spec{Name: "c"}, func(_ context.Context, in c) (echoInput, error) { return in.A.echoInput, nil }),
	}
	for b.Loop() {
		newCatalog(b, tools...)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/3e3, "us/type")
}

func BenchmarkLookup(b *testing.B) {
	tools := make([]*toolcatalog.Tool, 10_000)
	for i := range tools {
		tools[i] = named(fmt.Sprintf("tool_%d", i))
	}
	c := newCatalog(b, tools...)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := c.Lookup("tool_5000"); !ok {
			b.Fatal("not found")
		}
	}
}
