package transcripttest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cellmode/cellmode/transcript"
)

func branchFrom(t *trial) {
	t.say("a")
	b := t.say("b")
	t.say("c")
	receipts := t.append(from(b), user("d"), user("e"))
	if parent := receipts[0].Entry().ParentID; parent != b {
		t.fail("the parent of what was appended From %q is %q", b, parent)
	}
	t.branchSays("a b d e")
	t.allSay("a b c (leaf) d e") // everything stays
	if leaf, ok := t.at(3).Payload.(transcript.Leaf); !ok || leaf.TargetID != b {
		t.fail("the leaf entry leads to %q, not to %q", leaf.TargetID, b)
	}
	t.say("f")
	t.branchSays("a b d e f")
	// From the leaf is nothing special.
	t.append(from(t.leaf()), user("g"))
	t.branchSays("a b d e f g")
	t.allSay("a b c (leaf) d e f g")
	// One entry may have many branches.
	for i := range 5 {
		t.append(from(b), user(fmt.Sprint(i)))
		t.branchSays(fmt.Sprint("a b ", i))
	}
	t.append(&transcript.AppendOptions{Leaf: t.leaf(), From: b}, user("h")) // the leaf that was seen is that before
	t.branchSays("a b h")
}

func moveLeaf(t *trial) {
	a := t.say("a")
	b := t.say("b")
	t.append(from(b))
	t.allSay("a b") // it was the leaf already
	t.move(a)
	t.branchSays("a")
	t.allSay("a b (leaf)")
	t.move(b) // back on the branch that was left
	t.branchSays("a b")
	t.say("c")
	t.branchSays("a b c")
	t.move(a)
	t.move(b)
	t.say("d")
	t.branchSays("a b d")
	t.allSay("a b (leaf) (leaf) c (leaf) (leaf) d")
}

func fromRoot(t *trial) {
	t.append(from(transcript.Root))
	t.allSay("") // the leaf was there
	a := t.say("a")
	t.move(transcript.Root)
	t.branchSays("")
	if leaf, ok := t.at(1).Payload.(transcript.Leaf); !ok || leaf.TargetID != transcript.Root {
		t.fail("the leaf entry leads to %q, not to the beginning", leaf.TargetID)
	}
	if first := t.add(user("b")); first.ParentID != transcript.Root {
		t.fail("the parent of the first entry behind Root is %q", first.ParentID)
	}
	t.branchSays("b")
	t.append(from(transcript.Root), user("c"), user("d"))
	t.branchSays("c d")
	t.move(a)
	t.branchSays("a")
	t.allSay("a (leaf) b (leaf) c d (leaf)")
}

func branchTo(t *trial) {
	a, b, c := t.say("a"), t.say("b"), t.say("c")
	side := t.append(nil, beside(user("side")))[0].Entry().ID
	t.append(from(a), user("d"))
	for _, test := range []struct{ to, want string }{
		{a, "a"}, {b, "a b"}, {c, "a b c"}, {side, "a b c side"}, {t.leaf(), "a d"}, {"", "a d"}, {transcript.Root, ""},
	} {
		entries := t.branch(&transcript.BranchOptions{To: test.to})
		if got := says(entries); got != test.want {
			t.fail("the branch to %q is %q, not %q", test.to, got, test.want)
		}
		if len(entries) > 0 && test.to != "" && entries[len(entries)-1].ID != test.to {
			t.fail("the branch to %q ends with %q", test.to, entries[len(entries)-1].ID)
		}
		backwards := t.branch(&transcript.BranchOptions{To: test.to, NewestFirst: true})
		slices.Reverse(backwards)
		t.same(fmt.Sprintf("the branch to %q, newest first,", test.to), backwards, entries)
		// A session that was not imported has no flaws.
		t.same("the branch read strictly", t.branch(&transcript.BranchOptions{To: test.to, Strict: true}), entries)
	}
	t.same("the branch without options", t.branch(nil), t.branch(&transcript.BranchOptions{}))
}

func newestFirst(t *trial) {
	const n = 400 // more than what is read at a time
	for i := range 4 {
		drafts := make([]transcript.Draft, n/4)
		for j := range drafts {
			drafts[j] = user(fmt.Sprint(i*n/4 + j))
		}
		t.append(nil, drafts...)
	}
	entries := t.branch(nil)
	if len(entries) != n {
		t.fail("a branch of %d entries has %d", n, len(entries))
	}
	for i := range entries {
		if got := says(entries[i : i+1]); got != fmt.Sprint(i) {
			t.fail("at %d of the branch is %q", i, got)
		}
	}
	backwards := t.branch(&transcript.BranchOptions{NewestFirst: true})
	slices.Reverse(backwards)
	t.same("the branch, newest first,", backwards, entries)
	t.append(from(entries[n/2].ID), user("x"))
	entries = append(entries[:n/2+1], t.entry(t.leaf()))
	t.same("the branch", t.branch(nil), entries)
	slices.Reverse(entries)
	t.same("the branch, newest first,", t.branch(&transcript.BranchOptions{NewestFirst: true}), entries)
}

func leafEntries(t *trial) {
	a := t.say("a")
	t.say("b")
	t.move(a)
	to := t.at(2).ID
	t.append(nil, transcript.Draft{Payload: transcript.ModelChange{Provider: "p", ModelID: "m"}})
	if got := says(t.branch(&transcript.BranchOptions{To: to})); got != "a" {
		t.fail("the branch to a leaf entry is %q, not that to where it leads, %q", got, "a")
	}
	if settings := t.settings(to); settings != (transcript.Settings{}) {
		t.fail("Settings of a leaf entry are %+v, not those of where it leads", settings)
	}
	t.refuses("a draft with the Leaf that was left", transcript.ErrConflict, &transcript.AppendOptions{Leaf: to}, user("x"))
	if parent := t.append(from(to), user("c"))[0].Entry().ParentID; parent != a {
		t.fail("what was appended From a leaf entry has the parent %q, not %q, where that leads", parent, a)
	}
	t.branchSays("a c")
	t.move(transcript.Root)
	root := t.at(6).ID
	t.append(&transcript.AppendOptions{Leaf: root}, user("d"))
	t.branchSays("d")
	t.append(from(root), user("e"))
	t.branchSays("e")
}

func sideEntries(t *trial) {
	first := t.append(nil, beside(user("s0")))[0].Entry()
	if first.ParentID != transcript.Root || t.leaf() != transcript.Root {
		t.fail("after an entry beside an empty branch the leaf is %q, and its parent %q", t.leaf(), first.ParentID)
	}
	if a := t.add(user("a")); a.ParentID != transcript.Root {
		t.fail("an entry follows %q, which stands beside the branch", a.ParentID)
	}
	leaf := t.leaf()
	receipts := t.append(nil, beside(user("s1")), beside(user("s2")), user("b"), beside(user("s3")))
	for i, want := range []string{leaf, leaf, leaf, receipts[2].Entry().ID} {
		if entry := receipts[i].Entry(); entry.ParentID != want || entry.Side != (i != 2) {
			t.fail("entry %d of a batch has the parent %q and says Side: %t, not %q and %t", i, entry.ParentID, entry.Side, want, i != 2)
		}
	}
	t.branchSays("a b")
	t.allSay("s0 a s1 s2 b s3")
	t.append(&transcript.AppendOptions{Leaf: receipts[2].Entry().ID}, user("c")) // s3 has not changed the leaf
	t.branchSays("a b c")
	t.append(nil, beside(transcript.Draft{Payload: transcript.ModelChange{Provider: "p", ModelID: "m"}}))
	if settings := t.settings(""); settings != (transcript.Settings{}) {
		t.fail("an entry beside the branch gives it the settings %+v", settings)
	}
	t.append(from(receipts[1].Entry().ID), user("d")) // but a branch may begin there
	t.branchSays("a s2 d")
}

func labels(t *trial) {
	a := t.say("a")
	b := t.say("b")
	side := t.append(nil, beside(user("side")))[0].Entry().ID
	t.append(from(a), user("c"))
	t.append(nil, transcript.Draft{Payload: transcript.Reset{}})
	want := "a c (reset)"
	for _, target := range []string{a, b, side, t.leaf(), t.at(3).ID} { // whatever its branch
		for _, text := range []string{"one", "another", ""} {
			label := transcript.Label{TargetID: target, Label: text}
			entry := t.add(transcript.Draft{Payload: label})
			t.must(payloadDiffers(t.entry(entry.ID).Payload, label), "a label of %q", target)
			want += " (label)"
		}
	}
	t.branchSays(want)
	unknown := transcript.Draft{Payload: transcript.Label{TargetID: "00000000", Label: "l"}}
	t.refuses("a label of an unknown entry", transcript.ErrUnknownEntry, nil, unknown)
	t.refuses("a label of an unknown entry behind others", transcript.ErrUnknownEntry, nil, user("x"), unknown)
	t.refuses("a label of an unknown entry beside the branch", transcript.ErrUnknownEntry, nil, beside(unknown))
	t.refuses("a label of no entry", transcript.ErrUnknownEntry, nil, transcript.Draft{Payload: transcript.Label{Label: "l"}})
	t.refuses("a label of Root", transcript.ErrUnknownEntry, nil, transcript.Draft{Payload: transcript.Label{TargetID: transcript.Root}})
	t.refuses("an unknown label of an unknown entry", transcript.ErrUnknownEntry, nil,
		transcript.Draft{Payload: transcript.Unknown{Type: transcript.KindLabel, Members: raw(`{"targetId":"00000000"}`)}})
}

func resets(t *trial) {
	reset := transcript.Draft{Payload: transcript.Reset{Reason: "r"}}
	a, b := t.say("a"), t.say("b")
	t.append(from(a), user("c"))
	before := []string{transcript.Root, a, b, t.leaf(), t.append(nil, beside(user("side")))[0].Entry().ID}
	check := func() {
		for _, id := range before {
			t.refuses(fmt.Sprintf("a draft From %q before a reset", id), transcript.ErrBeforeReset, from(id), user("x"))
			t.refuses(fmt.Sprintf("a move to %q before a reset", id), transcript.ErrBeforeReset, from(id))
		}
	}
	first := t.append(nil, user("d"), reset, user("e"))[1].Entry().ID
	before = append(before, t.entry(first).ParentID)
	t.branchSays("a c d (reset) e") // what came before stays to be read
	check()
	if got := says(t.branch(&transcript.BranchOptions{To: b})); got != "a b" {
		t.fail("after a reset, a branch from before it is %q, not %q", got, "a b")
	}
	e := t.leaf()
	t.append(from(first), user("f")) // it is the first to which one can go back
	t.branchSays("a c d (reset) f")
	t.append(from(e), user("g"))
	t.branchSays("a c d (reset) e g")
	check()
	before = append(before, first, e, t.leaf())
	last := t.add(reset).ID
	check()
	t.say("h")
	t.move(last)
	t.branchSays("a c d (reset) e g (reset)")
	t.refuses("a reset beside the branch", transcript.ErrInvalidEntry, nil, beside(reset))
}

func settings(t *trial) {
	is := func(id string, want transcript.Settings) {
		if got := t.settings(id); got != want {
			t.fail("Settings of %q are %+v, not %+v", id, got, want)
		}
	}
	model := func(provider, id string) transcript.Draft {
		return transcript.Draft{Payload: transcript.ModelChange{Provider: provider, ModelID: id}}
	}
	answer := func(members string) transcript.Draft {
		message := transcript.AssistantText("a")
		t.must(message.UnmarshalJSON([]byte(`{"role":"assistant","content":"a",`+members+`}`)), "a message")
		return transcript.Draft{Payload: message}
	}
	thinking := func(level string) transcript.Draft {
		return transcript.Draft{Payload: transcript.ThinkingLevelChange{Level: level}}
	}
	first := t.say("a")
	is("", transcript.Settings{})
	one := t.add(model("p", "m")).ID
	is("", transcript.Settings{Provider: "p", ModelID: "m"})
	two := t.add(thinking("high"), user("b")).ID
	want := transcript.Settings{Provider: "p", ModelID: "m", ThinkingLevel: "high"}
	is("", want)
	t.append(nil, answer(`"provider":"q","model":"n"`)) // it says which model it is of
	want.Provider, want.ModelID = "q", "n"
	is("", want)
	t.append(nil, answer(`"provider":"x"`), answer(`"model":"x"`), answer(`"provider":1,"model":"x"`), user("x"))
	is("", want)
	t.append(nil, transcript.Draft{Payload: transcript.Compaction{Summary: "s"}}, transcript.Draft{Payload: transcript.Reset{}})
	is("", want) // neither changes it
	t.append(nil, thinking("low"), model("r", ""))
	is("", transcript.Settings{Provider: "r", ThinkingLevel: "low"})
	// Each entry has those of its branch.
	is(first, transcript.Settings{})
	is(one, transcript.Settings{Provider: "p", ModelID: "m"})
	is(two, transcript.Settings{Provider: "p", ModelID: "m", ThinkingLevel: "high"})
	is(transcript.Root, transcript.Settings{})
	leaf := t.leaf()
	t.append(nil, model("s", "o"))
	t.append(from(leaf), user("c"))
	is("", transcript.Settings{Provider: "r", ThinkingLevel: "low"})
}

// randomHistory appends in many ways, and compares all branches with what a model has of them.
func randomHistory(t *trial) {
	random := rand.New(rand.NewPCG(1, 2))
	parents := map[string]string{} // by the ids of the entries that are on branches
	var order []string             // of these
	all := 0
	leaf := transcript.Root
	pick := func() string {
		if len(order) == 0 || random.IntN(10) == 0 {
			return transcript.Root
		}
		return order[len(order)-1-random.IntN(min(len(order), 40))]
	}
	branch := func(to string) []string {
		var path []string
		for ; to != transcript.Root; to = parents[to] {
			path = append(path, to)
		}
		slices.Reverse(path)
		return path
	}
	for step := range 150 {
		opts := &transcript.AppendOptions{}
		if random.IntN(4) == 0 {
			opts.From = pick()
			if opts.From != leaf {
				all++ // the leaf entry
			}
			leaf = opts.From
		}
		drafts := make([]transcript.Draft, random.IntN(6))
		for i := range drafts {
			drafts[i] = user(fmt.Sprint(step, "-", i))
			drafts[i].Side = random.IntN(5) == 0
		}
		for i, receipt := range t.append(opts, drafts...) {
			entry := receipt.Entry()
			if entry.ParentID != leaf {
				t.fail("in step %d an entry has the parent %q, not %q", step, entry.ParentID, leaf)
			}
			parents[entry.ID] = leaf
			order = append(order, entry.ID)
			if !drafts[i].Side {
				leaf = entry.ID
			}
		}
		all += len(drafts)
		if got := t.leaf(); got != leaf {
			t.fail("after step %d the leaf is %q, not %q", step, got, leaf)
		}
		to := pick()
		want := branch(to)
		if to == transcript.Root {
			want = nil
		}
		if got := ids(t.branch(&transcript.BranchOptions{To: to})); !slices.Equal(got, want) {
			t.fail("after step %d the branch to %q is %q, not %q", step, to, got, want)
		}
		got := ids(t.branch(&transcript.BranchOptions{NewestFirst: true}))
		slices.Reverse(got)
		if want := branch(leaf); !slices.Equal(got, want) {
			t.fail("after step %d the branch, newest first, is the reverse of %q, not of %q", step, got, want)
		}
	}
	entries := t.entries()
	if len(entries) != all {
		t.fail("there are %d entries, not %d", len(entries), all)
	}
	entries = slices.DeleteFunc(entries, func(e transcript.Entry) bool { return e.Kind() == transcript.KindLeaf })
	if !slices.Equal(ids(entries), order) {
		t.fail("Entries are not in the order in which they were appended")
	}
}
