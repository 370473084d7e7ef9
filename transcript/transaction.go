package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// transaction runs prepared statements in one transaction.
type transaction struct {
	ctx   context.Context
	tx    *sql.Tx
	stmts map[string]*sql.Stmt
}

// read runs f on the database as it is at one moment.
func (s *Store) read(ctx context.Context, f func(*transaction) error) error {
	return s.transact(ctx, &sql.TxOptions{ReadOnly: true}, f)
}

// write runs f while nobody else writes, from its first statement on. If f fails, nothing of it is kept.
func (s *Store) write(ctx context.Context, f func(*transaction) error) error {
	return s.transact(ctx, nil, f)
}

func (s *Store) transact(ctx context.Context, opts *sql.TxOptions, f func(*transaction) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	tx, err := s.db.BeginTx(ctx, opts)
	if err != nil {
		return explain(ctx, err)
	}
	if err := f(&transaction{ctx, tx, s.stmts}); err != nil {
		tx.Rollback() // fails if it was made already, by SQLite or the end of the context
		return explain(ctx, err)
	}
	return explain(ctx, tx.Commit())
}

// exec runs a statement and counts the rows that it has changed.
func (t *transaction) exec(query string, args ...any) (int64, error) {
	result, err := t.tx.StmtContext(t.ctx, t.stmts[query]).ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// queryRow runs a statement and reads its only row, or gives sql.ErrNoRows.
func (t *transaction) queryRow(query string, args []any, into ...any) error {
	return t.scan(t.tx.StmtContext(t.ctx, t.stmts[query]).QueryRowContext(t.ctx, args...), into...)
}

func (t *transaction) query(query string, args ...any) (*sql.Rows, error) {
	return t.tx.StmtContext(t.ctx, t.stmts[query]).QueryContext(t.ctx, args...)
}

// scan reads a row. In a database that is damaged, values may be of other types than the schema allows.
func (t *transaction) scan(row interface{ Scan(into ...any) error }, into ...any) error {
	err := row.Scan(into...)
	if err == nil || t.ctx.Err() != nil || code(err) != 0 || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrDamaged, err)
}
