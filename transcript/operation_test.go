package transcript_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// TestStuckParticipants lets one participant of two ignore the end of its context.
func TestStuckParticipants(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		step      string
		cancelled bool // the context ends; else it is the time of the participant
		takes     time.Duration
		doing     string
		outcome   transcript.Outcome
		steps     string
	}{
		"prepare": {"prepare", false, transcript.ParticipantTimeout + 5*time.Second, "prepare", transcript.RolledBack,
			"1 prepare a, 2 prepare a, 1 settle a, = rolled back, 1 finish a"},
		"prepare, cancelled": {"prepare", true, time.Minute + 5*time.Second, "prepare", transcript.RolledBack,
			"1 prepare a, 2 prepare a, 1 settle a, = rolled back, 1 finish a"},
		"finish": {"finish", false, transcript.ParticipantTimeout + 5*time.Second, "finish", transcript.Committed,
			"1 prepare a, 2 prepare a, 1 commit a, 2 commit a, 2 settle a, = committed, 1 settle a, = committed, 2 finish a, 1 finish a"},
		"finish, cancelled": {"finish", true, time.Minute + 5*time.Second, "finish", transcript.Committed,
			"1 prepare a, 2 prepare a, 1 commit a, 2 commit a, 2 settle a, = committed, 1 settle a, = committed, 2 finish a, 1 finish a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := open(t, ":memory:", nil)
				if _, err := s.OpenSession(t.Context(), "a", nil); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.cancelled {
					time.AfterFunc(time.Minute, cancel)
				}
				var events events
				first, second := newNative(t, &events, "1", "a"), newNative(t, &events, "2", "a")
				stuck := make(chan struct{})
				second.at = failAt(test.step, "a", func() error { <-stuck; return nil })
				began := time.Now()
				result, err := s.DeleteSessions(ctx, []string{"a"}, &transcript.DeleteOptions{Participants: []transcript.Participant{first, second}})
				if took := time.Since(began); took != test.takes {
					t.Errorf("it takes %s, not %s", took, test.takes)
				}
				if result.Outcome != test.outcome || !slices.ContainsFunc(participantErrors(err), func(e *transcript.ParticipantError) bool {
					return e.Doing == test.doing && e.Outcome == test.outcome
				}) {
					t.Errorf("%s, %v", result.Outcome, err)
				}
				if got := events.String(); got != test.steps {
					t.Errorf("the steps are\n%s, not\n%s", got, test.steps)
				}
				// What it does when it wakes up has no effect.
				close(stuck)
				synctest.Wait()
				left := ""
				if test.outcome == transcript.RolledBack {
					left = "a"
				}
				if sessions(t, s) != left || second.keys() != left {
					t.Errorf("the sessions %q and bindings of %q are left", sessions(t, s), second.keys())
				}
			})
		})
	}
}

// TestParticipantsTakeTheirTime has the participants wait for less than they may, one after the other.
func TestParticipantsTakeTheirTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, ":memory:", nil)
		if _, err := s.OpenSession(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		var events events
		var all []transcript.Participant
		for _, name := range []string{"1", "2", "3"} {
			n := newNative(t, &events, name, "a")
			n.at = func(step, _ string) error {
				if step == "prepare" || step == "finish" {
					time.Sleep(transcript.ParticipantTimeout - time.Second)
				}
				return nil
			}
			all = append(all, n)
		}
		result, err := s.DeleteSessions(t.Context(), []string{"a"}, &transcript.DeleteOptions{Participants: all})
		if err != nil || result.Outcome != transcript.Committed {
			t.Errorf("%s, %v", result.Outcome, err)
		}
	})
}

// TestParticipantLeavesEarly has a participant call run on a goroutine of its own and return before the others are prepared.
func TestParticipantLeavesEarly(t *testing.T) {
	t.Parallel()
	s := newTwo(t)
	var events events
	early, late := newNative(t, &events, "1", "a", "b"), newNative(t, &events, "2", "a", "b")
	left, ran := make(chan struct{}), make(chan error, 1)
	early.with = func(ctx context.Context, m transcript.Mutation, run func(context.Context, transcript.Mutation) error) error {
		go func() { ran <- run(ctx, stranded{m}) }()
		<-left
		return nil
	}
	late.with = func(ctx context.Context, m transcript.Mutation, run func(context.Context, transcript.Mutation) error) error {
		close(left)
		<-ctx.Done() // it is told that it is of no use any more
		return run(context.WithoutCancel(ctx), m)
	}
	result, err := s.DeleteSessions(t.Context(), []string{"a"}, &transcript.DeleteOptions{Participants: []transcript.Participant{early, late}})
	if err == nil || result.Outcome != transcript.RolledBack || sessions(t, s) != "a b" || late.keys() != "a b" {
		t.Errorf("%s, %v; the sessions %q are left", result.Outcome, err, sessions(t, s))
	}
	if err := <-ran; err == nil {
		t.Error("run returns no error")
	}
	if contains(events.String(), "commit") {
		t.Errorf("the steps are %s", events.String())
	}
}

// stranded is a mutation that may be settled when its participant has returned, as that was its own fault.
type stranded struct{ transcript.Mutation }

// TestWhatIsKeptAfterwards uses what a participant was given when the operation is over.
func TestWhatIsKeptAfterwards(t *testing.T) {
	t.Parallel()
	s := newTwo(t)
	p := new(keeper)
	if _, err := s.DeleteSessions(t.Context(), []string{"a"}, &transcript.DeleteOptions{Participants: []transcript.Participant{p}}); err != nil {
		t.Fatal(err)
	}
	if err := p.authority(); !errors.Is(err, transcript.ErrOperationEnded) {
		t.Errorf("the authority: %v", err)
	}
	if err := p.run(t.Context(), p); !errors.Is(err, transcript.ErrOperationEnded) {
		t.Errorf("run: %v", err)
	}
	if p.commits != 1 || p.rollbacks != 0 {
		t.Errorf("%d commits and %d rollbacks", p.commits, p.rollbacks)
	}
}

// keeper keeps what it was given.
type keeper struct {
	authority          func() error
	run                func(context.Context, transcript.Mutation) error
	commits, rollbacks int
}

func (k *keeper) WithSessionDeletion(ctx context.Context, d transcript.Deletion, run func(context.Context, transcript.Mutation) error) error {
	k.authority, k.run = d.Authority, run
	return run(ctx, k)
}

func (k *keeper) Commit() error   { k.commits++; return nil }
func (k *keeper) Rollback() error { k.rollbacks++; return nil }
