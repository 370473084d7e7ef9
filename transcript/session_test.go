package transcript_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// newSession is a session of a new store.
func newSession(tb testing.TB) *transcript.Session {
	tb.Helper()
	session, err := open(tb, newPath(tb), fast).OpenSession(tb.Context(), "chat", nil)
	if err != nil {
		tb.Fatal(err)
	}
	return session
}

// say appends a user's text, and gives the id of its entry.
func say(tb testing.TB, session *transcript.Session, text string) string {
	tb.Helper()
	receipt, err := session.Append(tb.Context(), transcript.UserText(text), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return receipt.Entry().ID
}

// texts are what the messages of a branch say.
func texts(tb testing.TB, entries iter.Seq2[transcript.Entry, error]) string {
	tb.Helper()
	var all []string
	for entry, err := range entries {
		if err != nil {
			tb.Fatal(err)
		}
		if m, ok := entry.Message(); ok {
			all = append(all, m.Text())
		} else {
			all = append(all, "("+string(entry.Kind())+")")
		}
	}
	return strings.Join(all, " ")
}

func TestTree(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	session := newSession(t)
	branch := func() string { t.Helper(); return texts(t, session.Branch(ctx, nil)) }
	is := func(want string) {
		t.Helper()
		if got := branch(); got != want {
			t.Fatalf("the branch is %q, not %q", got, want)
		}
	}
	is("")
	a := say(t, session, "a")
	b := say(t, session, "b")
	say(t, session, "c")
	is("a b c")
	if err := session.MoveTo(ctx, a, nil); err != nil {
		t.Fatal(err)
	}
	is("a")
	say(t, session, "d")
	d2 := say(t, session, "e")
	is("a d e")
	if _, err := session.AppendAll(ctx, []transcript.Draft{{Payload: transcript.UserText("beside"), Side: true}}, nil); err != nil {
		t.Fatal(err)
	}
	say(t, session, "f")
	is("a d e f")
	if err := session.MoveTo(ctx, b, nil); err != nil {
		t.Fatal(err)
	}
	is("a b")
	if _, err := session.Append(ctx, transcript.UserText("late"), &transcript.AppendOptions{Leaf: d2}); !errors.Is(err, transcript.ErrConflict) {
		t.Fatalf("an append behind a leaf that was left: %v", err)
	}
	if err := session.MoveTo(ctx, transcript.Root, nil); err != nil {
		t.Fatal(err)
	}
	is("")
	say(t, session, "g")
	is("g")
	if got, want := texts(t, session.Entries(ctx)), "a b c (leaf) d e beside f (leaf) (leaf) g"; got != want {
		t.Fatalf("all entries are %q, not %q", got, want)
	}
	if got := texts(t, session.Branch(ctx, &transcript.BranchOptions{To: d2, NewestFirst: true})); got != "e d a" {
		t.Fatalf("the branch backwards is %q", got)
	}
	if _, err := session.Append(ctx, transcript.Reset{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := session.MoveTo(ctx, a, nil); !errors.Is(err, transcript.ErrBeforeReset) {
		t.Fatalf("moving to before a reset: %v", err)
	}
	is("g (reset)")
}

func TestPages(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	var drafts []transcript.Draft
	var want []string
	for i := range 500 {
		text := fmt.Sprint(i)
		if i%100 == 7 {
			text = strings.Repeat("x", 300_000)
		}
		want = append(want, text)
		drafts = append(drafts, transcript.Draft{Payload: transcript.UserText(text)})
	}
	if _, err := session.AppendAll(t.Context(), drafts, nil); err != nil {
		t.Fatal(err)
	}
	if texts(t, session.Branch(t.Context(), nil)) != strings.Join(want, " ") {
		t.Error("the branch is another one")
	}
	for i, j := 0, len(want)-1; i < j; i, j = i+1, j-1 {
		want[i], want[j] = want[j], want[i]
	}
	if texts(t, session.Branch(t.Context(), &transcript.BranchOptions{NewestFirst: true})) != strings.Join(want, " ") {
		t.Error("the branch backwards is another one")
	}
}
