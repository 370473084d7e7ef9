package transcript_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cellmode/cellmode/transcript"
)

// told are what a recorder tells, in order.
type told struct {
	mu    sync.Mutex
	words []string
}

func (t *told) say(word string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.words = append(t.words, word)
}

func (t *told) String() string { return strings.Join(t.words, " ") }

func (t *told) options() *transcript.RecorderOptions {
	return &transcript.RecorderOptions{
		Committed: func(transcript.Receipt) { t.say("committed") },
		Admit:     func(transcript.Receipt) error { t.say("admit"); return nil },
		Persisted: func(transcript.Receipt) { t.say("persisted") },
	}
}

// appended is the receipt of a message that is appended.
func appended(tb testing.TB, session *transcript.Session, m transcript.Message) transcript.Receipt {
	tb.Helper()
	receipt, err := session.Append(tb.Context(), m, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return receipt
}

// again is the receipt of the same message, found.
func again(tb testing.TB, session *transcript.Session, key string) transcript.Receipt {
	tb.Helper()
	receipts, err := session.Keyed(tb.Context(), key)
	if err != nil || len(receipts) != 1 {
		tb.Fatal("no entry has the key", err)
	}
	return receipts[key]
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	var told told
	recorder := transcript.NewRecorder(session, told.options())
	if _, ok := recorder.Admission(); ok || recorder.Pending() {
		t.Error("a new recorder has an admission, or is pending")
	}
	m := transcript.UserText("hi")
	m.IdempotencyKey = "k"
	first := appended(t, session, m)
	found := again(t, session, "k")
	for i, step := range []struct {
		receipt transcript.Receipt
		want    string
	}{
		{found, "admit persisted"}, // without a word of a commit
		{first, "admit persisted committed"},
		{first, "admit persisted committed"},
		{appended(t, session, transcript.UserText("more")), "admit persisted committed"},
	} {
		if err := recorder.MarkPersisted(t.Context(), step.receipt); err != nil {
			t.Fatal(err)
		}
		if told.String() != step.want {
			t.Errorf("step %d: told is %q, not %q", i, &told, step.want)
		}
	}
	if admission, ok := recorder.Admission(); !ok || admission.Appended() || admission.Anchor() != found.Anchor() {
		t.Error("the admission is not the first receipt")
	}

	told.words = nil
	recorder = transcript.NewRecorder(session, told.options())
	if err := recorder.MarkPersisted(t.Context(), first); err != nil || told.String() != "committed admit persisted" {
		t.Errorf("told is %q (%v)", &told, err)
	}
	if err := transcript.NewRecorder(session, nil).MarkPersisted(t.Context(), first); err != nil {
		t.Error(err)
	}
}

// TestRecorderSuppresses has messages that are not the user's original input.
func TestRecorderSuppresses(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	for text, commit := range map[string]bool{
		`{"role":"user","content":"a"}`:                                             true,
		`{"role":"user","content":"a","display":true}`:                              true,
		`{"role":"user","content":"a","display":false}`:                             false,
		`{"role":"user","content":"a","excludeFromContext":true}`:                   false,
		`{"role":"user","content":"a","provenance":{"kind":"external_user"}}`:       true,
		`{"role":"user","content":"a","provenance":{"kind":"inter_session"}}`:       false,
		`{"role":"user","content":"a","provenance":{"kind":"internal_system"}}`:     false,
		`{"role":"user","content":"a","provenance":{"kind":"x"}}`:                   false,
		`{"role":"user","content":"a","provenance":null}`:                           true,
		`{"role":"user","content":"a","__openclaw":{"lateMedia":true}}`:             false,
		`{"role":"user","content":"a","__openclaw":{"lateMedia":false}}`:            true,
		`{"role":"user","content":"a","__openclaw":{"beforeAgentRunBlocked":{}}}`:   false,
		`{"role":"user","content":"a","__openclaw":{"beforeAgentRunBlocked":null}}`: false,
	} {
		var told told
		recorder := transcript.NewRecorder(session, told.options())
		if err := recorder.MarkPersisted(t.Context(), appended(t, session, message(t, text))); err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimPrefix("committed admit persisted", map[bool]string{false: "committed "}[commit]); told.String() != want {
			t.Errorf("%s: told is %q, not %q", text, &told, want)
		}
		// What was suppressed has not been told: the original input may still come.
		if err := recorder.MarkPersisted(t.Context(), appended(t, session, transcript.UserText("b"))); err != nil {
			t.Fatal(err)
		}
		if strings.Count(told.String(), "committed") != 1 {
			t.Errorf("%s: then told is %q", text, &told)
		}
	}
	var told told
	recorder := transcript.NewRecorder(session, told.options())
	recorder.Block()
	if err := recorder.MarkPersisted(t.Context(), appended(t, session, transcript.UserText("a"))); err != nil || told.String() != "admit persisted" {
		t.Errorf("a recorder that is blocked has told %q (%v)", &told, err)
	}
}

// TestRecorderForgery gives receipts that prove nothing.
func TestRecorderForgery(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	real := appended(t, session, transcript.UserText("a"))
	neighbour, err := open(t, newPath(t), fast).OpenSession(t.Context(), "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	store := open(t, newPath(t), fast)
	var two [2]*transcript.Session
	for i, key := range []string{"chat", "other"} {
		if two[i], err = store.OpenSession(t.Context(), key, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name    string
		log     *transcript.Session
		receipt transcript.Receipt
		want    error
	}{
		{"zero", session, transcript.Receipt{}, transcript.ErrNotIssued},
		{"forged", session, transcript.NewIssuer().Receipt("chat", session.ID(), real.Entry(), true), transcript.ErrNotIssued},
		{"of nobody", session, (*transcript.Issuer)(nil).Receipt("chat", session.ID(), real.Entry(), true), transcript.ErrNotIssued},
		{"of another store", neighbour, real, transcript.ErrNotIssued},
		{"of another session", two[0], appended(t, two[1], transcript.UserText("a")), transcript.ErrNotIssued},
		{"of the assistant", session, appended(t, session, transcript.AssistantText("a")), transcript.ErrInvalidEntry},
	} {
		var told told
		recorder := transcript.NewRecorder(test.log, told.options())
		if err := recorder.MarkPersisted(t.Context(), test.receipt); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
		if _, ok := recorder.Admission(); ok || told.String() != "" || recorder.Pending() {
			t.Errorf("%s: the receipt counts, and told is %q", test.name, &told)
		}
	}
}

// TestRecorderSuccessor has receipts from before the session got another id, and of a deleted session of the same key.
func TestRecorderSuccessor(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := open(t, newPath(t), fast)
	session := openSession(t, store, "chat")
	m := transcript.UserText("a")
	m.IdempotencyKey = "k"
	first := appended(t, session, m)
	mark := func(what string, log transcript.Log, receipt transcript.Receipt, want error) {
		t.Helper()
		var told told
		recorder := transcript.NewRecorder(log, told.options())
		words := "committed admit persisted"
		if want != nil {
			words = ""
		}
		if err := recorder.MarkPersisted(ctx, receipt); !errors.Is(err, want) || told.String() != words {
			t.Errorf("%s: %v, and told is %q", what, err, &told)
		}
		if _, ok := recorder.Admission(); ok != (want == nil) || recorder.Pending() {
			t.Errorf("%s: it has an admission: %v", what, ok)
		}
	}
	rotated, err := session.Rotate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	again, err := rotated.Rotate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mark("of the id before", rotated, first, transcript.ErrSessionGone) // that is gone, too
	mark("of the id before the last", again, first, nil)
	mark("of the id that the log had, too", session, first, nil)
	mark("of a newer id", session, appended(t, again, transcript.UserText("b")), transcript.ErrSessionGone)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := transcript.NewRecorder(again, nil).MarkPersisted(canceled, first); !errors.Is(err, context.Canceled) {
		t.Errorf("without a context: %v", err)
	}

	if _, err := store.DeleteSessions(ctx, []string{"chat"}, nil); err != nil {
		t.Fatal(err)
	}
	successor := openSession(t, store, "chat")
	mark("of a deleted session", successor, first, transcript.ErrNotIssued)
	second := appended(t, successor, m)
	mark("of a deleted session whose key is used again", successor, first, transcript.ErrNotIssued)
	mark("of the successor", successor, second, nil)
	mark("of the successor, for who knew the deleted one", session, second, transcript.ErrSessionGone)

	// Another session may have an entry of this id.
	if _, err := store.DeleteSessions(ctx, []string{"chat"}, nil); err != nil {
		t.Fatal(err)
	}
	line := `{"type":"message","id":"` + second.Entry().ID + `","parentId":null,"timestamp":"2024-01-02T03:04:05.678Z","message":{"role":"user","content":"a"}}`
	imported, _, err := store.Import(ctx, "chat", strings.NewReader(line+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	mark("of an entry of the same id", imported, second, transcript.ErrNotIssued)
}

// TestRecorderObservers has functions that fail: they are not called again, and the others are.
func TestRecorderObservers(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	receipt := appended(t, session, transcript.UserText("a"))
	var told told
	var log bytes.Buffer
	boom := errors.New("boom")
	recorder := transcript.NewRecorder(session, &transcript.RecorderOptions{
		Committed: func(transcript.Receipt) { told.say("committed"); panic("first") },
		Admit:     func(transcript.Receipt) error { told.say("admit"); return boom },
		Persisted: func(transcript.Receipt) { told.say("persisted"); panic("second") },
		Logger:    slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err := recorder.MarkPersisted(t.Context(), receipt); !errors.Is(err, boom) {
		t.Errorf("the error of Admit is %v", err)
	}
	if err := recorder.MarkPersisted(t.Context(), receipt); err != nil {
		t.Error(err)
	}
	if _, ok := recorder.Admission(); !ok || told.String() != "committed admit persisted" || recorder.Pending() {
		t.Errorf("told is %q, the admission is there: %v, pending: %v", &told, ok, recorder.Pending())
	}
	for _, want := range []string{"Committed has panicked: first", "Persisted has panicked: second"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, &log)
		}
	}
	recorder = transcript.NewRecorder(session, &transcript.RecorderOptions{Admit: func(transcript.Receipt) error { panic("third") }})
	if err := recorder.MarkPersisted(t.Context(), receipt); err == nil || !strings.Contains(err.Error(), "Admit has panicked: third") {
		t.Errorf("an Admit that panics gives %v", err)
	}
}

// TestRecorderPending waits for writes, and for those who are told.
func TestRecorderPending(t *testing.T) {
	t.Parallel()
	issuer := transcript.NewIssuer()
	log := fakeLog{issuer: issuer}
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		recorder := transcript.NewRecorder(log, &transcript.RecorderOptions{
			Admit: func(transcript.Receipt) error { <-release; return nil },
		})
		if err := recorder.Wait(t.Context()); err != nil {
			t.Errorf("a recorder that is not pending waits: %v", err)
		}
		end, other := recorder.BeginWrite(), recorder.BeginWrite()
		waiting := make(chan error, 1)
		go func() { waiting <- recorder.Wait(t.Context()) }()
		go recorder.MarkPersisted(t.Context(), issuer.Receipt("chat", "1", transcript.Entry{Payload: transcript.UserText("a")}, true))
		end()
		end()
		synctest.Wait()
		other()
		synctest.Wait()
		select {
		case <-waiting:
			t.Error("the wait is over while the admission is written")
		default:
		}
		if !recorder.Pending() {
			t.Error("a recorder that writes its admission is not pending")
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := recorder.Wait(canceled); !errors.Is(err, context.Canceled) {
			t.Errorf("a wait without a context ends with %v", err)
		}
		close(release)
		if err := <-waiting; err != nil || recorder.Pending() {
			t.Errorf("in the end the wait gives %v, pending %v", err, recorder.Pending())
		}
		recorder.BeginWrite()()
		if recorder.Pending() {
			t.Error("pending after the last write")
		}
	})
}

// fakeLog knows receipts, and nothing else.
type fakeLog struct {
	transcript.Log
	issuer *transcript.Issuer
}

func (l fakeLog) Key() string                      { return "chat" }
func (l fakeLog) ID() string                       { return "1" }
func (l fakeLog) Issued(r transcript.Receipt) bool { return l.issuer.Issued(r) }

// TestRecorderAtOnce marks from many goroutines: everybody is told once, and told when the wait is over.
func TestRecorderAtOnce(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	receipt := appended(t, session, transcript.UserText("a"))
	for range 50 {
		var told told
		recorder := transcript.NewRecorder(session, told.options())
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if err := recorder.MarkPersisted(t.Context(), receipt); err != nil {
					t.Error(err)
				}
				if err := recorder.Wait(t.Context()); err != nil {
					t.Error(err)
				}
				told.mu.Lock()
				defer told.mu.Unlock()
				if len(told.words) != 3 {
					t.Errorf("after the wait told is %q", &told)
				}
			})
		}
		group.Wait()
		if told.String() != "committed admit persisted" {
			t.Fatalf("told is %q", &told)
		}
	}
}
