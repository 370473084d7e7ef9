package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

const orderSchema = `{"type":"object","properties":{
	"id":{"type":"integer","minimum":1},"customer":{"type":"string","minLength":1},"status":{"enum":["open","paid","shipped"]},
	"total":{"type":"number","minimum":0},"currency":{"type":"string","maxLength":3},"paid":{"type":"boolean"},
	"note":{"type":["string","null"]},"tags":{"type":"array","items":{"type":"string"}},
	"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}},"required":["street","city"],"additionalProperties":false},
	"created":{"type":"string","format":"date-time"}},
	"required":["id","customer","status","total","currency","paid","note","tags","address","created"],"additionalProperties":false}`

func orderValue(i int) string {
	return fmt.Sprintf(`{"id":%d,"customer":"Customer number %d","status":"paid","total":%d.25,"currency":"EUR","paid":true,"note":null,`+
		`"tags":["a","bb"],"address":{"street":"Long Street %d","city":"Springfield"},"created":"2024-05-06T07:08:09Z"}`, i+1, i, i*3, i)
}

func orderArray(bytes int) []byte {
	var b strings.Builder
	b.WriteByte('[')
	for i := 0; b.Len() < bytes; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(orderValue(i))
	}
	b.WriteByte(']')
	return []byte(b.String())
}

// BenchmarkValidateArray validates 400 KB of closed objects; "decode-ratio" is its time over that of json.Unmarshal into an
// any.
func BenchmarkValidateArray(b *testing.B) {
	benchmarkAgainstDecoding(b, `{"type":"array","items":`+orderSchema+`}`, orderArray(400_000))
}

// BenchmarkValidateFor is BenchmarkValidateArray for a result that an action selects.
func BenchmarkValidateFor(b *testing.B) {
	text := `{"anyOf":[{"type":"object","properties":{"gone":{"type":"boolean"}},"required":["gone"],"additionalProperties":false},{"type":"array","items":` +
		orderSchema + `}],"` + DiscriminatorKeyword + `":{"version":1,"inputProperty":"action","mapping":{"drop":0,"list":1}}}`
	benchmarkAgainstDecodingFor(b, text, orderArray(400_000), "list")
}

func BenchmarkValidateObject(b *testing.B) {
	benchmarkAgainstDecoding(b, orderSchema, []byte(orderValue(41)))
}

// BenchmarkParse compiles the schemas of real MCP servers; "us/schema" is the time for one of them.
func BenchmarkParse(b *testing.B) {
	schemas := mcpSchemas(b)
	b.ReportAllocs()
	for b.Loop() {
		for name, text := range schemas {
			if _, err := Parse(text); err != nil {
				b.Fatalf("%s: %v", name, err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(schemas)), "us/schema")
}

func benchmarkAgainstDecoding(b *testing.B, text string, value []byte) {
	benchmarkAgainstDecodingFor(b, text, value, "")
}

func benchmarkAgainstDecodingFor(b *testing.B, text string, value []byte, inputValue string) {
	s, err := Parse([]byte(text))
	if err != nil {
		b.Fatal(err)
	}
	decode := nanosecondsOf(func() {
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			b.Fatal(err)
		}
	})
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		if err := s.ValidateFor(value, inputValue); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/decode, "decode-ratio")
}

// nanosecondsOf measures one call of f, as the mean of some 100 ms.
func nanosecondsOf(f func()) float64 {
	f() // warm
	start, calls := time.Now(), 0
	for time.Since(start) < 100*time.Millisecond {
		f()
		calls++
	}
	return float64(time.Since(start).Nanoseconds()) / float64(calls)
}
