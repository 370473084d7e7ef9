package transcript_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/toolcatalog"
	"github.com/cellmode/cellmode/transcript"
)

// set commits values of a session.
func set(tb testing.TB, s *transcript.Store, key string, values map[string]string, deleted ...string) {
	tb.Helper()
	change := store.SessionChange{Set: map[string]store.SessionValue{}, Delete: deleted}
	for name, text := range values {
		change.Set[name] = store.SessionValue{JSON: json.RawMessage(text), Network: strings.Contains(text, "web")}
	}
	if err := s.CommitSession(tb.Context(), key, change); err != nil {
		tb.Fatal(err)
	}
}

// hasValues checks the values of a session.
func hasValues(tb testing.TB, s *transcript.Store, key string, want map[string]string) {
	tb.Helper()
	values, err := s.LoadSession(tb.Context(), key)
	if err != nil {
		tb.Fatal(err)
	}
	got := map[string]string{}
	for name, value := range values {
		got[name] = string(value.JSON)
		if value.Network != strings.Contains(got[name], "web") {
			tb.Errorf("%s: the network mark is %t", value.JSON, value.Network)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		tb.Errorf("the values are %v, not %v", got, want)
	}
}

func TestValuesAreEntries(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), fast)
	set(t, s, "chat", map[string]string{"k": `"web <&>"`, "j": "null"}, "old")
	set(t, s, "chat", nil) // changes nothing, and appends nothing
	session, err := s.FindSession(t.Context(), "chat")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for entry, err := range session.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		custom, _ := entry.Payload.(transcript.Custom)
		want := `{"set":{"j":null,"k":"web <&>"},"delete":["old"],"networkContent":{"j":false,"k":true}}`
		if custom.Type != "openclaw.code-mode-store" || string(custom.Data) != want {
			t.Errorf("the entry is %+v", entry)
		}
	}
	if n != 1 {
		t.Errorf("%d entries", n)
	}
}

// Values are those of the branch, and begin anew with a reset.
func TestValuesOfBranches(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, newPath(t), fast)
	session, err := s.OpenSession(ctx, "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	set(t, s, "chat", map[string]string{"a": "1"})
	fork := say(t, session, "here")
	// More changes than are read one by one.
	for i := range 100 {
		set(t, s, "chat", map[string]string{"a": fmt.Sprint(i), fmt.Sprint("k", i%3): `"web"`}, fmt.Sprint("k", (i+1)%3))
		if i%7 == 0 {
			say(t, session, "meanwhile")
		}
	}
	long := map[string]string{"a": "99", "k0": `"web"`, "k2": `"web"`}
	hasValues(t, s, "chat", long)
	left, err := session.Leaf(ctx)
	if err != nil {
		t.Fatal(err)
	}
	move := func(id string) {
		t.Helper()
		if err := session.MoveTo(ctx, id, nil); err != nil {
			t.Fatal(err)
		}
	}
	move(fork)
	hasValues(t, s, "chat", map[string]string{"a": "1"})
	set(t, s, "chat", map[string]string{"b": "2"})
	hasValues(t, s, "chat", map[string]string{"a": "1", "b": "2"})
	move(transcript.Root)
	hasValues(t, s, "chat", nil)
	move(left)
	hasValues(t, s, "chat", long)
	if _, err := session.Append(ctx, transcript.Compaction{Summary: "…"}, nil); err != nil {
		t.Fatal(err)
	}
	hasValues(t, s, "chat", long)
	if _, err := session.Append(ctx, transcript.Reset{}, nil); err != nil {
		t.Fatal(err)
	}
	hasValues(t, s, "chat", nil)
	set(t, s, "chat", map[string]string{"c": "3"})
	hasValues(t, s, "chat", map[string]string{"c": "3"})
}

func TestInvalidValues(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"null": `null`, "a list": `[]`, "empty": `{}`, "no set": `{"delete":[],"networkContent":{}}`, "no deletions": `{"set":{},"networkContent":{}}`,
		"no marks": `{"set":{},"delete":[]}`, "no mark": `{"set":{"a":1},"delete":[],"networkContent":{}}`,
		"another mark": `{"set":{"a":1},"delete":[],"networkContent":{"b":true}}`, "a mark that is none": `{"set":{"a":1},"delete":[],"networkContent":{"a":1}}`,
		"a key that is none": `{"set":{"":1},"delete":[],"networkContent":{"":true}}`, "a deletion of a number": `{"set":{},"delete":[1],"networkContent":{}}`,
		"too large": `{"set":{"a":"` + strings.Repeat("x", store.MaxSessionValueBytes) + `"},"delete":[],"networkContent":{"a":true}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, newPath(t), fast)
			set(t, s, "chat", map[string]string{"a": "1"})
			session, err := s.FindSession(t.Context(), "chat")
			if err != nil {
				t.Fatal(err)
			}
			before, err := session.Leaf(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := session.Append(t.Context(), transcript.Custom{Type: "openclaw.code-mode-store", Data: json.RawMessage(data)}, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := s.LoadSession(t.Context(), "chat"); !errors.Is(err, transcript.ErrInvalidValues) || !strings.Contains(err.Error(), "repair the session") {
				t.Errorf("LoadSession: %v", err)
			}
			change := store.SessionChange{Set: map[string]store.SessionValue{"b": {JSON: json.RawMessage("2")}}}
			if err := s.CommitSession(t.Context(), "chat", change); !errors.Is(err, transcript.ErrInvalidValues) || len(err.Error()) > 512 {
				t.Errorf("CommitSession: %v", err)
			}
			// As the error says.
			if err := session.MoveTo(t.Context(), before, nil); err != nil {
				t.Fatal(err)
			}
			hasValues(t, s, "chat", map[string]string{"a": "1"})
		})
	}
}

func TestValuesRefuse(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), fast)
	change := store.SessionChange{Set: map[string]store.SessionValue{"": {JSON: json.RawMessage("1")}}}
	if err := s.CommitSession(t.Context(), "chat", change); !errors.Is(err, store.ErrSessionKey) {
		t.Errorf("a bad change: %v", err)
	}
	for _, key := range []string{"", "\xff", strings.Repeat("x", transcript.MaxKeyBytes+1)} {
		if err := s.CommitSession(t.Context(), key, store.SessionChange{}); !errors.Is(err, transcript.ErrInvalidEntry) {
			t.Errorf("the key %.10q: %v", key, err)
		}
		if _, err := s.LoadSession(t.Context(), key); !errors.Is(err, transcript.ErrInvalidEntry) {
			t.Errorf("the key %.10q: %v", key, err)
		}
	}
	if _, err := s.FindSession(t.Context(), "chat"); !errors.Is(err, transcript.ErrUnknownSession) {
		t.Errorf("a change that was refused has made the session: %v", err)
	}
}

// A late cell does not bring back its session (C065 h), if its store is the session.
func TestValuesOfASessionThatIsGone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, newPath(t), fast)
	session, err := s.OpenSession(ctx, "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	change := store.SessionChange{Set: map[string]store.SessionValue{"a": {JSON: json.RawMessage("1")}}}
	if err := session.CommitSession(ctx, "chat", change); err != nil {
		t.Fatal(err)
	}
	hasValues(t, s, "chat", map[string]string{"a": "1"})
	if values, err := session.LoadSession(ctx, "chat"); err != nil || string(values["a"].JSON) != "1" {
		t.Errorf("the session has %v, %v", values, err)
	}
	if _, err := session.LoadSession(ctx, "another"); !errors.Is(err, transcript.ErrUnknownSession) {
		t.Errorf("another session: %v", err)
	}
	if err := session.CommitSession(ctx, "another", change); !errors.Is(err, transcript.ErrUnknownSession) {
		t.Errorf("another session: %v", err)
	}
	if _, err := s.DeleteSessions(ctx, []string{"chat"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := session.CommitSession(ctx, "chat", change); !errors.Is(err, transcript.ErrSessionGone) {
		t.Errorf("a commit to a session that was deleted: %v", err)
	}
	if _, err := session.LoadSession(ctx, "chat"); !errors.Is(err, transcript.ErrSessionGone) {
		t.Errorf("the values of a session that was deleted: %v", err)
	}
	if _, err := s.FindSession(ctx, "chat"); !errors.Is(err, transcript.ErrUnknownSession) {
		t.Errorf("the session is back: %v", err)
	}
}

// Cases C061 and C062 on a transcript: a later turn, of another process for all that it knows, goes on with what the cell of
// an earlier one has stored.
func TestValuesOfCells(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	rt, err := codemode.NewRuntime(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	fetch := toolcatalog.Define(toolcatalog.Spec{Name: "fetch", Description: "Fetch a page.", Network: true},
		func(context.Context, struct{}) (string, error) { return "from the web", nil })
	turn := func(code string, status codemode.Status, want string) codemode.Result {
		t.Helper()
		s := open(t, path, fast)
		defer s.Close()
		catalog, err := toolcatalog.New([]*toolcatalog.Tool{fetch}, nil)
		if err != nil {
			t.Fatal(err)
		}
		executor, err := rt.NewExecutor(catalog, &codemode.ExecutorOptions{RunID: "run", SessionID: "chat", Store: s})
		if err != nil {
			t.Fatal(err)
		}
		defer executor.Close()
		r := executor.Exec(t.Context(), codemode.ExecInput{Title: "Test", Code: code})
		if r.Status != status || string(r.Value) != want {
			t.Errorf("%s\ngives %s %s %s, not %s", code, r.Status, r.Value, r.Error, want)
		}
		return r
	}
	turn(`await store("k", {n:[1],["__proto__"]:"d"}); await store("z", null); await store("k2", 1); await store("k2", undefined);
		return [await load("k"), await load("z"), (await load("k2")) === undefined, (await load("none")) === undefined]`,
		codemode.StatusCompleted, `[{"n":[1],"__proto__":"d"},null,true,true]`)
	turn(`return [await load("k"), await load("z"), (await load("k2")) === undefined]`, codemode.StatusCompleted, `[{"n":[1],"__proto__":"d"},null,true]`)
	turn(`await store("k", 8); throw new Error("no")`, codemode.StatusFailed, "")
	turn(`return await load("k")`, codemode.StatusCompleted, `{"n":[1],"__proto__":"d"}`)
	// What came from the network is marked as such in a later turn, too.
	turn(`await store("page", await fetch({})); return 1`, codemode.StatusCompleted, `1`)
	if r := turn(`return await load("page")`, codemode.StatusCompleted, `"from the web"`); !r.NetworkContent {
		t.Error("the mark of the network is lost")
	}
}
