package transcript_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// forgetful counts the resets of which it is told.
type forgetful struct {
	does func(ctx context.Context) error
	mu   sync.Mutex
	told []transcript.SessionReset
}

func (f *forgetful) ResetSession(ctx context.Context, reset transcript.SessionReset) error {
	f.mu.Lock()
	f.told = append(f.told, reset)
	f.mu.Unlock()
	return f.does(ctx)
}

func TestReset(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var log bytes.Buffer
	s := open(t, newPath(t), &transcript.Options{Synchronous: transcript.SynchronousNormal, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	session, err := s.OpenSession(ctx, "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := say(t, session, "a")
	aside := say(t, session, "aside")
	if err := session.MoveTo(ctx, a, nil); err != nil {
		t.Fatal(err)
	}
	b := say(t, session, "b")
	before := info(t, session)

	// All are told at the same time, whatever the others do: the first waits for the last.
	last := make(chan struct{})
	resetters := []transcript.Resetter{
		&forgetful{does: func(context.Context) error { <-last; return nil }},
		&forgetful{does: func(context.Context) error { return errTest }},
		&forgetful{does: func(context.Context) error { panic("oh") }},
		&forgetful{does: func(context.Context) error { runtime.Goexit(); return nil }},
		&forgetful{does: func(context.Context) error { close(last); return nil }},
	}
	when := before.Started.Add(time.Hour)
	receipt, err := session.Reset(ctx, &transcript.ResetOptions{FirstKeptID: b, Reason: "new", Resetters: resetters, Leaf: b, Time: when})
	if err != nil {
		t.Fatal(err)
	}
	if payload := receipt.Entry().Payload; !reflect.DeepEqual(payload, transcript.Reset{FirstKeptID: b, Reason: "new"}) {
		t.Errorf("the entry is %+v", payload)
	}
	after := info(t, session)
	if after.Revision != before.Revision+1 || !after.Started.Equal(when) || after.ID != before.ID || !after.Created.Equal(before.Created) ||
		!after.Interacted.Equal(before.Interacted) {
		t.Errorf("the session was %+v and is %+v", before, after)
	}
	for i, r := range resetters {
		told := r.(*forgetful).told
		if len(told) != 1 || told[0].Reason != "new" || told[0].Session != after {
			t.Errorf("resetter %d was told %+v", i, told)
		}
	}
	if text := log.String(); !strings.Contains(text, errTest.Error()) || !strings.Contains(text, "panic: oh") || strings.Count(text, "level=ERROR") != 2 {
		t.Errorf("the log is %s", text)
	}

	for name, test := range map[string]struct {
		opts transcript.ResetOptions
		err  error
	}{
		"kept before the last reset":  {transcript.ResetOptions{FirstKeptID: b}, transcript.ErrBeforeReset},
		"kept on another branch":      {transcript.ResetOptions{FirstKeptID: aside}, transcript.ErrBeforeReset},
		"kept is nowhere":             {transcript.ResetOptions{FirstKeptID: "nowhere"}, transcript.ErrUnknownEntry},
		"kept is no text":             {transcript.ResetOptions{FirstKeptID: "\xff"}, transcript.ErrInvalidEntry},
		"the leaf is another one":     {transcript.ResetOptions{Leaf: b}, transcript.ErrConflict},
		"the authority says no":       {transcript.ResetOptions{Authority: wanted}, errTest},
		"and nothing is kept, either": {transcript.ResetOptions{FirstKeptID: transcript.Root}, transcript.ErrBeforeReset},
	} {
		never := &forgetful{does: func(context.Context) error { return nil }}
		test.opts.Resetters = []transcript.Resetter{never}
		if _, err := session.Reset(ctx, &test.opts); !errors.Is(err, test.err) || len(never.told) > 0 {
			t.Errorf("%s: %v, told %d times", name, err, len(never.told))
		}
	}
	if now := info(t, session); now != after {
		t.Errorf("the session is %+v", now)
	}
	// An entry that says so resets the session, too.
	if _, err := session.Append(ctx, transcript.Reset{}, nil); err != nil || info(t, session).Revision != after.Revision+1 {
		t.Errorf("%v, revision %d", err, info(t, session).Revision)
	}
}

// TestResetKeeps looks at which entries can be the first to be kept.
func TestResetKeeps(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	session := newSession(t)
	a := say(t, session, "a")
	aside := say(t, session, "aside")
	if err := session.MoveTo(ctx, a, nil); err != nil {
		t.Fatal(err)
	}
	leaf := ""
	for entry, err := range session.Entries(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		leaf = entry.ID
	}
	say(t, session, "b")
	for name, id := range map[string]string{"another branch": aside, "a leaf entry": leaf, "the root": transcript.Root} {
		if _, err := session.Reset(ctx, &transcript.ResetOptions{FirstKeptID: id}); !errors.Is(err, transcript.ErrUnknownEntry) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := session.Reset(ctx, &transcript.ResetOptions{FirstKeptID: a}); err != nil {
		t.Error(err)
	}
}

// TestSlowResetters has hooks that do not return.
func TestSlowResetters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, ":memory:", nil)
		session, err := s.OpenSession(t.Context(), "chat", nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		heeds := &forgetful{does: func(ctx context.Context) error {
			cancel() // of the caller: it changes nothing
			<-ctx.Done()
			return ctx.Err()
		}}
		began := time.Now()
		if _, err := session.Reset(ctx, &transcript.ResetOptions{Resetters: []transcript.Resetter{heeds}}); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != transcript.ParticipantTimeout {
			t.Errorf("it takes %s", took)
		}
		stuck := make(chan struct{})
		ignores := &forgetful{does: func(context.Context) error { <-stuck; return nil }}
		began = time.Now()
		if _, err := session.Reset(t.Context(), &transcript.ResetOptions{Resetters: []transcript.Resetter{ignores}}); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != transcript.ParticipantTimeout+5*time.Second {
			t.Errorf("it takes %s", took)
		}
		close(stuck)
	})
}

func TestRotate(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, newPath(t), fast)
	old := fillSession(t, s, "chat")
	before := info(t, old)
	now, err := old.Rotate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	after := info(t, now)
	if now.Key() != "chat" || now.ID() == old.ID() || after.ID != now.ID() || after.PreviousID != old.ID() ||
		after.Revision != before.Revision+1 || after.Entries != before.Entries || after.HarnessID != "loop" || !after.Updated.Equal(before.Updated) {
		t.Errorf("the session was %+v and is %+v", before, after)
	}
	if _, err := old.Append(ctx, transcript.UserText("late"), nil); !errors.Is(err, transcript.ErrSessionGone) {
		t.Errorf("appending to the old one: %v", err)
	}
	if _, err := old.Rotate(ctx); !errors.Is(err, transcript.ErrSessionGone) {
		t.Errorf("rotating the old one: %v", err)
	}
	if err := old.MoveTo(ctx, transcript.Root, &transcript.MoveOptions{Participants: []transcript.ContextParticipant{
		newNative(t, new(events), "n"),
	}}); !errors.Is(err, transcript.ErrSessionGone) {
		t.Errorf("moving the old one: %v", err)
	}
	if found, err := s.FindSession(ctx, "chat"); err != nil || found.ID() != now.ID() {
		t.Errorf("the key has the session %v: %v", found, err)
	}
	if values, err := s.LoadSession(ctx, "chat"); err != nil || string(values["n"].JSON) != "39" {
		t.Errorf("the values are %v: %v", values, err)
	}
	if text := texts(t, now.Branch(ctx, nil)); !strings.HasPrefix(text, "the text of chat ") {
		t.Errorf("the branch is %q", text)
	}
}
