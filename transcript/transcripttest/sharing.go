package transcripttest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cellmode/cellmode/transcript"
)

// writers is how many goroutines append at once, each to one of the logs.
const writers = 6

func parallelAppends(t *trial) {
	const appends = 15
	t.parallel(writers, func(w int) {
		own := t.on(w)
		for i := range appends {
			receipts := own.append(nil, keyed(user(fmt.Sprintf("%d-%d", w, i)), fmt.Sprintf("%d-%d", w, i)), beside(user("side")), assistant("ok"))
			if entry := receipts[2].Entry(); entry.ParentID != receipts[0].Entry().ID {
				t.fail("an entry of a batch follows %q, not %q, which is before it in the batch", entry.ParentID, receipts[0].Entry().ID)
			}
			own.entry(receipts[2].Entry().ID) // what was appended is there
		}
	})
	for i := range t.logs { // each sees the same
		own := t.on(i)
		entries := own.branch(nil)
		if want := 2 * writers * appends; len(entries) != want {
			t.fail("the branch has %d entries, not the %d that were appended at once", len(entries), want)
		}
		if all := len(own.entries()); all != 3*writers*appends {
			t.fail("there are %d entries, not the %d that were appended at once", all, 3*writers*appends)
		}
		own.branchSays(says(entries)) // one chain
		next := make([]int, writers)
		for j, entry := range entries {
			if j%2 == 1 {
				continue
			}
			var w, n int
			if _, err := fmt.Sscanf(says([]transcript.Entry{entry}), "%d-%d", &w, &n); err != nil || n != next[w] {
				t.fail("the entry %q is not where its writer has appended it", says([]transcript.Entry{entry}))
			}
			next[w]++
		}
		all := ids(own.entries())
		slices.Sort(all)
		if len(slices.Compact(all)) != 3*writers*appends {
			t.fail("entries that were appended at once share an id")
		}
	}
}

func parallelGuard(t *trial) {
	for round := range 10 {
		seen := t.leaf()
		if seen == "" {
			seen = transcript.Root
		}
		var passed atomic.Int32
		t.parallel(writers, func(w int) {
			_, err := t.on(w).log.AppendAll(t.ctx, []transcript.Draft{user(fmt.Sprint(round))}, &transcript.AppendOptions{Leaf: seen})
			if err == nil {
				passed.Add(1)
			} else if !errors.Is(err, transcript.ErrConflict) {
				t.fail("AppendAll behind a leaf that others leave at once gives the error %v", err)
			}
		})
		if passed.Load() != 1 {
			t.fail("of %d appends at once behind the same leaf %d are made, not 1", writers, passed.Load())
		}
	}
	t.branchSays("0 1 2 3 4 5 6 7 8 9")
}

func parallelKeys(t *trial) {
	const rounds = 10
	entries := make([][rounds]string, writers)
	var appended atomic.Int32
	t.parallel(writers, func(w int) {
		own := t.on(w)
		for i := range rounds {
			receipts := own.append(nil, keyed(user("x"), fmt.Sprint("k", i)), keyed(assistant("y"), fmt.Sprint("l", i)))
			if receipts[0].Appended() != receipts[1].Appended() {
				t.fail("of a batch that others append at once, one half is there, and the other is appended")
			}
			if entries[w][i] = receipts[0].Entry().ID; receipts[0].Appended() {
				appended.Add(1)
			}
		}
	})
	if appended.Load() != rounds {
		t.fail("of %d keys, used by %d at once, %d are appended", rounds, writers, appended.Load())
	}
	for w := range entries {
		if entries[w] != entries[0] {
			t.fail("a key that is used by several at once leads to several entries")
		}
	}
	if got := len(t.entries()); got != 2*rounds {
		t.fail("there are %d entries of %d keys", got, 2*rounds)
	}
}

func parallelClaims(t *trial) {
	for round := range 5 {
		text := fmt.Sprint("x", round)
		host := t.append(nil, user(fmt.Sprint("question", round)), assistant(text))[1].Entry().ID
		var found atomic.Int32
		t.parallel(writers, func(w int) {
			receipt := t.on(w).append(nil, claiming(assistant(text), fmt.Sprint(w, "-", round)))[0]
			if receipt.Entry().ID == host {
				found.Add(1)
			}
		})
		if found.Load() != 1 {
			t.fail("an entry is claimed by %d of %d at once", found.Load(), writers)
		}
	}
}

// wholeBatches reads while batches are appended, each of which begins the branch anew.
func wholeBatches(t *trial) {
	const size, batches = 20, 25
	batch := func(own *trial, n int) {
		drafts := make([]transcript.Draft, size)
		for i := range drafts {
			drafts[i] = keyed(user(fmt.Sprint(n)), fmt.Sprintf("%d-%d", n, i))
		}
		own.append(from(transcript.Root), drafts...)
	}
	batch(t, 0)
	var last atomic.Int32
	var done atomic.Bool
	t.parallel(3, func(i int) {
		own := t.on(i)
		if i == 0 {
			defer done.Store(true)
			for n := range batches {
				last.Store(int32(n + 1))
				batch(own, n+1)
			}
			return
		}
		for !done.Load() {
			entries := own.branch(nil)
			if len(entries) != size || says(entries[:1]) != says(entries[size-1:]) {
				t.fail("a branch, read while a batch is appended, has %d entries, from %q to %q, not those of one batch",
					len(entries), says(entries[:min(1, len(entries))]), says(entries[max(0, len(entries)-1):]))
			}
			if got := len(own.entries()); (got+1)%(size+1) != 0 {
				t.fail("Entries, while batches of %d are appended with a leaf entry each, gives %d", size, got)
			}
			n := last.Load()
			if got := len(own.keyed(fmt.Sprintf("%d-0", n), fmt.Sprintf("%d-%d", n, size-1))); got == 1 {
				t.fail("Keyed, while a batch is appended, sees half of it")
			}
		}
	})
}
