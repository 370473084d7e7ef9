package transcript

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors of a Store and of Open, to be found with errors.Is. Those that concern a cell are the errors of package store.
var (
	// ErrNotStore reports a file that is no database, or the database of another program. It was left as it is.
	ErrNotStore = errors.New("the file is not a database of this package: give Open another path")
	// ErrNewerVersion reports a file written by a newer version of this package. It was left as it is.
	ErrNewerVersion = errors.New("the file was written by a newer version of this package: update the program")
	// ErrDamaged reports a database whose content is not what was written to it. What can be saved is got out by the
	// command .recover of SQLite's shell.
	ErrDamaged = errors.New("the database is damaged: restore it from a copy")
	// ErrFull reports that there is no room on the disk. Nothing was changed, and all can still be read; the store works again
	// as soon as something else has made room. To delete cells is a write, too, and may need room.
	ErrFull = errors.New("no room on the disk for the database")
	// ErrReadOnly reports a file, or a directory, that this process may not write.
	ErrReadOnly = errors.New("the database cannot be written: check the rights of the file and its directory")
	// ErrCannotOpen reports a path at which there can be no database: a directory, or a file that this process may not
	// open or make.
	ErrCannotOpen = errors.New("the database cannot be opened: check that the directory exists, and its rights")
	// ErrBusy reports that other processes have kept the database for longer than Options.BusyTimeout. Nothing was
	// changed.
	ErrBusy = errors.New("the database is in use by another process")
	// ErrOlderVersion reports a file of an older version that was to be opened for reading only. It was left as it is.
	ErrOlderVersion = errors.New("the file was written by an older version of this package: open it once for writing")
	// ErrClosed reports a Store that was closed.
	ErrClosed = errors.New("the store is closed")
)

// Errors of sessions, to be found with errors.Is.
var (
	// ErrUnknownSession reports a key of which the store has no session.
	ErrUnknownSession = errors.New("no such session")
	// ErrSessionExists reports a key of which there is a session already. Nothing was changed.
	ErrSessionExists = errors.New("there is a session of this key: delete it first, or give another key")
	// ErrSessionGone reports a session that was deleted, or has got another id, since it was opened.
	ErrSessionGone = errors.New("the session is not there any more under the id with which it was opened: open it again by its key")
	// ErrSessionBusy reports a session that is at work, or is being deleted or moved, in this Store. Nothing was changed.
	ErrSessionBusy = errors.New("the session is busy: try again later")
	// ErrOperationEnded reports that somebody uses what was given to him for one operation when that is over.
	ErrOperationEnded = errors.New("the operation has ended, and with it the authority to act for it")
	// ErrUnknownOutcome reports that the database has failed in such a way that nobody knows whether a change is there.
	ErrUnknownOutcome = errors.New("it is not known whether the change has taken effect: look when the database works again")
	// ErrUnknownEntry reports an id that no entry of the session has.
	ErrUnknownEntry = errors.New("no such entry")
	// ErrConflict reports that the session has gone on since the caller looked. Nothing was changed.
	ErrConflict = errors.New("the session has changed")
	// ErrBeforeReset reports an entry to which no branch leads any more, because the session was reset after it.
	ErrBeforeReset = errors.New("the entry is from before the last reset, to which no branch leads back")
	// ErrInvalidEntry reports what cannot be an entry, or the name of one. It was not appended.
	ErrInvalidEntry = errors.New("invalid entry")
	// ErrEntryTooLarge reports an entry beyond MaxEntryBytes. It was not appended.
	ErrEntryTooLarge = errors.New("the entry is too large")
	// ErrInvalidQuery reports a query with which Search cannot look for anything.
	ErrInvalidQuery = errors.New("invalid query")
	// ErrRedaction reports an Options.Redact that has failed. Nothing was appended.
	ErrRedaction = errors.New("the function Options.Redact has failed, and so nothing was appended")
	// ErrBatchTooLarge reports more messages than Mirror takes at once. Nothing was appended.
	ErrBatchTooLarge = errors.New("the batch is too large: mirror it in parts, in order")
	// ErrNotIssued reports a receipt that is no proof of anything: made by nobody, by another store, or for another
	// session.
	ErrNotIssued = errors.New("the receipt is not one of this session's log: give the one that the append has returned")
	// ErrInvalidValues reports a session whose values of store and load cannot be known.
	ErrInvalidValues = errors.New("an entry with values of store and load is not as it should be; repair the session: " +
		"reset it, or move its leaf to before that entry")
	// ErrInconsistent reports a session of which a strict reader cannot be sure: a leaf entry in the file from which
	// it was imported leads nowhere.
	ErrInconsistent = errors.New("the session was imported with a leaf entry that leads nowhere: read it without BranchOptions.Strict, " +
		"or take that entry out of the file and import it again")
)

// errAncestor reports an entry that is said to come after itself.
var errAncestor = fmt.Errorf("%w (an entry is its own ancestor)", ErrDamaged)

// missing reports an entry that others name, and that is not there.
func missing(number int64) error {
	return fmt.Errorf("%w (entry number %d is missing)", ErrDamaged, number)
}

// explain gives an error of the driver its place among the errors of this package, or the context's if that was the cause.
func explain(ctx context.Context, err error) error {
	// The transaction of a context that is done is rolled back at once, behind the back of who uses it: what that finds
	// then is not there, or closed, in the words of package sql.
	if done := ctx.Err(); done != nil && err != nil && (code(err) == sqlite3.SQLITE_INTERRUPT || code(err) == 0) {
		return done
	}
	if is := kinds[code(err)]; is != nil {
		return fmt.Errorf("%w (%w)", is, err)
	}
	return err
}

// code is SQLite's primary result code in an error, 0 if it is not of SQLite.
func code(err error) int {
	var driver *sqlite.Error
	if errors.As(err, &driver) {
		return driver.Code() & 0xff
	}
	return 0
}

// kinds are the primary result codes of SQLite that have a sentinel.
var kinds = map[int]error{
	sqlite3.SQLITE_NOTADB:     ErrNotStore,
	sqlite3.SQLITE_CORRUPT:    ErrDamaged,
	sqlite3.SQLITE_CONSTRAINT: ErrDamaged, // no statement of this package asks for what a constraint forbids
	sqlite3.SQLITE_FULL:       ErrFull,
	sqlite3.SQLITE_READONLY:   ErrReadOnly,
	sqlite3.SQLITE_CANTOPEN:   ErrCannotOpen,
	sqlite3.SQLITE_BUSY:       ErrBusy,
}
