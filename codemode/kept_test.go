package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/toolcatalog"
)

func value(t *testing.T, r codemode.Result, want string) {
	t.Helper()
	if r.Status != codemode.StatusCompleted || string(r.Value) != want {
		t.Errorf("got %s, want %s", describe(r), want)
	}
}

// Results outlive a cell and end with the executor; the host sees the same ones.
func TestResultsOfAnExecutor(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	r := b.run(t.Context(), `return await results.save(await rows({ n: 500 }))`)
	var ref codemode.Reference
	if err := json.Unmarshal(r.Value, &ref); err != nil || ref.Count != 500 {
		t.Fatalf("got %s: %v", describe(r), err)
	}
	value(t, b.run(t.Context(), `return (await results.load("`+ref.ID+`")).length`), `500`)
	if n := len(b.rec.Calls("rows")); n != 1 {
		t.Errorf("rows ran %d times", n)
	}
	text, err := b.Results().Load(ref.ID)
	if err != nil || len(text) != ref.Bytes {
		t.Errorf("%d bytes, %v", len(text), err)
	}

	fromHost, err := b.Results().Save(json.RawMessage(`{"id": 1915883588174806058}`))
	if err != nil {
		t.Fatal(err)
	}
	value(t, b.run(t.Context(), `const { id } = await results.load("`+fromHost.ID+`"); return [id, (await echo({ id })).id]`),
		`["1915883588174806058","1915883588174806058"]`)

	value(t, newBench(t, codemode.Options{}).run(t.Context(), `return await results.load("`+ref.ID+`").catch((e) => e.code)`), `"invalid_input"`)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Results().Load(ref.ID); !errors.Is(err, codemode.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// C058, the bytes: the store has the smaller of the memory and the snapshot limit, and a save that does not fit changes nothing.
func TestResultsBytes(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{MaxSnapshotBytes: 1 << 20})
	value(t, b.run(t.Context(), `
		const first = await results.save("x".repeat(600_000))
		const second = await results.save("y".repeat(600_000)).catch((e) => [e.code, /existing results are unchanged/.test(e.message)])
		const third = await results.save(1n.toString().repeat(400_000))
		return [second, (await results.load(first.id)).length, (await results.load(third.id)).length]`), `[["invalid_input",true],600000,400000]`)
}

// What a restart-safe program may not touch is not touched, and it fails with a reason, whatever it catches.
func TestRestartSafeCellsKeepNothing(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`try { await results.save(1) } catch {} return 1`:     "results were not touched",
		`await results.load("x").catch(() => 1)`:              "results were not touched",
		`await store("k", 1).catch(() => 1)`:                  "store and load were not called",
		`await load("k").catch(() => 1); return 1`:            "store and load were not called",
		`return [(await catalog.search("echo")).length]`:      "",
		`return (await API.read("tools/echo.d.ts")).length`:   "",
		`return [await echo.describe(), await skills.list()]`: "",
	} {
		b := newBench(t, codemode.Options{})
		r := b.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: code, RestartSafe: true})
		if want == "" && r.Status != codemode.StatusCompleted || want != "" && (r.Code != codemode.CodeInvalidInput || !strings.Contains(r.Error, want)) {
			t.Errorf("%s: %s", code, describe(r))
		}
		if n := len(b.Results().List()); n != 0 {
			t.Errorf("%s: %d results were saved", code, n)
		}
	}
}

// hostStore is a session store that does what a test wants.
type hostStore struct {
	codemode.MemoryStore
	load, commit func(ctx context.Context) error
}

func (s *hostStore) LoadSession(ctx context.Context, id string) (map[string]store.SessionValue, error) {
	if s.load != nil {
		if err := s.load(ctx); err != nil {
			return nil, err
		}
	}
	return s.MemoryStore.LoadSession(ctx, id)
}

func (s *hostStore) CommitSession(ctx context.Context, id string, change store.SessionChange) error {
	if s.commit != nil {
		if err := s.commit(ctx); err != nil {
			return err
		}
	}
	return s.MemoryStore.CommitSession(ctx, id, change)
}

func keeping(t *testing.T, rt *codemode.Runtime, kept codemode.SessionStore, opts *toolcatalog.Options, more ...*toolcatalog.Tool) *testBench {
	t.Helper()
	rec := new(fixture.Recorder)
	catalog, err := toolcatalog.New(append(testTools(rec), more...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return &testBench{newExecutor(t, rt, catalog, &codemode.ExecutorOptions{SessionID: "s", Store: kept}), rec}
}

// C062: what a cell stores is its own until it completes, and is there for later cells of the session, in other turns too.
func TestSessionOfSeveralCells(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		kept := codemode.NewMemoryStore()
		first, second := keeping(t, b.runtime, kept, nil), keeping(t, b.runtime, kept, nil)
		value(t, first.run(t.Context(), `await store("k", 7); return await load("k")`), `7`)

		parked := make(chan codemode.Result, 1)
		go func() {
			parked <- first.run(t.Context(), `await store("k", 8); await slow({ ms: 5000 }); return await load("k")`)
		}()
		synctest.Wait()
		value(t, second.run(t.Context(), `return await load("k")`), `7`)
		value(t, <-parked, `8`)
		value(t, second.run(t.Context(), `return await load("k")`), `8`)

		// Cells that do not complete keep nothing.
		for _, code := range []string{`await store("k", 9); throw new Error("no")`, `await store("k", 9); await slow({ ms: 60000 })`,
			`await store("k", 9); void Promise.reject(1)`} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if r := first.run(ctx, code); r.Status == codemode.StatusCompleted {
				t.Errorf("%s: %s", code, describe(r))
			}
			cancel()
		}
		value(t, second.run(t.Context(), `return await load("k")`), `8`)
		value(t, keeping(t, b.runtime, codemode.NewMemoryStore(), nil).run(t.Context(), `return (await load("k")) === undefined`), `true`)
	})
}

// Commits of cells that run side by side are serialised: nothing is lost, and what does not fit together is a warning of the later one.
func TestSessionCommits(t *testing.T) {
	t.Parallel()
	kept := codemode.NewMemoryStore()
	b := keeping(t, sharedRuntime(t, codemode.Options{}), kept, nil)
	results := make(chan codemode.Result, 20)
	for i := range 20 {
		go func() {
			results <- b.run(t.Context(), fmt.Sprintf(`await store("k%d", %d); await echo(1); return 1`, i, i))
		}()
	}
	for range 20 {
		if r := <-results; r.Status != codemode.StatusCompleted || len(r.Warnings) > 0 {
			t.Errorf("got %s", describe(r))
		}
	}
	value(t, b.run(t.Context(), `let n = 0; for (let i = 0; i < 20; i++) n += await load("k" + i); return n`), `190`)

	large := func(key string) string {
		return `await load("x"); await slow({ ms: 50 }); for (const part of [1, 2, 3]) await store("` + key + `" + part, "x".repeat(200_000)); return "done"`
	}
	go func() { results <- b.run(t.Context(), large("a")) }()
	go func() { results <- b.run(t.Context(), large("b")) }()
	x, y := <-results, <-results
	if len(x.Warnings)+len(y.Warnings) != 1 || string(x.Value) != `"done"` || string(y.Value) != `"done"` {
		t.Errorf("got %s and %s", describe(x), describe(y))
	}
	if warning := strings.Join(append(x.Warnings, y.Warnings...), ""); !strings.Contains(warning, "nothing of what this program stored was kept") {
		t.Errorf("the warning is %q", warning)
	}
}

// A store that fails, blocks or panics costs the cell what it stores and nothing else.
func TestSessionStoreThatFails(t *testing.T) {
	t.Parallel()
	failing := errors.New("disk full")
	panicking := func(context.Context) error { panic("secret") }
	inBubble(t, nil, func(t *testing.T, b *bubble) {
		for name, tt := range map[string]struct {
			kept *hostStore
			code string
			want string // value
			warn string
		}{
			"commit":         {&hostStore{commit: func(context.Context) error { return failing }}, `await store("k", 1); return 2`, `2`, "disk full"},
			"commit panics":  {&hostStore{commit: panicking}, `await store("k", 1); return 2`, `2`, "panicked"},
			"commit blocks":  {&hostStore{commit: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, `await store("k", 1); return 2`, `2`, "not confirmed"},
			"nothing stored": {&hostStore{commit: panicking}, `await load("k"); return 2`, `2`, ""},
			"load":           {&hostStore{load: func(context.Context) error { return failing }}, `return await load("k").catch((e) => /disk full/.test(e.message))`, `true`, ""},
			"load panics":    {&hostStore{load: panicking}, `return await store("k", 1).catch((e) => /panicked/.test(e.message) && !/secret/.test(e.message))`, `true`, ""},
		} {
			r := keeping(t, b.runtime, tt.kept, nil).run(t.Context(), tt.code)
			if string(r.Value) != tt.want || strings.Join(r.Warnings, "") == "" != (tt.warn == "") || !strings.Contains(strings.Join(r.Warnings, ""), tt.warn) {
				t.Errorf("%s: %s %q", name, describe(r), r.Warnings)
			}
			var marshalled struct{ Warnings []string }
			if err := json.Unmarshal([]byte(r.Text()), &marshalled); err != nil || len(marshalled.Warnings) != len(r.Warnings) {
				t.Errorf("%s: the model reads %s", name, r.Text())
			}
		}
		began := time.Now()
		blocked := keeping(t, b.runtime, &hostStore{load: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, nil)
		if r := blocked.run(t.Context(), `await load("k")`); r.Code != codemode.CodeTimeout || time.Since(began) > 12*time.Second {
			t.Errorf("a store that does not answer: %s after %s", describe(r), time.Since(began))
		}
	})
	// Without a store of the host's, values end with the executor.
	none := newBench(t, codemode.Options{})
	value(t, none.run(t.Context(), `await store("k", 1); return [await load("k"), typeof store]`), `[1,"function"]`)
	value(t, none.run(t.Context(), `return await load("k")`), `1`)
	value(t, newBench(t, codemode.Options{}).run(t.Context(), `return (await load("k")) === undefined`), `true`)
}

// A store without a session is a mistake of the host's, which would show only when the next turn finds nothing.
func TestStoreNeedsSession(t *testing.T) {
	t.Parallel()
	rt, catalog := sharedRuntime(t, codemode.Options{}), newTestCatalog(t, nil)
	for _, opts := range []codemode.ExecutorOptions{{Store: codemode.NewMemoryStore()}, {Store: codemode.NewMemoryStore(), RunID: "r"}} {
		ex, err := rt.NewExecutor(catalog, &opts)
		if ex != nil || err == nil || !strings.Contains(err.Error(), "SessionID") || !strings.Contains(err.Error(), "leave Store nil") {
			t.Errorf("%+v: %v, %v", opts, ex, err)
		}
	}
	for _, opts := range []codemode.ExecutorOptions{{}, {SessionID: "s"}, {SessionID: "s", Store: codemode.NewMemoryStore()}} {
		ex := &testBench{newExecutor(t, rt, catalog, &opts), nil}
		value(t, ex.run(t.Context(), `await store("k", 1); return await load("k")`), `1`)
		value(t, ex.run(t.Context(), `return await load("k")`), `1`)
		if kept := strings.Contains(ex.Tools()[0].Description, "later turns of the session"); kept != (opts.Store != nil) {
			t.Errorf("%+v: the model is told of later turns: %t", opts, kept)
		}
	}
}

// limited makes an executor over the test tools for a model that can be shown so much.
func limited(t *testing.T, opts codemode.Options, model codemode.Model) *testBench {
	t.Helper()
	rec := new(fixture.Recorder)
	return &testBench{newExecutor(t, sharedRuntime(t, opts), newTestCatalog(t, rec), &codemode.ExecutorOptions{Model: model}), rec}
}

// C009: fitting and delivery use the same compact form, so that white space costs no data.
func TestC009(t *testing.T) {
	t.Parallel()
	b := limited(t, codemode.Options{}, codemode.Model{MaxResultChars: 2_000})
	r := b.run(t.Context(), `return Array.from({length: 60}, (_, id) => ({ id, ok: true }))`)
	if len(r.Value) != 1191 || strings.Count(string(r.Value), `"ok"`) != 60 || len(r.Text()) > 2_000 {
		t.Errorf("%d bytes of value, %d of text: %s", len(r.Value), len(r.Text()), describe(r))
	}
}

// Whatever a cell gives, the text of its result fits what the model can be shown, its status is the same, and what is retained is whole.
func TestModelBudget(t *testing.T) {
	t.Parallel()
	for _, model := range []codemode.Model{{MaxResultChars: 700}, {MaxResultChars: 2_000}, {ContextTokens: 4_000}, {ContextTokens: 150_000}} {
		most := model.MaxResultChars
		switch model.ContextTokens {
		case 4_000:
			most = 4_800
		case 150_000:
			most = 32_000
		}
		for code, status := range map[string]codemode.Status{
			`return 1`: codemode.StatusCompleted,
			`return Array.from({ length: 5000 }, (_, id) => ({ id, text: "\n\"é🚀" }))`: codemode.StatusCompleted,
			`text("🦀".repeat(50_000)); return "x".repeat(50_000)`:                      codemode.StatusCompleted,
			`for (let i = 0; i < 1000; i++) json({ i }); return { a: "b" }`:            codemode.StatusCompleted,
			`text("ok"); throw new Error("cause: disk full" + "\n".repeat(50_000))`:    codemode.StatusFailed,
		} {
			b := limited(t, codemode.Options{}, model)
			r := b.run(t.Context(), code)
			if n := len(utf16.Encode([]rune(r.Text()))); n > most || r.Status != status {
				t.Errorf("%+v: %d characters, status %s for %.40s: %.200s", model, n, r.Status, code, r.Text())
			}
			for _, reference := range b.Results().List() {
				if !strings.Contains(r.Text(), reference.ID) {
					t.Errorf("%+v: %.40s leaves a result that nobody knows of", model, code)
				}
			}
		}
	}
	b := limited(t, codemode.Options{}, codemode.Model{MaxResultChars: 50})
	if r := b.run(t.Context(), `return [1]`); r.Status != codemode.StatusFailed || !errors.Is(r.Err(), codemode.ErrModelBudget) || len(b.Results().List()) > 0 {
		t.Errorf("a budget that fits nothing: %s", describe(r))
	}
}

// A warning has the text of an error of the host's in it. However long that is, it does not take the value's place.
func TestLongWarning(t *testing.T) {
	t.Parallel()
	kept := &hostStore{commit: func(context.Context) error { return errors.New(strings.Repeat("é", 50_000)) }}
	b := &testBench{newExecutor(t, sharedRuntime(t, codemode.Options{}), newTestCatalog(t, nil),
		&codemode.ExecutorOptions{SessionID: "s", Store: kept, Model: codemode.Model{MaxResultChars: 2000}}), nil}
	r := b.run(t.Context(), `await store("k", 1); return 2`)
	value(t, r, `2`)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "not confirmed") || !utf8.ValidString(r.Warnings[0]) ||
		len(r.Warnings[0]) > 512 || len(r.Warnings[0]) < 508 || !strings.HasSuffix(r.Warnings[0], "é…") {
		t.Errorf("the warnings are %q", r.Warnings)
	}
}

// C059: what is retained automatically, and what is not.
func TestC059(t *testing.T) {
	t.Parallel()
	small := codemode.Options{MaxOutputBytes: 1024}
	const large = `return (await rows({ n: 2000 }));`
	b := newBench(t, small)
	r := b.run(t.Context(), large)
	var kept codemode.Retained
	if err := json.Unmarshal(r.Value, &kept); err != nil || !kept.Truncated || kept.Reference.Count != 2000 || kept.Guidance == "" || len(r.Value) > 1024 {
		t.Fatalf("(a): %s, %v", describe(r), err)
	}
	value(t, b.run(t.Context(), `return (await results.load("`+kept.Reference.ID+`")).length`), `2000`)
	if n := len(b.rec.Calls("rows")); n != 1 {
		t.Errorf("(a): rows ran %d times", n)
	}

	full := newBench(t, small)
	ids := full.run(t.Context(), `for (let i = 0; i < 64; i++) await results.save(i); return 1`)
	value(t, ids, `1`)
	marker := func(name string, r codemode.Result, guidance string, kept int, results *codemode.Results) {
		t.Helper()
		var m codemode.Truncation
		if err := json.Unmarshal(r.Value, &m); err != nil || !m.Truncated || m.Prefix == "" || !strings.Contains(m.Guidance, guidance) || r.Status != codemode.StatusCompleted {
			t.Errorf("(%s): %s, %v", name, describe(r), err)
		}
		if n := len(results.List()); n != kept {
			t.Errorf("(%s): %d results", name, n)
		}
	}
	marker("b", full.run(t.Context(), large), "not retained: the results store is full", 64, full.Results())
	b = newBench(t, small)
	marker("c", b.run(t.Context(), `return "x".repeat(5000)`), "narrower", 0, b.Results())
	if r := b.run(t.Context(), `text("x".repeat(5000)); return 1`); string(r.Value) != `1` || r.Output[0].Truncated == nil || len(b.Results().List()) > 0 {
		t.Errorf("(d): %s", describe(r))
	}
	if r := b.run(t.Context(), `throw new Error("x".repeat(5000))`); r.Status != codemode.StatusFailed || !strings.HasSuffix(r.Error, "[error truncated]") || len(b.Results().List()) > 0 {
		t.Errorf("(e): %s", describe(r))
	}
	marker("f", b.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: large, RestartSafe: true}), "restart-safe", 0, b.Results())
	tiny := newBench(t, codemode.Options{MaxOutputBytes: 1024, MaxSnapshotBytes: 2048})
	marker("allowance", tiny.run(t.Context(), `return Array.from({ length: 2000 }, (_, id) => ({ id }))`), "data allowance", 0, tiny.Results())
}

// store and load are there for every program whose code has their names, in whatever form, and are its own words otherwise.
func TestSessionGlobals(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	for code, want := range map[string]string{
		// Uses.
		`return await load ("none") === undefined`:                                                                  `true`,
		`await store?.("k", 1); return await load?.("k")`:                                                           `1`,
		`await store.call(null, "k", 2); return await load.apply(null, ["k"])`:                                      `2`,
		`const s = store, l = load; await s("k", 3); return await l("k")`:                                           `3`,
		`const [s, l] = [store, load]; await s("k", 4); return await l("k")`:                                        `4`,
		`const api = { store, load }; await api.store("k", 5); return await api.load("k")`:                          `5`,
		`await store/* the key */("k", 6); return await load // now` + "\n" + `("k")`:                               `6`,
		`await store("k", 7); return await Promise.all(["k"].map(load, 0))`:                                         `[7]`,
		`return [typeof store, typeof load]`:                                                                        `["function","function"]`,
		`await globalThis.store("k", 8); const { load } = globalThis; return await load("k")`:                       `8`,
		`await globalThis["store"]("k", 9); return await load("k")`:                                                 `9`, // load is named
		"await store(`${'k'}`, 10); return `it is ${await load('k')}`":                                              `"it is 10"`,
		"return `${await (async () => { const n = { a: 1 }; return `${typeof load}` })()}`":                         `"function"`,
		`return await l\u006fad("none") === undefined`:                                                              `true`,
		`return await l\u{6f}ad("none") === undefined`:                                                              `true`,
		`const re = /'/; await store("k", re.source); return await load("k")`:                                       `"'"`,
		`const half = (n) => n / 2; await store("k", half(4) / 2); return await load("k")`:                          `1`,
		`if (true) /"/.test("x"); return typeof load`:                                                               `"function"`,
		`return await Promise.resolve("none").then(load).then((v) => v === undefined)`:                              `true`,
		`return store.name + load.length`:                                                                           `"store1"`,
		`for (const key of ["x", "y"]) await store(key, key + 1); return await Promise.all([load("x"), load("y")])`: `["x1","y1"]`,
		// Words of the program.
		`return ["store", "load"].map((n) => typeof globalThis[n]) // load, store`:                       `["undefined","undefined"]`,
		`/* store("k") */ return ['load("k")', /load/.test("load")].length + typeof globalThis["load"]`:  `"2undefined"`,
		"return `store ${1} load` + typeof globalThis['store']":                                          `"store 1 loadundefined"`,
		`return [globalThis].map((g) => typeof g["lo" + "ad"])`:                                          `["undefined"]`,
		`const store = new Map(); store.set(1, 2); return store.get(1)`:                                  `2`,
		`const load = () => 5; return load()`:                                                            `5`,
		`function load() { return 6 } return load()`:                                                     `6`,
		`var store = { n: 7 }; return store.n`:                                                           `7`,
		`store = { n: 8 }; delete globalThis.load; return [typeof store, typeof load]`:                   `["function","function"]`, // as every global of the host
		`class Cache { load() { return this.store } store = 10 } return new Cache().load()`:              `10`,
		`const { load, store = 11 } = { load: 12 }; return [load, store]`:                                `[12,11]`,
		`const reload = (upload) => upload; const downloads = (n) => n; return reload(1) + downloads(2)`: `3`,
		`const loaded = 1, storeé = 2; return typeof globalThis["load"] + typeof globalThis["store"]`:    `"undefinedundefined"`,
	} {
		r := b.run(t.Context(), code)
		if string(r.Value) != want {
			t.Errorf("%s: got %s, want %s", code, describe(r), want)
		}
	}
}

// Finding out whether a program uses store and load takes a small part of the time that it may take.
func TestSessionGlobalsOfLargePrograms(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{Timeout: 2 * time.Second})
	for name, code := range map[string]string{
		"a comment": "/* load " + strings.Repeat("/[' ", 480_000) + "*/ return typeof store",
		"strings":   "return typeof load" + strings.Repeat(` + "/*'"`, 200) + "//" + strings.Repeat(" load", 380_000),
		"escapes":   `return typeof l\u006fad //` + strings.Repeat(`\u{`, 600_000),
		"template":  "`load " + strings.Repeat("/* ' ${1}", 200) + strings.Repeat("/", 1_900_000) + "`; return typeof store",
	} {
		began := time.Now()
		r := b.run(t.Context(), code)
		if r.Status != codemode.StatusCompleted || !strings.HasPrefix(string(r.Value), `"function`) || time.Since(began) > 2*time.Second {
			t.Errorf("%s: %s after %s", name, describe(r), time.Since(began))
		}
	}
}
