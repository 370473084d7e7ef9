package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// Who is told learns of all that was appended, and of nothing else, in the order in which the session has it.
func TestOnAppend(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 25
	var told []string
	var store *transcript.Store
	store = open(t, newPath(t), &transcript.Options{
		Synchronous: transcript.SynchronousNormal,
		OnAppend: func(a transcript.Appended) { // without a lock: the calls come one after another
			if a.SessionKey != "chat" || a.SessionID == "" {
				t.Errorf("told of the session %q, %q", a.SessionKey, a.SessionID)
			}
			for _, entry := range a.Entries {
				told = append(told, entry.ID)
				m, _ := entry.Message()
				if strings.HasPrefix(m.Text(), "0-") { // who is told may append
					session, err := store.FindSession(t.Context(), a.SessionKey)
					if err == nil {
						_, err = session.Append(t.Context(), transcript.Custom{Type: "echo"}, nil)
					}
					if err != nil {
						t.Error(err)
					}
				}
			}
		},
	})
	session, err := store.OpenSession(t.Context(), "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	keyed := transcript.UserText("once")
	keyed.IdempotencyKey = "k"
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				_, err := session.AppendAll(t.Context(), []transcript.Draft{{Payload: transcript.UserText(fmt.Sprint(w, "-", i))}, {Payload: keyed}}, nil)
				if err != nil {
					t.Error(err)
				}
				if _, err := session.Append(t.Context(), transcript.Label{TargetID: "none"}, nil); !errors.Is(err, transcript.ErrUnknownEntry) {
					t.Errorf("a label of nothing: %v", err)
				}
			}
		})
	}
	group.Wait()
	// Close waits until all is told, but lets nobody append any more: so what is told to append goes first.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if info, err := session.Info(t.Context()); err != nil {
			t.Fatal(err)
		} else if info.Entries == writers*each+1+each || time.Now().After(deadline) {
			break
		}
	}
	var want []string
	for entry, err := range session.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, entry.ID)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if len(want) != writers*each+1+each {
		t.Errorf("%d entries", len(want))
	}
	if !slices.Equal(told, want) {
		t.Errorf("told of %d entries, in another order or number than the %d that are there", len(told), len(want))
	}
}

// What goes wrong in who is told is nobody else's trouble.
func TestOnAppendFails(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(){"panic": func() { panic("oops") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			told := 0
			store := open(t, newPath(t), &transcript.Options{
				OnAppend: func(transcript.Appended) { told++; fail() },
				Logger:   slog.New(slog.NewTextHandler(&log, nil)),
			})
			session, err := store.OpenSession(t.Context(), "chat", nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"a", "b", "c"} {
				say(t, session, text)
			}
			if got := texts(t, session.Branch(t.Context(), nil)); got != "a b c" {
				t.Errorf("the branch is %q", got)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(log.String(), "OnAppend has"); told != 3 || n != 3 {
				t.Errorf("told %d times; the log has %d lines: %s", told, n, log.String())
			}
		})
	}
}

// Nobody who appends waits for who is told, and Close waits until all is told.
func TestOnAppendIsSlow(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	told := 0
	store := open(t, newPath(t), &transcript.Options{OnAppend: func(transcript.Appended) { <-goOn; told++ }})
	session, err := store.OpenSession(t.Context(), "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		say(t, session, "a")
	}
	closed := make(chan error)
	go func() { closed <- store.Close() }()
	select {
	case <-closed:
		t.Error("Close has not waited")
	case <-time.After(50 * time.Millisecond):
	}
	close(goOn)
	if err := <-closed; err != nil || told != 100 {
		t.Errorf("Close returns %v when %d entries were told", err, told)
	}
}
