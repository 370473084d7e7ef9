package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// DefaultBusyTimeout is how long a Store waits for other processes, if Options does not say.
const DefaultBusyTimeout = 10 * time.Second

// Options say how a Store works. Nil and the zero value mean the defaults.
type Options struct {
	// BusyTimeout is how long a method waits for its turn while other processes write, in whole milliseconds; then it fails
	// with ErrBusy. The end of its context ends the wait, too. Zero and less mean [DefaultBusyTimeout].
	BusyTimeout time.Duration

	// Synchronous says what survives the loss of power. The zero value is [SynchronousFull], and so is what has no name.
	Synchronous Synchronous
}

// Synchronous is SQLite's setting of this name: when what was written is forced to the drive.
type Synchronous int

const (
	// SynchronousFull forces each write to the drive before it counts as done: a wait for the drive, typically of 0.1 to 10 ms.
	SynchronousFull Synchronous = iota
	// SynchronousNormal leaves the moment to the operating system. What the end of the process cannot take, the loss of power
	// can.
	SynchronousNormal
)

// Store is an open database. Its methods satisfy codemode.CellStore. It is safe for concurrent use.
type Store struct {
	db    *sql.DB // of one connection: SQLite has one writer at a time anyway, and ":memory:" lives in its connection
	stmts map[string]*sql.Stmt

	mu     sync.RWMutex // held for reading by each transaction
	closed bool
}

// Open opens the database at a path, and makes it if there is no file or an empty one. The path ":memory:" is a database in
// memory that ends with its Store. A database of an older version is brought to this one's.
//
// Errors are those of the context, and ErrNotStore, ErrNewerVersion, ErrDamaged, ErrReadOnly, ErrCannotOpen, ErrBusy and
// ErrFull.
func Open(ctx context.Context, path string, opts *Options) (*Store, error) {
	s, err := open(ctx, path, opts)
	if err != nil {
		return nil, fmt.Errorf("transcript: opening %q: %w", path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string, opts *Options) (*Store, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = DefaultBusyTimeout
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, ErrCannotOpen
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	synchronous := "synchronous(full)"
	if o.Synchronous == SynchronousNormal {
		synchronous = "synchronous(normal)"
	}
	params := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", max(1, min(o.BusyTimeout.Milliseconds(), math.MaxInt32))),
			"foreign_keys(1)",
			synchronous,
			"fullfsync(1)", // macOS: fsync alone leaves it in the drive
			"checkpoint_fullfsync(1)",
			"journal_size_limit(16777216)", // bytes that the -wal file keeps when large cells have passed through it
		},
	}
	name := path
	if path != ":memory:" {
		var err error
		if name, err = fileURI(path); err != nil {
			return nil, err
		}
		if err := create(ctx, path, name, params); err != nil {
			return nil, explain(ctx, err)
		}
		params.Set("mode", "rw") // a file that has vanished under an open Store is not made anew
	}
	db, err := sql.Open("sqlite", name+"?"+params.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &Store{db: db, stmts: map[string]*sql.Stmt{}}
	if err := s.prepare(ctx, o.BusyTimeout); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// create makes an empty file for a new database.
func create(ctx context.Context, path, uri string, params url.Values) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it SQLite will say
	}
	// SQLite makes a file with the mode of another if it is told so. To make it here, and close it, would not do: when a
	// process closes a file it loses all its locks on it, those of another Store, too.
	model, err := os.CreateTemp("", "cellmode-mode-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(model.Name())
	if err := model.Close(); err != nil {
		return err
	}
	params = maps.Clone(params)
	params.Set("modeof", model.Name())
	db, err := sql.Open("sqlite", uri+"?"+params.Encode())
	if err != nil {
		return err
	}
	return errors.Join(db.PingContext(ctx), db.Close())
}

// fileURI is the URI by which SQLite finds a file, whatever its name.
func fileURI(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	slashed := filepath.ToSlash(abs)
	if !strings.HasPrefix(slashed, "/") { // C:/...
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String(), nil
}

// prepare makes the schema and the statements.
func (s *Store) prepare(ctx context.Context, busy time.Duration) error {
	deadline := time.Now().Add(busy)
	for {
		err := explain(ctx, migrate(ctx, s.db))
		if err == nil {
			break
		}
		// Of processes that make one new file, SQLite tells some at once that it is busy.
		if !errors.Is(err, ErrBusy) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	for _, query := range cellQueries {
		stmt, err := s.db.PrepareContext(ctx, query)
		if code(err) == sqlite3.SQLITE_ERROR {
			return fmt.Errorf("%w (%w)", ErrDamaged, err) // a table or a column is missing
		}
		if err != nil {
			return explain(ctx, err)
		}
		s.stmts[query] = stmt
	}
	return nil
}

// Close waits for the methods that run, writes what is in the -wal file into the database if no other process has it
// open, and closes it. Methods called later return ErrClosed. Closing again does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	errs := make([]error, 0, len(s.stmts)+1)
	for _, stmt := range s.stmts {
		errs = append(errs, stmt.Close())
	}
	if err := errors.Join(append(errs, s.db.Close())...); err != nil {
		return fmt.Errorf("transcript: closing: %w", err)
	}
	return nil
}
