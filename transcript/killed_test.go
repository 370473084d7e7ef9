package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

const (
	pairs         = 60
	pairedEntries = 50
)

// deletePairs is the job of a process: it deletes sessions, two at a time, and prints which when they are gone.
func deletePairs(ctx context.Context, s *transcript.Store) error {
	for i := range pairs {
		result, err := s.DeleteSessions(ctx, pair(i), nil)
		if err != nil {
			return err
		}
		if len(result.Sessions) > 0 {
			fmt.Println(i)
		}
	}
	return nil
}

func pair(i int) []string { return []string{fmt.Sprintf("left %d", i), fmt.Sprintf("right %d", i)} }

// TestKilledDeletion kills processes that delete sessions: of two that go together both are gone or there, with all entries.
func TestKilledDeletion(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), newPath(t)
	s := open(t, path, fast)
	for i := range pairs {
		for _, key := range pair(i) {
			session, err := s.OpenSession(ctx, key, nil)
			if err != nil {
				t.Fatal(err)
			}
			drafts := make([]transcript.Draft, pairedEntries)
			for n := range drafts {
				drafts[n].Payload = transcript.UserText(fmt.Sprint(key, " says ", n))
			}
			if _, err := session.AppendAll(ctx, drafts, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	said := map[int]bool{}
	for range 5 {
		process, lines := startJob(t, "delete", path)
		timer := time.AfterFunc(10*time.Second, func() { process.Process.Kill() })
		for first := true; lines.Scan(); first = false {
			if first {
				timer.Reset(time.Duration(rand.IntN(15_000)) * time.Microsecond)
			}
			var i int
			if n, _ := fmt.Sscanf(lines.Text()+"\n", "%d\n", &i); n == 1 {
				said[i] = true
			}
		}
		timer.Stop()
		process.Wait() // it was killed, or is done
		sound(t, s)
		for i := range pairs {
			there := 0
			for _, key := range pair(i) {
				session, err := s.FindSession(ctx, key)
				if errors.Is(err, transcript.ErrUnknownSession) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				there++
				n := 0
				for _, err := range session.Branch(ctx, nil) {
					if err != nil {
						t.Fatal(err)
					}
					n++
				}
				if n != pairedEntries {
					t.Errorf("the session %s has %d entries", key, n)
				}
			}
			if there == 1 || said[i] && there > 0 {
				t.Errorf("of pair %d %d sessions are there; to be deleted was said: %t", i, there, said[i])
			}
		}
	}
	if len(said) == 0 {
		t.Error("no process has deleted anything")
	}
}
