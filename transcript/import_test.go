package transcript_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

const fileHeader = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/srv","parentSession":"s0"}` + "\n"

func userLine(id, text string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"message":{"role":"user","content":%q}}`+"\n", id, text)
}

func TestImportTakesOverTheHeader(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	told := 0
	store := open(t, ":memory:", &transcript.Options{OnAppend: func(transcript.Appended) { told++ }})
	file := fileHeader + `{"type":"message","id":"a","timestamp":"2026-01-03T00:00:00.000Z","message":{"role":"user","content":"hi"}}` + "\n" +
		`{"type":"session_info","id":"b","timestamp":"2026-01-04T00:00:00.000Z","name":"Chat"}` + "\n" +
		`{"type":"custom","id":"c","timestamp":"9999-01-04T00:00:00.000Z","customType":"t"}` + "\n"
	session, report, err := store.Import(ctx, "chat", strings.NewReader(file), &transcript.ImportOptions{HarnessID: "h"})
	if err != nil || report.Entries != 3 || report.IDTaken {
		t.Fatal(report, err)
	}
	info, err := session.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if info.ID != "s1" || info.Key != "chat" || info.HarnessID != "h" || info.WorkingDir != "/srv" || info.ParentSession != "s0" ||
		info.Name != "Chat" || info.Entries != 3 || !info.Created.Equal(created) || !info.Interacted.Equal(time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", info)
	}
	if info.Updated.After(time.Now()) || info.Updated.Before(time.Date(2026, 1, 4, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("it was updated at %v", info.Updated)
	}
	if told > 0 {
		t.Error("entries that were imported were told as new ones")
	}
	// It goes on as any session does.
	say(t, session, "more")
	if got := texts(t, session.Branch(ctx, nil)); got != "hi (session_info) (custom) more" {
		t.Errorf("the branch is %q", got)
	}

	_, _, err = store.Import(ctx, "chat", strings.NewReader(file), nil)
	if !errors.Is(err, transcript.ErrSessionExists) {
		t.Errorf("a second import under the key: %v", err)
	}
	copied, report, err := store.Import(ctx, "copy", strings.NewReader(file), nil)
	if err != nil || !report.IDTaken || copied.ID() == "s1" || len(copied.ID()) != 36 {
		t.Errorf("a second import under another key: %+v, %v", report, err)
	}
}

func TestImportIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	store := open(t, newPath(t), fast)
	down := errors.New("down")
	cancelled, cancel := context.WithCancel(t.Context())
	for name, test := range map[string]struct {
		ctx  context.Context
		r    io.Reader
		want error
	}{
		"reader":  {t.Context(), io.MultiReader(strings.NewReader(fileHeader+userLine("a", "hi")+`{"type":`), iotest.ErrReader(down)), down},
		"newer":   {t.Context(), strings.NewReader(`{"type":"session","version":4,"id":"x"}` + "\n"), transcript.ErrNewerVersion},
		"context": {cancelled, io.MultiReader(strings.NewReader(fileHeader+userLine("a", "hi")), endless{cancel}), context.Canceled},
	} {
		session, report, err := store.Import(test.ctx, "chat", test.r, nil)
		if !errors.Is(err, test.want) || session != nil {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		if _, err := store.FindSession(t.Context(), "chat"); !errors.Is(err, transcript.ErrUnknownSession) {
			t.Errorf("%s: the session is there: %v", name, err)
		}
	}
	for _, key := range []string{"", "\xff", strings.Repeat("k", transcript.MaxKeyBytes+1)} {
		if _, _, err := store.Import(t.Context(), key, strings.NewReader(fileHeader), nil); !errors.Is(err, transcript.ErrInvalidEntry) {
			t.Errorf("the key %.10q: %v", key, err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Import(t.Context(), "chat", strings.NewReader(fileHeader), nil); !errors.Is(err, transcript.ErrClosed) {
		t.Error(err)
	}
}

// endless reads blank lines, and calls stop.
type endless struct{ stop func() }

func (e endless) Read(p []byte) (int, error) {
	e.stop()
	return copy(p, "\n"), nil
}

func TestImportOfOddLines(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 10<<20)
	for name, test := range map[string]struct {
		file string
		max  int
		want string // of the branch
		told []transcript.ImportProblem
	}{
		"long":           {fileHeader + userLine("a", big) + userLine("b", "b"), 0, big + " b", nil},
		"too long":       {fileHeader + userLine("a", big) + userLine("b", "b"), 1 << 20, "b", []transcript.ImportProblem{{2, true, "it has more than 1048576 bytes"}}},
		"as long as may": {fileHeader + userLine("a", "a") + userLine("b", "bb"), len(userLine("a", "a")) - 1, "a", []transcript.ImportProblem{{1, true, ""}, {3, true, ""}}},
		"too long, last": {fileHeader + userLine("b", "b") + strings.Repeat("x", 300), 200, "b", []transcript.ImportProblem{{3, true, "it has more than 200 bytes"}}},
		"not UTF-8":      {fileHeader + userLine("a", "x") + "{\"type\":\"message\",\"id\":\"\xff\",\"message\":{\"role\":\"user\",\"content\":\"\xff\"}}\n", 0, "x \ufffd", []transcript.ImportProblem{{3, false, "it was not UTF-8"}}},
		"torn":           {fileHeader + userLine("a", "a") + `{"type":"mess`, 0, "a", []transcript.ImportProblem{{3, true, ""}}},
		"no last break":  {fileHeader + strings.TrimSpace(userLine("a", "a")), 0, "a", nil},
		"BOM and CRLF":   {"\ufeff" + strings.ReplaceAll(fileHeader+userLine("a", "a"), "\n", "\r\n"), 0, "a", nil},
		"blank":          {"\n\n" + fileHeader + " \n" + userLine("a", "a"), 0, "a", nil},
		"long id":        {fileHeader + userLine(strings.Repeat("i", 5000), "a"), 0, "a", []transcript.ImportProblem{{2, false, "its id cannot be one"}}},
		"mode":           {fileHeader + `{"type":"message","appendMode":7,"message":{"role":"user","content":"a"}}`, 0, "a", []transcript.ImportProblem{{2, false, "its appendMode is unknown, and was left out"}}},
		"members twice":  {fileHeader + `{"id":"b","type":"custom","id":"a","type":"message","message":1,"message":{"role":"user","content":"a"}}`, 0, "a", nil},
		"long header":    {`{"type":"session","version":3,"id":"` + strings.Repeat("i", 5000) + `"}`, 0, "", []transcript.ImportProblem{{1, false, ""}}},
		"deep":           {fileHeader + `{"type":"custom","data":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}\n" + userLine("a", "a"), 0, "a", []transcript.ImportProblem{{2, true, ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session, report, err := open(t, ":memory:", nil).Import(t.Context(), "chat", strings.NewReader(test.file), &transcript.ImportOptions{MaxLineBytes: test.max})
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(t, session.Branch(t.Context(), nil)); got != test.want {
				t.Errorf("the branch is %.100q, not %.100q", got, test.want)
			}
			if len(report.Problems) != len(test.told) {
				t.Fatalf("the problems are %v", report.Problems)
			}
			for i, want := range test.told {
				got := report.Problems[i]
				if got.Line != want.Line || got.Skipped != want.Skipped || want.Reason != "" && got.Reason != want.Reason || got.Reason == "" {
					t.Errorf("a problem is %+v, not %+v", got, want)
				}
			}
			checkExport(t, open(t, ":memory:", nil), session, report)
		})
	}
}

func TestImportReportIsBounded(t *testing.T) {
	t.Parallel()
	_, report := importText(t, open(t, ":memory:", nil), "chat", fileHeader+strings.Repeat("nothing\n", 250))
	if len(report.Problems) != transcript.MaxImportProblems || report.Omitted != 150 || report.Skipped != 250 {
		t.Errorf("%d problems, %d omitted, %d skipped", len(report.Problems), report.Omitted, report.Skipped)
	}
}

// TestExportKeepsWhatItDoesNotKnow compares an export with the file: members that no type has are there, in their order,
// with every digit.
func TestExportKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	file := fileHeader + `{"type":"compaction","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:05.678Z","new":1.00,"summary":"s","firstKeptEntryId":"x","tokensBefore":1e2}
{"type":"telemetry","id":"b","parentId":"a","timestamp":"2026-01-02T03:04:05.678Z","z":{"b":12345678901234567890,"a":[]},"a":"\u00e9"}
{"type":"message","id":"c","parentId":"b","timestamp":"2026-01-02T03:04:05.678Z","appendMode":"side","message":{"usage":{"x":1},"content":[],"role":"assistant"},"extra":true}
{"type":"leaf","id":"d","parentId":"a","timestamp":"2026-01-02T03:04:05.678Z","targetId":"a","why":"because"}
`
	session, _ := importText(t, open(t, ":memory:", nil), "chat", file)
	if got := exportText(t, session); got != file {
		t.Errorf("the export is\n%s", got)
	}
}

func TestExportOfManyPages(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	var drafts []transcript.Draft
	for i := range 300 {
		text := fmt.Sprint(i)
		if i%50 == 3 {
			text = strings.Repeat("x", 300_000)
		}
		drafts = append(drafts, transcript.Draft{Payload: transcript.UserText(text), Side: i%7 == 0})
	}
	if _, err := session.AppendAll(t.Context(), drafts, nil); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(exportText(t, session), "\n"); n != 301 {
		t.Errorf("the export has %d lines", n)
	}
	checkExport(t, open(t, ":memory:", nil), session, transcript.ImportReport{})
	full := errors.New("full")
	if err := session.Export(t.Context(), writerFunc(func([]byte) (int, error) { return 0, full })); !errors.Is(err, full) {
		t.Error(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestLabels(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	a, b := say(t, session, "a"), say(t, session, "b")
	for _, label := range []transcript.Label{{TargetID: a, Label: "one"}, {TargetID: b, Label: "two"}, {TargetID: a, Label: "three"}, {TargetID: b}} {
		push(t, session, label)
	}
	if err := session.MoveTo(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	labels, err := session.Labels(t.Context())
	if err != nil || len(labels) != 1 || labels[a] != "three" {
		t.Errorf("%v, %v", labels, err)
	}
	if _, err := session.Append(t.Context(), transcript.Label{TargetID: "nobody", Label: "x"}, nil); !errors.Is(err, transcript.ErrUnknownEntry) {
		t.Errorf("a label of what is not there: %v", err)
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(fileHeader + userLine("a", "hi") + `{"type":"leaf","id":"l","parentId":"a","targetId":null}` + "\n" + userLine("b", "\x00")))
	f.Add([]byte(`{"type":"session"}` + "\n" + `{"type":"compaction","firstKeptEntryIndex":1}` + "\n{}\n\xff\n"))
	f.Add([]byte(`{"type":"message","id":"a","timestamp":"1970-01-01T00:00:00Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"","name":""}]}}` + "\n" + userLine("a", "")))
	files, err := filepath.Glob("testdata/navigation/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		_, file, _ := bytes.Cut(text, []byte("---\n"))
		f.Add(file)
	}
	store, second := open(f, ":memory:", nil), open(f, ":memory:", nil) // to open one takes longer than the rest
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, s := range []*transcript.Store{store, second} {
			if _, err := s.DB().ExecContext(t.Context(), "DELETE FROM sessions"); err != nil {
				t.Fatal(err)
			}
		}
		session, report, err := store.Import(t.Context(), "chat", bytes.NewReader(file), &transcript.ImportOptions{MaxLineBytes: 1 << 16})
		if errors.Is(err, transcript.ErrNewerVersion) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if report.Lines < report.Entries+report.Skipped || report.Flawed > report.Entries {
			t.Errorf("the report is %+v", report)
		}
		checkExport(t, second, session, report)
		checkWellFormed(t, session)
		if _, err := session.SettleCalls(t.Context()); err != nil {
			t.Fatal(err)
		}
		say(t, session, "more")
		for entry, err := range session.Entries(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := entry.MarshalJSON(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestImportRedacts(t *testing.T) {
	t.Parallel()
	store := open(t, ":memory:", &transcript.Options{Redact: func(text string) string { return strings.ReplaceAll(text, "secret", "***") }})
	file := fileHeader + userLine("secret", "a secret") + `{"type":"compaction","id":"b","summary":"secret","more":"secret","tokensBefore":1}` + "\n"
	session, report := importText(t, store, "chat", file)
	text := exportText(t, session)
	if strings.Count(text, "secret") != 2 || strings.Count(text, "***") != 3 { // ids are not redacted: one, and once as parent
		t.Errorf("the export is\n%s", text)
	}
	checkExport(t, open(t, ":memory:", nil), session, report)
}

func TestImportTellsWhenTheSessionWasReset(t *testing.T) {
	t.Parallel()
	file := fileHeader + `{"type":"reset","id":"a","timestamp":"2026-02-01T00:00:00.000Z"}` + "\n" +
		`{"type":"custom","id":"b","timestamp":"2026-03-01T00:00:00.000Z","customType":"t"}` + "\n"
	session, _ := importText(t, open(t, ":memory:", nil), "chat", file)
	info, err := session.Info(t.Context())
	if err != nil || !info.Started.Equal(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v, %v", info, err)
	}
}
