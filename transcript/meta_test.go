package transcript_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// message reads a message from JSON.
func message(tb testing.TB, text string) transcript.Message {
	tb.Helper()
	var m transcript.Message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		tb.Fatal(err)
	}
	return m
}

// messageText is a message as JSON.
func messageText(tb testing.TB, m transcript.Message) string {
	tb.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func TestRestoreOperationalMeta(t *testing.T) {
	t.Parallel()
	const mentions = `"humanMentions":[{"profileId":"ada","start":6,"end":10}]`
	long := strings.Repeat("😀", 256)
	tests := []struct{ name, runtime, prepared, want string }{
		{"no prepared message",
			`{"role":"user","content":"a","__openclaw":{"intent":"i",` + mentions + `}}`, ``,
			`{"role":"user","content":"a","__openclaw":{` + mentions + `,"intent":"i"}}`},
		{"not the user's message",
			`{"role":"assistant","content":"a","__openclaw":{"intent":"i"}}`, `{"role":"user","content":"a"}`,
			`{"role":"assistant","content":"a","__openclaw":{"intent":"i"}}`},
		{"the content stays",
			`{"role":"user","content":"b"}`, `{"role":"user","content":"a"}`,
			`{"role":"user","content":"b"}`},
		{"a valid provenance is restored",
			`{"role":"user","content":"a","provenance":{"kind":"external_user"}}`,
			`{"role":"user","content":"a","provenance":{"kind":"inter_session","sourceTool":"t"}}`,
			`{"role":"user","content":"a","provenance":{"kind":"inter_session","sourceTool":"t"}}`},
		{"one that is not valid is not",
			`{"role":"user","content":"a","provenance":{"kind":"external_user"}}`,
			`{"role":"user","content":"a","provenance":{"Kind":"inter_session"}}`,
			`{"role":"user","content":"a","provenance":{"kind":"external_user"}}`},
		{"display false is restored",
			`{"role":"user","content":"a","display":true}`, `{"role":"user","content":"a","display":false}`,
			`{"role":"user","content":"a","display":false}`},
		{"display true is not forced",
			`{"role":"user","content":"a","display":false}`, `{"role":"user","content":"a","display":true}`,
			`{"role":"user","content":"a","display":false}`},
		{"intent and steerTargetRunId are restored",
			`{"role":"user","content":"a","__openclaw":{"intent":"forged","steerTargetRunId":"forged"}}`,
			`{"role":"user","content":"a","__openclaw":{"intent":{"kind":"ask"},"steerTargetRunId":" run "}}`,
			`{"role":"user","content":"a","__openclaw":{"intent":{"kind":"ask"},"steerTargetRunId":"run"}}`},
		{"or deleted, and an empty object with them",
			`{"role":"user","content":"a","__openclaw":{"intent":"forged","steerTargetRunId":"forged",` + mentions + `}}`,
			`{"role":"user","content":"a"}`,
			`{"role":"user","content":"a"}`},
		{"a run id of 512 characters",
			`{"role":"user","content":"a"}`, `{"role":"user","content":"a","__openclaw":{"steerTargetRunId":"` + long + `"}}`,
			`{"role":"user","content":"a","__openclaw":{"steerTargetRunId":"` + long + `"}}`},
		{"a run id of 513 characters",
			`{"role":"user","content":"a"}`, `{"role":"user","content":"a","__openclaw":{"steerTargetRunId":"` + long + `x"}}`,
			`{"role":"user","content":"a"}`},
		{"a run id that is none",
			`{"role":"user","content":"a"}`, `{"role":"user","content":"a","__openclaw":{"steerTargetRunId":7}}`,
			`{"role":"user","content":"a"}`},
		{"senderIsOwner false is restored",
			`{"role":"user","content":"a","__openclaw":{"senderIsOwner":true}}`,
			`{"role":"user","content":"a","__openclaw":{"senderIsOwner":false}}`,
			`{"role":"user","content":"a","__openclaw":{"senderIsOwner":false}}`},
		{"senderIsOwner that is no boolean is not",
			`{"role":"user","content":"a","__openclaw":{"senderIsOwner":true}}`,
			`{"role":"user","content":"a","__openclaw":{"senderIsOwner":null}}`,
			`{"role":"user","content":"a","__openclaw":{"senderIsOwner":true}}`},
		{"mentions of the same content",
			`{"role":"user","content":[ {"text":"\u0061","type":"text"} ]}`,
			`{"role":"user","content":[{"type":"text","text":"a"}],"__openclaw":{` + mentions + `}}`,
			`{"role":"user","content":[{"text":"\u0061","type":"text"}],"__openclaw":{` + mentions + `}}`},
		{"mentions of other content",
			`{"role":"user","content":"Hello @ada!","__openclaw":{` + mentions + `}}`,
			`{"role":"user","content":"Hello @ada","__openclaw":{` + mentions + `}}`,
			`{"role":"user","content":"Hello @ada!"}`},
		{"the same text in another form",
			`{"role":"user","content":"a"}`,
			`{"role":"user","content":[{"type":"text","text":"a"}],"__openclaw":{` + mentions + `}}`,
			`{"role":"user","content":"a"}`},
		{"other metadata survive",
			`{"role":"user","content":"a","x":1,"__openclaw":{"hook":"mine"}}`,
			`{"role":"user","content":"a","__openclaw":{"host":"mine","senderIsOwner":true}}`,
			`{"role":"user","content":"a","__openclaw":{"hook":"mine","senderIsOwner":true},"x":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			runtime, prepared := message(t, test.runtime), transcript.Message{}
			if test.prepared != "" {
				prepared = message(t, test.prepared)
			}
			if got := messageText(t, transcript.RestoreOperationalMeta(runtime, prepared)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if !reflect.DeepEqual(runtime, message(t, test.runtime)) {
				t.Error("the runtime's message has changed")
			}
			if test.prepared != "" && !reflect.DeepEqual(prepared, message(t, test.prepared)) {
				t.Error("the prepared message has changed")
			}
		})
	}
}

// TestHiddenMeta forges metadata among the fields of a message, where they would be found as soon as it is read again.
func TestHiddenMeta(t *testing.T) {
	t.Parallel()
	forged := transcript.UserText("a")
	forged.Fields = map[string]json.RawMessage{
		"__openclaw": json.RawMessage(`{"humanMentions":[1],"intent":"x","hook":"mine"}`), "x": json.RawMessage("1"),
	}
	const want = `{"role":"user","content":"a","__openclaw":{"hook":"mine"},"x":1}`
	if got := messageText(t, transcript.RestoreOperationalMeta(forged, transcript.UserText("a"))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(forged.Fields) != 2 {
		t.Error("the runtime's message has changed")
	}
}

func TestRestoreAdmittedMeta(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1999) + "😀"
	prepared := message(t, `{"role":"user","content":"a","idempotencyKey":"k","__openclaw":{"replyToId":" r ",
		"replyToPreview":{"text":"`+long+`","senderLabel":"`+strings.Repeat("y", 201)+`","more":1},"transport":{"id":1},
		"lateMedia":true,"media":[1],"mediaImageLayout":{"slots":[]},"senderId":"7","senderIdentity":{"id":"7"}}}`)
	hooked := func(meta string) string {
		t.Helper()
		m := message(t, `{"role":"user","content":"b","idempotencyKey":"forged","__openclaw":`+meta+`}`)
		got, ok := transcript.RestoreAdmittedMeta(m, prepared)
		if !ok {
			t.Fatal("the message is blocked")
		}
		return messageText(t, got)
	}
	protected := `"lateMedia":true,"media":[1],"mediaImageLayout":{"slots":[]},"replyToId":"r","replyToPreview":{"text":"` +
		strings.Repeat("x", 1999) + `","senderLabel":"` + strings.Repeat("y", 200) + `"}`
	start := `{"role":"user","content":"b","idempotencyKey":"k","__openclaw":{`
	for _, test := range []struct{ name, meta, want string }{
		{"all is taken away", `{}`, start + protected + `,"transport":{"id":1}}}`},
		{"all is forged", `{"replyToId":"x","replyToPreview":{},"transport":{"id":2},"lateMedia":false,"media":[],"mediaImageLayout":1}`,
			start + protected + `,"transport":{"id":1}}}`},
		{"the sender's identity", `{"senderId":"7","senderIdentity":{"id":"7"}}`,
			start + protected + `,"senderId":"7","senderIdentity":{"id":"7"},"transport":{"id":1}}}`},
		{"another identity", `{"senderId":"7","senderIdentity":{"id":"8"}}`, start + protected + `,"senderId":"7","transport":{"id":1}}}`},
		{"another sender", `{"senderId":"8","senderIdentity":{"id":"7"}}`, start + protected + `,"senderId":"8","transport":{"id":1}}}`},
	} {
		if got := hooked(test.meta); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
	if m, ok := transcript.RestoreAdmittedMeta(transcript.AssistantText("a"), prepared); ok {
		t.Errorf("a message of another role is admitted as %s", messageText(t, m))
	}
	if m, ok := transcript.RestoreAdmittedMeta(transcript.UserText("b"), transcript.Message{}); !ok || m.Text() != "b" {
		t.Error("a message without a prepared one is not what it was")
	}
	odd := message(t, `{"role":"user","content":"a","__openclaw":{"replyToId":7,"replyToPreview":"x","transport":[1],"media":{},"lateMedia":1}}`)
	if m, _ := transcript.RestoreAdmittedMeta(transcript.UserText("b"), odd); m.Meta != nil {
		t.Errorf("what is not as it should be is restored: %s", messageText(t, m))
	}
}

// FuzzRestoreOperationalMeta looks for mentions, an owner or an intent that the host has not prepared.
func FuzzRestoreOperationalMeta(f *testing.F) {
	f.Add([]byte(`{"role":"user","content":"a","__openclaw":{"humanMentions":[1],"senderIsOwner":true,"x":1}}`),
		[]byte(`{"role":"user","content":[{"type":"text"}],"__openclaw":{"humanMentions":[2],"intent":{}}}`), true)
	f.Add([]byte(`{"role":"user","content":1e400,"__openclaw":{}}`), []byte(`{"role":"user","content":1e400,"__openclaw":{"humanMentions":0}}`), false)
	f.Add([]byte(`{"role":"toolResult","__openclaw":7}`), []byte(`{"role":"user","display":false,"provenance":{"kind":"external_user"}}`), false)
	f.Fuzz(func(t *testing.T, runtimeJSON, preparedJSON []byte, hidden bool) {
		var runtime, prepared transcript.Message
		if json.Unmarshal(runtimeJSON, &runtime) != nil || json.Unmarshal(preparedJSON, &prepared) != nil {
			return
		}
		before := runtime.Meta
		if hidden && runtime.Meta != nil {
			meta, _ := json.Marshal(runtime.Meta)
			runtime = runtime.Clone()
			runtime.Meta = nil
			if runtime.Fields == nil {
				runtime.Fields = map[string]json.RawMessage{}
			}
			runtime.Fields["__openclaw"] = meta
		}
		was, wasPrepared := runtime.Clone(), prepared.Clone()
		got := transcript.RestoreOperationalMeta(runtime, prepared)
		if !reflect.DeepEqual(runtime, was) || !reflect.DeepEqual(prepared, wasPrepared) {
			t.Fatal("what it was given has changed")
		}
		if string(got.Content) != string(runtime.Content) || got.Role != runtime.Role {
			t.Fatal("the content or the role is another one")
		}
		if runtime.Role != transcript.RoleUser {
			if !reflect.DeepEqual(got, runtime) {
				t.Fatal("a message that is not the user's has changed")
			}
			return
		}
		// What counts is what will be read from the session.
		text, err := json.Marshal(got)
		if err != nil {
			return
		}
		stored := message(t, string(text))
		same := func(a, b json.RawMessage) bool {
			var x, y any
			return string(a) == string(b) || json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
		}
		content := func(m transcript.Message) json.RawMessage {
			if m.Content == nil {
				return json.RawMessage(`""`)
			}
			return m.Content
		}
		mentions, any := stored.Meta["humanMentions"]
		if any && (!same(content(runtime), content(prepared)) || !same(mentions, prepared.Meta["humanMentions"])) {
			t.Errorf("mentions %s from nowhere", mentions)
		}
		if intent := stored.Meta["intent"]; !same(intent, prepared.Meta["intent"]) {
			t.Errorf("the intent is %s", intent)
		}
		wantOwner := before["senderIsOwner"]
		if owner := string(prepared.Meta["senderIsOwner"]); owner == "true" || owner == "false" {
			wantOwner = json.RawMessage(owner)
		}
		if owner := stored.Meta["senderIsOwner"]; !same(owner, wantOwner) {
			t.Errorf("the owner is %s, not %s", owner, wantOwner)
		}
		for name, value := range before {
			switch name {
			case "humanMentions", "intent", "senderIsOwner", "steerTargetRunId":
			default:
				if !same(stored.Meta[name], value) {
					t.Errorf("the hook's %q is %s", name, stored.Meta[name])
				}
			}
		}
	})
}
