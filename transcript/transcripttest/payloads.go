package transcripttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/cellmode/cellmode/transcript"
)

// examples has a payload of each kind that can be appended, with all of its members; id is that of an entry.
func examples(id string) []transcript.Payload {
	return []transcript.Payload{
		fullMessage(),
		transcript.ThinkingLevelChange{Level: "high"},
		transcript.ModelChange{Provider: "provider", ModelID: "model"},
		transcript.Compaction{Summary: "summary", FirstKeptID: id, TokensBefore: 1 << 53, Details: raw(`{"files":["a"]}`), FromHook: true,
			Fields: members("trigger", raw(`"overflow"`))},
		transcript.BranchSummary{FromID: id, Summary: "summary", Details: raw(`[1]`), FromHook: true},
		transcript.Custom{Type: "type", Data: raw(`{"b":1,"a":2}`)},
		transcript.CustomMessage{Type: "type", Content: raw(`[{"type":"text","text":"text"}]`), Display: true, Details: raw(`null`)},
		transcript.Label{TargetID: id, Label: "label"},
		transcript.SessionInfo{Name: "name"},
		transcript.Reset{FirstKeptID: id, Reason: "reason"},
		transcript.Unknown{Type: "of_tomorrow", Members: raw(`{"b":1,"a":{"type":"x","id":"y"}}`)},
	}
}

// fullMessage has something in each field.
func fullMessage() transcript.Message {
	display := false
	return transcript.Message{
		Role: transcript.RoleToolResult, Content: raw(`[{"type":"text","text":"text"}]`), ToolCallID: "call", ToolName: "tool", IsError: true,
		IdempotencyKey: "key", ExcludeFromContext: true, Display: &display, Provenance: raw(`{"kind":"external_user"}`),
		Meta: members("intent", raw(`"x"`), "humanMentions", raw(`[{"id":1}]`)), Fields: members("timestamp", raw(`1700000000000`), "usage", raw(`{"input":1}`)),
	}
}

// members are members of a JSON object: a name, its value, and so on.
func members(pairs ...any) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		value, _ := pairs[i+1].(json.RawMessage)
		all[pairs[i].(string)] = value
	}
	return all
}

func payloads(t *trial) {
	id := t.say("a")
	for _, payload := range examples(id) {
		t.keeps(fmt.Sprintf("a %s with all members", payload.Kind()), payload, payload)
	}
	id = t.say("b") // behind the reset
	yes := true
	for _, payload := range []transcript.Payload{
		transcript.ThinkingLevelChange{}, transcript.ModelChange{}, transcript.Compaction{}, transcript.Custom{},
		transcript.CustomMessage{Content: raw(`""`)}, transcript.Label{TargetID: id}, transcript.SessionInfo{}, transcript.Reset{},
		transcript.Unknown{Type: "x", Members: raw(`{}`)}, transcript.Message{Role: "r", Content: raw(`""`)},
		transcript.Compaction{FirstKeptID: "not there", TokensBefore: -1, Details: raw(`null`)}, transcript.BranchSummary{FromID: transcript.Root},
		transcript.Message{Role: "user", Content: raw(`"x"`), Display: &yes},
		transcript.UserText("text"), transcript.AssistantText("text"), transcript.ToolResult("c", "t", "text", false),
		transcript.AssistantCalls("text", transcript.ToolCall{ID: "1", Name: "f", Arguments: raw(`{"b":1,"a":2}`)}, transcript.ToolCall{ID: "2", Name: "g"}),
		transcript.Custom{Type: "openclaw.other", Data: raw(`"x"`)},
	} {
		t.keeps(fmt.Sprintf("a %s with few members", payload.Kind()), payload, payload)
	}
	empty := raw(`""`)
	t.keeps("a message without content", transcript.Message{Role: "user"}, transcript.Message{Role: "user", Content: empty})
	t.keeps("a custom message without content", transcript.CustomMessage{Type: "x"}, transcript.CustomMessage{Type: "x", Content: empty})
	t.keeps("a branch summary that does not say where", transcript.BranchSummary{}, transcript.BranchSummary{FromID: transcript.Root})
	t.keeps("an unknown payload without members", transcript.Unknown{Type: "x"}, transcript.Unknown{Type: "x", Members: raw(`{}`)})
}

// A JSON text in every place where one can be.
func (t *trial) keepsJSON(text, want string) {
	for what, of := range map[string]func(json.RawMessage) transcript.Payload{
		"content of a message": func(r json.RawMessage) transcript.Payload { return transcript.Message{Role: "user", Content: r} },
		"other members of a message": func(r json.RawMessage) transcript.Payload {
			return transcript.Message{Role: "user", Content: raw(`""`), Provenance: r, Meta: members("a", r), Fields: members("b", r)}
		},
		"data":    func(r json.RawMessage) transcript.Payload { return transcript.Custom{Type: "x", Data: r} },
		"details": func(r json.RawMessage) transcript.Payload { return transcript.Compaction{Details: r} },
		"details of a branch summary": func(r json.RawMessage) transcript.Payload {
			return transcript.BranchSummary{FromID: transcript.Root, Details: r}
		},
		"other members of a reset": func(r json.RawMessage) transcript.Payload { return transcript.Custom{Fields: members("a", r)} },
		"content of a custom message": func(r json.RawMessage) transcript.Payload {
			return transcript.CustomMessage{Type: "x", Content: r, Details: r}
		},
		"members of an unknown payload": func(r json.RawMessage) transcript.Payload {
			return transcript.Unknown{Type: "x", Members: append(append(raw(`{"x":`), r...), '}')}
		},
	} {
		t.keeps(fmt.Sprintf("%.60s as %s", text, what), of(raw(text)), of(raw(want)))
	}
}

func exactJSON(t *trial) {
	for _, text := range []string{
		`null`, `true`, `false`, `""`, `{}`, `[]`, `0`, `-0`, `"null"`,
		`[12345678901234567890,1915883588174806058,1.50,1e400,1E+400,-1e-400,0.1e-7,1e0,100000000000000000000000.000]`, // digits as they came
		`{"z":1,"a":2,"10":3,"2":4}`, `{"a":1,"a":2}`, // members in their order, double ones too
		`{"__proto__":{"x":1},"constructor":2,"type":3,"id":4,"":5}`,
		`"\u0041\/\n\b\ud83d\ude00\u0000\u007f"`, `{"\u0061\u0000":"\u0000"}`, // escapes as they came
		`"<script>&amp;'%s\\"`, "\"\u2028\u2029\u00a0\ufffd\ufeff\u007f\U0010ffff\"", `"é 😀 日本"`,
		strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
	} {
		t.keepsJSON(text, text)
	}
	deepest := strings.Repeat("[", 9_997) + strings.Repeat("]", 9_997) // within the entry, the message and its content
	message := transcript.Message{Role: "user", Content: raw("[" + deepest + "]")}
	t.keeps("a message as deep as it can be", message, message)
}

func compactJSON(t *trial) {
	for text, want := range map[string]string{
		" { \"a\" :\t[ 1 ,\r\n2 ] , \" b \" : \" \" } \n": `{"a":[1,2]," b ":" "}`,
		` "x" `:                     `"x"`,
		"\n7\n":                     `7`,
		`"\ud800 \udc00 \ud83d"`:    "\"\ufffd \ufffd \ufffd\"", // no text has half a surrogate pair
		`{"\udfff":"\ude00\ud83d"}`: "{\"\ufffd\":\"\ufffd\ufffd\"}",
	} {
		t.keepsJSON(text, want)
	}
}

func exactTexts(t *trial) {
	id := t.say("a")
	for _, text := range []string{
		" ", "\x00", "a\x00b", "\n\r\t\b\f", "'\"\\`", "'; DROP TABLE entries; --", "<script>&amp;", "%s%d", "\u2028\u2029", "\ufeff\ufffd\u007f", "e\u0301é",
		"😀 日本 \U0010ffff", "null", "{}", "\\u0041\\ud800", transcript.Root, strings.Repeat("long ", 10_000),
	} {
		for _, payload := range []transcript.Payload{
			transcript.UserText(text), transcript.Message{Role: text, Content: raw(`""`), ToolCallID: text, ToolName: text},
			transcript.ThinkingLevelChange{Level: text}, transcript.ModelChange{Provider: text, ModelID: text},
			transcript.Compaction{Summary: text, FirstKeptID: text}, transcript.BranchSummary{FromID: text, Summary: text},
			transcript.Custom{Type: text}, transcript.CustomMessage{Type: text, Content: raw(`""`)}, transcript.Label{TargetID: id, Label: text},
			transcript.SessionInfo{Name: text}, transcript.Unknown{Type: transcript.Kind(fmt.Sprintf("kind %.1000s", text)), Members: raw(`{}`)},
			transcript.Reset{Fields: members("x"+text, raw("2"))},
			transcript.Message{Role: "user", Content: raw(`""`), Meta: members(text, raw("1")), Fields: members("x"+text, raw("2"))},
		} {
			t.keeps(fmt.Sprintf("a %.20s with the text %.40q", payload.Kind(), text), payload, payload)
		}
		if message, ok := t.entry(t.say(text)).Message(); !ok || message.Text() != text {
			t.fail("a message with the text %.40q says %.40q", text, message.Text())
		}
		reset := transcript.Reset{FirstKeptID: text, Reason: text}
		t.keeps(fmt.Sprintf("a reset with the text %.40q", text), reset, reset)
	}
}

func oddMessages(t *trial) {
	for what, odd := range map[string]struct{ in, want transcript.Message }{
		"members of other types than their fields": {in: transcript.Message{
			Role: "user", Content: raw(`7`), Meta: members("a", raw("null")),
			Fields: members("toolCallId", raw(`7`), "toolName", raw(`null`), "isError", raw(`"no"`), "idempotencyKey", raw(`{"a":1}`),
				"excludeFromContext", raw(`1`), "display", raw(`null`)),
		}},
		"metadata of another type": {in: transcript.Message{Role: "user", Content: raw(`{}`), Fields: members("__openclaw", raw(`[1]`))}},
		"a content that is null":   {in: transcript.Message{Role: "user", Content: raw(`null`), Provenance: raw(`null`)}},
		"members like fields": {in: transcript.Message{
			Role: "user", Content: raw(`""`), Fields: members("Role", raw(`"x"`), "ROLE", raw(`1`), "content ", raw(`2`), "message", raw(`{}`), "id", raw(`3`), "type", raw(`4`)),
		}},
		"members that have a field, which is zero": {
			in: transcript.Message{Role: "toolResult", Fields: members("content", raw(`"x"`), "toolCallId", raw(`"c"`), "toolName", raw(`"t"`),
				"isError", raw(`true`), "excludeFromContext", raw(`true`), "display", raw(`false`), "provenance", raw(`1`), "__openclaw", raw(`{"a":2}`))},
			want: transcript.Message{Role: "toolResult", Content: raw(`"x"`), ToolCallID: "c", ToolName: "t", IsError: true, ExcludeFromContext: true,
				Display: new(bool), Provenance: raw(`1`), Meta: members("a", raw(`2`))},
		},
		"members that have a field, which is not zero": {
			in: transcript.Message{Role: "user", Content: raw(`"x"`), ToolName: "t", Provenance: raw(`1`), Meta: members("a", raw(`2`)),
				Fields: members("role", raw(`"y"`), "content", raw(`"y"`), "toolName", raw(`"y"`), "provenance", raw(`3`), "__openclaw", raw(`{"b":4}`), "z", raw(`5`))},
			want: transcript.Message{Role: "user", Content: raw(`"x"`), ToolName: "t", Provenance: raw(`1`), Meta: members("a", raw(`2`)), Fields: members("z", raw(`5`))},
		},
	} {
		if odd.want.Role == "" {
			odd.want = odd.in
		}
		t.keeps("a message with "+what, odd.in, odd.want)
	}
}

func unknownKinds(t *trial) {
	id := t.say("a")
	for _, unknown := range []transcript.Unknown{
		{Type: "of_tomorrow", Members: raw(`{"z":[1e400,12345678901234567890],"a":{"a":1,"a":2},"\u0041":"\/"}`)},
		{Type: "Message", Members: raw(`{"message":{"role":"user","content":"x","idempotencyKey":"k"}}`)}, // kinds have a case
		{Type: " message", Members: raw(`{}`)},
		{Type: "leaf\x00", Members: raw(`{"targetId":null}`)},
		// Not as their kinds should be.
		{Type: transcript.KindMessage, Members: raw(`{}`)},
		{Type: transcript.KindMessage, Members: raw(`{"message":{"role":"","content":"x"}}`)},
		{Type: transcript.KindMessage, Members: raw(`{"message":[{"role":"user"}]}`)},
		{Type: transcript.KindModel, Members: raw(`{"provider":7,"modelId":"m"}`)},
		{Type: transcript.KindThinkingLevel, Members: raw(`{"thinkingLevel":{}}`)},
		{Type: transcript.KindCompaction, Members: raw(`{"summary":["s"],"tokensBefore":1}`)},
		{Type: transcript.KindBranchSummary, Members: raw(`{"fromId":"root"}`)},
		{Type: transcript.KindLabel, Members: raw(`{"targetId":1}`)},
		{Type: transcript.KindLabel, Members: raw(`{"targetId":"` + id + `","label":["l"]}`)},
		{Type: transcript.KindSessionInfo, Members: raw(`{"name":[]}`)},
	} {
		t.keeps(fmt.Sprintf("an unknown %q", unknown.Type), unknown, unknown)
	}
	t.move(id) // each was appended to the branch
	t.branchSays("a")
	if settings := t.settings(""); settings != (transcript.Settings{}) {
		t.fail("an unknown entry gives the settings %+v", settings)
	}
	t.keeps("a message under the name of an unknown kind",
		transcript.Unknown{Type: transcript.KindMessage, Members: raw(`{"message":{"content":"x","role":"user"}}`)}, transcript.UserText("x"))
}

// oddMembers are of other types than their fields, or have no field.
func oddMembers(t *trial) {
	id := t.say("a")
	for in, want := range map[transcript.Kind]transcript.Payload{
		transcript.KindCompaction:    transcript.Compaction{Summary: "s", FirstKeptID: id, Fields: members("tokensBefore", raw(`1234.5`), "fromHook", raw(`"x"`), "z", raw(`[1e400]`))},
		transcript.KindBranchSummary: transcript.BranchSummary{Summary: "s", Fields: members("fromId", raw(`7`), "Summary", raw(`1`))},
		transcript.KindCustom:        transcript.Custom{Data: raw(`{}`), Fields: members("customType", raw(`null`), "data ", raw(`2`))},
		transcript.KindCustomMessage: transcript.CustomMessage{Type: "t", Content: raw(`7`), Fields: members("display", raw(`0`))},
		transcript.KindLabel:         transcript.Label{TargetID: id, Label: "l", Fields: members("color", raw(`{}`))},
		transcript.KindSessionInfo:   transcript.SessionInfo{Name: "n", Fields: members("icon", raw(`"x"`))},
		transcript.KindModel:         transcript.ModelChange{Provider: "p", ModelID: "m", Fields: members("api", raw(`null`))},
		transcript.KindThinkingLevel: transcript.ThinkingLevelChange{Level: "high", Fields: members("budget", raw(`1`))},
		transcript.KindReset:         transcript.Reset{Fields: members("reason", raw(`{"code":"idle"}`), "firstKeptEntryId", raw(`0`), "z", raw(`1`))},
	} {
		t.keeps(fmt.Sprintf("a %s with odd members", in), want, want)
	}
	if _, err := t.log.AppendAll(t.ctx, nil, from(id)); !errors.Is(err, transcript.ErrBeforeReset) {
		t.fail("going back over a reset with odd members gives the error %v, not ErrBeforeReset", err)
	}
	t.keeps("a member that has a field, which is not zero",
		transcript.Reset{Reason: "r", Fields: members("reason", raw(`"other"`))}, transcript.Reset{Reason: "r"})
	t.keeps("a member that has a field, which is zero",
		transcript.Compaction{Summary: "s", Fields: members("tokensBefore", raw(`7`), "summary", raw(`[]`))}, transcript.Compaction{Summary: "s", TokensBefore: 7})
}

func largeEntries(t *trial) {
	const megabyte = 1 << 20
	for what, text := range map[string]string{
		"letters": strings.Repeat("0123456789abcdef", megabyte/16), "emoji": strings.Repeat("😀", megabyte/4), "control characters": strings.Repeat("\x00\n", megabyte/8),
	} {
		message := transcript.UserText(text)
		t.keeps("1 MB of "+what, message, message)
	}
	objects := raw("[" + strings.Repeat(`{"id":12345678901234567890,"name":"x","tags":[1.50,null]},`, 18_000) + "0]")
	custom := transcript.Custom{Type: "x", Data: objects}
	t.keeps("1 MB of objects", custom, custom)
	// Many of them in a loop.
	drafts := make([]transcript.Draft, 20)
	for i := range drafts {
		drafts[i] = transcript.Draft{Payload: transcript.Custom{Type: fmt.Sprint(i), Data: raw(`"` + strings.Repeat("x", 200_000) + `"`)}}
	}
	t.append(from(transcript.Root), drafts...)
	entries := t.branch(nil)
	if len(entries) != len(drafts) {
		t.fail("a branch of %d large entries has %d", len(drafts), len(entries))
	}
	for i, entry := range entries {
		t.must(payloadDiffers(entry.Payload, drafts[i].Payload), "large entry %d of a branch", i)
	}
}

func detached(t *trial) {
	id := t.say("a")
	var drafts []transcript.Draft
	for _, payload := range examples(id) {
		drafts = append(drafts, transcript.Draft{Payload: payload})
	}
	want := examples(id)
	before := append([]transcript.Draft{}, drafts...)
	opts := &transcript.AppendOptions{From: id, Leaf: id}
	receipts := t.append(opts, drafts...)
	if opts.From != id || opts.Leaf != id || !opts.Time.IsZero() || opts.Authority != nil {
		t.fail("AppendAll has altered its options")
	}
	for i, draft := range drafts {
		if draft.Side || draft.Claim {
			t.fail("AppendAll has altered draft %d", i)
		}
		t.must(payloadDiffers(draft.Payload, want[i]), "draft %d, after AppendAll", i)
	}
	// The caller uses its memory again.
	for i := range drafts {
		scribble(before[i].Payload)
		drafts[i] = user("another")
	}
	for i, receipt := range receipts {
		t.must(payloadDiffers(receipt.Entry().Payload, want[i]), "a receipt, when the draft was altered")
		t.must(payloadDiffers(t.at(i+1).Payload, want[i]), "an entry, when the draft was altered")
	}
	found, err := t.log.Keyed(t.ctx, "key")
	t.must(err, "Keyed")
	delete(found, "key")
	found["other"] = receipts[0]
	if found := t.keyed("key", "other"); len(found) != 1 {
		t.fail("Keyed gives %d entries when the caller has altered what it gave before, not 1", len(found))
	}
	receipts[0] = transcript.Receipt{}
	if again := t.append(nil, transcript.Draft{Payload: fullMessage()})[0]; again.Appended() {
		t.fail("a key is not there any more, when the draft was altered")
	}
}

// scribble overwrites everything in a payload that others could share.
func scribble(payload transcript.Payload) {
	over := func(texts ...json.RawMessage) {
		for _, text := range texts {
			copy(text, strings.Repeat("7", len(text)))
		}
	}
	switch p := payload.(type) {
	case transcript.Message:
		over(p.Content, p.Provenance)
		for _, all := range []map[string]json.RawMessage{p.Meta, p.Fields} {
			for value := range maps.Values(all) {
				over(value)
			}
			clear(all)
			all["tampered"] = raw("true")
		}
		*p.Display = !*p.Display
	case transcript.Compaction:
		over(p.Details)
		clear(p.Fields)
	case transcript.BranchSummary:
		over(p.Details)
	case transcript.Custom:
		over(p.Data)
	case transcript.CustomMessage:
		over(p.Content, p.Details)
	case transcript.Unknown:
		over(p.Members)
	}
}
