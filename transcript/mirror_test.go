package transcript_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

const scope = "native:thread-1"

// mirror mirrors a batch, and gives the states of its messages.
func mirror(tb testing.TB, log transcript.Log, opts *transcript.MirrorOptions, batch ...transcript.MirrorMessage) ([]transcript.MirrorResult, string) {
	tb.Helper()
	if opts == nil {
		opts = &transcript.MirrorOptions{Scope: scope}
	}
	results, err := transcript.Mirror(tb.Context(), log, batch, opts)
	if err != nil {
		tb.Fatal(err)
	}
	states := make([]string, len(results))
	for i, result := range results {
		states[i] = string(result.State)
		if result.State != transcript.MirrorSkipped && (!log.Issued(result.Receipt) || result.Receipt.Appended() != (result.State == "appended")) {
			tb.Errorf("message %d is %s, and its receipt says otherwise", i, result.State)
		}
	}
	return results, strings.Join(states, " ")
}

// turn are a user's message and the answer, as a runtime has them.
func turn(id, prompt, answer string) []transcript.MirrorMessage {
	return []transcript.MirrorMessage{
		{Identity: transcript.PromptIdentity(id), Message: transcript.UserText(prompt)},
		{Identity: id + ":assistant", Message: transcript.AssistantText(answer)},
	}
}

// TestC069 mirrors with a redaction that matches the mirror's own keys.
func TestC069(t *testing.T) {
	t.Parallel()
	store := open(t, newPath(t), &transcript.Options{
		Synchronous: transcript.SynchronousNormal,
		Redact:      func(text string) string { return strings.NewReplacer("native", "***", "turn-1", "***").Replace(text) },
	})
	session, err := store.OpenSession(t.Context(), "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	batch := turn("turn-1", "the native one of turn-1", "native is it")
	if _, got := mirror(t, session, nil, batch[0]); got != "appended" {
		t.Fatalf("the prompt is %s", got)
	}
	for i, want := range []string{"present appended", "present present"} {
		results, got := mirror(t, session, nil, batch...)
		if got != want {
			t.Fatalf("time %d: the messages are %s, not %s", i, got, want)
		}
		for j, want := range []string{"native:thread-1:turn-1:prompt", "native:thread-1:turn-1:assistant"} {
			kept, _ := results[j].Receipt.Entry().Message()
			if kept.IdempotencyKey != want || results[j].Key != want {
				t.Errorf("the key of message %d is %q, not %q", j, kept.IdempotencyKey, want)
			}
			if results[j].Stale {
				t.Errorf("message %d is said to be stale", j)
			}
		}
	}
	if got := texts(t, session.Entries(t.Context())); got != "the *** one of *** *** is it" {
		t.Errorf("the session has %q", got)
	}
}

// TestC070 mirrors a turn again with an item inserted, and a turn of the same texts.
func TestC070(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	first := turn("1", "hi", "ok")
	if _, got := mirror(t, session, nil, first...); got != "appended appended" {
		t.Fatalf("turn 1 is %s", got)
	}
	reasoning := transcript.MirrorMessage{Identity: "1:reasoning:1", Message: message(t,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}`)}
	if _, got := mirror(t, session, nil, slices.Insert(slices.Clone(first), 0, reasoning)...); got != "appended present present" {
		t.Fatalf("turn 1 with a reasoning entry is %s", got)
	}
	if _, got := mirror(t, session, nil, turn("2", "hi", "ok")...); got != "appended appended" {
		t.Fatalf("turn 2 is %s", got)
	}
	if got := texts(t, session.Branch(t.Context(), nil)); got != "hi ok  hi ok" {
		t.Errorf("the branch is %q", got)
	}
	last := transcript.Root
	for entry, err := range session.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.ParentID != last {
			t.Errorf("entry %s follows %q, not %q", entry.ID, entry.ParentID, last)
		}
		last = entry.ID
	}
	if leaf, err := session.Leaf(t.Context()); err != nil || leaf != last {
		t.Errorf("the leaf is %s, not the last answer (%v)", leaf, err)
	}
}

// TestC071 mirrors what the host has admitted without a key, and delivers an answer that is there.
func TestC071(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	commits := 0
	for _, id := range []string{"1", "2"} {
		host := say(t, session, "hi")
		batch := turn(id, "hi", "ok")
		batch[0].Claim = true
		delivery := transcript.MirrorMessage{Identity: id + ":delivery", Message: transcript.AssistantText("ok"), Claim: true}
		recorder := transcript.NewRecorder(session, &transcript.RecorderOptions{Committed: func(transcript.Receipt) { commits++ }})
		for i, want := range []string{"present appended", "present present"} {
			results, got := mirror(t, session, nil, batch...)
			if got != want || results[0].Receipt.Entry().ID != host {
				t.Fatalf("turn %s, time %d: the messages are %s, not %s; or the claimed one is not the host's", id, i, got, want)
			}
			if err := recorder.MarkPersisted(t.Context(), results[0].Receipt); err != nil {
				t.Fatal(err)
			}
			delivered, got := mirror(t, session, nil, delivery)
			if got != "present" || delivered[0].Receipt.Entry().ID != results[1].Receipt.Entry().ID || delivered[0].Stale || !delivered[0].Owned {
				t.Fatalf("turn %s, time %d: the delivery is %s, or of another entry, or stale, or not owned", id, i, got)
			}
		}
	}
	if commits != 0 {
		t.Errorf("%d commits are told of messages that were there", commits)
	}
	if got := texts(t, session.Branch(t.Context(), nil)); got != "hi ok hi ok" {
		t.Errorf("the branch is %q", got)
	}

	// The mentions of a text that a hook has changed.
	mentioned := message(t, `{"role":"user","content":"hi @ada","__openclaw":{"humanMentions":[1],"intent":"ask"}}`)
	results, _ := mirror(t, session, &transcript.MirrorOptions{Scope: scope,
		BeforeWrite: func(_ context.Context, m transcript.Message) (transcript.Message, bool, error) {
			m.Content = json.RawMessage(`"hi @bob"`)
			return m, true, nil
		}}, transcript.MirrorMessage{Identity: "3:prompt", Message: mentioned})
	kept, _ := results[0].Receipt.Entry().Message()
	if kept.Meta["humanMentions"] != nil || string(kept.Meta["intent"]) != `"ask"` || kept.Text() != "hi @bob" {
		t.Errorf("a hook has changed the text, and the message is %s", messageText(t, kept))
	}
}

// TestMirrorHooks lets a hook forge all that it can.
func TestMirrorHooks(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	prepared := message(t, `{"role":"user","content":"hi","display":false,"provenance":{"kind":"inter_session"},"idempotencyKey":"user-key",
		"__openclaw":{"senderId":"7","senderIdentity":{"id":"7"},"humanMentions":[1]}}`)
	answer := message(t, `{"role":"assistant","content":"ok","__openclaw":{"intent":"mine"}}`)
	batch := []transcript.MirrorMessage{
		{Identity: "1:prompt", Message: prepared},
		{Identity: transcript.ToolIdentity("1", "call"), Message: message(t, `{"role":"toolResult","toolCallId":"c","toolName":"get",
			"content":"x","__openclaw":{"resultContentSource":"network"}}`)},
		{Identity: "1:assistant", Message: answer},
		{Identity: "1:dropped", Message: transcript.AssistantText("drop")},
		{Identity: "1:role", Message: transcript.AssistantText("role")},
	}
	asked := 0
	opts := &transcript.MirrorOptions{Scope: scope, RunID: "run-1",
		BeforeWrite: func(_ context.Context, m transcript.Message) (transcript.Message, bool, error) {
			asked++
			text := m.Text()
			copy(m.Content, `"XX"`) // in place
			for name := range m.Meta {
				copy(m.Meta[name], "{{{{")
			}
			forged := transcript.Message{Role: m.Role, Content: json.RawMessage(`"` + text + `"`), IdempotencyKey: "forged"}
			forged.Fields = map[string]json.RawMessage{"__openclaw": json.RawMessage(`{"humanMentions":[2],"senderIsOwner":true,"intent":"forged",
				"steerTargetRunId":"forged","senderId":"7","senderIdentity":{"id":"8"},"mirrorIdentity":"forged","runId":"forged",
				"mirrorSourceFingerprint":"forged","hook":"mine"}`)}
			if text == "role" {
				forged.Role = transcript.RoleUser
			}
			return forged, text != "drop", nil
		}}
	results, got := mirror(t, session, opts, batch...)
	if got != "appended appended appended skipped skipped" {
		t.Fatalf("the messages are %s", got)
	}
	for i, want := range []string{
		`{"role":"user","content":"hi","idempotencyKey":"user-key","display":false,"provenance":{"kind":"inter_session"},` +
			`"__openclaw":{"hook":"mine","humanMentions":[1],"mirrorIdentity":"1:prompt","mirrorSourceFingerprint":"*","runId":"run-1","senderId":"7"}}`,
		`{"role":"toolResult","content":"x","isError":false,"idempotencyKey":"native:thread-1:1:tool:call",` +
			`"__openclaw":{"hook":"mine","mirrorIdentity":"1:tool:call","mirrorSourceFingerprint":"*","resultContentSource":"network",` +
			`"runId":"run-1","senderId":"7"}}`,
		`{"role":"assistant","content":"ok","idempotencyKey":"native:thread-1:1:assistant",` +
			`"__openclaw":{"hook":"mine","intent":"mine","mirrorIdentity":"1:assistant","mirrorSourceFingerprint":"*","runId":"run-1",` +
			`"senderId":"7","turnTainted":true}}`,
	} {
		kept, _ := results[i].Receipt.Entry().Message()
		print := kept.Meta["mirrorSourceFingerprint"]
		if len(print) != 34 {
			t.Errorf("the fingerprint of message %d is %s", i, print)
		}
		if got := strings.Replace(messageText(t, kept), string(print), `"*"`, 1); got != want {
			t.Errorf("message %d:\ngot  %s\nwant %s", i, got, want)
		}
	}
	for i, want := range []bool{false, false, true, true, true} {
		if results[i].Owned != want {
			t.Errorf("message %d: owned is %v", i, results[i].Owned)
		}
	}
	if string(prepared.Meta["humanMentions"]) != "[1]" || string(answer.Content) != `"ok"` {
		t.Error("a hook has changed the caller's message")
	}
	// Hooks do not run for what is there, but for what they have dropped.
	asked = 0
	if _, got := mirror(t, session, opts, batch...); got != "present present present skipped skipped" || asked != 2 {
		t.Errorf("again the messages are %s, and the hook was asked %d times", got, asked)
	}
}

// TestMirrorPrepared mirrors a prompt as the runtime has it, with the host's own beside it.
func TestMirrorPrepared(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	runtime := message(t, `{"role":"user","content":"hi","idempotencyKey":"theirs","__openclaw":{"senderIsOwner":true,"intent":"x","replyToId":"x"}}`)
	prepared := message(t, `{"role":"user","content":"hi","idempotencyKey":"ours","__openclaw":{"humanMentions":[1],"replyToId":"y"}}`)
	for _, test := range []struct {
		admission bool
		key, want string
	}{
		{false, "1", `"x"`},
		{true, "2", `"y"`},
	} {
		prepared.IdempotencyKey = test.key
		results, _ := mirror(t, session, nil,
			transcript.MirrorMessage{Identity: "p", Message: runtime, Prepared: prepared, Admission: test.admission})
		kept, _ := results[0].Receipt.Entry().Message()
		if kept.IdempotencyKey != test.key || kept.Meta["senderIsOwner"] != nil || kept.Meta["intent"] != nil ||
			string(kept.Meta["humanMentions"]) != "[1]" || string(kept.Meta["replyToId"]) != test.want {
			t.Errorf("admission %v: the message is %s", test.admission, messageText(t, kept))
		}
	}
}

// TestMirrorTaint follows what comes from the network to the end of the turn.
func TestMirrorTaint(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	var batch []transcript.MirrorMessage
	for i, text := range []string{
		`{"role":"assistant","content":"before"}`,
		`{"role":"toolResult","content":"x","__openclaw":{"resultContentSource":"network"}}`,
		`{"role":"assistant","content":"after"}`,
		`{"role":"toolResult","content":"y"}`,
		`{"role":"assistant","content":"later"}`,
		`{"role":"user","content":"hi"}`,
		`{"role":"assistant","content":"clean"}`,
		`{"role":"assistant","content":"tainted","__openclaw":{"turnTainted":true}}`,
		`{"role":"assistant","content":"then"}`,
	} {
		batch = append(batch, transcript.MirrorMessage{Identity: fmt.Sprint(i), Message: message(t, text)})
	}
	results, _ := mirror(t, session, nil, batch...)
	var tainted []string
	for _, result := range results {
		if kept, _ := result.Receipt.Entry().Message(); kept.Meta["turnTainted"] != nil {
			tainted = append(tainted, kept.Text())
		}
	}
	if got := strings.Join(tainted, " "); got != "after later tainted then" {
		t.Errorf("tainted are: %s", got)
	}
}

// TestMirrorTwice has a message in one batch twice.
func TestMirrorTwice(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	asked := 0
	opts := &transcript.MirrorOptions{Scope: scope,
		BeforeWrite: func(_ context.Context, m transcript.Message) (transcript.Message, bool, error) {
			asked++
			return m, m.Text() != "drop", nil
		}}
	drop := transcript.MirrorMessage{Identity: "drop", Message: transcript.AssistantText("drop")}
	batch := append(turn("1", "hi", "ok"), turn("1", "hi", "another")...)
	results, got := mirror(t, session, opts, append(batch, drop, drop)...)
	if got != "appended appended present present skipped skipped" || asked != 3 {
		t.Errorf("the messages are %s, and the hook was asked %d times", got, asked)
	}
	if results[2].Stale || !results[3].Stale {
		t.Error("an identity is used again for other content, and this is not told, or told of the wrong one")
	}
}

// TestMirrorStale uses an identity again.
func TestMirrorStale(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	mirror(t, session, nil, transcript.MirrorMessage{Identity: "1", Message: message(t, `{"role":"user","content":[{"type":"text","text":"é"}]}`)})
	for content, want := range map[string]bool{
		`[{"type":"text","text":"e"}]`:         true,
		`[ {"text":"\u00e9", "type":"text"} ]`: false,
	} {
		m := transcript.Message{Role: "user", Content: json.RawMessage(content)}
		if results, got := mirror(t, session, nil, transcript.MirrorMessage{Identity: "1", Message: m}); got != "present" || results[0].Stale != want {
			t.Errorf("%s is %s, stale %v", content, got, results[0].Stale)
		}
	}
	// Neither size nor digits get lost.
	long := strings.Repeat("x", 2<<20)
	for i, test := range []struct {
		was, is string
		want    bool
	}{
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, true},
		{`{"n":0.12345678901234567891}`, `{"n":0.12345678901234567892}`, true},
		{`{"n":1e400}`, `{"n":1e401}`, true},
		{`{"n":9007199254740993,"m":1}`, `{"m":1,"n":9007199254740993}`, false},
		{`{"n":1,"m":"` + long + `"}`, `{"m":"` + long + `", "n":1}`, false},
		{`{"n":1,"m":"` + long + `"}`, `{"m":"` + long + `", "n":2}`, true},
	} {
		message := func(arguments string) transcript.MirrorMessage {
			call := transcript.ToolCall{ID: "c", Name: "t", Arguments: json.RawMessage(arguments)}
			return transcript.MirrorMessage{Identity: fmt.Sprint("call ", i), Message: transcript.AssistantCalls("", call)}
		}
		mirror(t, session, nil, message(test.was))
		if results, got := mirror(t, session, nil, message(test.is)); got != "present" || results[0].Stale != test.want {
			t.Errorf("%.60s is %s, stale %v", test.is, got, results[0].Stale)
		}
	}
	// Who has admitted the message by a key himself has left no fingerprint.
	admitted := transcript.UserText("hi")
	admitted.IdempotencyKey = "k"
	if _, err := session.Append(t.Context(), admitted, nil); err != nil {
		t.Fatal(err)
	}
	admitted.Content = json.RawMessage(`"ho"`)
	if results, got := mirror(t, session, nil, transcript.MirrorMessage{Message: admitted}); got != "present" || results[0].Stale {
		t.Errorf("a message that was admitted by its key is %s, stale %v", got, results[0].Stale)
	}
}

func TestMirrorErrors(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	ctx := t.Context()
	ok := turn("1", "hi", "ok")
	boom := errors.New("boom")
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	for _, test := range []struct {
		name  string
		ctx   context.Context
		opts  *transcript.MirrorOptions
		batch []transcript.MirrorMessage
		want  error
	}{
		{"no scope", ctx, nil, ok, transcript.ErrInvalidEntry},
		{"no identity", ctx, &transcript.MirrorOptions{Scope: scope}, []transcript.MirrorMessage{{Message: transcript.UserText("")}}, transcript.ErrInvalidEntry},
		{"the key of an assistant", ctx, nil, []transcript.MirrorMessage{{Message: message(t, `{"role":"assistant","idempotencyKey":"k"}`)}}, transcript.ErrInvalidEntry},
		{"no role", ctx, &transcript.MirrorOptions{Scope: scope}, []transcript.MirrorMessage{{Identity: "1"}}, transcript.ErrInvalidEntry},
		{"a long key", ctx, &transcript.MirrorOptions{Scope: strings.Repeat("x", transcript.MaxKeyBytes)}, ok, transcript.ErrInvalidEntry},
		{"an identity that is not UTF-8", ctx, &transcript.MirrorOptions{Scope: scope}, turn("\xff", "", ""), transcript.ErrInvalidEntry},
		{"too many", ctx, &transcript.MirrorOptions{Scope: scope}, make([]transcript.MirrorMessage, transcript.MaxMirrorBatch+1), transcript.ErrBatchTooLarge},
		{"content that is not JSON", ctx, &transcript.MirrorOptions{Scope: scope},
			append(turn("1", "hi", "ok"), transcript.MirrorMessage{Identity: "x", Message: transcript.Message{Role: "user", Content: json.RawMessage("{")}}),
			transcript.ErrInvalidEntry},
		{"the hook fails", ctx, &transcript.MirrorOptions{Scope: scope,
			BeforeWrite: func(_ context.Context, m transcript.Message) (transcript.Message, bool, error) {
				if m.Role == transcript.RoleUser {
					return m, true, nil
				}
				return m, true, boom
			}}, ok, boom},
		{"the context is done", canceled, &transcript.MirrorOptions{Scope: scope}, ok, context.Canceled},
		{"no authority", ctx, &transcript.MirrorOptions{Scope: scope, Authority: func() error { return boom }}, ok, boom},
	} {
		if results, err := transcript.Mirror(test.ctx, session, test.batch, test.opts); !errors.Is(err, test.want) || results != nil {
			t.Errorf("%s: %v, and %d results", test.name, err, len(results))
		}
	}
	if results, err := transcript.Mirror(ctx, session, nil, nil); err != nil || len(results) != 0 {
		t.Errorf("nothing to mirror: %v", err)
	}
	if got := texts(t, session.Entries(ctx)); got != "" {
		t.Errorf("the session has %q", got)
	}
}

// TestMirrorAuthority ends the authority at each of the moments when it is asked: what is appended is all or nothing, and told.
func TestMirrorAuthority(t *testing.T) {
	t.Parallel()
	revoked := errors.New("revoked")
	for last := 1; ; last++ {
		session := newSession(t)
		asked := 0
		inHook := false
		results, err := transcript.Mirror(t.Context(), session, turn("1", "hi", "ok"), &transcript.MirrorOptions{Scope: scope,
			BeforeWrite: func(_ context.Context, m transcript.Message) (transcript.Message, bool, error) {
				if inHook {
					t.Error("a hook ran without the authority being asked after the one before")
				}
				inHook = true
				return m, true, nil
			},
			Authority: func() error {
				inHook = false
				if asked++; asked > last {
					return revoked
				}
				return nil
			}})
		kept := texts(t, session.Entries(t.Context()))
		if err == nil {
			// At the start, around each hook, before the append, in it, and after it.
			if last != 8 || kept != "hi ok" {
				t.Errorf("with an authority of %d times the session has %q", last, kept)
			}
			return
		}
		if !errors.Is(err, revoked) || (kept == "") != (results == nil) || kept != "" && kept != "hi ok" {
			t.Errorf("with an authority of %d times: %v, the session has %q, and there are %d results", last, err, kept, len(results))
		}
	}
}

// TestMirrorClaims looks for messages where they are not, or are not any more.
func TestMirrorClaims(t *testing.T) {
	t.Parallel()
	claim := func(id string, m transcript.Message) transcript.MirrorMessage {
		return transcript.MirrorMessage{Identity: id, Message: m, Claim: true}
	}
	user, answer := transcript.UserText, transcript.AssistantText
	for _, test := range []struct {
		name  string
		there []transcript.Payload
		claim transcript.Message
		want  transcript.MirrorState
	}{
		{"the prompt", []transcript.Payload{user("hi")}, user("hi"), "present"},
		{"another text", []transcript.Payload{user("hi")}, user("ho"), "appended"},
		{"an earlier turn", []transcript.Payload{user("hi"), answer("ok")}, user("hi"), "appended"},
		{"behind the last prompt", []transcript.Payload{user("hi"), user("ho")}, user("hi"), "appended"},
		{"beyond other entries", []transcript.Payload{user("hi"), transcript.Custom{Type: "x"}}, user("hi"), "present"},
		{"beyond a reset", []transcript.Payload{user("hi"), transcript.Reset{}}, user("hi"), "appended"},
		{"the answer", []transcript.Payload{user("hi"), answer("ok"), transcript.ToolResult("c", "t", "x", false)}, answer("ok"), "present"},
		{"the answer's text", []transcript.Payload{message(t, `{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"ok"}]}`)},
			answer("ok"), "present"},
		{"the answer of an earlier turn", []transcript.Payload{answer("ok"), user("hi")}, answer("ok"), "appended"},
		{"an answer without text", []transcript.Payload{transcript.AssistantCalls("", transcript.ToolCall{ID: "1", Name: "t"})},
			transcript.AssistantCalls("", transcript.ToolCall{ID: "2", Name: "t"}), "appended"},
		{"too far back", append([]transcript.Payload{answer("ok")}, slices.Repeat([]transcript.Payload{transcript.Custom{Type: "x"}}, 1100)...),
			answer("ok"), "appended"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			session := newSession(t)
			var drafts []transcript.Draft
			for _, payload := range test.there {
				drafts = append(drafts, transcript.Draft{Payload: payload})
			}
			if _, err := session.AppendAll(t.Context(), drafts, nil); err != nil {
				t.Fatal(err)
			}
			if results, _ := mirror(t, session, nil, claim("1", test.claim)); results[0].State != test.want {
				t.Errorf("it is %s, not %s", results[0].State, test.want)
			}
			// Each entry is claimed once.
			if results, _ := mirror(t, session, nil, claim("2", test.claim)); test.want == "present" && results[0].State != "appended" {
				t.Errorf("it is claimed again")
			}
		})
	}
}

// TestMirrorClaimsBeforeHooks has a hook change a message that is there: it must not run for that.
func TestMirrorClaimsBeforeHooks(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	say(t, session, "hi")
	opts := &transcript.MirrorOptions{Scope: scope,
		BeforeWrite: func(_ context.Context, m transcript.Message) (transcript.Message, bool, error) {
			m.Content = json.RawMessage(`"changed"`)
			return m, true, nil
		}}
	batch := turn("1", "hi", "ok")
	batch[0].Claim = true
	// The delivery in the same batch finds the answer as the hook has left it.
	batch = append(batch, transcript.MirrorMessage{Identity: "delivery", Message: transcript.AssistantText("ok"), Claim: true})
	if _, got := mirror(t, session, opts, batch...); got != "present appended present" {
		t.Errorf("the messages are %s", got)
	}
	if got := texts(t, session.Branch(t.Context(), nil)); got != "hi changed" {
		t.Errorf("the branch is %q", got)
	}
}

// TestMirrorAtOnce mirrors one batch through stores that share a file, as processes do, at once.
func TestMirrorAtOnce(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	const stores, turns = 4, 12
	var group sync.WaitGroup
	var mu sync.Mutex
	appended := map[string]int{}
	first := open(t, path, fast)
	session, err := first.OpenSession(t.Context(), "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range stores {
		store := first
		if i > 0 {
			store = open(t, path, fast)
		}
		session, err := store.OpenSession(t.Context(), "chat", nil)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			var batch []transcript.MirrorMessage
			for n := range turns {
				batch = append(batch, turn(fmt.Sprint(n), "hi", "ok")...)
				results, err := transcript.Mirror(t.Context(), session, batch, &transcript.MirrorOptions{Scope: scope})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, result := range results {
					if result.State == transcript.MirrorAppended {
						appended[result.Key]++
					}
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(appended) != 2*turns {
		t.Errorf("%d messages were appended, not %d", len(appended), 2*turns)
	}
	for key, times := range appended {
		if times != 1 {
			t.Errorf("%s was appended %d times", key, times)
		}
	}
	if got, want := texts(t, session.Branch(t.Context(), nil)), strings.TrimSpace(strings.Repeat("hi ok ", turns)); got != want {
		t.Errorf("the branch is %q", got)
	}
}
