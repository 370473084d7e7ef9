package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
)

// A trial makes calls of a store of cells, up to the first that has another outcome than it should.
type trial struct {
	ctx context.Context
	s   codemode.CellStore
	err error
}

// trying is the check of a rule that is a trial.
func trying(run func(t *trial)) func(context.Context, codemode.CellStore) error {
	return func(ctx context.Context, s codemode.CellStore) error {
		t := &trial{ctx: ctx, s: s}
		run(t)
		return t.err
	}
}

// in is a time from now, or before now, as a store can keep it.
func in(d time.Duration) time.Time { return time.Now().Add(d).Truncate(time.Microsecond) }

// fresh is a new cell that nobody has, and that stays for an hour.
func fresh(id string) store.Cell {
	return store.Cell{ID: id, RunID: "run", SessionID: "session", Data: []byte("data of " + id), Expires: in(time.Hour)}
}

// saved saves a new cell and gives it as it then is.
func (t *trial) saved(cell store.Cell) store.Cell {
	t.save(cell)
	cell.Fence = 1
	return cell
}

// The calls that have to work.

func (t *trial) save(cell store.Cell) {
	t.works(fmt.Sprintf("SaveCell of %.40q with fence %d", cell.ID, cell.Fence), func() error { return t.s.SaveCell(t.ctx, cell) })
}

func (t *trial) reply(id string, fence int64, reply store.Reply) {
	t.works(fmt.Sprintf("AddReply to %.40q with fence %d", id, fence), func() error { return t.s.AddReply(t.ctx, id, fence, reply) })
}

func (t *trial) renew(id string, fence int64, until time.Time) {
	t.works(fmt.Sprintf("RenewLease of %.40q with fence %d", id, fence), func() error { return t.s.RenewLease(t.ctx, id, fence, until) })
}

func (t *trial) remove(id string, fence int64) {
	t.works(fmt.Sprintf("DeleteCell of %.40q with fence %d", id, fence), func() error { return t.s.DeleteCell(t.ctx, id, fence) })
}

// lease leases a cell that was as given, and gives it as it then is.
func (t *trial) lease(cell store.Cell, until time.Time) store.Cell {
	cell.Fence++
	cell.Leased = until
	t.works(fmt.Sprintf("LeaseCell of %.40q", cell.ID), func() error {
		got, err := t.s.LeaseCell(t.ctx, cell.ID, until)
		if err != nil {
			return err
		}
		return same(got, cell)
	})
	return cell
}

func (t *trial) works(what string, call func() error) {
	if t.err == nil {
		if err := call(); err != nil {
			t.err = fmt.Errorf("%s: %w", what, err)
		}
	}
}

// holds checks that LoadCell gives a cell as it should be.
func (t *trial) holds(want store.Cell) {
	t.works(fmt.Sprintf("LoadCell of %.40q", want.ID), func() error {
		got, err := t.s.LoadCell(t.ctx, want.ID)
		if err != nil {
			return err
		}
		return same(got, want)
	})
}

// The calls that have to fail.

func (t *trial) fails(what string, want error, call func() error) {
	if t.err == nil {
		if err := call(); !errors.Is(err, want) {
			t.err = fmt.Errorf("%s gives the error %v, not one that is %.40q", what, err, want)
		}
	}
}

// unknown checks that a cell counts as unknown.
func (t *trial) unknown(id string) {
	t.fails(fmt.Sprintf("LoadCell of the unknown cell %.40q", id), store.ErrUnknownCell, func() error {
		_, err := t.s.LoadCell(t.ctx, id)
		return err
	})
	t.fails(fmt.Sprintf("LeaseCell of the unknown cell %.40q", id), store.ErrUnknownCell, func() error {
		_, err := t.s.LeaseCell(t.ctx, id, in(time.Hour))
		return err
	})
}

// leased checks that somebody has a cell.
func (t *trial) leased(id string) {
	t.fails(fmt.Sprintf("LeaseCell of the leased cell %.40q", id), store.ErrCellLeased, func() error {
		_, err := t.s.LeaseCell(t.ctx, id, in(time.Hour))
		return err
	})
}

// lost checks that no write of a lease is made.
func (t *trial) lost(id string, fence int64) {
	for _, w := range writes(id, fence) {
		if w.what != "SaveCell" || fence != 0 { // that would be a new cell
			t.fails(fmt.Sprintf("%s to %.40q with the fence %d, which is not that of its lease,", w.what, id, fence), store.ErrLeaseLost,
				func() error { return w.call(t.ctx, t.s) })
		}
	}
}

// A write is one of the calls under a lease, with something that is seen if it is made.
type write struct {
	what string
	call func(context.Context, codemode.CellStore) error
}

func writes(id string, fence int64) []write {
	return []write{
		{"SaveCell", func(ctx context.Context, s codemode.CellStore) error {
			return s.SaveCell(ctx, store.Cell{ID: id, RunID: "of another", SessionID: "of another", Data: []byte("of another"),
				Replies: []store.Reply{{Call: 99}}, Expires: in(2 * time.Hour), Fence: fence, Leased: in(2 * time.Hour)})
		}},
		{"AddReply", func(ctx context.Context, s codemode.CellStore) error {
			return s.AddReply(ctx, id, fence, store.Reply{Call: 99, Data: []byte("of another")})
		}},
		{"RenewLease", func(ctx context.Context, s codemode.CellStore) error {
			return s.RenewLease(ctx, id, fence, in(3*time.Hour))
		}},
		{"DeleteCell", func(ctx context.Context, s codemode.CellStore) error {
			return s.DeleteCell(ctx, id, fence)
		}},
	}
}

// same says in what a cell is not as it should be. No data and data of no bytes are the same.
func same(got, want store.Cell) error {
	switch {
	case got.ID != want.ID:
		return fmt.Errorf("the cell has the id %.40q, not %.40q", got.ID, want.ID)
	case got.RunID != want.RunID || got.SessionID != want.SessionID:
		return fmt.Errorf("the cell is of run %.40q and session %.40q, not of %.40q and %.40q", got.RunID, got.SessionID, want.RunID, want.SessionID)
	case !bytes.Equal(got.Data, want.Data):
		return fmt.Errorf("the cell has the data %.40q (%d bytes), not %.40q (%d bytes)", got.Data, len(got.Data), want.Data, len(want.Data))
	case !got.Expires.Equal(want.Expires):
		return fmt.Errorf("the cell expires at %v, not at %v", got.Expires, want.Expires)
	case got.Fence != want.Fence:
		return fmt.Errorf("the cell has the fence %d, not %d", got.Fence, want.Fence)
	case !got.Leased.Equal(want.Leased):
		return fmt.Errorf("the cell is leased until %v, not %v", got.Leased, want.Leased)
	case len(got.Replies) != len(want.Replies):
		return fmt.Errorf("the cell has %d replies, not %d", len(got.Replies), len(want.Replies))
	}
	for i, reply := range want.Replies {
		if got := got.Replies[i]; got.Call != reply.Call || !bytes.Equal(got.Data, reply.Data) {
			return fmt.Errorf("reply %d of the cell is of call %d with %.40q (%d bytes), not of call %d with %.40q (%d bytes)",
				i, got.Call, got.Data, len(got.Data), reply.Call, reply.Data, len(reply.Data))
		}
	}
	return nil
}
