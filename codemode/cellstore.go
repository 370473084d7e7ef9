package codemode

import (
	"context"
	"time"

	"github.com/cellmode/cellmode/store"
)

// A CellStore keeps parked cells beyond the process that parked them. [MemoryStore] is one for tests, package transcript has
// one on disk, and package codemode/storetest tests any.
//
// A cell is run by whoever has its lease. A lease has a number, the cell's fence: every write states it, and a write whose
// number is not the newest is refused with [store.ErrLeaseLost]. So a process that was taken for dead, and was not, can do
// no harm when it comes back. A lease ends when it is given back or its time is over; until somebody else takes it, its
// owner may still write.
//
// An implementation must be safe for concurrent use, by several processes if it is shared by them; their clocks must then
// agree to a small part of a lease. Each method takes effect as a whole or not at all, and when it has returned without an
// error its effect survives the end of the process. All may block; a context that is done ends them with its error. Ids and
// slices are kept byte for byte, times to the microsecond, from 1970 to 2200. Slices are not shared: a store keeps none
// that it was given, and gives none that it keeps.
type CellStore interface {
	// LoadCell reads a cell, whoever has it: store.ErrUnknownCell if there is none of this id, or it has expired.
	LoadCell(ctx context.Context, id string) (store.Cell, error)

	// LeaseCell gives the caller a lease of a cell until the time given, and the cell as it is at that moment, with its
	// fence one higher than it was. store.ErrUnknownCell, as in LoadCell; store.ErrCellLeased if somebody has a lease
	// whose time is not over.
	LeaseCell(ctx context.Context, id string, until time.Time) (store.Cell, error)

	// SaveCell keeps a new cell, whose Fence is 0, as one with fence 1; or writes over the cell that is there, under the lease
	// cell.Fence: store.ErrLeaseLost if that is not its newest, if the cell is gone, or if a new cell has the id of
	// another. What the cell says of Leased and Expires counts from now on; Leased zero gives the lease back. Of the
	// replies there are those that the cell has. A store may use the occasion to remove cells that have expired.
	SaveCell(ctx context.Context, cell store.Cell) error

	// AddReply adds the reply of one call behind those that a cell has, under a lease.
	AddReply(ctx context.Context, id string, fence int64, reply store.Reply) error

	// RenewLease moves the end of a lease; zero gives it back.
	RenewLease(ctx context.Context, id string, fence int64, until time.Time) error

	// DeleteCell removes a cell, under a lease. A cell that is gone already is store.ErrLeaseLost.
	DeleteCell(ctx context.Context, id string, fence int64) error
}
