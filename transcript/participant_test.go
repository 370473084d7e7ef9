package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// native is a runtime with a binding for each session, by its key.
type native struct {
	tb      testing.TB
	name    string
	harness string // whose sessions it has, empty for all
	events  *events
	// at is called at each step, and may make it fail.
	at func(step, key string) error
	// with replaces the call of run.
	with func(ctx context.Context, m transcript.Mutation, run func(context.Context, transcript.Mutation) error) error

	mu       sync.Mutex
	bindings map[string]string
}

// events are the steps of all participants of a test, in order.
type events struct {
	mu  sync.Mutex
	all []string
}

func (e *events) add(parts ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, strings.Join(parts, " "))
}

func (e *events) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.all, ", ")
}

func newNative(tb testing.TB, events *events, name string, keys ...string) *native {
	n := &native{tb: tb, name: name, events: events, bindings: map[string]string{}}
	for _, key := range keys {
		n.bindings[key] = "thread of " + key
	}
	return n
}

func (n *native) HarnessID() string { return n.harness }

func (n *native) step(step, key string) error {
	n.events.add(n.name, step, key)
	if n.at == nil {
		return nil
	}
	return n.at(step, key)
}

func (n *native) keys() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(n.bindings)), " ")
}

func (n *native) WithSessionDeletion(ctx context.Context, d transcript.Deletion, run func(context.Context, transcript.Mutation) error) error {
	return n.prepare(ctx, d.Session.Key, d.Authority, run)
}

func (n *native) WithSessionContextReset(ctx context.Context, r transcript.ContextReset, run func(context.Context, transcript.Mutation) error) error {
	return n.prepare(ctx, r.Session.Key, r.Authority, run)
}

func (n *native) prepare(ctx context.Context, key string, authority func() error, run func(context.Context, transcript.Mutation) error) error {
	if err := errors.Join(n.step("prepare", key), authority()); err != nil {
		return err
	}
	m := &unbind{native: n, key: key}
	var err error
	if n.with != nil {
		err = n.with(ctx, m, run)
	} else {
		err = run(ctx, m)
	}
	m.closed.Store(true)
	return errors.Join(err, n.step("finish", key))
}

// unbind removes the binding of a session.
type unbind struct {
	native  *native
	key     string
	removed string
	closed  atomic.Bool
}

func (u *unbind) use(step string) error {
	if u.closed.Load() {
		u.native.tb.Errorf("%s of a mutation whose run has returned", step)
	}
	return u.native.step(step, u.key)
}

func (u *unbind) Commit() error {
	if err := u.use("commit"); err != nil {
		return err
	}
	u.native.mu.Lock()
	u.removed = u.native.bindings[u.key]
	delete(u.native.bindings, u.key)
	u.native.mu.Unlock()
	if u.native.at != nil {
		return u.native.at("committed", u.key)
	}
	return nil
}

func (u *unbind) Rollback() error {
	if err := u.use("rollback"); err != nil {
		return err
	}
	u.native.mu.Lock()
	defer u.native.mu.Unlock()
	if u.removed != "" {
		u.native.bindings[u.key] = u.removed
	}
	return nil
}

func (u *unbind) Settle(outcome transcript.Outcome) {
	if err := u.use("settle"); err != nil {
		panic(err)
	}
	u.native.events.add("=", outcome.String())
}

// failAt fails, or does something, at one step for one session.
func failAt(step, key string, f func() error) func(string, string) error {
	return func(s, k string) error {
		if s == step && k == key {
			return f()
		}
		return nil
	}
}

var errTest = errors.New("the test wants it")

func wanted() error { return errTest }

// TestParticipants deletes two sessions with two participants, one of which does what it should not.
func TestParticipants(t *testing.T) {
	t.Parallel()
	type runFunc = func(context.Context, transcript.Mutation) error
	for name, test := range map[string]struct {
		at        func(step, key string) error // of the second participant
		with      func(ctx context.Context, m transcript.Mutation, run runFunc) error
		err       error // nil if only its step matters
		doing     string
		committed bool
		lost      bool // the binding of the second participant for b is not brought back
	}{
		"prepare fails": {at: failAt("prepare", "b", wanted), err: errTest, doing: "prepare"},
		"prepare panics": {
			at:    failAt("prepare", "b", func() error { panic("oh") }),
			doing: "prepare",
		},
		"prepare ends the goroutine": {
			at:    failAt("prepare", "b", func() error { runtime.Goexit(); return nil }),
			doing: "prepare",
		},
		"run is never called": {
			with:  func(context.Context, transcript.Mutation, runFunc) error { return nil },
			doing: "prepare",
		},
		"run is called without a mutation": {
			with:  func(ctx context.Context, _ transcript.Mutation, run runFunc) error { return run(ctx, nil) },
			doing: "prepare",
		},
		"run is called without a context": {
			with: func(_ context.Context, m transcript.Mutation, run runFunc) error {
				var none context.Context
				return run(none, m)
			},
			doing: "prepare",
		},
		"run is called twice": {
			with: func(ctx context.Context, m transcript.Mutation, run runFunc) error {
				err := run(ctx, m)
				if again := run(ctx, m); again == nil {
					return errors.New("run can be called twice")
				}
				return err
			},
			doing: "prepare", committed: true,
		},
		"run is called with another context": {
			with:      func(_ context.Context, m transcript.Mutation, run runFunc) error { return run(context.Background(), m) },
			committed: true,
		},
		"run is called on another goroutine": {
			with: func(ctx context.Context, m transcript.Mutation, run runFunc) error {
				err := make(chan error)
				go func() { err <- run(ctx, m) }()
				return <-err
			},
			committed: true,
		},
		"the error of run is swallowed": {
			at: failAt("commit", "b", wanted),
			with: func(ctx context.Context, m transcript.Mutation, run runFunc) error {
				run(ctx, m)
				return nil
			},
			err: errTest, doing: "commit",
		},
		"run returns an error for another": {
			with: func(ctx context.Context, m transcript.Mutation, run runFunc) error {
				run(ctx, m)
				return errTest
			},
			err: errTest, doing: "finish", committed: true,
		},
		"commit fails before": {at: failAt("commit", "b", wanted), err: errTest, doing: "commit"},
		"commit fails after":  {at: failAt("committed", "b", wanted), err: errTest, doing: "commit"},
		"commit panics":       {at: failAt("committed", "b", func() error { panic("oh") }), doing: "commit"},
		"commit ends the goroutine": {
			at:    failAt("committed", "b", func() error { runtime.Goexit(); return nil }),
			doing: "commit",
		},
		"rollback fails": {
			at: func(step, key string) error {
				if key == "b" && (step == "committed" || step == "rollback") {
					return errTest
				}
				return nil
			},
			err: errTest, doing: "rollback", lost: true,
		},
		"rollback panics": {
			at: func(step, key string) error {
				if key == "b" && step == "rollback" {
					panic("oh")
				}
				return failAt("committed", "b", wanted)(step, key)
			},
			err: errTest, doing: "rollback", lost: true,
		},
		"rollback ends the goroutine": {
			at: func(step, key string) error {
				if key == "b" && step == "rollback" {
					runtime.Goexit()
				}
				return failAt("committed", "b", wanted)(step, key)
			},
			err: errTest, doing: "rollback", lost: true,
		},
		"settle ends the goroutine": {
			at:    failAt("settle", "b", func() error { runtime.Goexit(); return nil }),
			doing: "settle", committed: true,
		},
		"settle panics":    {at: failAt("settle", "b", wanted), doing: "settle", committed: true},
		"finishing fails":  {at: failAt("finish", "b", wanted), err: errTest, doing: "finish", committed: true},
		"finishing panics": {at: failAt("finish", "b", func() error { panic("oh") }), doing: "finish", committed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTwo(t)
			var events events
			first, second := newNative(t, &events, "1", "a", "b"), newNative(t, &events, "2", "a", "b")
			second.at, second.with = test.at, test.with
			result, err := s.DeleteSessions(t.Context(), []string{"b", "a"},
				&transcript.DeleteOptions{Participants: []transcript.Participant{first, second}})
			t.Log(events.String(), err)
			outcome, left := transcript.RolledBack, "a b"
			if test.committed {
				outcome, left = transcript.Committed, ""
			}
			if result.Outcome != outcome {
				t.Errorf("the outcome is %s", result.Outcome)
			}
			if got := sessions(t, s); got != left {
				t.Errorf("the sessions %q are left", got)
			}
			if got := first.keys(); got != left {
				t.Errorf("the first participant has bindings of %q", got)
			}
			if test.lost {
				left = "a"
			}
			if got := second.keys(); got != left {
				t.Errorf("the second participant has bindings of %q", got)
			}
			if (err != nil) != (test.doing != "") || test.err != nil && !errors.Is(err, test.err) {
				t.Fatalf("the error is %v", err)
			}
			if test.doing != "" && !slices.ContainsFunc(participantErrors(err), func(e *transcript.ParticipantError) bool {
				return e.Doing == test.doing && e.Outcome == outcome
			}) {
				t.Errorf("no error of the step %s: %v", test.doing, err)
			}
			sound(t, s)
			// Nothing is left that would be in the way.
			if _, err := s.DeleteSessions(t.Context(), []string{"a", "b"}, nil); err != nil || sessions(t, s) != "" {
				t.Errorf("deleting again: %v", err)
			}
		})
	}
}

// participantErrors are all that are in an error.
func participantErrors(err error) (all []*transcript.ParticipantError) {
	switch e := err.(type) {
	case *transcript.ParticipantError:
		all = append(all, e)
	case interface{ Unwrap() error }:
		all = participantErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			all = append(all, participantErrors(err)...)
		}
	}
	return all
}

// newTwo is a store with the sessions a and b, which have something in each table.
func newTwo(tb testing.TB) *transcript.Store {
	tb.Helper()
	s := open(tb, newPath(tb), fast)
	for _, key := range []string{"a", "b"} {
		fillSession(tb, s, key)
	}
	return s
}

// sessions are the keys of the sessions of a store.
func sessions(tb testing.TB, s *transcript.Store) string {
	tb.Helper()
	var keys []string
	for info, err := range s.Sessions(context.Background()) {
		if err != nil {
			tb.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// TestOrderOfDeletion looks at each step of a deletion of two sessions with two participants and one of another runtime.
func TestOrderOfDeletion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fail string
		want string
	}{
		"committed": {"", "1 prepare a, 2 prepare a, 1 prepare b, 2 prepare b, 1 commit a, 2 commit a, 1 commit b, 2 commit b, " +
			"2 settle b, = committed, 1 settle b, = committed, 2 settle a, = committed, 1 settle a, = committed, " +
			"2 finish b, 1 finish b, 2 finish a, 1 finish a"},
		"rolled back": {"committed", "1 prepare a, 2 prepare a, 1 prepare b, 2 prepare b, 1 commit a, 2 commit a, 1 commit b, 2 commit b, " +
			"2 rollback b, 1 rollback b, 2 rollback a, 1 rollback a, " +
			"2 settle b, = rolled back, 1 settle b, = rolled back, 2 settle a, = rolled back, 1 settle a, = rolled back, " +
			"2 finish b, 1 finish b, 2 finish a, 1 finish a"},
		"not prepared": {"prepare", "1 prepare a, 2 prepare a, 1 prepare b, 2 prepare b, " +
			"1 settle b, = rolled back, 2 settle a, = rolled back, 1 settle a, = rolled back, " +
			"1 finish b, 2 finish a, 1 finish a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTwo(t)
			var events events
			first, second, other := newNative(t, &events, "1"), newNative(t, &events, "2"), newNative(t, &events, "other")
			first.harness, second.harness, other.harness = "", "loop", "another"
			second.at = failAt(test.fail, "b", wanted)
			_, err := s.DeleteSessions(t.Context(), []string{"b", "a", "b", "no such"}, &transcript.DeleteOptions{
				Participants: []transcript.Participant{first, other, second}})
			if errors.Is(err, errTest) != (test.fail != "") {
				t.Error(err)
			}
			if got := events.String(); got != test.want {
				t.Errorf("the steps are\n%s, not\n%s", got, test.want)
			}
			if n := strings.Count(fmt.Sprint(err), errTest.Error()); test.fail != "" && n != 1 {
				t.Errorf("the cause is told %d times: %v", n, err)
			}
		})
	}
}
