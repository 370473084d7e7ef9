package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// applicationID marks a file as one of this package, in the place that SQLite has for it: "cell" in ASCII.
const applicationID = 0x63656c6c

// migrations make the schema, each from that of the one before; PRAGMA user_version counts those that were applied. A
// migration that was released is never edited.
var migrations = []string{
	// Times are Unix nanoseconds, 0 for none. What changes often and is small has a table of its own, so that a lease need
	// not write the cell's data again.
	`CREATE TABLE cells (
		cell INTEGER PRIMARY KEY,
		id TEXT NOT NULL UNIQUE,
		run_id TEXT NOT NULL,
		session_id TEXT NOT NULL,
		expires INTEGER NOT NULL,
		leased INTEGER NOT NULL,
		fence INTEGER NOT NULL
	) STRICT;
	CREATE INDEX cells_by_end ON cells (max(expires, leased));
	CREATE TABLE cell_data (
		cell INTEGER PRIMARY KEY REFERENCES cells ON DELETE CASCADE,
		data BLOB NOT NULL
	) STRICT;
	CREATE TABLE cell_replies (
		reply INTEGER PRIMARY KEY,
		cell INTEGER NOT NULL REFERENCES cells ON DELETE CASCADE,
		call INTEGER NOT NULL,
		data BLOB NOT NULL
	) STRICT;
	CREATE INDEX cell_replies_by_cell ON cell_replies (cell);`,
}

// schemaVersion is the number of migrations that a database has had. It refuses a database that is not this package's.
func schemaVersion(ctx context.Context, tx *sql.Tx) (int, error) {
	var application, version, objects int
	for _, q := range []struct {
		query string
		into  *int
	}{
		{"PRAGMA application_id", &application},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &objects},
	} {
		if err := tx.QueryRowContext(ctx, q.query).Scan(q.into); err != nil {
			return 0, err
		}
	}
	switch {
	case application == 0 && version == 0 && objects == 0: // new, or a file of no bytes
		return 0, nil
	case application != applicationID:
		return 0, ErrNotStore
	case version > len(migrations):
		return 0, fmt.Errorf("%w (version %d, this one knows %d)", ErrNewerVersion, version, len(migrations))
	}
	return version, nil
}

// migrate brings a database to the newest version. Several processes may try at once.
func migrate(ctx context.Context, db *sql.DB) error {
	// A database that is refused must be left as it is, so nothing is written before this look.
	look, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	_, err = schemaVersion(ctx, look)
	if err := errors.Join(err, look.Rollback()); err != nil {
		return err
	}
	if err := checkWritable(ctx, db); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	version, err := schemaVersion(ctx, tx)
	if err != nil || version == len(migrations) {
		return err
	}
	for _, migration := range migrations[version:] {
		if _, err := tx.ExecContext(ctx, migration); err != nil {
			return err
		}
	}
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(migrations))
	if _, err := tx.ExecContext(ctx, mark); err != nil {
		return err
	}
	return tx.Commit()
}

// checkWritable refuses a file that SQLite could open for reading only, which it does without a word.
func checkWritable(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(driver any) error {
		readOnly, err := driver.(interface {
			IsReadOnly(schema string) (bool, error)
		}).IsReadOnly("main")
		if err == nil && readOnly {
			err = ErrReadOnly
		}
		return err
	})
}
