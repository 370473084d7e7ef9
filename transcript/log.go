package transcript

import (
	"context"
	"iter"
	"time"
)

// Limits of a session.
const (
	// MaxEntryBytes is the size of an entry: bytes of the compact JSON object with the members of its payload, those that
	// [Entry.MarshalJSON] writes behind its kind, id, parent and time.
	MaxEntryBytes = 64 << 20
	// MaxKeyBytes is the size of an idempotency key, of a session's key, and of the texts of [SessionOptions].
	MaxKeyBytes = 4096
)

// Log is one session as package harness, [Mirror] and [BuildContext] use it. A *[Session] is one; package transcripttest
// tests any. An implementation is safe for concurrent use, by several processes if they share it. Every method with a
// context may block, and a context that is done ends it with its error, loops at the next entry. An append has then changed
// nothing.
//
// Where an id says where a branch begins or ends, that of a [Leaf] entry stands for the entry to which it leads.
type Log interface {
	// Key is what the host calls the session, and ID, which is not empty, what tells it from a later one of that key.
	Key() string
	ID() string

	// AppendAll appends all drafts, each after the one before, or none of them; where, the options say. What it returns has
	// a receipt for each draft, in order. Whoever reads sees all of it or nothing, and when it has returned without an
	// error its effect survives the end of the process. The log shares nothing with the drafts afterwards. Without drafts
	// it does what the options say.
	//
	// A draft whose message has the idempotency key of an entry that is there, whatever its branch, and be it of a draft of
	// the same call, is not appended: its receipt has that entry. The same holds for the entry that [Draft.Claim] finds.
	// Keys are the same if their bytes are.
	//
	// The errors are ErrConflict, ErrUnknownEntry, ErrBeforeReset, ErrInvalidEntry, ErrEntryTooLarge, ErrSessionGone, those
	// of the context, and what the authority of the options returned. Any of them leaves the session as it was.
	AppendAll(ctx context.Context, drafts []Draft, opts *AppendOptions) ([]Receipt, error)

	// Issued tells whether this log, or another one of its store, has issued the receipt. It does so from memory: receipts
	// of other processes, and of a store that was opened earlier, are not its own.
	Issued(r Receipt) bool

	// Leaf is the id of the entry that the next one follows, or Root.
	Leaf(ctx context.Context) (string, error)

	// Entry reads an entry by its id: ErrUnknownEntry if the session has none.
	Entry(ctx context.Context, id string) (Entry, error)

	// Keyed gives receipts, as AppendAll does for what was there before, of the entries that have these idempotency keys,
	// those that were claimed for them included. Keys that no entry has are not in what it returns, which is
	// the caller's.
	Keyed(ctx context.Context, keys ...string) (map[string]Receipt, error)

	// Branch goes through a branch without leaf entries, the oldest entry first if the options do not say otherwise. It
	// reads as it goes: the branch is that of the moment when the loop begins, and what is appended meanwhile is not in it.
	// An error comes without an entry and ends the loop; ErrUnknownEntry if the branch has no such end. The loop may use
	// the log, and what Branch returns may be gone through again.
	Branch(ctx context.Context, opts *BranchOptions) iter.Seq2[Entry, error]

	// Entries goes through all entries in the order in which they were appended, leaf entries too, in the way in which
	// Branch goes through a branch.
	Entries(ctx context.Context) iter.Seq2[Entry, error]

	// Settings are the model and the thinking level of the branch that ends with an entry; an empty id means the leaf, and
	// [Root] has none. ErrUnknownEntry.
	Settings(ctx context.Context, id string) (Settings, error)
}

// Draft is an entry to be appended.
type Draft struct {
	// Payload is what the entry says. A [Leaf] cannot be appended, [AppendOptions.From] says where to go on, nor a message
	// of the role compactionSummary or branchSummary, for which there are [Compaction] and [BranchSummary]:
	// ErrInvalidEntry.
	Payload Payload

	// Side hangs the entry beside the branch: it follows the leaf, and what is appended later does not follow it. A [Reset]
	// cannot hang there.
	Side bool

	// Claim is for who mirrors a message that the host may have appended already. If the draft is a message whose key is
	// not there, it is looked for in the turn at the branch's end: from the last entry back to the last message of the user
	// or the last reset, over at most 1000 entries and 16 MiB of them, which are read once for all drafts of a call; for a
	// message of the user only back to the last of the assistant, because it is then a new one. What is found, the newest
	// first, is an entry of the same role that no draft has claimed yet and no other claim of the call got:
	//
	//   - one that was appended without an idempotency key, or by the assistant, and has the same content, as JSON;
	//   - one of the assistant with the same text, which is not empty, if the draft calls no tools.
	//
	// The draft's key leads to that entry from then on. A draft without a key finds an entry without claiming it.
	Claim bool

	// ClaimOnly is Claim without the append: if no entry has the key, and none is found, nothing is appended, and the
	// receipt is the zero value.
	ClaimOnly bool
}

// AppendOptions say where AppendAll appends. Nil and the zero value mean after the leaf, wherever it is.
type AppendOptions struct {
	// Leaf, if it is not empty, is the leaf that the caller has seen: the id of an entry, or [Root]. If the session has
	// another one by now, nothing is appended, and the error is ErrConflict; ErrUnknownEntry if there is no such entry.
	// What was appended beside the branch has not changed the leaf.
	Leaf string

	// From, if it is not empty, is where to go on: the id of an entry, or [Root]. The drafts, or what is appended next,
	// begin a branch there, and everything that was appended before stays. If it is the leaf already this changes nothing;
	// else a [Leaf] entry is appended. If all drafts are there already, by their keys, the leaf stays where it is.
	// ErrUnknownEntry; ErrBeforeReset if the last reset is not on the branch of the entry.
	From string

	// Time is what the entries say of when they were appended, of the years 1 to 9999; zero means now.
	Time time.Time

	// Authority is asked once, inside of the transaction, before anything of it counts, also if all drafts are there
	// already: if it returns an error nothing is appended, and AppendAll's error wraps that one. If it panics nothing is
	// appended either, and the panic is the caller's. Nil allows it. It must be quick, and not use the store.
	Authority func() error
}

// BranchOptions say what Branch goes through. Nil and the zero value mean from the root to the leaf.
type BranchOptions struct {
	// To is the id of the entry with which the branch ends, be it beside a branch or from before a reset; empty means the
	// leaf, and with [Root] the branch has no entries.
	To string
	// NewestFirst goes from the end of the branch to its root.
	NewestFirst bool
	// Strict refuses a session that was imported with leaf entries that lead nowhere, with ErrInconsistent.
	Strict bool
}

// Settings are what a branch says of the model: in its last [ModelChange], or message of the assistant with the members
// provider and model if that comes later, and in its last [ThinkingLevelChange]. Resets and compactions change nothing
// about it. Empty fields mean that it says nothing.
type Settings struct {
	Provider, ModelID string
	ThinkingLevel     string
}

// Receipt says what became of a draft. Only the log that appended it can make one, and [Log.Issued] knows them: so a
// receipt that says Appended is proof of it. The zero value proves nothing.
type Receipt struct {
	entry    Entry
	appended bool
	key, id  string // of the session
	issuer   *Issuer
}

// Entry is the entry as it is in the session, be it appended now or found; of the zero receipt it has no payload.
func (r Receipt) Entry() Entry { return r.entry }

// Appended tells that the entry is there since this call. It is false if it was there before.
func (r Receipt) Appended() bool { return r.appended }

// Anchor is where the entry is.
func (r Receipt) Anchor() Anchor { return Anchor{r.key, r.id, r.entry.ID} }

// Anchor names an entry of a session.
type Anchor struct {
	SessionKey, SessionID, EntryID string
}

// Issuer makes the receipts of a store and knows them again. It is for implementations of [Log]: each keeps one
// that nobody else can reach.
type Issuer struct{ _ byte }

// NewIssuer makes an issuer that differs from all others.
func NewIssuer() *Issuer { return new(Issuer) }

// Receipt makes the receipt of an entry of the session of this key and id.
func (i *Issuer) Receipt(key, id string, entry Entry, appended bool) Receipt {
	return Receipt{entry: entry, appended: appended, key: key, id: id, issuer: i}
}

// Issued tells whether this issuer made the receipt.
func (i *Issuer) Issued(r Receipt) bool { return i != nil && r.issuer == i }
