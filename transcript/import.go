package transcript

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// fileVersion is the version of session files that Export writes, and the newest that Import reads.
const fileVersion = 3

// DefaultMaxLineBytes is how long a line of a session file may be if [ImportOptions] do not say otherwise. The longest
// entry fits in it.
const DefaultMaxLineBytes = MaxEntryBytes + 1<<20

// MaxImportProblems is how many problems a report lists.
const MaxImportProblems = 100

// ImportOptions say how Import reads. Nil and the zero value are fine.
type ImportOptions struct {
	// HarnessID is as in [SessionOptions]; a session file does not tell it.
	HarnessID string
	// MaxLineBytes bounds a line, and so the memory that Import takes. If it is zero or less, it defaults to
	// [DefaultMaxLineBytes].
	MaxLineBytes int
}

// ImportReport says what Import has found. After an error it says what was found until then.
type ImportReport struct {
	// Version is the file's, zero if it has no header; HeaderRebuilt tells that it has none.
	Version       int
	HeaderRebuilt bool
	// IDTaken tells that another session has the id which the header names: so this one has got a new id.
	IDTaken bool
	// Lines are those of the file that are not blank, Entries those that became entries, and Skipped those that did not.
	Lines, Entries, Skipped int64
	// Flawed are the leaf entries that lead nowhere: with them, strict readers refuse the session.
	Flawed int64
	// Problems are the first [MaxImportProblems] of all, and Omitted counts the others.
	Problems []ImportProblem
	Omitted  int64
}

// ImportProblem is what is wrong with a line of a session file.
type ImportProblem struct {
	Line    int64 // counted from 1
	Skipped bool  // it did not become an entry
	Reason  string
}

// Import makes the session of a key out of a session file: lines of JSON, of which the first is the header of the session
// and each other is an entry. It is made whole or not at all, in one transaction: meanwhile others wait to write, so r
// should be a file, and not a slow connection. A line is in memory at a time.
//
// Files of the versions 1 to 3 are read; a newer one is ErrNewerVersion. The session takes over the header's id, time,
// working directory and parent session. Entries keep their ids and times, and what they say, as it is; those that Import
// cannot read are [Unknown]. Parents and leaves follow the rules of session files:
//
//   - An entry without a parentId follows the leaf, and so does one whose parent is not there at its line: a parent that
//     comes later, or is the entry itself, is none, and there are no cycles. With null it begins a branch.
//   - An entry that names the entry which was written last, though the branch goes on elsewhere, follows the leaf, and so
//     does one that does not descend from the last reset. Entries beside the branch follow what they name; a reset beside
//     it resets nothing, and is followed by nothing.
//   - A leaf entry moves the leaf, but never to before the last reset. One that leads nowhere moves nothing, and is
//     counted: who names it as parent follows the entry that it follows.
//
// A line that is not a JSON object with a type, is too long, or repeats an entry that is there is skipped. What stands in
// an entry that is not UTF-8 is replaced by U+FFFD. An id that another entry has already, or that cannot be one, is
// replaced by a new one. The report tells of such lines, and [Options.OnAppend] of none. An entry without a time has that
// of the line before. With [Options.Redact] entries are redacted.
//
// The database is kept from others who write until r ends or the context is done. So r must not wait for this store: an
// Export of one of its sessions is to be kept elsewhere first.
//
// The errors are ErrSessionExists, ErrNewerVersion, ErrRedaction, ErrInvalidEntry for a key that cannot be one, and those
// of r and the context.
func (s *Store) Import(ctx context.Context, key string, r io.Reader, opts *ImportOptions) (*Session, ImportReport, error) {
	i := importer{store: s, key: key}
	if opts != nil {
		i.o = *opts
	}
	if i.o.MaxLineBytes <= 0 {
		i.o.MaxLineBytes = DefaultMaxLineBytes
	}
	err := errors.Join(checkSessionKey(key), checkKeys(i.o.HarnessID))
	if err == nil {
		err = s.write(ctx, func(t *transaction) error {
			i.t = t
			return i.read(ctx, r)
		})
	}
	if err != nil {
		return nil, i.report, aboutSession("importing", key, err)
	}
	return i.w.session, i.report, nil
}

// importer imports one file.
type importer struct {
	store  *Store
	t      *transaction
	key    string
	o      ImportOptions
	report ImportReport

	w       *writer // nil before the header
	version int
	line    int64           // which is being read
	time    time.Time       // of the line, or the last one that has a time
	now     time.Time       // beyond which the session's own times do not go
	flawed  map[string]bool // ids of leaf entries that lead nowhere
}

func (i *importer) read(ctx context.Context, r io.Reader) error {
	_, err := i.store.findSession(i.t, i.key)
	if !errors.Is(err, ErrUnknownSession) {
		return errors.Join(err, ErrSessionExists)
	}
	i.now, i.flawed = time.Now(), map[string]bool{}
	i.time = i.now
	lines := newLineReader(r, i.o.MaxLineBytes)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, long, err := lines.next()
		i.line++
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", i.line, err)
		}
		if err := i.add(text, long); err != nil {
			return fmt.Errorf("line %d: %w", i.line, err)
		}
		if i.w != nil {
			i.w.appended = nil // nobody is told of them, so they need not be in memory
		}
	}
	if i.w == nil {
		if err := i.begin(fileHeader{Version: fileVersion}); err != nil {
			return err
		}
		i.report.HeaderRebuilt = true
	}
	i.w.flawed = i.report.Flawed
	return i.w.close()
}

// problem tells what is wrong with the line.
func (i *importer) problem(skipped bool, format string, args ...any) {
	if skipped {
		i.report.Skipped++
	}
	if len(i.report.Problems) == MaxImportProblems {
		i.report.Omitted++
		return
	}
	i.report.Problems = append(i.report.Problems, ImportProblem{i.line, skipped, fmt.Sprintf(format, args...)})
}

// add takes over one line.
func (i *importer) add(text []byte, long bool) error {
	if len(text) == 0 && !long {
		return nil
	}
	i.report.Lines++
	if long {
		i.problem(true, "it has more than %d bytes", i.o.MaxLineBytes)
		return nil
	}
	line, repaired, err := parseLine(text)
	if err != nil {
		i.problem(true, "%v", err)
		return nil
	}
	if repaired {
		i.problem(false, "it was not UTF-8")
	}
	if at, ok := parseTime(line.text("timestamp")); ok {
		i.time = at
	}
	header := line.kind == kindHeader
	if i.w == nil {
		h := fileHeader{Version: fileVersion}
		if header {
			h = readHeader(text)
			i.report.Version = h.Version
		}
		i.report.HeaderRebuilt = !header
		if err := i.begin(h); err != nil || header {
			return err
		}
	}
	if header {
		i.problem(true, "it is a second header")
		return nil
	}
	return i.addEntry(line)
}

// begin makes the session.
func (i *importer) begin(h fileHeader) error {
	if h.Version > fileVersion {
		return fmt.Errorf("%w (session files of version %d, this one reads %d)", ErrNewerVersion, h.Version, fileVersion)
	}
	i.version = h.Version
	for _, text := range []*string{&h.ID, &h.CWD, &h.ParentSession} {
		if checkKeys(*text) != nil {
			i.problem(false, "a text of the header has more than %d bytes", MaxKeyBytes)
			*text = ""
		}
	}
	if h.ID != "" {
		if err := i.t.queryRow(selectIDTaken, []any{h.ID}, &i.report.IDTaken); err != nil {
			return err
		}
	}
	if h.ID == "" || i.report.IDTaken {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		h.ID = id.String()
	}
	_, err := i.t.exec(insertSession, i.key, h.ID, i.o.HarnessID, h.CWD, h.ParentSession, milliseconds(i.past()))
	if err != nil {
		return err
	}
	session, err := i.store.findSession(i.t, i.key)
	if err != nil {
		return err
	}
	i.w, err = i.t.openWriter(session, i.time)
	return err
}

// past is the time of the line, or now if that is later: a session that says it was used in the future would never be old.
func (i *importer) past() time.Time {
	if i.time.After(i.now) {
		return i.now
	}
	return i.time
}

// addEntry takes over a line that is an entry.
func (i *importer) addEntry(line fileLine) error {
	if err := i.migrate(&line); err != nil {
		return err
	}
	if len(line.members) > MaxEntryBytes {
		i.problem(true, "an entry may have %d bytes of JSON, this one has %d", MaxEntryBytes, len(line.members))
		return nil
	}
	id := line.text("id")
	switch {
	case id == Root, len(id) > MaxKeyBytes:
		i.problem(false, "its id cannot be one")
		id = ""
	case id != "":
		var repeated bool
		err := i.t.queryRow(selectRepeated, []any{i.w.session.row, id, string(line.kind), milliseconds(i.time), string(line.members)}, &repeated)
		if err == nil && repeated {
			i.problem(true, "the same entry is there already")
			return nil
		}
		if err == nil {
			i.problem(false, "another entry has its id")
			id = ""
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	draft := draftText{Draft{Payload: decode(line.kind, line.members), Side: line.text("appendMode") == "side"}, line.members}
	if u, ok := draft.Payload.(Unknown); ok && known(u.Type) && u.Type != KindLeaf { // which is told below
		i.problem(false, "it is not as an entry of the type %s should be", u.Type)
	}
	if err := i.redact(&draft); err != nil {
		return err
	}
	i.w.time, i.w.clock = i.time, i.past()
	i.report.Entries++
	if line.kind == KindLeaf {
		return i.addLeaf(id, line, draft)
	}
	if line.has("appendMode") && !draft.Side {
		i.problem(false, "its appendMode is unknown, and was left out")
	}
	given, found, err := i.refer(line.envelope["parentId"])
	if err != nil {
		return err
	}
	if err := i.registerable(&draft); err != nil {
		return err
	}
	parent := i.w.at.parent(given, line.has("parentId"), found, draft.Side)
	_, err = i.w.add(id, parent, draft)
	return err
}

// registerable takes the idempotency key from a draft if another message has it already. It stays with what is kept.
func (i *importer) registerable(draft *draftText) error {
	m, _ := draft.Payload.(Message)
	if m.IdempotencyKey == "" {
		return nil
	}
	_, taken, err := i.t.keyed(i.w.session, m.IdempotencyKey)
	if taken {
		i.problem(false, "another message has its idempotency key")
		m.IdempotencyKey = ""
		draft.Payload = m
	}
	return err
}

// redact redacts a draft, if the store does that.
func (i *importer) redact(draft *draftText) (err error) {
	if i.store.redact == nil {
		return nil
	}
	if draft.Payload, err = i.store.redacted(draft.Payload); err != nil {
		return err
	}
	draft.members, err = encode(draft.Payload)
	return err
}

// refer finds the entry to which an id refers, as JSON. It is found if the id is null, too: that is the place before all.
func (i *importer) refer(id json.RawMessage) (node, bool, error) {
	if string(id) == "null" {
		return node{}, true, nil
	}
	text := nameOf(id)
	if text == "" {
		return node{}, false, nil
	}
	return i.w.lookUp(text)
}

// addLeaf takes over a leaf entry.
func (i *importer) addLeaf(id string, line fileLine, draft draftText) error {
	var leaf struct {
		TargetID       json.RawMessage `json:"targetId"`
		AppendParentID json.RawMessage `json:"appendParentId"`
	}
	valid := json.Unmarshal(line.members, &leaf) == nil && (draft.Side || !line.has("appendMode"))
	target, found, err := i.refer(leaf.TargetID)
	if err != nil {
		return err
	}
	cursor, cursorFound := target, true
	if len(leaf.AppendParentID) > 0 {
		if cursor, cursorFound, err = i.refer(leaf.AppendParentID); err != nil {
			return err
		}
	}
	valid = valid && found && cursorFound && !i.flawed[nameOf(leaf.TargetID)] && !i.flawed[nameOf(leaf.AppendParentID)]
	if !valid {
		return i.addFlawed(id, line, draft)
	}
	if !i.w.at.canMove(target) {
		target, cursor = i.w.at.leaf, i.w.at.leaf
	}
	i.w.at.move(target)
	i.w.at.cursor = cursor.number
	_, err = i.w.addLeaf(id, target, draft)
	return err
}

// addFlawed takes over a leaf entry that leads nowhere.
func (i *importer) addFlawed(id string, line fileLine, draft draftText) error {
	i.problem(false, "it is a leaf that leads nowhere")
	i.report.Flawed++
	parent, found, err := i.refer(line.envelope["parentId"])
	if err != nil {
		return err
	}
	if !found {
		parent = i.w.at.leaf
	}
	if _, readable := draft.Payload.(Leaf); readable && line.has("appendMode") && !draft.Side {
		// It has to be flawed for who reads it out of an export, too.
		draft.members = appendMember(draft.members, "appendMode", line.envelope["appendMode"])
	}
	entry, err := i.w.addLeaf(id, parent, draft)
	i.flawed[entry.ID] = true
	return err
}

// migrate brings an entry of an older version to the newest. What else the first version lacks, ids and parents, any entry
// may lack.
func (i *importer) migrate(line *fileLine) error {
	if i.version < 2 && line.kind == KindCompaction {
		members, index, ok := cutMember(line.members, "firstKeptEntryIndex")
		if !ok {
			return nil
		}
		line.members = members
		// It counts the lines of the file that are JSON, the header first.
		n, err := strconv.ParseInt(string(index), 10, 64)
		if err != nil || n < 1 || n > i.w.at.last {
			return nil
		}
		kept, _, _, err := i.t.nodeAt(i.w.session, n)
		if err != nil {
			return err
		}
		line.members = appendMember(members, "firstKeptEntryId", jsonText(kept.id))
	}
	if i.version < 3 && line.kind == KindMessage && bytes.Contains(line.members, []byte("hookMessage")) {
		m, ok := decode(KindMessage, line.members).(Message)
		if !ok || m.Role != "hookMessage" {
			return nil
		}
		m.Role = RoleCustom
		if members, err := encode(m); err == nil {
			line.members = members
		}
	}
	return nil
}

const (
	selectIDTaken  = `SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?)`
	selectRepeated = `SELECT kind = ?3 AND time = ?4 AND data = ?5 FROM entries WHERE session = ?1 AND id = ?2`
)
