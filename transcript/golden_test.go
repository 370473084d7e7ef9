package transcript_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

var update = flag.Bool("update", false, "write testdata/v2.db.gz: only as long as version 2 of the schema is not released")

// TestReleasedMigrations says that a migration that was released is as it was.
func TestReleasedMigrations(t *testing.T) {
	t.Parallel()
	for i, want := range []string{
		"e99255dd3eff24e2d0a9ecc5da9c34104a093fc45c4f60693483b26e8eabd2b5",
	} {
		if sum := sha256.Sum256([]byte(transcript.Migrations[i])); hex.EncodeToString(sum[:]) != want {
			t.Errorf("migration %d has the hash %x: databases are out there that have had another one; add a migration instead", i+1, sum)
		}
	}
}

// goldenPath gives the path of a copy of a database that a released version of this package, or this one, has written.
func goldenPath(t *testing.T, version int) string {
	t.Helper()
	file, err := os.Open(fmt.Sprintf("testdata/v%d.db.gz", version))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	database, err := io.ReadAll(unzip)
	if err != nil {
		t.Fatal(err)
	}
	path := newPath(t)
	if err := os.WriteFile(path, database, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeGolden writes the database of this version, and its session as a session file.
func writeGolden(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	path := newPath(t)
	s := open(t, path, nil)
	for _, cell := range goldenCells() {
		leased := cell.Leased
		cell.Fence, cell.Leased = 0, time.Time{}
		if err := s.SaveCell(ctx, cell); err != nil {
			t.Fatal(err)
		}
		if !leased.IsZero() {
			if _, err := s.LeaseCell(ctx, cell.ID, leased); err != nil {
				t.Fatal(err)
			}
		}
	}
	session, err := s.OpenSession(ctx, "chat", &transcript.SessionOptions{HarnessID: "harness", WorkingDir: "/home/ann", ParentSession: "parent"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC)
	add := func(payload transcript.Payload, side bool, from string) (id string) {
		t.Helper()
		now = now.Add(time.Second)
		receipts, err := session.AppendAll(ctx, []transcript.Draft{{Payload: payload, Side: side}}, &transcript.AppendOptions{From: from, Time: now})
		if err != nil {
			t.Fatal(err)
		}
		return receipts[0].Entry().ID
	}
	first := transcript.UserText("Where is Zürich?")
	first.IdempotencyKey = "turn 1"
	a := add(first, false, "")
	add(transcript.ModelChange{Provider: "acme", ModelID: "one"}, false, "")
	add(transcript.ThinkingLevelChange{Level: "high"}, false, "")
	add(transcript.AssistantCalls("I look.", transcript.ToolCall{ID: "call 1", Name: "look", Arguments: []byte(`{"at":1e400}`)}), false, "")
	b := add(transcript.ToolResult("call 1", "look", "In <Switzerland>.", false), false, "")
	add(transcript.Label{TargetID: b, Label: "found"}, false, "")
	left := add(transcript.AssistantText("In Switzerland."), false, "")
	add(transcript.UserText("And Genève?"), false, a)
	add(transcript.BranchSummary{FromID: left, Summary: "Zürich is in Switzerland."}, false, "")
	add(transcript.Custom{Type: "note", Data: []byte(`[1,"two"]`)}, true, "")
	add(transcript.CustomMessage{Type: "hint", Content: []byte(`"Ask ahead."`), Display: true}, false, "")
	add(transcript.SessionInfo{Name: "Cities"}, false, "")
	kept := add(transcript.AssistantText("There, too."), false, "")
	add(transcript.Compaction{Summary: "Cities of Switzerland.", FirstKeptID: kept, TokensBefore: 1234}, false, "")
	add(transcript.Unknown{Type: "of_tomorrow", Members: []byte(`{"x":{"y":[]}}`)}, false, "")
	for i := range 40 { // more than are read one by one
		change := store.SessionChange{Set: map[string]store.SessionValue{fmt.Sprint("key ", i%3): {JSON: fmt.Append(nil, i), Network: i%2 == 0}}}
		if err := s.CommitSession(ctx, "chat", change); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := errors.Join(session.Export(ctx, &file), s.Close()); err != nil {
		t.Fatal(err)
	}
	database, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	if _, err := zip.Write(database); err != nil {
		t.Fatal(err)
	}
	err = errors.Join(zip.Close(), os.WriteFile("testdata/v2.db.gz", zipped.Bytes(), 0o666), os.WriteFile("testdata/v2.jsonl", file.Bytes(), 0o666))
	if err != nil {
		t.Fatal(err)
	}
}

// TestGoldenSession opens the databases that have sessions, and finds what was written to each.
func TestGoldenSession(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	for version := 2; version <= len(transcript.Migrations); version++ {
		ctx := t.Context()
		s := open(t, goldenPath(t, version), nil)
		session, err := s.FindSession(ctx, "chat")
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(fmt.Sprintf("testdata/v%d.jsonl", version))
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := session.Export(ctx, &file); err != nil || file.String() != string(want) {
			t.Errorf("version %d: the session file is\n%s(%v)", version, file.String(), err)
		}
		branch := texts(t, session.Branch(ctx, nil))
		if begin, rest, _ := strings.Cut(branch, "(of_tomorrow)"); begin != "Where is Zürich? And Genève? (branch_summary) (custom_message) "+
			"(session_info) There, too. (compaction) " || rest != strings.Repeat(" (custom)", 40) {
			t.Errorf("version %d: the branch is %s", version, branch)
		}
		var others []string // what the branch does not have
		for entry, err := range session.Entries(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if settings, err := session.Settings(ctx, entry.ID); err != nil {
				t.Error(err)
			} else if label, ok := entry.Payload.(transcript.Label); ok {
				others = append(others, label.Label, settings.ModelID, settings.ThinkingLevel)
				if labels, err := session.Labels(ctx); err != nil || labels[label.TargetID] != label.Label {
					t.Errorf("version %d: the labels are %v (%v)", version, labels, err)
				}
			}
		}
		if got := strings.Join(others, " "); got != "found one high" {
			t.Errorf("version %d: the branch that was left has %q", version, got)
		}
		if keyed, err := session.Keyed(ctx, "turn 1"); err != nil || len(keyed) != 1 {
			t.Errorf("version %d: the keys are %v (%v)", version, keyed, err)
		}
		values, err := s.LoadSession(ctx, "chat")
		if err != nil || len(values) != 3 || string(values["key 0"].JSON) != "39" || values["key 0"].Network || !values["key 2"].Network {
			t.Errorf("version %d: the values are %v (%v)", version, values, err)
		}
		info, err := session.Info(ctx)
		if err != nil || info.Name != "Cities" || info.HarnessID != "harness" || info.Entries != 56 {
			t.Errorf("version %d: %+v (%v)", version, info, err)
		}
		made, err := session.Context(ctx, nil)
		if err != nil || len(made.Messages) != 2 || made.Messages[1].Message.Text() != "There, too." {
			t.Errorf("version %d: the context is %+v (%v)", version, made, err)
		}
		say(t, session, "new")
		sound(t, s)
	}
}

// goldenEnd is when the cells of golden databases expire.
var goldenEnd = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// TestGoldenCells opens databases of all versions, and finds the cells that were written to each.
func TestGoldenCells(t *testing.T) {
	t.Parallel()
	for version := 1; version <= len(transcript.Migrations); version++ {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			t.Parallel()
			path := goldenPath(t, version)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			reader, err := transcript.Open(t.Context(), path, &transcript.Options{ReadOnly: true})
			if version == len(transcript.Migrations) {
				if err = errors.Join(err, reader.Close()); err != nil {
					t.Error(err)
				}
			} else if !errors.Is(err, transcript.ErrOlderVersion) {
				t.Errorf("an older database for reading only: %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the database was altered (%v)", err)
			}
			s := open(t, path, nil)
			for _, want := range goldenCells() {
				got, err := s.LoadCell(t.Context(), want.ID)
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
			}
			session, err := s.OpenSession(t.Context(), "new", nil)
			if err != nil {
				t.Fatal(err)
			}
			say(t, session, "new")
			sound(t, s)
		})
	}
}

func goldenCells() []store.Cell {
	local := goldenEnd.Local() // as LoadCell gives times
	return []store.Cell{
		{ID: "waiting", RunID: "run", SessionID: "chat", Data: []byte("\x00data\xff"), Expires: local, Fence: 1,
			Replies: []store.Reply{{Call: 1, Data: []byte("one")}, {Call: 3, Data: []byte{}}}},
		{ID: "leased", RunID: "run 2", Data: bytes.Repeat([]byte("large "), 1000), Expires: local, Leased: local, Fence: 2,
			Replies: []store.Reply{{Call: 7, Data: []byte("seven")}}},
	}
}
