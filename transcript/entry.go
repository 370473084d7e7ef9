package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// Root stands for the place before every entry, where an id is asked for: who moves there begins the session anew.
const Root = "root"

// Kind is what an entry is, by the name that it has in JSON.
type Kind string

// The kinds that this package knows. Entries of others are kept as they are, see [Unknown].
const (
	KindMessage       Kind = "message"
	KindThinkingLevel Kind = "thinking_level_change"
	KindModel         Kind = "model_change"
	KindCompaction    Kind = "compaction"
	KindBranchSummary Kind = "branch_summary"
	KindCustom        Kind = "custom"
	KindCustomMessage Kind = "custom_message"
	KindLabel         Kind = "label"
	KindSessionInfo   Kind = "session_info"
	KindReset         Kind = "reset"
	KindLeaf          Kind = "leaf"
)

// Entry is one entry of a session's tree. Entries never change once they are appended.
type Entry struct {
	// ID is the entry's name within its session, not empty and not [Root]. A [Session] gives eight hexadecimal digits, or
	// what the entry was imported with.
	ID string
	// ParentID is the entry that it follows, or [Root].
	ParentID string
	// Time is when it was appended, to the millisecond, in UTC.
	Time time.Time
	// Side tells that the entry hangs beside the branch: the next entry does not follow it.
	Side bool
	// Payload is what the entry says: one of the types of this package that have a method Kind. It is nil in the zero Entry
	// only, which is none. The entry and who reads it share its slices and maps: they must not be changed.
	Payload Payload
}

// Kind is that of the payload, empty if there is none.
func (e Entry) Kind() Kind {
	if e.Payload == nil {
		return ""
	}
	return e.Payload.Kind()
}

// Message is the entry's message, if it is one.
func (e Entry) Message() (Message, bool) {
	m, ok := e.Payload.(Message)
	return m, ok
}

// MarshalJSON writes the entry as one line of a session file has it: the members of its payload behind type, id, parentId
// (null for a root) and timestamp. ErrInvalidEntry if the payload, or a time beyond the years 1 to 9999, cannot be kept;
// ErrEntryTooLarge.
// Called by itself it keeps JSON texts byte for byte; json.Marshal writes <, > and & in them as escapes.
func (e Entry) MarshalJSON() ([]byte, error) {
	members, err := encode(e.Payload)
	if err == nil {
		err = checkTime(e.Time)
	}
	if err != nil {
		return nil, err
	}
	return e.appendLine(make([]byte, 0, len(members)+160), e.Kind(), members), nil
}

// UnmarshalJSON reads an entry as MarshalJSON writes it: for an implementation of [Log] that keeps such lines, which gets the
// same entry back. Other lines of session files are read, too, if they have an id that can be one, a parentId, which is
// null or an id, a timestamp, and no other appendMode than "side"; [Store.Import] takes what lacks these. Of a line of the
// type message, members that stand beside the message are not kept. The entry shares nothing with text.
//
// ErrInvalidEntry, and then the entry is left as it was; ErrEntryTooLarge.
func (e *Entry) UnmarshalJSON(text []byte) error {
	line, _, err := parseLine(text)
	if err == nil {
		err = checkKind(line.kind)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidEntry, err)
	}
	if len(line.members) > MaxEntryBytes {
		return tooLarge(len(line.members))
	}
	odd := func(name string) error {
		return fmt.Errorf("%w: the member %q of an entry is missing, or not as it should be", ErrInvalidEntry, name)
	}
	read := Entry{ParentID: Root}
	if read.ID, _ = jsontext.String(line.envelope["id"]); read.ID == "" || read.ID == Root {
		return odd("id")
	}
	if parent := line.envelope["parentId"]; string(parent) != "null" {
		if read.ParentID, _ = jsontext.String(parent); read.ParentID == "" || read.ParentID == Root {
			return odd("parentId")
		}
	}
	var ok bool
	if read.Time, ok = parseTime(line.text("timestamp")); !ok {
		return odd("timestamp")
	}
	if read.Side = line.text("appendMode") == "side"; !read.Side && line.has("appendMode") {
		return odd("appendMode")
	}
	read.Payload = decode(line.kind, line.members)
	*e = read
	return nil
}

// appendLine appends the entry as MarshalJSON writes it, with the members of its payload.
func (e Entry) appendLine(b []byte, kind Kind, members []byte) []byte {
	b = jsontext.AppendString(append(b, `{"type":`...), string(kind))
	b = jsontext.AppendString(append(b, `,"id":`...), e.ID)
	b = append(b, `,"parentId":`...)
	if e.ParentID == Root || e.ParentID == "" {
		b = append(b, "null"...)
	} else {
		b = jsontext.AppendString(b, e.ParentID)
	}
	b = jsontext.AppendString(append(b, `,"timestamp":`...), e.Time.UTC().Format(timeFormat))
	if e.Side {
		b = append(b, `,"appendMode":"side"`...)
	}
	if len(members) > len("{}") {
		b = append(append(b, ','), members[1:len(members)-1]...)
	}
	return append(b, '}')
}

// timeFormat is how JavaScript writes a time.
const timeFormat = "2006-01-02T15:04:05.000Z"

// checkTime refuses a time that session files cannot say.
func checkTime(at time.Time) error {
	if year := at.UTC().Year(); year < 1 || year > 9999 {
		return fmt.Errorf("%w: its time is in the year %d, which session files cannot say", ErrInvalidEntry, year)
	}
	return nil
}

// envelope are the members of an entry that are not its payload's.
var envelope = []string{"type", "id", "parentId", "timestamp", "appendMode"}

// Payload is what an entry says. The types of this package that have a method Kind are all there are; pointers to them are
// none.
//
// Their Fields are as those of [Message]: members that have no field of their own, and those whose value is not of the type
// of their field. An entry is of its kind nevertheless, if it says what the kind cannot do without: a message its role, a
// change the level, or the provider and the model, a summary its text, a label what it names and how. That no Fields can
// say. A log keeps Fields as the rest. They cannot have the members type, id, parentId, timestamp and appendMode.
//
// A log keeps every text in them, which must be valid UTF-8, and JSON without the white space between its tokens, otherwise
// as it came: digits, escapes, the order of members. But an escape of half a surrogate pair, which is no text, becomes
// U+FFFD. Objects and arrays may be nested 10,000 deep, those around the text included. What is not so is ErrInvalidEntry.
type Payload interface {
	Kind() Kind
	check() error // whether its texts can be kept
}

// ThinkingLevelChange says how much the model thinks from here on.
type ThinkingLevelChange struct {
	Level  string                     `json:"thinkingLevel"`
	Fields map[string]json.RawMessage `json:"-"`
}

// ModelChange says which model answers from here on.
type ModelChange struct {
	Provider string                     `json:"provider"`
	ModelID  string                     `json:"modelId"`
	Fields   map[string]json.RawMessage `json:"-"`
}

// Compaction replaces what came before it, for the model: by a summary, and by the entries from FirstKeptID on. Everything
// stays in the session.
type Compaction struct {
	Summary string `json:"summary"`
	// FirstKeptID is the first entry of the branch that the model still gets as it is; if it is not before the compaction
	// on the branch there is none.
	FirstKeptID  string                     `json:"firstKeptEntryId"`
	TokensBefore int64                      `json:"tokensBefore"`
	Details      json.RawMessage            `json:"details,omitempty"`
	FromHook     bool                       `json:"fromHook,omitempty"`
	Fields       map[string]json.RawMessage `json:"-"`
}

// BranchSummary tells the model of a branch that was left: FromID is where it was left. Empty is kept as [Root].
type BranchSummary struct {
	FromID   string                     `json:"fromId"`
	Summary  string                     `json:"summary"`
	Details  json.RawMessage            `json:"details,omitempty"`
	FromHook bool                       `json:"fromHook,omitempty"`
	Fields   map[string]json.RawMessage `json:"-"`
}

// Custom is data of the program that the model does not get.
type Custom struct {
	Type   string                     `json:"customType"`
	Data   json.RawMessage            `json:"data,omitempty"`
	Fields map[string]json.RawMessage `json:"-"`
}

// CustomMessage is a message of the program, not of the user, which the model gets.
type CustomMessage struct {
	Type string `json:"customType"`
	// Content is as in [Message]: nil is written as "".
	Content json.RawMessage `json:"content"`
	// Display tells that users are shown it, too.
	Display bool                       `json:"display"`
	Details json.RawMessage            `json:"details,omitempty"`
	Fields  map[string]json.RawMessage `json:"-"`
}

// Label names the entry TargetID, on whatever branch, which must be there: else ErrUnknownEntry. An empty label takes its
// name away. Of several the last counts.
type Label struct {
	TargetID string                     `json:"targetId"`
	Label    string                     `json:"label,omitempty"`
	Fields   map[string]json.RawMessage `json:"-"`
}

// SessionInfo gives the session a name for people. The empty name takes it away. Of several the last counts.
type SessionInfo struct {
	Name   string                     `json:"name,omitempty"`
	Fields map[string]json.RawMessage `json:"-"`
}

// Reset begins the conversation anew: the model gets nothing of what came before it, but the user's, the assistant's and
// paired tools' messages from FirstKeptID on, if that is given and before it on the branch. What came before it stays on
// its branch to be read, but nothing can be appended there any more: see [AppendOptions.From]. The values of store and load
// begin anew, too.
type Reset struct {
	FirstKeptID string                     `json:"firstKeptEntryId,omitempty"`
	Reason      string                     `json:"reason,omitempty"`
	Fields      map[string]json.RawMessage `json:"-"`
}

// Leaf tells that the session goes on elsewhere, after the entry TargetID, or from the beginning if that is [Root]. It is
// what [Session.MoveTo] appends. It is on no branch itself.
type Leaf struct {
	TargetID string
	// AppendParentID is where a writer of session files appends physically, if that is elsewhere; it is kept for such.
	AppendParentID string
	Fields         map[string]json.RawMessage
}

// Unknown is a payload that this package cannot read: of a kind that it does not know, or not as its kind should be. It is
// kept and counts as part of its branch; the model does not get it. One that can be read after all is read as what it is.
type Unknown struct {
	Type Kind // not blank, not "session", which is a file's header, and of at most [MaxKeyBytes]
	// Members is a JSON object: all that the entry has beside its kind, id, parent, time and place. Nil is read as {}.
	Members json.RawMessage
}

func (Message) Kind() Kind             { return KindMessage }
func (ThinkingLevelChange) Kind() Kind { return KindThinkingLevel }
func (ModelChange) Kind() Kind         { return KindModel }
func (Compaction) Kind() Kind          { return KindCompaction }
func (BranchSummary) Kind() Kind       { return KindBranchSummary }
func (Custom) Kind() Kind              { return KindCustom }
func (CustomMessage) Kind() Kind       { return KindCustomMessage }
func (Label) Kind() Kind               { return KindLabel }
func (SessionInfo) Kind() Kind         { return KindSessionInfo }
func (Reset) Kind() Kind               { return KindReset }
func (Leaf) Kind() Kind                { return KindLeaf }
func (u Unknown) Kind() Kind           { return u.Type }

func (p ThinkingLevelChange) check() error { return checkMembers(p.Fields, p.Level) }
func (p ModelChange) check() error         { return checkMembers(p.Fields, p.Provider, p.ModelID) }
func (p Compaction) check() error          { return checkMembers(p.Fields, p.Summary, p.FirstKeptID) }
func (p BranchSummary) check() error       { return checkMembers(p.Fields, p.FromID, p.Summary) }
func (p Custom) check() error              { return checkMembers(p.Fields, p.Type) }
func (p CustomMessage) check() error       { return checkMembers(p.Fields, p.Type) }
func (p Label) check() error               { return checkMembers(p.Fields, p.TargetID, p.Label) }
func (p SessionInfo) check() error         { return checkMembers(p.Fields, p.Name) }
func (p Reset) check() error               { return checkMembers(p.Fields, p.FirstKeptID, p.Reason) }
func (p Leaf) check() error                { return checkMembers(p.Fields, p.TargetID, p.AppendParentID) }

func (u Unknown) check() error {
	if err := checkKind(u.Type); err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(u.Members, &members); len(u.Members) > 0 && (err != nil || members == nil) {
		return fmt.Errorf("%w: the members of an unknown payload must be a JSON object", ErrInvalidEntry)
	}
	return checkNames(members)
}

// checkKind refuses a kind that a session file cannot say.
func checkKind(kind Kind) error {
	switch {
	case strings.TrimSpace(string(kind)) == "":
		return fmt.Errorf("%w: an entry must have a kind", ErrInvalidEntry)
	case kind == kindHeader:
		return fmt.Errorf("%w: the kind %q is that of a session file's header", ErrInvalidEntry, kind)
	case len(kind) > MaxKeyBytes:
		return fmt.Errorf("%w: a kind may have %d bytes, this one has %d", ErrInvalidEntry, MaxKeyBytes, len(kind))
	}
	return checkTexts(string(kind))
}

// encode writes the members of a payload as a compact JSON object.
func encode(p Payload) ([]byte, error) {
	switch p.(type) {
	case Message, ThinkingLevelChange, ModelChange, Compaction, BranchSummary, Custom, CustomMessage, Label, SessionInfo, Reset, Leaf, Unknown:
	default: // nil, a pointer to one, a struct with one embedded
		return nil, fmt.Errorf("%w: a payload must be of a type of this package, not of %T", ErrInvalidEntry, p)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	var text []byte
	var err error
	switch p := p.(type) {
	case Message:
		err = p.checkValues()
		text = append(p.appendTo(append(make([]byte, 0, len(p.Content)+256), `{"message":`...)), '}')
	case Unknown:
		text = p.Members
		if len(text) == 0 {
			text = []byte("{}")
		}
	case Leaf:
		text, err = encodeMembers(KindLeaf, p.members())
	case CustomMessage:
		if len(p.Content) == 0 {
			p.Content = noContent
		}
		text, err = encodeMembers(p.Kind(), p)
	case BranchSummary:
		if _, odd := p.Fields["fromId"]; p.FromID == "" && !odd {
			p.FromID = Root
		}
		text, err = encodeMembers(p.Kind(), p)
	default:
		text, err = encodeMembers(p.Kind(), p)
	}
	if err != nil {
		return nil, err
	}
	return compactUTF8(text)
}

// marshal writes a value without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidEntry, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// compactUTF8 is compact for texts of callers: those that are not UTF-8 are not made so, but refused.
func compactUTF8(text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return nil, errNotUTF8
	}
	return compact(text)
}

// compact checks a JSON text and makes it compact. It is text itself if it is so already.
func compact(text []byte) ([]byte, error) {
	short, err := jsontext.Compact(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidEntry, err)
	}
	if len(short) > MaxEntryBytes {
		return nil, tooLarge(len(short))
	}
	return short, nil
}

func tooLarge(size int) error {
	return fmt.Errorf("%w: an entry may have %d bytes of JSON, this one has %d", ErrEntryTooLarge, MaxEntryBytes, size)
}

// decode reads the members of a payload, a compact JSON object of which the payload keeps parts. What it cannot read is
// Unknown.
func decode(kind Kind, members []byte) Payload {
	var p Payload
	ok := false
	switch kind {
	case KindMessage:
		var message []byte
		for name, value := range jsontext.Members(members) {
			if name == "message" {
				message = value
			}
		}
		m, err := readMessage(message)
		p, ok = m, err == nil
	case KindThinkingLevel:
		p, ok = decodeMembers[ThinkingLevelChange](kind, members)
	case KindModel:
		p, ok = decodeMembers[ModelChange](kind, members)
	case KindCompaction:
		p, ok = decodeMembers[Compaction](kind, members)
	case KindBranchSummary:
		var b BranchSummary
		b, ok = decodeMembers[BranchSummary](kind, members)
		if odd := b.Fields["fromId"]; b.FromID == "" && (odd == nil || string(odd) == "null") {
			b.FromID = Root
			removeMember(&b.Fields, "fromId")
		}
		p = b
	case KindCustom:
		p, ok = decodeMembers[Custom](kind, members)
	case KindCustomMessage:
		p, ok = decodeMembers[CustomMessage](kind, members)
	case KindLabel:
		p, ok = decodeMembers[Label](kind, members)
	case KindSessionInfo:
		p, ok = decodeMembers[SessionInfo](kind, members)
	case KindReset:
		p, ok = decodeMembers[Reset](kind, members)
	case KindLeaf:
		p, ok = readLeaf(members)
	}
	if !ok || p.check() != nil {
		return Unknown{kind, members}
	}
	return p
}

func read[T any](members []byte) (T, error) {
	var v T
	err := json.Unmarshal(members, &v)
	return v, err
}
