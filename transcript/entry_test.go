package transcript_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// payloads are of all types, with odd values.
func payloads(target string) map[string]transcript.Payload {
	odd := map[string]json.RawMessage{"more": json.RawMessage(`[1e400,12345678901234567890,{"a":"\u0000"}]`), "": json.RawMessage(`null`)}
	hidden := false
	return map[string]transcript.Payload{
		"text": transcript.UserText("a <b> & \u2028 é 😀"),
		"message": transcript.Message{Role: "toolResult", Content: json.RawMessage(`[{"type":"text","text":"x"},7,null]`), ToolCallID: "c", ToolName: "t", IsError: true,
			ExcludeFromContext: true, Display: &hidden, Provenance: json.RawMessage(`{"kind":"external_user"}`), Meta: odd, Fields: odd},
		"cut off":        transcript.AssistantCalls("", transcript.ToolCall{ID: "1", Name: "f", Arguments: json.RawMessage(`{"a":`)}),
		"no object":      transcript.AssistantCalls("x", transcript.ToolCall{ID: "1", Name: "f", Arguments: json.RawMessage(`[1]`)}),
		"thinking":       transcript.ThinkingLevelChange{Level: "high", Fields: odd},
		"model":          transcript.ModelChange{Provider: "p", ModelID: "m", Fields: odd},
		"compaction":     transcript.Compaction{Summary: "s", FirstKeptID: target, TokensBefore: 1 << 60, Details: json.RawMessage(`{}`), FromHook: true, Fields: odd},
		"branch summary": transcript.BranchSummary{FromID: target, Summary: "s", Fields: odd},
		"custom":         transcript.Custom{Type: "t", Data: json.RawMessage(`"d"`), Fields: odd},
		"custom message": transcript.CustomMessage{Type: "t", Content: json.RawMessage(`"c"`), Display: true, Fields: odd},
		"label":          transcript.Label{TargetID: target, Label: "l", Fields: odd},
		"session info":   transcript.SessionInfo{Name: "n", Fields: odd},
		"unknown":        transcript.Unknown{Type: "of tomorrow", Members: json.RawMessage(`{"a":{"b":[]}}`)},
		"reset":          transcript.Reset{FirstKeptID: target, Reason: "r", Fields: odd},
	}
}

// What an entry is written as it is read from, and Export and Import keep it.
func TestEntriesSurvive(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, payload := range payloads("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, at := range []time.Time{time.Unix(0, 0), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)} {
				store := open(t, ":memory:", nil)
				session, err := store.OpenSession(ctx, "chat", nil)
				if err != nil {
					t.Fatal(err)
				}
				payload := payload
				if _, ok := payload.(transcript.Label); ok {
					payload = payloads(say(t, session, "target"))["label"]
				}
				receipt, err := session.Append(ctx, payload, &transcript.AppendOptions{Time: at})
				if err != nil {
					t.Fatal(err)
				}
				text, err := receipt.Entry().MarshalJSON() // json.Marshal would write < and its like as escapes
				if err != nil {
					t.Fatal(err)
				}
				var again transcript.Entry
				if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, receipt.Entry()) {
					t.Errorf("%s\nis read as %+v (%v),\nnot as %+v", text, again, err, receipt.Entry())
				}
				var file strings.Builder
				if err := session.Export(ctx, &file); err != nil {
					t.Fatal(err)
				}
				copied, _, err := store.Import(ctx, "copy", strings.NewReader(file.String()), nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := copied.Entry(ctx, again.ID); err != nil || !reflect.DeepEqual(got, again) {
					t.Errorf("%s\nis imported as %+v (%v),\nnot as %+v", text, got, err, again)
				}
			}
		})
	}
}

// What is read as an entry can be written, and is read from that as the same.
func FuzzEntry(f *testing.F) {
	for _, payload := range payloads("12345678") {
		text, err := json.Marshal(transcript.Entry{ID: "12345678", ParentID: transcript.Root, Time: time.Unix(1, 0), Side: true, Payload: payload})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"type":"leaf","id":"a","parentId":"b","timestamp":"2026-01-02T03:04:05.000Z","targetId":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		var entry, again transcript.Entry
		if err := json.Unmarshal([]byte(text), &entry); err != nil {
			var syntax *json.SyntaxError
			if !errors.As(err, &syntax) && !errors.Is(err, transcript.ErrInvalidEntry) && !errors.Is(err, transcript.ErrEntryTooLarge) {
				t.Fatal(err)
			}
			return
		}
		if entry.Payload == nil { // null leaves an entry as it is
			return
		}
		out, err := json.Marshal(entry)
		if err != nil {
			t.Fatalf("%q is read as %+v, and cannot be written: %v", text, entry, err)
		}
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(out) {
			t.Fatalf("%s is written as %s, %v", out, twice, err)
		}
	})
}
