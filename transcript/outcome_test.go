package transcript_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

// A COMMIT that fails when it has taken effect is not told as if nothing had happened, by any method that writes.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(context.Context, *transcript.Store, *transcript.Session) error{
		"append": func(ctx context.Context, _ *transcript.Store, s *transcript.Session) error {
			_, err := s.Append(ctx, transcript.UserText("b"), nil)
			return err
		},
		"move": func(ctx context.Context, _ *transcript.Store, s *transcript.Session) error {
			return s.MoveTo(ctx, transcript.Root, nil)
		},
		"reset": func(ctx context.Context, _ *transcript.Store, s *transcript.Session) error {
			_, err := s.Reset(ctx, nil)
			return err
		},
		"rotate": func(ctx context.Context, _ *transcript.Store, s *transcript.Session) error {
			_, err := s.Rotate(ctx)
			return err
		},
		"values": func(ctx context.Context, _ *transcript.Store, s *transcript.Session) error {
			return s.CommitSession(ctx, s.Key(), store.SessionChange{Delete: []string{"a"}})
		},
		"open": func(ctx context.Context, s *transcript.Store, _ *transcript.Session) error {
			_, err := s.OpenSession(ctx, "another", nil)
			return err
		},
		"import": func(ctx context.Context, s *transcript.Store, _ *transcript.Session) error {
			_, _, err := s.Import(ctx, "another", strings.NewReader(""), nil)
			return err
		},
		"cell": func(ctx context.Context, s *transcript.Store, _ *transcript.Session) error {
			return s.SaveCell(ctx, newCell("c"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, newPath(t), fast)
			session, err := s.OpenSession(t.Context(), "chat", nil)
			if err != nil {
				t.Fatal(err)
			}
			say(t, session, "a")
			s.ReplaceCommit("COMMIT; COMMIT")
			if err := write(t.Context(), s, session); !errors.Is(err, transcript.ErrUnknownOutcome) {
				t.Errorf("%v", err)
			}
			sound(t, s)
		})
	}
}

// An append that was told to have failed, or of which nothing was told, is made again with its key, wherever it goes on.
func TestAppendAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	session := newSession(t)
	fork := say(t, session, "a")
	say(t, session, "b")
	again := transcript.UserText("c")
	again.IdempotencyKey = "k"
	for i := range 3 {
		receipt, err := session.Append(ctx, again, &transcript.AppendOptions{From: fork})
		if err != nil || receipt.Appended() != (i == 0) {
			t.Fatalf("append %d: %t, %v", i, receipt.Appended(), err)
		}
		if got := texts(t, session.Branch(ctx, nil)); got != "a c" {
			t.Errorf("after append %d the branch is %q", i, got)
		}
	}
	// If any of them is new, it goes where the options say.
	drafts := []transcript.Draft{{Payload: again}, {Payload: transcript.UserText("d")}}
	if _, err := session.AppendAll(ctx, drafts, &transcript.AppendOptions{From: fork}); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, session.Branch(ctx, nil)); got != "a d" {
		t.Errorf("the branch is %q", got)
	}
}

// A handle of a session that was deleted stays one of nothing, whatever comes into the store, also the same session again.
func TestDeletedSessionsDoNotComeBack(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, newPath(t), fast)
	session, err := s.OpenSession(ctx, "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	say(t, session, "a")
	var file strings.Builder
	if err := session.Export(ctx, &file); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeleteSessions(ctx, []string{"chat"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"another", "chat"} {
		restored, _, err := s.Import(ctx, key, strings.NewReader(file.String()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Append(ctx, transcript.UserText("late"), nil); !errors.Is(err, transcript.ErrSessionGone) {
			t.Errorf("a late append when the session is back as %q: %v", key, err)
		}
		if got := texts(t, restored.Branch(ctx, nil)); got != "a" {
			t.Errorf("the restored session has %q", got)
		}
		if _, err := s.DeleteSessions(ctx, []string{key}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// What is deleted are the cells of the key, whether it has a session or not.
func TestCellsOfDeletedSessions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, newPath(t), fast)
	if _, err := s.OpenSession(ctx, "chat", nil); err != nil {
		t.Fatal(err)
	}
	for id, key := range map[string]string{"1": "chat", "2": "no session", "3": "stays"} {
		cell := newCell(id)
		cell.SessionID = key
		if err := s.SaveCell(ctx, cell); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.DeleteSessions(ctx, []string{"chat", "no session"}, nil); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]error{"1": store.ErrUnknownCell, "2": store.ErrUnknownCell, "3": nil} {
		if _, err := s.LoadCell(ctx, id); !errors.Is(err, want) {
			t.Errorf("cell %s: %v", id, err)
		}
	}
}

// Close makes nobody wait for others than itself.
func TestCloseWhileMethodsRun(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), fast)
	session, err := s.OpenSession(t.Context(), "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	reader, writer := io.Pipe()
	imported, closed := make(chan error), make(chan error)
	go func() { _, _, err := s.Import(t.Context(), "slow", reader, nil); imported <- err }()
	if _, err := writer.Write([]byte("{}\n")); err != nil { // it is at it
		t.Fatal(err)
	}
	go func() { closed <- s.Close() }()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		if _, err := session.Leaf(t.Context()); errors.Is(err, transcript.ErrClosed) {
			break
		} else if err != nil || time.Now().After(deadline) {
			t.Fatalf("a method of a store that is being closed: %v", err)
		}
	}
	select {
	case <-closed:
		t.Error("Close has not waited for what runs")
	default:
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-imported; err != nil {
		t.Errorf("what runs when the store is closed: %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// A panic within a method that reads costs no connection.
func TestReadersSurvivePanics(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), fast)
	session, err := s.OpenSession(t.Context(), "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			s.PanicWhileReading(t.Context())
		}()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := session.Leaf(ctx); err != nil {
		t.Error(err)
	}
}

// Values that are kept beside the entries, and are none, are damage.
func TestDamagedValues(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"null", "[]", "7", "{", ""} {
		s := open(t, newPath(t), fast)
		for range 40 {
			set(t, s, "chat", map[string]string{"k": "1"})
		}
		if _, err := s.DB().ExecContext(t.Context(), "UPDATE entry_values SET data = ?", bad); err != nil {
			t.Fatal(err)
		}
		if _, err := s.LoadSession(t.Context(), "chat"); !errors.Is(err, transcript.ErrDamaged) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What a system says in the user's name, and what the user is not shown, does not make a session younger.
func TestInteracted(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	session := newSession(t)
	hidden := false
	for name, change := range map[string]func(*transcript.Message){
		"system":   func(m *transcript.Message) { m.Provenance = []byte(`{"kind":"internal_system"}`) },
		"session":  func(m *transcript.Message) { m.Provenance = []byte(`{"kind":"inter_session"}`) },
		"hidden":   func(m *transcript.Message) { m.Display = &hidden },
		"excluded": func(m *transcript.Message) { m.ExcludeFromContext = true },
	} {
		m := transcript.UserText(name)
		change(&m)
		if _, err := session.Append(ctx, m, nil); err != nil {
			t.Fatal(err)
		}
		if !info(t, session).Interacted.IsZero() {
			t.Errorf("%s: the session is said to have been used", name)
		}
	}
	m := transcript.UserText("hi")
	m.Provenance = []byte(`{"kind":"external_user"}`)
	if _, err := session.Append(ctx, m, nil); err != nil {
		t.Fatal(err)
	}
	if info(t, session).Interacted.IsZero() {
		t.Error("the session is said not to have been used")
	}
}
