package transcript_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

// hold begins a write from another connection. What it gives ends it.
func hold(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() { db.Close() }
}

func TestBusy(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, &transcript.Options{BusyTimeout: 100 * time.Millisecond})
	if err := s.SaveCell(t.Context(), newCell("c")); err != nil {
		t.Fatal(err)
	}
	release := hold(t, path)
	begun := time.Now()
	if err := s.SaveCell(t.Context(), newCell("d")); !errors.Is(err, transcript.ErrBusy) {
		t.Errorf("SaveCell gives the error %v", err)
	}
	if took := time.Since(begun); took < 100*time.Millisecond || took > 5*time.Second {
		t.Errorf("ErrBusy came after %v", took)
	}
	if _, err := s.LoadCell(t.Context(), "c"); err != nil { // needs no turn
		t.Errorf("LoadCell while another process writes: %v", err)
	}
	release()
	if err := s.SaveCell(t.Context(), newCell("d")); err != nil {
		t.Errorf("SaveCell when the other has ended: %v", err)
	}
}

func TestContextEndsWait(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, &transcript.Options{BusyTimeout: time.Hour})
	if err := s.SaveCell(t.Context(), newCell("c")); err != nil {
		t.Fatal(err)
	}
	defer hold(t, path)()
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	errs := make(chan error, 3)
	for range cap(errs) { // one waits for the other process, the others for the first
		go func() {
			_, err := s.LeaseCell(ctx, "c", time.Now().Add(time.Hour))
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("LeaseCell gives the error %v", err)
		}
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the context's error came after %v", took)
	}
}

// TestInterruptedMemory interrupts methods at all moments: the connection is the database, and must not be dropped.
func TestInterruptedMemory(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:", nil)
	if err := s.SaveCell(t.Context(), newCell("c")); err != nil {
		t.Fatal(err)
	}
	interrupted := 0
	for i := range 500 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Microsecond)
		cell := newCell(fmt.Sprint("d", i))
		cell.Data = make([]byte, 100_000)
		if err := s.SaveCell(ctx, cell); errors.Is(err, context.DeadlineExceeded) {
			interrupted++
		} else if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := s.LoadCell(t.Context(), "c"); err != nil {
			t.Fatalf("after %d interruptions: %v", interrupted, err)
		}
	}
	if interrupted == 0 {
		t.Error("nothing was interrupted")
	}
}

func TestExpiredCellsAreRemoved(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:", nil)
	count := func(table string) (n int) {
		t.Helper()
		if err := s.DB().QueryRowContext(context.Background(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	past := time.Now().Add(-time.Minute)
	for i := range 20 {
		cell := newCell(fmt.Sprint("c", i))
		cell.Replies = []store.Reply{{Call: 1}}
		if i%2 == 0 {
			cell.Leased = time.Now().Add(time.Hour)
		}
		if err := s.SaveCell(t.Context(), cell); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.DB().ExecContext(context.Background(), "UPDATE cells SET expires = ?", past.UnixNano()); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := s.SaveCell(t.Context(), newCell(fmt.Sprint("d", i))); err != nil {
			t.Fatal(err)
		}
		if want := max(10, 20-4*(i+1)) + i + 1; count("cells") != want { // four with each save, never one that is leased
			t.Errorf("after %d saves there are %d cells, not %d", i+1, count("cells"), want)
		}
	}
	if data, replies := count("cell_data"), count("cell_replies"); data != 15 || replies != 10 {
		t.Errorf("of 15 cells, 10 of them with a reply, there are %d data and %d replies", data, replies)
	}
}

// TestPlans holds the statements that run with each call to the indexes made for them.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:", nil)
	for query, index := range map[string]string{
		transcript.DeleteExpired:                       "cells_by_end",
		"SELECT * FROM cell_replies WHERE cell = ?":    "cell_replies_by_cell",
		"DELETE FROM cells WHERE id = ? AND fence = ?": "sqlite_autoindex_cells_1",
		transcript.SelectState:                         "SEARCH entries USING INTEGER PRIMARY KEY",
		transcript.SelectInfos:                         "sessions_by_update",
	} {
		rows, err := s.DB().QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, slices.Repeat([]any{1}, strings.Count(query, "?"))...)
		if err != nil {
			t.Fatal(err)
		}
		var plan strings.Builder
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan.WriteString(detail + "\n")
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan.String(), index) || strings.Contains(plan.String(), "SCAN") {
			t.Errorf("%s:\n%s", query, plan.String())
		}
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs 512 MiB of address space")
	}
	s := open(t, ":memory:", nil)
	large := make([]byte, transcript.MaxDataBytes+1) // never touched
	cell := newCell("c")
	cell.Data = large
	if err := s.SaveCell(t.Context(), cell); err == nil {
		t.Error("a cell that is too large is kept")
	}
	cell = newCell("c")
	if err := s.SaveCell(t.Context(), cell); err != nil {
		t.Fatal(err)
	}
	if err := s.AddReply(t.Context(), "c", 1, store.Reply{Data: large}); err == nil {
		t.Error("a reply that is too large is kept")
	}
}
