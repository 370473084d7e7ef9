package codemode

import (
	"context"

	"github.com/cellmode/cellmode/store"
)

// A SessionStore keeps small values for the cells of a session, over turns and restarts: what store(key, value) and
// load(key) of a cell work on. [MemoryStore] is one, and package codemode/storetest tests any.
//
// A cell loads its session once, before its first store or load, and sees that state and its own changes to its end.
// Its changes are committed together when it completes, those of any other cell never. Cells run side by side, so an
// implementation must be safe for concurrent use: commits to a session take effect one after another, each on top of
// what is committed by then.
//
// Any text but the empty one may be the id of a session, and no session is visible in another. The text of an error reaches
// the model, up to 512 bytes: a store that cannot read a session says there what is to be done about it.
//
// # Blocking
//
// Both methods may block, and a context that is done ends them with its error. A load has what is left of its cell's time; a
// commit has that too, and at least a second. [Executor.Exec] does not wait longer for a store that ignores its
// context: the cell fails with a timeout, or completes with the warning that the commit is not confirmed. The call
// itself goes on, though, with its goroutine and its memory, and [Executor.Close] and [Runtime.Close] wait for it: for a
// store that never returns they wait for ever.
//
// A panic in a store is an error of the call, or that warning; the runtime's log has its stack. Values that are not JSON are
// refused where a cell loads them.
type SessionStore interface {
	// LoadSession gives all committed values of a session: none for a session that it does not know. The map
	// and its texts belong to the caller.
	LoadSession(ctx context.Context, sessionID string) (map[string]store.SessionValue, error)

	// CommitSession makes all of a change, or nothing of it, as [store.SessionChange.Apply] does to the committed
	// values, whose errors it returns: [store.ErrSessionFull] if they would exceed the limits of a session,
	// [store.ErrSessionKey], [store.ErrSessionValue] or [store.ErrSessionRange] for a change that no cell makes. It keeps no
	// reference to the change. After any other error, that of a context too, the change may have been made or not, but
	// never in part; with a context that is done before the call it has not.
	CommitSession(ctx context.Context, sessionID string, change store.SessionChange) error
}
