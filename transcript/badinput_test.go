package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

func TestSessionBusy(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, &transcript.Options{BusyTimeout: 100 * time.Millisecond})
	session, err := s.OpenSession(t.Context(), "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := say(t, session, "a")
	release := hold(t, path)
	begun := time.Now()
	if _, err := session.Append(t.Context(), transcript.UserText("b"), nil); !errors.Is(err, transcript.ErrBusy) {
		t.Errorf("Append gives the error %v", err)
	}
	if took := time.Since(begun); took < 100*time.Millisecond || took > 5*time.Second {
		t.Errorf("ErrBusy came after %v", took)
	}
	if err := session.MoveTo(t.Context(), transcript.Root, nil); !errors.Is(err, transcript.ErrBusy) {
		t.Errorf("MoveTo gives the error %v", err)
	}
	if _, err := s.OpenSession(t.Context(), "another", nil); !errors.Is(err, transcript.ErrBusy) {
		t.Errorf("OpenSession gives the error %v", err)
	}
	if leaf, err := session.Leaf(t.Context()); err != nil || leaf != a { // needs no turn
		t.Errorf("the leaf while another program writes: %q, %v", leaf, err)
	}
	release()
	say(t, session, "c")
	if got := texts(t, session.Entries(t.Context())); got != "a c" {
		t.Errorf("the session has %q", got)
	}
}

// TestSessionFull fills a database to a bound that it has in the place of a disk.
func TestSessionFull(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), nil)
	ctx := t.Context()
	session, err := s.OpenSession(ctx, "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		t.Helper()
		if _, err := s.DB().ExecContext(ctx, fmt.Sprint("PRAGMA max_page_count = ", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(200)
	sizes := []int{1, 3}
	whole := 0
	for n := 1; ; n++ {
		b := batch{1, n, sizes[n%2]}
		drafts := b.drafts()
		drafts = append(drafts, transcript.Draft{Payload: transcript.Custom{Type: "weight", Data: json.RawMessage(`"` + kilobyte + `"`)}, Side: true})
		_, err := session.AppendAll(ctx, drafts, nil)
		if errors.Is(err, transcript.ErrFull) {
			break
		}
		if whole = n; err != nil || n > 1000 {
			t.Fatalf("batch %d: %v", n, err)
		}
	}
	if whole < 20 {
		t.Fatalf("there was room for %d batches", whole)
	}
	holds := func(last string) {
		t.Helper()
		sound(t, s)
		var want []string
		for n := range whole {
			for _, draft := range (batch{1, n + 1, sizes[(n+1)%2]}).drafts() {
				want = append(want, draft.Payload.(transcript.Message).Text())
			}
		}
		if last != "" {
			want = append(want, last)
		}
		if got := texts(t, session.Branch(ctx, nil)); got != strings.Join(want, " ") {
			t.Errorf("the branch is %.100q..., not %.100q...", got, strings.Join(want, " "))
		}
	}
	holds("")
	large := []transcript.Draft{{Payload: transcript.UserText("small")}, {Payload: transcript.UserText(strings.Repeat(kilobyte, 100))}}
	if _, err := session.AppendAll(ctx, large, &transcript.AppendOptions{From: transcript.Root}); !errors.Is(err, transcript.ErrFull) {
		t.Errorf("a large entry: %v", err)
	}
	if _, err := s.OpenSession(ctx, strings.Repeat("k", transcript.MaxKeyBytes), nil); !errors.Is(err, transcript.ErrFull) {
		t.Errorf("a session more: %v", err)
	}
	holds("")
	limit(10_000)
	say(t, session, "again")
	holds("again")
}

// TestSessionReadOnly reads a session that must not be written, also while another store writes it.
func TestSessionReadOnly(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	ctx := t.Context()
	if _, err := transcript.Open(ctx, path, &transcript.Options{ReadOnly: true}); !errors.Is(err, transcript.ErrCannotOpen) {
		t.Errorf("a file that is not there: %v", err)
	}
	s := open(t, path, fast)
	writing, err := s.OpenSession(ctx, "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	say(t, writing, "a")
	reader := open(t, path, &transcript.Options{ReadOnly: true})
	session, err := reader.OpenSession(ctx, "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	say(t, writing, "b")
	if got := texts(t, session.Branch(ctx, nil)); got != "a b" {
		t.Errorf("the branch is %q", got)
	}
	for what, err := range map[string]error{
		"append": func() error { _, err := session.Append(ctx, transcript.UserText("c"), nil); return err }(),
		"move":   session.MoveTo(ctx, transcript.Root, nil),
		"open":   func() error { _, err := reader.OpenSession(ctx, "another", nil); return err }(),
	} {
		if !errors.Is(err, transcript.ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := reader.FindSession(ctx, "another"); !errors.Is(err, transcript.ErrUnknownSession) {
		t.Errorf("a session that is not there: %v", err)
	}
	if got := texts(t, writing.Entries(ctx)); got != "a b" {
		t.Errorf("all entries are %q", got)
	}
}

// TestSessionText refuses texts that would not be found again, or not be read as they were written.
func TestSessionText(t *testing.T) {
	t.Parallel()
	const bad = "a\xffb"
	session := newSession(t)
	ctx := t.Context()
	good := say(t, session, "good")
	raw := json.RawMessage("\"" + bad + "\"")
	key := transcript.UserText("x")
	key.IdempotencyKey = bad
	role := transcript.UserText("x")
	role.Role = bad
	field := transcript.UserText("x")
	field.Fields = map[string]json.RawMessage{bad: json.RawMessage("1")}
	value := transcript.UserText("x")
	value.Meta = map[string]json.RawMessage{"a": raw}
	for what, payload := range map[string]transcript.Payload{
		"key": key, "role": role, "name of a field": field, "value of a field": value,
		"content":  transcript.Message{Role: "user", Content: raw},
		"no JSON":  transcript.Message{Role: "user", Content: json.RawMessage(`"x`)},
		"level":    transcript.ThinkingLevelChange{Level: bad},
		"model":    transcript.ModelChange{Provider: "p", ModelID: bad},
		"summary":  transcript.Compaction{Summary: bad},
		"details":  transcript.BranchSummary{Summary: "s", Details: raw},
		"data":     transcript.Custom{Type: "t", Data: raw},
		"type":     transcript.Custom{Type: bad},
		"label":    transcript.Label{TargetID: good, Label: bad},
		"name":     transcript.SessionInfo{Name: bad},
		"reason":   transcript.Reset{Reason: bad},
		"kind":     transcript.Unknown{Type: bad},
		"members":  transcript.Unknown{Type: "t", Members: json.RawMessage(`{"a":"` + bad + `"}`)},
		"an array": transcript.Unknown{Type: "t", Members: json.RawMessage(`[]`)},
	} {
		drafts := []transcript.Draft{{Payload: transcript.UserText("before")}, {Payload: payload}}
		if _, err := session.AppendAll(ctx, drafts, nil); !errors.Is(err, transcript.ErrInvalidEntry) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, id := range []string{bad, "", "\x00", strings.Repeat("x", 1<<20)} {
		if _, err := session.Entry(ctx, id); !errors.Is(err, transcript.ErrUnknownEntry) || len(err.Error()) > 1000 {
			t.Errorf("Entry of %.10q: %.100v", id, err)
		}
		if keyed, err := session.Keyed(ctx, id); len(keyed) > 0 || err != nil {
			t.Errorf("Keyed of %.10q: %v, %v", id, keyed, err)
		}
		if id == "" {
			continue
		}
		if err := session.MoveTo(ctx, id, nil); !errors.Is(err, transcript.ErrUnknownEntry) {
			t.Errorf("MoveTo %.10q: %.100v", id, err)
		}
	}
	store := open(t, newPath(t), fast)
	for _, key := range []string{"", bad, strings.Repeat("x", transcript.MaxKeyBytes+1)} {
		if _, err := store.OpenSession(ctx, key, nil); !errors.Is(err, transcript.ErrInvalidEntry) {
			t.Errorf("a session of the key %.10q: %.100v", key, err)
		}
	}
	if got := texts(t, session.Entries(ctx)); got != "good" {
		t.Errorf("the session has %q", got)
	}
}

// TestLargeEntries appends entries of 10 MB and of as much as an entry may have, and is refused one byte more.
func TestLargeEntries(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	ctx := t.Context()
	const around = len(`{"message":{"role":"user","content":""}}`)
	ids := map[string]int{}
	for _, size := range []int{10 << 20, transcript.MaxEntryBytes - around} {
		ids[say(t, session, strings.Repeat("x", size))] = size
	}
	drafts := []transcript.Draft{{Payload: transcript.UserText("before")}, {Payload: transcript.UserText(strings.Repeat("x", transcript.MaxEntryBytes-around+1))}}
	if _, err := session.AppendAll(ctx, drafts, nil); !errors.Is(err, transcript.ErrEntryTooLarge) {
		t.Errorf("a byte more: %v", err)
	}
	n := 0
	for entry, err := range session.Branch(ctx, &transcript.BranchOptions{NewestFirst: true}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if message, _ := entry.Message(); len(message.Content) != ids[entry.ID]+len(`""`) || bytes.Count(message.Content, []byte("x")) != ids[entry.ID] {
			t.Errorf("an entry of %d bytes has %d", ids[entry.ID], len(message.Content))
		}
	}
	if info, err := session.Info(ctx); err != nil || n != 2 || info.Entries != 2 || info.Bytes != int64(10<<20+around+transcript.MaxEntryBytes) {
		t.Errorf("there are %d entries, and %+v is known (%v)", n, info, err)
	}
}

// TestSessionTruncated opens a database that ends too early. What is still there can be read, and an error says that more
// is missing.
func TestSessionTruncated(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, fast)
	session, err := s.OpenSession(t.Context(), "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		say(t, session, fmt.Sprint(i, " ", kilobyte))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	database, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, pages := range []int{1, 10, 30, 50} {
		if err := os.WriteFile(path, database[:pages*pageSize], 0o600); err != nil {
			t.Fatal(err)
		}
		read := 0
		s, err := transcript.Open(t.Context(), path, fast)
		if err == nil {
			session, err = s.FindSession(t.Context(), "chat")
			if err == nil {
				for _, err = range session.Entries(t.Context()) {
					if err == nil {
						read++
					}
				}
			}
			s.Close()
		}
		if !errors.Is(err, transcript.ErrDamaged) || read == 200 {
			t.Errorf("of %d pages there are %d: %d entries, then %v", len(database)/pageSize, pages, read, err)
		}
	}
}
