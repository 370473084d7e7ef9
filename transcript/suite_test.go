package transcript_test

import (
	"testing"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/codemode/storetest"
	"github.com/cellmode/cellmode/transcript"
	"github.com/cellmode/cellmode/transcript/transcripttest"
)

func TestLog(t *testing.T) {
	t.Parallel()
	store := open(t, newPath(t), fast)
	transcripttest.TestLog(t, func(t *testing.T, key string) transcript.Log { return openSession(t, store, key) })
}

func TestLogInMemory(t *testing.T) {
	t.Parallel()
	transcripttest.TestLog(t, func(t *testing.T, key string) transcript.Log { return openSession(t, open(t, ":memory:", nil), key) })
}

func TestLogsOfOneFile(t *testing.T) {
	t.Parallel()
	transcripttest.TestSharedLog(t, func(t *testing.T) []transcript.Log {
		path := newPath(t)
		return []transcript.Log{
			openSession(t, open(t, path, fast), "chat"), openSession(t, open(t, path, fast), "chat"), openSession(t, open(t, path, fast), "chat"),
		}
	})
}

func openSession(tb testing.TB, store *transcript.Store, key string) *transcript.Session {
	tb.Helper()
	session, err := store.OpenSession(tb.Context(), key, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return session
}

func TestCells(t *testing.T) {
	t.Parallel()
	storetest.TestCellStore(t, func(t *testing.T) codemode.CellStore { return open(t, newPath(t), nil) })
}

func TestSessionValues(t *testing.T) {
	t.Parallel()
	storetest.TestSessionStore(t, func(t *testing.T) codemode.SessionStore { return open(t, newPath(t), fast) })
}

func TestSessionValuesInMemory(t *testing.T) {
	t.Parallel()
	storetest.TestSessionStore(t, func(t *testing.T) codemode.SessionStore { return open(t, ":memory:", nil) })
}

func TestCellsInMemory(t *testing.T) {
	t.Parallel()
	storetest.TestCellStore(t, func(t *testing.T) codemode.CellStore { return open(t, ":memory:", nil) })
}

func TestCellsOfOneFile(t *testing.T) {
	t.Parallel()
	storetest.TestSharedCellStore(t, func(t *testing.T) []codemode.CellStore {
		path, opts := newPath(t), &transcript.Options{Synchronous: transcript.SynchronousNormal}
		return []codemode.CellStore{open(t, path, opts), open(t, path, opts), open(t, path, opts)}
	})
}
