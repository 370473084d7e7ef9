package codemode_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/transcript"
)

// BenchmarkDurable parks a cell with 100 KB of live data in SQLite, and resumes it as a process that has just started
// would: over a runtime that never saw it.
func BenchmarkDurable(b *testing.B) {
	store, err := transcript.Open(b.Context(), filepath.Join(b.TempDir(), "cells.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	catalog := benchCatalog(b, 100, nil)
	opts := &codemode.ExecutorOptions{RunID: "run", Cells: store}
	parks, resumes := newExecutor(b, benchRuntime(b, &codemode.Options{MaxSuspended: codemode.MaxMaxSuspended}), catalog, opts), newExecutor(b, benchRuntime(b, nil), catalog, opts)
	var parked, resumed time.Duration
	var size int
	for b.Loop() {
		began := time.Now()
		r := parks.Exec(b.Context(), codemode.ExecInput{Title: "bench", Code: liveData + `await yield_control(); return live.length`})
		parked += time.Since(began)
		if r.Status != codemode.StatusWaiting || r.Warnings != nil {
			b.Fatal(describe(r))
		}
		cell, err := store.LoadCell(b.Context(), r.RunID)
		if err != nil {
			b.Fatal(err)
		}
		size = len(cell.Data)
		began = time.Now()
		if r = resumes.Wait(b.Context(), codemode.WaitInput{RunID: r.RunID}); r.Err() != nil {
			b.Fatal(r.Err())
		}
		resumed += time.Since(began)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(parked.Microseconds())/float64(b.N)/1000, "ms/exec+park")
	b.ReportMetric(float64(resumed.Microseconds())/float64(b.N)/1000, "ms/resume")
	b.ReportMetric(float64(size)/1000, "KB")
}

// liveData is 100 KB of JSON, alive.
const liveData = `const live = JSON.parse(JSON.stringify(Array.from({ length: 1650 }, (_, i) => ({ id: i, name: "item " + i, tags: ["a", "b"], price: i * 1.5 }))));
`
