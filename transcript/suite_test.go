package transcript_test

import (
	"testing"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/codemode/storetest"
	"github.com/cellmode/cellmode/transcript"
)

func TestCells(t *testing.T) {
	t.Parallel()
	storetest.TestCellStore(t, func(t *testing.T) codemode.CellStore { return open(t, newPath(t), nil) })
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
