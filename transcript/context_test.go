package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// push appends a payload, and gives the id of its entry.
func push(tb testing.TB, session *transcript.Session, payload transcript.Payload) string {
	tb.Helper()
	receipt, err := session.Append(tb.Context(), payload, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return receipt.Entry().ID
}

// contextOf shows the context of the session's branch.
func contextOf(tb testing.TB, log transcript.Log) string {
	tb.Helper()
	made, err := transcript.BuildContext(tb.Context(), log, nil)
	if err != nil {
		tb.Fatal(err)
	}
	var shown []string
	for _, m := range made.Messages {
		shown = append(shown, show(m))
	}
	return strings.Join(shown, " ")
}

func call(id string) transcript.Message {
	return transcript.AssistantCalls("", transcript.ToolCall{ID: id, Name: "read"})
}

// counted is a log that counts the entries which are read of branches.
type counted struct {
	transcript.Log
	read int
}

func (c *counted) Branch(ctx context.Context, opts *transcript.BranchOptions) iter.Seq2[transcript.Entry, error] {
	return func(yield func(transcript.Entry, error) bool) {
		for entry, err := range c.Log.Branch(ctx, opts) {
			if c.read++; !yield(entry, err) {
				return
			}
		}
	}
}

func TestContextReadsNoFurtherThanItNeeds(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	var drafts []transcript.Draft
	for i := range 1000 {
		drafts = append(drafts, transcript.Draft{Payload: transcript.UserText(fmt.Sprint(i))})
	}
	receipts, err := session.AppendAll(t.Context(), drafts, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		firstKept string
		want      string
		most      int
	}{
		{receipts[998].Entry().ID, "compactionSummary:sum user:998 user:999 user:new", 8},
		{"nobody", "compactionSummary:sum user:new", 2},
		{"", "compactionSummary:sum user:new", 2},
	} {
		if err := session.MoveTo(t.Context(), receipts[999].Entry().ID, nil); err != nil {
			t.Fatal(err)
		}
		push(t, session, transcript.Compaction{Summary: "sum", FirstKeptID: test.firstKept})
		say(t, session, "new")
		log := &counted{Log: session}
		if got := contextOf(t, log); got != test.want || log.read > test.most {
			t.Errorf("the context is %q, from %d entries read, not %q from %d", got, log.read, test.want, test.most)
		}
	}
}

func TestContextLimits(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	for range 100 {
		say(t, session, strings.Repeat("x", 1000))
	}
	for _, test := range []struct {
		opts transcript.ContextOptions
		over bool
		most int
	}{
		{transcript.ContextOptions{MaxMessages: 100}, false, 100},
		{transcript.ContextOptions{MaxMessages: 99}, true, 100},
		{transcript.ContextOptions{MaxMessages: 3}, true, 4},
		{transcript.ContextOptions{MaxBytes: 100_700}, false, 100},
		{transcript.ContextOptions{MaxBytes: 10_000}, true, 11},
	} {
		log := &counted{Log: session}
		made, err := transcript.BuildContext(t.Context(), log, &test.opts)
		var limit *transcript.ContextLimitError
		if errors.As(err, &limit) != test.over || log.read > test.most || test.over && len(made.Messages) > 0 {
			t.Errorf("%+v: %v, %d entries read", test.opts, err, log.read)
		}
	}
	// Results that are made up count, too.
	if _, err := session.Append(t.Context(), call("1"), &transcript.AppendOptions{From: transcript.Root}); err != nil {
		t.Fatal(err)
	}
	var limit *transcript.ContextLimitError
	if _, err := session.Context(t.Context(), &transcript.ContextOptions{MaxMessages: 1}); !errors.As(err, &limit) || limit.MaxMessages != 1 {
		t.Errorf("a call without its result, in a context of one message: %v", err)
	}
}

func TestContextOfAnOlderEntry(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	say(t, session, "a")
	b := say(t, session, "b")
	push(t, session, transcript.Reset{})
	push(t, session, transcript.ModelChange{Provider: "p", ModelID: "m"})
	made, err := session.Context(t.Context(), &transcript.ContextOptions{To: b})
	if err != nil || len(made.Messages) != 2 || made.EntryID != b || made.BoundaryID != "" || made.Settings.ModelID != "" {
		t.Errorf("%+v, %v", made, err)
	}
	if _, err := session.Context(t.Context(), &transcript.ContextOptions{To: "nobody"}); !errors.Is(err, transcript.ErrUnknownEntry) {
		t.Error(err)
	}
	if made, err := session.Context(t.Context(), &transcript.ContextOptions{To: transcript.Root}); err != nil || made.EntryID != transcript.Root {
		t.Errorf("%+v, %v", made, err)
	}
}

// talk appends what a text says, a word each: u is the user's message, 1 to 9 the call of that number, -1 and on its
// result, ! before a call that its message was aborted, and r a reset. It gives the ids of the entries, by word.
func talk(tb testing.TB, session *transcript.Session, text string) map[string]string {
	tb.Helper()
	ids := map[string]string{}
	for _, word := range strings.Fields(text) {
		var payload transcript.Payload
		switch {
		case strings.HasPrefix(word, "u"):
			payload = transcript.UserText(word)
		case strings.HasPrefix(word, "a"):
			payload = transcript.AssistantText(word)
		case strings.HasPrefix(word, "-"):
			payload = transcript.ToolResult(word[1:], "read", word, false)
		case strings.HasPrefix(word, "!"):
			m := call(word[1:])
			m.Fields = map[string]jsonRaw{"stopReason": jsonRaw(`"aborted"`)}
			payload = m
		case strings.HasPrefix(word, "r"):
			payload = transcript.Reset{}
		default:
			payload = call(word)
		}
		ids[word] = push(tb, session, payload)
	}
	return ids
}

func TestKeepFrom(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ branch, at, want string }{
		{"u1 1 -1 a1 u2 a2", "u2", "u2"},
		{"u1 1 -1 a1 u2 a2", "-1", "1"},
		{"u1 1 -1 a1 u2 a2", "1", "1"},
		{"u1 1 u2 -1 a1", "u2", "1"},
		{"u1 1 2 -1 -2 a1", "-2", "1"}, // with 2 comes -1
		{"u1 1 2 -2 -1 a1", "-2", "1"},
		{"u1 1 -1 2 u2 -2 a1", "u2", "2"}, // -1 stays out
		{"u1 1 2 -1 u2 -2 a1", "u2", "1"}, // going back to 2 takes -1 along, and that takes 1
		{"u1 1 u2", "u2", "1"},            // its result may still come
		{"u1 1 u2 a1 u3", "u3", "u3"},     // it never will
		{"u1 1 u2 a1 u3", "u2", "u2"},
		{"u1 !1 u2", "u2", "u2"},
		{"u1 !1 u2 -1 a1", "u2", "u2"},
		{"u1 -9 u2 a1", "-9", "-9"}, // of no call
		{"u1 1 r u2 -1", "u2", "u2"},
		{"u1 1 r u2 -1", "r", "r"},
	} {
		session := newSession(t)
		ids := talk(t, session, test.branch)
		got, err := transcript.KeepFrom(t.Context(), session, ids[test.at])
		if err != nil || got != ids[test.want] {
			t.Errorf("%s: from %s, it keeps %s, not %s (%v)", test.branch, test.at, got, test.want, err)
		}
	}
	session := newSession(t)
	ids := talk(t, session, "u1 r u2")
	if _, err := transcript.KeepFrom(t.Context(), session, ids["u1"]); !errors.Is(err, transcript.ErrBeforeReset) {
		t.Errorf("a split before a reset: %v", err)
	}
	if err := session.MoveTo(t.Context(), ids["r"], nil); err != nil {
		t.Fatal(err)
	}
	push(t, session, transcript.Custom{Type: "t"})
	for _, id := range []string{"nobody", transcript.Root} {
		if _, err := transcript.KeepFrom(t.Context(), session, id); !errors.Is(err, transcript.ErrUnknownEntry) {
			t.Errorf("a split at %s: %v", id, err)
		}
	}
	other := newSession(t)
	a := say(t, other, "a")
	b := say(t, other, "b")
	if err := other.MoveTo(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := transcript.KeepFrom(t.Context(), other, b); !errors.Is(err, transcript.ErrUnknownEntry) {
		t.Errorf("a split on another branch: %v", err)
	}
}

// TestKeepFromSeparatesNothing looks at each split of random conversations.
func TestKeepFromSeparatesNothing(t *testing.T) {
	t.Parallel()
	store := open(t, ":memory:", nil)
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 3))
		words := make([]string, 4+random.IntN(8))
		for i := range words {
			words[i] = []string{"u", "a", "1", "2", "!1", "-1", "-1", "-2", "r"}[random.IntN(9)]
		}
		session, err := store.OpenSession(t.Context(), fmt.Sprint(seed), nil)
		if err != nil {
			t.Fatal(err)
		}
		talk(t, session, strings.Join(words, " "))
		checkWellFormed(t, session)
		all := ids(t, session)
		for at, id := range all {
			got, err := transcript.KeepFrom(t.Context(), session, id)
			if slices.Contains(words[at+1:], "r") && errors.Is(err, transcript.ErrBeforeReset) {
				continue
			}
			kept := slices.Index(all, got)
			if err != nil || kept < 0 || kept > at {
				t.Fatalf("%v: from %d, it keeps %d (%v)", words, at, kept, err)
			}
			open := map[string]int{} // where the call is whose result may come
			for i, word := range words {
				call, isResult := strings.CutPrefix(word, "-")
				switch {
				case word == "r":
					clear(open)
				case word == "1", word == "2":
					open[word] = i
				case word == "!1":
					delete(open, "1")
				case isResult:
					if from, ok := open[call]; ok && from < kept && i >= kept {
						t.Fatalf("%v: from %d, it keeps %d, which separates %d and %d", words, at, kept, from, i)
					}
					delete(open, call)
				}
			}
		}
	}
}

// checkWellFormed checks that each call of the context has its only result directly behind it, under an id of its own.
func checkWellFormed(tb testing.TB, session *transcript.Session) {
	tb.Helper()
	made, err := session.Context(tb.Context(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	used := map[string]bool{}
	var waiting []string
	for _, m := range made.Messages {
		if m.Message.Role == transcript.RoleToolResult {
			if len(waiting) == 0 || waiting[0] != m.Message.ToolCallID {
				tb.Fatalf("a result of %q, while %q are waited for", m.Message.ToolCallID, waiting)
			}
			waiting = waiting[1:]
			continue
		}
		if len(waiting) > 0 {
			tb.Fatalf("no results of %q", waiting)
		}
		if m.Message.Role != transcript.RoleAssistant {
			continue
		}
		for _, call := range m.Message.ToolCalls() {
			if call.ID == "" || used[call.ID] {
				tb.Fatalf("the id %q of a call was used before", call.ID)
			}
			used[call.ID], waiting = true, append(waiting, call.ID)
		}
	}
	if len(waiting) > 0 {
		tb.Fatalf("no results of %q", waiting)
	}
}

// TestRewriteIsABranch is case C074: history is only appended to.
func TestRewriteIsABranch(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	session := newSession(t)
	a := say(t, session, "a")
	b := say(t, session, "b")
	// Writer A has read up to b; writer B commits c.
	c := say(t, session, "c")
	tail := []transcript.Draft{{Payload: transcript.UserText("x")}, {Payload: transcript.UserText("y")}}
	before := exportText(t, session)
	rewrite := &transcript.AppendOptions{From: a, Leaf: b}
	if _, err := session.AppendAll(ctx, tail, rewrite); !errors.Is(err, transcript.ErrConflict) {
		t.Fatalf("a rewrite of what has changed: %v", err)
	}
	// It gives up at the last moment: as if it had died there.
	down := errors.New("down")
	rewrite = &transcript.AppendOptions{From: a, Leaf: c, Authority: func() error { return down }}
	if _, err := session.AppendAll(ctx, tail, rewrite); !errors.Is(err, down) {
		t.Fatal(err)
	}
	if after := exportText(t, session); after != before {
		t.Fatalf("a rewrite that has failed has changed the session:\n%s\n%s", before, after)
	}
	rewrite.Authority = nil
	if _, err := session.AppendAll(ctx, tail, rewrite); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, session.Branch(ctx, nil)); got != "a x y" {
		t.Errorf("the new branch is %q", got)
	}
	if got := texts(t, session.Branch(ctx, &transcript.BranchOptions{To: c})); got != "a b c" {
		t.Errorf("the old branch is %q", got)
	}
	if !strings.HasPrefix(exportText(t, session), before) {
		t.Error("the rewrite has changed what was there")
	}
	// A compaction and the totals of the session.
	push(t, session, transcript.Compaction{Summary: "sum", FirstKeptID: a})
	info, err := session.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	entries, bytes := int64(0), int64(0)
	for entry, err := range session.Entries(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		text, err := entry.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		entries, bytes = entries+1, bytes+int64(len(text))
	}
	if info.Entries != entries || info.Bytes <= 0 || info.Bytes >= bytes {
		t.Errorf("the totals are %d entries of %d bytes, there are %d of %d with their envelopes", info.Entries, info.Bytes, entries, bytes)
	}
}
