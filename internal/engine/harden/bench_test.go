package harden

import (
	"math"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
)

func BenchmarkRewrite(b *testing.B) {
	for b.Loop() {
		if _, err := Rewrite(pinned); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMetering runs each program in turn on the hardened binary and on the one that ships, and
// reports the ratio of their best times. The two run the same number of times in the same process.
func BenchmarkMetering(b *testing.B) {
	plainMachine, err := newMachine(pinned, wazero.NewRuntimeConfig())
	if err != nil {
		b.Fatal(err)
	}
	for _, program := range []struct{ name, script string }{
		{"fib", `(() => { const f = n => n < 2 ? n : f(n - 1) + f(n - 2); return f(27) })()`},
		{"loop", `(() => { let s = 0; for (let i = 0; i < 5e6; i++) s += i; return s })()`},
		{"sort", `(() => { const a = []; let x = 1; for (let i = 0; i < 2e5; i++) a.push(x = x * 48271 % 2147483647);
			a.sort((p, q) => p - q); return a.length })()`},
		{"map", `(() => { const m = new Map(); for (let i = 0; i < 2e5; i++) m.set(i, i); let s = 0;
			for (let i = 0; i < 2e5; i++) s += m.get(i); return s })()`},
		{"json", `(() => { const a = []; for (let i = 0; i < 2e4; i++) a.push({ id: i, name: "n" + i, tags: ["a", "b"] });
			return JSON.stringify(JSON.parse(JSON.stringify(a))).length })()`},
		{"text", `(() => { const a = []; for (let i = 0; i < 5e4; i++) a.push("item " + i);
			return a.join(",").split(",").map(x => x.toUpperCase()).filter(x => /7$/.test(x)).length })()`},
		{"search", `("a".repeat(1e5) + "c").indexOf("a".repeat(500) + "b")`},
	} {
		b.Run(program.name, func(b *testing.B) {
			plain, metered := plainMachine.newVM(b), newVM(b)
			best := map[*vm]time.Duration{plain: math.MaxInt64, metered: math.MaxInt64}
			for b.Loop() {
				for v := range best {
					start := time.Now()
					if _, err := v.eval(b, program.script); err != nil {
						b.Fatal(err)
					}
					best[v] = min(best[v], time.Since(start))
				}
			}
			b.ReportMetric(best[metered].Seconds()/best[plain].Seconds(), "x-unmetered")
			b.ReportMetric(best[metered].Seconds()*1e3, "best-ms")
		})
	}
}
