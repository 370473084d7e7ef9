package transcripttest

import (
	"fmt"
	"strings"

	"github.com/cellmode/cellmode/transcript"
)

func keys(t *trial) {
	start := t.say("a")
	first := t.append(nil, keyed(user("b"), "k"))[0]
	there := func(draft transcript.Draft, opts *transcript.AppendOptions) {
		receipt := t.append(opts, draft)[0]
		if receipt.Appended() {
			t.fail("a message is appended, whose key is there already")
		}
		t.must(differs(receipt.Entry(), first.Entry()), "the receipt of a message whose key is there already")
	}
	there(keyed(user("b"), "k"), nil)
	there(keyed(user("another text"), "k"), nil)
	there(keyed(assistant("another role"), "k"), nil)
	there(beside(keyed(user("b"), "k")), nil)
	t.branchSays("a b")
	t.append(from(start), user("c"))
	there(keyed(user("b"), "k"), nil) // whatever its branch
	t.append(nil, transcript.Draft{Payload: transcript.Reset{}})
	there(keyed(user("b"), "k"), nil)
	t.branchSays("a c (reset)")
	side := t.append(nil, beside(keyed(user("side"), "s")))[0].Entry()
	if receipt := t.append(nil, keyed(user("side"), "s"))[0]; receipt.Appended() || receipt.Entry().ID != side.ID {
		t.fail("a message is appended, whose key is there beside the branch")
	}
	// Without a key each is a new one.
	if a, b := t.say("same"), t.say("same"); a == b {
		t.fail("two messages without a key are one entry")
	}
	found := t.keyed("k", "s", "none", "", "k")
	if len(found) != 2 {
		t.fail("Keyed of two keys that are there and two that are not gives %d entries", len(found))
	}
	t.must(differs(found["k"], first.Entry()), "Keyed")
	t.must(differs(found["s"], side), "Keyed, of an entry beside the branch")
	// Only messages have keys.
	member := raw(`{"idempotencyKey":"m"}`)
	for range 2 {
		receipts := t.append(nil, transcript.Draft{Payload: transcript.Custom{Type: "x", Data: member}}, transcript.Draft{Payload: transcript.Unknown{Type: "x", Members: member}})
		if !receipts[0].Appended() || !receipts[1].Appended() {
			t.fail("something that is no message is not appended, as if it had a key")
		}
	}
	// But a key is a key, however the message came by it.
	odd := transcript.Message{Role: "user", Fields: members("idempotencyKey", raw(`"m"`))}
	for i := range 2 {
		if receipt := t.append(nil, transcript.Draft{Payload: odd})[0]; receipt.Appended() != (i == 0) {
			t.fail("a message with the member idempotencyKey says Appended: %t at %d", receipt.Appended(), i)
		}
	}
}

func keysInBatch(t *trial) {
	receipts := t.append(nil, keyed(user("a"), "k"), user("b"), keyed(user("c"), "k"), keyed(user("d"), "l"), keyed(user("e"), "k"))
	for i, appended := range []bool{true, true, false, true, false} {
		if receipts[i].Appended() != appended {
			t.fail("the receipt of draft %d says Appended: %t", i, !appended)
		}
		if !appended {
			t.must(differs(receipts[i].Entry(), receipts[0].Entry()), "the receipt of draft %d, which has the key of draft 0", i)
		}
	}
	t.branchSays("a b d")
}

func oddKeys(t *trial) {
	odd := []string{
		" ", "a", "A", "a ", " a", "\x00", "a\x00", "a\x00b", "\n", "\t", "\r\n", "\ufeff", "a\ufeff", "\ufffd", "\u2028", "é", "e\u0301", "É", "ß", "ss", "ı", "i",
		"😀", "😁", "0", "00", "0.0", "1e0", "null", "undefined", "__proto__", "constructor", "%", "_", "*", "?", "'", `"`, `\`, `\u0041`, "'; DROP TABLE entries; --",
		strings.Repeat("x", 255), strings.Repeat("x", 256), strings.Repeat("x", 255) + "y", strings.Repeat("é", 512),
	}
	entries := map[string]string{}
	for i, key := range odd {
		receipt := t.append(nil, keyed(user(fmt.Sprint(i)), key))[0]
		if !receipt.Appended() {
			t.fail("the key %.40q is taken for another one", key)
		}
		entries[key] = receipt.Entry().ID
	}
	found := t.keyed(odd...)
	if len(found) != len(odd) {
		t.fail("Keyed of %d keys gives %d entries", len(odd), len(found))
	}
	for i, key := range odd {
		if got, ok := found[key]; !ok || got.ID != entries[key] {
			t.fail("Keyed gives for %.40q the entry %q (%t), not %q", key, got.ID, ok, entries[key])
		}
		if message, _ := found[key].Message(); message.IdempotencyKey != key {
			t.fail("the message with the key %.40q has the key %.40q", key, message.IdempotencyKey)
		}
		if receipt := t.append(nil, keyed(user(fmt.Sprint(i)), key))[0]; receipt.Appended() || receipt.Entry().ID != entries[key] {
			t.fail("a second message with the key %.40q is appended", key)
		}
	}
}

func keyLimit(t *trial) {
	long := strings.Repeat("k", transcript.MaxKeyBytes)
	id := t.append(nil, keyed(user("a"), long))[0].Entry().ID
	if again := t.append(nil, keyed(user("a"), long))[0]; again.Appended() || again.Entry().ID != id {
		t.fail("a key of MaxKeyBytes does not lead to its entry")
	}
	t.append(nil, keyed(user("b"), long[1:]+"l"))
	if found := t.keyed(long, long+"k", long[1:]); len(found) != 1 || found[long].ID != id {
		t.fail("Keyed of a key of MaxKeyBytes, and others, gives %d entries", len(found))
	}
	for what, key := range map[string]string{"ASCII": long + "k", "other letters": strings.Repeat("é", transcript.MaxKeyBytes/2) + "k"} {
		t.refuses("a message with a key of more than MaxKeyBytes, of "+what, transcript.ErrInvalidEntry, nil, keyed(user("x"), key))
	}
}

func claiming(draft transcript.Draft, key string) transcript.Draft {
	draft = keyed(draft, key)
	draft.Claim = true
	return draft
}

// claims checks that a draft finds an entry and claims it.
func (t *trial) claims(what string, draft transcript.Draft, want transcript.Entry) {
	before := t.state()
	for range 2 { // the second time by its key
		receipt := t.append(nil, draft)[0]
		if receipt.Appended() {
			t.fail("a claim of %s does not find it", what)
		}
		t.must(differs(receipt.Entry(), want), "what a claim of %s finds", what)
	}
	key := draft.Payload.(transcript.Message).IdempotencyKey
	if key != "" {
		t.must(differs(t.keyed(key)[key], want), "Keyed, with the key of a claim of %s", what)
	}
	t.unchanged("a claim of "+what, before)
}

// misses checks that a draft that claims is appended.
func (t *trial) misses(what string, draft transcript.Draft) {
	before := len(t.entries())
	receipt := t.append(nil, draft)[0]
	if !receipt.Appended() {
		t.fail("a claim finds %s", what)
	}
	if after := len(t.entries()); after != before+1 {
		t.fail("a claim that says Appended has appended %d entries", after-before)
	}
	t.must(payloadDiffers(t.entry(receipt.Entry().ID).Payload, draft.Payload), "what was appended by a claim that misses %s", what)
}

func claimUser(t *trial) {
	t.misses("what is not there", claiming(user("a"), "a"))
	b := t.add(user("b"))
	t.claims("the user's message", claiming(user("b"), "b"), b)
	blocks := transcript.Message{Role: "user", Content: raw(`[{"type":"text","text":"é","x":{"a":1,"b":[2]}}]`)}
	c := t.add(transcript.Draft{Payload: blocks})
	blocks.Content = raw(`[{"x":{"b":[2],"a":1},"text":"\u00e9","type":"text"}]`)
	blocks.Fields = members("timestamp", raw("7")) // it is the content that counts
	t.claims("a message with the same content in another form", claiming(transcript.Draft{Payload: blocks}, "c"), c)
	// A claim works in the batch, for what came before it, too.
	d := t.add(user("d"))
	receipts := t.append(nil, claiming(user("d"), "d"), claiming(assistant("e"), "e"))
	if receipts[0].Appended() || receipts[0].Entry().ID != d.ID || !receipts[1].Appended() {
		t.fail("a batch with a claim of what is there and one of what is not says Appended: %t, %t", receipts[0].Appended(), receipts[1].Appended())
	}
	// Not everything that looks like it is it.
	t.add(user("f"))
	t.misses("another content", claiming(user("F"), "f1"))
	t.add(transcript.Draft{Payload: transcript.Message{Role: "other", Content: raw(`"g"`)}})
	t.misses("another role", claiming(user("g"), "g1"))
	t.append(nil, keyed(user("h"), "h"))
	t.misses("a message that was appended with a key", claiming(user("h"), "h1"))
	t.append(nil, beside(user("i")))
	t.misses("a message beside the branch", claiming(user("i"), "i1"))
	j := t.add(user("j"))
	unclaimed := user("j")
	if receipt := t.append(nil, unclaimed)[0]; !receipt.Appended() || receipt.Entry().ID == j.ID {
		t.fail("a draft that does not claim finds an entry")
	}
	k := t.add(transcript.Draft{Payload: transcript.ToolResult("call", "tool", "text", false)})
	t.claims("a tool's result", claiming(transcript.Draft{Payload: transcript.ToolResult("call", "tool", "text", false)}, "k"), k)
	l := t.add(user("l"))
	for range 2 {
		draft := user("l")
		draft.Claim = true
		t.claims("a message, without a key,", draft, l)
	}
	t.claims("a message that was found without a key", claiming(user("l"), "l"), l)
	custom := transcript.Draft{Payload: transcript.Custom{Type: "x"}, Claim: true}
	for range 2 {
		if !t.append(nil, custom)[0].Appended() {
			t.fail("a claim that is no message is not appended")
		}
	}
}

func claimAssistant(t *trial) {
	t.say("question")
	text := func(content string) transcript.Draft {
		return transcript.Draft{Payload: transcript.Message{Role: "assistant", Content: raw(content)}}
	}
	a := t.add(text(`[{"type":"thinking","thinking":"hm"},{"type":"text","text":"one"},{"type":"text","text":"two"}]`))
	t.claims("the assistant's message with the same text", claiming(text(`"one\ntwo"`), "a"), a)
	b := t.append(nil, keyed(assistant("b"), "mirrored"))[0].Entry()
	t.claims("the assistant's message that has a key", claiming(assistant("b"), "b"), b)
	t.must(differs(t.keyed("mirrored")["mirrored"], b), "Keyed, with the first key of an entry that has two")
	empty := t.add(text(`[{"type":"thinking","thinking":"c"}]`))
	t.misses("another content without text", claiming(text(`[{"type":"thinking","thinking":"d"}]`), "d"))
	t.claims("the same content without text", claiming(text(`[{"type":"thinking","thinking":"c"}]`), "c"), empty)
	t.misses("another text", claiming(assistant("B"), "e"))
}

func claimCalls(t *trial) {
	t.say("question")
	calls := func(text, id string) transcript.Draft {
		return transcript.Draft{Payload: transcript.AssistantCalls(text, transcript.ToolCall{ID: id, Name: "f"})}
	}
	a := t.add(calls("let me see", "1"))
	t.misses("a message with the same text and another call", claiming(calls("let me see", "2"), "b"))
	t.add(assistant("wait"))
	t.misses("a message with the same text and no call", claiming(calls("wait", "3"), "c"))
	t.add(calls("", "4"))
	t.misses("another call without text", claiming(calls("", "5"), "d"))
	t.claims("a message with the same call", claiming(calls("let me see", "1"), "a"), a)
	e := t.add(calls("so far", "6"))
	t.claims("the text of a message with a call", claiming(assistant("so far"), "e"), e) // it loses nothing
}

func claimOnly(t *trial) {
	only := func(draft transcript.Draft, key string) transcript.Draft {
		draft = keyed(draft, key)
		draft.ClaimOnly = true
		return draft
	}
	nothing := func(what string, draft transcript.Draft) {
		before := t.state()
		if receipt := t.append(nil, draft)[0]; receipt.Appended() || receipt.Entry().Payload != nil || t.log.Issued(receipt) {
			t.fail("who only claims %s gets the receipt of %q, Appended: %t, not the zero value", what, receipt.Entry().ID, receipt.Appended())
		}
		t.unchanged("who only claims "+what, before)
	}
	nothing("what is not there", only(user("a"), "a"))
	a := t.add(user("a"))
	t.claims("the user's message, only that,", only(user("a"), "a"), a)
	t.claims("a message by its key, only that,", only(user("another text"), "a"), a)
	nothing("what was claimed", only(user("a"), "b"))
	nothing("something that is no message", transcript.Draft{Payload: transcript.Custom{Type: "x"}, ClaimOnly: true})
	b := t.add(user("b"))
	receipts := t.append(nil, only(assistant("c"), "c"), only(user("b"), "b"), assistant("c"), only(assistant("c"), "c"))
	if receipts[0].Entry().Payload != nil || receipts[1].Entry().ID != b.ID || !receipts[2].Appended() || receipts[3].Entry().ID != receipts[2].Entry().ID {
		t.fail("a batch of one that is not there, one that is, one that is appended and one that claims it gives the entries %q, %q, %q, %q",
			receipts[0].Entry().ID, receipts[1].Entry().ID, receipts[2].Entry().ID, receipts[3].Entry().ID)
	}
	t.branchSays("a b c")
	t.refuses("what cannot be an entry, only to claim it,", transcript.ErrInvalidEntry, nil, transcript.Draft{Payload: transcript.Message{}, ClaimOnly: true})
}

func claimOnce(t *trial) {
	t.say("question")
	old := t.add(assistant("same"))
	young := t.add(assistant("same"))
	t.claims("the newest of two", claiming(assistant("same"), "1"), young)
	t.claims("the other of two", claiming(assistant("same"), "2"), old)
	t.misses("an entry that was claimed", claiming(assistant("same"), "3"))
	// Of one call each draft has an entry of its own.
	receipts := t.append(nil, claiming(assistant("twice"), "4"), claiming(assistant("twice"), "5"))
	if !receipts[1].Appended() {
		t.fail("a claim finds what another draft of the batch has appended")
	}
	unkeyed := assistant("thrice")
	unkeyed.Claim = true
	first := t.add(assistant("thrice"))
	receipts = t.append(nil, unkeyed, unkeyed, claiming(assistant("thrice"), "6"))
	if receipts[0].Appended() || receipts[0].Entry().ID != first.ID || !receipts[1].Appended() || !receipts[2].Appended() {
		t.fail("three claims of one batch of what is there once say Appended: %t, %t, %t",
			receipts[0].Appended(), receipts[1].Appended(), receipts[2].Appended())
	}
	u := t.add(user("again"))
	t.claims("the user's message", claiming(user("again"), "7"), u)
	t.misses("the user's message that was claimed", claiming(user("again"), "8"))
	// A key that is there claims nothing.
	v := t.add(user("left"))
	t.append(nil, claiming(user("left"), "7"))
	t.claims("a message that was not claimed by a key that was there", claiming(user("left"), "9"), v)
}

func claimTurn(t *trial) {
	a := t.add(user("a"))
	t.append(nil, transcript.Draft{Payload: transcript.Custom{Type: "x"}}, transcript.Draft{Payload: transcript.CustomMessage{Type: "x"}},
		transcript.Draft{Payload: transcript.Compaction{Summary: "s", FirstKeptID: a.ID}}, beside(user("side")))
	t.claims("the user's message behind other entries", claiming(user("a"), "a"), a)
	t.add(user("b"))
	first := t.add(assistant("one"))
	t.append(nil, transcript.Draft{Payload: transcript.ToolResult("1", "f", "r", false)}, assistant("two"))
	t.misses("a user's message that was answered", claiming(user("b"), "b")) // which begins a turn
	t.misses("an answer of another turn", claiming(assistant("two"), "two"))
	t.move(first.ID)
	t.claims("an answer at the end of another branch", claiming(assistant("one"), "one"), first)
	t.say("c", "d")
	t.misses("a user's message before another one", claiming(user("c"), "c"))
	t.append(nil, user("e"), assistant("three"))
	t.move(transcript.Root)
	t.misses("an answer on another branch", claiming(assistant("three"), "three"))
	t.append(nil, user("f"), transcript.Draft{Payload: transcript.Reset{}})
	t.misses("a user's message before a reset", claiming(user("f"), "f"))
	long := t.add(user("long"))
	results := make([]transcript.Draft, 550)
	for i := range results {
		results[i].Payload = transcript.ToolResult(fmt.Sprint(i), "f", "r", false)
	}
	t.append(nil, results...)
	t.claims("the user's message at the beginning of a long turn", claiming(user("long"), "long"), long)
	t.add(user("longer"))
	t.append(nil, append(results, results...)...)
	t.misses("the user's message before more entries than are looked at", claiming(user("longer"), "longer"))
}
