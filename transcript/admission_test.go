package transcript_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

func TestAdmit(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := newTwo(t)
	session, err := s.FindSession(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	admit := func() func() {
		t.Helper()
		release, err := session.Admit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	first, second := admit(), admit()
	deletion := func(want error, keys ...string) {
		t.Helper()
		if result, err := s.DeleteSessions(ctx, keys, nil); !errors.Is(err, want) || (result.Outcome == transcript.Committed) != (want == nil) {
			t.Errorf("%s, %v", result.Outcome, err)
		}
	}
	deletion(transcript.ErrSessionBusy, "a", "b")
	first()
	first() // once more changes nothing
	deletion(transcript.ErrSessionBusy, "a")
	deletion(nil, "b") // that was not kept claimed by the deletion that failed
	second()

	var events events
	n := newNative(t, &events, "n", "a")
	n.at = failAt("prepare", "a", func() error {
		if _, err := session.Admit(ctx); !errors.Is(err, transcript.ErrSessionBusy) {
			t.Errorf("admitting to a session that is being deleted: %v", err)
		}
		deletion(transcript.ErrSessionBusy, "a")
		return errTest
	})
	if _, err := s.DeleteSessions(ctx, []string{"a"}, &transcript.DeleteOptions{Participants: []transcript.Participant{n}}); !errors.Is(err, errTest) {
		t.Error(err)
	}
	admit()()
	deletion(nil, "a")
	if _, err := session.Admit(ctx); !errors.Is(err, transcript.ErrSessionGone) {
		t.Errorf("admitting to a session that is gone: %v", err)
	}
	if _, err := s.OpenSession(ctx, "a", nil); err != nil {
		t.Fatal(err)
	}
	deletion(nil, "a") // the admission that failed is not kept
}

// TestDeletionsAtOnce has goroutines delete, make, use and rotate the same sessions, through two stores of one file.
func TestDeletionsAtOnce(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	stores := []*transcript.Store{open(t, path, fast), open(t, path, fast)}
	keys := []string{"a", "b", "c"}
	p := counter{}
	var deleted, appended, refused atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			ctx, s := t.Context(), stores[i%2]
			random := rand.New(rand.NewPCG(uint64(i), 0))
			for range 25 {
				key := keys[random.IntN(len(keys))]
				session, err := s.OpenSession(ctx, key, nil)
				if err != nil {
					t.Error(err)
					return
				}
				switch random.IntN(6) {
				case 0, 1:
					result, err := s.DeleteSessions(ctx, []string{key, keys[0]}, &transcript.DeleteOptions{Participants: []transcript.Participant{&p}})
					deleted.Add(int64(len(result.Sessions)))
					if err != nil && !errors.Is(err, transcript.ErrSessionBusy) && !errors.Is(err, transcript.ErrConflict) {
						t.Error(err)
					}
				case 2:
					if _, err := session.Rotate(ctx); err != nil && !errors.Is(err, transcript.ErrSessionGone) {
						t.Error(err)
					}
				case 3:
					release, err := session.Admit(ctx)
					if err == nil {
						release()
					} else if !errors.Is(err, transcript.ErrSessionGone) && !errors.Is(err, transcript.ErrSessionBusy) {
						t.Error(err)
					}
				default:
					switch _, err := session.Append(ctx, transcript.UserText(strconv.Itoa(i)), nil); {
					case err == nil:
						appended.Add(1)
					case errors.Is(err, transcript.ErrSessionGone):
						refused.Add(1)
					default:
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	// Each commit was for a session that has gone, or was taken back.
	if got := p.commits.Load() - p.rollbacks.Load(); got != deleted.Load() || got == 0 {
		t.Errorf("%d sessions were deleted, and %d commits were not taken back", deleted.Load(), got)
	}
	t.Logf("%d deleted, %d commits rolled back, %d appended, %d refused", deleted.Load(), p.rollbacks.Load(), appended.Load(), refused.Load())
	sound(t, stores[0])
}

// counter counts what happens.
type counter struct{ commits, rollbacks atomic.Int64 }

func (c *counter) WithSessionDeletion(ctx context.Context, _ transcript.Deletion, run func(context.Context, transcript.Mutation) error) error {
	return run(ctx, c)
}
func (c *counter) Commit() error   { c.commits.Add(1); return nil }
func (c *counter) Rollback() error { c.rollbacks.Add(1); return nil }
