package declgen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/schema"
)

// benchmarkSchemas are an ordinary contract and a huge one.
func benchmarkSchemas(b *testing.B) map[string]*schema.Schema {
	ordinary, err := schema.For[[]order]()
	if err != nil {
		b.Fatal(err)
	}
	return map[string]*schema.Schema{"ordinary": ordinary, "5000 properties": mustParse(b, wideSchema(5_000))}
}

// wideSchema is an object with n properties.
func wideSchema(n int) string {
	var s strings.Builder
	s.WriteString(`{"type":"object","properties":{`)
	for i := range n {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, `"property_%d":{"type":"array","description":"The property number %d.","items":{"type":["string","null"]}}`, i, i)
	}
	s.WriteString(`},"required":["property_4999"],"additionalProperties":false}`)
	return s.String()
}

func BenchmarkHint(b *testing.B) {
	for name, s := range benchmarkSchemas(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				OutputHint(s)
			}
		})
	}
}

func BenchmarkDeclare(b *testing.B) {
	for name, s := range benchmarkSchemas(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Declare(Function{Name: "orders", Description: "Work with orders.", Input: s, Output: s})
			}
		})
	}
}
