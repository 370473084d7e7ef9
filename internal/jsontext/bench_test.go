package jsontext_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// megabyte is 1 MB of compact JSON as tools return it: an array of some 10,000 objects.
func megabyte() []byte {
	text := []byte{'['}
	for i := 0; len(text) < 1<<20; i++ {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `{"id":"shp_%06d","carrier":"Northwind é","tons":%d.25,"paid":true,"at":"2024-01-0%d"}`, i, i%90, i%9+1)
	}
	return append(text, ']')
}

func reportPerMB(b *testing.B, size int) {
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/(float64(size)/1e6), "us/MB")
}

func BenchmarkCompactMegabyte(b *testing.B) {
	text := megabyte()
	for b.Loop() {
		if _, err := jsontext.Compact(text); err != nil {
			b.Fatal(err)
		}
	}
	reportPerMB(b, len(text))
}

func BenchmarkCompactIndentedMegabyte(b *testing.B) {
	var text bytes.Buffer
	if err := json.Indent(&text, megabyte(), "", "  "); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := jsontext.Compact(text.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
	reportPerMB(b, text.Len())
}

func BenchmarkQuoteUnsafeIntegersMegabyte(b *testing.B) {
	text := megabyte()
	for b.Loop() {
		jsontext.QuoteUnsafeIntegers(text)
	}
	reportPerMB(b, len(text))
}

func BenchmarkQuoteUnsafeIntegersMegabyteOfIDs(b *testing.B) {
	text := bytes.ReplaceAll(megabyte(), []byte(`"shp_`), []byte(`19158835881748060,"x":"`))
	for b.Loop() {
		jsontext.QuoteUnsafeIntegers(text)
	}
	reportPerMB(b, len(text))
}

func BenchmarkAppendStringMegabyte(b *testing.B) {
	text := string(megabyte())
	var dst []byte
	for b.Loop() {
		dst = jsontext.AppendString(dst[:0], text)
	}
	reportPerMB(b, len(text))
}

func BenchmarkEncodedLenMegabyte(b *testing.B) {
	text := string(megabyte())
	for b.Loop() {
		jsontext.EncodedLen(text)
	}
	reportPerMB(b, len(text))
}
