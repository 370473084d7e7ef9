package transcript_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

func info(tb testing.TB, session *transcript.Session) transcript.Info {
	tb.Helper()
	info, err := session.Info(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

func TestOpenSession(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := newPath(t)
	one, other := open(t, path, fast), open(t, path, fast)
	if _, err := one.FindSession(ctx, "chat"); !errors.Is(err, transcript.ErrUnknownSession) {
		t.Errorf("a session that is not there: %v", err)
	}
	before := time.Now().Truncate(time.Millisecond)
	first, err := one.OpenSession(ctx, "chat", &transcript.SessionOptions{HarnessID: "native", WorkingDir: "/srv", ParentSession: "older"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := other.OpenSession(ctx, "chat", &transcript.SessionOptions{HarnessID: "another"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := other.FindSession(ctx, "chat")
	if err != nil {
		t.Fatal(err)
	}
	if len(first.ID()) != 36 || first.ID()[14] != '7' || second.ID() != first.ID() || found.ID() != first.ID() || found.Key() != "chat" {
		t.Errorf("the ids are %q, %q and %q", first.ID(), second.ID(), found.ID())
	}
	got := info(t, second)
	if got.HarnessID != "native" || got.WorkingDir != "/srv" || got.ParentSession != "older" || got.Key != "chat" || got.ID != first.ID() ||
		got.Entries != 0 || got.Created.Before(before) || got.Created != got.Started || got.Created != got.Updated || !got.Interacted.IsZero() {
		t.Errorf("the new session is %+v", got)
	}
	long := strings.Repeat("x", transcript.MaxKeyBytes)
	if _, err := one.OpenSession(ctx, long, nil); err != nil {
		t.Errorf("the longest key: %v", err)
	}
	for name, open := range map[string]func() error{
		"empty":      func() error { _, err := one.OpenSession(ctx, "", nil); return err },
		"too long":   func() error { _, err := one.OpenSession(ctx, long+"x", nil); return err },
		"not UTF-8":  func() error { _, err := one.OpenSession(ctx, "\xff", nil); return err },
		"find empty": func() error { _, err := one.FindSession(ctx, ""); return err },
		"odd harness": func() error {
			_, err := one.OpenSession(ctx, "a", &transcript.SessionOptions{HarnessID: "\xff"})
			return err
		},
		"long harness": func() error {
			_, err := one.OpenSession(ctx, "a", &transcript.SessionOptions{WorkingDir: long + "x"})
			return err
		},
	} {
		if err := open(); !errors.Is(err, transcript.ErrInvalidEntry) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	session := newSession(t)
	at := time.Date(2030, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	appendAt := func(payload transcript.Payload, later time.Duration) {
		t.Helper()
		if _, err := session.Append(ctx, payload, &transcript.AppendOptions{Time: at.Add(later)}); err != nil {
			t.Fatal(err)
		}
	}
	appendAt(transcript.UserText("hi"), 0)
	appendAt(transcript.AssistantText("hello"), time.Hour)
	appendAt(transcript.SessionInfo{Name: "First"}, 2*time.Hour)
	appendAt(transcript.SessionInfo{Name: "Greeting"}, time.Hour) // an entry's time may be before that of another
	got := info(t, session)
	ms := at.Truncate(time.Millisecond)
	if got.Name != "Greeting" || got.Entries != 4 || !got.Updated.Equal(ms.Add(2*time.Hour)) || !got.Interacted.Equal(ms) {
		t.Errorf("the session is %+v", got)
	}
	var bytes int64
	for entry, err := range session.Entries(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]json.RawMessage
		text, err := json.Marshal(entry)
		if err == nil {
			err = json.Unmarshal(text, &members)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"type", "id", "parentId", "timestamp"} {
			if members[name] == nil {
				t.Errorf("%s lacks %s", text, name)
			}
			delete(members, name)
		}
		bytes++
		for name, value := range members {
			bytes += int64(len(name) + len(value) + len(`"":,`))
		}
	}
	if got.Bytes != bytes {
		t.Errorf("the session has %d bytes, want %d", got.Bytes, bytes)
	}
	appendAt(transcript.SessionInfo{}, 0)
	if got := info(t, session); got.Name != "" {
		t.Errorf("the name is %q", got.Name)
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := open(t, newPath(t), fast)
	var want []string
	for i := range 150 {
		session, err := store.OpenSession(ctx, fmt.Sprint(i), nil)
		if err != nil {
			t.Fatal(err)
		}
		// Many at the same time.
		if _, err := session.Append(ctx, transcript.UserText("hi"), &transcript.AppendOptions{Time: time.Unix(int64(1<<33+i/100), 0)}); err != nil {
			t.Fatal(err)
		}
		want = append(want, session.Key())
	}
	slices.Reverse(want)
	var got []string
	for info, err := range store.Sessions(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if info.Entries != 1 {
			t.Errorf("%+v", info)
		}
		got = append(got, info.Key)
		if _, err := store.FindSession(ctx, info.Key); err != nil { // the loop may use the store
			t.Error(err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the sessions are %q", got)
	}
	for range store.Sessions(ctx) {
		break
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range store.Sessions(ctx) {
		if n++; !errors.Is(err, transcript.ErrClosed) {
			t.Errorf("of a closed store: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d rounds of a closed store", n)
	}
}
