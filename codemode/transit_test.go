package codemode_test

import (
	"context"
	"encoding/json"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

// A value on its way takes host memory of no more than twice its size. What is counted is all that is allocated meanwhile, garbage
// included: what lives at one time is less. (It counts the whole process, so nothing may run beside it.)
func TestMemoryInTransit(t *testing.T) {
	echo := toolcatalog.DefineRaw(toolcatalog.Spec{Name: "raw_echo"}, func(_ context.Context, input json.RawMessage) (any, error) { return input, nil })
	b := newBench(t, codemode.Options{MemoryLimitBytes: 256 << 20, MaxOutputBytes: 8 << 20, MaxSnapshotBytes: 32 << 20, Timeout: time.Minute}, echo)
	short := newBench(t, codemode.Options{MemoryLimitBytes: 256 << 20, Timeout: time.Minute})
	allocated := func(b *testBench, code string) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := b.run(t.Context(), code)
		runtime.ReadMemStats(&after)
		if r.Status != codemode.StatusCompleted {
			t.Fatal(describe(r))
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	const row = `{ id: 1234567, carrier: "Northwind Traders é", tons: 12.25, paid: true, tags: ["a", "b"] }`
	for name, rows := range map[string]string{
		"data":     `const rows = Array(60_000).fill(` + row + `);`,
		"text":     `const rows = "plain text, é and 漢字 ".repeat(200_000);`,
		"no plain": `const rows = Array(60_000).fill(` + row + `); rows.push(new Date(0));`, // the engine writes it
	} {
		size := float64(len(b.run(t.Context(), rows+`return rows`).Value))
		for _, test := range []struct {
			way  string
			b    *testBench
			code string
			most float64 // times its size
		}{
			{"return", b, `return rows`, 1.5},
			{"retain", short, `return [rows]`, 1.5},
			{"save", b, `await results.save(rows)`, 1.5},
			{"save and load", b, `await results.load(await results.save(rows))`, 1.5},
			{"emit", b, `json(rows)`, 2.5},           // it is read, and kept as output
			{"call", b, `await raw_echo(rows)`, 3.5}, // it is on its way there, and back
		} {
			// A VM that is new, or whose stack grows, allocates too: the least of a few runs is the value's own.
			got := math.Inf(1)
			for try := 0; try < 5 && got > test.most; try++ {
				got = min(got, allocated(test.b, rows+test.code)/size)
				forgetResults(t, test.b)
			}
			t.Logf("%s, %s: %.2f", name, test.way, got)
			if got > test.most {
				t.Errorf("%s, %s: %.2f times its %.0f bytes, want at most %.1f", name, test.way, got, size, test.most)
			}
		}
	}
}
