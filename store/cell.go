// Package store holds what passes between package codemode and the stores that it is given: the values of the interfaces
// codemode.SessionStore and codemode.CellStore, and the errors that their methods return. It is a package of its own so
// that a store need not import a JavaScript engine to be one.
package store

import (
	"errors"
	"time"
)

// Cell is a parked cell as a store keeps it. The store reads ID, SessionID, Expires, Fence and Leased; the rest is
// the executor's.
type Cell struct {
	// ID is what the model gives to wait: a random text that no other cell has.
	ID string
	// RunID and SessionID name whose cell it is, as the executor's options do. They may be empty.
	RunID, SessionID string

	// Data is the cell itself, compressed and with a checksum, as only the executor can read it. It holds what the program
	// holds, and what it was given: keep it as carefully as the data of the tools.
	Data []byte
	// Replies are those of calls that have ended since Data was written, in the order in which they were added.
	Replies []Reply

	// Expires is when nobody wants the cell any more: from then on it counts as unknown, unless it is leased.
	Expires time.Time

	// Fence counts the leases of the cell. Who was given a lease with this number, and nobody else, may write.
	Fence int64
	// Leased is when the lease ends by itself; zero if nobody has one. It does not end before that because
	// Expires has passed.
	Leased time.Time
}

// Reply is the outcome of one call of a cell.
type Reply struct {
	Call int64  // the number of the call in its cell
	Data []byte // as only the executor can read it
}

// Errors of a store of cells. A store may wrap them.
var (
	// ErrUnknownCell reports an id that the store does not have, or not any more.
	ErrUnknownCell = errors.New("no such cell")
	// ErrCellLeased reports that somebody else has the cell, and time to run it.
	ErrCellLeased = errors.New("the cell is leased")
	// ErrLeaseLost reports that somebody else has leased the cell since, so that the write was not made.
	ErrLeaseLost = errors.New("the lease of the cell was lost")
)
