package transcript

import "modernc.org/sqlite"

// recent is the state of the session to which a Store has appended last. An append to the same session, before anybody else has
// written to the database, need not read it again.
type recent struct {
	version uint32
	session int64 // 0: nothing is known
	id      string
	state
}

// recall finds out where the session of a writer is.
func (t *transaction) recall(w *writer) error {
	if r := t.recent; r != nil && r.session == w.session.row && r.id == w.session.id {
		if version, err := w.session.store.version(); err == nil && version == r.version {
			w.state = r.state
			return nil
		}
	}
	return w.readState()
}

// remember keeps where the session of a writer is, once the transaction has taken effect.
func (t *transaction) remember(w *writer) {
	t.committed = append(t.committed, func() {
		*t.recent = recent{}
		if version, err := w.session.store.version(); err == nil {
			*t.recent = recent{version, w.session.row, w.session.id, w.state}
		}
	})
}

// version is a number that changes with what the writer's connection changes in the database, and with what it finds changed by
// others when a transaction that writes begins. By it SQLite knows whether the pages that it has read are still right.
func (s *Store) version() (version uint32, err error) {
	err = s.writer.conn.Raw(func(driver any) error {
		version, err = driver.(sqlite.FileControl).FileControlDataVersion("main")
		return err
	})
	return version, err
}
