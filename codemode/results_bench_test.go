package codemode

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// fiveMB are texts of 5 MB: what tools return, and shapes that are unkind to whoever reads them.
func fiveMB() map[string][]byte {
	fill := func(open, close, separator string, item func(i int) string) []byte {
		text := []byte(open)
		for i := 0; len(text) < 5<<20; i++ {
			if i > 0 {
				text = append(text, separator...)
			}
			text = append(text, item(i)...)
		}
		return append(text, close...)
	}
	row := func(i int) string {
		return fmt.Sprintf(`{"id":"shp_%06d","carrier":"Northwind é","tons":%d.25,"paid":true,"to":{"city":"Oslo"}}`, i, i%90)
	}
	return map[string][]byte{
		"rows":     fill(`[`, `]`, `,`, row),
		"page":     fill(`{"ok":true,"data":{"page":{"items":[`, `]}}}`, `,`, row),
		"numbers":  fill(`[`, `]`, `,`, func(i int) string { return fmt.Sprint(i % 1000) }),
		"brackets": fill(`[`, `]`, `,`, func(int) string { return `[[],{}]` }),
		"nested":   fill(`[[[[[[[[[[`, `]]]]]]]]]]`, `,`, row),
		"text":     fill(`{"text":"`, `"}`, ``, func(i int) string { return fmt.Sprintf(`{\"id\":%d,\"name\":\"row\"}\n`, i) }),
		"escapes":  fill(`["`, `"]`, ``, func(int) string { return `\"` }),
		"pages":    fill(`{"pages":[`, `]}`, `,`, func(i int) string { return string(fiveKB(row, i)) }),
	}
}

func fiveKB(row func(int) string, i int) []byte {
	text := []byte{'['}
	for len(text) < 5<<10 {
		text = append(append(text, row(i)...), ',')
	}
	text[len(text)-1] = ']'
	return text
}

// BenchmarkSave5MB reports what saving costs compared with json.Valid on the same text, measured in turns.
func BenchmarkSave5MB(b *testing.B) {
	for name, text := range fiveMB() {
		compare := func(kind string, save func(*Results) (Reference, error)) {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.ReportAllocs()
				var valid time.Duration
				for b.Loop() {
					if _, err := save(newResults(10 << 20)); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					start := time.Now()
					if !json.Valid(text) {
						b.Fatal("not JSON")
					}
					valid += time.Since(start)
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed())/float64(valid), "x-json.Valid")
			})
		}
		compare("host", func(r *Results) (Reference, error) { return r.Save(text) })
		compare("cell", func(r *Results) (Reference, error) { return r.save(text[:len(text):len(text)], false) })
	}
}

// BenchmarkLoad5MB is the copy for a caller in Go.
func BenchmarkLoad5MB(b *testing.B) {
	r := newResults(10 << 20)
	reference, err := r.Save(fiveMB()["rows"])
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Load(reference.ID); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReferenceFit(b *testing.B) {
	reference := newReference(newResultID(), fiveMB()["page"])
	for b.Loop() {
		if _, ok := reference.fit(400); !ok {
			b.Fatal("does not fit")
		}
	}
}
