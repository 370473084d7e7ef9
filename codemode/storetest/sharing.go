package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
)

func separateSessions(ctx context.Context, s codemode.SessionStore) error {
	sessions := []string{" ", "a", "A", "a ", "a\x00", "a/b", "a:b", "%", "_", "é", "e\u0301", "__proto__"}
	for i, session := range sessions {
		if err := mustCommit(ctx, s, session, values{"k": fmt.Sprint(i), "gone": "1"}); err != nil {
			return err
		}
	}
	if err := mustCommit(ctx, s, "full", full()); err != nil { // takes no room from the others
		return err
	}
	for i, session := range sessions {
		if err := steps(
			func() error { return holds(ctx, s, session, values{"k": fmt.Sprint(i), "gone": "1"}) },
			func() error {
				return mustCommit(ctx, s, session, values{"large": textOf(store.MaxSessionValueBytes)}, "gone")
			},
			func() error { return mustCommit(ctx, s, session, nil, "large") },
			func() error { return holds(ctx, s, session, values{"k": fmt.Sprint(i)}) },
		); err != nil {
			return err
		}
	}
	return steps(
		func() error { return holds(ctx, s, "full", full()) },
		func() error { return holds(ctx, s, "another", nil) },
	)
}

func detachedChange(ctx context.Context, s codemode.SessionStore) error {
	text := json.RawMessage(`"original"`)
	change := store.SessionChange{Set: map[string]store.SessionValue{"k": {JSON: text}}, Delete: []string{"gone"}}
	if err := steps(
		func() error { return mustCommit(ctx, s, "s", values{"gone": "1", "stays": "2"}) },
		func() error { return s.CommitSession(ctx, "s", change) },
	); err != nil {
		return err
	}
	if string(text) != `"original"` || len(change.Set) != 1 || len(change.Delete) != 1 || change.Delete[0] != "gone" {
		return errors.New("CommitSession has altered the change that it was given")
	}
	copy(text, `"tampered"`)
	change.Set["more"] = store.SessionValue{JSON: json.RawMessage("3")}
	change.Delete[0] = "stays"
	return holds(ctx, s, "s", values{"k": `"original"`, "stays": "2"})
}

func detachedLoad(ctx context.Context, s codemode.SessionStore) error {
	if err := mustCommit(ctx, s, "s", values{"k": `"original"`, "stays": "2"}); err != nil {
		return err
	}
	for range 2 { // the second may come from a cache
		loaded, err := s.LoadSession(ctx, "s")
		if err != nil {
			return err
		}
		copy(loaded["k"].JSON, `"tampered"`)
		delete(loaded, "stays")
		loaded["more"] = store.SessionValue{JSON: json.RawMessage("3")}
		if err := holds(ctx, s, "s", values{"k": `"original"`, "stays": "2"}); err != nil {
			return err
		}
	}
	return nil
}

// parallel runs n functions at once and joins their errors.
func parallel(n int, run func(i int) error) error {
	var group sync.WaitGroup
	start := make(chan struct{})
	errs := make([]error, n)
	for i := range n {
		group.Go(func() {
			<-start
			errs[i] = run(i)
		})
	}
	close(start)
	group.Wait()
	return errors.Join(errs...)
}

func parallelCommits(ctx context.Context, s codemode.SessionStore) error {
	const writers, commits = 8, 10
	sessions := []string{"s", "t"}
	err := parallel(writers, func(w int) error {
		for i := range commits {
			key := fmt.Sprint(w, "-", i)
			if err := mustCommit(ctx, s, sessions[w%2], values{key: fmt.Sprint(i), fmt.Sprint("last", w): fmt.Sprint(i)}, fmt.Sprint(w, "-", i-5)); err != nil {
				return err
			}
			if loaded, err := s.LoadSession(ctx, sessions[w%2]); err != nil || string(loaded[key].JSON) != fmt.Sprint(i) {
				return fmt.Errorf("a value just committed loads as %.40q, %v", loaded[key].JSON, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	want := map[string]values{"s": {}, "t": {}}
	for w := range writers {
		session := want[sessions[w%2]]
		session[fmt.Sprint("last", w)] = fmt.Sprint(commits - 1)
		for i := commits - 5; i < commits; i++ {
			session[fmt.Sprint(w, "-", i)] = fmt.Sprint(i)
		}
	}
	return errors.Join(holds(ctx, s, "s", want["s"]), holds(ctx, s, "t", want["t"]))
}

func parallelLimit(ctx context.Context, s codemode.SessionStore) error {
	const room = store.MaxSessionBytes / store.MaxSessionValueBytes
	var mu sync.Mutex
	want := values{}
	err := parallel(3*room, func(w int) error {
		set := values{fmt.Sprint(w): textOf(store.MaxSessionValueBytes)}
		switch err := commit(ctx, s, "s", set); {
		case err == nil:
			mu.Lock()
			defer mu.Unlock()
			want[fmt.Sprint(w)] = textOf(store.MaxSessionValueBytes)
			return nil
		case errors.Is(err, store.ErrSessionFull):
			return nil
		default:
			return err
		}
	})
	if err == nil && len(want) != room {
		err = fmt.Errorf("%d parallel commits were accepted, where there is room for %d", len(want), room)
	}
	return errors.Join(err, holds(ctx, s, "s", want))
}

func wholeChanges(ctx context.Context, s codemode.SessionStore) error {
	const keys, commits = 20, 40
	// Each change replaces all values by as many under other keys.
	change := func(n int) error {
		set, old := values{}, []string(nil)
		for k := range keys {
			set[fmt.Sprintf("%d-%d", n%2, k)] = fmt.Sprint(n)
			old = append(old, fmt.Sprintf("%d-%d", 1-n%2, k))
		}
		return mustCommit(ctx, s, "s", set, old...)
	}
	if err := change(0); err != nil {
		return err
	}
	var done atomic.Bool
	return parallel(3, func(i int) error {
		if i == 0 {
			defer done.Store(true)
			for n := range commits {
				if err := change(n + 1); err != nil {
					return err
				}
			}
			return nil
		}
		for !done.Load() {
			loaded, err := s.LoadSession(ctx, "s")
			if err != nil {
				return err
			}
			if len(loaded) != keys {
				return fmt.Errorf("a load during a commit sees %d of %d keys", len(loaded), keys)
			}
			first := ""
			for _, value := range loaded {
				if first == "" {
					first = string(value.JSON)
				}
				if string(value.JSON) != first {
					return fmt.Errorf("a load during a commit sees values of two changes, %s and %s", first, value.JSON)
				}
			}
		}
		return nil
	})
}

func doneContext(ctx context.Context, s codemode.SessionStore) error {
	if err := mustCommit(ctx, s, "s", values{"k": "1", "gone": "2"}); err != nil {
		return err
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := commit(done, s, "s", values{"k": "3", "new": "4"}, "gone"); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("CommitSession with a cancelled context gives the error %v, not the context's", err)
	}
	if _, err := s.LoadSession(done, "s"); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("LoadSession with a cancelled context gives the error %v, not the context's", err)
	}
	return steps(
		func() error { return holds(ctx, s, "s", values{"k": "1", "gone": "2"}) },
		func() error { return mustCommit(ctx, s, "s", values{"k": "5"}) }, // and it works again
		func() error { return holds(ctx, s, "s", values{"k": "5", "gone": "2"}) },
	)
}
