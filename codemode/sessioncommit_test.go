package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
)

// storeFuncs is a session store of two functions.
type storeFuncs struct {
	load   func(ctx context.Context) (map[string]store.SessionValue, error) // nil: nothing is stored
	commit func(ctx context.Context, change store.SessionChange) error
}

func (s *storeFuncs) LoadSession(ctx context.Context, _ string) (map[string]store.SessionValue, error) {
	if s.load == nil {
		return nil, nil
	}
	return s.load(ctx)
}

func (s *storeFuncs) CommitSession(ctx context.Context, _ string, change store.SessionChange) error {
	return s.commit(ctx, change)
}

// A cell commits what it stored if and only if its result is not a failure, however little of it can be shown.
func TestFailedCellsCommitNothing(t *testing.T) {
	t.Parallel()
	rt := sharedRuntime(t, codemode.Options{})
	catalog := newTestCatalog(t, nil)
	stores := map[string]error{
		"that keeps":   nil,
		"that fails":   errors.New(strings.Repeat("\n", 3000)),
		"that is full": fmt.Errorf("%w: there are other cells", store.ErrSessionFull),
	}
	for name, failure := range stores {
		for _, code := range []string{
			`await store("k", 1)`,
			`text("日本".repeat(50)); await store("k", 1); return Array.from({ length: 2000 }, (_, id) => ({ id, text: "é🚀" }))`,
		} {
			completed := false
			for budget := 200; budget < 900; budget += 3 {
				commits := 0
				kept := &storeFuncs{commit: func(context.Context, store.SessionChange) error { commits++; return failure }}
				ex := must(rt.NewExecutor(catalog, &codemode.ExecutorOptions{SessionID: "s", Store: kept, Model: codemode.Model{MaxResultChars: budget}}))
				r := ex.Exec(t.Context(), codemode.ExecInput{Title: "t", Code: code})
				switch r.Status {
				case codemode.StatusFailed:
					if commits > 0 || !errors.Is(r.Err(), codemode.ErrModelBudget) {
						t.Fatalf("a store %s, %d characters: failed with %d commits: %s", name, budget, commits, describe(r))
					}
					if completed {
						t.Fatalf("a store %s, %d characters: failed, and completed with fewer", name, budget)
					}
				case codemode.StatusCompleted:
					completed = true
					if n := len(utf16.Encode([]rune(r.Text()))); n > budget {
						t.Fatalf("a store %s, %d characters: the result takes %d: %s", name, budget, n, r.Text())
					}
					warning := strings.Join(r.Warnings, "")
					wanted := map[string]string{"that keeps": "", "that fails": "not confirmed", "that is full": "was kept"}[name]
					if commits != 1 || !strings.Contains(warning, wanted) || (warning == "") != (wanted == "") {
						t.Fatalf("a store %s, %d characters: %d commits, the warning %q", name, budget, commits, warning)
					}
				}
				_ = ex.Close()
			}
			if !completed {
				t.Errorf("a store %s: %s never completes", name, code)
			}
		}
	}
}

// A commit has what is left of the cell's time, and at least a second, whatever the store does with its context.
func TestCommitTime(t *testing.T) {
	t.Parallel()
	const limit = codemode.DefaultTimeout
	for _, tt := range []struct {
		name         string
		used, takes  time.Duration // of the cell, of the store
		ignores      bool          // the store its context
		want         time.Duration // of Exec
		notConfirmed bool
	}{
		{"there is time", 0, limit - time.Millisecond, false, limit - time.Millisecond, false},
		{"there is no time", 0, time.Hour, false, limit, true},
		{"there is no time for a store that ignores its context", 0, time.Hour, true, limit, true},
		{"the cell used its own", limit - 10*time.Millisecond, 900 * time.Millisecond, false, limit + 890*time.Millisecond, false},
		{"the cell used its own before a slow store", limit - 10*time.Millisecond, 1100 * time.Millisecond, false, limit + 990*time.Millisecond, true},
		{"the cell used its own before one that ignores its context", limit - 10*time.Millisecond, 1100 * time.Millisecond, true, limit + 990*time.Millisecond, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, b *bubble) {
				var mu sync.Mutex
				done := false
				kept := &storeFuncs{commit: func(ctx context.Context, _ store.SessionChange) error {
					given := ctx.Done()
					if tt.ignores {
						given = nil
					}
					select {
					case <-time.After(tt.takes):
					case <-given:
						return ctx.Err()
					}
					mu.Lock()
					defer mu.Unlock()
					done = true
					return nil
				}}
				ex := keeping(t, b.runtime, kept, nil)
				began := time.Now()
				// One that awaits its results does not wait for a fresh budget when there is little left of it; timers use it up.
				r := ex.Exec(t.Context(), codemode.ExecInput{Title: "test", AwaitResults: true,
					Code: fmt.Sprintf(`await store("k", 1); await new Promise((r) => setTimeout(r, %d)); return 2`, tt.used.Milliseconds())})
				took := time.Since(began)
				value(t, r, `2`)
				if warned := strings.Contains(strings.Join(r.Warnings, ""), "it is not confirmed"); took != tt.want || warned != tt.notConfirmed || len(r.Warnings) > 1 {
					t.Errorf("it took %s, not %s; the warnings are %q", took, tt.want, r.Warnings)
				}
				// Close waits for the store, however long that takes.
				if err := ex.Close(); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if done != (tt.ignores || !tt.notConfirmed) {
					t.Errorf("after Close: the commit was made: %t", done)
				}
			})
		})
	}
}

// Whoever waits for a cell that commits can give up, and so can the host.
func TestCommitGivenUp(t *testing.T) {
	t.Parallel()
	gone := errors.New("the caller is gone")
	for _, ignores := range []bool{false, true} {
		for name, giveUp := range map[string]func(ex *testBench, cancel context.CancelCauseFunc){
			gone.Error():               func(_ *testBench, cancel context.CancelCauseFunc) { cancel(gone) },
			codemode.ErrClosed.Error(): func(ex *testBench, _ context.CancelCauseFunc) { go func() { _ = ex.Close() }() },
		} {
			inBubble(t, nil, func(t *testing.T, b *bubble) {
				release := make(chan struct{})
				ex := keeping(t, b.runtime, &storeFuncs{commit: func(ctx context.Context, _ store.SessionChange) error {
					if ignores {
						<-release
						return nil
					}
					<-ctx.Done()
					return context.Cause(ctx)
				}}, nil)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				result := make(chan codemode.Result, 1)
				go func() { result <- ex.run(ctx, `await store("k", 1); return 2`) }()
				synctest.Wait()
				began := time.Now()
				giveUp(ex, cancel)
				r := <-result
				value(t, r, `2`)
				if warning := strings.Join(r.Warnings, ""); time.Since(began) > 0 || !strings.Contains(warning, "it is not confirmed") || !strings.Contains(warning, name) {
					t.Errorf("%s (ignored: %t): after %s the warning %q", name, ignores, time.Since(began), warning)
				}
				close(release)
			})
		}
	}
}

// A load has what is left of the cell's time, whatever the store does with its context.
func TestLoadTime(t *testing.T) {
	t.Parallel()
	for _, ignores := range []bool{false, true} {
		for _, code := range []string{`return await load("k")`, `await store("k", 1)`, `await load("k").catch(() => 1); await store("k", 2); return 3`} {
			inBubble(t, nil, func(t *testing.T, b *bubble) {
				release := make(chan struct{})
				commits := 0
				ex := keeping(t, b.runtime, &storeFuncs{
					load: func(ctx context.Context) (map[string]store.SessionValue, error) {
						given := ctx.Done()
						if ignores {
							given = nil
						}
						select {
						case <-release:
						case <-given:
						}
						return nil, ctx.Err()
					},
					commit: func(context.Context, store.SessionChange) error { commits++; return nil },
				}, nil)
				began := time.Now()
				if r := ex.run(t.Context(), code); r.Code != codemode.CodeTimeout || time.Since(began) != codemode.DefaultTimeout {
					t.Errorf("%s (ignored: %t): %s after %s", code, ignores, describe(r), time.Since(began))
				}
				ctx, cancel := context.WithCancel(t.Context())
				result := make(chan codemode.Result, 1)
				go func() { result <- ex.run(ctx, code) }()
				synctest.Wait()
				began = time.Now()
				cancel()
				if r := <-result; r.Code != codemode.CodeAborted || time.Since(began) > 0 {
					t.Errorf("%s (ignored: %t), given up: %s after %s", code, ignores, describe(r), time.Since(began))
				}
				closed := make(chan error, 1)
				go func() { closed <- ex.Close() }()
				synctest.Wait()
				select {
				case err := <-closed:
					if ignores || err != nil {
						t.Errorf("Close does not wait for the store: %v", err)
					}
				default:
					if !ignores {
						t.Error("Close waits for a store that has ended")
					}
				}
				close(release)
				if synctest.Wait(); commits > 0 {
					t.Errorf("%d commits", commits)
				}
			})
		}
	}
}

// wicked is an error whose own methods fail.
type wicked struct{ text string }

func (w *wicked) Error() string   { return w.text } // panics for a nil *wicked
func (w *wicked) Is(error) bool   { panic("Is panics") }
func (w *wicked) Unwrap() []error { return []error{w} } // of itself, for ever

// What a broken store does costs the cell what it stores, and nothing else: the host goes on, and the model is told in a few words.
func TestBrokenSessionStores(t *testing.T) {
	t.Parallel()
	rt := sharedRuntime(t, codemode.Options{})
	for name, tt := range map[string]struct {
		fail func(ctx context.Context) error
		want string // what the model is told
	}{
		"panics":                        {func(context.Context) error { panic("secret") }, "panicked"},
		"panics with nothing":           {func(context.Context) error { panic(nil) }, "panicked"},
		"ends its goroutine":            {func(context.Context) error { runtime.Goexit(); return nil }, "ended its goroutine"},
		"gives a nil error that is one": {func(context.Context) error { return (*wicked)(nil) }, "panicked"},
		"gives an error that panics":    {func(context.Context) error { return &wicked{"no"} }, "no"},
		"gives a long error":            {func(context.Context) error { return errors.New(strings.Repeat("é", 1<<20)) }, "é…"},
		"gives an error of no text":     {func(context.Context) error { return errors.New("a\xff\xfe\x00b") }, "a\ufffd\x00b"},
		"gives an error of half a text": {func(context.Context) error { return errors.New(strings.Repeat("\xffa", 400)) }, "\ufffda"},
		"gives another's error":         {func(context.Context) error { return context.DeadlineExceeded }, "deadline"},
		"says that a key is bad":        {func(context.Context) error { return store.ErrSessionKey }, "key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell := func(where, text string) {
				t.Helper()
				if name == "gives an error that panics" && where == "commit" {
					tt.want = "panicked" // it is asked what it is
				}
				if !strings.Contains(text, tt.want) || strings.Contains(text, "secret") || len(text) > 512 || !utf8.ValidString(text) {
					t.Errorf("%s tells the model %d bytes, want %q: %q", where, len(text), tt.want, text)
				}
			}
			loading := keeping(t, rt, &storeFuncs{load: func(ctx context.Context) (map[string]store.SessionValue, error) {
				return nil, tt.fail(ctx)
			}}, nil)
			for _, call := range []string{`load("k")`, `store("k", 1)`, `store("k", undefined)`} {
				r := loading.run(t.Context(), `return await `+call+`.then(() => "no error", (e) => [e.name, e.code ?? "none", e.message])`)
				var thrown []string
				if err := json.Unmarshal(r.Value, &thrown); err != nil || len(thrown) != 3 || thrown[0] != "Error" || thrown[1] != "none" {
					t.Fatalf("%s: %s", call, describe(r))
				}
				tell("load", thrown[2])
			}
			committing := keeping(t, rt, &storeFuncs{commit: func(ctx context.Context, _ store.SessionChange) error { return tt.fail(ctx) }}, nil)
			r := committing.run(t.Context(), `await store("k", 1); return 2`)
			value(t, r, `2`)
			if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "it is not confirmed") {
				t.Fatalf("the warnings are %q", r.Warnings)
			}
			tell("commit", r.Warnings[0])
			value(t, committing.run(t.Context(), `return 1 + 1`), `2`)
		})
	}
}

// What a store gives need not be what was stored.
func TestSessionStoresThatGiveWrongData(t *testing.T) {
	t.Parallel()
	rt := sharedRuntime(t, codemode.Options{})
	good := map[string]store.SessionValue{"good": {JSON: json.RawMessage(`[1]`)}}
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "oops", "half": `{"a":`, "two": `1 2`, "more of the answer": `1],[2`, "an error": `null,"forged","TypeError"`,
		"deep": strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
	} {
		var kept store.SessionChange
		ex := keeping(t, rt, &storeFuncs{
			load: func(context.Context) (map[string]store.SessionValue, error) {
				values := maps.Clone(good)
				values["bad"], values["\xff"], values[""] = store.SessionValue{JSON: json.RawMessage(text)}, good["good"], good["good"]
				return values, nil
			},
			commit: func(_ context.Context, change store.SessionChange) error { kept = change; return nil },
		}, nil)
		r := ex.run(t.Context(), `
			const bad = await load("bad").catch((e) => e.message)
			await store("own", 1)
			return [/store another value there/.test(bad), await load("good"), await load("own"), await load("none") === undefined]`)
		value(t, r, `[true,[1],1,true]`)
		if len(kept.Set) != 1 || len(kept.Delete) > 0 {
			t.Errorf("%s: the change is %v", name, kept)
		}
		value(t, ex.run(t.Context(), `await store("bad", 7); return await load("bad")`), `7`)
		if string(kept.Set["bad"].JSON) != `7` || len(r.Warnings) > 0 {
			t.Errorf("%s: the change is %v, the warnings %q", name, kept, r.Warnings)
		}
	}
	for text, want := range map[string]string{
		" [ 1 , 1915883588174806058 ] ":             `[1,"1915883588174806058"]`, // not compact, but JSON
		`{"__proto__":1,"a":1,"a":2}`:               `{"__proto__":1,"a":2}`,
		`"` + strings.Repeat("x", 2_000_000) + `"`:  `2000000`, // more than could be stored
		`"` + strings.Repeat("x", 11_000_000) + `"`: `"refused"`,
		"\"a\xff\\ud83d\"":                          "\"a\ufffd\ufffd\"",
	} {
		ex := keeping(t, rt, &storeFuncs{load: func(context.Context) (map[string]store.SessionValue, error) {
			return map[string]store.SessionValue{"k": {JSON: json.RawMessage(text)}}, nil
		}}, nil)
		value(t, ex.run(t.Context(), `const v = await load("k").catch((e) => /more than the 10485760 bytes/.test(e.message) && "refused"); return v.length > 100 ? v.length : v`), want)
	}
}
