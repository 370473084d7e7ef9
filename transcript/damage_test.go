package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
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
	damaged := damage(database)
	tried, refused := 0, 0
	path := newPath(t)
	for i, name := range slices.Sorted(maps.Keys(damaged)) {
		if testing.Short() && i%8 > 0 {
			continue
		}
		tried++
		text := damaged[name]
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
	if refused < tried/8 {
		t.Errorf("of %d damaged databases %d say so", tried, refused)
	}
}

const pageSize = 4096

// damage damages a database in many ways, each of which has a name.
func damage(database []byte) (damaged map[string][]byte) {
	damaged = map[string][]byte{}
	for at := pageSize; at < len(database); at += pageSize {
		for _, b := range []byte{0, 0xff, 0x0d} { // the last is the mark of a leaf
			text := bytes.Clone(database)
			copy(text[at:], bytes.Repeat([]byte{b}, pageSize))
			damaged[fmt.Sprintf("page %d is %#x", at/pageSize+1, b)] = text
		}
		damaged[fmt.Sprintf("ends before page %d", at/pageSize+1)] = database[:at]
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		text := bytes.Clone(database)
		for range 1 + random.IntN(20) {
			text[random.IntN(len(text))] ^= 1 << random.IntN(8)
		}
		// Of the pages that have the tables' heads and the schema, more is damaged than of those with data.
		at := random.IntN(8) * pageSize
		text[at+random.IntN(pageSize)] ^= byte(1 + random.IntN(255))
		damaged[fmt.Sprint("bits ", i)] = text
	}
	return damaged
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
