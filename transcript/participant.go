package transcript

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Participant takes part in the deletion of sessions: it is a runtime that keeps something of its own for them elsewhere,
// such as the id of a native session, which must go exactly if the session goes. Its methods may be called concurrently,
// for different sessions.
//
// A participant that has a method HarnessID() string is asked about the sessions of that runtime only, and about those
// that belong to none. One that has no such method, or whose id is empty, is asked about all.
type Participant interface {
	// WithSessionDeletion prepares for the session to be deleted: it takes the lease of what it keeps, and, while it holds
	// it, calls run, once, with the context that it was given or one derived from it, and with the mutation that takes the
	// state away. When run returns, the mutation must be closed for good, and the lease be given back. What takes long,
	// such as to unsubscribe or to end a process, comes then: so it does not hold the database.
	//
	// If run returns nil the session is deleted; nothing can bring it back. Else it is not, or nobody knows, which is
	// ErrUnknownOutcome. An error that WithSessionDeletion returns before it has called run prevents the deletion; one
	// that it returns later is told to who wanted it, and changes nothing.
	//
	// It has [ParticipantTimeout] to call run, and as much when run has returned: then its context ends, and shortly
	// after that nobody waits for it any more, nor may it call run.
	WithSessionDeletion(ctx context.Context, deletion Deletion, run func(context.Context, Mutation) error) error
}

// ContextParticipant is what [Participant] is to deletion for a move within a session, after which the model is to see
// another past: what a runtime remembers of the old one must go exactly if the session moves.
type ContextParticipant interface {
	// WithSessionContextReset prepares for the move, under the rules of WithSessionDeletion of [Participant].
	WithSessionContextReset(ctx context.Context, reset ContextReset, run func(context.Context, Mutation) error) error
}

// ParticipantTimeout is the time that a participant has for each part of its work in one operation.
const ParticipantTimeout = 90 * time.Second

// participantGrace is the time in which a participant notices that its context is done.
const participantGrace = 5 * time.Second

// Deletion is what a [Participant] is told of a session that is to be deleted.
type Deletion struct {
	// Session is the session as it was when the deletion began. If its id or revision changes before the deletion takes
	// effect, it does not.
	Session Info
	// Reason says why, as who deletes it has put it.
	Reason string
	// Authority returns nil as long as the participant may act upon the deletion: until WithSessionDeletion returns, and as
	// long as who wants the deletion may. It is to be asked first of all, after each wait, and right before each change. An
	// error is final. It is quick and safe for concurrent use.
	Authority func() error
}

// ContextReset is what a [ContextParticipant] is told of a move.
type ContextReset struct {
	// Session is the session as it was when the move began.
	Session Info
	// To is the id of the entry with which the branch is going to end, or [Root].
	To string
	// Authority is as in [Deletion].
	Authority func() error
}

// Mutation takes away what a participant keeps for a session. Its methods are called while run has not returned, one at a
// time, on any goroutine. They must work in any order and number: what is done already, or undone, is no error. Called
// later they must return an error, and do nothing. A mutation that has a method Settle(Outcome) is told what came out,
// before run returns.
type Mutation interface {
	// Commit takes it away. It is called in the middle of the transaction that deletes the session, right before its row
	// goes: it must be quick, and must not use the store, which would wait for itself. An error ends the transaction.
	Commit() error
	// Rollback brings it back, because the transaction has failed after Commit was called: be it that Commit has done it,
	// or failed. The transaction is over then. Rollback is called even if the authority of the operation has ended: what
	// entitles the participant to it is its lease.
	Rollback() error
}

// Outcome is what came out of an operation that participants have prepared.
type Outcome int

const (
	// RolledBack means that nothing has changed. It is the zero value.
	RolledBack Outcome = iota
	// Committed means that the change is there to stay.
	Committed
	// UnknownOutcome means that the database has failed when it was to confirm the change, and could not be asked later:
	// it is there or not. Participants have committed theirs and not brought it back.
	UnknownOutcome
)

func (o Outcome) String() string {
	switch o {
	case RolledBack:
		return "rolled back"
	case Committed:
		return "committed"
	case UnknownOutcome:
		return "unknown"
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}

// ParticipantError is an error of a participant, or tells that it has not kept to the rules.
type ParticipantError struct {
	SessionKey string
	HarnessID  string // of the participant, if it names one
	// Doing is the step in which it failed: "prepare", "commit", "rollback", "settle", or "finish", which is what comes
	// when run has returned.
	Doing string
	// Outcome is that of the operation: if it is Committed, the error has not prevented it.
	Outcome Outcome
	Err     error
}

func (e *ParticipantError) Error() string {
	who := "a participant"
	if e.HarnessID != "" {
		who = fmt.Sprintf("the participant %.100q", e.HarnessID)
	}
	return fmt.Sprintf("session %.100q: %s fails to %s: %v", e.SessionKey, who, e.Doing, e.Err)
}

func (e *ParticipantError) Unwrap() error { return e.Err }

// How participants break the rules.
var (
	errNeverRan   = errors.New("it has returned without calling run")
	errRanTwice   = errors.New("it has called run more than once")
	errNoMutation = errors.New("it has called run without a context or a mutation")
	errStuck      = errors.New("it does not return although its context is done; it was left alone")
	errLeftEarly  = errors.New("it has returned while run was running, and holds no lease any more")
	errUnwound    = errors.New("it has ended its goroutine")

	errAuthorityUnwound = errors.New("what was to say who may act has panicked")
)

// harnessID is the runtime whose sessions a participant is asked about, empty for all.
func harnessID(participant any) string {
	if p, ok := participant.(interface{ HarnessID() string }); ok {
		return p.HarnessID()
	}
	return ""
}

// concerns tells whether a participant is to be asked about a session.
func concerns(participant any, session Info) bool {
	id := harnessID(participant)
	return id == "" || session.HarnessID == "" || id == session.HarnessID
}
