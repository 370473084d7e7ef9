// Package storetest tests implementations of the stores that codemode asks a host for.
//
//	func TestStore(t *testing.T) {
//		storetest.TestSessionStore(t, func(t *testing.T) codemode.SessionStore {
//			return openMyStore(t, t.TempDir()) // empty, closed by t.Cleanup
//		})
//		storetest.TestCellStore(t, func(t *testing.T) codemode.CellStore {
//			return openMyStore(t, t.TempDir())
//		})
//	}
//
// # What is tested
//
// Every sentence of [codemode.SessionStore] and [codemode.CellStore] that can be seen from outside is a rule with a test of
// its own. Of sessions: values and keys byte for byte, limits to the byte, changes whole or not at all, sessions apart
// from each other, parallel commits of which none is lost. Of cells: ids, data and replies byte for byte, leases that one
// caller has at a time, writes that are refused when the lease is lost, expiry with and without a lease. Of both: nothing
// shared between the store and its callers, contexts. The package's own tests hold each rule against a store that
// breaks it.
//
// What only an implementation knows is for its own tests: that values outlast the process, and what a damaged file says.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
)

// TestSessionStore runs one parallel subtest for each rule that a session store keeps. open gives an empty store to each;
// what closes it is registered there with t.Cleanup. Some rules fill a session to its limits, of bytes and of keys.
func TestSessionStore(t *testing.T, open func(t *testing.T) codemode.SessionStore) {
	hold(t, sessionRules, open)
}

func hold[S any](t *testing.T, rules []rule[S], open func(t *testing.T) S) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if err := r.check(t.Context(), open(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A rule checks an empty store and returns what is wrong. It does not take a *testing.T, so that the tests of this package
// can see it fail.
type rule[S any] struct {
	name  string
	check func(context.Context, S) error
}

var sessionRules = []rule[codemode.SessionStore]{
	{"an unknown session is empty", emptySession},
	{"values are set, replaced and deleted", setReplaceDelete},
	{"the network mark stays with its value", networkMark},
	{"values are kept byte for byte", exactValues},
	{"keys are kept unit for unit", exactKeys},
	{"bad keys are refused", badKeys},
	{"bad values are refused", badValues},
	{"a value has a limit", valueLimit},
	{"a session has a limit", sessionLimit},
	{"the number of keys has a limit", keyLimit},
	{"a change that does not fit changes nothing", atomicChange},
	{"what a change deletes makes room for what it sets", deletedMakesRoom},
	{"the order of changes to different keys does not matter", anyOrder},
	{"sessions are apart", separateSessions},
	{"what is committed is detached from the change", detachedChange},
	{"what is loaded is detached from the store", detachedLoad},
	{"parallel commits are all kept", parallelCommits},
	{"parallel commits keep the limit", parallelLimit},
	{"a load never sees half a change", wholeChanges},
	{"a done context changes nothing", doneContext},
}

// values are the texts of a session by their keys.
type values = map[string]string

// commit sets and deletes values without a network mark.
func commit(ctx context.Context, s codemode.SessionStore, session string, set values, deleted ...string) error {
	change := store.SessionChange{Delete: deleted}
	for key, text := range set {
		if change.Set == nil {
			change.Set = map[string]store.SessionValue{}
		}
		change.Set[key] = store.SessionValue{JSON: json.RawMessage(text)}
	}
	return s.CommitSession(ctx, session, change)
}

// mustCommit is commit where it has to work.
func mustCommit(ctx context.Context, s codemode.SessionStore, session string, set values, deleted ...string) error {
	if err := commit(ctx, s, session, set, deleted...); err != nil {
		return fmt.Errorf("CommitSession(%q) of %d values and %d deletions: %w", session, len(set), len(deleted), err)
	}
	return nil
}

// mustRefuse is commit where it has to fail with an error that is want.
func mustRefuse(ctx context.Context, s codemode.SessionStore, what string, want error, set values, deleted ...string) error {
	if err := commit(ctx, s, "s", set, deleted...); !errors.Is(err, want) {
		return fmt.Errorf("CommitSession of %s gives the error %v, not one that is %q", what, err, want)
	}
	return nil
}

// holds checks that a session has these values and no others.
func holds(ctx context.Context, s codemode.SessionStore, session string, want values) error {
	loaded, err := s.LoadSession(ctx, session)
	if err != nil {
		return fmt.Errorf("LoadSession(%q): %w", session, err)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got, ok := loaded[key]; !ok {
			return fmt.Errorf("session %q has lost the key %.40q; it has %d keys", session, key, len(loaded))
		} else if string(got.JSON) != want[key] {
			return fmt.Errorf("session %q has at %.40q the value %.80s (%d bytes), not %.80s (%d bytes)",
				session, key, got.JSON, len(got.JSON), want[key], len(want[key]))
		} else if got.Network {
			return fmt.Errorf("session %q has a network mark at %.40q, which was stored without", session, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(loaded)) {
		if _, ok := want[key]; !ok {
			return fmt.Errorf("session %q has the key %.40q with the value %.80s, and should not", session, key, loaded[key].JSON)
		}
	}
	return nil
}

// steps runs checks up to the first that fails.
func steps(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}
