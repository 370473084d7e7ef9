package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
)

// textOf is a JSON string of so many bytes.
func textOf(size int) string {
	return `"` + strings.Repeat("x", size-2) + `"`
}

// full are values that fill a session to the byte, a to d.
func full() values {
	set := values{}
	for _, key := range []string{"a", "b", "c", "d"} {
		set[key] = textOf(store.MaxSessionBytes / 4)
	}
	return set
}

func valueLimit(ctx context.Context, s codemode.SessionStore) error {
	largest := textOf(store.MaxSessionValueBytes)
	accented := `"` + strings.Repeat("é", store.MaxSessionValueBytes/2) + `"` // in range if characters were counted
	refuse := func(what, text string) func() error {
		return func() error {
			err := commit(ctx, s, "s", values{"k": text, "other": "1"})
			if !errors.Is(err, store.ErrSessionRange) || errors.Is(err, store.ErrSessionFull) {
				return fmt.Errorf("CommitSession of %s gives the error %v, not one that is ErrSessionRange and not ErrSessionFull", what, err)
			}
			return holds(ctx, s, "s", values{"k": largest})
		}
	}
	return steps(
		func() error { return mustCommit(ctx, s, "s", values{"k": largest}) },
		func() error { return holds(ctx, s, "s", values{"k": largest}) },
		refuse("a value one byte too large", textOf(store.MaxSessionValueBytes+1)),
		refuse("a value of too many bytes in fewer characters", accented),
	)
}

func sessionLimit(ctx context.Context, s codemode.SessionStore) error {
	want := full()
	longest := strings.Repeat("日", store.MaxSessionKeyUnits)
	return steps(
		func() error { return mustCommit(ctx, s, "s", want) },
		func() error { return holds(ctx, s, "s", want) },
		func() error {
			return mustRefuse(ctx, s, "one more byte", store.ErrSessionFull, values{"e": "1"})
		},
		func() error {
			if !errors.Is(commit(ctx, s, "s", values{"e": "1"}), store.ErrSessionRange) {
				return errors.New("the error of a full session is not ErrSessionRange")
			}
			return holds(ctx, s, "s", want)
		},
		// A value that is replaced does not count.
		func() error { return mustCommit(ctx, s, "s", values{"a": strings.ReplaceAll(want["a"], "x", "y")}) },
		func() error {
			return mustCommit(ctx, s, "s", values{"a": textOf(store.MaxSessionBytes/4 - 3)})
		},
		// Keys do not count: three bytes are left, for a value of one and one of two.
		func() error { return mustCommit(ctx, s, "s", values{longest: "1", "e": "10"}) },
		func() error {
			return mustRefuse(ctx, s, "one more byte in a value there is", store.ErrSessionFull, values{"e": "100"})
		},
		func() error {
			want["a"], want[longest], want["e"] = textOf(store.MaxSessionBytes/4-3), "1", "10"
			return holds(ctx, s, "s", want)
		},
	)
}

func keyLimit(ctx context.Context, s codemode.SessionStore) error {
	all := make(values, store.MaxSessionKeys)
	for i := range store.MaxSessionKeys {
		all[fmt.Sprint("k", i)] = "1"
	}
	return steps(
		func() error { return mustCommit(ctx, s, "s", all) },
		func() error { return mustRefuse(ctx, s, "one key more", store.ErrSessionFull, values{"more": "1"}) },
		func() error {
			delete(all, "k0")
			all["k1"], all["more"] = "2", "1"
			return mustCommit(ctx, s, "s", values{"k1": "2", "more": "1"}, "k0")
		},
		func() error { return holds(ctx, s, "s", all) },
	)
}

func atomicChange(ctx context.Context, s codemode.SessionStore) error {
	want := full()
	delete(want, "d")
	want["gone"], want["small"] = "1", "2"
	change := values{"small": "3", "z": "4"} // fit by themselves
	for _, key := range []string{"d", "e"} { // do not, whichever is the last
		change[key] = textOf(store.MaxSessionValueBytes)
	}
	return steps(
		func() error { return mustCommit(ctx, s, "s", want) },
		func() error {
			return mustRefuse(ctx, s, "more than fits", store.ErrSessionFull, change, "gone", "missing")
		},
		func() error { return holds(ctx, s, "s", want) },
	)
}

func deletedMakesRoom(ctx context.Context, s codemode.SessionStore) error {
	want := full()
	for range 8 { // whatever the order in which an implementation goes through a map
		if err := steps(
			func() error { return mustCommit(ctx, s, "s", want) },
			func() error {
				return mustCommit(ctx, s, "s", values{"e": textOf(store.MaxSessionValueBytes), "b": "1"}, "a", "a", "missing")
			},
			// Three quarters and one byte are taken. A key that is deleted twice makes room once.
			func() error {
				return mustRefuse(ctx, s, "a value too many", store.ErrSessionFull,
					values{"f": textOf(store.MaxSessionValueBytes), "g": textOf(store.MaxSessionValueBytes)}, "c", "c")
			},
			func() error {
				return holds(ctx, s, "s", values{"e": want["a"], "b": "1", "c": want["c"], "d": want["d"]})
			},
			func() error { return mustCommit(ctx, s, "s", nil, "e") },
		); err != nil {
			return err
		}
	}
	return nil
}

func anyOrder(ctx context.Context, s codemode.SessionStore) error {
	start := values{"a": "1", "b": "2", "c": "3"}
	changes := []func(session string) error{
		func(session string) error { return mustCommit(ctx, s, session, values{"a": `"new"`, "d": "4"}) },
		func(session string) error { return mustCommit(ctx, s, session, values{"e": "5"}, "b") },
		func(session string) error { return mustCommit(ctx, s, session, nil, "c", "missing") },
	}
	want := values{"a": `"new"`, "d": "4", "e": "5"}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		session := fmt.Sprint(order)
		if err := mustCommit(ctx, s, session, maps.Clone(start)); err != nil {
			return err
		}
		for _, i := range order {
			if err := changes[i](session); err != nil {
				return err
			}
		}
		if err := holds(ctx, s, session, want); err != nil {
			return err
		}
	}
	return nil
}
