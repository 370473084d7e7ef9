package storetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
)

// TestCellStore runs one parallel subtest for each rule that a store of cells keeps. open gives an empty store to each; what
// closes it is registered there with t.Cleanup. The largest cell has 10 MiB.
func TestCellStore(t *testing.T, open func(t *testing.T) codemode.CellStore) {
	hold(t, cellRules, open)
}

// TestSharedCellStore is [TestCellStore] for a store that several processes share. open gives two handles or more of one
// empty store, such as two of one file, opened apart from each other; the calls of each rule go to them in turn.
func TestSharedCellStore(t *testing.T, open func(t *testing.T) []codemode.CellStore) {
	hold(t, cellRules, func(t *testing.T) codemode.CellStore { return &inTurn{handles: open(t)} })
}

// inTurn gives each call to the next handle.
type inTurn struct {
	handles []codemode.CellStore
	calls   atomic.Uint64
}

func (s *inTurn) next() codemode.CellStore {
	return s.handles[s.calls.Add(1)%uint64(len(s.handles))]
}

func (s *inTurn) LoadCell(ctx context.Context, id string) (store.Cell, error) {
	return s.next().LoadCell(ctx, id)
}

func (s *inTurn) LeaseCell(ctx context.Context, id string, until time.Time) (store.Cell, error) {
	return s.next().LeaseCell(ctx, id, until)
}

func (s *inTurn) SaveCell(ctx context.Context, cell store.Cell) error {
	return s.next().SaveCell(ctx, cell)
}

func (s *inTurn) AddReply(ctx context.Context, id string, fence int64, reply store.Reply) error {
	return s.next().AddReply(ctx, id, fence, reply)
}

func (s *inTurn) RenewLease(ctx context.Context, id string, fence int64, until time.Time) error {
	return s.next().RenewLease(ctx, id, fence, until)
}

func (s *inTurn) DeleteCell(ctx context.Context, id string, fence int64) error {
	return s.next().DeleteCell(ctx, id, fence)
}

var cellRules = []rule[codemode.CellStore]{
	{"an unknown cell is unknown", trying(unknownCell)},
	{"a new cell has fence 1", trying(newCell)},
	{"an id that is taken is not new", trying(takenID)},
	{"cells are kept byte for byte", trying(exactCells)},
	{"times are kept to the microsecond", trying(exactTimes)},
	{"ids are kept byte for byte", trying(exactIDs)},
	{"a cell may be large", trying(largeCell)},
	{"a save replaces the whole cell", trying(replacedCell)},
	{"replies are kept in their order", trying(replyOrder)},
	{"a lease is given to one", trying(oneLease)},
	{"a lease can be given back", trying(returnedLease)},
	{"a lease ends with its time", trying(endedLease)},
	{"a lease can be moved", trying(movedLease)},
	{"an owner may write until somebody else leases", trying(lateOwner)},
	{"who has lost the lease changes nothing", trying(lostLease)},
	{"an expired cell is unknown", trying(expiredCell)},
	{"a leased cell does not expire", trying(leasedCell)},
	{"cells expire and leases end as time passes", trying(passingTime)},
	{"a deleted cell is gone", trying(deletedCell)},
	{"cells are apart", trying(separateCells)},
	{"what is saved is detached", trying(detachedSave)},
	{"cells that are given are detached", trying(detachedCell)},
	{"of parallel leases one is given", parallelLeases},
	{"parallel owners lose nothing", parallelOwners},
	{"parallel replies are all kept", parallelReplies},
	{"a load never sees half a save", wholeSaves},
	{"a done context changes no cell", trying(doneContextOfCells)},
	{"a context that ends leaves the whole or nothing", endingContext},
}
