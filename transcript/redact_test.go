package transcript_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// decoded is a JSON value with its numbers as they are written.
func decoded(tb testing.TB, text string) any {
	tb.Helper()
	if text == "" {
		text = `""`
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return value
}

// redactValue is what is to be kept of a value in a place: a content, a block or data.
func redactValue(value any, place string) any {
	switch value := value.(type) {
	case string:
		return strings.ReplaceAll(value, "secret", "\"*\"")
	case []any:
		for i := range value {
			if place == "content" {
				place = "block"
			}
			value[i] = redactValue(value[i], place)
		}
	case map[string]any:
		for name, member := range value {
			_, text := member.(string)
			opaque := strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "_id") || strings.HasSuffix(strings.ToLower(name), "signature")
			for _, known := range strings.Fields("type id name toolName role mimeType media_type data encrypted_content") {
				opaque = opaque || name == known
			}
			switch {
			case place == "data":
				value[name] = redactValue(member, "data")
			case text && opaque:
			case name == "content":
				value[name] = redactValue(member, "content")
			case name == "source":
				value[name] = redactValue(member, "block")
			default:
				value[name] = redactValue(member, "data")
			}
		}
	}
	return value
}

// redacting is a session of a store with a redaction.
func redacting(tb testing.TB, opts transcript.Options) *transcript.Session {
	tb.Helper()
	opts.Synchronous = transcript.SynchronousNormal
	session, err := open(tb, newPath(tb), &opts).OpenSession(tb.Context(), "chat", nil)
	if err != nil {
		tb.Fatal(err)
	}
	return session
}

func hide(text string) string { return strings.ReplaceAll(text, "secret", "***") }

func TestRedact(t *testing.T) {
	t.Parallel()
	session := redacting(t, transcript.Options{Redact: hide})
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	target := say(t, session, "to be labelled")
	record := func(r record) transcript.Payload {
		payload, err := r.Payload()
		if err != nil {
			t.Fatal(err)
		}
		return payload
	}
	type test struct {
		name    string
		payload transcript.Payload
		want    string // the entry's members
	}
	var file strings.Builder
	var imported []test
	for _, test := range []test{
		{"a text", transcript.UserText("a secret"), `"message":{"role":"user","content":"a ***"}`},
		{"blocks", message(t, `{"role":"assistant","content":[{"type":"thinking","thinking":"secret","thinkingSignature":"secret"},
			{"type":"text","text":"secret"},{"type":"toolCall","id":"secret","name":"secret","arguments":{"id":"secret","secret":["secret",1e2]}}]}`),
			`"message":{"role":"assistant","content":[{"type":"thinking","thinking":"***","thinkingSignature":"secret"},` +
				`{"type":"text","text":"***"},{"type":"toolCall","id":"secret","name":"secret","arguments":{"id":"***","secret":["***",1e2]}}]}`},
		{"a result", message(t, `{"role":"toolResult","toolCallId":"secret","toolName":"secret","idempotencyKey":"secret","isError":true,
			"content":[{"type":"image","data":"secret"}],"details":{"id":"secret"},"model":"secret","errorMessage":"secret",
			"__openclaw":{"secret":"secret"},"provenance":{"kind":"secret"}}`),
			`"message":{"role":"toolResult","content":[{"type":"image","data":"secret"}],"toolCallId":"secret","toolName":"secret",` +
				`"isError":true,"idempotencyKey":"secret","provenance":{"kind":"secret"},"__openclaw":{"secret":"secret"},` +
				`"details":{"id":"***"},"errorMessage":"***","model":"secret"}`},
		{"a role", transcript.Message{Role: "secret", Fields: map[string]json.RawMessage{"command": raw(`"secret"`), "output": raw(`"secret"`)}},
			`"message":{"role":"secret","content":"","command":"***","output":"***"}`},
		{"the mentions of a text that changes", message(t, `{"role":"user","content":"a secret","__openclaw":{"humanMentions":[1],"x":1}}`),
			`"message":{"role":"user","content":"a ***","__openclaw":{"x":1}}`},
		{"the mentions of one that does not", message(t, `{"role":"user","content": [ ],"__openclaw":{"humanMentions":[1]}}`),
			`"message":{"role":"user","content":[],"__openclaw":{"humanMentions":[1]}}`},
		{"a custom message", transcript.CustomMessage{Type: "secret", Content: raw(`"secret"`), Details: raw(`["secret"]`)},
			`"customType":"secret","content":"***","display":false,"details":["***"]`},
		{"a compaction", transcript.Compaction{Summary: "secret", Details: raw(`"secret"`), FirstKeptID: "secret"},
			`"summary":"***","firstKeptEntryId":"secret","tokensBefore":0,"details":"***"`},
		{"a branch summary", transcript.BranchSummary{FromID: "secret", Summary: "secret", Details: raw(`"secret"`)},
			`"fromId":"secret","summary":"***","details":"***"`},
		{"other members", message(t, `{"role":"bashExecution","content":"","x":"secret","secret":["secret",{"id":"secret"}],"fullOutputPath":"secret","notes":{"a":"secret"},
			"api":"secret","provider":"secret","model":"secret","stopReason":"secret","timestamp":"secret","usage":{"x":"secret"},"providerReplay":{"x":"secret"},
			"type":"secret","id":"secret","name":"secret","customType":"secret","responseId":"secret","some_id":"secret","textSignature":"secret","signature":"secret"}`),
			`"message":{"role":"bashExecution","content":"","api":"secret","customType":"secret","fullOutputPath":"***","id":"secret","model":"secret","name":"secret",` +
				`"notes":{"a":"***"},"provider":"secret","providerReplay":{"x":"secret"},"responseId":"secret","secret":["***",{"id":"***"}],"signature":"secret",` +
				`"some_id":"secret","stopReason":"secret","textSignature":"secret","timestamp":"secret","type":"secret","usage":{"x":"secret"},"x":"***"}`},
		{"a name of the session", transcript.SessionInfo{Name: "my secret"}, `"name":"my ***"`},
		{"a label", transcript.Label{TargetID: target, Label: "my secret"}, `"targetId":"` + target + `","label":"my ***"`},
		{"a cell", record(transcript.CellRecord{ID: "secret", RunID: "secret", ToolCallID: "secret", Title: "secret", Source: "secret"}),
			`"customType":"cellmode.cell","data":{"id":"secret","runId":"secret","toolCallId":"secret","title":"***","source":"***"}`},
		{"a call", record(transcript.CallRecord{ID: "secret", Cell: "secret", CallID: "secret", Tool: "secret", Input: raw(`{"id":"secret","tool":["secret"]}`)}),
			`"customType":"cellmode.call","data":{"id":"secret","cell":"secret","callId":"secret","tool":"secret","input":{"id":"***","tool":["***"]}}`},
		{"a result", record(transcript.ResultRecord{Call: "secret", Cell: "secret", Tool: "secret", Outcome: "secret", Value: raw(`"secret"`), Error: "secret"}),
			`"customType":"cellmode.result","data":{"call":"secret","cell":"secret","tool":"secret","outcome":"secret","value":"***","error":"***"}`},
		{"a record with more members", transcript.Custom{Type: transcript.CellRecordType, Data: raw(`{"id":"secret","more":"secret"}`)},
			`"customType":"cellmode.cell","data":{"id":"secret","more":"***"}`},
		{"a record that is none", transcript.Custom{Type: transcript.CellRecordType, Data: raw(`"secret"`)}, `"customType":"cellmode.cell","data":"***"`},
		{"a record without data", transcript.Custom{Type: transcript.CellRecordType}, `"customType":"cellmode.cell"`},
		{"a reason", transcript.Reset{Reason: "my secret", Fields: map[string]json.RawMessage{"more": raw(`"secret"`), "runId": raw(`"secret"`)}},
			`"reason":"my ***","more":"***","runId":"secret"`},
		{"data of the program", transcript.Custom{Type: "secret", Data: raw(`"secret"`)}, `"customType":"secret","data":"secret"`},
		{"what is not known", transcript.Unknown{Type: "x", Members: raw(`{"content":"secret"}`)}, `"content":"secret"`},
	} {
		before, _ := json.Marshal(transcript.Entry{Payload: test.payload})
		receipt, err := session.Append(t.Context(), test.payload, nil)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		stored, err := session.Entry(t.Context(), receipt.Entry().ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range []transcript.Entry{receipt.Entry(), stored} {
			if text, _ := json.Marshal(entry); !strings.HasSuffix(string(text), test.want+"}") {
				t.Errorf("%s:\ngot  %s\nwant %s", test.name, text, test.want)
			}
		}
		if after, _ := json.Marshal(transcript.Entry{Payload: test.payload}); !bytes.Equal(before, after) {
			t.Errorf("%s: the caller's payload has changed", test.name)
		}
		line, _ := json.Marshal(transcript.Entry{ID: fmt.Sprint("id ", len(imported)), ParentID: transcript.Root, Time: receipt.Entry().Time, Payload: test.payload})
		file.Write(append(line, '\n'))
		imported = append(imported, test)
	}
	if info, err := session.Info(t.Context()); err != nil || info.Name != "my ***" {
		t.Errorf("the session's name is %q (%v)", info.Name, err)
	}

	// What is imported is redacted in the same way.
	store := open(t, newPath(t), &transcript.Options{Redact: hide})
	from, report, err := store.Import(t.Context(), "imported", strings.NewReader(file.String()), nil)
	if err != nil || report.Entries != int64(len(imported)) {
		t.Fatalf("%+v, %v", report, err)
	}
	for i, test := range imported {
		entry, err := from.Entry(t.Context(), fmt.Sprint("id ", i))
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := json.Marshal(entry); !strings.HasSuffix(string(text), test.want+"}") {
			t.Errorf("%s, imported:\ngot  %s\nwant %s", test.name, text, test.want)
		}
	}
	if info, err := from.Info(t.Context()); err != nil || info.Name != "my ***" {
		t.Errorf("the name of the session that was imported is %q (%v)", info.Name, err)
	}
}

// TestRedactFails has functions that fail, and texts that are none.
func TestRedactFails(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	session := redacting(t, transcript.Options{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Redact: func(text string) string {
			if text == "panic" {
				panic("with the text: secret")
			}
			return strings.ReplaceAll(text, "split", "\xff")
		},
	})
	for text, want := range map[string]error{
		`"panic"`:                          transcript.ErrRedaction,
		`[{"text":"ok"},{"text":"split"}]`: transcript.ErrRedaction,
		`{`:                                transcript.ErrInvalidEntry,
		"\"\xff\"":                         transcript.ErrInvalidEntry,
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000): transcript.ErrInvalidEntry,
	} {
		_, err := session.Append(t.Context(), transcript.Message{Role: "user", Content: json.RawMessage(text)}, nil)
		if !errors.Is(err, want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	if !strings.Contains(log.String(), "Redact has panicked") || strings.Contains(log.String(), "secret") {
		t.Errorf("the log is %s", &log)
	}
	if got := texts(t, session.Entries(t.Context())); got != "" {
		t.Errorf("the session has %q", got)
	}
	// As deep as JSON may be.
	deep := strings.Repeat("[", 9_000) + `"ok"` + strings.Repeat("]", 9_000)
	if _, err := session.Append(t.Context(), transcript.Message{Role: "user", Content: json.RawMessage(deep)}, nil); err != nil {
		t.Error(err)
	}
}

// FuzzRedact compares what is kept with what a redaction of the decoded JSON gives.
func FuzzRedact(f *testing.F) {
	for _, content := range []string{
		`"my secret"`, `["secret",{"type":"secret","text":"secret","secret":"secret"}]`,
		`[{"type":"toolCall","id":"secret","name":"secret","arguments":{"id":"secret","name":["secret",{"type":"\u0073ecret"}]}}]`,
		`[{"type":"image","source":{"data":"secret","url":"secret"},"data":{"type":"secret"}}]`,
		`[{"content":[{"content":"secret","id":"secret"}],"thinkingSignature":"secret","tool_use_id":"secret","n":12345678901234567890}]`,
		`{"text":"\ud83dsecret"}`, `[[["secret"]]]`, `{"data":["secret"],"data":"secret"}`,
	} {
		f.Add(content)
	}
	store := open(f, ":memory:", &transcript.Options{
		Redact: func(text string) string { return strings.ReplaceAll(text, "secret", "\"*\"") },
	})
	session, err := store.OpenSession(context.Background(), "chat", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content string) {
		receipt, err := session.Append(t.Context(), transcript.Message{Role: "assistant", Content: json.RawMessage(content)}, nil)
		if err != nil {
			if json.Valid([]byte(content)) && content != "" && !errors.Is(err, transcript.ErrInvalidEntry) {
				t.Fatal(err)
			}
			return
		}
		kept, _ := receipt.Entry().Message()
		if got, want := decoded(t, string(kept.Content)), redactValue(decoded(t, content), "content"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is kept as %s", content, kept.Content)
		}
	})
}
