package transcript

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// The index of search has a document for each message that Search may find, on whatever branch it is: so it need not change
// when a session goes elsewhere. A session that has grown since it was indexed is in search_backlog: its first append puts
// it there, and that is all that appends pay for the index. Documents are made in batches, as one alone would cost more
// than its append.
//
// The number of a document has the entry's time before the last docBits bits: their order is that of time.
const docBits = 20

// What is indexed at once is so many entries, or the first that make it so many bytes of JSON: so nobody waits for it for long.
const (
	batchEntries = 512
	batchBytes   = 256 << 10
	batchScanned = 16384 // with those that are not indexed
)

// Index brings the index of search in step with the entries, and makes it anew if it is damaged. Search does without, but then
// some of it may be left for it to do. Others may write meanwhile. ErrReadOnly, or what keeps it from writing.
func (s *Store) Index(ctx context.Context) error {
	err := s.checkIndex(ctx)
	if err == nil {
		_, err = s.catchUp(ctx, SearchOptions{}, math.MaxInt, noLimit)
	}
	if err != nil {
		return fmt.Errorf("transcript: indexing: %w", err)
	}
	return nil
}

// checkIndex clears an index that lacks documents.
func (s *Store) checkIndex(ctx context.Context) error {
	if s.readOnly {
		return ErrReadOnly
	}
	whole := false
	err := s.read(ctx, func(t *transaction) error {
		var docs, sizes, terms int64
		err := indexError(t.queryRow(countIndexed, nil, &docs, &sizes, &terms))
		whole = docs == sizes && docs == terms
		return err
	})
	if err == nil && !whole || errors.Is(err, errIndexDamaged) {
		err = s.clearIndex(ctx)
	}
	return err
}

// errIndexDamaged reports an index that does not fit the entries.
var errIndexDamaged = fmt.Errorf("%w: the index of search does not fit the entries", ErrDamaged)

// indexError gives an error of a statement that uses the index its meaning.
func indexError(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT:
		return fmt.Errorf("%w (%w)", errIndexDamaged, err)
	}
	return err
}

// noLimit is how long the store waits for its turn to write, if nothing else says so.
const noLimit time.Duration = math.MaxInt64

// catchUp indexes what the options are about, in so many batches at most, for each of which it waits for so long at most. It
// tells whether something is left. An index that turns out to be damaged is cleared, once.
func (s *Store) catchUp(ctx context.Context, o SearchOptions, batches int, wait time.Duration) (left bool, err error) {
	cleared := false
	for left = true; left && batches > 0; batches-- {
		left, err = s.indexBatch(ctx, o, wait)
		if errors.Is(err, errIndexDamaged) && !cleared {
			cleared, left = true, true
			err = s.clearIndex(ctx)
		}
		if err != nil {
			return true, err
		}
	}
	return left, nil
}

// indexBatch indexes one batch. It reads the entries before its turn to write begins: they do not change.
func (s *Store) indexBatch(ctx context.Context, o SearchOptions, wait time.Duration) (left bool, err error) {
	var portions []portion
	err = s.read(ctx, func(t *transaction) error {
		portions, left, err = t.unindexed(o)
		return err
	})
	if err != nil || len(portions) == 0 {
		return left, err
	}
	turn, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err = s.write(turn, func(t *transaction) error {
		missed, err := t.index(portions)
		left = left || missed
		return err
	})
	return left, err
}

// portion are entries of a session that are not indexed yet: those after number from, up to number to.
type portion struct {
	session   int64
	id        string
	from, to  int64
	documents []document
}

// document is what the index gets of an entry.
type document struct {
	entry, time     int64
	user, assistant any    // words of the role that it has; nil for the other
	session         string // see sessionTerm
}

// unindexed reads a batch, and tells whether there is more.
func (t *transaction) unindexed(o SearchOptions) (batch []portion, left bool, err error) {
	scope, err := t.scope(o)
	if err != nil {
		return nil, false, err
	}
	behind, err := t.backlog(scope)
	if err != nil {
		return nil, false, err
	}
	entries, bytes := batchEntries, batchBytes
	for _, p := range behind {
		if entries <= 0 || bytes <= 0 {
			return batch, true, nil
		}
		end := p.to
		if err := t.readDocuments(&p, &entries, &bytes); err != nil {
			return nil, false, err
		}
		batch = append(batch, p)
		left = left || p.to < end
	}
	return batch, left || len(behind) == batchEntries, nil
}

// backlog gives sessions that are behind: a batch at most.
func (t *transaction) backlog(scope scope) ([]portion, error) {
	rows, err := t.query(selectBacklog)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var behind []portion
	for len(behind) < batchEntries && rows.Next() {
		var p portion
		if err := t.scan(rows, &p.session, &p.id, &p.from, &p.to); err != nil {
			return nil, err
		}
		if scope.has(p.session) {
			behind = append(behind, p)
		}
	}
	return behind, rows.Err()
}

// readDocuments reads the documents of a portion, as long as there is room in the batch, and ends it there.
func (t *transaction) readDocuments(p *portion, entries, bytes *int) error {
	p.to = min(p.to, p.from+batchScanned)
	rows, err := t.query(selectUnindexed, number(p.session, p.from), number(p.session, p.to), *entries)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var d document
		var data []byte
		if err := t.scan(rows, &d.entry, &d.time, &data); err != nil {
			return err
		}
		role, text := searchable(decode(KindMessage, data))
		if all := foldedWords(text); len(all) > 0 {
			d.session = sessionTerm(p.session)
			if role == RoleUser {
				d.user = strings.Join(all, " ")
			} else {
				d.assistant = strings.Join(all, " ")
			}
			p.documents = append(p.documents, d)
		}
		if *entries, *bytes = *entries-1, *bytes-len(data); *entries <= 0 || *bytes <= 0 {
			p.to = d.entry & math.MaxUint32
			break
		}
	}
	return rows.Err()
}

// index writes a batch. What another process has indexed since it was read, or what has been deleted, it misses.
func (t *transaction) index(batch []portion) (missed bool, err error) {
	var documents []document
	for _, p := range batch {
		end := int64(0)
		err := t.queryRow(selectBehind, []any{p.session, p.id, p.from}, &end)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			missed = true
			continue
		case err != nil:
			return false, err
		case p.to == end:
			_, err = t.exec(deleteBacklog, p.session)
		default:
			_, err = t.exec(advanceBacklog, p.to, p.session)
			missed = true // those that were appended meanwhile
		}
		if err != nil {
			return false, err
		}
		documents = append(documents, p.documents...)
	}
	// SQLite keeps documents together in memory as long as their numbers grow.
	slices.SortFunc(documents, func(a, b document) int {
		return cmp.Or(cmp.Compare(docTime(a.time), docTime(b.time)), cmp.Compare(a.entry, b.entry))
	})
	for _, d := range documents {
		if err := t.insertDocument(d); err != nil {
			return false, err
		}
	}
	return missed, t.flushIndex()
}

// flushIndex has SQLite do now what it else does while it commits: so damage is found while there is a way out.
func (t *transaction) flushIndex() error {
	_, err := t.exec(flushIndexed)
	return indexError(err)
}

// docTime is a time as the numbers of documents have it: milliseconds that fit into them.
func docTime(time int64) int64 { return max(0, min(time, 1<<(62-docBits)-1)) }

func (t *transaction) insertDocument(d document) error {
	for time := docTime(d.time); ; time++ {
		var doc int64
		err := t.queryRow(insertDoc, []any{time << docBits, time<<docBits | (1<<docBits - 1), d.entry}, &doc)
		if errors.Is(err, sql.ErrNoRows) {
			continue // a million documents have this time
		}
		if err == nil {
			_, err = t.exec(insertIndexed, doc, d.user, d.assistant, d.session)
		}
		return indexError(err)
	}
}

// isBehind tells whether any session in a scope has entries that are not indexed.
func (t *transaction) isBehind(scope scope) (bool, error) {
	behind, err := t.backlog(scope)
	return len(behind) > 0, err
}

// unindex takes a session out of the index. It belongs before the deletion of the session's entries, in the same transaction.
func (t *transaction) unindex(session int64) error {
	from, to := number(session, 0), number(session+1, 0)
	_, err := t.exec(deleteIndexed, from, to)
	if err = indexError(err); err == nil {
		err = t.flushIndex()
	}
	if errors.Is(err, errIndexDamaged) {
		err = t.clearIndex()
	}
	if err == nil {
		_, err = t.exec(deleteDocs, from, to)
	}
	if err == nil {
		_, err = t.exec(deleteBacklog, session)
	}
	return err
}

// clearIndex empties the index, and has all sessions indexed anew.
func (s *Store) clearIndex(ctx context.Context) error {
	s.logger.Warn("transcript: the index of search is damaged and will be made anew")
	return s.write(ctx, (*transaction).clearIndex)
}

func (t *transaction) clearIndex() error {
	for _, query := range []string{clearIndexed, clearDocs, fillBacklog} {
		if _, err := t.exec(query); err != nil {
			return err
		}
	}
	return nil
}

const (
	selectBacklog = `SELECT s.session, s.id, b.indexed, s.entries FROM search_backlog b CROSS JOIN session_states s ON s.session = b.session
		ORDER BY b.session`
	selectBehind = `SELECT s.entries FROM search_backlog b JOIN session_states s ON s.session = b.session
		WHERE s.session = ? AND s.id = ? AND b.indexed = ?`
	// Results of tools are left where they are: they may be large. The role is what every message begins with.
	selectUnindexed = `SELECT entry, time, data FROM entries
		WHERE entry > ? AND entry <= ? AND kind = 'message' AND substr(data, 1, 31) <> '{"message":{"role":"toolResult"' ORDER BY entry LIMIT ?`
	advanceBacklog = `UPDATE search_backlog SET indexed = ? WHERE session = ?`
	deleteBacklog  = `DELETE FROM search_backlog WHERE session = ?`
	fillBacklog    = `INSERT INTO search_backlog (session, indexed) SELECT session, 0 FROM sessions WHERE true
		ON CONFLICT (session) DO UPDATE SET indexed = 0`

	insertDoc = `INSERT INTO search_docs (doc, entry)
		SELECT ifnull((SELECT max(doc) + 1 FROM search_docs WHERE doc BETWEEN ?1 AND ?2), ?1), ?3 WHERE true
		ON CONFLICT (doc) DO NOTHING RETURNING doc`
	deleteDocs = `DELETE FROM search_docs WHERE entry > ? AND entry < ?`
	clearDocs  = `DELETE FROM search_docs`

	insertIndexed = `INSERT INTO search (rowid, user, assistant, session) VALUES (?, ?, ?, ?)`
	deleteIndexed = `DELETE FROM search WHERE rowid IN (SELECT doc FROM search_docs WHERE entry > ? AND entry < ?)`
	clearIndexed  = `INSERT INTO search (search) VALUES ('delete-all')`
	flushIndexed  = `INSERT INTO search (search) VALUES ('flush')`
	countIndexed  = `SELECT (SELECT count(*) FROM search_docs), (SELECT count(*) FROM search_docsize),
		(SELECT count(*) FROM search WHERE search MATCH 'session : s*')`
)
