package transcripttest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// many appends n entries, so many that they are not read at once.
func (t *trial) many(n int) {
	drafts := make([]transcript.Draft, n)
	for i := range drafts {
		drafts[i] = user(fmt.Sprint(i))
	}
	t.append(nil, drafts...)
}

// loops are the ways to go through n entries that are one branch.
func (t *trial) loops(ctx context.Context) map[string]iter.Seq2[transcript.Entry, error] {
	return map[string]iter.Seq2[transcript.Entry, error]{
		"Branch":               t.log.Branch(ctx, nil),
		"Branch, newest first": t.log.Branch(ctx, &transcript.BranchOptions{NewestFirst: true}),
		"Entries":              t.log.Entries(ctx),
	}
}

func loopMoment(t *trial) {
	for what := range t.loops(t.ctx) {
		now := func() []string { return ids(t.all(what, t.loops(t.ctx)[what])) }
		loop := t.loops(t.ctx)[what]
		t.move(transcript.Root)
		t.many(200) // the loop begins later
		want := now()
		var got []string
		for entry, err := range loop {
			t.must(err, "%s, in a loop that appends", what)
			if got = append(got, entry.ID); len(got) > len(want) {
				break // it might never end
			}
			switch len(got) {
			case 1:
				t.append(nil, user("meanwhile"), beside(user("meanwhile")), user("meanwhile"))
			case 2:
				t.append(from(want[10]), user("meanwhile, elsewhere"))
			case len(want) - 1:
				t.say("meanwhile, again")
			}
		}
		if !slices.Equal(got, want) {
			t.fail("%s gives %d entries, in a loop that appends, not the %d of the moment when it began", what, len(got), len(want))
		}
		if again := ids(t.all(what+", a second time,", loop)); !slices.Equal(again, now()) {
			t.fail("%s gives %d entries when it is gone through again, not the %d that there are now", what, len(again), len(now()))
		}
	}
}

func loopUse(t *trial) {
	t.many(150)
	for what, loop := range t.loops(t.ctx) {
		n := 0
		for entry, err := range loop {
			t.must(err, "%s, in a loop that reads", what)
			if n++; n%50 == 1 { // the beginning, the middle, the end
				t.must(differs(t.entry(entry.ID), entry), "Entry, in a loop")
				if got := len(t.branch(nil)); got != 150 {
					t.fail("Branch within the loop of %s gives %d entries, not 150", what, got)
				}
				t.leaf()
				t.keyed("k")
				t.settings(entry.ID)
			}
		}
		if n != 150 {
			t.fail("%s gives %d entries, in a loop that reads, not 150", what, n)
		}
	}
}

func loopBreak(t *trial) {
	t.many(150)
	for what, loop := range t.loops(t.ctx) {
		for _, at := range []int{1, 70, 150} {
			calls := 0
			loop(func(_ transcript.Entry, err error) bool {
				t.must(err, "%s", what)
				calls++
				return calls < at
			})
			if calls != at {
				t.fail("%s calls the body of a loop %d times that ended at %d", what, calls, at)
			}
		}
	}
	t.say("after") // nothing is held
	if got := len(t.branch(nil)); got != 151 {
		t.fail("after loops that ended early the branch has %d entries, not 151", got)
	}
}

func doneContext(t *trial) {
	id := t.append(nil, keyed(user("a"), "k"))[0].Entry().ID
	t.say("b")
	before := t.state()
	canceled, cancel := context.WithCancel(t.ctx)
	cancel()
	late, cancel := context.WithDeadline(t.ctx, time.Unix(1, 0))
	defer cancel()
	for ctx, want := range map[context.Context]error{canceled: context.Canceled, late: context.DeadlineExceeded} {
		check := func(what string, err error) {
			if !errors.Is(err, want) {
				t.fail("%s with a context that is done gives the error %v, not the context's, %v", what, err, want)
			}
		}
		_, err := t.log.AppendAll(ctx, []transcript.Draft{user("x")}, nil)
		check("AppendAll", err)
		_, err = t.log.AppendAll(ctx, []transcript.Draft{keyed(user("a"), "k")}, nil)
		check("AppendAll of what is there", err)
		_, err = t.log.AppendAll(ctx, nil, from(id))
		check("AppendAll of no drafts", err)
		_, err = t.log.Leaf(ctx)
		check("Leaf", err)
		_, err = t.log.Entry(ctx, id)
		check("Entry", err)
		_, err = t.log.Keyed(ctx, "k")
		check("Keyed", err)
		_, err = t.log.Settings(ctx, "")
		check("Settings", err)
		for what, loop := range t.loops(ctx) {
			calls := 0
			for entry, err := range loop {
				check(what, err)
				if calls++; calls > 1 || entry.Payload != nil {
					t.fail("%s with a context that is done gives %q as well as the error", what, entry.ID)
				}
			}
			if calls == 0 {
				t.fail("%s with a context that is done ends without an error", what)
			}
		}
	}
	t.unchanged("a method with a context that was done", before)
	t.say("c") // and it works again
	t.branchSays("a b c")
}

func doneLoop(t *trial) {
	t.many(200)
	for _, at := range []int{1, 50, 150} {
		for _, what := range []string{"Branch", "Branch, newest first", "Entries"} {
			ctx, cancel := context.WithCancel(t.ctx)
			entries, end := 0, error(nil)
			for entry, err := range t.loops(ctx)[what] {
				if end != nil {
					t.fail("%s goes on after an error", what)
				}
				if err != nil {
					end = err
					if entry.Payload != nil {
						t.fail("%s gives an entry with an error", what)
					}
				} else if entries++; entries == at {
					cancel()
				}
			}
			cancel()
			if !errors.Is(end, context.Canceled) || entries != at {
				t.fail("%s, canceled at entry %d, ends after %d entries with the error %v, not there with that of the context", what, at, entries, end)
			}
		}
	}
	t.many(1) // nothing is held
}

func doneAppend(t *trial) {
	t.say("a")
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	// Whatever the log makes of it, it must be what it says.
	before := t.state()
	receipts, err := t.log.AppendAll(ctx, []transcript.Draft{user("b"), user("c")}, &transcript.AppendOptions{Authority: func() error { cancel(); return nil }})
	switch {
	case err == nil:
		if len(receipts) != 2 {
			t.fail("AppendAll whose context is canceled gives %d receipts, and no error", len(receipts))
		}
		t.branchSays("a b c")
	case !errors.Is(err, context.Canceled):
		t.fail("AppendAll whose context is canceled gives the error %v, not the context's", err)
	default:
		t.unchanged("AppendAll whose context is canceled, which failed,", before)
	}
	t.say("d")
}

func doneWait(t *trial) {
	t.say("a")
	inside, goOn := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	t.parallel(2, func(i int) {
		own := t.on(i)
		if i == 0 {
			own.append(&transcript.AppendOptions{Authority: func() error { close(inside); <-goOn; return nil }}, user("slow"))
			return
		}
		defer group.Wait()
		defer close(goOn)
		select {
		case <-inside:
		case <-time.After(t.patience):
			t.fail("the authority was not asked within %v", t.patience)
		}
		ctx, cancel := context.WithTimeout(t.ctx, 20*time.Millisecond)
		defer cancel()
		ended := make(chan error, 1)
		group.Go(func() {
			_, err := own.log.AppendAll(ctx, []transcript.Draft{user("impatient")}, nil)
			ended <- err
		})
		select {
		case err := <-ended: // a log in which nobody has to wait may append it
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.fail("AppendAll that waits for another, until its context is done, gives the error %v, not the context's", err)
			}
		case <-time.After(t.patience):
			t.fail("AppendAll waits for another for %v after its context was done", t.patience)
		}
	})
}
