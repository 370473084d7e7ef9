package codemode

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/store"
)

func TestMemoryCellsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, m := t.Context(), NewMemoryStore()
		err := m.SaveCell(ctx, store.Cell{ID: "c", Expires: time.Now().Add(time.Hour), Leased: time.Now().Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if _, err := m.LeaseCell(ctx, "c", time.Now()); !errors.Is(err, store.ErrCellLeased) {
			t.Errorf("LeaseCell before the lease ends: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := m.LeaseCell(ctx, "c", time.Now()); err != nil {
			t.Errorf("LeaseCell when the lease ends: %v", err)
		}
		time.Sleep(59*time.Minute - time.Nanosecond)
		if _, err := m.LoadCell(ctx, "c"); err != nil {
			t.Errorf("LoadCell before the cell expires: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := m.LoadCell(ctx, "c"); !errors.Is(err, store.ErrUnknownCell) {
			t.Errorf("LoadCell when the cell expires: %v", err)
		}
	})
}

func TestMemoryCellsAreRemoved(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), NewMemoryStore()
	for i := range 10_000 {
		cell := store.Cell{ID: fmt.Sprint("c", i), Expires: time.Now()}
		if i%100 == 0 { // wanted, in one of two ways
			cell.Expires = time.Now().Add(time.Hour)
		} else if i%100 == 1 {
			cell.Leased = time.Now().Add(time.Hour)
		}
		if err := m.SaveCell(ctx, cell); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.cells.byID); n > 2*200+16 {
		t.Errorf("of 10,000 cells of which 200 are wanted %d are kept", n)
	}
	for i := range 10_000 {
		if _, err := m.LoadCell(ctx, fmt.Sprint("c", i)); (err == nil) != (i%100 < 2) {
			t.Errorf("LoadCell of cell %d: %v", i, err)
		}
	}
}
