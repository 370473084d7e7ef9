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

	// Times are Unix milliseconds, 0 for none. The row of an entry is the session's, shifted by 32 bits, with the entry's number,
	// counted from 1: so the entries of a session lie side by side. Where a column names another entry of the session, it has its
	// number, 0 for none. The columns of entries up to stored are a node of navigation.go, those from leaf to interacted a state of
	// append.go: what an append changes is its own row, and where a session is its last row says, as session_states shows.
	// So updated_second, which is updated in seconds, need not be written but once a second.
	`CREATE TABLE sessions (
		session INTEGER PRIMARY KEY AUTOINCREMENT CHECK (session BETWEEN 1 AND 0x7fffffff), -- never used again
		key TEXT NOT NULL UNIQUE,
		id TEXT NOT NULL UNIQUE,
		previous_id TEXT NOT NULL DEFAULT '',
		revision INTEGER NOT NULL DEFAULT 0,
		harness_id TEXT NOT NULL,
		working_dir TEXT NOT NULL,
		parent_session TEXT NOT NULL,
		name TEXT NOT NULL DEFAULT '',
		created INTEGER NOT NULL,
		started INTEGER NOT NULL,
		updated_second INTEGER NOT NULL,
		flawed INTEGER NOT NULL DEFAULT 0
	) STRICT;
	CREATE INDEX sessions_by_update ON sessions (updated_second);
	CREATE TABLE entries (
		entry INTEGER PRIMARY KEY,
		session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE CHECK (session = entry >> 32),
		id TEXT NOT NULL,
		parent INTEGER NOT NULL CHECK (parent BETWEEN 0 AND (entry & 0xffffffff) - 1),
		segment INTEGER NOT NULL CHECK (segment BETWEEN 1 AND entry & 0xffffffff),
		reset INTEGER NOT NULL,
		model INTEGER NOT NULL,
		thinking INTEGER NOT NULL,
		stored INTEGER NOT NULL,
		leaf INTEGER NOT NULL,
		open INTEGER NOT NULL,
		cursor INTEGER NOT NULL,
		last_reset INTEGER NOT NULL,
		bytes INTEGER NOT NULL,
		updated INTEGER NOT NULL,
		interacted INTEGER NOT NULL,
		kind TEXT NOT NULL,
		side INTEGER NOT NULL,
		time INTEGER NOT NULL,
		data TEXT NOT NULL,
		UNIQUE (session, id)
	) STRICT;
	CREATE INDEX entries_labels ON entries (entry) WHERE kind = 'label';
	CREATE TABLE entry_keys (
		session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
		key TEXT NOT NULL,
		entry INTEGER NOT NULL,
		claim INTEGER NOT NULL,
		PRIMARY KEY (session, key)
	) STRICT, WITHOUT ROWID;
	CREATE TABLE entry_values (
		entry INTEGER PRIMARY KEY REFERENCES entries ON DELETE CASCADE,
		data TEXT NOT NULL
	) STRICT;
	CREATE INDEX entry_keys_claims ON entry_keys (entry) WHERE claim;
	CREATE VIRTUAL TABLE search USING fts5 (user, assistant, session, content = '', contentless_delete = 1, tokenize = 'ascii');
	CREATE TABLE search_docs (
		doc INTEGER PRIMARY KEY,
		entry INTEGER NOT NULL UNIQUE REFERENCES entries ON DELETE CASCADE
	) STRICT;
	CREATE TABLE search_backlog (
		session INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
		indexed INTEGER NOT NULL
	) STRICT;
	CREATE VIEW session_states AS SELECT s.*, ifnull(e.entry & 0xffffffff, 0) AS entries, ifnull(e.leaf, 0) AS leaf, ifnull(e.open, 0) AS open,
			ifnull(e.cursor, 0) AS cursor, ifnull(e.last_reset, 0) AS reset, ifnull(e.bytes, 0) AS bytes,
			ifnull(e.updated, s.created) AS updated, ifnull(e.interacted, 0) AS interacted
		FROM sessions s LEFT JOIN entries e ON e.entry =
			(SELECT max(entry) FROM entries WHERE entry > s.session << 32 AND entry < (s.session + 1) << 32);`,
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

// checkVersion refuses a database that cannot be read as it is.
func checkVersion(ctx context.Context, db *sql.DB, readOnly bool) error {
	look, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	version, err := schemaVersion(ctx, look)
	if err == nil && readOnly && version < len(migrations) {
		err = fmt.Errorf("%w (version %d, this one reads %d)", ErrOlderVersion, version, len(migrations))
	}
	return errors.Join(err, look.Rollback())
}

// migrate brings a database to the newest version. Several processes may try at once.
func migrate(ctx context.Context, db *sql.DB) error {
	// A database that is refused must be left as it is, so nothing is written before this look.
	if err := checkVersion(ctx, db, false); err != nil {
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
