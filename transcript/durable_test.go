package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// batch says of the entries of one AppendAll what they say: which process appended it, as its how many-th, and of how many
// it is one. Its entries have the texts "writer number i size", with i from 1.
type batch struct {
	writer       uint64
	number, size int
}

func (b batch) drafts() []transcript.Draft {
	drafts := make([]transcript.Draft, b.size)
	for i := range drafts {
		drafts[i].Payload = transcript.UserText(fmt.Sprint(b.writer, b.number, i+1, b.size))
	}
	return drafts
}

// batches reads a session, in which every batch must be whole and each entry follow the one before.
func batches(tb testing.TB, session *transcript.Session) []batch {
	tb.Helper()
	var all []batch
	before := transcript.Entry{ID: transcript.Root}
	done := 0 // entries of the last batch
	for entry, err := range session.Entries(tb.Context()) {
		if err != nil {
			tb.Fatal(err)
		}
		if entry.ParentID != before.ID {
			tb.Fatalf("entry %s follows %q, not %q", entry.ID, entry.ParentID, before.ID)
		}
		before = entry
		message, _ := entry.Message()
		var b batch
		var i int
		if _, err := fmt.Sscan(message.Text(), &b.writer, &b.number, &i, &b.size); err != nil {
			tb.Fatalf("%q: %v", message.Text(), err)
		}
		if i == 1 {
			if len(all) > 0 && done != all[len(all)-1].size {
				tb.Fatalf("of the batch %+v there are %d", all[len(all)-1], done)
			}
			all = append(all, b)
			done = 0
		}
		if done++; i != done || len(all) == 0 || b != all[len(all)-1] {
			tb.Fatalf("entry %d of %+v comes as number %d of %+v", i, b, done, all[max(0, len(all)-1):])
		}
	}
	if len(all) > 0 && done != all[len(all)-1].size {
		tb.Fatalf("of the last batch %+v there are %d", all[len(all)-1], done)
	}
	if leaf, err := session.Leaf(tb.Context()); err != nil || leaf != before.ID {
		tb.Fatalf("the leaf is %q and the last entry %q (%v)", leaf, before.ID, err)
	}
	return all
}

// appendBatches appends batches until it is killed, and prints each one's number and size when it has been told that it is
// there.
func appendBatches(ctx context.Context, s *transcript.Store) error {
	session, err := s.OpenSession(ctx, "chat", nil)
	if err != nil {
		return err
	}
	b := batch{writer: rand.Uint64()}
	for {
		b.number++
		b.size = 1
		if rand.IntN(4) == 0 {
			b.size += rand.IntN(5)
		}
		if _, err := session.AppendAll(ctx, b.drafts(), nil); err != nil {
			return err
		}
		fmt.Println(b.writer, b.number, b.size)
	}
}

// TestKilledWriters lets eight processes append to one session until they have done it 20,000 times (2,000 with -short),
// kills them at random moments, and starts others in their place. What a process was told to be there is there, what it was
// doing is there as a whole or not at all, and the session is one line.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	const writers = 8
	goal := int64(20_000)
	if testing.Short() {
		goal /= 10
	}
	path := newPath(t)
	var appended atomic.Int64
	var mu sync.Mutex
	said := map[uint64][]batch{} // by each process
	kills := 0
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for appended.Load() < goal {
				process, lines := startJob(t, "append", path)
				timer := time.AfterFunc(20*time.Second, func() { process.Process.Kill() })
				var mine []batch
				for lines.Scan() {
					var b batch
					if n, _ := fmt.Sscanf(lines.Text()+"\n", "%d %d %d\n", &b.writer, &b.number, &b.size); n < 3 {
						continue // killed while it was saying so
					}
					if mine = append(mine, b); len(mine) == 1 {
						timer.Reset(time.Duration(rand.IntN(300)) * time.Millisecond)
					}
					if appended.Add(1) >= goal {
						process.Process.Kill()
					}
				}
				timer.Stop()
				var exit *exec.ExitError
				if err := process.Wait(); !errors.As(err, &exit) || exit.ExitCode() == jobFailed {
					t.Errorf("a process ends with %v before it is killed", err)
				}
				mu.Lock()
				if kills++; len(mine) > 0 {
					said[mine[0].writer] = mine
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()

	s := open(t, path, nil)
	sound(t, s)
	session, err := s.FindSession(t.Context(), "chat")
	if err != nil {
		t.Fatal(err)
	}
	found := map[uint64][]batch{}
	entries := int64(0)
	for _, b := range batches(t, session) {
		found[b.writer] = append(found[b.writer], b)
		entries += int64(b.size)
	}
	unsaid := 0
	for writer, there := range found {
		for i, b := range there {
			if b.number != i+1 {
				t.Fatalf("process %d appended %+v after %d others", writer, b, i)
			}
		}
		unsaid += len(there) - len(said[writer])
		if n := len(there) - len(said[writer]); n < 0 || n > 1 { // one that it had no time to say
			t.Errorf("of process %d there are %d batches, and it said %d", writer, len(there), len(said[writer]))
		}
		for i, b := range said[writer] {
			if i < len(there) && there[i] != b {
				t.Errorf("process %d said %+v, and there is %+v", writer, b, there[i])
			}
		}
	}
	for writer := range said {
		if len(found[writer]) == 0 {
			t.Errorf("of process %d there is nothing", writer)
		}
	}
	checkTotals(t, s, session, entries)
	t.Logf("%d kills, %d appends of %d entries, %d of them not said", kills, appended.Load(), entries, unsaid)
}

// checkTotals compares what the store knows of a session with its entries.
func checkTotals(tb testing.TB, s *transcript.Store, session *transcript.Session, entries int64) {
	tb.Helper()
	info, err := session.Info(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	var rows, last, bytes, updated int64
	var ids int64
	err = s.DB().QueryRowContext(tb.Context(), `SELECT count(*), max(entry & 0xffffffff), sum(octet_length(data)), max(time), count(DISTINCT id)
		FROM entries`).Scan(&rows, &last, &bytes, &updated, &ids)
	if err != nil {
		tb.Fatal(err)
	}
	if info.Entries != entries || rows != entries || last != entries || ids != entries {
		tb.Errorf("the session has %d entries, not %d: %d rows up to number %d with %d ids", info.Entries, entries, rows, last, ids)
	}
	if info.Bytes != bytes || info.Updated.UnixMilli() != updated || info.Interacted.UnixMilli() != updated {
		tb.Errorf("the session has %d bytes and was updated at %s, its entries have %d and are of %s at most", info.Bytes, info.Updated, bytes,
			time.UnixMilli(updated))
	}
}

// TestWritersOfOneFile appends through several stores of one process in turn, each of which has to see what the others did.
func TestWritersOfOneFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	ctx := t.Context()
	var sessions []*transcript.Session
	for range 3 {
		session, err := open(t, path, fast).OpenSession(ctx, "chat", nil)
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, session)
	}
	var want []string
	for i := range 300 {
		session := sessions[rand.IntN(len(sessions))]
		text := fmt.Sprint(i)
		if rand.IntN(10) == 0 { // which the others must not take for the leaf
			if _, err := session.AppendAll(ctx, []transcript.Draft{{Payload: transcript.UserText("aside"), Side: true}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		say(t, session, text)
		want = append(want, text)
	}
	for _, session := range sessions {
		if got := texts(t, session.Branch(ctx, nil)); got != strings.Join(want, " ") {
			t.Errorf("the branch is %q", got)
		}
	}
}
