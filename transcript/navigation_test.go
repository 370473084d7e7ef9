package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// importText imports a session file into a store.
func importText(tb testing.TB, store *transcript.Store, key, file string) (*transcript.Session, transcript.ImportReport) {
	tb.Helper()
	session, report, err := store.Import(tb.Context(), key, strings.NewReader(file), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return session, report
}

func exportText(tb testing.TB, session *transcript.Session) string {
	tb.Helper()
	var b bytes.Buffer
	if err := session.Export(tb.Context(), &b); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// ids are those of a branch.
func ids(tb testing.TB, session *transcript.Session) []string {
	tb.Helper()
	ids := []string{}
	for entry, err := range session.Branch(tb.Context(), nil) {
		if err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, entry.ID)
	}
	return ids
}

// show writes a message of a context as the expectations do: its role and text, the ids of its calls or of the call whose
// result it is, and + if it has a provider's replay. The text of a result that was made up is a question mark.
func show(m transcript.ContextMessage) string {
	text := m.Message.Text()
	if m.EntryID == "" {
		text = "?"
	}
	if m.Message.Role == transcript.RoleToolResult {
		text += "[" + m.Message.ToolCallID + "]"
	}
	var calls []string
	for _, call := range m.Message.ToolCalls() {
		calls = append(calls, call.ID)
	}
	if calls != nil {
		text += fmt.Sprint(calls)
	}
	if m.Message.Fields["providerReplay"] != nil {
		text += "+"
	}
	return m.Message.Role + ":" + text
}

// facts are what the files of testdata/navigation have expectations of, by the word with which these begin.
func facts(tb testing.TB, session *transcript.Session, report transcript.ImportReport) map[string]string {
	tb.Helper()
	leaf, err := session.Leaf(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	made, err := session.Context(tb.Context(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	var shown []string
	retained := 0
	for _, m := range made.Messages {
		shown = append(shown, show(m))
		if m.Retained {
			retained++
		}
	}
	if made.EntryID != leaf {
		tb.Errorf("the context is of %q, the leaf is %q", made.EntryID, leaf)
	}
	labels, err := session.Labels(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	var labelled []string
	for id, label := range labels {
		labelled = append(labelled, id+"="+label)
	}
	slices.Sort(labelled)
	return map[string]string{
		"leaf":     leaf,
		"branch":   strings.Join(ids(tb, session), " "),
		"texts":    texts(tb, session.Branch(tb.Context(), nil)),
		"context":  strings.Join(shown, " "),
		"retained": fmt.Sprint(retained),
		"settings": made.Settings.Provider + "/" + made.Settings.ModelID + " " + made.Settings.ThinkingLevel,
		"labels":   strings.Join(labelled, " "),
		"flawed":   fmt.Sprint(report.Flawed),
		"skipped":  fmt.Sprint(report.Skipped),
		"problems": fmt.Sprint(len(report.Problems)),
		"version":  fmt.Sprint(report.Version),
		"rebuilt":  map[bool]string{false: "no"}[report.HeaderRebuilt],
	}
}

// TestNavigation reads the session files of testdata/navigation, each with its expectations before it. What no expectation
// is about has to be zero.
func TestNavigation(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/navigation/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			head, file, found := strings.Cut(string(text), "---\n")
			if !found {
				t.Fatal("no session file behind the expectations")
			}
			session, report := importText(t, open(t, ":memory:", nil), "chat", file)
			got := facts(t, session, report)
			want := map[string]string{"flawed": "0", "problems": "0", "skipped": "0", "rebuilt": "no", "version": "3"}
			for line := range strings.Lines(head) {
				if line, ok := strings.CutPrefix(line, "> "); ok {
					name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
					want[name] = value
				}
			}
			if len(want) == 5 {
				t.Fatal("no expectations")
			}
			for name, value := range want {
				if got[name] != value {
					t.Errorf("%s: %q, not %q", name, got[name], value)
				}
			}
			if t.Failed() {
				t.Logf("%s%+v\n%s", head, report.Problems, exportText(t, session))
			}
			if report.Lines != report.Entries+report.Skipped+map[bool]int64{true: 0, false: 1}[report.HeaderRebuilt] {
				t.Errorf("the lines do not add up: %+v", report)
			}
			checkExport(t, open(t, ":memory:", nil), session, report)
		})
	}
}

// checkExport exports a session, imports that into a store without sessions, and compares.
func checkExport(tb testing.TB, into *transcript.Store, session *transcript.Session, report transcript.ImportReport) {
	tb.Helper()
	first := exportText(tb, session)
	again, second := importText(tb, into, "chat", first)
	if text := exportText(tb, again); text != first {
		tb.Errorf("an export of an import of an export differs:\n%s\n%s", first, text)
	}
	before, after := facts(tb, session, report), facts(tb, again, second)
	for _, name := range []string{"leaf", "branch", "context", "retained", "settings", "labels", "flawed"} {
		if before[name] != after[name] {
			tb.Errorf("after an export, %s is %q, not %q", name, after[name], before[name])
		}
	}
	if second.Skipped > 0 || second.HeaderRebuilt || second.Version != 3 {
		tb.Errorf("the export is not as it should be: %+v", second)
	}
}

// row is a line of a session file for the reference scanner.
type row struct {
	Type       string  `json:"type"`
	ID         string  `json:"id"`
	Parent     *string `json:"-"`
	Parentless bool    `json:"-"`
	Target     *string `json:"-"`
	Append     *string `json:"-"`
	HasAppend  bool    `json:"-"`
	Mode       string  `json:"-"`
}

func (r row) line() string {
	members := map[string]any{"type": r.Type, "id": r.ID}
	if !r.Parentless {
		members["parentId"] = r.Parent
	}
	if r.Mode != "" {
		members["appendMode"] = r.Mode
	}
	switch r.Type {
	case "leaf":
		members["targetId"] = r.Target
		if r.HasAppend {
			members["appendParentId"] = r.Append
		}
	case "message":
		members["message"] = map[string]string{"role": "user", "content": r.ID}
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// scan is the rules of session files as plainly as they can be written: one pass for the parents and the leaf, another one
// for the path. Ids are names; the empty one is the place before every entry.
func scan(rows []row) (branch []string, flawed int) {
	parents := map[string]string{} // of each entry, and for a leaf row where it leads
	rowOf := map[string]row{}
	dead := map[string]bool{} // leaf rows that lead nowhere
	visible := func(id string) string {
		for rowOf[id].Type == "leaf" {
			id = parents[id]
		}
		return id
	}
	lastReset := ""
	// The nearest reset has to be the last one: a reset beside the branch is followed by nothing.
	sinceReset := func(id string) bool {
		for id != "" && rowOf[id].Type != "reset" {
			id = parents[id]
		}
		return id == lastReset
	}
	leaf, cursor := "", ""
	known := func(id *string) bool { return id == nil || rowOf[*id].ID != "" }
	name := func(id *string) string {
		if id == nil {
			return ""
		}
		return visible(*id)
	}
	for _, r := range rows {
		parent := leaf
		if !r.Parentless && known(r.Parent) {
			parent = name(r.Parent)
		}
		if r.Type == "leaf" {
			alive := func(id *string) bool { return known(id) && (id == nil || !dead[*id]) }
			valid := alive(r.Target) && (!r.HasAppend || alive(r.Append)) && (r.Mode == "" || r.Mode == "side")
			rowOf[r.ID], parents[r.ID] = r, parent
			if !valid {
				dead[r.ID] = true
				flawed++
				continue
			}
			target := name(r.Target)
			if sinceReset(target) {
				leaf, cursor = target, target
				if r.HasAppend {
					cursor = name(r.Append)
				}
			} else {
				cursor = leaf
			}
			parents[r.ID] = leaf
			continue
		}
		if r.Mode != "side" && (parent == cursor && !r.Parentless && known(r.Parent) || !sinceReset(parent)) {
			parent = leaf
		}
		rowOf[r.ID], parents[r.ID] = r, parent
		cursor = r.ID
		if r.Mode != "side" {
			leaf = r.ID
			if r.Type == "reset" {
				lastReset = r.ID
			}
		}
	}
	branch = []string{}
	for id := leaf; id != ""; id = parents[id] {
		branch = append(branch, id)
	}
	slices.Reverse(branch)
	return branch, flawed
}

// TestNavigationOfRandomFiles compares the store with the reference scanner.
func TestNavigationOfRandomFiles(t *testing.T) {
	t.Parallel()
	store := open(t, ":memory:", nil)
	files := uint64(400)
	if testing.Short() {
		files = 60
	}
	for seed := range files {
		random := rand.New(rand.NewPCG(seed, 7))
		some := func(upTo int) *string {
			if random.IntN(8) == 0 {
				return nil
			}
			// Mostly what is near; sometimes itself, what is later, or nothing at all.
			id := fmt.Sprintf("e%d", max(0, upTo+2-random.IntN(8)))
			return &id
		}
		rows := make([]row, 2+random.IntN(40))
		var file strings.Builder
		fmt.Fprintf(&file, `{"type":"session","version":3,"id":"s%d"}`+"\n", seed)
		for i := range rows {
			r := row{Type: "message", ID: fmt.Sprintf("e%d", i), Parent: some(i), Parentless: random.IntN(5) == 0}
			switch random.IntN(20) {
			case 0:
				r.Type = "reset"
			case 1:
				r.Type = "telemetry"
			case 2, 3, 4, 5:
				r.Type, r.Target = "leaf", some(i)
				if r.HasAppend = random.IntN(3) == 0; r.HasAppend {
					r.Append = some(i)
				}
			}
			if random.IntN(6) == 0 {
				r.Mode = "side"
			}
			if r.Type == "leaf" && random.IntN(12) == 0 {
				r.Mode = "other"
			}
			rows[i] = r
			file.WriteString(r.line() + "\n")
		}
		session, report := importText(t, store, fmt.Sprint(seed), file.String())
		want, flawed := scan(rows)
		if got := ids(t, session); !slices.Equal(got, want) || report.Flawed != int64(flawed) {
			t.Fatalf("seed %d: the branch is %v with %d flaws, not %v with %d\n%s", seed, got, report.Flawed, want, flawed, file.String())
		}
		var strict error
		for _, strict = range session.Branch(t.Context(), &transcript.BranchOptions{Strict: true}) {
			break
		}
		if errors.Is(strict, transcript.ErrInconsistent) != (flawed > 0) {
			t.Fatalf("seed %d: a strict reader of a session with %d flaws gets %v", seed, flawed, strict)
		}
		if seed%8 == 0 {
			checkExport(t, open(t, ":memory:", nil), session, report)
		}
	}
}
