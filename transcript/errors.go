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
	// ErrClosed reports a Store that was closed.
	ErrClosed = errors.New("the store is closed")
)

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
