package codemode_test

import (
	"encoding/json"
	"testing"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
)

func TestMemoryStoreDeleteSession(t *testing.T) {
	t.Parallel()
	var kept codemode.MemoryStore
	change := store.SessionChange{Set: map[string]store.SessionValue{"k": {JSON: json.RawMessage("1")}}}
	for _, session := range []string{"a", "b"} {
		if err := kept.CommitSession(t.Context(), session, change); err != nil {
			t.Fatal(err)
		}
	}
	kept.DeleteSession("a")
	kept.DeleteSession("unknown")
	for session, want := range map[string]int{"a": 0, "b": 1} {
		if values, err := kept.LoadSession(t.Context(), session); err != nil || len(values) != want {
			t.Errorf("session %s has %d values, %v; want %d", session, len(values), err, want)
		}
	}
}
