package transcript_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

// fillSession makes a session that has something in each table.
func fillSession(tb testing.TB, s *transcript.Store, key string) *transcript.Session {
	tb.Helper()
	ctx := context.Background()
	session, err := s.OpenSession(ctx, key, &transcript.SessionOptions{HarnessID: "loop"})
	if err != nil {
		tb.Fatal(err)
	}
	keyed := transcript.UserText("the text of " + key)
	keyed.IdempotencyKey = "k"
	if _, err := session.Append(ctx, keyed, nil); err != nil {
		tb.Fatal(err)
	}
	for i := range 40 { // so many that the values are kept beside the entries
		change := store.SessionChange{Set: map[string]store.SessionValue{"n": {JSON: []byte(fmt.Sprint(i))}}}
		if err := s.CommitSession(ctx, key, change); err != nil {
			tb.Fatal(err)
		}
	}
	cell := newCell("cell of " + key)
	cell.SessionID = key
	cell.Replies = []store.Reply{{Call: 1}}
	if err := s.SaveCell(ctx, cell); err != nil {
		tb.Fatal(err)
	}
	if err := s.Index(ctx); err != nil { // or it would be done while the test counts rows
		tb.Fatal(err)
	}
	return session
}

// rows counts the rows of each table.
func rows(tb testing.TB, s *transcript.Store) map[string]int {
	tb.Helper()
	ctx := context.Background()
	names, err := s.DB().QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('search_data', 'search_idx', 'sqlite_sequence')")
	if err != nil {
		tb.Fatal(err)
	}
	counts := map[string]int{}
	for names.Next() {
		var name string
		if err := names.Scan(&name); err != nil {
			tb.Fatal(err)
		}
		counts[name] = 0
	}
	if err := errors.Join(names.Err(), names.Close()); err != nil {
		tb.Fatal(err)
	}
	for name := range counts {
		var n int
		if err := s.DB().QueryRowContext(ctx, "SELECT count(*) FROM "+name).Scan(&n); err != nil {
			tb.Fatal(err)
		}
		counts[name] = n
	}
	return counts
}

// same fails the test if tables have other numbers of rows.
func same(tb testing.TB, got, want map[string]int) {
	tb.Helper()
	for name := range want {
		if got[name] != want[name] {
			tb.Errorf("the table %s has %d rows, not %d", name, got[name], want[name])
		}
	}
}

func TestDeleteSessions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, newPath(t), fast)
	empty := rows(t, s)
	stays := fillSession(t, s, "stays")
	one := rows(t, s)
	for _, table := range []string{"sessions", "entries", "entry_keys", "entry_values", "cells", "cell_data", "cell_replies"} {
		if one[table] == 0 {
			t.Errorf("the test has nothing in the table %s", table)
		}
	}
	gone := fillSession(t, s, "goes")
	result, err := s.DeleteSessions(ctx, []string{"no such", "goes"}, nil)
	if err != nil || result.Outcome != transcript.Committed || len(result.Sessions) != 1 || result.Sessions[0].ID != gone.ID() {
		t.Fatalf("%+v, %v", result, err)
	}
	same(t, rows(t, s), one)
	sound(t, s)
	if _, err := gone.Append(ctx, transcript.UserText("late"), nil); !errors.Is(err, transcript.ErrSessionGone) {
		t.Errorf("a late append: %v", err)
	}
	if _, err := s.FindSession(ctx, "goes"); !errors.Is(err, transcript.ErrUnknownSession) {
		t.Errorf("FindSession: %v", err)
	}
	// One that takes its key, and its row, has nothing to do with it.
	if again := fillSession(t, s, "goes"); again.ID() == gone.ID() {
		t.Error("the id is used again")
	}
	if _, err := gone.Info(ctx); !errors.Is(err, transcript.ErrSessionGone) {
		t.Errorf("the handle of a session with a successor: %v", err)
	}
	for _, err := range gone.Entries(ctx) {
		if !errors.Is(err, transcript.ErrSessionGone) {
			t.Errorf("reading a session with a successor: %v", err)
		}
	}
	if _, err := stays.Info(ctx); err != nil {
		t.Error(err)
	}
	if _, err := s.DeleteSessions(ctx, []string{"goes", "stays"}, nil); err != nil {
		t.Fatal(err)
	}
	same(t, rows(t, s), empty)
	if result, err := s.DeleteSessions(ctx, nil, nil); err != nil || result.Outcome != transcript.Committed || result.Sessions != nil {
		t.Errorf("deleting nothing: %+v, %v", result, err)
	}
	if _, err := s.DeleteSessions(ctx, []string{""}, nil); !errors.Is(err, transcript.ErrInvalidEntry) {
		t.Errorf("an empty key: %v", err)
	}
}

// TestDeletionWithFaults lets each statement of a deletion fail, and COMMIT.
func TestDeletionWithFaults(t *testing.T) {
	t.Parallel()
	trigger := func(table, does string) func(*testing.T, *transcript.Store) {
		return func(t *testing.T, s *transcript.Store) {
			execute(t, s.DB(), fmt.Sprintf("CREATE TRIGGER fault BEFORE DELETE ON %s BEGIN %s; END", table, does))
		}
	}
	type check struct {
		fault   func(*testing.T, *transcript.Store)
		outcome transcript.Outcome
		err     error // nil for any
		commits bool  // that participants were asked to commit
	}
	tests := map[string]check{
		"COMMIT fails before it has taken effect": {
			func(_ *testing.T, s *transcript.Store) { s.ReplaceCommit("ROLLBACK; COMMIT") }, transcript.RolledBack, nil, true},
		"COMMIT fails after it has taken effect": {
			func(_ *testing.T, s *transcript.Store) { s.ReplaceCommit("COMMIT; COMMIT") }, transcript.Committed, nil, true},
		"COMMIT fails, and nobody can look": {
			func(_ *testing.T, s *transcript.Store) { s.ReplaceCommit("COMMIT; COMMIT") },
			transcript.UnknownOutcome, transcript.ErrUnknownOutcome, true},
		"the disk is full": {
			func(t *testing.T, s *transcript.Store) {
				execute(t, s.DB(), "CREATE TABLE room (data BLOB)")
				trigger("sessions", "INSERT INTO room VALUES (zeroblob(1000000))")(t, s)
				execute(t, s.DB(), "PRAGMA max_page_count = 60")
			}, transcript.RolledBack, transcript.ErrFull, true},
	}
	for _, table := range []string{"sessions", "entries", "entry_keys", "entry_values", "cells", "cell_data", "cell_replies"} {
		tests["row of "+table] = check{trigger(table, "SELECT RAISE(ABORT, 'the test wants it')"), transcript.RolledBack, nil, true}
		tests["last row of "+table] = check{ // when the first session is deleted already
			trigger(table, "SELECT RAISE(ABORT, 'the test wants it') FROM (SELECT count(*) AS n FROM sessions) WHERE n = 1"),
			transcript.RolledBack, nil, true}
	}
	for name, query := range transcript.DeletionQueries {
		tests["statement "+name] = check{
			func(_ *testing.T, s *transcript.Store) { s.BreakStatement(query) }, transcript.RolledBack, nil,
			name != "begin" && name != "check"}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path, fast)
			fillSession(t, s, "a")
			fillSession(t, s, "b")
			test.fault(t, s)
			before := rows(t, s)
			var events events
			n := newNative(t, &events, "n", "a", "b")
			if test.outcome == transcript.UnknownOutcome {
				n.at = failAt("committed", "b", s.BreakLook)
			}
			result, err := s.DeleteSessions(t.Context(), []string{"a", "b"}, &transcript.DeleteOptions{Participants: []transcript.Participant{n}})
			t.Log(events.String(), err)
			if result.Outcome != test.outcome || (err == nil) != (test.outcome == transcript.Committed) || test.err != nil && !errors.Is(err, test.err) {
				t.Fatalf("%s, %v", result.Outcome, err)
			}
			left := ""
			if test.outcome == transcript.RolledBack {
				left = "a b"
				same(t, rows(t, s), before)
			}
			if got := n.keys(); got != left {
				t.Errorf("bindings of %q are left", got)
			}
			if commits := len(result.Sessions) > 0 || contains(events.String(), "commit"); commits != test.commits {
				t.Errorf("the steps are %s", events.String())
			}
			if test.outcome != transcript.RolledBack && contains(events.String(), "rollback") {
				t.Error("there was a rollback")
			}
			if !contains(events.String(), "= "+test.outcome.String()) {
				t.Error("the participant was not told the outcome")
			}
			again := open(t, path, fast)
			if got := sessions(t, again); got != left {
				t.Errorf("the sessions %q are left", got)
			}
			sound(t, again)
		})
	}
}

func contains(events, step string) bool { return strings.Contains(events, step) }

func execute(tb testing.TB, db *sql.Conn, query string) {
	tb.Helper()
	if _, err := db.ExecContext(context.Background(), query); err != nil {
		tb.Fatal(err)
	}
}

// TestDeletionMeetsOthers changes a session while its deletion is being prepared.
func TestDeletionMeetsOthers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do   func(ctx context.Context, other *transcript.Store, session *transcript.Session) error
		err  error // nil if it goes on
		left string
	}{
		"append": {func(ctx context.Context, _ *transcript.Store, session *transcript.Session) error {
			_, err := session.Append(ctx, transcript.UserText("more"), nil)
			return err
		}, nil, ""},
		"reset": {func(ctx context.Context, _ *transcript.Store, session *transcript.Session) error {
			_, err := session.Reset(ctx, nil)
			return err
		}, transcript.ErrConflict, "a b"},
		"rotate": {func(ctx context.Context, _ *transcript.Store, session *transcript.Session) error {
			_, err := session.Rotate(ctx)
			return err
		}, transcript.ErrConflict, "a b"},
		"delete": {func(ctx context.Context, other *transcript.Store, _ *transcript.Session) error {
			_, err := other.DeleteSessions(ctx, []string{"b"}, nil)
			return err
		}, transcript.ErrConflict, "a"},
		"delete and make anew": {func(ctx context.Context, other *transcript.Store, _ *transcript.Session) error {
			_, err := other.DeleteSessions(ctx, []string{"b"}, nil)
			if err == nil {
				_, err = other.OpenSession(ctx, "b", nil)
			}
			return err
		}, transcript.ErrConflict, "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s, other := open(t, path, fast), open(t, path, fast)
			fillSession(t, s, "a")
			fillSession(t, s, "b")
			foreign, err := other.FindSession(t.Context(), "b")
			if err != nil {
				t.Fatal(err)
			}
			var events events
			n := newNative(t, &events, "n", "a", "b")
			n.at = failAt("prepare", "b", func() error { return test.do(t.Context(), other, foreign) })
			result, err := s.DeleteSessions(t.Context(), []string{"a", "b"}, &transcript.DeleteOptions{Participants: []transcript.Participant{n}})
			if !errors.Is(err, test.err) || (result.Outcome == transcript.Committed) != (test.err == nil) {
				t.Errorf("%s, %v", result.Outcome, err)
			}
			if got := sessions(t, s); got != test.left {
				t.Errorf("the sessions %q are left", got)
			}
			bindings := "a b"
			if test.err == nil {
				bindings = ""
			}
			if got := n.keys(); got != bindings {
				t.Errorf("bindings of %q are left", got)
			}
		})
	}
}

// TestAuthorityOfDeletion ends the authority at each time when it is asked.
func TestAuthorityOfDeletion(t *testing.T) {
	t.Parallel()
	for ends := 1; ; ends++ {
		s := newTwo(t)
		var events events
		n := newNative(t, &events, "n", "a", "b")
		asked := 0
		result, err := s.DeleteSessions(t.Context(), []string{"a", "b"}, &transcript.DeleteOptions{
			Participants: []transcript.Participant{n},
			Authority: func() error { // asked by one goroutine after the other
				if asked++; asked >= ends {
					return errTest
				}
				return nil
			},
		})
		if err == nil {
			if result.Outcome != transcript.Committed || sessions(t, s) != "" || n.keys() != "" {
				t.Errorf("%s: the sessions %q and bindings of %q are left", result.Outcome, sessions(t, s), n.keys())
			}
			if ends < 8 { // before each prepare and in it, before each commit, and at the end
				t.Errorf("the authority was asked %d times", ends-1)
			}
			return
		}
		if !errors.Is(err, errTest) || result.Outcome != transcript.RolledBack || sessions(t, s) != "a b" || n.keys() != "a b" {
			t.Errorf("the authority has ended when it was asked for the %dth time: %s, %v; sessions %q, bindings of %q",
				ends, result.Outcome, err, sessions(t, s), n.keys())
		}
		if ends > 100 {
			t.Fatal("the authority is asked without end")
		}
	}
}

// TestAuthorityPanics has the authority panic each time when it is asked.
func TestAuthorityPanics(t *testing.T) {
	t.Parallel()
	for ends := 1; ends < 8; ends++ {
		s := newTwo(t)
		var events events
		n := newNative(t, &events, "n", "a", "b")
		asked := 0
		opts := &transcript.DeleteOptions{Participants: []transcript.Participant{n}, Authority: func() error {
			if asked++; asked == ends {
				panic("oh")
			}
			return nil
		}}
		deletion := func() (err error) {
			defer func() {
				if cause := recover(); cause != nil {
					err = errTest // it was asked on the goroutine of who deletes
				}
			}()
			_, err = s.DeleteSessions(t.Context(), []string{"a", "b"}, opts)
			return err
		}
		if err := deletion(); err == nil || sessions(t, s) != "a b" || n.keys() != "a b" {
			t.Errorf("when asked for the %dth time: %v; sessions %q, bindings of %q", ends, err, sessions(t, s), n.keys())
		}
		if err := deletion(); err != nil || sessions(t, s) != "" || n.keys() != "" {
			t.Errorf("later: %v; sessions %q, bindings of %q", err, sessions(t, s), n.keys())
		}
	}
}

// TestDeletionIsCancelled ends the context at each step.
func TestDeletionIsCancelled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		step      string
		committed bool
	}{{"prepare", false}, {"commit", true}, {"committed", true}, {"settle", true}, {"finish", true}} {
		t.Run(test.step, func(t *testing.T) {
			t.Parallel()
			s := newTwo(t)
			ctx, cancel := context.WithCancel(t.Context())
			var events events
			n := newNative(t, &events, "n", "a", "b")
			n.at = failAt(test.step, "b", func() error { cancel(); return nil })
			result, err := s.DeleteSessions(ctx, []string{"a", "b"}, &transcript.DeleteOptions{Participants: []transcript.Participant{n}})
			left := "a b"
			if test.committed {
				left = ""
			}
			if (err == nil) != test.committed || err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if (result.Outcome == transcript.Committed) != test.committed || sessions(t, s) != left || n.keys() != left {
				t.Errorf("%s: the sessions %q and bindings of %q are left", result.Outcome, sessions(t, s), n.keys())
			}
		})
	}
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		s := newTwo(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.DeleteSessions(ctx, []string{"a"}, nil); !errors.Is(err, context.Canceled) || sessions(t, s) != "a b" {
			t.Errorf("%v, sessions %q", err, sessions(t, s))
		}
	})
}

// TestDeletionWaitsForTheWriter keeps the database locked, as another process would.
func TestDeletionWaitsForTheWriter(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, &transcript.Options{BusyTimeout: 50 * time.Millisecond})
	patient, other := open(t, path, fast), open(t, path, fast)
	fillSession(t, s, "a")
	execute(t, other.DB(), "BEGIN IMMEDIATE")
	var events events
	n := newNative(t, &events, "n", "a")
	opts := &transcript.DeleteOptions{Participants: []transcript.Participant{n}}
	result, err := s.DeleteSessions(t.Context(), []string{"a"}, opts)
	if !errors.Is(err, transcript.ErrBusy) || result.Outcome != transcript.RolledBack {
		t.Errorf("%s, %v", result.Outcome, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	result, err = patient.DeleteSessions(ctx, []string{"a"}, opts)
	if !errors.Is(err, context.DeadlineExceeded) || result.Outcome != transcript.RolledBack {
		t.Errorf("%s, %v", result.Outcome, err)
	}
	if contains(events.String(), "commit") {
		t.Errorf("the steps are %s", events.String())
	}
	execute(t, other.DB(), "ROLLBACK")
	if _, err := s.DeleteSessions(t.Context(), []string{"a"}, opts); err != nil || n.keys() != "" {
		t.Error(err)
	}
}
