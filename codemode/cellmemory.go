package codemode

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cellmode/cellmode/store"
)

// memoryCells are the cells of a MemoryStore.
type memoryCells struct {
	mu      sync.Mutex
	byID    map[string]store.Cell
	sweepAt int // how many cells there have to be for the next look for those that have expired
}

var _ CellStore = (*MemoryStore)(nil)

// LoadCell implements [CellStore].
func (m *MemoryStore) LoadCell(ctx context.Context, id string) (cell store.Cell, err error) {
	err = m.cells.locked(ctx, func(c *memoryCells) error {
		kept, known := c.byID[id]
		if !known || unwanted(kept, time.Now()) {
			return fmt.Errorf("%q: %w", id, store.ErrUnknownCell)
		}
		cell = cloneCell(kept)
		return nil
	})
	return cell, err
}

// LeaseCell implements [CellStore].
func (m *MemoryStore) LeaseCell(ctx context.Context, id string, until time.Time) (cell store.Cell, err error) {
	err = m.cells.locked(ctx, func(c *memoryCells) error {
		now := time.Now()
		kept, known := c.byID[id]
		if !known || unwanted(kept, now) {
			return fmt.Errorf("%q: %w", id, store.ErrUnknownCell)
		}
		if now.Before(kept.Leased) {
			return fmt.Errorf("%q, until %s: %w", id, kept.Leased.Format(time.RFC3339), store.ErrCellLeased)
		}
		kept.Fence++
		kept.Leased = until
		c.byID[id] = kept
		cell = cloneCell(kept)
		return nil
	})
	return cell, err
}

// SaveCell implements [CellStore].
func (m *MemoryStore) SaveCell(ctx context.Context, cell store.Cell) error {
	return m.cells.locked(ctx, func(c *memoryCells) error {
		now := time.Now()
		if old, known := c.byID[cell.ID]; cell.Fence == 0 {
			if known && !unwanted(old, now) {
				return fmt.Errorf("%q is not new: %w", cell.ID, store.ErrLeaseLost)
			}
			cell.Fence = 1
		} else if !known || old.Fence != cell.Fence {
			return fmt.Errorf("%q: %w", cell.ID, store.ErrLeaseLost)
		}
		c.sweep(now)
		c.byID[cell.ID] = cloneCell(cell)
		return nil
	})
}

// AddReply implements [CellStore].
func (m *MemoryStore) AddReply(ctx context.Context, id string, fence int64, reply store.Reply) error {
	return m.cells.change(ctx, id, fence, func(cell *store.Cell) {
		reply.Data = bytes.Clone(reply.Data)
		cell.Replies = append(cell.Replies, reply)
	})
}

// RenewLease implements [CellStore].
func (m *MemoryStore) RenewLease(ctx context.Context, id string, fence int64, until time.Time) error {
	return m.cells.change(ctx, id, fence, func(cell *store.Cell) { cell.Leased = until })
}

// DeleteCell implements [CellStore].
func (m *MemoryStore) DeleteCell(ctx context.Context, id string, fence int64) error {
	return m.cells.locked(ctx, func(c *memoryCells) error {
		if old, known := c.byID[id]; !known || old.Fence != fence {
			return fmt.Errorf("%q: %w", id, store.ErrLeaseLost)
		}
		delete(c.byID, id)
		return nil
	})
}

// locked runs f, unless the context is done.
func (c *memoryCells) locked(ctx context.Context, f func(c *memoryCells) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(c)
}

// change alters a cell under the newest lease.
func (c *memoryCells) change(ctx context.Context, id string, fence int64, alter func(cell *store.Cell)) error {
	return c.locked(ctx, func(c *memoryCells) error {
		cell, known := c.byID[id]
		if !known || cell.Fence != fence {
			return fmt.Errorf("%q: %w", id, store.ErrLeaseLost)
		}
		alter(&cell)
		c.byID[id] = cell
		return nil
	})
}

// sweep removes the cells that have expired. It looks for them only when the cells have doubled since the last time, so that a
// save among many takes no longer than one among few.
func (c *memoryCells) sweep(now time.Time) {
	if len(c.byID) < c.sweepAt {
		return
	}
	if c.byID == nil {
		c.byID = map[string]store.Cell{}
	}
	for id, cell := range c.byID {
		if unwanted(cell, now) {
			delete(c.byID, id)
		}
	}
	c.sweepAt = max(16, 2*len(c.byID))
}

// unwanted reports whether a cell counts as unknown.
func unwanted(cell store.Cell, now time.Time) bool {
	return !now.Before(cell.Expires) && !now.Before(cell.Leased)
}

func cloneCell(cell store.Cell) store.Cell {
	cell.Data = bytes.Clone(cell.Data)
	cell.Replies = slices.Clone(cell.Replies)
	for i := range cell.Replies {
		cell.Replies[i].Data = bytes.Clone(cell.Replies[i].Data)
	}
	return cell
}
