package codemode_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/codemode"
)

func TestSessionChangeApply(t *testing.T) {
	t.Parallel()
	value := func(text string) codemode.SessionValue {
		return codemode.SessionValue{JSON: json.RawMessage(text)}
	}
	large := value(`"` + strings.Repeat("x", codemode.MaxSessionValueBytes-2) + `"`)
	committed := map[string]codemode.SessionValue{"a": large, "b": large, "c": large, "small": value("1")}
	for _, test := range []struct {
		name    string
		change  codemode.SessionChange
		want    error
		message string // what the error says to the model
	}{
		{"nothing", codemode.SessionChange{}, nil, ""},
		{"delete twice and what is not there", codemode.SessionChange{Delete: []string{"a", "none", "a"}}, nil, ""},
		{"fits because of a deletion", codemode.SessionChange{Set: map[string]codemode.SessionValue{"d": large}, Delete: []string{"small"}}, nil, ""},
		{"is full", codemode.SessionChange{Set: map[string]codemode.SessionValue{"d": large}}, codemode.ErrSessionFull, "1048576 bytes of JSON together, with this change they would have 1048577; delete some with store(key, undefined)"},
		{"value too large", codemode.SessionChange{Set: map[string]codemode.SessionValue{"d": value(`"` + strings.Repeat("é", 131_072) + `"`)}}, codemode.ErrSessionRange, "262144 bytes of JSON, this one has 262146"},
		{"no value", codemode.SessionChange{Set: map[string]codemode.SessionValue{"d": {}}}, codemode.ErrSessionValue, "not valid JSON"},
		{"not compact", codemode.SessionChange{Set: map[string]codemode.SessionValue{"d": value("[1, 2]")}}, codemode.ErrSessionValue, "white space"},
		{"empty key", codemode.SessionChange{Set: map[string]codemode.SessionValue{"": value("1")}}, codemode.ErrSessionKey, "1 to 256 UTF-16 units: this one has 0"},
		{"long key to delete", codemode.SessionChange{Delete: []string{strings.Repeat("😀", 129)}}, codemode.ErrSessionKey, "this one has 258"},
		{"set and deleted", codemode.SessionChange{Set: map[string]codemode.SessionValue{"d": value("1")}, Delete: []string{"d"}}, codemode.ErrSessionKey, `cannot both set and delete it: "d"`},
		{"many deletions", codemode.SessionChange{Delete: manyKeys(codemode.MaxSessionKeys)}, nil, ""},
		{"too many deletions", codemode.SessionChange{Delete: manyKeys(codemode.MaxSessionKeys + 1)}, codemode.ErrSessionFull, "65536 keys"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			values := maps.Clone(committed)
			err := test.change.Apply(values)
			if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Fatalf("the error is %v, want one that is %v and says %q", err, test.want, test.message)
			}
			want := maps.Clone(committed)
			if test.want == nil {
				maps.DeleteFunc(want, func(key string, _ codemode.SessionValue) bool { return slices.Contains(test.change.Delete, key) })
				maps.Copy(want, test.change.Set)
			}
			if !maps.EqualFunc(values, want, func(a, b codemode.SessionValue) bool { return string(a.JSON) == string(b.JSON) }) {
				t.Errorf("the session has the keys %q, want %q", slices.Sorted(maps.Keys(values)), slices.Sorted(maps.Keys(want)))
			}
		})
	}
	if !errors.Is(codemode.ErrSessionFull, codemode.ErrSessionRange) {
		t.Error("ErrSessionFull is not ErrSessionRange")
	}
}

// manyKeys are strings of one to three letters.
func manyKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = string(rune('一'+i%0x4000)) + string(rune('a'+i/0x4000))
	}
	return keys
}

func TestMemoryStoreDeleteSession(t *testing.T) {
	t.Parallel()
	var store codemode.MemoryStore
	change := codemode.SessionChange{Set: map[string]codemode.SessionValue{"k": {JSON: json.RawMessage("1")}}}
	for _, session := range []string{"a", "b"} {
		if err := store.CommitSession(t.Context(), session, change); err != nil {
			t.Fatal(err)
		}
	}
	store.DeleteSession("a")
	store.DeleteSession("unknown")
	for session, want := range map[string]int{"a": 0, "b": 1} {
		if values, err := store.LoadSession(t.Context(), session); err != nil || len(values) != want {
			t.Errorf("session %s has %d values, %v; want %d", session, len(values), err, want)
		}
	}
}
