package transcript_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

// sound checks a database as SQLite does.
func sound(tb testing.TB, s *transcript.Store) {
	tb.Helper()
	// The check of the index goes by what the connection has last seen of it, be it outdated, and calls that corruption. A
	// query looks at it anew.
	if _, err := s.DB().ExecContext(context.Background(), "SELECT 1 FROM search WHERE search MATCH 'x'"); err != nil {
		tb.Fatal(err)
	}
	for _, pragma := range []string{"PRAGMA integrity_check", "PRAGMA foreign_key_check"} {
		rows, err := s.DB().QueryContext(context.Background(), pragma)
		if err != nil {
			tb.Fatal(err)
		}
		for rows.Next() {
			var problem string
			if err := rows.Scan(&problem); err != nil || problem != "ok" {
				tb.Errorf("%s: %s (%v)", pragma, problem, err)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			tb.Error(err)
		}
	}
}

// TestFull fills a database to a bound that it has in the place of a disk.
func TestFull(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), nil)
	if _, err := s.DB().ExecContext(context.Background(), "PRAGMA max_page_count = 300"); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	data := func(id string) []byte { return bytes.Repeat([]byte(id+" "), 100_000/(len(id)+1)) }
	fill := func(from int) (n int) {
		for n = from; ; n++ {
			cell := newCell(fmt.Sprint("c", n))
			cell.Data = data(cell.ID)
			err := s.SaveCell(ctx, cell)
			if errors.Is(err, transcript.ErrFull) {
				return n
			}
			if err != nil || n > 20 {
				t.Fatalf("cell %d: %v", n, err)
			}
		}
	}
	holds := func(from, to int) {
		t.Helper()
		sound(t, s)
		for i := range 20 {
			cell, err := s.LoadCell(ctx, fmt.Sprint("c", i))
			if i < from || i >= to {
				if !errors.Is(err, store.ErrUnknownCell) {
					t.Errorf("cell %d: %v", i, err)
				}
			} else if err != nil || !bytes.Equal(cell.Data, data(cell.ID)) {
				t.Errorf("cell %d has %.20q: %v", i, cell.Data, err)
			}
		}
	}
	n := fill(0)
	if n < 5 {
		t.Fatalf("there was room for %d cells", n)
	}
	holds(0, n)

	larger, err := s.LeaseCell(ctx, "c1", time.Now().Add(time.Hour)) // needs no room
	if err != nil {
		t.Fatal(err)
	}
	larger.Data = bytes.Repeat(larger.Data, 5)
	if err := s.SaveCell(ctx, larger); !errors.Is(err, transcript.ErrFull) {
		t.Errorf("SaveCell of a cell that has grown: %v", err)
	}
	if err := s.AddReply(ctx, "c1", larger.Fence, store.Reply{Data: larger.Data}); !errors.Is(err, transcript.ErrFull) {
		t.Errorf("AddReply: %v", err)
	}
	if cell, err := s.LoadCell(ctx, "c1"); err != nil || len(cell.Replies) > 0 || cell.Fence != larger.Fence {
		t.Errorf("the cell has %d replies: %v", len(cell.Replies), err)
	}
	holds(0, n)

	if err := s.DeleteCell(ctx, "c0", 1); err != nil { // makes room
		t.Fatal(err)
	}
	if more := fill(n); more == n {
		t.Error("there is no room in the place of the deleted cell")
	} else {
		holds(1, more)
	}
}
