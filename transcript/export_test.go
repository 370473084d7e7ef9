package transcript

import "database/sql"

// DB gives tests the database of a store.
func (s *Store) DB() *sql.DB { return s.db }

// DeleteExpired is a statement whose plan is tested.
const DeleteExpired = deleteExpired
