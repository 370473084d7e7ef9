package storetest

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cellmode/cellmode/store"
)

func unknownCell(t *trial) {
	t.save(fresh("another"))
	for _, id := range []string{"c", "", "anothe", "another ", "%"} {
		t.unknown(id)
	}
	for _, fence := range []int64{0, 1, 2, -1} {
		t.lost("c", fence)
	}
	t.unknown("c") // what was refused has made nothing
}

func newCell(t *trial) {
	t.holds(t.saved(fresh("c")))
	cell := fresh("with everything")
	cell.Leased, cell.Replies = in(time.Minute), []store.Reply{{Call: 1, Data: []byte("one")}}
	cell = t.saved(cell)
	t.holds(cell)
	t.leased(cell.ID) // the lease is that of who has saved it
	t.reply(cell.ID, 1, store.Reply{Call: 2})
	cell.Replies = append(cell.Replies, store.Reply{Call: 2})
	t.holds(cell)
}

func takenID(t *trial) {
	refused := func() {
		again := fresh("c")
		again.Data, again.Replies, again.Leased = []byte("again"), []store.Reply{{Call: 9}}, in(time.Minute)
		t.fails("SaveCell of a new cell with the id of another", store.ErrLeaseLost, func() error { return t.s.SaveCell(t.ctx, again) })
	}
	cell := t.saved(fresh("c"))
	refused()
	t.holds(cell)
	cell = t.lease(cell, in(time.Minute))
	refused()
	t.holds(cell)
}

func exactCells(t *trial) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	texts := []string{
		"", "\x00", "\x00\x00", "null", "0", " ", "\xff\xfe", "é 😀 \u2028", "'; DROP TABLE cells; --", "\r\n", `{"a":1}`,
		string(all), strings.Repeat("0123456789", 10_000), "a\x00b",
	}
	cells := make([]store.Cell, len(texts))
	for i, text := range texts {
		cell := fresh(fmt.Sprint("c", i))
		cell.Data, cell.RunID, cell.SessionID = []byte(text), text, texts[len(texts)-1-i]
		cell.Replies = []store.Reply{{Call: int64(i), Data: []byte(text)}, {Call: math.MaxInt64}, {Call: math.MinInt64, Data: all}}
		cells[i] = t.saved(cell)
	}
	for i := range cells {
		reply := store.Reply{Call: -1, Data: []byte(texts[i])}
		t.reply(cells[i].ID, 1, reply)
		cells[i].Replies = append(cells[i].Replies, reply)
	}
	for _, cell := range cells {
		t.holds(cell)
		t.lease(cell, in(time.Minute))
	}
}

func exactTimes(t *trial) {
	odd := time.Date(2199, 12, 31, 23, 59, 59, 999_999_000, time.FixedZone("", -4321))
	for i, expires := range []time.Time{odd, in(time.Hour), in(time.Hour + time.Microsecond), time.Unix(1, 1000), time.Now().Add(time.Hour).Truncate(time.Second)} {
		cell := fresh(fmt.Sprint("c", i))
		cell.Expires, cell.Leased = expires, odd
		cell = t.saved(cell)
		t.holds(cell)
		cell.Leased = in(time.Hour + time.Microsecond)
		t.renew(cell.ID, 1, cell.Leased)
		t.holds(cell)
	}
	cell := t.saved(fresh("free"))
	t.works("LoadCell", func() error {
		got, err := t.s.LoadCell(t.ctx, cell.ID)
		if err == nil && !got.Leased.IsZero() {
			err = fmt.Errorf("a cell that nobody has is leased until %v, not the zero time", got.Leased)
		}
		return err
	})
}

func exactIDs(t *trial) {
	ids := []string{
		" ", "a", "A", "a ", " a", "\x00", "a\x00", "a\x00b", "\n", "é", "e\u0301", "\ufffd", "\xff", "\xfe", "%", "_", "*", "'", `"`, `\`,
		"0", "00", "1e0", "null", "a/b", "../a", "'; DROP TABLE cells; --", strings.Repeat("x", 1000), strings.Repeat("x", 1000) + "y",
	}
	cells := map[string]store.Cell{}
	for i, id := range ids {
		cell := fresh(id)
		cell.Data = fmt.Append(nil, i)
		cells[id] = t.saved(cell)
	}
	for i, id := range ids {
		t.holds(cells[id])
		switch i % 3 {
		case 0:
			t.remove(id, 1)
			t.unknown(id)
			delete(cells, id)
		case 1:
			cells[id] = t.lease(cells[id], in(time.Minute))
		}
	}
	for _, cell := range cells { // each was changed without the others
		t.holds(cell)
	}
}

func largeCell(t *trial) {
	cell := fresh("c")
	cell.Data = make([]byte, 10<<20)
	for i, x := 0, uint32(1); i < len(cell.Data); i++ { // nothing that compresses
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		cell.Data[i] = byte(x)
	}
	cell.Replies = []store.Reply{{Call: 1, Data: cell.Data[:3<<20]}}
	cell = t.saved(cell)
	reply := store.Reply{Call: 2, Data: cell.Data[1 : 4<<20]}
	t.reply(cell.ID, 1, reply)
	cell.Replies = append(cell.Replies, reply)
	t.holds(cell)
	cell = t.lease(cell, in(time.Minute))
	cell.Data, cell.Replies = cell.Data[:10<<20-1], nil
	t.save(cell)
	t.holds(cell)
	cell.Data = []byte("small")
	t.save(cell)
	t.holds(cell)
}

func replacedCell(t *trial) {
	cell := fresh("c")
	cell.Replies = []store.Reply{{Call: 1, Data: []byte("one")}, {Call: 2, Data: []byte("two")}}
	cell = t.saved(cell)
	t.reply(cell.ID, 1, store.Reply{Call: 3, Data: []byte("three")})

	cell.RunID, cell.SessionID, cell.Data = "another", "", bytes.Repeat([]byte("longer "), 1000)
	cell.Expires, cell.Leased = in(time.Minute), in(2*time.Minute)
	cell.Replies = []store.Reply{{Call: 2, Data: []byte("2")}}
	t.save(cell)
	t.holds(cell)

	cell.RunID, cell.SessionID, cell.Data, cell.Replies = "", "later", nil, nil
	cell.Expires, cell.Leased = in(3*time.Hour), time.Time{}
	t.save(cell)
	t.holds(cell)
}

func replyOrder(t *trial) {
	cell := t.saved(fresh("c"))
	add := func(call int64, text string) {
		reply := store.Reply{Call: call, Data: []byte(text)}
		t.reply(cell.ID, cell.Fence, reply)
		cell.Replies = append(cell.Replies, reply)
	}
	for _, call := range []int64{3, 1, 20, 2, 1, 100, 9, 10, -5, 11, 0, 3} { // one call may have two replies
		add(call, fmt.Sprint("reply ", len(cell.Replies)))
	}
	t.holds(cell)
	cell = t.lease(cell, in(time.Minute))
	add(7, "after the lease")
	cell.Replies = []store.Reply{{Call: 9, Data: []byte("kept")}, {Call: 8}, cell.Replies[0]}
	t.save(cell)
	add(1, "after the save")
	t.holds(cell)
	t.renew(cell.ID, cell.Fence, time.Time{})
	cell.Leased = time.Time{}
	t.lease(cell, in(time.Minute))
}
