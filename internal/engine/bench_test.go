package engine

import (
	"context"
	"testing"
	"time"

	"github.com/fastschema/qjs"
)

// BenchmarkEval is the bare engine: a VM made fresh, and 1+1 evaluated in it.
func BenchmarkEval(b *testing.B) {
	_, img := newTestEngine(b, nil)
	for b.Loop() {
		vm := acquire(b, img)
		if _, err := vm.Eval([]byte("1+1"), "bench.js", 0); err != nil {
			b.Fatal(err)
		}
		vm.Release()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "us/eval")
}

// BenchmarkReset is the part of it that makes the VM fresh.
func BenchmarkReset(b *testing.B) {
	_, img := newTestEngine(b, nil)
	for b.Loop() {
		acquire(b, img).Release()
	}
}

// BenchmarkInstantiate is a VM that the pool does not have.
func BenchmarkInstantiate(b *testing.B) {
	_, img := newTestEngine(b, &Options{MaxIdle: 1})
	first := acquire(b, img)
	defer first.Release()
	for b.Loop() {
		vm := acquire(b, img)
		vm.dead = ErrClosed
		vm.Release()
	}
}

// workloads are the programs of the issue that use nothing but the processor.
var workloads = map[string]string{
	"fib":  `(function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) })(27)`,
	"loop": `(() => { let s = 0; for (let i = 0; i < 5e6; i++) s = (s + i) | 0; return s })()`,
	"sort": `(() => { const a = []; let x = 1; for (let i = 0; i < 2e5; i++) { x = (x * 16807) % 2147483647; a.push(x) } return a.sort((p, q) => p - q)[0] })()`,
	"map":  `(() => { const m = new Map(); for (let i = 0; i < 2e5; i++) m.set(i, i); let s = 0; for (let i = 0; i < 2e5; i++) s += m.get(i); return s })()`,
}

// BenchmarkWorkloads compares with qjs as it ships, whose only way to stop a guest is to make WebAssembly look at
// its context at every loop iteration.
func BenchmarkWorkloads(b *testing.B) {
	_, img := newTestEngine(b, &Options{MemoryLimit: 64 << 20})
	rt, err := qjs.New(qjs.Option{CloseOnContextDone: true, Context: context.Background()})
	if err != nil {
		b.Fatal(err)
	}
	defer rt.Close()
	for name, script := range workloads {
		b.Run(name, func(b *testing.B) {
			var ours, theirs time.Duration
			for b.Loop() {
				vm := acquire(b, img)
				vm.Limit(time.Now().Add(time.Minute), nil)
				start := time.Now()
				if _, err := vm.Eval([]byte(script), "bench.js", 0); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(start)
				vm.Release()
				start = time.Now()
				v, err := rt.Eval("bench.js", qjs.Code(script))
				if err != nil {
					b.Fatal(err)
				}
				theirs += time.Since(start)
				v.Free()
			}
			b.ReportMetric(ours.Seconds()*1000/float64(b.N), "ms/op-ours")
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "x-faster-than-qjs")
		})
	}
}
