package codemode_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
)

// Programs that try to have a value kept under another name, to get at more than their own, or to break the store: each ends as it
// should, and the next program finds what was kept before.
func TestHostileKeeping(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code, want string // a value; failed; or nothing, if either will do
	}{
		"a hook that saves": {`
			const inner = {}
			const outer = await results.save({ a: 1, toJSON() { inner.ref = results.save("inner"); return { a: 2 } } })
			return [await results.load(outer.id), await results.load((await inner.ref).id)]`, `[{"a":2},"inner"]`},
		"a hook that stores": {`
			await store("x", { toJSON() { store("y", "inner"); return "outer" } })
			return [await load("x"), await load("y")]`, `["outer","inner"]`},
		"a hook that searches": {`
			const ref = await results.save({ toJSON() { catalog.search("echo"); catalog.all(); echo.description; return "v" } })
			return await results.load(ref.id)`, `"v"`},
		"a getter that throws halfway": {`
			const before = await results.save("before")
			const e = await (async () => results.save({ get a() { store("k", 1); throw new Error("no") } }))().catch((e) => e.message)
			return [e, await results.load(before.id), await load("k")]`, `["no","before",1]`},
		"an id that is an object with a getter": {`
			const a = await results.save("a"), b = await results.save("b")
			let n = 0
			return await results.load({ get id() { return n++ ? b.id : a.id } })`, `"a"`},
		"a proxy": {`
			const p = new Proxy({ a: 1 }, { ownKeys: () => ["a", "b"], get: (t, k) => k === "toJSON" ? undefined : k + "!", getOwnPropertyDescriptor: () => ({ value: 0, enumerable: true, configurable: true }) })
			return await results.load((await results.save(p)).id)`, `{"a":"a!","b":"b!"}`},
		"a thenable": {`
			let seen = 0
			const ref = await results.save({ then(f) { seen++; f("forged") } , a: 1 })
			return [await results.load(ref.id), seen]`, `[{"a":1},0]`},
		"a value with then in it": {`
			const ref = await results.save(JSON.parse('{"then":1,"a":[{"then":{}}]}'))
			return await results.load(ref.id)`, `{"then":1,"a":[{"then":{}}]}`},
		"half a surrogate": {`
			const ref = await results.save("\ud83d"); await store("v", "\ud83d")
			const bad = await store("\ud83d", 1).catch((e) => e.name)
			return [(await results.load(ref.id)).length, bad, await load("\ufffd") === undefined]`, `[1,"TypeError",true]`},
		"the longest sparse array": {`return await results.save(new Array(4294967295)).then(() => "saved", (e) => e.name)`, `failed`},
		"a huge string":            {`return await (async () => results.save("x".repeat(12_000_000)))().catch((e) => e.code)`, `"invalid_input"`},
		"loads without end":        {`const { id } = await results.save("x".repeat(9_000_000)); const all = []; for (;;) all.push(await results.load(id))`, `failed`},
		"recursion around a load": {`
			const { id } = await results.save([1])
			const deep = async () => { try { await results.load(id) } catch {} return deep() }
			const down = (n) => { try { return down(n + 1) } catch { results.load(id).catch(() => 1); return n } }
			down(0)
			return await results.load(id)`, ``},
		"replaced built-ins": {`
			Object.prototype.then = function (f) { f("forged") }
			Promise.prototype.then = () => "forged"
			Array.prototype.toJSON = Object.prototype.toJSON = undefined
			Object.defineProperty(Object.prototype, "id", { get: () => "forged", configurable: true })
			JSON.parse = JSON.stringify = () => "forged"
			delete Object.prototype.then
			const ref = await results.save([1, { a: 2 }])
			return await results.load(ref)`, `[1,{"a":2}]`},
		"numbers from JSON": {`
			const [limit, ms] = JSON.parse("[1, 5]")
			await new Promise((f) => setTimeout(f, ms))
			return (await catalog.search("return", { limit })).length`, `1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := keeping(t, sharedRuntime(t, codemode.Options{Timeout: 2 * time.Second}), codemode.NewMemoryStore(), nil)
			first := b.run(t.Context(), `await store("first", [1]); return (await results.save({ first: true })).id`)
			began := time.Now()
			r := b.run(t.Context(), tt.code)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
			got := string(r.Value)
			if r.Status == codemode.StatusFailed {
				got = "failed"
			}
			if tt.want != "" && got != tt.want {
				t.Errorf("got %.300s, want %s", describe(r), tt.want)
			}
			value(t, b.run(t.Context(), `return [await load("first"), await results.load(`+string(first.Value)+`)]`), `[[1],{"first":true}]`)
		})
	}
}

// The memory of a program holds for what was kept by others, too: a value that it has no room for is an error that it can catch, and it
// goes on.
func TestLoadsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{MemoryLimitBytes: 2 << 20, MaxSnapshotBytes: 1 << 20})
	for _, tt := range []struct {
		chars int // two bytes of UTF-8 each, six of escapes
		fits  bool
	}{{100_000, true}, {500_000, false}} {
		reference, err := b.Results().Save([]byte(`"` + strings.Repeat("é", tt.chars) + `"`))
		if err != nil {
			t.Fatal(err)
		}
		load := `results.load("` + reference.ID + `")`
		r := b.run(t.Context(), `return (await `+load+`).length`)
		if tt.fits {
			value(t, r, fmt.Sprint(tt.chars))
		} else if r.Code != codemode.CodeInternal || r.FailurePhase != codemode.PhaseGuest || !errors.Is(r.Err(), codemode.ErrMemoryLimit) {
			t.Errorf("%d characters: %s (%s): %v", tt.chars, describe(r), r.FailurePhase, r.Err())
		}
		caught := `"InternalError: out of memory"`
		if tt.fits {
			caught = fmt.Sprint(tt.chars)
		}
		value(t, b.run(t.Context(), `
			const got = await `+load+`.then((s) => s.length, String)
			return [got, (await results.load((await results.save("é".repeat(1000))).id)).length]`), `[`+caught+`,1000]`)
		value(t, b.run(t.Context(), `return 1`), `1`)
		if err := b.Results().Delete(reference.ID); err != nil {
			t.Error(err)
		}
	}
}
