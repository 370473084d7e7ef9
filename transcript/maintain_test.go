package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

const day = 24 * time.Hour

// newAged is a store with sessions d0 to d<n-1>, with which their users have talked that many days after now.
func newAged(t *testing.T, n int) (*transcript.Store, time.Time) {
	t.Helper()
	s := open(t, newPath(t), fast)
	now := time.Now()
	for i := range n {
		session, err := s.OpenSession(t.Context(), fmt.Sprint("d", i), nil)
		if err != nil {
			t.Fatal(err)
		}
		appendAt(t, session, now.Add(time.Duration(i)*day), transcript.UserText(strings.Repeat("x", 1000)))
	}
	return s, now
}

func appendAt(tb testing.TB, session *transcript.Session, when time.Time, payload transcript.Payload) {
	tb.Helper()
	if _, err := session.Append(context.Background(), payload, &transcript.AppendOptions{Time: when}); err != nil {
		tb.Fatal(err)
	}
}

func TestMaintain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts    transcript.MaintainOptions
		now     time.Duration // after the first one was used
		left    string
		reasons string
	}{
		"nothing to do":     {transcript.MaintainOptions{}, 20 * day, "d0 d1 d2 d3 d4", ""},
		"30 days":           {transcript.MaintainOptions{}, 32*day + 1, "d3 d4", "expired expired expired"},
		"exactly 30 days":   {transcript.MaintainOptions{}, 30 * day, "d0 d1 d2 d3 d4", ""},
		"age":               {transcript.MaintainOptions{MaxAge: day}, 4 * day, "d3 d4", "expired expired expired"},
		"never":             {transcript.MaintainOptions{MaxAge: -1}, 1000 * day, "d0 d1 d2 d3 d4", ""},
		"count":             {transcript.MaintainOptions{MaxSessions: 2}, 0, "d3 d4", "too many too many too many"},
		"any count":         {transcript.MaintainOptions{MaxSessions: -1}, 0, "d0 d1 d2 d3 d4", ""},
		"size":              {transcript.MaintainOptions{MaxBytes: 2500}, 0, "d3 d4", "too large too large too large"},
		"size of everybody": {transcript.MaintainOptions{MaxBytes: 1}, 0, "", "too large too large too large too large too large"},
		"age, then count":   {transcript.MaintainOptions{MaxAge: 3 * day, MaxSessions: 3}, 4 * day, "d2 d3 d4", "expired too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, now := newAged(t, 5)
			var reasons []string
			p := reasonKeeper{&reasons}
			test.opts.Participants = []transcript.Participant{p}
			test.opts.Now = now.Truncate(time.Millisecond).Add(test.now)
			report, err := s.Maintain(t.Context(), &test.opts)
			if err != nil || len(report.Skipped) > 0 || len(report.Deleted) != len(reasons) {
				t.Errorf("%+v, %v", report, err)
			}
			if got := sessions(t, s); got != test.left {
				t.Errorf("the sessions %q are left", got)
			}
			if got := strings.Join(reasons, " "); got != test.reasons {
				t.Errorf("the reasons are %q", got)
			}
			for i, info := range report.Deleted { // the one that was idle for the longest time first
				if info.Key != fmt.Sprint("d", i) {
					t.Errorf("%s was deleted as number %d", info.Key, i)
				}
			}
		})
	}
}

// reasonKeeper keeps the reasons of deletions.
type reasonKeeper struct{ reasons *[]string }

func (k reasonKeeper) WithSessionDeletion(ctx context.Context, d transcript.Deletion, run func(context.Context, transcript.Mutation) error) error {
	*k.reasons = append(*k.reasons, d.Reason)
	return run(ctx, new(counter))
}

// TestFreshness looks at what makes a session younger.
func TestFreshness(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, newPath(t), fast)
	later := time.Now().Add(20 * day)
	for key, does := range map[string]func(*transcript.Session){
		"user":      func(s *transcript.Session) { appendAt(t, s, later, transcript.UserText("hi")) },
		"assistant": func(s *transcript.Session) { appendAt(t, s, later, transcript.AssistantText("hi")) },
		"custom":    func(s *transcript.Session) { appendAt(t, s, later, transcript.Custom{Type: "heartbeat"}) },
		"reset": func(s *transcript.Session) {
			if _, err := s.Reset(ctx, &transcript.ResetOptions{Reason: "daily", Time: later}); err != nil {
				t.Error(err)
			}
		},
		"rotate": func(s *transcript.Session) {
			if _, err := s.Rotate(ctx); err != nil {
				t.Error(err)
			}
		},
		"nothing": func(*transcript.Session) {},
	} {
		session, err := s.OpenSession(ctx, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		does(session)
	}
	if _, err := s.Maintain(ctx, &transcript.MaintainOptions{Now: later.Add(15 * day)}); err != nil {
		t.Error(err)
	}
	if got := sessions(t, s); got != "user" {
		t.Errorf("the sessions %q are left", got)
	}
}

// TestMaintainSkips has sessions that are due but cannot go, among more than one page of others.
func TestMaintainSkips(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, now := newAged(t, 100)
	busy, err := s.FindSession(ctx, "d1")
	if err != nil {
		t.Fatal(err)
	}
	release, err := busy.Admit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	touched, err := s.FindSession(ctx, "d70")
	if err != nil {
		t.Fatal(err)
	}
	var events events
	n := newNative(t, &events, "n")
	n.at = func(step, key string) error {
		switch step + " " + key {
		case "prepare d2", "commit d3":
			return errTest
		case "prepare d4":
			panic("oh")
		case "prepare d70":
			appendAt(t, touched, now.Add(1000*day), transcript.UserText("I am back"))
		}
		return nil
	}
	report, err := s.Maintain(ctx, &transcript.MaintainOptions{
		Now: now.Add(1000 * day), MaxAge: 905*day + time.Hour, MaxSessions: -1, Participants: []transcript.Participant{n}})
	if !errors.Is(err, errTest) || !strings.Contains(err.Error(), "3 sessions") {
		t.Error(err)
	}
	skipped := map[string]error{}
	for _, skip := range report.Skipped {
		skipped[skip.Session.Key] = skip.Err
	}
	if len(skipped) != 5 || !errors.Is(skipped["d1"], transcript.ErrSessionBusy) || !errors.Is(skipped["d70"], transcript.ErrConflict) ||
		!errors.Is(skipped["d2"], errTest) || !errors.Is(skipped["d3"], errTest) || skipped["d4"] == nil {
		t.Errorf("these were skipped: %v", skipped)
	}
	if got := sessions(t, s); got != "d1 d2 d3 d4 d70 d95 d96 d97 d98 d99" || len(report.Deleted) != 90 {
		t.Errorf("%d were deleted, the sessions %q are left", len(report.Deleted), got)
	}
	// No other goes in the place of one that is busy.
	if report, err = s.Maintain(ctx, &transcript.MaintainOptions{Now: now, MaxSessions: 9}); err != nil || len(report.Deleted) > 0 || len(report.Skipped) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	release()
	if report, err = s.Maintain(ctx, &transcript.MaintainOptions{Now: now, MaxSessions: 9}); err != nil || len(report.Deleted) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestMaintainEnds looks at what ends maintenance.
func TestMaintainEnds(t *testing.T) {
	t.Parallel()
	s, now := newAged(t, 5)
	ctx, cancel := context.WithCancel(t.Context())
	var events events
	n := newNative(t, &events, "n")
	n.at = failAt("prepare", "d1", func() error { cancel(); return nil })
	opts := transcript.MaintainOptions{Now: now.Add(1000 * day), Participants: []transcript.Participant{n}}
	report, err := s.Maintain(ctx, &opts)
	if !errors.Is(err, context.Canceled) || len(report.Deleted) != 1 || len(report.Skipped) != 1 || sessions(t, s) != "d1 d2 d3 d4" {
		t.Errorf("%+v, %v", report, err)
	}
	asked := 0
	n.at = nil
	opts.Authority = func() error {
		if asked++; asked > 10 {
			return errTest
		}
		return nil
	}
	report, err = s.Maintain(t.Context(), &opts)
	if !errors.Is(err, errTest) || len(report.Deleted) == 0 || len(report.Skipped) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Maintain(t.Context(), nil); !errors.Is(err, transcript.ErrClosed) {
		t.Error(err)
	}
}
