package toolcatalog_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/toolcatalog"
)

// benchmarkTools are tools with texts of the size that those of MCP servers have: 300 bytes of description, 900 of schema.
// The words have the frequencies of a language.
func benchmarkTools(b *testing.B, n int) []*toolcatalog.Tool {
	r := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(r, 1.1, 8, 20_000)
	known := strings.Fields("file list create issue search read the of a web page update delete user repository query")
	words := func(n int, separator string) string {
		list := make([]string, n)
		for i := range list {
			if w := zipf.Uint64(); w < uint64(len(known)) {
				list[i] = known[w]
			} else {
				for ; w > 0; w /= 20 {
					list[i] += "bcdfghjklmnpqrstvwxz"[w%20:][:1] + "aeiou"[w%5:][:1]
				}
			}
		}
		return strings.Join(list, separator)
	}
	tools := make([]*toolcatalog.Tool, n)
	for i := range tools {
		var properties []string
		for _, first := range []string{"id", "name", "min", "max", "with", "sort"} {
			properties = append(properties, fmt.Sprintf(`"%s_%s":{"type":"string","enum":["some","values"],"description":%q}`, first, words(1, ""), words(12, " ")))
		}
		tools[i] = rawTool(toolcatalog.Spec{
			Name:        fmt.Sprintf("%s_%d", words(3, "_"), i),
			Description: words(50, " "),
			Input:       mustParse(b, `{"type":"object","properties":{`+strings.Join(properties, ",")+`},"additionalProperties":false}`),
		})
	}
	return tools
}

func BenchmarkSearch(b *testing.B) {
	for _, size := range []int{10, 1_000, 10_000} {
		c := newCatalog(b, benchmarkTools(b, size)...)
		some := c.All()[size/2].CallableName
		for _, query := range []struct{ name, text string }{
			{"words", "create an issue about the web page"},
			{"name", some},
			{"case", strings.ToUpper(some)},
			{"long", strings.Repeat("file list create issue search read web page update delete user repository query folder ", 40)},
		} {
			b.Run(fmt.Sprintf("%s/%d", query.name, size), func(b *testing.B) {
				c.Search(query.text, 0)
				b.ReportAllocs()
				for b.Loop() {
					if len(c.Search(query.text, 0)) == 0 {
						b.Fatal("nothing found")
					}
				}
			})
		}
	}
}

// BenchmarkSearchIndex makes the first search of a catalog.
func BenchmarkSearchIndex(b *testing.B) {
	for _, size := range []int{10, 1_000, 10_000} {
		tools := benchmarkTools(b, size)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var kept uint64
			for b.Loop() {
				b.StopTimer()
				c := newCatalog(b, tools...)
				before := heap()
				b.StartTimer()
				if len(c.Search("create an issue", 0)) == 0 {
					b.Fatal("nothing found")
				}
				b.StopTimer()
				kept = heap() - before
				b.StartTimer()
				runtime.KeepAlive(c)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size)/1e3, "us/tool")
			b.ReportMetric(float64(kept)/float64(size), "keptB/tool")
		})
	}
}

// heap is how much memory is in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
