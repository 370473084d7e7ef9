package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// MaxMirrorBatch is how many messages [Mirror] takes at once.
const MaxMirrorBatch = 1000

// MirrorMessage is a message of a runtime that a session is to have, too.
type MirrorMessage struct {
	// Identity names the message among all of the scope: the same each time it is mirrored, whatever stands before it, and
	// another one for each other message, whatever it says. [PromptIdentity] and its like make them.
	Identity string

	// Message is what the runtime has. The idempotency key of a user's message, if it has one, is its key in the session;
	// that of others does not count.
	Message Message

	// Prepared is a user's message as the host has prepared it: what operational metadata the message has depends on it
	// alone, see [RestoreOperationalMeta], its provenance included, which it lacks if Prepared has none; but hooks and the
	// runtime may hide it from users. Its idempotency key counts before the message's own. The zero value, and nothing
	// else, means that Message is what the host has prepared.
	Prepared Message

	// Admission tells that the host admits the user's input by this call. Hooks then may change less of it, see
	// [RestoreAdmittedMeta].
	Admission bool

	// Claim looks for the message among those of the turn, as [Draft.Claim] says, if none has its key: for a user's message
	// that the host may have appended without a key, and for the delivery of an answer that may be there already.
	Claim bool
}

// PromptIdentity names the user's message of a turn.
func PromptIdentity(turnID string) string { return turnID + ":prompt" }

// ToolIdentity names a message about a call of a tool. Part is what it is, for example the id of the call and whether it
// asks or answers.
func ToolIdentity(turnID, part string) string { return turnID + ":tool:" + part }

// AsyncIdentity names an item that the runtime sends by itself.
func AsyncIdentity(turnID, itemID string) string { return turnID + ":async:" + itemID }

// FinalizerIdentity names the answer of the finalization of a settled turn.
func FinalizerIdentity(runID string) string { return "settled-finalizer:" + runID }

// MirrorOptions say how Mirror works. A scope is needed unless each message has a key of its own.
type MirrorOptions struct {
	// Scope is what identities are unique in, for example the harness and the native thread. The key of a message without
	// one of its own is Scope:Identity.
	Scope string

	// RunID, if it is not empty, is kept with each message that is appended.
	RunID string

	// BeforeWrite gets each message that is not there yet, before it is appended, and returns what to append instead, or
	// false to have it left out. It gets a copy. It has no say about the key, the identity and other facts that the mirror
	// keeps, operational metadata, the provenance, the identity of the sender, and taint; a message of which it changes the
	// role is left out. Of a message that another process appends at the same time it is asked nevertheless. An error ends
	// the call. It may use the log. Nil changes nothing.
	BeforeWrite func(ctx context.Context, message Message) (Message, bool, error)

	// Authority is asked before and after everything that may take a while, and as [AppendOptions.Authority] says. Its
	// error ends the call. Nil allows it.
	Authority func() error
}

// MirrorState is what has become of a message.
type MirrorState string

// The states of a message that was mirrored.
const (
	MirrorAppended MirrorState = "appended"
	MirrorPresent  MirrorState = "present" // it was there before, or is so since another process appended it
	MirrorSkipped  MirrorState = "skipped" // by BeforeWrite
)

// MirrorResult tells what has become of a message.
type MirrorResult struct {
	// Key is the idempotency key by which the session knows the message.
	Key   string
	State MirrorState
	// Receipt is that of the append, or of what was there; the zero value if the message was skipped.
	Receipt Receipt
	// Stale tells that the entry was mirrored from a message that said something else: the runtime has used its identity
	// again. It is false for entries that were not mirrored, and for those that the message has claimed.
	Stale bool
	// Owned tells that the message is the assistant's. Nobody else must append it, even if it was skipped.
	Owned bool
}

// Mirror appends those messages of a runtime to a session that are not there yet, in their order, all of them or none, and
// tells of each what has become of it. What was mirrored before is found by its key, whatever it says: so a batch may be
// mirrored again, and by several processes at once, and each of its messages is appended once. A message that stands in it
// twice is one.
//
// With each message it keeps its identity, and a fingerprint of what the runtime had: a hash, from before hooks and
// redaction, by which guesses of what was redacted can be tested. An assistant's message that follows a result from the
// network, or such a message, is marked as tainted until the next message of the user, also if what it follows is in the
// session since an earlier call. The turn is tainted, too, if that message of the user is not among the last 10,000 entries
// of the branch.
//
// A key is one of the session, not of a branch. After [AppendOptions.From] or [Session.MoveTo] has gone back, a message
// that was mirrored on the branch which was left is present, and is not appended again: so it is not in the context either.
// Nothing in the results tells: whoever goes back, and wants a message in the new branch that was in the old one, gives it
// another identity. A user's message with a key of its own needs another key. To look whether the entry of a receipt is on
// the branch takes [Log.Branch].
//
// The errors are those of [Log.AppendAll], of [Log.Branch], of the options' functions, ErrInvalidEntry for a message without a
// key, and ErrBatchTooLarge. Nothing was appended then, unless there are results, too: they come with an error if the
// context or the authority has ended after the append. Entries that were claimed before hooks were asked stay so at any
// rate.
func Mirror(ctx context.Context, log Log, batch []MirrorMessage, opts *MirrorOptions) ([]MirrorResult, error) {
	m := mirror{log: log}
	if opts != nil {
		m.MirrorOptions = *opts
	}
	messages, keys, err := m.read(batch)
	if err != nil || len(batch) == 0 {
		return nil, m.about(err)
	}
	if err := m.allowed(ctx); err != nil {
		return nil, err
	}
	present, err := log.Keyed(ctx, keys...)
	if err != nil {
		return nil, err
	}
	if err := m.claim(ctx, messages, present); err != nil {
		return nil, err
	}
	if err := m.taint(ctx, messages, present); err != nil {
		return nil, err
	}
	results, err := m.append(ctx, messages, present)
	if err != nil {
		return nil, err
	}
	return results, m.allowed(ctx)
}

// mirror is one call of Mirror.
type mirror struct {
	MirrorOptions
	log Log
}

// source is a message to be mirrored.
type source struct {
	MirrorMessage
	key     string
	tainted bool
}

// read checks the batch.
func (m *mirror) read(batch []MirrorMessage) (messages []source, keys []string, err error) {
	if len(batch) > MaxMirrorBatch {
		return nil, nil, fmt.Errorf("%w: it has %d messages, and may have %d", ErrBatchTooLarge, len(batch), MaxMirrorBatch)
	}
	messages, keys = make([]source, len(batch)), make([]string, len(batch))
	tainted := false
	for i, message := range batch {
		source := source{MirrorMessage: message}
		if source.key, err = m.key(message); err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i, err)
		}
		switch {
		case message.Message.Role == RoleUser:
			tainted = false
		case message.Message.taints():
			tainted = true
		}
		source.tainted = tainted && message.Message.Role == RoleAssistant
		messages[i], keys[i] = source, source.key
	}
	return messages, keys, nil
}

// key is the idempotency key of a message.
func (m *mirror) key(message MirrorMessage) (string, error) {
	key := ""
	if message.Message.Role == RoleUser {
		if key = message.Prepared.IdempotencyKey; key == "" {
			key = message.Message.IdempotencyKey
		}
	}
	switch {
	case message.Message.Role == "":
		return "", fmt.Errorf("%w: a message must have a role", ErrInvalidEntry)
	case key == "" && (m.Scope == "" || message.Identity == ""):
		return "", fmt.Errorf("%w: a message without an idempotency key of the user needs an identity, and the mirror a scope", ErrInvalidEntry)
	case key == "":
		key = m.Scope + ":" + message.Identity
	}
	return key, checkKeys(key, message.Identity)
}

// claim finds messages that are there without their key, and adds them to those that are present: those of which hooks would
// have a say otherwise, and those of the user, which tell where a turn begins. The append looks for the others.
func (m *mirror) claim(ctx context.Context, messages []source, present map[string]Receipt) error {
	var drafts []Draft
	var keys []string
	for _, source := range messages {
		first := m.BeforeWrite != nil || source.Message.Role == RoleUser
		if _, ok := present[source.key]; !ok && source.Claim && first {
			message := source.Message
			message.IdempotencyKey = source.key
			drafts, keys = append(drafts, Draft{Payload: message, ClaimOnly: true}), append(keys, source.key)
		}
	}
	if len(drafts) == 0 {
		return nil
	}
	receipts, err := m.appendAll(ctx, drafts)
	for i, receipt := range receipts {
		if m.log.Issued(receipt) {
			present[keys[i]] = receipt
		}
	}
	return err
}

// taint marks the assistant's messages that are to be appended to a turn which is tainted already, by what was mirrored before.
func (m *mirror) taint(ctx context.Context, messages []source, present map[string]Receipt) error {
	known := false
	for i := range messages {
		source := &messages[i]
		_, there := present[source.key]
		switch {
		case there:
		case source.Message.Role == RoleUser: // here another turn begins
			return nil
		case source.Message.Role == RoleAssistant && !source.tainted:
			if !known {
				tainted, err := m.isTainted(ctx)
				if err == nil {
					err = m.allowed(ctx)
				}
				if err != nil || !tainted {
					return err
				}
				known = true
			}
			source.tainted = true
		}
	}
	return nil
}

// maxTurn is how many entries are looked at for what taints a turn.
const maxTurn = 10_000

// isTainted tells whether the turn at the branch's end is tainted. It does not look behind a message that was mirrored clean.
func (m *mirror) isTainted(ctx context.Context) (bool, error) {
	looked := 0
	for entry, err := range m.log.Branch(ctx, &BranchOptions{NewestFirst: true}) {
		if err != nil {
			return false, err
		}
		if looked++; looked > maxTurn {
			return true, nil
		}
		message, _ := entry.Message()
		_, mirrored := message.Meta[metaFingerprint]
		switch {
		case message.Role == RoleUser:
			return false, nil
		case message.taints():
			return true, nil
		case message.Role == RoleAssistant && mirrored:
			return false, nil
		}
	}
	return false, nil
}

// append appends the messages that are not present.
func (m *mirror) append(ctx context.Context, messages []source, present map[string]Receipt) ([]MirrorResult, error) {
	results := make([]MirrorResult, len(messages))
	var drafts []Draft
	var at []int                   // where in results the drafts are
	decided := map[string]*Draft{} // nil if it was skipped
	for i, source := range messages {
		results[i] = MirrorResult{Key: source.key, State: MirrorSkipped, Owned: source.Message.Role == RoleAssistant}
		if receipt, ok := present[source.key]; ok {
			results[i].settle(source, receipt)
			continue
		}
		draft, again := decided[source.key]
		if !again {
			var err error
			if draft, err = m.draft(ctx, source); err != nil {
				return nil, err
			}
			decided[source.key] = draft
		}
		if draft != nil {
			drafts, at = append(drafts, *draft), append(at, i)
		}
	}
	if len(drafts) == 0 {
		return results, nil
	}
	receipts, err := m.appendAll(ctx, drafts)
	for i, receipt := range receipts {
		results[at[i]].settle(messages[at[i]], receipt)
	}
	return results, err
}

func (m *mirror) appendAll(ctx context.Context, drafts []Draft) ([]Receipt, error) {
	if err := m.allowed(ctx); err != nil {
		return nil, err
	}
	return m.log.AppendAll(ctx, drafts, &AppendOptions{Authority: m.Authority})
}

// draft is what is to be appended of a message: nil if nothing is.
func (m *mirror) draft(ctx context.Context, source source) (*Draft, error) {
	message := source.Message.Clone()
	message.IdempotencyKey = source.key
	if m.BeforeWrite != nil {
		if err := m.allowed(ctx); err != nil {
			return nil, err
		}
		changed, keep, err := m.BeforeWrite(ctx, message)
		if err != nil {
			return nil, m.about(err)
		}
		if err := m.allowed(ctx); err != nil {
			return nil, err
		}
		if !keep || changed.Role != source.Message.Role {
			return nil, nil
		}
		message = changed
	}
	return &Draft{Payload: m.protect(message, source), Claim: source.Claim}, nil
}

// protect takes back what the hook, and of a message that the host has prepared the runtime, have no say about.
func (m *mirror) protect(message Message, source source) Message {
	prepared := source.Message
	if source.Message.Role == RoleUser && !isZero(source.Prepared) {
		prepared = source.Prepared
	}
	if source.Admission && message.Role == RoleUser {
		message, _ = RestoreAdmittedMeta(message, prepared)
	} else {
		message = RestoreOperationalMeta(message, prepared)
	}
	if source.Message.hidden() {
		message.Display = new(bool)
	}
	message = message.withProvenance(prepared.provenance())
	message.IdempotencyKey = source.key

	meta, trusted := message.meta(), prepared.meta()
	keepSender(meta, trusted)
	if !isBool(trusted[metaOwner]) {
		delete(trusted, metaOwner)
	}
	guarded := []string{metaOwner, metaTainted, metaSource, metaRun}
	if message.Role != RoleUser { // nothing was restored
		guarded = append(guarded, metaIntent, metaSteer, metaMentions)
	}
	for _, name := range guarded {
		take(meta, trusted, name)
	}
	if source.tainted {
		meta[metaTainted] = json.RawMessage("true")
	}
	if m.RunID != "" {
		meta[metaRun] = jsonText(m.RunID)
	}
	meta[metaIdentity] = jsonText(source.Identity)
	meta[metaFingerprint] = jsonText(fingerprint(source.Message))
	return message.withMeta(meta)
}

// settle takes over what has become of a message.
func (r *MirrorResult) settle(source source, receipt Receipt) {
	r.Receipt, r.State = receipt, MirrorPresent
	if receipt.Appended() {
		r.State = MirrorAppended
		return
	}
	// Of an entry that was claimed the message has another key, and the fingerprint of its own source.
	if kept, ok := receipt.Entry().Message(); ok && kept.IdempotencyKey == r.Key {
		print := stringOf(kept.Meta[metaFingerprint])
		r.Stale = print != "" && print != fingerprint(source.Message)
	}
}

// fingerprint tells messages apart by what they say.
func fingerprint(m Message) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q %q %t %x", m.Role, m.ToolCallID, m.ToolName, m.IsError, contentHash(m))
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// allowed asks whether the call may go on.
func (m *mirror) allowed(ctx context.Context) error {
	err := ctx.Err()
	if err == nil && m.Authority != nil {
		err = m.Authority()
	}
	return m.about(err)
}

func (m *mirror) about(err error) error {
	return aboutSession("mirroring into", m.log.Key(), err)
}
