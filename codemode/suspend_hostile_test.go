package codemode_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
)

// Programs that use their waits to get at the host: each ends in a limit of its own, or goes on waiting at the host's pleasure, and
// leaves a clean VM for the next cell.
func TestHostileWaits(t *testing.T) {
	t.Parallel()
	const forEver = "waiting"
	for _, tt := range []struct {
		name, code string
		want       string // value, the code of the failure, or that it waits for ever
		is         error
	}{
		{"yields for ever", `for (;;) await yield_control()`, forEver, nil},
		{"yields for ever from jobs and timers", `const f = async () => { for (;;) { await yield_control(); await null; setTimeout(() => {}, 0) } }; f(); f(); await f()`, forEver, nil},
		{"yields without waiting", `for (;;) yield_control()`, "invalid_input", nil},
		{"yields in its handlers", `const f = () => yield_control().then(() => { f(); f() }); f(); await new Promise(() => {})`, "invalid_input", nil},
		{"a timer for each yield", `for (;;) { setTimeout(() => {}, 60000); await yield_control() }`, "invalid_input", nil},
		{"keeps noise", `const kept = []; for (;;) { const a = new Float64Array(1e5); for (let i = 0; i < a.length; i++) a[i] = Math.random(); kept.push(a); await yield_control() }`, "snapshot_limit_exceeded", nil},
		{"reasons of 64 KiB", `const all = []; for (let i = 0; i < 143; i++) all.push(yield_control(Math.random() + "r".repeat(65536))); return (await Promise.all(all)).length`, "143", nil},
		{"a reason that is too large to keep", `await yield_control("r".repeat(11 << 20))`, "snapshot_limit_exceeded", nil},
		{"reasons that are too large", `for (;;) yield_control("r".repeat(8 << 20))`, "invalid_input", nil},
		{"toJSON that yields itself", `const o = { toJSON() { return yield_control(o) } }; await yield_control(o)`, "internal_error", codemode.ErrStackLimit},
		{"ten MiB of replies", `const all = Array.from({ length: 10 }, () => blob({ bytes: 1e6 })); await yield_control(); return (await Promise.all(all)).length`, "10", nil},
		{"loops after the wait", `await yield_control(); for (;;) {}`, "timeout", nil},
		{"loops in jobs after the wait", `await yield_control(); for (;;) await null`, "timeout", nil},
		{"loops in a handler", `yield_control().then(() => { for (;;); }); return 1`, "timeout", nil},
		{"fills the memory after the wait", `await yield_control(); const kept = []; for (;;) kept.push(new Array(1e5).fill(kept.length))`, "internal_error", codemode.ErrMemoryLimit},
		{"overflows the stack after the wait", `await yield_control(); const f = () => 1 + f(); return f()`, "internal_error", codemode.ErrStackLimit},
		{"many rejections", `for (let i = 0; i < 3000; i++) Promise.reject(i); await yield_control(); return 1`, "internal_error", nil},
		{"many rejections, all handled late", `const all = []; for (let i = 0; i < 3000; i++) all.push(Promise.reject(i)); await yield_control(); for (const p of all) p.catch(() => {}); return 1`, "1", nil},
		{"a then of its own that never calls", `Promise.prototype.then = function () { return this }; yield_control().then(() => text("x")); await yield_control(); return 1`, "1", nil},
		{"a then of its own that throws", `Object.defineProperty(Promise.prototype, "constructor", { get() { throw new Error("mine") } }); await yield_control()`, "internal_error", nil},
		{"never to be settled", `yield_control(); await new Promise(() => {})`, "internal_error", nil},
		{"settles itself", `let settle; const p = new Promise((r) => { settle = r }); const y = yield_control(); settle(y); y.then = 1; return (await p).status`, `"yielded"`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			timeout := codemode.DefaultTimeout
			if tt.want == "timeout" {
				timeout = 300 * time.Millisecond
			}
			b := newBench(t, codemode.Options{Timeout: timeout, MemoryLimitBytes: 32 << 20, MaxSuspended: 1024})
			r := b.run(t.Context(), tt.code)
			for n := 0; r.Status == codemode.StatusWaiting && n < 200; n++ {
				checkResult(t, r, codemode.DefaultMaxOutputBytes)
				r = b.resume(t.Context(), r.RunID)
			}
			checkResult(t, r, codemode.DefaultMaxOutputBytes)
			got := string(r.Value)
			switch r.Status {
			case codemode.StatusFailed:
				got = string(r.Code)
			case codemode.StatusWaiting:
				got = forEver
			}
			if got != tt.want || tt.is != nil && !errors.Is(r.Err(), tt.is) {
				t.Errorf("got %s, %v", describe(r), r.Err())
			}
			b.works(t)
			value(t, b.resume(t.Context(), b.park(t, `await yield_control(); return [typeof kept, typeof Promise.prototype.then, [].left ?? null]`).RunID), `["undefined","function",null]`)
		})
	}
}
