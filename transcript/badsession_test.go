package transcript_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

// Entries of the session that is damaged, by their numbers: 1 to 6, and a branch from 2 on, which is 8 to 20.
const (
	branchFrom = 2
	branchLeaf = 7
	lastEntry  = 20
)

// badSession writes the database of a session that has something of everything, and gives the ids of its entries.
func badSession(t *testing.T, path string) (ids []string) {
	t.Helper()
	ctx := t.Context()
	s := open(t, path, fast)
	session, err := s.OpenSession(ctx, "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	message := transcript.UserText("one")
	message.IdempotencyKey = "key"
	values := func(key string) transcript.Custom {
		data := fmt.Sprintf(`{"set":{%q:1},"delete":[],"networkContent":{%q:false}}`, key, key)
		return transcript.Custom{Type: "openclaw.code-mode-store", Data: json.RawMessage(data)}
	}
	appendAll := func(payloads ...transcript.Payload) {
		t.Helper()
		for _, payload := range payloads {
			receipt, err := session.Append(ctx, payload, nil)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, receipt.Entry().ID)
		}
	}
	appendAll(message, transcript.ModelChange{Provider: "p", ModelID: "m"}, transcript.AssistantText("three"), values("a"),
		transcript.ThinkingLevelChange{Level: "high"}, transcript.UserText("six"))
	if err := session.MoveTo(ctx, ids[branchFrom-1], nil); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, "") // of the leaf
	appendAll(transcript.UserText("eight"), values("b"), values("c"))
	for len(ids) < lastEntry {
		appendAll(transcript.AssistantText(fmt.Sprint(len(ids) + 1)))
	}
	for entry, err := range session.Entries(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Kind() == transcript.KindLeaf {
			ids[branchLeaf-1] = entry.ID
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return ids
}

// askAll asks everything of a session, and gives what the answers were that are neither right nor of a session as it should be.
func askAll(t *testing.T, s *transcript.Store, ids []string) (damaged []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	note := func(what string, err error) {
		t.Helper()
		switch {
		case err == nil, errors.Is(err, transcript.ErrUnknownSession), errors.Is(err, transcript.ErrUnknownEntry),
			errors.Is(err, transcript.ErrBeforeReset):
		case errors.Is(err, transcript.ErrDamaged), errors.Is(err, transcript.ErrInvalidValues):
			if !slices.Contains(damaged, what) {
				damaged = append(damaged, what)
			}
		default:
			t.Errorf("%s: %v", what, err)
		}
	}
	session, err := s.FindSession(ctx, "chat")
	if note("find", err); err != nil {
		return damaged
	}
	read := func(what string, opts *transcript.BranchOptions) {
		t.Helper()
		n := 0
		for entry, err := range session.Branch(ctx, opts) {
			note(what, err)
			if err == nil {
				if text, err := json.Marshal(entry); err != nil || !utf8.Valid(text) {
					t.Errorf("an entry of %s: %s (%v)", what, text, err)
				}
			}
			if n++; n > 100 {
				t.Fatalf("%s has no end", what)
			}
		}
	}
	read("branch", nil)
	read("backward", &transcript.BranchOptions{NewestFirst: true})
	n := 0
	for _, err := range session.Entries(ctx) {
		note("entries", err)
		if n++; n > 100 {
			t.Fatal("there is no end of entries")
		}
	}
	_, err = session.Info(ctx)
	note("info", err)
	for _, err := range s.Sessions(ctx) {
		note("sessions", err)
	}
	_, err = session.Leaf(ctx)
	note("leaf", err)
	_, err = session.Keyed(ctx, "key")
	note("keyed", err)
	_, err = s.LoadSession(ctx, "chat")
	note("load", err)
	_, err = session.Settings(ctx, "")
	note("settings", err)
	for _, id := range ids {
		_, err := session.Entry(ctx, id)
		note("entry", err)
		read("branch to", &transcript.BranchOptions{To: id})
		_, err = session.Settings(ctx, id)
		note("settings of", err)
	}
	message := transcript.AssistantText("of nobody")
	_, err = session.AppendAll(ctx, []transcript.Draft{{Payload: message, Claim: true}}, nil)
	note("claim", err)
	_, err = session.Append(ctx, transcript.UserText("more"), nil)
	note("append", err)
	note("commit", s.CommitSession(ctx, "chat", store.SessionChange{Delete: []string{"nothing"}}))
	for _, id := range ids {
		note("move", session.MoveTo(ctx, id, nil))
	}
	return damaged
}

// TestBadSession damages a session by hand, past the checks of SQLite. Whatever is asked of it ends: with an answer, or
// with an error that says what is wrong. What is there stays as it is.
func TestBadSession(t *testing.T) {
	t.Parallel()
	whole := newPath(t)
	ids := badSession(t, whole)
	database, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	const entry = ` WHERE entry & 0xffffffff = `
	// What cannot be done without an entry of the branch, and without the leaf.
	const anEntry, theLeaf = "branch, backward, entries, entry, branch to, claim", "branch, backward, leaf, load, settings, claim, append, commit, move"
	for _, test := range []struct{ name, statement, damaged string }{
		{"nothing", "SELECT 1", ""},
		{"its own parent", "UPDATE entries SET parent = 12" + entry + "12", anEntry},
		{"its own parent at the beginning of a run", "UPDATE entries SET parent = 8" + entry + "8", anEntry},
		{"its own parent at the root", "UPDATE entries SET parent = 1" + entry + "1",
			"branch, backward, entries, keyed, entry, branch to, claim"},
		{"the parent of its parent", "UPDATE entries SET parent = 9" + entry + "8", anEntry},
		{"a parent that is missing", "UPDATE entries SET parent = 3000" + entry + "8", anEntry},
		{"a negative parent", "UPDATE entries SET parent = -5" + entry + "8", anEntry},
		{"a parent beyond all numbers", "UPDATE entries SET parent = 1 << 50" + entry + "8", anEntry},
		{"a leaf that leads to itself", "UPDATE entries SET parent = 7" + entry + "7",
			"entries, entry, branch to, settings of, move"},
		{"a leaf that leads to what is missing", "DELETE FROM entries" + entry + "2",
			"branch, backward, entries, settings, entry, branch to, settings of, claim, move"},
		{"an entry is missing", "DELETE FROM entries" + entry + "12", anEntry},
		{"the first of a run is missing", "DELETE FROM entries" + entry + "8",
			"branch, backward, entries, load, entry, branch to, claim, commit"},
		{"the root is missing", "DELETE FROM entries" + entry + "1",
			"branch, backward, entries, settings, entry, branch to, settings of, claim"},
		{"the last is missing", "DELETE FROM entries" + entry + "20", ""}, // it is as if it had never been there
		{"all are missing", "DELETE FROM entries", ""},
		{"a run that begins later", "UPDATE entries SET segment = 20" + entry + "12",
			"branch, backward, branch to, claim"},
		{"a run that begins nowhere", "UPDATE entries SET segment = -3" + entry + "20",
			"branch, backward, branch to, claim, append, commit"},
		{"runs that begin with each other", "UPDATE entries SET segment = 21 - (entry & 0xffffffff)",
			"branch, backward, branch to, claim"},
		{"the leaf is no entry", "UPDATE entries SET leaf = 1000", theLeaf},
		{"the leaf is negative", "UPDATE entries SET leaf = -1", theLeaf},
		{"the reset is no entry", "UPDATE entries SET last_reset = 1000", ""},
		{"values that follow themselves", "UPDATE entries SET stored = 10" + entry + "9",
			"load, commit"},
		{"values that are missing", "UPDATE entries SET stored = 1000 WHERE stored > 0",
			"load, commit"},
		{"a model that is missing", "UPDATE entries SET model = 1000",
			"settings, settings of"},
		{"a key that leads nowhere", "UPDATE entry_keys SET entry = 1000", ""},
		{"data that are no JSON", "UPDATE entries SET data = '{' " + entry + "12", anEntry},
		{"data that are no object", "UPDATE entries SET data = '[]' " + entry + "12", anEntry},
		{"no data", "UPDATE entries SET data = '' " + entry + "12", anEntry},
		{"a message without a role", `UPDATE entries SET data = '{"message":{}}' ` + entry + "12", ""},
		{"data that are not UTF-8", `UPDATE entries SET data = CAST(x'7b2261223a22ff227d' AS TEXT)` + entry + "12", ""},
		{"an id that is not UTF-8", `UPDATE entries SET id = CAST(x'ff' AS TEXT)` + entry + "12", anEntry},
		{"a kind that is not UTF-8", `UPDATE entries SET kind = CAST(x'ff' AS TEXT)` + entry + "12", anEntry},
		{"no kind", "UPDATE entries SET kind = '' " + entry + "12", anEntry},
		{"a time beyond all times", "UPDATE entries SET time = 0x7fffffffffffffff " + entry + "12", anEntry},
		{"values that are no JSON", "INSERT INTO entry_values (entry, data) SELECT entry, 'x' FROM entries " + entry + "10",
			"load, commit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			if err := os.WriteFile(path, database, 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, path, "PRAGMA ignore_check_constraints = 1", test.statement)
			s := open(t, path, fast)
			rows := func() (text string) {
				t.Helper()
				const query = `SELECT ifnull(group_concat(format('%d %s %d %s', entry, hex(id), parent, hex(data)) ORDER BY entry), '') FROM entries`
				if err := s.DB().QueryRowContext(t.Context(), query).Scan(&text); err != nil {
					t.Fatal(err)
				}
				return text
			}
			before := rows()
			if got := strings.Join(askAll(t, s, ids), ", "); got != test.damaged {
				t.Errorf("damaged, they say, are\n\t%q, not\n\t%q", got, test.damaged)
			}
			if !strings.HasPrefix(rows(), before) {
				t.Error("entries that were there are not any more, or other ones")
			}
		})
	}
}

// TestDamagedSession damages the file of a session in many ways. What is asked of it then works or says clearly why not.
func TestDamagedSession(t *testing.T) {
	t.Parallel()
	whole := newPath(t)
	ids := badSession(t, whole)
	database, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	damaged := damage(database)
	tried, refused := 0, 0
	path := newPath(t)
	for i, name := range slices.Sorted(maps.Keys(damaged)) {
		if testing.Short() && i%8 > 0 {
			continue
		}
		tried++
		text := damaged[name]
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := transcript.Open(t.Context(), path, fast)
		switch {
		case err == nil:
			if len(askAll(t, s, ids)) > 0 {
				refused++
			}
			if err := s.Close(); err != nil && !errors.Is(err, transcript.ErrDamaged) {
				t.Errorf("%s: %v", name, err)
			}
		case errors.Is(err, transcript.ErrDamaged):
			refused++
		case !errors.Is(err, transcript.ErrNotStore) && !errors.Is(err, transcript.ErrNewerVersion):
			t.Errorf("%s: %v", name, err)
		}
		if t.Failed() {
			t.Fatalf("this was with: %s", name)
		}
		for _, suffix := range []string{"-wal", "-shm"} {
			os.Remove(path + suffix)
		}
	}
	if refused < tried/4 {
		t.Errorf("of %d damaged databases %d say so", tried, refused)
	}
}
