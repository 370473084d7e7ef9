package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// transaction runs prepared statements in one transaction.
type transaction struct {
	ctx       context.Context
	stmt      func(query string) *sql.Stmt
	committed []func() // to be called when it has taken effect, before the next transaction does
	recent    *recent  // nil for who only reads
}

// read runs f on the database as it is at one moment.
func (s *Store) read(ctx context.Context, f func(*transaction) error) error {
	if !s.usage.begin() {
		return ErrClosed
	}
	defer s.usage.end()
	if s.reader == nil {
		return s.take(ctx, begin, f)
	}
	if err := s.reader.prepare(ctx); err != nil {
		return err
	}
	tx, err := s.reader.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain(ctx, err)
	}
	defer tx.Rollback() // whatever f does; a second one does nothing: the end of the context has made the first
	err = f(&transaction{ctx: ctx, stmt: func(query string) *sql.Stmt { return tx.StmtContext(ctx, s.reader.stmts[query]) }})
	return explain(ctx, err)
}

// write runs f while nobody else writes, from its first statement on. If f fails, nothing of it is kept. The end of the
// context ends the wait for the turn, and nothing that comes after: so its outcome is known.
func (s *Store) write(ctx context.Context, f func(*transaction) error) error {
	if s.readOnly {
		return fmt.Errorf("%w: it was opened with Options.ReadOnly", ErrReadOnly)
	}
	if !s.usage.begin() {
		return ErrClosed
	}
	defer s.usage.end()
	return s.take(ctx, beginImmediate, f)
}

// Statements around a transaction of the writer.
const (
	begin          = `BEGIN`
	beginImmediate = `BEGIN IMMEDIATE`
	commit         = `COMMIT`
	rollback       = `ROLLBACK`
)

// take runs f in a transaction of the writer, when it is its turn.
func (s *Store) take(ctx context.Context, begin string, f func(*transaction) error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	within := context.WithoutCancel(ctx)
	t := &transaction{ctx: within, stmt: func(query string) *sql.Stmt { return s.writer.stmts[query] }}
	if begin == beginImmediate {
		t.recent = &s.recent
	}
	done := false
	undo := func() error {
		done = true
		_, err := s.writer.stmts[rollback].ExecContext(within) // fails if there is no transaction, or SQLite has ended it
		return err
	}
	defer func() {
		if !done { // f has panicked, too
			undo()
		}
	}()
	if _, err := s.writer.stmts[begin].ExecContext(ctx); err != nil {
		return explain(ctx, err)
	}
	if err := f(t); err != nil {
		return explain(within, err)
	}
	if _, err := s.writer.stmts[commit].ExecContext(within); err != nil {
		ended := undo() != nil
		if err = explain(within, err); ended && !rolledBack[code(err)] {
			err = &commitError{err}
		}
		return err
	}
	done = true
	for _, f := range t.committed {
		f()
	}
	return nil
}

// rolledBack are the errors with which SQLite ends a transaction by itself, which is then known to have had no effect.
var rolledBack = map[int]bool{
	sqlite3.SQLITE_FULL: true, sqlite3.SQLITE_NOMEM: true, sqlite3.SQLITE_BUSY: true, sqlite3.SQLITE_INTERRUPT: true, sqlite3.SQLITE_CONSTRAINT: true,
}

// commitError is the error of a COMMIT that may have taken effect nevertheless: that can only be looked up.
type commitError struct{ cause error }

func (e *commitError) Error() string   { return fmt.Sprintf("%v (%v)", ErrUnknownOutcome, e.cause) }
func (e *commitError) Unwrap() []error { return []error{ErrUnknownOutcome, e.cause} }

// exec runs a statement and counts the rows that it has changed.
func (t *transaction) exec(query string, args ...any) (int64, error) {
	result, err := t.stmt(query).ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// queryRow runs a statement and reads its only row, or gives sql.ErrNoRows.
func (t *transaction) queryRow(query string, args []any, into ...any) error {
	return t.scan(t.stmt(query).QueryRowContext(t.ctx, args...), into...)
}

func (t *transaction) query(query string, args ...any) (*sql.Rows, error) {
	return t.stmt(query).QueryContext(t.ctx, args...)
}

// scan reads a row. In a database that is damaged, values may be of other types than the schema allows.
func (t *transaction) scan(row interface{ Scan(into ...any) error }, into ...any) error {
	err := row.Scan(into...)
	if err == nil || t.ctx.Err() != nil || code(err) != 0 || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrDamaged, err)
}
