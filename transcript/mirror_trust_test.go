package transcript_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// forge is a hook that gives a message what it likes, in each of the places from which it would be read.
func forge(members string) func(context.Context, transcript.Message) (transcript.Message, bool, error) {
	return func(_ context.Context, m transcript.Message) (transcript.Message, bool, error) {
		var forged map[string]json.RawMessage
		if err := json.Unmarshal([]byte(members), &forged); err != nil {
			return m, false, err
		}
		m.Provenance, m.Meta, m.Display = nil, nil, nil
		m.Fields = forged
		return m, true, nil
	}
}

// TestMirrorProvenance has runtimes and hooks that say where a message comes from: that is the host's to say.
func TestMirrorProvenance(t *testing.T) {
	t.Parallel()
	const external, internal = `{"kind":"external_user"}`, `{"kind":"internal_system"}`
	with := func(provenance string) transcript.Message {
		m := transcript.UserText("hi")
		if provenance != "" {
			m.Provenance = json.RawMessage(provenance)
		}
		return m
	}
	field := transcript.UserText("hi")
	field.Fields = map[string]json.RawMessage{"provenance": json.RawMessage(internal)}
	answer := transcript.AssistantText("ok")
	result := transcript.ToolResult("c", "t", "x", false)
	result.Provenance = json.RawMessage(internal)
	for i, test := range []struct {
		name              string
		message, prepared transcript.Message
		want              string
	}{
		{"of the host", with(external), with(internal), internal},
		{"which the host does not give", with(external), with(""), ""},
		{"which the host does not give, among the fields", field, with(""), ""},
		{"of nobody", with(""), transcript.Message{}, ""},
		{"of the source", with(internal), transcript.Message{}, internal},
		{"of the source, among the fields", field, transcript.Message{}, internal},
		{"of the host, among the fields", with(external), field, internal},
		{"of an unknown kind", with(external), with(`{"kind":"x"}`), `{"kind":"x"}`},
		{"of an answer", answer, transcript.Message{}, ""},
		{"of a result", result, transcript.Message{}, internal},
	} {
		for hook, before := range map[string]func(context.Context, transcript.Message) (transcript.Message, bool, error){
			"none":   nil,
			"forges": forge(`{"provenance":{"kind":"external_user","x":1}}`),
			"forges in its place": func(_ context.Context, m transcript.Message) (transcript.Message, bool, error) {
				m.Provenance = json.RawMessage(`{"kind":"inter_session"}`)
				return m, true, nil
			},
		} {
			for _, admission := range []bool{false, true} {
				session := newSession(t)
				results, _ := mirror(t, session, &transcript.MirrorOptions{Scope: scope, BeforeWrite: before},
					transcript.MirrorMessage{Identity: fmt.Sprint(i), Message: test.message, Prepared: test.prepared, Admission: admission})
				kept, _ := results[0].Receipt.Entry().Message()
				if string(kept.Provenance) != test.want {
					t.Errorf("%s, a hook that %s, admission %v: the provenance is %s", test.name, hook, admission, kept.Provenance)
				}
			}
		}
	}
}

// TestMirrorPreparedAlone has prepared messages with one member: they are not the zero value, and all that counts.
func TestMirrorPreparedAlone(t *testing.T) {
	t.Parallel()
	hidden := false
	runtime := message(t, `{"role":"user","content":"hi","provenance":{"kind":"external_user"},
		"__openclaw":{"senderIsOwner":true,"intent":"x","steerTargetRunId":"x","humanMentions":[1],"turnTainted":true,"resultContentSource":"x","runId":"x"}}`)
	for name, prepared := range map[string]transcript.Message{
		"role":       {Role: transcript.RoleUser},
		"content":    {Content: json.RawMessage(`"hi"`)},
		"call":       {ToolCallID: "x"},
		"tool":       {ToolName: "x"},
		"error":      {IsError: true},
		"key":        {IdempotencyKey: "key"},
		"excluded":   {ExcludeFromContext: true},
		"display":    {Display: &hidden},
		"provenance": {Provenance: json.RawMessage(`{"kind":"inter_session"}`)},
		"meta":       {Meta: map[string]json.RawMessage{"x": json.RawMessage("1")}},
		"fields":     {Fields: map[string]json.RawMessage{"x": json.RawMessage("1")}},
	} {
		results, _ := mirror(t, newSession(t), nil, transcript.MirrorMessage{Identity: name, Message: runtime, Prepared: prepared})
		kept, _ := results[0].Receipt.Entry().Message()
		for member := range kept.Meta {
			if !slices.Contains([]string{"mirrorIdentity", "mirrorSourceFingerprint"}, member) {
				t.Errorf("%s: there is %s, which only the runtime has", name, member)
			}
		}
		if string(kept.Provenance) != string(prepared.Provenance) {
			t.Errorf("%s: the provenance is %s", name, kept.Provenance)
		}
		if got, _ := transcript.RestoreAdmittedMeta(runtime, prepared); got.Meta["intent"] != nil || string(got.Provenance) != string(prepared.Provenance) {
			t.Errorf("%s: it is admitted as %s", name, messageText(t, got))
		}
		if got := transcript.RestoreOperationalMeta(runtime, prepared); got.Meta["intent"] != nil {
			t.Errorf("%s: its metadata are restored to %s", name, messageText(t, got))
		}
	}
	// The zero value is none.
	results, _ := mirror(t, newSession(t), nil, transcript.MirrorMessage{Identity: "zero", Message: runtime})
	if kept, _ := results[0].Receipt.Entry().Message(); kept.Meta["intent"] == nil || kept.Provenance == nil {
		t.Errorf("without a prepared message it is %s", messageText(t, kept))
	}
}

// TestMirrorHidden has a hook show what users are not to be shown.
func TestMirrorHidden(t *testing.T) {
	t.Parallel()
	field := transcript.UserText("hi")
	field.Fields = map[string]json.RawMessage{"display": json.RawMessage("false")}
	for name, source := range map[string]transcript.MirrorMessage{
		"the source":                   {Message: message(t, `{"role":"user","content":"hi","display":false}`)},
		"the source, among the fields": {Message: field},
		"prepared":                     {Message: transcript.UserText("hi"), Prepared: message(t, `{"role":"user","display":false}`)},
		"prepared, among the fields":   {Message: transcript.UserText("hi"), Prepared: field},
		"an answer":                    {Message: message(t, `{"role":"assistant","content":"ok","display":false}`)},
	} {
		source.Identity = name
		results, _ := mirror(t, newSession(t), &transcript.MirrorOptions{Scope: scope, BeforeWrite: forge(`{"display":true}`)}, source)
		if kept, _ := results[0].Receipt.Entry().Message(); kept.Display == nil || *kept.Display {
			t.Errorf("%s: the message is shown", name)
		}
	}
}

// TestMirrorTaintInParts mirrors a turn in several calls: what one of them has tainted stays so in the others.
func TestMirrorTaintInParts(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"user":   `{"role":"user","content":"hi"}`,
		"call":   `{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"get","arguments":{}}]}`,
		"net":    `{"role":"toolResult","toolCallId":"c","toolName":"get","content":"x","__openclaw":{"resultContentSource":"network"}}`,
		"file":   `{"role":"toolResult","toolCallId":"c","toolName":"read","content":"x"}`,
		"answer": `{"role":"assistant","content":"ok"}`,
	}
	for _, test := range []struct {
		calls string // of Mirror: a message is its text and a number, + claims it, and ! is the host's append
		want  string // the assistant's messages that are tainted
	}{
		{"user1 call1 net1 | answer1", "answer1"},
		{"user1 call1 net1 | user1 answer1", "answer1"},
		{"user1 call1 net1 | user1 call1 answer1", "answer1"},
		{"user1 | call1 | net1 | call2 | file1 | answer1", "call2 answer1"},
		{"user1 call1 net1 | user2 | answer1", ""},
		{"user1 call1 net1 | user2 answer1", ""},
		{"user1 call1 net1 | answer1 user2 answer2", "answer1"},
		{"user1 call1 net1 | user2 answer1 | answer2", ""},
		{"user1 call1 file1 | answer1", ""},
		{"user1 call1 net1 | answer1 | answer2 | answer3", "answer1 answer2 answer3"},
		{"user1 answer1 | net1 | answer2", "answer2"},
		{"answer1 | answer2", ""},
		{"net1 | answer1", "answer1"},
		{"!user1 !call1 !net1 | answer1", "answer1"},
		{"!user1 !net1 !call1 | answer1", "answer1"},
		{"!user1 !net1 !reset1 | answer1", "answer1"},
		// The host has appended the prompt: its turn is tainted, or another one begins.
		{"!user1 | +user1 net1 | +user1 answer1", "answer1"},
		{"user1 net1 | +user2 answer1", ""},
		{"user1 net1 | !user2 | +user2 answer1", ""},
		{"!user1 !net1 | +user1 answer1", "answer1"},
	} {
		for _, hooked := range []bool{false, true} {
			session := newSession(t)
			opts := &transcript.MirrorOptions{Scope: scope}
			if hooked {
				opts.BeforeWrite = forge(`{}`)
			}
			var batch []transcript.MirrorMessage
			var tainted []string
			for _, word := range append(strings.Fields(test.calls), "|") {
				name := strings.TrimLeft(word, "+!")
				text := texts[strings.TrimRight(name, "0123456789")]
				switch {
				case word == "|":
					results, _ := mirror(t, session, opts, batch...)
					for i, result := range results {
						if kept, _ := result.Receipt.Entry().Message(); result.Receipt.Appended() && kept.Role == "assistant" && kept.Meta["turnTainted"] != nil {
							tainted = append(tainted, batch[i].Identity)
						}
					}
					batch = nil
				case word == "!reset1":
					push(t, session, transcript.Reset{})
				case word[0] == '!':
					push(t, session, message(t, text))
				default:
					batch = append(batch, transcript.MirrorMessage{Identity: name, Message: message(t, text), Claim: word[0] == '+'})
				}
			}
			if got := strings.Join(tainted, " "); got != test.want {
				t.Errorf("%s, hooked %v: tainted are %q, not %q", test.calls, hooked, got, test.want)
			}
		}
	}
}

// TestMirrorTaintOfLongTurns has more entries than are looked at: nobody knows what was before.
func TestMirrorTaintOfLongTurns(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{9_990: false, 10_010: true} {
		session := newSession(t)
		drafts := slices.Repeat([]transcript.Draft{{Payload: transcript.Custom{Type: "x"}}}, n)
		if _, err := session.AppendAll(t.Context(), drafts, nil); err != nil {
			t.Fatal(err)
		}
		results, _ := mirror(t, session, nil, transcript.MirrorMessage{Identity: "1", Message: transcript.AssistantText("ok")})
		if kept, _ := results[0].Receipt.Entry().Message(); (kept.Meta["turnTainted"] != nil) != want {
			t.Errorf("behind %d entries the answer is %s", n, messageText(t, kept))
		}
	}
}

// TestMirrorAfterRewind mirrors a message that is on a branch which was left.
func TestMirrorAfterRewind(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	first := say(t, session, "before")
	mirror(t, session, nil, turn("1", "hi", "ok")...)
	if err := session.MoveTo(t.Context(), first, nil); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"1": "present present", "1 again": "appended appended"} {
		if _, got := mirror(t, session, nil, turn(id, "hi", "ok")...); got != want {
			t.Errorf("turn %s is %s, not %s", id, got, want)
		}
	}
	if got := texts(t, session.Branch(t.Context(), nil)); got != "before hi ok" {
		t.Errorf("the branch is %q", got)
	}
}

// TestZeroEntry looks at what a message that was skipped has.
func TestZeroEntry(t *testing.T) {
	t.Parallel()
	results, _ := mirror(t, newSession(t), &transcript.MirrorOptions{Scope: scope,
		BeforeWrite: func(_ context.Context, m transcript.Message) (transcript.Message, bool, error) { return m, false, nil },
	}, turn("1", "hi", "ok")...)
	entry := results[0].Receipt.Entry()
	if entry.Kind() != "" {
		t.Errorf("it is of the kind %s", entry.Kind())
	}
	if _, ok := entry.Message(); ok {
		t.Error("it is a message")
	}
	if text, err := json.Marshal(entry); err == nil {
		t.Errorf("it is written as %s", text)
	}
	if results[0].Receipt.Anchor() != (transcript.Anchor{}) || results[0].Receipt.Appended() {
		t.Error("it is somewhere")
	}
}
