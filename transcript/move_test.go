package transcript_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// TestMoveWithParticipants moves the leaf back to its first entry, with one participant that fails at a step.
func TestMoveWithParticipants(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at    func(step, key string) error
		fault func(*transcript.Store)
		err   error
		moved bool
		steps string
	}{
		"all goes well": {nil, nil, nil, true,
			"n prepare chat, n commit chat, n settle chat, = committed, n finish chat"},
		"it does not prepare": {failAt("prepare", "chat", wanted), nil, errTest, false,
			"n prepare chat"},
		"it fails to commit": {failAt("committed", "chat", wanted), nil, errTest, false,
			"n prepare chat, n commit chat, n rollback chat, n settle chat, = rolled back, n finish chat"},
		"it fails to finish": {failAt("finish", "chat", wanted), nil, errTest, true,
			"n prepare chat, n commit chat, n settle chat, = committed, n finish chat"},
		"COMMIT fails before": {nil, func(s *transcript.Store) { s.ReplaceCommit("ROLLBACK; COMMIT") }, errAny, false,
			"n prepare chat, n commit chat, n rollback chat, n settle chat, = rolled back, n finish chat"},
		"COMMIT fails after": {nil, func(s *transcript.Store) { s.ReplaceCommit("COMMIT; COMMIT") }, nil, true,
			"n prepare chat, n commit chat, n settle chat, = committed, n finish chat"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, path := t.Context(), newPath(t)
			s := open(t, path, fast)
			session, err := s.OpenSession(ctx, "chat", &transcript.SessionOptions{HarnessID: "loop"})
			if err != nil {
				t.Fatal(err)
			}
			a := say(t, session, "a")
			say(t, session, "b")
			if test.fault != nil {
				test.fault(s)
			}
			var events events
			n, other := newNative(t, &events, "n", "chat"), newNative(t, &events, "other", "chat")
			n.at, other.harness = test.at, "another"
			err = session.MoveTo(ctx, a, &transcript.MoveOptions{Participants: []transcript.ContextParticipant{n, other}})
			if (err == nil) != (test.err == nil) || test.err != nil && test.err != errAny && !errors.Is(err, test.err) {
				t.Error(err)
			}
			for _, e := range participantErrors(err) {
				if (e.Outcome == transcript.Committed) != test.moved {
					t.Errorf("an error says that the move was %s", e.Outcome)
				}
			}
			if got := events.String(); got != test.steps {
				t.Errorf("the steps are\n%s, not\n%s", got, test.steps)
			}
			branch, bindings := "a b", "chat"
			if test.moved {
				branch, bindings = "a", ""
			}
			again, err := open(t, path, fast).FindSession(ctx, "chat")
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(t, again.Branch(ctx, nil)); got != branch || n.keys() != bindings {
				t.Errorf("the branch is %q, and there are bindings of %q", got, n.keys())
			}
		})
	}
}

// errAny stands for an error without a name.
var errAny = errors.New("any error")

// TestMovesThatAskNobody has moves that are refused, or change nothing, before a participant is asked.
func TestMovesThatAskNobody(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	session := newSession(t)
	a := say(t, session, "a")
	if _, err := session.Reset(ctx, nil); err != nil {
		t.Fatal(err)
	}
	b := say(t, session, "b")
	c := say(t, session, "c")
	var events events
	for name, test := range map[string]struct {
		to, leaf string
		err      error
	}{
		"nowhere":      {"nowhere", "", transcript.ErrUnknownEntry},
		"before reset": {a, "", transcript.ErrBeforeReset},
		"other leaf":   {b, b, transcript.ErrConflict},
		"the leaf":     {c, "", nil},
	} {
		err := session.MoveTo(ctx, test.to, &transcript.MoveOptions{
			Leaf: test.leaf, Participants: []transcript.ContextParticipant{newNative(t, &events, "n")}})
		if !errors.Is(err, test.err) || events.String() != "" {
			t.Errorf("%s: %v, steps %s", name, err, events.String())
		}
	}
	release, err := session.Admit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	opts := &transcript.MoveOptions{Participants: []transcript.ContextParticipant{newNative(t, &events, "n")}}
	if err := session.MoveTo(ctx, b, opts); !errors.Is(err, transcript.ErrSessionBusy) || events.String() != "" {
		t.Errorf("a session at work: %v", err)
	}
	if err := session.MoveTo(ctx, b, nil); err != nil {
		t.Errorf("a session at work, and nobody is to be asked: %v", err)
	}
	release()
	if err := session.MoveTo(ctx, c, opts); err != nil {
		t.Error(err)
	}
}

// TestMoveMeetsOthers changes the session while its move is being prepared.
func TestMoveMeetsOthers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do  func(context.Context, *transcript.Session) error
		err error
	}{
		"append": {func(ctx context.Context, s *transcript.Session) error {
			_, err := s.Append(ctx, transcript.UserText("c"), nil)
			return err
		}, nil},
		"reset": {func(ctx context.Context, s *transcript.Session) error {
			_, err := s.Reset(ctx, nil)
			return err
		}, transcript.ErrConflict},
		"rotate": {func(ctx context.Context, s *transcript.Session) error {
			_, err := s.Rotate(ctx)
			return err
		}, transcript.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := newSession(t)
			a := say(t, session, "a")
			b := say(t, session, "b")
			var events events
			n := newNative(t, &events, "n", "chat")
			n.at = failAt("prepare", "chat", func() error { return test.do(t.Context(), session) })
			err := session.MoveTo(t.Context(), a, &transcript.MoveOptions{Participants: []transcript.ContextParticipant{n}})
			if !errors.Is(err, test.err) || (n.keys() == "") != (test.err == nil) {
				t.Errorf("%v, bindings of %q", err, n.keys())
			}
			// With the leaf that the caller has seen, an append is in the way, too.
			if test.err == nil {
				err = session.MoveTo(t.Context(), b, &transcript.MoveOptions{Leaf: a, Participants: []transcript.ContextParticipant{n}})
				if !errors.Is(err, transcript.ErrConflict) {
					t.Error(err)
				}
			}
		})
	}
}
