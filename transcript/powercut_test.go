package transcript_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// Sizes in a -wal file, as SQLite's file format has them.
const (
	walHeader = 32
	walFrame  = 24 + 4096
)

// files are what is on the drive of a database.
type files struct{ db, wal []byte }

func readFiles(tb testing.TB, path string) files {
	tb.Helper()
	db, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	wal, err := os.ReadFile(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	return files{db, wal}
}

// commits opens what a power cut has left, and gives how many batches of the one writer are there: the first so many, each
// whole.
func (f files) commits(tb testing.TB, path string) int {
	tb.Helper()
	for name, text := range map[string][]byte{path: f.db, path + "-wal": f.wal} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	defer os.Remove(path + "-shm")
	s, err := transcript.Open(tb.Context(), path, fast)
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	if _, err := s.DB().ExecContext(tb.Context(), "PRAGMA synchronous = off"); err != nil { // nobody cuts the power of the test
		tb.Fatal(err)
	}
	sound(tb, s)
	session, err := s.FindSession(tb.Context(), "chat")
	if err != nil {
		tb.Fatal(err)
	}
	there := batches(tb, session)
	entries := int64(0)
	for i, b := range there {
		if b.number != i+1 {
			tb.Fatalf("batch %d is %+v", i+1, b)
		}
		entries += int64(b.size)
	}
	checkTotals(tb, s, session, entries)
	say(tb, session, "and on it goes")
	return len(there)
}

// drive is what is on the drive when a writer was told of each batch that it is there. So many were written into the
// database, so that the others lie in a -wal file over the remains of earlier frames, as they do mostly.
type drive struct {
	inDatabase int
	after      []files // each batch, from 1
}

func writeBatches(t *testing.T, synchronous transcript.Synchronous) drive {
	t.Helper()
	path := newPath(t)
	s := open(t, path, &transcript.Options{Synchronous: synchronous})
	session, err := s.OpenSession(t.Context(), "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := drive{20, []files{{}}}
	for i := range w.inDatabase + 15 {
		if _, err := session.AppendAll(t.Context(), batch{1, i + 1, 1 + i%3*4}.drafts(), nil); err != nil {
			t.Fatal(err)
		}
		if i+1 == w.inDatabase {
			if _, err := s.DB().ExecContext(t.Context(), "PRAGMA wal_checkpoint(RESTART)"); err != nil {
				t.Fatal(err)
			}
		}
		w.after = append(w.after, readFiles(t, path))
	}
	if wal := w.last().wal; frames(wal) < 30 || len(wal) <= walHeader+frames(wal)*walFrame {
		t.Fatalf("%d frames in %d bytes: there are no remains behind them", frames(wal), len(wal))
	}
	return w
}

func (w drive) last() files { return w.after[len(w.after)-1] }

// there is how many batches a -wal file has: those of which all frames are as they were written.
func (w drive) there(wal []byte) int {
	for i := w.inDatabase; i+1 < len(w.after); i++ {
		end := walHeader + frames(w.after[i+1].wal)*walFrame
		if len(wal) < end || !bytes.Equal(wal[:end], w.last().wal[:end]) {
			return i
		}
	}
	return len(w.after) - 1
}

// frames is how many frames a -wal file has since it was begun anew.
func frames(wal []byte) (n int) {
	for n*walFrame+walHeader < len(wal) && bytes.Equal(wal[16:24], wal[walHeader+n*walFrame+8:][:8]) { // the salt of this time
		n++
	}
	return n
}

// TestPowerCut cuts the power at each place of the -wal file up to which it may have been written. What is there then are the
// batches that were written up to that place.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	w := writeBatches(t, transcript.SynchronousNormal)
	last, remains := w.last(), w.after[w.inDatabase].wal
	cuts := []int{0, 1, walHeader / 2}
	for end := walHeader; end <= walHeader+frames(last.wal)*walFrame; end += walFrame {
		cuts = append(cuts, end-1, end, end+1, end+24+512)
	}
	path := newPath(t)
	for i, cut := range cuts {
		if testing.Short() && i/4%4 > 0 {
			continue
		}
		left := bytes.Clone(last.wal[:cut])
		if (i+i/4)%2 == 0 { // with the remains over which it was to be written
			left = append(left, remains[cut:]...)
		}
		if got, want := (files{last.db, left}).commits(t, path), w.there(left); got != want {
			t.Fatalf("after a cut behind %d bytes there are %d batches, not %d", cut, got, want)
		}
	}
}

// TestPowerCutInDisorder has the drive write the frames of the last batches in any order, and some of them in part. What
// was forced to the drive before, which with SynchronousFull is all that the writer was told to be there, is there.
func TestPowerCutInDisorder(t *testing.T) {
	t.Parallel()
	w := writeBatches(t, transcript.SynchronousFull)
	random := rand.New(rand.NewPCG(1, 2))
	path := newPath(t)
	for range 50 {
		told := w.inDatabase + random.IntN(len(w.after)-w.inDatabase)
		before := w.after[told].wal
		left := bytes.Clone(w.last().wal)
		for at := walHeader + frames(before)*walFrame; at < len(left); at += walFrame {
			from := walFrame // a frame is written up to here
			switch random.IntN(4) {
			case 0:
				from = 0
			case 1:
				from = 512 * random.IntN(walFrame/512)
			}
			copy(left[at+from:at+walFrame], before[at+from:])
		}
		got := files{w.last().db, left}.commits(t, path)
		if want := w.there(left); got != want || got < told {
			t.Fatalf("the writer was told of %d batches, %d have come to the drive, and there are %d", told, want, got)
		}
	}
}

// TestPowerCutInCheckpoint cuts the power while what is in the -wal file is written into the database, page by page, in any
// order.
func TestPowerCutInCheckpoint(t *testing.T) {
	t.Parallel()
	w := writeBatches(t, transcript.SynchronousFull)
	wal := w.last().wal
	pages := map[uint32][]byte{} // the newest of each
	for frame := range frames(wal) {
		text := wal[walHeader+frame*walFrame:][:walFrame]
		pages[binary.BigEndian.Uint32(text)] = text[24:]
	}
	random := rand.New(rand.NewPCG(3, 4))
	path := newPath(t)
	for range 30 {
		db := bytes.Clone(w.last().db)
		for number, page := range pages {
			at := int(number-1) * len(page)
			if more := at + len(page) - len(db); more > 0 {
				db = append(db, make([]byte, more)...)
			}
			copy(db[at:], page[:512*random.IntN(len(page)/512+1)])
		}
		if got := (files{db, wal}).commits(t, path); got != len(w.after)-1 {
			t.Fatalf("there are %d batches of %d", got, len(w.after)-1)
		}
	}
}

// TestCopyWhileWriting copies a database while a process writes to it. Whatever that had said until then is in the copy.
func TestCopyWhileWriting(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	process, lines := startJob(t, "append", path)
	defer func() {
		process.Process.Kill()
		process.Wait()
	}()
	copied := newPath(t)
	for copies := 0; copies < 10; {
		var said batch
		for range 20 {
			if !lines.Scan() {
				t.Fatal("the process ends")
			}
			if _, err := fmt.Sscan(lines.Text(), &said.writer, &said.number, &said.size); err != nil {
				t.Fatal(err)
			}
		}
		now := readFiles(t, path)
		if then := readFiles(t, path); !bytes.Equal(now.db, then.db) || !bytes.Equal(now.wal[:walHeader], then.wal[:walHeader]) {
			continue // SQLite has written into the database meanwhile: the two files are not of one moment
		}
		copies++
		if got := now.commits(t, copied); got < said.number {
			t.Fatalf("the copy has %d batches, and %d were said to be there", got, said.number)
		}
	}
}
