package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Roles that messages of a [Context] have beside those of the conversation. What they say is in their content, as text;
// other members of the entry are among the fields, by the names that they have in session files.
const (
	RoleCompactionSummary = "compactionSummary" // of a Compaction
	RoleBranchSummary     = "branchSummary"     // of a BranchSummary
	RoleCustom            = "custom"            // of a CustomMessage
)

// Limits of a context, where [ContextOptions] do not say otherwise.
const (
	DefaultMaxContextMessages = 100_000
	DefaultMaxContextBytes    = 256 << 20
)

// ContextOptions say of which branch BuildContext makes a context, and how large it may be. Nil and the zero value are
// fine.
type ContextOptions struct {
	// To is the id of the entry with which the branch ends; empty means the leaf.
	To string
	// MaxMessages and MaxBytes bound the context, each on its own; bytes are those of the JSON texts and strings that
	// messages are made of. If they are zero or less, they default to [DefaultMaxContextMessages] and
	// [DefaultMaxContextBytes].
	MaxMessages int
	MaxBytes    int64
	// Strict is as in [BranchOptions].
	Strict bool
}

// Context is what a model gets of a branch.
type Context struct {
	// Messages are in the order in which the model gets them.
	Messages []ContextMessage
	// Settings are those of the whole branch, whatever was compacted or reset since.
	Settings Settings
	// EntryID is the entry with which the branch ends: an append for which AppendOptions.Leaf names it goes on from this
	// context, and from nothing else. It is [Root] if the branch has no entry.
	EntryID string
	// BoundaryID is the last compaction or reset of the branch, empty if there is none.
	BoundaryID string
}

// ContextMessage is one message of a Context.
type ContextMessage struct {
	Message Message
	// EntryID is the entry that says it, and Time when that was appended. They are zero for a result that was made up.
	EntryID string
	Time    time.Time
	// Retained tells that the entry is from before the boundary.
	Retained bool
}

// ContextLimitError reports a context beyond the limits of ContextOptions, which are its fields.
type ContextLimitError struct {
	MaxMessages int
	MaxBytes    int64
}

func (e *ContextLimitError) Error() string {
	return fmt.Sprintf("the context has more than %d messages or %d bytes: compact the session, or raise the limits of ContextOptions",
		e.MaxMessages, e.MaxBytes)
}

// Context makes the context of a branch of the session, as [BuildContext] does.
func (s *Session) Context(ctx context.Context, opts *ContextOptions) (Context, error) {
	return BuildContext(ctx, s, opts)
}

// BuildContext makes what a model gets of a branch: the summary, if the boundary, the branch's last compaction or reset, is
// a compaction; then what the boundary has kept of the entries before it; then the entries after it. Messages, custom
// messages and branch summaries are what the model gets, but no summary without a text, and no message that is excluded
// from it. Of what a reset has kept it gets the user's and the assistant's messages, even those that are excluded, and the
// results of calls that are among these.
//
// A boundary keeps nothing if its FirstKeptID is not before it on the branch, and nothing from before a reset: if its
// FirstKeptID is there, what it keeps begins behind the reset.
// From the assistant's messages that are kept, a providerReplay of which the type ends in "-compaction" is taken: it is a
// provider's own replacement for the messages before it, which are not there any more.
//
// The context is what strict providers ask for. The results of an assistant's calls follow it directly, in the order of the
// calls, one for each. A result that comes first, of the latest call of its id, counts; others, and those without a call,
// are left out. A call without a result gets one that says that its outcome is unknown. An id of a call that was used
// before, or is empty, is replaced by a new one, in the call and its result. All of this is in the context only: the
// session stays as it is.
//
// The branch is read from its end, and no further than the context needs: but if FirstKeptID names an entry of another
// branch, all of it is. The context is all that is held in memory. The errors are those of [Log.Branch], and
// *ContextLimitError.
func BuildContext(ctx context.Context, log Log, opts *ContextOptions) (Context, error) {
	var o ContextOptions
	if opts != nil {
		o = *opts
	}
	if o.MaxMessages <= 0 {
		o.MaxMessages = DefaultMaxContextMessages
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxContextBytes
	}
	c, err := (&contextBuilder{o: o}).build(ctx, log)
	var limit *ContextLimitError
	if errors.As(err, &limit) {
		err = aboutSession("making the context of", log.Key(), err)
	}
	return c, err
}

type contextBuilder struct {
	o        ContextOptions
	messages []ContextMessage // the newest first
	count    int
	bytes    int64
}

func (b *contextBuilder) build(ctx context.Context, log Log) (Context, error) {
	var c Context
	boundary, kept, err := b.readNew(ctx, log, &c)
	if err != nil || c.EntryID == "" {
		return Context{EntryID: Root}, err
	}
	if c.Settings, err = log.Settings(ctx, c.EntryID); err != nil {
		return Context{}, err
	}
	if kept != "" {
		if err := b.readKept(ctx, log, boundary, kept); err != nil {
			return Context{}, err
		}
	}
	if p, ok := boundary.Payload.(Compaction); ok && p.Summary != "" {
		tokens := strconv.AppendInt(nil, p.TokensBefore, 10)
		message := summary(RoleCompactionSummary, p.Summary, map[string]json.RawMessage{"tokensBefore": tokens, "details": p.Details})
		if err := b.add(ContextMessage{Message: message, EntryID: boundary.ID, Time: boundary.Time}); err != nil {
			return Context{}, err
		}
	}
	slices.Reverse(b.messages)
	c.Messages, err = b.paired()
	if err != nil {
		return Context{}, err
	}
	return c, nil
}

// readNew reads what comes after the boundary, and gives the boundary, if there is one, and the first entry that it keeps,
// if that is on the branch.
func (b *contextBuilder) readNew(ctx context.Context, log Log, c *Context) (boundary Entry, kept string, err error) {
	var (
		reset  bool   // before the boundary
		oldest string // entry between them
	)
	for entry, err := range log.Branch(ctx, &BranchOptions{To: b.o.To, NewestFirst: true, Strict: b.o.Strict}) {
		if err != nil {
			return Entry{}, "", err
		}
		if c.EntryID == "" {
			c.EntryID = entry.ID
		}
		if c.BoundaryID != "" {
			// What is kept is read later, when it is known that anything is.
			switch {
			case entry.ID == kept && reset: // what came before a reset is not kept by what came after
				return boundary, oldest, nil
			case entry.ID == kept:
				return boundary, kept, nil
			case !reset && entry.Kind() == KindReset:
				reset = true
			case !reset:
				oldest = entry.ID
			}
			continue
		}
		switch payload := entry.Payload.(type) {
		case Compaction:
			kept = payload.FirstKeptID
		case Reset:
			kept = payload.FirstKeptID
		default:
			if err := b.addEntry(entry, false, false); err != nil {
				return Entry{}, "", err
			}
			continue
		}
		boundary, c.BoundaryID = entry, entry.ID
		if kept == "" {
			return boundary, "", nil
		}
		switch _, err := log.Entry(ctx, kept); {
		case errors.Is(err, ErrUnknownEntry):
			return boundary, "", nil
		case err != nil:
			return Entry{}, "", err
		}
	}
	return boundary, "", nil
}

// readKept reads the entries from the first that is kept to the boundary.
func (b *contextBuilder) readKept(ctx context.Context, log Log, boundary Entry, kept string) error {
	_, reset := boundary.Payload.(Reset)
	for entry, err := range log.Branch(ctx, &BranchOptions{To: boundary.ID, NewestFirst: true, Strict: b.o.Strict}) {
		if err != nil {
			return err
		}
		if entry.ID == boundary.ID {
			continue
		}
		if err := b.addEntry(entry, true, reset); err != nil || entry.ID == kept {
			return err
		}
	}
	return nil
}

// addEntry adds what the model gets of an entry.
func (b *contextBuilder) addEntry(entry Entry, retained, reset bool) error {
	var message Message
	switch payload := entry.Payload.(type) {
	case Message:
		message = payload
		conversation := slices.Contains([]string{RoleUser, RoleAssistant, RoleToolResult}, payload.Role)
		if reset && !conversation || !reset && payload.ExcludeFromContext {
			return nil
		}
		if retained {
			message = message.withoutCheckpoint()
		}
	case CustomMessage:
		if reset {
			return nil
		}
		message = Message{Role: RoleCustom, Content: payload.Content, Display: &payload.Display}
		message.Fields = fields(map[string]json.RawMessage{"customType": jsonText(payload.Type), "details": payload.Details})
	case BranchSummary:
		if reset || payload.Summary == "" {
			return nil
		}
		members := map[string]json.RawMessage{"fromId": jsonText(payload.FromID), "details": payload.Details}
		message = summary(RoleBranchSummary, payload.Summary, members)
	default:
		return nil
	}
	return b.add(ContextMessage{message, entry.ID, entry.Time, retained})
}

// add adds a message, within the limits.
func (b *contextBuilder) add(m ContextMessage) error {
	if err := b.charge(m.Message); err != nil {
		return err
	}
	b.messages = append(b.messages, m)
	return nil
}

// charge counts a message.
func (b *contextBuilder) charge(m Message) error {
	b.count++
	b.bytes += m.size()
	if b.count > b.o.MaxMessages || b.bytes > b.o.MaxBytes {
		return &ContextLimitError{b.o.MaxMessages, b.o.MaxBytes}
	}
	return nil
}

// size is how many bytes a message is made of.
func (m Message) size() int64 {
	size := len(m.Role) + len(m.Content) + len(m.ToolCallID) + len(m.ToolName) + len(m.IdempotencyKey) + len(m.Provenance)
	for _, members := range []map[string]json.RawMessage{m.Meta, m.Fields} {
		for name, value := range members {
			size += len(name) + len(value)
		}
	}
	return int64(size)
}

func summary(role, text string, members map[string]json.RawMessage) Message {
	return Message{Role: role, Content: jsonText(text), Fields: fields(members)}
}

// fields are the members that have a value.
func fields(members map[string]json.RawMessage) map[string]json.RawMessage {
	maps.DeleteFunc(members, func(_ string, value json.RawMessage) bool { return len(value) == 0 })
	return members
}

// withoutCheckpoint is an assistant's message without what its provider would take for the messages before it.
func (m Message) withoutCheckpoint() Message {
	const member = "providerReplay"
	replay, ok := m.Fields[member]
	if !ok || m.Role != RoleAssistant {
		return m
	}
	var checkpoint struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(replay, &checkpoint) != nil || !strings.HasSuffix(checkpoint.Type, "-compaction") {
		return m
	}
	m.Fields = maps.Clone(m.Fields)
	delete(m.Fields, member)
	return m
}
