package transcript_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

var (
	_ codemode.CellStore    = (*transcript.Store)(nil)
	_ codemode.SessionStore = (*transcript.Store)(nil)
	_ codemode.SessionStore = (*transcript.Session)(nil)
)

// fast are options for tests that do not end processes.
var fast = &transcript.Options{Synchronous: transcript.SynchronousNormal}

// TestMain is also the main function of the processes that tests start.
func TestMain(m *testing.M) {
	if job := os.Getenv(jobEnv); job != "" {
		doJob(job)
	}
	goleak.VerifyTestMain(m)
}

// open opens the store at a path until the end of the test.
func open(tb testing.TB, path string, opts *transcript.Options) *transcript.Store {
	tb.Helper()
	s, err := transcript.Open(context.Background(), path, opts)
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

func newPath(tb testing.TB) string { return filepath.Join(tb.TempDir(), "cells.db") }

func newCell(id string) store.Cell {
	return store.Cell{ID: id, RunID: "run", SessionID: "session", Data: []byte("data of " + id), Expires: time.Now().Add(time.Hour)}
}
