package codemode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/toolcatalog"
)

type echoIn struct {
	I int `json:"i"`
}

// benchCatalog has n tools, echo and objects among them.
func benchCatalog(tb testing.TB, n int, objects json.RawMessage) *toolcatalog.Catalog {
	tb.Helper()
	tools := []*toolcatalog.Tool{
		toolcatalog.Define(toolcatalog.Spec{Name: "echo", Description: "Returns its input."},
			func(_ context.Context, in echoIn) (echoIn, error) { return in, nil }),
		toolcatalog.Define(toolcatalog.Spec{Name: "objects", Description: "Returns 1 MB."},
			func(context.Context, struct{}) (json.RawMessage, error) { return objects, nil }),
	}
	for i := len(tools); i < n; i++ {
		tools = append(tools, toolcatalog.Define(toolcatalog.Spec{Name: fmt.Sprintf("tool_%05d", i), Description: "Does nothing."},
			func(_ context.Context, in echoIn) (echoIn, error) { return in, nil }))
	}
	catalog, err := toolcatalog.New(tools, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return catalog
}

func benchRuntime(tb testing.TB, opts *codemode.Options) *codemode.Runtime {
	tb.Helper()
	rt, err := codemode.NewRuntime(context.Background(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := rt.Close(); err != nil {
			tb.Error(err)
		}
	})
	return rt
}

// bareEngine gives a function that resets a bare VM and runs a script in it.
func bareEngine(tb testing.TB) func(script string) {
	tb.Helper()
	e, err := engine.New(context.Background(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	img, err := e.NewImage(context.Background(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = e.Close() })
	return func(script string) {
		vm, err := img.Acquire(context.Background())
		if err != nil {
			tb.Fatal(err)
		}
		defer vm.Release()
		if _, err := vm.Eval([]byte(script), "bench.js", 0); err != nil {
			tb.Fatal(err)
		}
	}
}

// mean times f once for each of n rounds.
func mean(n int, f func()) time.Duration {
	start := time.Now()
	for range n {
		f()
	}
	return time.Since(start) / time.Duration(n)
}

func execute(tb testing.TB, ex *codemode.Executor, code string) codemode.Result {
	r := ex.Exec(context.Background(), codemode.ExecInput{Title: "bench", Code: code})
	if err := r.Err(); err != nil {
		tb.Fatal(err)
	}
	return r
}

// BenchmarkReturn is the smallest cell over catalogs of 100 and 10,000 tools, beside the bare engine's reset and
// evaluation of 1+1 in the same run.
func BenchmarkReturn(b *testing.B) {
	bare := bareEngine(b)
	rt := benchRuntime(b, nil)
	small, large := newExecutor(b, rt, benchCatalog(b, 100, nil)), newExecutor(b, rt, benchCatalog(b, 10_000, nil))
	var engineTime, smallTime, largeTime time.Duration
	n := 0
	for b.Loop() {
		engineTime += mean(100, func() { bare("1+1") })
		smallTime += mean(100, func() { execute(b, small, "return 1") })
		largeTime += mean(100, func() { execute(b, large, "return 1") })
		n++
	}
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(n) / 1000 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(micros(engineTime), "us/engine")
	b.ReportMetric(micros(smallTime), "us/100-tools")
	b.ReportMetric(micros(smallTime)/micros(engineTime), "x-engine")
	b.ReportMetric(micros(largeTime)/micros(smallTime), "x-10000-tools")
}

// BenchmarkEcho is an awaited call of a tool with contracts on both sides.
func BenchmarkEcho(b *testing.B) {
	ex := newExecutor(b, benchRuntime(b, nil), benchCatalog(b, 2, nil))
	const code = `for (let i = 0; i < 1000; i++) { const r = await echo({ i }); if (r.i !== i) throw new Error("wrong"); }`
	for b.Loop() {
		execute(b, ex, code)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "us/call")
}

// BenchmarkMegabyte moves 1 MB from a tool through a cell into its result, beside parsing and stringifying the same
// text in the bare engine.
func BenchmarkMegabyte(b *testing.B) {
	text := megabyte()
	rt := benchRuntime(b, &codemode.Options{MaxOutputBytes: 10 << 20})
	ex := newExecutor(b, rt, benchCatalog(b, 2, text))
	bare := bareEngine(b)
	script := "JSON.stringify(JSON.parse(" + string(must(json.Marshal(string(text)))) + ")).length"
	literal := string(must(json.Marshal(string(text)))) + ".length"
	var cell, engine time.Duration
	n := 0
	for b.Loop() {
		cell += mean(1, func() {
			if r := execute(b, ex, `const list = await objects(); let n = 0; for (const o of list) n += o.id; if (n !== 49995000) throw n; return list`); len(r.Value) != len(text) {
				b.Fatalf("%d bytes, want %d", len(r.Value), len(text))
			}
		})
		engine += mean(1, func() { bare(script) }) - mean(1, func() { bare(literal) })
		n++
	}
	b.ReportMetric(cell.Seconds()*1000/float64(n), "ms/cell")
	b.ReportMetric(engine.Seconds()*1000/float64(n), "ms/engine")
	b.ReportMetric(cell.Seconds()/engine.Seconds(), "x-engine")
}

func megabyte() json.RawMessage {
	var s strings.Builder
	s.WriteByte('[')
	for i := range 10_000 {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, `{"id":%d,"name":"item number %d","price":%d.25,"active":%t,"tags":["alpha","beta"],"note":null}`, i, i, i%97, i%2 == 0)
	}
	s.WriteByte(']')
	return json.RawMessage(s.String())
}

// BenchmarkConcurrent runs return 1 in 64 executors at once, beside one goroutine doing the same work alone.
func BenchmarkConcurrent(b *testing.B) {
	rt := benchRuntime(b, nil)
	catalog := benchCatalog(b, 100, nil)
	const executors, cells = 64, 50
	var alone, together time.Duration
	for b.Loop() {
		ex := newExecutor(b, rt, catalog)
		alone += mean(1, func() {
			for range executors * cells {
				execute(b, ex, "return 1")
			}
		})
		together += mean(1, func() {
			var wg sync.WaitGroup
			for range executors {
				ex := newExecutor(b, rt, catalog)
				wg.Go(func() {
					for range cells {
						execute(b, ex, "return 1")
					}
				})
			}
			wg.Wait()
		})
	}
	b.ReportMetric(alone.Seconds()/together.Seconds(), "x-alone")
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cpus")
}

// BenchmarkStart is a runtime from nothing to its first result, with a warm cache.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	catalog := benchCatalog(b, 2, nil)
	start := func() {
		rt := must(codemode.NewRuntime(context.Background(), &codemode.Options{CacheDir: dir}))
		ex := must(rt.NewExecutor(catalog, nil))
		execute(b, ex, "return (await echo({ i: 1 })).i")
		_ = ex.Close()
		_ = rt.Close()
	}
	cold := mean(1, start)
	for b.Loop() {
		start()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/warm")
	b.ReportMetric(cold.Seconds()*1000, "ms/cold")
}

func newExecutor(tb testing.TB, rt *codemode.Runtime, catalog *toolcatalog.Catalog, opts ...*codemode.ExecutorOptions) *codemode.Executor {
	tb.Helper()
	ex, err := rt.NewExecutor(catalog, slices.Concat(opts, []*codemode.ExecutorOptions{nil})[0])
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = ex.Close() })
	return ex
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// fiveMegabytes is a program that makes rows of 5 MB.
const fiveMegabytes = `const rows = []; for (let i = 0; i < 62_500; i++) rows.push({ id: i, carrier: "Northwind Traders", tons: i / 8, paid: true, tags: ["a", "b"] });`

// BenchmarkKeep saves, loads and returns 5 MB, against the time that the bare engine takes in the same run to serialise the same
// rows with its own JSON.stringify. What is compared is what comes on top of making the rows.
func BenchmarkKeep(b *testing.B) {
	bench := newBench(b, codemode.Options{MemoryLimitBytes: 256 << 20, Timeout: time.Minute})
	bare := bareEngine(b)
	timed := func(code string) time.Duration {
		took := mean(1, func() { execute(b, bench.Executor, fiveMegabytes+code) })
		forgetResults(b, bench)
		return took
	}
	var stringify, save, saveLoad, retain time.Duration
	for b.Loop() {
		stringify += mean(1, func() { bare(fiveMegabytes + `JSON.stringify(rows).length`) }) - mean(1, func() { bare(fiveMegabytes) })
		making := timed(`return 1`)
		save += timed(`return (await results.save(rows)).bytes`) - making
		saveLoad += timed(`return (await results.load(await results.save(rows))).length`) - making
		retain += timed(`return rows`) - making
	}
	b.ReportMetric(float64(stringify)/float64(b.N)/1e6, "ms/engine")
	b.ReportMetric(float64(save)/float64(stringify), "x-save")
	b.ReportMetric(float64(saveLoad)/float64(stringify), "x-save-load")
	b.ReportMetric(float64(retain)/float64(stringify), "x-retain")
}

// BenchmarkEmit emits 1,000 texts of 1 KB, against the time that the bare engine takes in the same run to write the same entries
// with its own JSON.stringify.
func BenchmarkEmit(b *testing.B) {
	bench := newBench(b, codemode.Options{MaxOutputBytes: 2 << 20})
	bare := bareEngine(b)
	const texts = `const s = "x".repeat(1024); for (let i = 0; i < 1000; i++) `
	var engine, cell time.Duration
	for b.Loop() {
		engine += mean(1, func() {
			bare(`const list = []; ` + texts + `list.push({ type: "text", text: s }); JSON.stringify(list).length`)
		})
		cell += mean(1, func() {
			if r := execute(b, bench.Executor, texts+`text(s)`); len(r.Output) != 1000 {
				b.Fatal(describe(r))
			}
		})
	}
	b.ReportMetric(float64(cell)/float64(b.N)/1e6, "us/text")
	b.ReportMetric(float64(cell)/float64(engine), "x-engine")
}

// forgetResults deletes all that was saved.
func forgetResults(tb testing.TB, b *testBench) {
	tb.Helper()
	for _, reference := range b.Results().List() {
		if err := b.Results().Delete(reference.ID); err != nil {
			tb.Fatal(err)
		}
	}
}
