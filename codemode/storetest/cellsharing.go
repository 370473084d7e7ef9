package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
)

func detachedSave(t *trial) {
	given := fresh("c")
	given.Data, given.Replies = []byte("original"), []store.Reply{{Call: 1, Data: []byte("original")}}
	want := given
	want.Data, want.Replies, want.Fence = []byte("original"), []store.Reply{{Call: 1, Data: []byte("original")}}, 1
	t.save(given)
	added := store.Reply{Call: 2, Data: []byte("original")}
	t.reply(given.ID, 1, added)
	t.works("SaveCell", func() error {
		if string(given.Data) != "original" || string(given.Replies[0].Data) != "original" || string(added.Data) != "original" {
			return errors.New("has altered what it was given")
		}
		return nil
	})
	copy(given.Data, "tampered")
	copy(given.Replies[0].Data, "tampered")
	copy(added.Data, "tampered")
	given.Replies[0].Call = 99
	want.Replies = append(want.Replies, store.Reply{Call: 2, Data: []byte("original")})
	t.holds(want)
}

func detachedCell(t *trial) {
	cell := fresh("c")
	cell.Data, cell.Replies = []byte("original"), []store.Reply{{Call: 1, Data: []byte("original")}}
	cell = t.saved(cell)
	tamper := func(got store.Cell, err error) {
		if t.err = errors.Join(t.err, err); t.err == nil && len(got.Replies) > 0 {
			copy(got.Data, "tampered")
			copy(got.Replies[0].Data, "tampered")
			got.Replies[0].Call = 99
			_ = append(got.Replies, store.Reply{Call: 99})
		}
	}
	for range 2 { // the second may come from a cache
		tamper(t.s.LoadCell(t.ctx, cell.ID))
		t.holds(cell)
	}
	cell.Leased = in(time.Hour)
	cell.Fence++
	tamper(t.s.LeaseCell(t.ctx, cell.ID, cell.Leased))
	t.holds(cell)
	t.reply(cell.ID, cell.Fence, store.Reply{Call: 2})
	cell.Replies = append(cell.Replies, store.Reply{Call: 2})
	t.holds(cell)
}

func parallelLeases(ctx context.Context, s codemode.CellStore) error {
	if err := s.SaveCell(ctx, fresh("c")); err != nil {
		return err
	}
	for round := range 5 {
		var owners atomic.Int64
		err := parallel(16, func(int) error {
			cell, err := s.LeaseCell(ctx, "c", in(time.Hour))
			if errors.Is(err, store.ErrCellLeased) {
				return nil
			}
			if err == nil && cell.Fence != int64(round+2) {
				err = fmt.Errorf("lease %d has the fence %d, not %d", round+1, cell.Fence, round+2)
			}
			owners.Add(1)
			return err
		})
		if n := owners.Load(); n != 1 {
			err = errors.Join(err, fmt.Errorf("of 16 parallel leases %d were given", n))
		}
		if err := errors.Join(err, s.RenewLease(ctx, "c", int64(round+2), time.Time{})); err != nil {
			return err
		}
	}
	return nil
}

// parallelOwners counts up in a cell: each owner reads the number, writes the next, and gives the cell back.
func parallelOwners(ctx context.Context, s codemode.CellStore) error {
	const owners, times = 6, 8
	cell := fresh("c")
	cell.Data = []byte("0")
	if err := s.SaveCell(ctx, cell); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := parallel(owners, func(int) error {
		for n := 0; n < times; {
			cell, err := s.LeaseCell(ctx, "c", in(time.Hour))
			if errors.Is(err, store.ErrCellLeased) {
				time.Sleep(time.Millisecond)
				continue
			}
			if err != nil {
				return err
			}
			number, err := strconv.Atoi(string(cell.Data))
			if err != nil {
				return err
			}
			cell.Data, cell.Leased = strconv.AppendInt(nil, int64(number+1), 10), time.Time{}
			if err := s.SaveCell(ctx, cell); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	cell.Data, cell.Fence = fmt.Append(nil, owners*times), owners*times+1
	return errors.Join(err, trying(func(t *trial) { t.holds(cell) })(ctx, s))
}

func parallelReplies(ctx context.Context, s codemode.CellStore) error {
	const writers, replies = 8, 10
	if err := s.SaveCell(ctx, fresh("c")); err != nil {
		return err
	}
	if err := parallel(writers, func(w int) error {
		for i := range replies {
			if err := s.AddReply(ctx, "c", 1, store.Reply{Call: int64(w), Data: fmt.Append(nil, i)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	cell, err := s.LoadCell(ctx, "c")
	if err != nil {
		return err
	}
	var next [writers]int
	for _, reply := range cell.Replies {
		if w := reply.Call; w < 0 || w >= writers || string(reply.Data) != fmt.Sprint(next[w]) {
			return fmt.Errorf("a writer's replies are not in its order: %s of writer %d", reply.Data, w)
		}
		next[reply.Call]++
	}
	if len(cell.Replies) != writers*replies {
		return fmt.Errorf("of %d replies that were added in parallel there are %d", writers*replies, len(cell.Replies))
	}
	return nil
}

// numbered is a cell that says one number everywhere.
func numbered(n int) store.Cell {
	cell := fresh("c")
	text := strconv.Itoa(n)
	cell.RunID, cell.SessionID, cell.Data = text, text, bytes.Repeat([]byte(text+" "), 2000)
	cell.Replies = []store.Reply{{Call: int64(n), Data: []byte(text)}, {Call: int64(n)}}
	cell.Fence = 1
	return cell
}

// whole says how a cell is not one that was saved as a whole.
func whole(cell store.Cell) error {
	n, err := strconv.Atoi(cell.RunID)
	if err != nil {
		return err
	}
	want := numbered(n)
	want.Expires = cell.Expires
	if err := same(cell, want); err != nil {
		return fmt.Errorf("half of a save is seen: %w", err)
	}
	return nil
}

func wholeSaves(ctx context.Context, s codemode.CellStore) error {
	first := numbered(0)
	first.Fence = 0
	if err := s.SaveCell(ctx, first); err != nil {
		return err
	}
	var done atomic.Bool
	return parallel(3, func(i int) error {
		if i == 0 {
			defer done.Store(true)
			for n := range 40 {
				if err := s.SaveCell(ctx, numbered(n+1)); err != nil {
					return err
				}
			}
			return nil
		}
		for !done.Load() {
			cell, err := s.LoadCell(ctx, "c")
			if err == nil {
				err = whole(cell)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func doneContextOfCells(t *trial) {
	cancelled, cancel := context.WithCancel(t.ctx)
	cancel()
	late, cancel := context.WithDeadline(t.ctx, time.Now().Add(-time.Second))
	defer cancel()
	cell := t.saved(fresh("c"))
	for _, ctx := range []context.Context{cancelled, late} {
		for _, call := range append(writes(cell.ID, 1),
			write{"LoadCell", func(ctx context.Context, s codemode.CellStore) error {
				_, err := s.LoadCell(ctx, cell.ID)
				return err
			}},
			write{"LeaseCell", func(ctx context.Context, s codemode.CellStore) error {
				_, err := s.LeaseCell(ctx, cell.ID, in(time.Hour))
				return err
			}},
			write{"SaveCell of a new cell", func(ctx context.Context, s codemode.CellStore) error {
				return s.SaveCell(ctx, fresh("new"))
			}},
		) {
			t.fails(call.what+" with a context that is done", ctx.Err(), func() error { return call.call(ctx, t.s) })
		}
		t.holds(cell)
		t.unknown("new")
	}
	t.lease(cell, in(time.Minute)) // and it works again
}

// endingContext cancels saves at some moment of theirs.
func endingContext(ctx context.Context, s codemode.CellStore) error {
	first := numbered(0)
	first.Fence = 0
	if err := s.SaveCell(ctx, first); err != nil {
		return err
	}
	for n := 1; n <= 40; n++ {
		ending, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(time.Duration(n)*20*time.Microsecond, cancel)
		err := s.SaveCell(ending, numbered(n))
		timer.Stop()
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("SaveCell whose context ends gives the error %w, not the context's", err)
		}
		cell, loadErr := s.LoadCell(ctx, "c")
		if loadErr != nil {
			return loadErr
		}
		if err := whole(cell); err != nil {
			return err
		}
		if err == nil && cell.RunID != strconv.Itoa(n) {
			return fmt.Errorf("SaveCell whose context ends gives no error, and save %s is still there", cell.RunID)
		}
	}
	return nil
}
