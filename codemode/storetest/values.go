package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
)

func emptySession(ctx context.Context, s codemode.SessionStore) error {
	return steps(
		func() error { return holds(ctx, s, "s", nil) },
		func() error { return mustCommit(ctx, s, "s", nil) }, // changes nothing
		func() error { return mustCommit(ctx, s, "s", nil, "missing", "missing") },
		func() error { return holds(ctx, s, "s", nil) },
	)
}

func setReplaceDelete(ctx context.Context, s codemode.SessionStore) error {
	return steps(
		func() error { return mustCommit(ctx, s, "s", values{"a": "1", "b": "2", "c": "3"}) },
		func() error { return holds(ctx, s, "s", values{"a": "1", "b": "2", "c": "3"}) },
		func() error { return mustCommit(ctx, s, "s", values{"a": `"one"`, "d": "4"}, "b", "missing", "b") },
		func() error { return holds(ctx, s, "s", values{"a": `"one"`, "c": "3", "d": "4"}) },
		func() error { return mustCommit(ctx, s, "s", values{"b": "null"}, "a", "c", "d") },
		func() error { return holds(ctx, s, "s", values{"b": "null"}) }, // null is a value
		func() error { return mustCommit(ctx, s, "s", nil, "b") },
		func() error { return holds(ctx, s, "s", nil) },
	)
}

func networkMark(ctx context.Context, s codemode.SessionStore) error {
	put := func(marks map[string]bool) error {
		set := map[string]store.SessionValue{}
		for key, network := range marks {
			set[key] = store.SessionValue{JSON: json.RawMessage("1"), Network: network}
		}
		return s.CommitSession(ctx, "s", store.SessionChange{Set: set})
	}
	has := func(marks map[string]bool) error {
		loaded, err := s.LoadSession(ctx, "s")
		for key, network := range marks {
			if got, ok := loaded[key]; !ok || got.Network != network {
				err = errors.Join(err, fmt.Errorf("the value at %q (there: %t) has the network mark %t, not %t", key, ok, got.Network, network))
			}
		}
		return err
	}
	return steps(
		func() error { return put(map[string]bool{"a": true, "b": false, "c": true}) },
		func() error { return has(map[string]bool{"a": true, "b": false, "c": true}) },
		func() error { return put(map[string]bool{"a": false, "b": true}) }, // the mark is the value's, not the key's
		func() error { return has(map[string]bool{"a": false, "b": true, "c": true}) },
	)
}

func exactValues(ctx context.Context, s codemode.SessionStore) error {
	set := values{}
	for i, text := range []string{
		`null`, `true`, `false`, `""`, `{}`, `[]`, `0`, `-0`, `"null"`, `"undefined"`,
		`[1915883588174806058,1.50,1E400,0.1e-7,1e0]`, // digits as they came
		`{"z":1,"a":2,"10":3,"2":4}`, `{"a":1,"a":2}`, // keys in their order, double ones too
		`{"__proto__":{"x":1},"constructor":2,"toString":null}`, // keys that are data
		`{"":{"\u0000":"\u0000"}}`, `"\u0041\/\n\ud83d\ude00"`,
		`"<script>&amp;'%s\\"`, "\"\u2028\u2029\u00a0\ufffd\ufeff\u007f\"", `"é 😀 日本"`,
		strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		`"` + strings.Repeat("0123456789abcdef", 5000) + `"`,
	} {
		set[fmt.Sprint("v", i)] = text
	}
	return steps(
		func() error { return mustCommit(ctx, s, "s", set) },
		func() error { return holds(ctx, s, "s", set) },
	)
}

func exactKeys(ctx context.Context, s codemode.SessionStore) error {
	keys := []string{
		"__proto__", "constructor", "toString", "a", "A", " ", "a ", " a", "\x00", "a\x00", "a\x00b", "\n", "\t", "\ufeff", "\ufffd", "\u2028",
		"é", "e\u0301", "😀", "😁", "0", "00", "1e0", "null", "undefined", "%", "_", "*", "'", `"`, `\`, "'; DROP TABLE sessions; --", "../a", "a/b", "a.b",
		strings.Repeat("x", 256), strings.Repeat("x", 255), strings.Repeat("x", 255) + "y", strings.Repeat("é", 256), strings.Repeat("日", 256), strings.Repeat("😀", 128),
	}
	all := values{}
	for i, key := range keys {
		all[key] = fmt.Sprint(i)
	}
	if err := steps(
		func() error { return mustCommit(ctx, s, "s", all) },
		func() error { return holds(ctx, s, "s", all) },
	); err != nil {
		return err
	}
	for i, key := range keys { // replaced or deleted, each without the others
		var err error
		if i%2 == 0 {
			delete(all, key)
			err = mustCommit(ctx, s, "s", nil, key)
		} else {
			all[key] = `"again"`
			err = mustCommit(ctx, s, "s", values{key: `"again"`})
		}
		if err = errors.Join(err, holds(ctx, s, "s", all)); err != nil {
			return fmt.Errorf("after a change of %.40q: %w", key, err)
		}
	}
	return nil
}

// refused are the sets and deletions of a change that is refused for a part of it.
type refused struct {
	what    string
	set     values
	deleted []string
}

// refusesAll checks that each change is refused and nothing of it made.
func refusesAll(ctx context.Context, s codemode.SessionStore, want error, changes []refused) error {
	kept := values{"kept": "1", "gone": "2"}
	if err := mustCommit(ctx, s, "s", kept); err != nil {
		return err
	}
	for _, c := range changes {
		c.set["kept"], c.set["new"] = "3", "4"
		if err := mustRefuse(ctx, s, c.what, want, c.set, append(c.deleted, "gone")...); err != nil {
			return err
		}
		if err := holds(ctx, s, "s", kept); err != nil {
			return fmt.Errorf("after %s: %w", c.what, err)
		}
	}
	return nil
}

func badKeys(ctx context.Context, s codemode.SessionStore) error {
	changes := []refused{{"a key both set and deleted", values{"both": "1"}, []string{"both"}}}
	for what, key := range map[string]string{
		"the empty key":               "",
		"a key of 257 units":          strings.Repeat("x", 257),
		"a key of 257 units in UTF-8": strings.Repeat("é", 257),
		"a key of 129 emoji":          strings.Repeat("😀", 129),
		"a key that is not UTF-8":     "a\xff",
		"a key of half a surrogate":   "\xed\xa0\xbd",
	} {
		changes = append(changes, refused{what + " to set", values{key: "1"}, nil}, refused{what + " to delete", values{}, []string{key}})
	}
	return refusesAll(ctx, s, store.ErrSessionKey, changes)
}

func badValues(ctx context.Context, s codemode.SessionStore) error {
	var changes []refused
	for _, text := range []string{"", "undefined", "NaN", "{", "'a'", "1 2", "{\"a\": 1}", " 1", "1\n", "\"\xff\"", `"\ud83d"`, "01"} {
		changes = append(changes, refused{fmt.Sprintf("the value %q", text), values{"bad": text}, nil})
	}
	return refusesAll(ctx, s, store.ErrSessionValue, changes)
}
