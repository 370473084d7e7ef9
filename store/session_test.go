package store_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/store"
)

func TestSessionChangeApply(t *testing.T) {
	t.Parallel()
	value := func(text string) store.SessionValue {
		return store.SessionValue{JSON: json.RawMessage(text)}
	}
	large := value(`"` + strings.Repeat("x", store.MaxSessionValueBytes-2) + `"`)
	committed := map[string]store.SessionValue{"a": large, "b": large, "c": large, "small": value("1")}
	for _, test := range []struct {
		name    string
		change  store.SessionChange
		want    error
		message string // what the error says to the model
	}{
		{"nothing", store.SessionChange{}, nil, ""},
		{"delete twice and what is not there", store.SessionChange{Delete: []string{"a", "none", "a"}}, nil, ""},
		{"fits because of a deletion", store.SessionChange{Set: map[string]store.SessionValue{"d": large}, Delete: []string{"small"}}, nil, ""},
		{"is full", store.SessionChange{Set: map[string]store.SessionValue{"d": large}}, store.ErrSessionFull, "1048576 bytes of JSON together, with this change they would have 1048577; delete some with store(key, undefined)"},
		{"value too large", store.SessionChange{Set: map[string]store.SessionValue{"d": value(`"` + strings.Repeat("é", 131_072) + `"`)}}, store.ErrSessionRange, "262144 bytes of JSON, this one has 262146"},
		{"no value", store.SessionChange{Set: map[string]store.SessionValue{"d": {}}}, store.ErrSessionValue, "not valid JSON"},
		{"not compact", store.SessionChange{Set: map[string]store.SessionValue{"d": value("[1, 2]")}}, store.ErrSessionValue, "white space"},
		{"empty key", store.SessionChange{Set: map[string]store.SessionValue{"": value("1")}}, store.ErrSessionKey, "1 to 256 UTF-16 units: this one has 0"},
		{"long key to delete", store.SessionChange{Delete: []string{strings.Repeat("😀", 129)}}, store.ErrSessionKey, "this one has 258"},
		{"set and deleted", store.SessionChange{Set: map[string]store.SessionValue{"d": value("1")}, Delete: []string{"d"}}, store.ErrSessionKey, `cannot both set and delete it: "d"`},
		{"many deletions", store.SessionChange{Delete: manyKeys(store.MaxSessionKeys)}, nil, ""},
		{"too many deletions", store.SessionChange{Delete: manyKeys(store.MaxSessionKeys + 1)}, store.ErrSessionFull, "65536 keys"},
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
				maps.DeleteFunc(want, func(key string, _ store.SessionValue) bool { return slices.Contains(test.change.Delete, key) })
				maps.Copy(want, test.change.Set)
			}
			if !maps.EqualFunc(values, want, func(a, b store.SessionValue) bool { return string(a.JSON) == string(b.JSON) }) {
				t.Errorf("the session has the keys %q, want %q", slices.Sorted(maps.Keys(values)), slices.Sorted(maps.Keys(want)))
			}
		})
	}
	if !errors.Is(store.ErrSessionFull, store.ErrSessionRange) {
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
