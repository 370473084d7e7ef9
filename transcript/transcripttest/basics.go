package transcripttest

import (
	"errors"
	"fmt"

	"github.com/cellmode/cellmode/transcript"
)

func emptySession(t *trial) {
	for range 2 {
		for _, log := range append(t.logs, t.log) {
			if key := log.Key(); key != t.key {
				t.fail("Key is %q, not %q", key, t.key)
			}
			if id, again := log.ID(), t.log.ID(); id == "" || id != again {
				t.fail("ID is %q, then %q: it must not be empty, and stay the same", id, again)
			}
		}
		if leaf := t.leaf(); leaf != transcript.Root {
			t.fail("Leaf of a new session is %q", leaf)
		}
		t.branchSays("")
		t.allSay("")
		if settings := t.settings(""); settings != (transcript.Settings{}) {
			t.fail("Settings of a new session are %+v", settings)
		}
		if found := t.keyed(); len(found) > 0 {
			t.fail("Keyed without keys gives %d entries", len(found))
		}
		if found := t.keyed("k", ""); len(found) > 0 {
			t.fail("Keyed gives %d entries of a new session", len(found))
		}
	}
}

func chain(t *trial) {
	first := t.add(user("a"))
	if first.ParentID != transcript.Root {
		t.fail("the parent of the first entry is %q", first.ParentID)
	}
	t.branchSays("a")
	t.append(nil, assistant("b"), user("c"), transcript.Draft{Payload: transcript.Custom{Type: "x"}}, assistant("d"))
	last := t.add(user("e"))
	if leaf := t.leaf(); leaf != last.ID {
		t.fail("Leaf is %q after %q was appended", leaf, last.ID)
	}
	t.branchSays("a b c (custom) d e")
	t.same("Entries, compared with Branch,", t.entries(), t.branch(nil))
	// Every kind of entry is followed by the next one.
	want := "a b c (custom) d e"
	for _, payload := range examples(first.ID) {
		entry := t.add(transcript.Draft{Payload: payload})
		if entry.ParentID != last.ID {
			t.fail("a %s has the parent %q, not %q, the leaf", payload.Kind(), entry.ParentID, last.ID)
		}
		last = entry
		want += " " + says([]transcript.Entry{entry})
	}
	t.branchSays(want)
}

func uniqueIDs(t *trial) {
	seen := map[string]bool{"": true, transcript.Root: true}
	for range 4 {
		drafts := make([]transcript.Draft, 150)
		for i := range drafts {
			drafts[i] = user("the same")
			drafts[i].Side = i%3 == 0
		}
		for _, receipt := range t.append(nil, drafts...) {
			if id := receipt.Entry().ID; seen[id] {
				t.fail("the id %q is not the only one, or none at all", id)
			} else {
				seen[id] = true
			}
		}
		t.move(transcript.Root)
	}
	for _, entry := range t.entries() {
		if entry.Kind() == transcript.KindLeaf && seen[entry.ID] {
			t.fail("the id %q of a leaf entry is not the only one, or none at all", entry.ID)
		}
		seen[entry.ID] = true
	}
}

func receiptPerDraft(t *trial) {
	t.append(nil, keyed(user("there"), "k"))
	receipts := t.append(nil, user("a"), keyed(user("again"), "k"), beside(user("b")), assistant("c"))
	var entries []transcript.Entry
	for i, receipt := range receipts {
		entry := receipt.Entry()
		entries = append(entries, entry)
		if receipt.Appended() != (i != 1) {
			t.fail("the receipt of draft %d says Appended: %t", i, receipt.Appended())
		}
		if anchor := (transcript.Anchor{SessionKey: t.log.Key(), SessionID: t.log.ID(), EntryID: entry.ID}); receipt.Anchor() != anchor {
			t.fail("the receipt of draft %d has the anchor %+v, not %+v", i, receipt.Anchor(), anchor)
		}
		t.must(differs(entry, t.entry(entry.ID)), "the receipt of draft %d, compared with Entry", i)
	}
	if got := says(entries); got != "a there b c" {
		t.fail("the receipts have the entries %q, not those of their drafts in order", got)
	}
}

func noDrafts(t *trial) {
	t.append(nil)
	t.append(&transcript.AppendOptions{}) // nil and the zero value are the same
	t.say("a")
	before := t.state()
	t.append(nil)
	t.append(&transcript.AppendOptions{})
	t.unchanged("AppendAll without drafts", before)
	asked := 0
	t.append(&transcript.AppendOptions{Leaf: t.leaf(), Authority: func() error { asked++; return nil }})
	if asked != 1 {
		t.fail("AppendAll without drafts asks the authority %d times, not once", asked)
	}
	t.unchanged("AppendAll without drafts", before)
	t.refuses("no drafts behind a leaf that was left", transcript.ErrConflict, &transcript.AppendOptions{Leaf: transcript.Root})
}

func readByID(t *trial) {
	t.say("a", "b")
	t.append(nil, beside(user("side")))
	t.move(transcript.Root)
	t.say("c")
	for _, entry := range t.entries() {
		t.must(differs(t.entry(entry.ID), entry), "Entry, compared with Entries")
	}
	// Entries never change, whatever comes later.
	before := t.entries()
	first := t.at(0).ID
	t.move(first)
	t.append(nil, transcript.Draft{Payload: transcript.Label{TargetID: first, Label: "l"}}, transcript.Draft{Payload: transcript.Reset{}})
	t.say("d")
	t.at(len(before))
	t.same("the list of the first entries", t.entries()[:len(before)], before)
}

func unknownEntries(t *trial) {
	known := t.say("a")
	names := []string{"00000000", "no such entry", known + " ", known + "\x00", " " + known, "\x00", "'", "%", known[:len(known)-1]}
	for _, id := range append(names, "", transcript.Root) {
		if entry, err := t.log.Entry(t.ctx, id); !errors.Is(err, transcript.ErrUnknownEntry) {
			t.fail("Entry of %q gives the error %v and the entry %q, not ErrUnknownEntry", id, err, entry.ID)
		}
		t.refuses(fmt.Sprintf("a label of %q", id), transcript.ErrUnknownEntry, nil,
			transcript.Draft{Payload: transcript.Label{TargetID: id, Label: "l"}})
	}
	for _, id := range names {
		if _, err := t.log.Settings(t.ctx, id); !errors.Is(err, transcript.ErrUnknownEntry) {
			t.fail("Settings of %q give the error %v, not ErrUnknownEntry", id, err)
		}
		calls := 0
		t.log.Branch(t.ctx, &transcript.BranchOptions{To: id})(func(entry transcript.Entry, err error) bool {
			if calls++; !errors.Is(err, transcript.ErrUnknownEntry) || entry.Payload != nil || calls > 1 {
				t.fail("Branch to %q gives the entry %q and the error %v, as the %d. thing, not only ErrUnknownEntry", id, entry.ID, err, calls)
			}
			return true
		})
		if calls == 0 {
			t.fail("Branch to %q ends without an error", id)
		}
		t.refuses(fmt.Sprintf("a draft From %q", id), transcript.ErrUnknownEntry, from(id), user("b"))
		t.refuses(fmt.Sprintf("a draft with the Leaf %q", id), transcript.ErrUnknownEntry, &transcript.AppendOptions{Leaf: id}, user("b"))
	}
}

func receipts(t *trial) {
	own := t.append(nil, keyed(user("a"), "k"))[0]
	again := t.append(nil, keyed(user("a"), "k"))[0]
	for what, receipt := range map[string]transcript.Receipt{"of an entry that it has appended": own, "of an entry that was there": again} {
		if !t.log.Issued(receipt) {
			t.fail("the log does not know its own receipt %s", what)
		}
	}
	if found := t.keyed("k"); len(found) != 1 { // which sees whether they are known
		t.fail("Keyed of a key that is there gives %d entries", len(found))
	}
	forged := transcript.NewIssuer().Receipt(t.log.Key(), t.log.ID(), own.Entry(), true)
	for what, receipt := range map[string]transcript.Receipt{"the zero value": {}, "a receipt of another issuer": forged} {
		if t.log.Issued(receipt) {
			t.fail("Issued says true of %s", what)
		}
	}
	if err := differs(own.Entry(), t.entry(own.Entry().ID)); err != nil {
		t.fail("a receipt changes: %w", err)
	}
}

func apart(t *trial) {
	names := []string{" ", "a", "A", "a ", "a\x00", "a/b", "a:b", "../a", "%", "_", "'", "é", "e\u0301", "日本", "__proto__", t.key}
	logs := []transcript.Log{t.log}
	at := []*trial{t}
	for _, name := range names {
		own := *t
		own.key = t.key + " " + name
		own.log = t.open(own.key)
		own.logs = []transcript.Log{own.log}
		emptySession(&own)
		for _, other := range logs {
			if other.ID() == own.log.ID() {
				t.fail("the sessions %q and %q have the same ID %q", other.Key(), own.key, own.log.ID())
			}
		}
		logs = append(logs, own.log)
		at = append(at, &own)
	}
	var entries []transcript.Entry
	for i, own := range at {
		entries = append(entries, own.append(nil, keyed(user(fmt.Sprint("first of ", i)), "k"))[0].Entry())
	}
	for i, own := range at {
		own.move(transcript.Root)
		own.say(fmt.Sprint("second of ", i))
	}
	for i, own := range at {
		own.branchSays(fmt.Sprint("second of ", i))
		own.allSay(fmt.Sprintf("first of %d (leaf) second of %d", i, i))
		t.must(differs(own.keyed("k")["k"], entries[i]), "the entry of a key that other sessions have, too")
		other := entries[(i+1)%len(at)].ID
		if other == entries[i].ID {
			continue // ids are unique within a session only
		}
		if entry, err := own.log.Entry(t.ctx, other); !errors.Is(err, transcript.ErrUnknownEntry) {
			t.fail("Entry of an id of another session gives %q and the error %v, not ErrUnknownEntry", entry.ID, err)
		}
		own.refuses("a draft From an entry of another session", transcript.ErrUnknownEntry, from(other), user("x"))
	}
}
