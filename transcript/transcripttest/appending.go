package transcripttest

import (
	"errors"
	"strings"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

func atomicBatch(t *trial) {
	start := t.say("a")
	t.append(nil, user("host"))
	claiming := keyed(user("host"), "claimed")
	claiming.Claim = true
	unknown := transcript.Draft{Payload: transcript.Label{TargetID: "00000000"}}
	for what, bad := range map[string]struct {
		want  error
		draft transcript.Draft
	}{
		"that cannot be an entry":         {transcript.ErrInvalidEntry, transcript.Draft{Payload: transcript.Message{}}},
		"with an unknown target":          {transcript.ErrUnknownEntry, unknown},
		"without a payload":               {transcript.ErrInvalidEntry, transcript.Draft{}},
		"with an unknown target, as side": {transcript.ErrUnknownEntry, beside(unknown)},
	} {
		good := []transcript.Draft{claiming, keyed(user("x"), "k"), beside(keyed(user("y"), "l")), {Payload: transcript.Reset{}}, user("z")}
		for at := range len(good) + 1 {
			drafts := append(append(append([]transcript.Draft{}, good[:at]...), bad.draft), good[at:]...)
			t.refuses("a batch with a draft "+what, bad.want, nil, drafts...)
			t.refuses("a batch on a new branch with a draft "+what, bad.want, from(start), drafts...)
		}
	}
	no := errors.New("no")
	t.refuses("a batch without authority", no, &transcript.AppendOptions{From: start, Authority: func() error { return no }},
		claiming, keyed(user("x"), "k"), transcript.Draft{Payload: transcript.Reset{}})
	// Nothing is left of them: no key, no claim, no reset.
	if found := t.keyed("k", "l", "claimed"); len(found) > 0 {
		t.fail("batches that were refused have left %d keys", len(found))
	}
	receipts := t.append(nil, claiming, keyed(user("x"), "k"))
	if receipts[0].Appended() || !receipts[1].Appended() {
		t.fail("after batches that were refused, a claim says Appended: %t, and a key: %t", receipts[0].Appended(), receipts[1].Appended())
	}
	t.move(start)
	t.branchSays("a")
}

func invalidDrafts(t *trial) {
	t.say("a")
	refuse := func(what string, payload transcript.Payload) {
		t.refuses(what, transcript.ErrInvalidEntry, nil, transcript.Draft{Payload: payload})
	}
	refuse("no payload", nil)
	refuse("a leaf", transcript.Leaf{})
	refuse("a leaf", transcript.Leaf{TargetID: t.leaf()})
	refuse("a leaf under the name of an unknown kind", transcript.Unknown{Type: transcript.KindLeaf, Members: raw(`{"targetId":"` + t.leaf() + `"}`)})
	refuse("an odd leaf under the name of an unknown kind", transcript.Unknown{Type: transcript.KindLeaf, Members: raw(`{"targetId":7}`)})
	refuse("a pointer to a message", new(transcript.UserText("x")))
	refuse("a pointer to nothing", (*transcript.Custom)(nil))
	refuse("another type", struct{ transcript.Custom }{})

	refuse("a message without a role", transcript.Message{Content: raw(`"x"`)})
	for _, role := range []string{"compactionSummary", "branchSummary"} {
		refuse("a message of the role "+role, transcript.Message{Role: role, Content: raw(`"x"`)})
		refuse("a message of the role "+role+" under the name of an unknown kind",
			transcript.Unknown{Type: transcript.KindMessage, Members: raw(`{"message":{"role":"` + role + `","content":"x"}}`)})
	}
	for _, bad := range []string{"", " ", `1,"b":2`, "{", `"x`, "nul", "1 2", `{"a":}`, "[1,]", "NaN", `"\x"`, "\"\n\"", strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)} {
		text := raw(bad)
		refuse("a message with a content that is no JSON", transcript.Message{Role: "user", Content: text})
		refuse("a message with a member that is no JSON", transcript.Message{Role: "user", Fields: members("x", text)})
		refuse("a compaction with a member that is no JSON", transcript.Compaction{Fields: members("x", text)})
		refuse("a message with metadata that is no JSON", transcript.Message{Role: "user", Meta: members("x", text)})
		if bad != "" { // which is none
			refuse("custom data that is no JSON", transcript.Custom{Type: "x", Data: text})
			refuse("details that are no JSON", transcript.Compaction{Details: text})
			refuse("an unknown payload that is no JSON", transcript.Unknown{Type: "x", Members: text})
			refuse("a message with a provenance that is no JSON", transcript.Message{Role: "user", Provenance: text})
		}
	}
	refuse("a message with a member that has no value", transcript.Message{Role: "user", Fields: members("x", nil)})
	for _, bad := range []string{`[]`, `"x"`, `7`, `null`} {
		refuse("an unknown payload that is no object", transcript.Unknown{Type: "x", Members: raw(bad)})
	}
	for _, kind := range []transcript.Kind{"", " \t", "session", transcript.Kind(strings.Repeat("k", transcript.MaxKeyBytes+1))} {
		refuse("an unknown payload without a kind that can be one", transcript.Unknown{Type: kind, Members: raw(`{}`)})
	}
	for _, name := range []string{"type", "id", "parentId", "timestamp", "appendMode"} {
		refuse("a reset with the member "+name, transcript.Reset{Fields: members(name, raw(`"x"`))})
		refuse("an unknown payload with the member "+name, transcript.Unknown{Type: "x", Members: raw(`{"` + name + `":"x"}`)})
	}
	for _, bad := range []string{"\xff", "a\xc3", "\xed\xa0\x80"} {
		quoted := raw(`{"x":"` + bad + `"}`)
		for _, payload := range []transcript.Payload{
			transcript.Message{Role: bad}, transcript.Message{Role: "user", Content: quoted}, transcript.Message{Role: "user", ToolCallID: bad},
			transcript.Message{Role: "user", ToolName: bad}, transcript.Message{Role: "user", IdempotencyKey: bad},
			transcript.Message{Role: "user", Provenance: quoted}, transcript.Message{Role: "user", Meta: members("x", quoted)},
			transcript.Message{Role: "user", Fields: members("x", quoted)}, transcript.Message{Role: "user", Fields: members(bad, raw("1"))},
			transcript.Message{Role: "user", Meta: members(bad, raw("1"))},
			transcript.ThinkingLevelChange{Level: bad}, transcript.ModelChange{Provider: bad}, transcript.ModelChange{ModelID: bad},
			transcript.Compaction{Summary: bad}, transcript.Compaction{FirstKeptID: bad}, transcript.Compaction{Details: quoted},
			transcript.BranchSummary{FromID: bad}, transcript.BranchSummary{Summary: bad}, transcript.BranchSummary{Details: quoted},
			transcript.Custom{Type: bad}, transcript.Custom{Data: quoted},
			transcript.CustomMessage{Type: bad}, transcript.CustomMessage{Content: quoted}, transcript.CustomMessage{Details: quoted},
			transcript.Label{TargetID: t.leaf(), Label: bad}, transcript.SessionInfo{Name: bad}, transcript.Reset{Reason: bad},
			transcript.Reset{FirstKeptID: bad}, transcript.Reset{Fields: members("x", quoted)}, transcript.Reset{Fields: members(bad, raw("1"))}, transcript.Unknown{Type: transcript.Kind(bad)}, transcript.Unknown{Type: "x", Members: quoted},
		} {
			refuse("a payload that is not UTF-8", payload)
		}
	}
	t.branchSays("a")
}

func entryLimit(t *trial) {
	around := len(`{"customType":"x","data":""}`)
	largest := transcript.Custom{Type: "x", Data: raw(`"` + strings.Repeat("x", transcript.MaxEntryBytes-around) + `"`)}
	id := t.add(transcript.Draft{Payload: largest}).ID
	t.must(payloadDiffers(t.entry(id).Payload, largest), "an entry of MaxEntryBytes")
	// It is the JSON that counts, not the text that it stands for.
	const escape = `\u0000`
	escapes := (transcript.MaxEntryBytes - around) / len(escape)
	larger := strings.Repeat(escape, escapes) + strings.Repeat("x", transcript.MaxEntryBytes-around-escapes*len(escape)+1)
	drafts := []transcript.Draft{user("before"), {Payload: transcript.Custom{Type: "x", Data: raw(`"` + larger + `"`)}}}
	if _, err := t.log.AppendAll(t.ctx, drafts, nil); !errors.Is(err, transcript.ErrEntryTooLarge) {
		t.fail("AppendAll of an entry of MaxEntryBytes and one gives the error %v, not ErrEntryTooLarge", err)
	}
	if leaf := t.leaf(); leaf != id {
		t.fail("AppendAll with an entry of MaxEntryBytes and one has appended something")
	}
}

func conflicts(t *trial) {
	at := func(leaf string) *transcript.AppendOptions { return &transcript.AppendOptions{Leaf: leaf} }
	a := t.append(at(transcript.Root), user("a"))[0].Entry().ID
	t.refuses("a draft with the Leaf Root, which was left", transcript.ErrConflict, at(transcript.Root), user("x"))
	b := t.append(at(a), user("b"))[0].Entry().ID
	t.refuses("a draft with a Leaf that was left", transcript.ErrConflict, at(a), user("x"))
	t.refuses("a draft with a Leaf that was left, From there", transcript.ErrConflict, &transcript.AppendOptions{Leaf: a, From: a}, user("x"))
	t.refuses("a move with a Leaf that was left", transcript.ErrConflict, &transcript.AppendOptions{Leaf: a, From: a})
	t.append(nil, keyed(user("c"), "k"))
	t.refuses("a draft that is there, with a Leaf that was left", transcript.ErrConflict, at(b), keyed(user("c"), "k"))
	c := t.leaf()
	t.move(a)
	t.refuses("a draft with the Leaf of a branch that was left", transcript.ErrConflict, at(c), user("x"))
	t.append(at(a), user("d"))
	t.branchSays("a d")
	t.move(transcript.Root)
	t.refuses("a draft with a Leaf that was left for Root", transcript.ErrConflict, at(a), user("x"))
	asked := false
	t.refuses("a draft with a Leaf that was left", transcript.ErrConflict,
		&transcript.AppendOptions{Leaf: a, Authority: func() error { asked = true; return errors.New("no") }}, user("x"))
	if asked {
		t.fail("the authority is asked for an append that is a conflict already")
	}
	t.append(at(transcript.Root), user("e"))
	t.branchSays("e")
}

func times(t *trial) {
	at := func(when time.Time) *transcript.AppendOptions { return &transcript.AppendOptions{Time: when} }
	is := func(entry transcript.Entry, want time.Time) {
		for what, got := range map[string]time.Time{"the receipt": entry.Time, "Entry": t.entry(entry.ID).Time} {
			if !got.Equal(want) {
				t.fail("%s has the time %v, not %v", what, got, want)
			}
			if got.Location() != time.UTC {
				t.fail("%s has a time that is not in UTC: %v", what, got)
			}
		}
	}
	// The entries' times need not ascend.
	for _, when := range []time.Time{
		time.Date(2024, 2, 29, 23, 59, 59, 999_999_999, time.FixedZone("", 14*3600)), time.UnixMilli(0), time.UnixMilli(1), time.UnixMilli(-1),
		time.Date(1, 1, 1, 0, 0, 0, 1e6, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC), time.Date(1999, 1, 1, 0, 0, 0, 1, time.UTC),
		time.Now().Add(-time.Hour), time.Now().Add(time.Hour),
	} {
		want := when.UTC().Truncate(time.Millisecond)
		for _, receipt := range t.append(at(when), user("x"), beside(user("y"))) {
			is(receipt.Entry(), want)
		}
		t.append(&transcript.AppendOptions{Time: when, From: t.at(0).ID})
		is(t.at(len(t.entries())-1), want) // of the leaf entry, too
	}
	for _, year := range []int{0, -1, 10_000, 300_000_000, -300_000_000} {
		t.refuses("an entry of another age", transcript.ErrInvalidEntry, at(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)), user("x"))
	}
	for range 2 {
		before := time.Now().Truncate(time.Millisecond)
		entry := t.append(at(time.Time{}), user("now"))[0].Entry()
		if after := time.Now(); entry.Time.Before(before) || entry.Time.After(after) {
			t.fail("an entry appended between %v and %v has the time %v", before, after, entry.Time)
		}
		is(entry, entry.Time.Truncate(time.Millisecond))
	}
	first := t.append(at(time.UnixMilli(1000)), keyed(user("a"), "k"))[0].Entry()
	is(t.append(at(time.UnixMilli(2000)), keyed(user("a"), "k"))[0].Entry(), first.Time) // it was there
}

func authority(t *trial) {
	asked := 0
	verdict := error(nil)
	opts := func(from string) *transcript.AppendOptions {
		return &transcript.AppendOptions{From: from, Authority: func() error { asked++; return verdict }}
	}
	calls := func(want int, what string) {
		if asked != want {
			t.fail("the authority was asked %d times for %s, not %d times", asked, what, want)
		}
		asked = 0
	}
	a := t.append(opts(""), keyed(user("a"), "k"), user("b"))[0].Entry().ID
	calls(1, "a batch")
	t.append(opts(""), keyed(user("a"), "k"))
	calls(1, "a draft that is there")
	t.append(opts(a))
	calls(1, "a move")
	t.branchSays("a")
	verdict = errors.New("not yours")
	t.refuses("a draft without authority", verdict, opts(""), user("x"))
	t.refuses("a branch without authority", verdict, opts(transcript.Root), user("x"))
	t.refuses("a move without authority", verdict, opts(transcript.Root))
	t.refuses("a draft that is there, without authority", verdict, opts(""), keyed(user("a"), "k"))
	calls(4, "four appends")
	verdict = nil
	t.append(opts(""), user("c"))
	t.branchSays("a c")
}

func panickingAuthority(t *trial) {
	t.say("a")
	before := t.state()
	cause := errors.New("of the authority")
	func() {
		defer func() {
			if got := recover(); got != cause { // a log may not swallow it
				t.fail("AppendAll with an authority that panics ends with the panic %v, not with that of the authority", got)
			}
		}()
		t.log.AppendAll(t.ctx, []transcript.Draft{keyed(user("x"), "k")}, &transcript.AppendOptions{From: transcript.Root, Authority: func() error { panic(cause) }})
	}()
	t.unchanged("AppendAll with an authority that panics", before)
	if receipt := t.append(nil, keyed(user("b"), "k"))[0]; !receipt.Appended() {
		t.fail("the key of an append that ended with a panic is there")
	}
	t.branchSays("a b")
}
