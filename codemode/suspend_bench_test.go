package codemode_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
)

// BenchmarkParkResume is a cell with 100 KB of live data that waits again and again: each call of Wait resumes it and parks it.
func BenchmarkParkResume(b *testing.B) {
	for name, live := range map[string]string{
		"1650-objects": liveData,
		"text":         `const live = Array.from({ length: 1000 }, (_, i) => "order " + i + ": " + Math.random() + " of " + "abcdefghijklmnopqrstuvwxyz".slice(i % 20) + " ".repeat(50)); `,
		"numbers":      `const live = Float64Array.from({ length: 12500 }, Math.random); `,
		"map-closures": `const live = new Map(Array.from({ length: 300 }, (_, i) => ["order " + i, { total: i, lines: [i, i + 1], pay: async () => live.get("order " + i) }])); `,
	} {
		b.Run(name, func(b *testing.B) { benchmarkParkResume(b, live) })
	}
}

func benchmarkParkResume(b *testing.B, live string) {
	rt := benchRuntime(b, nil)
	ex := newExecutor(b, rt, benchCatalog(b, 100, nil))
	r := ex.Exec(b.Context(), codemode.ExecInput{Title: "bench", Code: live + `for (;;) await yield_control();`})
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		if r = ex.Wait(b.Context(), codemode.WaitInput{RunID: r.RunID}); r.Status != codemode.StatusWaiting {
			b.Fatal(describe(r))
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms/median")
	b.ReportMetric(float64(times[0].Microseconds())/1000, "ms/best")
	b.ReportMetric(float64(codemode.SnapshotSize(rt, r.RunID))/1000, "KB")
}

// BenchmarkParked is the memory of a thousand waiting cells, and that of a live VM, which each of them would have without
// parking.
func BenchmarkParked(b *testing.B) {
	const n = 1000
	for b.Loop() {
		rt := benchRuntime(b, &codemode.Options{MaxSuspended: n})
		ex := newExecutor(b, rt, benchCatalog(b, 100, nil))
		before := heap()
		for range n {
			r := ex.Exec(b.Context(), codemode.ExecInput{Title: "bench", Code: `const live = Array.from({ length: 50 }, (_, i) => ({ id: i, name: "item " + i })); await yield_control(); return live.length`})
			if r.Status != codemode.StatusWaiting {
				b.Fatal(describe(r))
			}
		}
		each := float64(heap()-before) / n
		b.ReportMetric(each/1000, "KB/cell")
		b.ReportMetric(each/float64(codemode.ImageSize(rt)), "x-VM")
		_ = ex.Close()
	}
	b.ReportMetric(0, "ns/op")
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
