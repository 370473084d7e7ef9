package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cellmode/cellmode/store"
)

// brokenCells is a store of cells in memory with the fault that it names. Without one it is right.
type brokenCells struct {
	fault string

	mu     sync.Mutex
	cells  map[string]*store.Cell
	ghosts map[string]*store.Cell // what was deleted
	stuck  bool
}

func (b *brokenCells) is(fault string) bool { return b.fault == fault }

// enter begins a method; leave, which it gives, ends it.
func (b *brokenCells) enter(ctx context.Context, method string) (leave func(), err error) {
	b.mu.Lock()
	if b.cells == nil {
		b.cells, b.ghosts = map[string]*store.Cell{}, map[string]*store.Cell{}
	}
	if ctx.Err() != nil && b.is("a done context is the end") {
		b.stuck = true
	}
	if b.stuck {
		b.mu.Unlock()
		return nil, context.Canceled
	}
	if err := ctx.Err(); err != nil && !b.is(method+" ignores contexts") && !b.is("contexts are looked at when all is done") {
		b.mu.Unlock()
		if b.is("a done context is some error") {
			return nil, errors.New("interrupted")
		}
		return nil, err
	}
	return b.mu.Unlock, nil
}

// exit gives the error of a method.
func (b *brokenCells) exit(ctx context.Context, err error) error {
	if b.is("contexts are looked at when all is done") {
		return cmp.Or(err, ctx.Err())
	}
	return err
}

// pause lets another call come between.
func (b *brokenCells) pause() {
	b.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	b.mu.Lock()
}

// ended waits for the end of a context that will end soon.
func ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(time.Second):
		return false
	}
}

func (b *brokenCells) key(id string) string {
	switch b.fault {
	case "ids have no case":
		return strings.ToLower(id)
	case "ids are trimmed":
		return trimmed(id)
	case "ids end at NUL":
		return untilNUL(id)
	case "ids are made valid":
		return strings.ToValidUTF8(id, "\ufffd")
	case "ids are cut":
		return id[:min(len(id), 1000)]
	}
	return id
}

func (b *brokenCells) leased(cell *store.Cell, now time.Time) bool {
	switch b.fault {
	case "leases do not end":
		return !cell.Leased.IsZero()
	case "leases end early":
		return now.Add(200 * time.Millisecond).Before(cell.Leased)
	}
	return now.Before(cell.Leased)
}

func (b *brokenCells) expired(cell *store.Cell, now time.Time) bool {
	past := !now.Before(cell.Expires)
	switch b.fault {
	case "nothing expires":
		return false
	case "leased cells expire":
		return past
	case "leases that have ended keep their cells":
		return past && cell.Leased.IsZero()
	case "cells expire early":
		past = !now.Add(200 * time.Millisecond).Before(cell.Expires)
	}
	return past && !b.leased(cell, now)
}

// given is a copy of a cell for a caller.
func (b *brokenCells) given(id string, kept *store.Cell) store.Cell {
	cell := b.copied(*kept)
	cell.ID = id
	switch b.fault {
	case "what is given has the data of the store":
		cell.Data = kept.Data
	case "what is given has the replies of the store":
		cell.Replies = kept.Replies
	case "replies are sorted":
		slices.SortStableFunc(cell.Replies, func(a, b store.Reply) int { return cmp.Compare(a.Call, b.Call) })
	case "replies are newest first":
		slices.Reverse(cell.Replies)
	case "nobody's lease ended in 1970":
		if cell.Leased.IsZero() {
			cell.Leased = time.Unix(0, 0)
		}
	}
	return cell
}

// copied is a copy of a cell with what a fault does to its values.
func (b *brokenCells) copied(cell store.Cell) store.Cell {
	data := bytes.Clone
	switch b.fault {
	case "data is text":
		data = func(d []byte) []byte { return bytes.ToValidUTF8(d, []byte("\ufffd")) }
	case "data ends at 64 KiB":
		data = func(d []byte) []byte { return bytes.Clone(d[:min(len(d), 64<<10)]) }
	case "data ends at 8 MiB":
		data = func(d []byte) []byte { return bytes.Clone(d[:min(len(d), 8<<20)]) }
	}
	cell.Data = data(cell.Data)
	cell.Replies = slices.Clone(cell.Replies)
	for i := range cell.Replies {
		cell.Replies[i].Data = data(cell.Replies[i].Data)
		if b.is("calls have 32 bits") {
			cell.Replies[i].Call = int64(int32(cell.Replies[i].Call))
		}
	}
	for _, at := range []*time.Time{&cell.Expires, &cell.Leased} {
		switch b.fault {
		case "times have seconds":
			*at = at.Truncate(time.Second)
		case "times have milliseconds":
			*at = at.Truncate(time.Millisecond)
		case "times lose their zone":
			*at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
		}
	}
	if b.is("runs and sessions end at NUL") {
		cell.RunID, cell.SessionID = untilNUL(cell.RunID), untilNUL(cell.SessionID)
	}
	return cell
}

func (b *brokenCells) LoadCell(ctx context.Context, id string) (store.Cell, error) {
	leave, err := b.enter(ctx, "LoadCell")
	if err != nil {
		return store.Cell{}, err
	}
	defer leave()
	cell := b.cells[b.key(id)]
	if cell == nil && b.is("an unknown cell is empty") {
		return store.Cell{ID: id}, nil
	}
	if cell == nil || b.expired(cell, time.Now()) && !b.is("expired cells can be loaded") {
		return store.Cell{}, store.ErrUnknownCell
	}
	return b.given(id, cell), b.exit(ctx, nil)
}

func (b *brokenCells) LeaseCell(ctx context.Context, id string, until time.Time) (store.Cell, error) {
	leave, err := b.enter(ctx, "LeaseCell")
	if err != nil {
		return store.Cell{}, err
	}
	defer leave()
	now, cell := time.Now(), b.cells[b.key(id)]
	if cell == nil && b.is("deleted cells can be leased") {
		cell = b.ghosts[b.key(id)]
	}
	if cell == nil || b.expired(cell, now) && !b.is("expired cells can be leased") {
		return store.Cell{}, store.ErrUnknownCell
	}
	taken := b.leased(cell, now)
	if b.is("one lease holds all cells") {
		for _, other := range b.cells {
			taken = taken || b.leased(other, now)
		}
	}
	if taken && !b.is("everybody gets a lease") {
		if b.is("a refused lease counts") {
			cell.Fence++
		}
		return store.Cell{}, store.ErrCellLeased
	}
	if b.is("leases are looked at before they are given") {
		b.pause()
	}
	before := b.given(id, cell)
	if !b.is("leases do not count") {
		cell.Fence++
	}
	if b.is("fences are counted for all cells together") {
		for _, other := range b.cells {
			other.Fence = cell.Fence
		}
	}
	if !b.is("leases are not kept") {
		cell.Leased = until
	}
	switch given := b.given(id, cell); b.fault {
	case "a lease gives the cell as it was":
		return before, nil
	case "a lease gives no replies":
		given.Replies = nil
		return given, nil
	default:
		return given, b.exit(ctx, nil)
	}
}

func (b *brokenCells) SaveCell(ctx context.Context, given store.Cell) error {
	leave, err := b.enter(ctx, "SaveCell")
	if err != nil {
		return err
	}
	defer leave()
	cell, now, key := b.copied(given), time.Now(), b.key(given.ID)
	switch b.fault {
	case "a cell that is saved shares its data":
		cell.Data = given.Data
	case "a cell that is saved shares its replies":
		cell.Replies = given.Replies
	case "what is saved is emptied":
		clear(given.Data)
	}
	old := b.cells[key]
	if cell.Fence == 0 {
		if old != nil && (!b.expired(old, now) || b.is("expired cells hold their ids")) && !b.is("a new cell replaces another") {
			return store.ErrLeaseLost
		}
		cell.Fence = 1
		switch ghost := cmp.Or(old, b.ghosts[key]); b.fault {
		case "a new cell has fence 0":
			cell.Fence = 0
		case "a new cell is free":
			cell.Leased = time.Time{}
		case "replies outlast their cells":
			if ghost != nil {
				cell.Replies = append(slices.Clone(ghost.Replies), cell.Replies...)
			}
		case "fences outlast their cells":
			if ghost != nil {
				cell.Fence = ghost.Fence + 1
			}
		}
	} else {
		if err := b.mayWrite("SaveCell", key, cell.Fence, now); err != nil {
			if old != nil || !b.is("a save under a lease makes the cell") {
				return err
			}
		}
	}
	if old != nil {
		switch b.fault {
		case "saves keep the run":
			cell.RunID, cell.SessionID = old.RunID, old.SessionID
		case "saves keep the expiry":
			cell.Expires = old.Expires
		case "saves keep the lease":
			cell.Leased = old.Leased
		case "saves do not give a lease back":
			cell.Leased = cmp.Or(cell.Leased, old.Leased)
		case "saves add their replies":
			cell.Replies = append(old.Replies, cell.Replies...)
		case "saves without replies keep them":
			if cell.Replies == nil {
				cell.Replies = old.Replies
			}
		case "saves keep longer data":
			if len(old.Data) > len(cell.Data) {
				cell.Data = append(cell.Data, old.Data[len(cell.Data):]...)
			}
		case "saves have two steps":
			old.Data = cell.Data
			b.pause()
		case "contexts end a save in the middle":
			old.Replies = cell.Replies
			if ended(ctx) {
				return ctx.Err()
			}
		case "saves may be late":
			if ended(ctx) {
				return nil
			}
		}
	}
	if b.is("expired cells are removed with their leases") {
		for id, other := range b.cells {
			if !now.Before(other.Expires) {
				delete(b.cells, id)
			}
		}
	}
	b.cells[key] = &cell
	return b.exit(ctx, nil)
}

// mayWrite refuses a write that is not under the newest lease.
func (b *brokenCells) mayWrite(method, key string, fence int64, now time.Time) error {
	cell := b.cells[key]
	if cell == nil {
		if b.is("writes to an unknown cell say so") {
			return store.ErrUnknownCell
		}
		return store.ErrLeaseLost
	}
	may := cell.Fence == fence
	switch b.fault {
	case method + " has no fence":
		may = true
	case "old leases may write":
		may = fence <= cell.Fence
	case "leases that are not given yet may write":
		may = fence >= cell.Fence
	case "the sign of a fence does not count":
		may = max(fence, -fence) == cell.Fence
	case "writing ends with the lease":
		may = may && (b.leased(cell, now) || cell.Leased.IsZero())
	case "writing ends when the lease is given back":
		may = may && !cell.Leased.IsZero()
	case "expired cells cannot be written":
		may = may && now.Before(cell.Expires)
	case "a lost lease is any error":
		if !may {
			return errors.New("no")
		}
	}
	if !may {
		return store.ErrLeaseLost
	}
	return nil
}

func (b *brokenCells) AddReply(ctx context.Context, id string, fence int64, reply store.Reply) error {
	leave, err := b.enter(ctx, "AddReply")
	if err != nil {
		return err
	}
	defer leave()
	key := b.key(id)
	err = b.mayWrite("AddReply", key, fence, time.Now())
	cell := b.cells[key]
	if err != nil && (cell == nil || !b.is("a reply that is refused is added")) {
		return err
	}
	kept := b.copied(store.Cell{Replies: []store.Reply{reply}}).Replies[0]
	if b.is("a reply that is added shares its data") {
		kept.Data = reply.Data
	}
	same := slices.IndexFunc(cell.Replies, func(r store.Reply) bool { return r.Call == reply.Call })
	switch replies := slices.Clone(cell.Replies); {
	case b.is("a call has one reply") && same >= 0:
		cell.Replies[same] = kept
	case b.is("replies are written back"):
		b.pause()
		cell.Replies = append(replies, kept)
	default:
		cell.Replies = append(replies, kept)
	}
	if b.is("replies go to all cells") {
		for _, other := range b.cells {
			if other != cell {
				other.Replies = append(other.Replies, kept)
			}
		}
	}
	return b.exit(ctx, err)
}

func (b *brokenCells) RenewLease(ctx context.Context, id string, fence int64, until time.Time) error {
	leave, err := b.enter(ctx, "RenewLease")
	if err != nil {
		return err
	}
	defer leave()
	now, key := time.Now(), b.key(id)
	if err := b.mayWrite("RenewLease", key, fence, now); err != nil {
		return err
	}
	cell := b.cells[key]
	switch {
	case b.is("leases cannot be given back") && until.IsZero(),
		b.is("leases are not renewed"),
		b.is("leases only grow") && !until.IsZero() && until.Before(cell.Leased):
	case b.is("leases that have ended are not renewed") && !b.leased(cell, now):
		return store.ErrLeaseLost
	default:
		cell.Leased = b.copied(store.Cell{Leased: until}).Leased
	}
	return b.exit(ctx, nil)
}

func (b *brokenCells) DeleteCell(ctx context.Context, id string, fence int64) error {
	leave, err := b.enter(ctx, "DeleteCell")
	if err != nil {
		return err
	}
	defer leave()
	key := b.key(id)
	if b.cells[key] == nil && b.is("a cell can be deleted twice") {
		return nil
	}
	if err := b.mayWrite("DeleteCell", key, fence, time.Now()); err != nil {
		return err
	}
	b.ghosts[key] = b.cells[key]
	if !b.is("nothing is deleted") {
		delete(b.cells, key)
	}
	if b.is("deleting takes all cells") {
		clear(b.cells)
	}
	return b.exit(ctx, nil)
}
