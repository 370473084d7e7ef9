package source_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/internal/source"
)

// sources are the sizes that the benchmarks run with.
func sources(b *testing.B) map[string]string {
	var all strings.Builder
	for _, p := range programs(b) {
		if p.name[0] == '0' && !source.ModuleAccess(p.code) {
			all.WriteString(p.code)
		}
	}
	return map[string]string{"return 1": "return 1", "big": strings.Repeat(all.String(), 1+(1<<20)/all.Len())}
}

func bench(b *testing.B, f func(code string)) {
	for name, code := range sources(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(code)))
			b.ReportAllocs()
			for b.Loop() {
				f(code)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for name, code := range sources(b) {
		raw, err := json.Marshal(map[string]string{"title": "Count the rows", "code": code})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := source.Read(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkInputCell(b *testing.B) {
	bench(b, func(code string) {
		if _, err := (source.Input{Title: "Count the rows", Code: code}).Cell(); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkShell(b *testing.B) {
	bench(b, func(code string) {
		if shell, err := source.Shell(b.Context(), code, nil); shell || err != nil {
			b.Fatal(shell, err)
		}
	})
}

func BenchmarkModuleAccess(b *testing.B) {
	bench(b, func(code string) {
		if source.ModuleAccess(code) {
			b.Fatal("module access")
		}
	})
}

// BenchmarkModuleAccessParsed is a cell for which the syntax tree is built.
func BenchmarkModuleAccessParsed(b *testing.B) {
	code := "const rows = await shipping_list({ status: 'late' });\nconst _ = require('lodash');\nreturn _.groupBy(rows, (r) => r.carrier);"
	for b.Loop() {
		if !source.ModuleAccess(code) {
			b.Fatal("no module access")
		}
	}
}

func BenchmarkIdentifiers(b *testing.B) {
	bench(b, func(code string) {
		for name := range source.Identifiers(code) {
			_ = name
		}
	})
}

func BenchmarkCodeIdentifiers(b *testing.B) {
	bench(b, func(code string) {
		for name := range source.CodeIdentifiers(code) {
			_ = name
		}
	})
}
