package transcript

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Append appends one entry after the leaf, or where the options say, as [Log.AppendAll] does.
func (s *Session) Append(ctx context.Context, payload Payload, opts *AppendOptions) (Receipt, error) {
	receipts, err := s.AppendAll(ctx, []Draft{{Payload: payload}}, opts)
	if err != nil {
		return Receipt{}, err
	}
	return receipts[0], nil
}

// AppendAll implements [Log].
func (s *Session) AppendAll(ctx context.Context, drafts []Draft, opts *AppendOptions) ([]Receipt, error) {
	receipts, err := s.appendAll(ctx, drafts, opts)
	return receipts, aboutSession("appending to", s.key, err)
}

func (s *Session) appendAll(ctx context.Context, drafts []Draft, opts *AppendOptions) ([]Receipt, error) {
	var o AppendOptions
	if opts != nil {
		o = *opts
	}
	if o.Time.IsZero() {
		o.Time = time.Now()
	}
	if err := checkTime(o.Time); err != nil {
		return nil, err
	}
	// What can be done without the others waiting is done before their turn ends.
	texts := make([]draftText, len(drafts))
	for i, draft := range drafts {
		var err error
		if texts[i], err = s.store.prepareDraft(draft); err != nil {
			return nil, err
		}
	}
	var receipts []Receipt
	err := s.store.write(ctx, func(t *transaction) error {
		w, err := t.openWriter(s, o.Time)
		if err != nil {
			return err
		}
		there, err := w.areThere(texts)
		if err != nil {
			return err
		}
		if there {
			o.From = "" // to move would be to leave the branch that has them, as if they were not there
		}
		if err := w.start(o); err != nil {
			return err
		}
		receipts = make([]Receipt, 0, len(drafts))
		for _, text := range texts {
			if err := ctx.Err(); err != nil { // there may be many, and others wait
				return err
			}
			receipt, err := w.append(text)
			if err != nil {
				return err
			}
			receipts = append(receipts, receipt)
		}
		if err := w.close(); err != nil || o.Authority == nil {
			return err
		}
		return o.Authority()
	})
	if err != nil {
		return nil, err
	}
	return receipts, nil
}

// draftText is a draft that was checked, with its payload as it will be kept.
type draftText struct {
	Draft
	members []byte
}

// prepareDraft checks a draft, and writes its payload as it will be kept.
func (s *Store) prepareDraft(draft Draft) (draftText, error) {
	members, err := encode(draft.Payload)
	if err != nil {
		return draftText{}, err
	}
	// What is kept, and given back with the receipt, shares nothing with the caller.
	draft.Payload = decode(draft.Payload.Kind(), bytes.Clone(members))
	if err := draft.check(); err != nil {
		return draftText{}, err
	}
	if s.redact == nil {
		return draftText{draft, members}, nil
	}
	if draft.Payload, err = s.redacted(draft.Payload); err != nil {
		return draftText{}, err
	}
	members, err = encode(draft.Payload)
	return draftText{draft, members}, err
}

// check refuses what only a store may append. It sees the payload as it will be read, so that none passes as [Unknown].
func (d Draft) check() error {
	switch payload := d.Payload.(type) {
	case Message:
		if payload.Role == RoleCompactionSummary || payload.Role == RoleBranchSummary {
			return fmt.Errorf("%w: append a Compaction or a BranchSummary, not a message of the role %s", ErrInvalidEntry, payload.Role)
		}
		return payload.check()
	case Reset:
		if d.Side {
			return fmt.Errorf("%w: a reset beside the branch would reset nothing", ErrInvalidEntry)
		}
	}
	if d.Payload.Kind() == KindLeaf {
		return fmt.Errorf("%w: a leaf is not appended, AppendOptions.From moves it", ErrInvalidEntry)
	}
	return nil
}

// writer appends to one session within a transaction.
type writer struct {
	t       *transaction
	session *Session
	state
	was   state     // when it was opened
	time  time.Time // of the entries
	clock time.Time // of what is known of the session

	claimed  map[string]bool // ids of the entries that drafts with a claim got, in this call or before
	turn     *turn           // what was looked at for them
	name     *string         // that the session gets
	started  *int64          // when it was reset
	appended []Entry         // for who is told of them
	flawed   int64           // leaf entries that lead nowhere
}

// state is where a session is. The row of each entry has the state that it has led to, so the last one's is that of the
// session.
type state struct {
	at                  position
	bytes               int64
	updated, interacted int64
	// indexing tells that the session is in search_backlog.
	indexing bool
}

// openWriter finds out where a session is.
func (t *transaction) openWriter(s *Session, now time.Time) (*writer, error) {
	w := &writer{t: t, session: s, time: now, clock: now}
	err := t.recall(w)
	w.was = w.state
	return w, err
}

// readState reads where the session is.
func (w *writer) readState() error {
	at, leaf := &w.at, &w.at.leaf
	err := w.t.queryRow(selectState, []any{w.session.row, w.session.id}, &at.last, &leaf.number, &at.open, &at.cursor, &at.reset, &w.bytes,
		&w.updated, &w.interacted, &w.indexing, &leaf.id, &leaf.segment, &leaf.reset, &leaf.model, &leaf.thinking, &leaf.values)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrSessionGone
	case err == nil && leaf.number != 0 && leaf.id == "":
		return missing(leaf.number)
	}
	return err
}

// areThere tells whether there are drafts, and entries with the keys of all of them.
func (w *writer) areThere(drafts []draftText) (bool, error) {
	for _, draft := range drafts {
		message, _ := draft.Payload.(Message)
		if message.IdempotencyKey == "" {
			return false, nil
		}
		if _, ok, err := w.t.keyed(w.session, message.IdempotencyKey); err != nil || !ok {
			return false, err
		}
	}
	return len(drafts) > 0, nil
}

// destination finds where the options say to go, and tells whether that is elsewhere.
func (w *writer) destination(o AppendOptions) (to node, moves bool, err error) {
	if o.Leaf != "" {
		seen, err := w.find(o.Leaf)
		if err != nil {
			return node{}, false, err
		}
		if seen.number != w.at.leaf.number {
			return node{}, false, fmt.Errorf("%w: somebody else has appended after %s, or gone elsewhere; read the branch again", ErrConflict, o.Leaf)
		}
	}
	if o.From == "" {
		return w.at.leaf, false, nil
	}
	if to, err = w.find(o.From); err != nil {
		return node{}, false, err
	}
	if !w.at.canMove(to) {
		return node{}, false, fmt.Errorf("%w: %s", ErrBeforeReset, o.From)
	}
	return to, to.number != w.at.leaf.number, nil
}

// start goes where the options say.
func (w *writer) start(o AppendOptions) error {
	to, moves, err := w.destination(o)
	if err != nil || !moves {
		return err
	}
	leaf := Leaf{TargetID: o.From}
	members, err := encode(leaf)
	if err != nil {
		return err
	}
	w.at.move(to)
	_, err = w.addLeaf("", to, draftText{Draft{Payload: leaf}, members})
	return err
}

// addLeaf adds a leaf entry, after the session has moved. Its row stands for the entry to which it leads.
func (w *writer) addLeaf(id string, to node, draft draftText) (Entry, error) {
	w.at.last++
	self := to
	self.number, self.segment = w.at.last, w.at.last
	return w.insert(id, self, to, draft)
}

// find gives the place of an entry by its id.
func (w *writer) find(id string) (node, error) {
	if id == Root {
		return node{}, nil
	}
	n, ok, err := w.lookUp(id)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %.100q", ErrUnknownEntry, id)
	}
	return n, err
}

// lookUp gives the place of an entry by its id, if there is one. That of a leaf entry is the place to which it leads.
func (w *writer) lookUp(id string) (node, bool, error) {
	n, kind, parent, err := w.t.node(selectNodeByID, w.session.row, id)
	if errors.Is(err, sql.ErrNoRows) {
		return node{}, false, nil
	}
	for err == nil && kind == KindLeaf {
		switch {
		case parent == 0:
			return node{}, true, nil
		case parent >= n.number:
			return node{}, false, errAncestor
		}
		n, kind, parent, err = w.t.nodeAt(w.session, parent)
	}
	return n, err == nil, err
}

// nodeAt reads the place of the entry of a number, which must be there.
func (t *transaction) nodeAt(s *Session, at int64) (n node, kind Kind, parent int64, err error) {
	n, kind, parent, err = t.node(selectNode, number(s.row, at))
	if errors.Is(err, sql.ErrNoRows) {
		err = missing(at)
	}
	return n, kind, parent, err
}

// node reads a row of nodeColumns.
func (t *transaction) node(query string, args ...any) (n node, kind Kind, parent int64, err error) {
	err = t.queryRow(query, args, &n.number, &n.id, &kind, &parent, &n.segment, &n.reset, &n.model, &n.thinking, &n.values)
	return n, kind, parent, err
}

// append appends one entry after the leaf, if it is not there already.
func (w *writer) append(draft draftText) (Receipt, error) {
	entry, found, err := w.present(draft)
	if err != nil {
		return Receipt{}, err
	}
	if draft.ClaimOnly && !found {
		return Receipt{}, nil
	}
	if label, ok := draft.Payload.(Label); ok {
		if err := w.checkTarget(label); err != nil {
			return Receipt{}, err
		}
	}
	if !found {
		if entry, err = w.add("", w.at.leaf, draft); err != nil {
			return Receipt{}, err
		}
	}
	if draft.Claim || draft.ClaimOnly {
		w.setClaimed(entry.ID)
	}
	return w.session.store.issuer.Receipt(w.session.key, w.session.id, entry, !found), nil
}

// present finds the entry of a message that is there already.
func (w *writer) present(draft draftText) (entry Entry, found bool, err error) {
	message, ok := draft.Payload.(Message)
	if ok && message.IdempotencyKey != "" {
		entry, found, err = w.t.keyed(w.session, message.IdempotencyKey)
	}
	if ok && (draft.Claim || draft.ClaimOnly) && !found && err == nil {
		entry, found, err = w.claim(message)
	}
	return entry, found, err
}

// checkTarget refuses a label of an entry that is not there.
func (w *writer) checkTarget(label Label) error {
	_, ok, err := w.lookUp(label.TargetID)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %.100q, to be labelled", ErrUnknownEntry, label.TargetID)
	}
	return err
}

// add appends one entry after another.
func (w *writer) add(id string, parent node, draft draftText) (Entry, error) {
	n := w.at.add(parent, draft.Payload, draft.Side)
	now := milliseconds(w.clock)
	key := ""
	switch payload := draft.Payload.(type) {
	case Message:
		if key = payload.IdempotencyKey; payload.Role == RoleUser && payload.isOriginalInput() {
			w.interacted = max(w.interacted, now)
		}
	case Reset:
		if !draft.Side {
			w.started = &now
		}
	case SessionInfo:
		w.name = &payload.Name
	}
	entry, err := w.insert(id, n, parent, draft)
	if err == nil && key != "" {
		_, err = w.t.exec(insertKey, w.session.row, key, number(w.session.row, n.number), false)
	}
	if !draft.Side {
		w.at.leaf.id = entry.ID
		if w.turn != nil {
			w.turn.add(n.number, entry)
		}
	}
	return entry, err
}

// maxShortIDs is how many short ids are tried before an entry gets a long one.
const maxShortIDs = 100

// insert inserts the row of an entry, under a new id if it has none, and with the state that it leads to.
func (w *writer) insert(id string, n, parent node, draft draftText) (Entry, error) {
	w.bytes += int64(len(draft.members))
	w.updated = max(w.updated, milliseconds(w.clock))
	at := &w.at
	entry := Entry{ID: id, ParentID: cmp.Or(parent.id, Root), Time: entryTime(milliseconds(w.time)), Side: draft.Side, Payload: draft.Payload}
	for try := 0; ; try++ {
		if id == "" {
			entry.ID = newID(try)
		}
		rows, err := w.t.exec(insertEntry, number(w.session.row, n.number), w.session.row, entry.ID, parent.number, n.segment, n.reset, n.model,
			n.thinking, n.values, at.leaf.number, at.open, at.cursor, at.reset, w.bytes, w.updated, w.interacted,
			string(draft.Payload.Kind()), draft.Side, milliseconds(w.time), string(draft.members))
		if err != nil {
			return Entry{}, err
		}
		if rows > 0 {
			break
		}
		if id != "" || try > maxShortIDs {
			return Entry{}, fmt.Errorf("%w: the session has an entry with the id %.100q already", ErrInvalidEntry, entry.ID)
		}
	}
	w.appended = append(w.appended, entry)
	return entry, nil
}

func newID(try int) string {
	if try == maxShortIDs {
		return uuid.NewString()
	}
	var b [4]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// close writes what has changed about the session beside its entries, which is little and seldom.
func (w *writer) close() error {
	if w.state == w.was && w.flawed == 0 {
		return nil
	}
	if !w.indexing {
		if _, err := w.t.exec(insertBacklog, w.session.row, w.was.at.last); err != nil {
			return err
		}
		w.indexing = true
	}
	if w.name != nil || w.started != nil || w.flawed != 0 || second(w.updated) != second(w.was.updated) {
		if _, err := w.t.exec(updateSession, w.name, w.started != nil, w.started, w.flawed, second(w.updated), w.session.row); err != nil {
			return err
		}
	}
	w.t.remember(w)
	store := w.session.store
	store.announce(w.t, w.session, w.appended)
	w.t.committed = append(w.t.committed, store.wakeIndexer)
	return nil
}

// keyed finds the entry that has an idempotency key.
func (t *transaction) keyed(s *Session, key string) (Entry, bool, error) {
	return t.entry(s, selectKeyed, s.row, key)
}

// number is the row of an entry: the entries of a session lie side by side.
func number(session, n int64) int64 { return session<<32 | n }

const (
	selectState = `SELECT s.entries, s.leaf, s.open, s.cursor, s.reset, s.bytes, s.updated, s.interacted,
			EXISTS (SELECT 1 FROM search_backlog b WHERE b.session = s.session),
			ifnull(e.id, ''), ifnull(e.segment, 0), ifnull(e.reset, 0), ifnull(e.model, 0), ifnull(e.thinking, 0), ifnull(e.stored, 0)
		FROM session_states s LEFT JOIN entries e ON e.entry = (s.session << 32 | s.leaf) WHERE s.session = ? AND s.id = ?`
	updateSession = `UPDATE sessions SET name = ifnull(?, name), revision = revision + ?, started = ifnull(?, started), flawed = flawed + ?,
		updated_second = ? WHERE session = ?`
	insertBacklog = `INSERT INTO search_backlog (session, indexed) VALUES (?, ?)`

	nodeColumns    = `entry & 0xffffffff, id, kind, parent, segment, reset, model, thinking, stored`
	selectNodeByID = `SELECT ` + nodeColumns + ` FROM entries WHERE session = ? AND id = ?`
	selectNode     = `SELECT ` + nodeColumns + ` FROM entries WHERE entry = ?`

	insertEntry = `INSERT INTO entries (entry, session, id, parent, segment, reset, model, thinking, stored,
			leaf, open, cursor, last_reset, bytes, updated, interacted, kind, side, time, data)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, id) DO NOTHING`
	insertKey = `INSERT INTO entry_keys (session, key, entry, claim) VALUES (?, ?, ?, ?)`
)
