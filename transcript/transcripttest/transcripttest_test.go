package transcripttest

import (
	"context"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/cellmode/cellmode/transcript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a store until the end of the test.
func open(tb testing.TB, path string) *transcript.Store {
	tb.Helper()
	// Nothing of it has to outlive the machine.
	s, err := transcript.Open(context.Background(), path, &transcript.Options{Synchronous: transcript.SynchronousNormal})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func session(tb testing.TB, s *transcript.Store, key string) transcript.Log {
	tb.Helper()
	session, err := s.OpenSession(tb.Context(), key, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return session
}

func TestFile(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	TestLog(t, func(t *testing.T, key string) transcript.Log { return session(t, s, key) })
}

func TestMemory(t *testing.T) {
	t.Parallel()
	TestLog(t, func(t *testing.T, key string) transcript.Log { return session(t, open(t, ":memory:"), key) })
}

func TestThreeStoresOfOneFile(t *testing.T) {
	t.Parallel()
	TestSharedLog(t, func(t *testing.T) []transcript.Log {
		path := filepath.Join(t.TempDir(), "sessions.db")
		return []transcript.Log{session(t, open(t, path), "s"), session(t, open(t, path), "s"), session(t, open(t, path), "s")}
	})
}

func TestTwoSessionsOfOneStore(t *testing.T) {
	t.Parallel()
	TestSharedLog(t, func(t *testing.T) []transcript.Log {
		s := open(t, ":memory:")
		return []transcript.Log{session(t, s, "s"), session(t, s, "s")}
	})
}
