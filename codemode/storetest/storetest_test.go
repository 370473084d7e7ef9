package storetest

import (
	"testing"

	"github.com/cellmode/cellmode/codemode"
)

func TestMemoryStore(t *testing.T) {
	t.Parallel()
	TestSessionStore(t, func(*testing.T) codemode.SessionStore { return codemode.NewMemoryStore() })
	TestCellStore(t, func(*testing.T) codemode.CellStore { return codemode.NewMemoryStore() })
}

func TestMemoryStoreZeroValue(t *testing.T) {
	t.Parallel()
	TestSessionStore(t, func(*testing.T) codemode.SessionStore { return new(codemode.MemoryStore) })
	TestSharedCellStore(t, func(*testing.T) []codemode.CellStore {
		kept := new(codemode.MemoryStore)
		return []codemode.CellStore{kept, kept}
	})
}
