package transcript

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// What an iteration holds in memory: so many entries, or the first that makes them so many bytes.
const (
	pageRows  = 64
	pageBytes = 256 << 10
)

// span is a part of a branch: the entries of one segment from the first to to.
type span struct{ segment, to int64 }

// spans gives the branch that ends with an entry, the newest part first.
func (t *transaction) spans(s *Session, to int64) ([]span, error) {
	if to == 0 {
		return nil, nil
	}
	rows, err := t.query(selectSpans, number(s.row, to), s.row)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var spans []span
	before := to
	for rows.Next() {
		var next span
		if err := t.scan(rows, &next.segment, &next.to, &before); err != nil {
			return nil, err
		}
		if next.segment > next.to || before >= next.segment {
			return nil, errAncestor
		}
		spans = append(spans, next)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if before != 0 {
		return nil, missing(before)
	}
	return spans, nil
}

// walk goes through entries of a session page by page, each in a transaction of its own.
type walk struct {
	session     *Session
	spans       []span // that are still to be read, in order; nil for all entries
	all         int64  // the number of the last of all entries, if they are to be read
	newestFirst bool
	done        int64 // the number of the last entry that was read
	parent      int64 // of that entry
	bytes       int   // how much was read, of payloads
}

// numbered is an entry with its number.
type numbered struct {
	number int64
	entry  Entry
}

// page reads the next entries: none at the end.
func (w *walk) page(t *transaction) ([]numbered, error) {
	query, from, to, segment := selectAll, w.done, w.all, int64(0)
	if w.all == 0 {
		if len(w.spans) == 0 {
			return nil, nil
		}
		query, segment, to = selectForward, w.spans[0].segment, w.spans[0].to
		from = max(from, segment-1)
		if w.newestFirst {
			query, from = selectBackward, segment-1
			if w.done > 0 {
				to = min(to, w.done-1)
			}
		}
	}
	rows, err := t.query(query, number(w.session.row, from), number(w.session.row, to), segment, pageRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []numbered
	for size := 0; size < pageBytes && rows.Next(); {
		row, err := t.scanEntry(rows)
		if err == nil && w.all == 0 && !w.follows(row) {
			err = fmt.Errorf("%w (entry number %d is not where its branch leads)", ErrDamaged, row.number)
		}
		if err != nil {
			return nil, err
		}
		size += len(row.members)
		w.bytes += len(row.members)
		w.done, w.parent = row.number, row.parent
		page = append(page, row.numbered)
	}
	if err := rows.Err(); err != nil || w.all > 0 {
		return page, err
	}
	switch {
	case len(page) == 0:
		return nil, missing(to)
	case w.done == w.spans[0].to && !w.newestFirst, w.done == segment && w.newestFirst:
		w.spans = w.spans[1:]
	}
	return page, nil
}

// follows tells whether an entry is the next one of the branch, by what the entries say of their parents.
func (w *walk) follows(row scannedEntry) bool {
	switch {
	case !w.newestFirst:
		return row.parent == w.done
	case w.done == 0:
		return row.number == w.spans[0].to
	}
	return row.number == w.parent
}

// seq goes through what a walk reads, from where begin says.
func (s *Session) seq(ctx context.Context, begin func(*transaction) (walk, error)) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var w walk
		for started := false; ; started = true {
			var page []numbered
			err := s.store.read(ctx, func(t *transaction) error {
				if err := t.checkSession(s); err != nil {
					return err
				}
				var err error
				if !started {
					if w, err = begin(t); err != nil {
						return err
					}
					w.session = s
				}
				page, err = w.page(t)
				return err
			})
			if err != nil {
				yield(Entry{}, aboutSession("reading", s.key, err))
				return
			}
			for _, row := range page {
				if err := ctx.Err(); err != nil {
					yield(Entry{}, aboutSession("reading", s.key, err))
					return
				}
				if !yield(row.entry, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// Branch implements [Log].
func (s *Session) Branch(ctx context.Context, opts *BranchOptions) iter.Seq2[Entry, error] {
	var o BranchOptions
	if opts != nil {
		o = *opts
	}
	return s.seq(ctx, func(t *transaction) (walk, error) {
		to, flawed, err := t.end(s, o.To)
		if err != nil {
			return walk{}, err
		}
		if o.Strict && flawed > 0 {
			return walk{}, ErrInconsistent
		}
		spans, err := t.spans(s, to)
		if !o.NewestFirst {
			slices.Reverse(spans)
		}
		return walk{spans: spans, newestFirst: o.NewestFirst}, err
	})
}

// Entries implements [Log].
func (s *Session) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return s.seq(ctx, func(t *transaction) (walk, error) {
		var last int64
		err := t.queryRow(selectLast, []any{number(s.row, 0), number(s.row+1, 0)}, &last)
		return walk{all: last}, err
	})
}

// Branches gives the entries with which the session's branches end, in the order in which they were appended: those that no
// other entry follows, but for leaf entries and what stands beside a branch. A session that never went elsewhere has one, a new
// one none. [BranchOptions.To] takes their ids. All of them are held in memory, with what they say.
func (s *Session) Branches(ctx context.Context) ([]Entry, error) {
	var ends []Entry
	err := s.store.read(ctx, func(t *transaction) error {
		if err := t.checkSession(s); err != nil {
			return err
		}
		rows, err := t.query(selectEnds, s.row)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			row, err := t.scanEntry(rows)
			if err != nil {
				return err
			}
			ends = append(ends, row.entry)
		}
		return rows.Err()
	})
	return ends, aboutSession("reading", s.key, err)
}

// Issued implements [Log].
func (s *Session) Issued(r Receipt) bool { return s.store.issuer.Issued(r) }

// Leaf implements [Log].
func (s *Session) Leaf(ctx context.Context) (string, error) {
	id := Root
	err := s.store.read(ctx, func(t *transaction) error {
		n, _, err := t.end(s, "")
		if err != nil || n == 0 {
			return err
		}
		leaf, _, _, err := t.nodeAt(s, n)
		id = leaf.id
		return err
	})
	if err != nil {
		return "", aboutSession("reading", s.key, err)
	}
	return id, nil
}

// Entry implements [Log].
func (s *Session) Entry(ctx context.Context, id string) (Entry, error) {
	var entry Entry
	err := s.store.read(ctx, func(t *transaction) error {
		if err := t.checkSession(s); err != nil {
			return err
		}
		found, ok, err := t.entry(s, selectEntry, s.row, id)
		if err == nil && !ok {
			err = fmt.Errorf("%w: %.100q", ErrUnknownEntry, id)
		}
		entry = found
		return err
	})
	return entry, aboutSession("reading", s.key, err)
}

// Keyed implements [Log].
func (s *Session) Keyed(ctx context.Context, keys ...string) (map[string]Receipt, error) {
	receipts := make(map[string]Receipt, len(keys))
	err := s.store.read(ctx, func(t *transaction) error {
		if err := t.checkSession(s); err != nil {
			return err
		}
		for _, key := range keys {
			entry, ok, err := t.keyed(s, key)
			if err != nil {
				return err
			}
			if ok {
				receipts[key] = s.store.issuer.Receipt(s.key, s.id, entry, false)
			}
		}
		return nil
	})
	if err != nil {
		return nil, aboutSession("reading", s.key, err)
	}
	return receipts, nil
}

// Settings implements [Log].
func (s *Session) Settings(ctx context.Context, id string) (Settings, error) {
	var settings Settings
	err := s.store.read(ctx, func(t *transaction) error {
		end, _, err := t.end(s, id)
		if err != nil || end == 0 {
			return err
		}
		n, _, _, err := t.nodeAt(s, end)
		if err != nil {
			return err
		}
		for _, setter := range []int64{n.model, n.thinking} {
			entry, ok, err := t.entry(s, selectEntryByNumber, number(s.row, setter))
			switch {
			case err != nil:
				return err
			case ok:
				settings.apply(entry.Payload)
			case setter != 0:
				return missing(setter)
			}
		}
		return nil
	})
	return settings, aboutSession("reading", s.key, err)
}

// apply takes over what a payload sets.
func (s *Settings) apply(payload Payload) {
	switch payload := payload.(type) {
	case ModelChange:
		s.Provider, s.ModelID = payload.Provider, payload.ModelID
	case ThinkingLevelChange:
		s.ThinkingLevel = payload.Level
	case Message:
		if payload.setsModel() {
			s.Provider, s.ModelID = payload.field("provider"), payload.field("model")
		}
	}
}

// checkSession returns ErrSessionGone if the session is not there any more.
func (t *transaction) checkSession(s *Session) error {
	_, _, err := t.end(s, "")
	return err
}

// end gives the number of an entry by its id, or that of the leaf, and how many flaws the session has.
func (t *transaction) end(s *Session, id string) (n, flawed int64, err error) {
	err = t.queryRow(selectLeaf, []any{s.row, s.id}, &n, &flawed)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, ErrSessionGone
	}
	if err != nil || id == "" {
		return n, flawed, err
	}
	if id == Root {
		return 0, flawed, nil
	}
	at, err := (&writer{t: t, session: s}).find(id)
	return at.number, flawed, err
}

// entry reads one entry, if there is one.
func (t *transaction) entry(s *Session, query string, args ...any) (Entry, bool, error) {
	rows, err := t.query(query, args...)
	if err != nil {
		return Entry{}, false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return Entry{}, false, rows.Err()
	}
	row, err := t.scanEntry(rows)
	return row.entry, err == nil, err
}

// scannedEntry is an entry as it is kept.
type scannedEntry struct {
	numbered // without its payload
	parent   int64
	kind     Kind
	members  []byte // of the payload
}

// scanEntry reads a row of entryColumns.
func (t *transaction) scanEntry(rows *sql.Rows) (scannedEntry, error) {
	row, err := t.scanLine(rows)
	if err == nil {
		row.entry.Payload = decode(row.kind, row.members)
	}
	return row, err
}

// scanLine reads a row of entryColumns, but not its payload. It lets nothing pass that a store would not have written.
func (t *transaction) scanLine(rows *sql.Rows) (row scannedEntry, err error) {
	var time int64
	var parentID sql.NullString
	entry := &row.entry
	err = t.scan(rows, &row.number, &entry.ID, &row.parent, &parentID, &row.kind, &entry.Side, &time, &row.members)
	switch {
	case err != nil:
		return row, err
	case row.parent >= row.number:
		return row, errAncestor
	case row.parent != 0 && !parentID.Valid:
		return row, missing(row.parent)
	}
	entry.ParentID, entry.Time = cmp.Or(parentID.String, Root), entryTime(time)
	row.members, err = jsontext.Compact(row.members)
	if err == nil && (row.kind == "" || row.members[0] != '{') {
		err = errors.New("an entry has a kind and a JSON object")
	}
	if err = errors.Join(err, checkTime(entry.Time), checkTexts(entry.ID, entry.ParentID, string(row.kind))); err != nil {
		err = fmt.Errorf("%w (entry %.100q: %w)", ErrDamaged, entry.ID, err)
	}
	return row, err
}

const (
	// A segment's first entry knows what comes before the segment.
	selectSpans = `WITH RECURSIVE path (segment, number, before) AS (
			SELECT e.segment, e.entry & 0xffffffff, f.parent
			FROM entries e JOIN entries f ON f.entry = (e.session << 32 | e.segment) WHERE e.entry = ?1
			UNION ALL
			SELECT e.segment, path.before, f.parent
			FROM path JOIN entries e ON e.entry = (?2 << 32 | path.before) JOIN entries f ON f.entry = (?2 << 32 | e.segment)
			WHERE path.before BETWEEN 1 AND path.segment - 1)
		SELECT segment, number, before FROM path`

	entryColumns = `SELECT e.entry & 0xffffffff, e.id, e.parent, p.id, e.kind, e.side, e.time, e.data
		FROM entries e LEFT JOIN entries p ON e.parent > 0 AND p.entry = (e.session << 32 | e.parent)`
	selectForward  = entryColumns + ` WHERE e.entry > ? AND e.entry <= ? AND e.segment = ? ORDER BY e.entry LIMIT ?`
	selectBackward = entryColumns + ` WHERE e.entry > ? AND e.entry <= ? AND e.segment = ? ORDER BY e.entry DESC LIMIT ?`
	selectAll      = entryColumns + ` WHERE e.entry > ? AND e.entry <= ? AND ? = 0 ORDER BY e.entry LIMIT ?`

	// An entry that is followed is not the last one of its segment, or the first one of another segment follows it.
	selectEnds = entryColumns + ` WHERE e.entry IN (SELECT max(entry) FROM entries WHERE session = ?1 AND kind <> 'leaf' AND side = 0 GROUP BY segment)
			AND e.entry & 0xffffffff NOT IN (SELECT parent FROM entries WHERE session = ?1 AND kind <> 'leaf' AND side = 0
				AND segment = entry & 0xffffffff)
		ORDER BY e.entry`
	selectEntry         = entryColumns + ` WHERE e.session = ? AND e.id = ?`
	selectEntryByNumber = entryColumns + ` WHERE e.entry = ?`
	selectKeyed         = entryColumns + ` WHERE e.entry = (SELECT entry FROM entry_keys WHERE session = ? AND key = ?)`
	selectLast          = `SELECT ifnull(max(entry) & 0xffffffff, 0) FROM entries WHERE entry > ? AND entry < ?`
	selectLeaf          = `SELECT leaf, flawed FROM session_states WHERE session = ? AND id = ?`
)
