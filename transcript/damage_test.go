package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

const damagedCells = 16

// TestDamage damages a database in many ways. What is asked of it then works or says clearly why not.
func TestDamage(t *testing.T) {
	t.Parallel()
	whole := newPath(t)
	s := open(t, whole, nil)
	for i := range damagedCells {
		cell := newCell(fmt.Sprint("c", i))
		cell.Data = bytes.Repeat([]byte("data "), 100*i)
		cell.Replies = []store.Reply{{Call: 1, Data: cell.Data}, {Call: 2}}
		if err := s.SaveCell(t.Context(), cell); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	database, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	damaged := map[string][]byte{}
	for at := page; at < len(database); at += page {
		for _, b := range []byte{0, 0xff, 0x0d} { // the last is the mark of a leaf
			text := bytes.Clone(database)
			copy(text[at:], bytes.Repeat([]byte{b}, page))
			damaged[fmt.Sprintf("page %d is %#x", at/page+1, b)] = text
		}
		damaged[fmt.Sprintf("ends before page %d", at/page+1)] = database[:at]
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		text := bytes.Clone(database)
		for range 1 + random.IntN(20) {
			text[random.IntN(len(text))] ^= 1 << random.IntN(8)
		}
		// Of the pages that have the tables' heads and the schema, more is damaged than of those with data.
		at := random.IntN(8) * page
		text[at+random.IntN(page)] ^= byte(1 + random.IntN(255))
		damaged[fmt.Sprint("bits ", i)] = text
	}
	refused := 0
	path := newPath(t)
	for name, text := range damaged {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		said := false
		for _, err := range useAll(t, path) {
			switch {
			case errors.Is(err, transcript.ErrDamaged):
				said = true
			case errors.Is(err, transcript.ErrNotStore), errors.Is(err, transcript.ErrNewerVersion):
			default:
				t.Errorf("%s: %v", name, err)
			}
		}
		if said {
			refused++
		}
		for _, suffix := range []string{"-wal", "-shm"} {
			os.Remove(path + suffix)
		}
	}
	if refused < len(database)/page {
		t.Errorf("of %d damaged databases %d say so", len(damaged), refused)
	}
}

// useAll calls each method for each cell, and gives the errors that are not those of cells.
func useAll(t *testing.T, path string) (errs []error) {
	ctx := t.Context()
	note := func(err error) {
		if err != nil && !errors.Is(err, store.ErrUnknownCell) && !errors.Is(err, store.ErrLeaseLost) && !errors.Is(err, store.ErrCellLeased) {
			errs = append(errs, err)
		}
	}
	s, err := transcript.Open(ctx, path, &transcript.Options{Synchronous: transcript.SynchronousNormal})
	if err != nil {
		return []error{err}
	}
	for i := range damagedCells {
		id := fmt.Sprint("c", i)
		_, err := s.LoadCell(ctx, id)
		note(err)
		cell, err := s.LeaseCell(ctx, id, time.Now().Add(time.Hour))
		note(err)
		if cell.ID = id; i%3 == 0 {
			note(s.SaveCell(ctx, cell))
		}
		note(s.AddReply(ctx, id, cell.Fence, store.Reply{Data: []byte("more")}))
		note(s.RenewLease(ctx, id, cell.Fence, time.Time{}))
		if i%2 == 0 {
			note(s.DeleteCell(ctx, id, cell.Fence))
		}
	}
	note(s.Close())
	return errs
}
