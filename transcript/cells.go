package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cellmode/cellmode/store"
)

// MaxDataBytes is the most that a cell's data or that of one reply may have.
const MaxDataBytes = 512 << 20

const (
	selectCell    = `SELECT cell, run_id, session_id, expires, leased, fence FROM cells WHERE id = ?`
	selectData    = `SELECT data FROM cell_data WHERE cell = ?`
	selectReplies = `SELECT call, data FROM cell_replies WHERE cell = ? ORDER BY reply`

	leaseCell = `UPDATE cells SET fence = fence + 1, leased = ? WHERE cell = ?`
	renewCell = `UPDATE cells SET leased = ? WHERE id = ? AND fence = ?`

	// A cell that has expired, and is still there, gives its place to a new one of its id.
	insertCell = `INSERT INTO cells (id, run_id, session_id, expires, leased, fence) VALUES (?, ?, ?, ?, ?, 1)
		ON CONFLICT (id) DO UPDATE SET run_id = excluded.run_id, session_id = excluded.session_id,
			expires = excluded.expires, leased = excluded.leased, fence = 1
		WHERE max(expires, leased) <= ? RETURNING cell`
	updateCell = `UPDATE cells SET run_id = ?, session_id = ?, expires = ?, leased = ? WHERE id = ? AND fence = ? RETURNING cell`
	putData    = `INSERT INTO cell_data (cell, data) VALUES (?, ?) ON CONFLICT (cell) DO UPDATE SET data = excluded.data`

	deleteReplies = `DELETE FROM cell_replies WHERE cell = ?`
	insertReply   = `INSERT INTO cell_replies (cell, call, data) VALUES (?, ?, ?)`
	addReply      = `INSERT INTO cell_replies (cell, call, data) SELECT cell, ?, ? FROM cells WHERE id = ? AND fence = ?`

	deleteCell = `DELETE FROM cells WHERE id = ? AND fence = ?`
	// More than one, so that there are less of them with each save; not all, so that no save pays for thousands.
	deleteExpired = `DELETE FROM cells WHERE cell IN (SELECT cell FROM cells WHERE max(expires, leased) <= ? LIMIT 4)`
)

// cellQueries are prepared when a Store is opened.
var cellQueries = []string{
	selectCell, selectData, selectReplies, leaseCell, renewCell, insertCell, updateCell, putData,
	deleteReplies, insertReply, addReply, deleteCell, deleteExpired,
}

// LoadCell reads a cell, whoever has it: store.ErrUnknownCell if there is none of this id, or it has expired.
func (s *Store) LoadCell(ctx context.Context, id string) (store.Cell, error) {
	var cell store.Cell
	err := s.read(ctx, func(t *transaction) error {
		row, found, err := t.findCell(id, time.Now())
		if err != nil {
			return err
		}
		cell, err = t.fill(row, found)
		return err
	})
	return cell, about("loading", id, err)
}

// LeaseCell gives the caller a lease of a cell until the time given, and the cell as it is then.
// store.ErrUnknownCell and store.ErrCellLeased say why not.
func (s *Store) LeaseCell(ctx context.Context, id string, until time.Time) (store.Cell, error) {
	var cell store.Cell
	err := s.write(ctx, func(t *transaction) error {
		now := time.Now()
		row, found, err := t.findCell(id, now)
		if err != nil {
			return err
		}
		if now.Before(found.Leased) {
			return fmt.Errorf("%w until %s", store.ErrCellLeased, found.Leased.Format(time.RFC3339))
		}
		found.Fence++
		found.Leased = until
		if _, err := t.exec(leaseCell, nanoseconds(until), row); err != nil {
			return err
		}
		cell, err = t.fill(row, found)
		return err
	})
	return cell, about("leasing", id, err)
}

// SaveCell keeps a new cell, whose Fence is 0, or writes over one under its lease: store.ErrLeaseLost if that is not the
// newest, if the cell is gone, or if a new cell has the id of another. It also removes up to four cells that have expired.
func (s *Store) SaveCell(ctx context.Context, cell store.Cell) error {
	err := checkSizes(cell.Data, cell.Replies...)
	if err != nil {
		return about("saving", cell.ID, err)
	}
	err = s.write(ctx, func(t *transaction) error {
		now := nanoseconds(time.Now())
		expires, leased := nanoseconds(cell.Expires), nanoseconds(cell.Leased)
		var row int64
		if cell.Fence == 0 {
			err = t.queryRow(insertCell, []any{cell.ID, cell.RunID, cell.SessionID, expires, leased, now}, &row)
		} else {
			err = t.queryRow(updateCell, []any{cell.RunID, cell.SessionID, expires, leased, cell.ID, cell.Fence}, &row)
		}
		if errors.Is(err, sql.ErrNoRows) {
			return store.ErrLeaseLost
		}
		if err != nil {
			return err
		}
		if _, err := t.exec(putData, row, blob(cell.Data)); err != nil {
			return err
		}
		if _, err := t.exec(deleteReplies, row); err != nil {
			return err
		}
		for _, reply := range cell.Replies {
			if _, err := t.exec(insertReply, row, reply.Call, blob(reply.Data)); err != nil {
				return err
			}
		}
		_, err := t.exec(deleteExpired, now)
		return err
	})
	return about("saving", cell.ID, err)
}

// AddReply adds the reply of one call behind those that a cell has, or returns store.ErrLeaseLost.
func (s *Store) AddReply(ctx context.Context, id string, fence int64, reply store.Reply) error {
	if err := checkSizes(nil, reply); err != nil {
		return about("adding a reply to", id, err)
	}
	return about("adding a reply to", id, s.writeUnderLease(ctx, addReply, reply.Call, blob(reply.Data), id, fence))
}

// RenewLease moves the end of a lease, or returns store.ErrLeaseLost; the zero time gives it back.
func (s *Store) RenewLease(ctx context.Context, id string, fence int64, until time.Time) error {
	return about("renewing the lease of", id, s.writeUnderLease(ctx, renewCell, nanoseconds(until), id, fence))
}

// DeleteCell removes a cell, or returns store.ErrLeaseLost.
func (s *Store) DeleteCell(ctx context.Context, id string, fence int64) error {
	return about("deleting", id, s.writeUnderLease(ctx, deleteCell, id, fence))
}

// writeUnderLease runs a statement that changes a row only if the lease is the newest.
func (s *Store) writeUnderLease(ctx context.Context, query string, args ...any) error {
	return s.write(ctx, func(t *transaction) error {
		if n, err := t.exec(query, args...); err != nil || n > 0 {
			return err
		}
		return store.ErrLeaseLost
	})
}

// findCell reads the row of a cell that counts as known, and what the row says of it.
func (t *transaction) findCell(id string, now time.Time) (row int64, cell store.Cell, err error) {
	cell.ID = id
	var expires, leased int64
	err = t.queryRow(selectCell, []any{id}, &row, &cell.RunID, &cell.SessionID, &expires, &leased, &cell.Fence)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, store.Cell{}, store.ErrUnknownCell
	}
	if err != nil {
		return 0, store.Cell{}, err
	}
	cell.Expires, cell.Leased = instant(expires), instant(leased)
	if max(expires, leased) <= nanoseconds(now) {
		return 0, store.Cell{}, store.ErrUnknownCell
	}
	return row, cell, nil
}

// fill gives a cell its data and replies.
func (t *transaction) fill(row int64, cell store.Cell) (store.Cell, error) {
	if err := t.queryRow(selectData, []any{row}, &cell.Data); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = fmt.Errorf("%w (the cell has no data)", ErrDamaged)
		}
		return store.Cell{}, err
	}
	rows, err := t.query(selectReplies, row)
	if err != nil {
		return store.Cell{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var reply store.Reply
		if err := t.scan(rows, &reply.Call, &reply.Data); err != nil {
			return store.Cell{}, err
		}
		cell.Replies = append(cell.Replies, reply)
	}
	if err := rows.Err(); err != nil {
		return store.Cell{}, err
	}
	return cell, nil
}

// checkSizes keeps from the driver what it cannot take.
func checkSizes(data []byte, replies ...store.Reply) error {
	size := len(data)
	for _, reply := range replies {
		size = max(size, len(reply.Data))
	}
	if size > MaxDataBytes {
		return fmt.Errorf("%d bytes of data are more than the %d that a store keeps", size, MaxDataBytes)
	}
	return nil
}

// blob is data as the driver wants it: nil would be NULL.
func blob(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// nanoseconds is a time as the database has it: before 1970 it is 0, after 2242 it is then.
func nanoseconds(t time.Time) int64 {
	switch {
	case t.Unix() < 0:
		return 0
	case t.Unix() > maxTime.Unix():
		return maxTime.UnixNano()
	}
	return t.UnixNano()
}

var maxTime = time.Unix(1<<33, 0) // in 2242; nanoseconds in an int64 end in 2262

func instant(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds)
}

func about(doing, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("transcript: %s cell %q: %w", doing, id, err)
}
