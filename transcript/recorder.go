package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// RecorderOptions say whom a Recorder tells what. Nil and the zero value tell nobody. The functions are called on the
// goroutine that has called MarkPersisted, in the order in which they stand here. They may use the recorder, but not wait
// for it. One that panics has been called: that is logged.
type RecorderOptions struct {
	// Committed is told, once, that the user's original input was appended. It is not told of a message that was there
	// before, or that is not the user's own: hidden from users or from the model, with a provenance of another kind than
	// external_user, late media of an input that was committed, or blocked before the run.
	Committed func(Receipt)

	// Admit is told, once, with the first receipt: it writes down that the turn was admitted. Its error is that of
	// MarkPersisted, and does not have it called again. The recorder is pending while it runs.
	Admit func(Receipt) error

	// Persisted is told, once, with the first receipt.
	Persisted func(Receipt)

	// Logger gets what happens without anybody waiting for it. Nil logs nothing.
	Logger *slog.Logger
}

// Recorder is where a harness tells its host that the user's message of a turn is in the session. Each turn has its own.
// It is safe for concurrent use.
type Recorder struct {
	log  Log
	opts RecorderOptions

	mu        sync.Mutex
	blocked   bool
	committed bool    // Committed was called
	admission Receipt // the first; issued if there is one
	persisted bool
	writes    int           // that have begun and not ended
	idle      chan struct{} // closed when none is left
}

// NewRecorder makes the recorder of a turn in the session of a log.
func NewRecorder(log Log, opts *RecorderOptions) *Recorder {
	r := &Recorder{log: log}
	if opts != nil {
		r.opts = *opts
	}
	if r.opts.Logger == nil {
		r.opts.Logger = slog.New(slog.DiscardHandler)
	}
	return r
}

// MarkPersisted tells that the user's message is in the session, with the receipt of the append or of what was found: of
// [Mirror], [Log.AppendAll] or [Log.Keyed]. Only one that says Appended can have the original input's commit told.
//
// The receipt must be one for the log's session. If it names another id of it, from before [Session.Rotate], the entry is
// looked up in the log: a session that was deleted has taken its entries along, and receipts for it prove nothing about a
// later one of the same key.
//
// ErrNotIssued, if neither the log nor another one of its store has made the receipt, or for another session. Else
// ErrInvalidEntry, if the entry is not a message of the user, and the errors of [Log.Entry]: ErrSessionGone means that the
// receipt is for a newer id than the log's, and needs a recorder with a log of that. In all these cases nobody is told, and
// nothing is marked. The error of RecorderOptions.Admit comes when all is marked.
func (r *Recorder) MarkPersisted(ctx context.Context, receipt Receipt) error {
	err := r.check(ctx, receipt)
	if err != nil {
		return fmt.Errorf("transcript: recording the user's message: %w", err)
	}
	message, _ := receipt.Entry().Message()
	r.mu.Lock()
	commit := receipt.Appended() && !r.committed && !r.blocked && message.isOriginalInput()
	first := !r.persisted
	r.committed = r.committed || commit
	if first {
		r.persisted, r.admission = true, receipt
	}
	end := r.begin() // who waits finds everybody told
	r.mu.Unlock()
	defer end()
	if commit {
		r.tell("Committed", returning(r.opts.Committed), receipt)
	}
	if !first {
		return nil
	}
	err = r.tell("Admit", r.opts.Admit, receipt)
	r.tell("Persisted", returning(r.opts.Persisted), receipt)
	if err != nil {
		return fmt.Errorf("transcript: recording the user's message: %w", err)
	}
	return nil
}

// check refuses what proves nothing about a message of the user in the session.
func (r *Recorder) check(ctx context.Context, receipt Receipt) error {
	anchor, entry := receipt.Anchor(), receipt.Entry()
	if !r.log.Issued(receipt) || anchor.SessionKey != r.log.Key() {
		return ErrNotIssued
	}
	if message, ok := entry.Message(); !ok || message.Role != RoleUser {
		return fmt.Errorf("%w: entry %s is none of the user", ErrInvalidEntry, anchor.EntryID)
	}
	if anchor.SessionID == r.log.ID() {
		return nil
	}
	there, err := r.log.Entry(ctx, anchor.EntryID)
	if errors.Is(err, ErrUnknownEntry) || err == nil && !sameEntry(there, entry) {
		return fmt.Errorf("%w: it is for an earlier session of this key", ErrNotIssued)
	}
	return err
}

// sameEntry tells whether two entries would be the same line of a session file.
func sameEntry(a, b Entry) bool {
	x, errX := a.MarshalJSON()
	y, errY := b.MarshalJSON()
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// isOriginalInput tells that a message is what the user himself has just said, as far as the message says.
func (m Message) isOriginalInput() bool {
	_, blocked := m.Meta[metaBlocked]
	return !m.hidden() && !m.ExcludeFromContext && !blocked && string(m.Meta[metaLateMedia]) != "true" &&
		(len(m.Provenance) == 0 || string(m.Provenance) == "null" || provenanceKind(m) == "external_user")
}

// tell calls one of the options' functions.
func (r *Recorder) tell(name string, f func(Receipt) error, receipt Receipt) (err error) {
	if f == nil {
		return nil
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("RecorderOptions.%s has panicked: %v", name, cause)
			r.opts.Logger.Error("transcript: "+err.Error(), "session", receipt.Anchor().SessionKey, "stack", string(debug.Stack()))
		}
	}()
	return f(receipt)
}

func returning(f func(Receipt)) func(Receipt) error {
	if f == nil {
		return nil
	}
	return func(receipt Receipt) error { f(receipt); return nil }
}

// Block tells that the message is refused: its commit is not told any more.
func (r *Recorder) Block() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocked = true
}

// Admission is the first receipt that was marked, and whether there is one.
func (r *Recorder) Admission() (Receipt, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.admission, r.persisted
}

// BeginWrite tells that the message is being written. The recorder is pending until end is called, which may be done again
// to no effect; so call it in any case.
func (r *Recorder) BeginWrite() (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begin()
}

// begin must be called with mu held.
func (r *Recorder) begin() (end func()) {
	if r.writes++; r.writes == 1 {
		r.idle = make(chan struct{})
	}
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.writes--; r.writes == 0 {
			close(r.idle)
		}
	})
}

// Pending tells that a write has begun and not ended, or that somebody is being told.
func (r *Recorder) Pending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writes > 0
}

// Wait waits until the recorder is not pending, or the context is done, of which it returns the error.
func (r *Recorder) Wait(ctx context.Context) error {
	r.mu.Lock()
	pending, idle := r.writes > 0, r.idle
	r.mu.Unlock()
	if !pending {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("transcript: waiting for the user's message: %w", ctx.Err())
	}
}
