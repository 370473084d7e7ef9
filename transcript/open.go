package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
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

	// ReadOnly opens a database that is there for reading: methods that write return ErrReadOnly. Its directory must be
	// writable for SQLite nevertheless if no other process has the database open. ":memory:" cannot be opened so.
	ReadOnly bool

	// Synchronous says what survives the loss of power. The zero value is [SynchronousFull], and so is what has no name.
	Synchronous Synchronous

	// OnAppend is told of the entries that were appended to a session, when that can be read and survives. For one Store the
	// calls come one after another, in the order in which the transactions took effect, on a goroutine of their own: nobody
	// who appends waits for them, so that what it is not told yet is kept in memory. What it does cannot undo what was
	// appended: a panic is logged. Entries that were imported, or appended by other processes, are not among them. It may use
	// the store until that is closed, but not close it: Close waits for it. Nil tells nobody.
	OnAppend func(Appended)

	// Redact replaces secrets in what is said before it is kept: it gets each text, and gives what to keep instead. Texts are
	//
	//   - of messages, custom messages and summaries: each string of a content, but of its blocks not the members type, id,
	//     name, toolName, role, mimeType, media_type, data, encrypted_content, and those whose names end in Id, _id or
	//     signature; each string of the arguments of calls, and of details; summaries;
	//   - labels, names of sessions, and reasons of resets;
	//   - of all these each string of the members that have no field of their own (Fields), but of api, provider, model,
	//     stopReason, timestamp, usage, providerReplay, type, id, name, customType, and of those whose names end in Id, _id
	//     or signature;
	//   - of the records of cells, calls and results ([CellRecordType] and its like) each string but ids, the name of the
	//     tool and the outcome: titles, sources, inputs, values, errors.
	//
	// Kept as they are: keys, ids, names, roles and types in entries, [Message.Meta] and [Message.Provenance], models and
	// thinking levels, the data of all other custom entries, [Unknown] payloads, the values of store and load, parked cells,
	// what sessions were made with, and names of members everywhere. Of a user's text that Redact changes the mentions are
	// dropped, which are places in it.
	//
	// Redact must be quick and safe for concurrent use. If it panics, or returns what is not valid UTF-8, the append fails
	// with ErrRedaction. What Import reads is redacted in the same way. Nil keeps all.
	Redact func(text string) string

	// Logger gets what happens without anybody waiting for it. Nil logs nothing.
	Logger *slog.Logger
}

// Appended is what [Options.OnAppend] is told.
type Appended struct {
	SessionKey, SessionID string
	Entries               []Entry // in order; of one call of AppendAll, without those that were there already
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

// Store is an open database. Its methods satisfy codemode.CellStore and codemode.SessionStore. It is safe for concurrent use.
type Store struct {
	writer   *pool         // of one connection: SQLite has one writer at a time anyway, and ":memory:" lives in its connection
	turn     chan struct{} // has an element while somebody uses the writer
	recent   recent        // of who has the turn
	reader   *pool         // nil if the writer is all there is
	readOnly bool

	issuer    *Issuer
	redact    func(string) string
	logger    *slog.Logger
	news      news
	admission admission
	indexer   indexer

	usage usage
}

// maxReaders is how many goroutines read at a time. Others wait.
const maxReaders = 4

// pool are connections to the database with the statements that they run.
type pool struct {
	db    *sql.DB
	conn  *sql.Conn // the only one, of the writer
	mu    sync.Mutex
	stmts map[string]*sql.Stmt // nil until prepare has made them
}

// Open opens the database at a path, and makes it if there is no file or an empty one. The path ":memory:" is a database in
// memory that ends with its Store. A database of an older version is brought to this one's.
//
// Errors are those of the context, and ErrNotStore, ErrNewerVersion, ErrOlderVersion, ErrDamaged, ErrReadOnly,
// ErrCannotOpen, ErrBusy and ErrFull.
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
	if o.ReadOnly && path == memory {
		return nil, fmt.Errorf("%w: a new database in memory has nothing to read", ErrCannotOpen)
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
	if path != memory {
		var err error
		if name, err = fileURI(path); err != nil {
			return nil, err
		}
		if !o.ReadOnly {
			if err := create(ctx, path, name, params); err != nil {
				return nil, explain(ctx, err)
			}
		}
		params.Set("mode", "rw") // a file that has vanished under an open Store is not made anew
		if o.ReadOnly {
			params.Set("mode", "ro")
		}
	}
	db, err := sql.Open("sqlite", name+"?"+params.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &Store{
		writer: &pool{db: db}, turn: make(chan struct{}, 1), readOnly: o.ReadOnly,
		issuer: NewIssuer(), redact: o.Redact, logger: o.Logger, news: news{tell: o.OnAppend},
		admission: admission{work: map[string]int{}},
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if err := s.prepare(ctx, o.BusyTimeout); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if path == memory {
		return s, nil
	}
	params.Set("mode", "ro")
	if db, err = sql.Open("sqlite", name+"?"+params.Encode()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	db.SetMaxOpenConns(maxReaders)
	db.SetMaxIdleConns(maxReaders)
	s.reader = &pool{db: db}
	return s, nil
}

// memory is the path of a database without a file.
const memory = ":memory:"

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
	if s.readOnly {
		if err := checkVersion(ctx, s.writer.db, true); err != nil {
			return explain(ctx, err)
		}
		return s.prepareWriter(ctx)
	}
	deadline := time.Now().Add(busy)
	for {
		err := explain(ctx, migrate(ctx, s.writer.db))
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
	return s.prepareWriter(ctx)
}

func (s *Store) prepareWriter(ctx context.Context) error {
	var err error
	if s.writer.conn, err = s.writer.db.Conn(ctx); err != nil {
		return explain(ctx, err)
	}
	return s.writer.prepare(ctx)
}

// prepare makes the statements, if that was not done yet: of readers only those that read, and only when somebody reads, as
// it is most of what opening a store takes.
func (p *pool) prepare(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stmts != nil {
		return nil
	}
	stmts, err := p.makeStatements(ctx)
	if err != nil {
		return errors.Join(explain(ctx, err), closeAll(stmts))
	}
	p.stmts = stmts
	return nil
}

func (p *pool) makeStatements(ctx context.Context) (map[string]*sql.Stmt, error) {
	stmts := map[string]*sql.Stmt{}
	var on interface {
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	} = p.db
	if p.conn != nil {
		on = p.conn
	}
	for _, query := range slices.Concat(cellQueries, sessionQueries, searchQueries, []string{begin, beginImmediate, commit, rollback}) {
		if p.conn == nil && !strings.HasPrefix(query, "SELECT ") && !strings.HasPrefix(query, "WITH ") {
			continue
		}
		stmt, err := on.PrepareContext(ctx, query)
		if code(err) == sqlite3.SQLITE_ERROR {
			err = fmt.Errorf("%w (%w)", ErrDamaged, err) // a table or a column is missing
		}
		if err != nil {
			return stmts, err
		}
		stmts[query] = stmt
	}
	return stmts, nil
}

func closeAll(stmts map[string]*sql.Stmt) error {
	errs := make([]error, 0, len(stmts))
	for _, stmt := range stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

// close closes the connections.
func (p *pool) close() error {
	err := closeAll(p.stmts)
	if p.conn != nil {
		err = errors.Join(err, p.conn.Close())
	}
	return errors.Join(err, p.db.Close())
}

// Close keeps out methods that are called later, which return ErrClosed, and waits for those that run, and until
// [Options.OnAppend] has been told of everything. Then it writes what is in the -wal file into the database, if no other
// process has it open, and closes it. Closing again does nothing but wait.
func (s *Store) Close() error {
	s.indexer.close()
	first := s.usage.close()
	s.news.done.Wait()
	if !first {
		return nil
	}
	if err := s.close(); err != nil {
		return fmt.Errorf("transcript: closing: %w", err)
	}
	return nil
}

func (s *Store) close() error {
	var err error
	if s.reader != nil {
		err = s.reader.close()
	}
	return errors.Join(err, s.writer.close())
}
