package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellmode/cellmode/store"
)

func oneLease(t *trial) {
	cell := fresh("c")
	cell.Replies = []store.Reply{{Call: 1, Data: []byte("one")}}
	cell = t.saved(cell)
	for fence := int64(2); fence < 5; fence++ {
		cell = t.lease(cell, in(time.Hour))
		t.holds(cell)
		t.leased(cell.ID)
		t.holds(cell) // as before: who was refused has not moved the fence
		t.renew(cell.ID, fence, time.Time{})
		cell.Leased = time.Time{}
		t.holds(cell)
	}
}

func returnedLease(t *trial) {
	cell := t.lease(t.saved(fresh("c")), in(time.Hour))
	cell.Leased = time.Time{}
	t.save(cell)
	t.holds(cell)
	cell = t.lease(cell, in(time.Hour))
	t.leased(cell.ID)
	t.renew(cell.ID, cell.Fence, time.Time{})
	cell.Leased = time.Time{}
	t.holds(cell)
	t.lease(cell, in(time.Hour))
}

func endedLease(t *trial) {
	cell := fresh("c")
	cell.Leased = in(-time.Second)
	cell = t.saved(cell)
	cell = t.lease(cell, in(-time.Minute)) // given, and over at once
	t.holds(cell)
	cell = t.lease(cell, in(time.Hour))
	cell.Leased = in(-time.Second)
	t.save(cell)
	cell = t.lease(cell, in(time.Hour))
	cell.Leased = in(-time.Second)
	t.renew(cell.ID, cell.Fence, cell.Leased)
	cell = t.lease(cell, in(time.Hour))
	t.leased(cell.ID)
}

func movedLease(t *trial) {
	cell := t.lease(t.saved(fresh("c")), in(time.Minute))
	for _, until := range []time.Time{in(time.Hour), in(time.Second * 30), in(-time.Hour), in(time.Minute)} { // over, and held again
		t.renew(cell.ID, cell.Fence, until)
		cell.Leased = until
		t.holds(cell)
	}
	t.leased(cell.ID)
	cell.Leased = in(time.Hour)
	t.save(cell)
	t.holds(cell)
	t.leased(cell.ID)
}

func lateOwner(t *trial) {
	for i, over := range []time.Time{in(-time.Second), {}} { // its time is over, or it was given back
		cell := t.lease(t.saved(fresh(fmt.Sprint("c", i))), in(time.Minute))
		t.renew(cell.ID, cell.Fence, over)
		t.reply(cell.ID, cell.Fence, store.Reply{Call: 1})
		cell.Leased, cell.Data, cell.Replies = over, []byte("late"), []store.Reply{{Call: 1}, {Call: 2}}
		t.save(cell)
		t.reply(cell.ID, cell.Fence, store.Reply{Call: 3})
		cell.Replies = append(cell.Replies, store.Reply{Call: 3})
		t.holds(cell)
		t.renew(cell.ID, cell.Fence, in(time.Minute))
		t.leased(cell.ID)
		t.renew(cell.ID, cell.Fence, over)
		t.remove(cell.ID, cell.Fence)
		t.unknown(cell.ID)
	}
}

func lostLease(t *trial) {
	cell := fresh("c")
	cell.Replies = []store.Reply{{Call: 1, Data: []byte("one")}}
	cell = t.lease(t.saved(cell), in(-time.Second))
	cell = t.lease(cell, in(time.Hour)) // taken over
	for _, fence := range []int64{cell.Fence - 1, cell.Fence - 2, cell.Fence + 1, 0, -1, -cell.Fence} {
		t.lost(cell.ID, fence)
		t.holds(cell)
	}
	t.renew(cell.ID, cell.Fence, time.Time{}) // the newest lease still counts when nobody has the cell
	cell.Leased = time.Time{}
	t.lost(cell.ID, cell.Fence-1)
	t.holds(cell)
	t.reply(cell.ID, cell.Fence, store.Reply{Call: 2})
	cell.Replies = append(cell.Replies, store.Reply{Call: 2})
	t.holds(cell)
}

func expiredCell(t *trial) {
	for i, leased := range []time.Time{{}, in(-time.Second)} {
		cell := fresh(fmt.Sprint("c", i))
		cell.Expires, cell.Leased, cell.Replies = in(-time.Second), leased, []store.Reply{{Call: 1}}
		t.save(cell)
		t.unknown(cell.ID)
		// Its place is free, and nothing of it is left.
		t.holds(t.saved(fresh(cell.ID)))

		cell = fresh(fmt.Sprint("d", i))
		cell.Leased = in(time.Hour)
		cell = t.saved(cell)
		cell.Expires, cell.Leased = in(-time.Second), leased
		t.save(cell)
		t.unknown(cell.ID)
	}
}

func leasedCell(t *trial) {
	cell := fresh("c")
	cell.Expires, cell.Leased = in(-time.Second), in(time.Hour)
	cell = t.saved(cell)
	t.holds(cell)
	t.leased(cell.ID)
	t.reply(cell.ID, 1, store.Reply{Call: 1})
	cell.Replies, cell.Leased = []store.Reply{{Call: 1}}, in(time.Minute)
	t.renew(cell.ID, 1, cell.Leased)
	t.holds(cell)
	cell.Data = []byte("later")
	t.save(cell)
	t.save(fresh("another")) // removes what has expired, if anything does
	t.holds(cell)
	t.renew(cell.ID, 1, time.Time{})
	t.unknown(cell.ID)

	cell = fresh("d")
	cell.Expires, cell.Leased = in(-time.Second), in(time.Hour)
	cell = t.saved(cell)
	cell.Expires, cell.Leased = in(time.Hour), time.Time{} // wanted again
	t.save(cell)
	t.holds(cell)
}

// passingTime waits for less than a second if the store is right.
func passingTime(t *trial) {
	cell := fresh("expires")
	cell.Expires = in(300 * time.Millisecond)
	t.save(cell)
	t.until(cell.Expires, "LoadCell of a cell whose time comes", nil, store.ErrUnknownCell, func() error {
		_, err := t.s.LoadCell(t.ctx, cell.ID)
		return err
	})
	t.unknown(cell.ID)
	cell = fresh("leased")
	cell.Leased = in(300 * time.Millisecond)
	t.save(cell)
	t.until(cell.Leased, "LeaseCell of a cell whose lease ends", store.ErrCellLeased, nil, func() error {
		_, err := t.s.LeaseCell(t.ctx, cell.ID, in(time.Hour))
		return err
	})
}

// until calls until the outcome is that of after a time, which must not be before it, nor long after.
func (t *trial) until(at time.Time, what string, before, after error, call func() error) {
	// The clock of the store may be another's.
	const early, late = 20 * time.Millisecond, 2 * time.Second
	for t.err == nil {
		begun := time.Now()
		switch err := call(); {
		case errors.Is(err, after):
			if time.Now().Before(at.Add(-early)) {
				t.err = fmt.Errorf("%s gives %v %v too early", what, err, time.Until(at))
			}
			return
		case !errors.Is(err, before):
			t.err = fmt.Errorf("%s gives the error %v", what, err)
		case begun.After(at.Add(late)):
			t.err = fmt.Errorf("%s still gives %v %v after that", what, err, time.Since(at))
		default:
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func deletedCell(t *trial) {
	cell := fresh("c")
	cell.Replies = []store.Reply{{Call: 1}}
	cell = t.lease(t.saved(cell), in(time.Hour))
	t.remove(cell.ID, cell.Fence)
	t.unknown(cell.ID)
	t.lost(cell.ID, cell.Fence)
	t.lost(cell.ID, 1)
	t.unknown(cell.ID)
	t.holds(t.saved(fresh(cell.ID))) // without the replies
}

func separateCells(t *trial) {
	cell, other := fresh("c"), fresh("d")
	other.Replies = []store.Reply{{Call: 1, Data: []byte("other")}}
	cell, other = t.saved(cell), t.saved(other)
	cell = t.lease(cell, in(time.Hour))
	t.holds(other)
	t.lost(other.ID, cell.Fence)
	t.reply(cell.ID, cell.Fence, store.Reply{Call: 2})
	t.renew(cell.ID, cell.Fence, in(2*time.Hour))
	t.holds(other)
	cell.Data = []byte("changed")
	t.save(cell)
	t.holds(other)
	t.holds(cell)
	other = t.lease(other, in(time.Hour)) // while the other lease lasts
	t.holds(cell)
	t.remove(cell.ID, cell.Fence)
	t.unknown(cell.ID)
	t.holds(other)
}
