package transcripttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// A trial makes calls of a log, up to the first that has another outcome than it should.
type trial struct {
	ctx  context.Context
	key  string
	log  transcript.Log
	logs []transcript.Log                // of the same session, to be used at once
	open func(key string) transcript.Log // another session; nil in rules that are not alone

	patience time.Duration
}

// failure is what a trial panics with, to end the rule.
type failure struct{ err error }

func (t *trial) run(r rule) error { return caught(func() { r.check(t) }) }

// caught gives the error with which f fails.
func caught(f func()) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			failed, ok := cause.(failure)
			if !ok {
				panic(cause)
			}
			err = failed.err
		}
	}()
	f()
	return nil
}

func (t *trial) fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// must ends the rule with an error.
func (t *trial) must(err error, format string, args ...any) {
	if err != nil {
		t.fail("%s: %w", fmt.Sprintf(format, args...), err)
	}
}

// The drafts and options of most rules.

func user(text string) transcript.Draft { return transcript.Draft{Payload: transcript.UserText(text)} }

func assistant(text string) transcript.Draft {
	return transcript.Draft{Payload: transcript.AssistantText(text)}
}

// keyed gives the message of a draft an idempotency key.
func keyed(draft transcript.Draft, key string) transcript.Draft {
	message := draft.Payload.(transcript.Message)
	message.IdempotencyKey = key
	draft.Payload = message
	return draft
}

func beside(draft transcript.Draft) transcript.Draft {
	draft.Side = true
	return draft
}

func from(id string) *transcript.AppendOptions { return &transcript.AppendOptions{From: id} }

// The calls that have to work.

func (t *trial) append(opts *transcript.AppendOptions, drafts ...transcript.Draft) []transcript.Receipt {
	receipts, err := t.log.AppendAll(t.ctx, drafts, opts)
	t.must(err, "AppendAll of %d drafts", len(drafts))
	if len(receipts) != len(drafts) {
		t.fail("AppendAll of %d drafts gives %d receipts", len(drafts), len(receipts))
	}
	return receipts
}

// add appends drafts after the leaf, and gives the entry of the last.
func (t *trial) add(drafts ...transcript.Draft) transcript.Entry {
	receipts := t.append(nil, drafts...)
	return receipts[len(receipts)-1].Entry()
}

// say appends messages of the user, and gives the id of the last.
func (t *trial) say(texts ...string) string {
	drafts := make([]transcript.Draft, len(texts))
	for i, text := range texts {
		drafts[i] = user(text)
	}
	return t.add(drafts...).ID
}

func (t *trial) move(id string) { t.append(from(id)) }

func (t *trial) leaf() string {
	id, err := t.log.Leaf(t.ctx)
	t.must(err, "Leaf")
	return id
}

func (t *trial) entry(id string) transcript.Entry {
	entry, err := t.log.Entry(t.ctx, id)
	t.must(err, "Entry of %q", id)
	return entry
}

func (t *trial) keyed(keys ...string) map[string]transcript.Entry {
	receipts, err := t.log.Keyed(t.ctx, keys...)
	t.must(err, "Keyed of %d keys", len(keys))
	entries := make(map[string]transcript.Entry, len(receipts))
	for key, receipt := range receipts {
		entries[key] = receipt.Entry()
		anchor := transcript.Anchor{SessionKey: t.log.Key(), SessionID: t.log.ID(), EntryID: receipt.Entry().ID}
		if receipt.Appended() || !t.log.Issued(receipt) || receipt.Anchor() != anchor {
			t.fail("Keyed gives a receipt that says appended %t, issued %t, of %v", receipt.Appended(), t.log.Issued(receipt), receipt.Anchor())
		}
	}
	return entries
}

func (t *trial) settings(id string) transcript.Settings {
	settings, err := t.log.Settings(t.ctx, id)
	t.must(err, "Settings of %q", id)
	return settings
}

// all are the entries of a loop that has to work.
func (t *trial) all(what string, seq iter.Seq2[transcript.Entry, error]) []transcript.Entry {
	var entries []transcript.Entry
	for entry, err := range seq {
		t.must(err, "%s, after %d entries", what, len(entries))
		if entry.Payload == nil {
			t.fail("%s gives an entry %q without a payload", what, entry.ID)
		}
		entries = append(entries, entry)
	}
	return entries
}

func (t *trial) entries() []transcript.Entry { return t.all("Entries", t.log.Entries(t.ctx)) }

// at is the entry that was appended as the one of this index.
func (t *trial) at(index int) transcript.Entry {
	entries := t.entries()
	if index >= len(entries) {
		t.fail("there are %d entries, which were appended, and Entries gives %d: %q", index+1, len(entries), says(entries))
	}
	return entries[index]
}

func (t *trial) branch(opts *transcript.BranchOptions) []transcript.Entry {
	return t.all("Branch", t.log.Branch(t.ctx, opts))
}

func ids(entries []transcript.Entry) []string {
	all := make([]string, len(entries))
	for i, entry := range entries {
		all[i] = entry.ID
	}
	return all
}

// says tells what entries are: texts of messages, and kinds of the others.
func says(entries []transcript.Entry) string {
	all := make([]string, len(entries))
	for i, entry := range entries {
		all[i] = "(" + string(entry.Kind()) + ")"
		if message, ok := entry.Message(); ok {
			all[i] = message.Text()
		}
	}
	return strings.Join(all, " ")
}

// The checks.

// branchSays checks the branch at the leaf, from both ends, and that its entries follow one another and end with the leaf.
func (t *trial) branchSays(want string) {
	entries := t.branch(nil)
	if got := says(entries); got != want {
		t.fail("the branch is %.200q, not %.200q", got, want)
	}
	parent := transcript.Root
	for _, entry := range entries {
		if entry.ParentID != parent {
			t.fail("on the branch the parent of %q is %q, not %q, which stands before it", entry.ID, entry.ParentID, parent)
		}
		parent = entry.ID
	}
	if leaf := t.leaf(); leaf != parent {
		t.fail("the leaf is %q, but the branch ends with %q", leaf, parent)
	}
	backwards := t.branch(&transcript.BranchOptions{NewestFirst: true})
	slices.Reverse(backwards)
	t.same("the branch, newest first,", backwards, entries)
}

func (t *trial) allSay(want string) {
	if got := says(t.entries()); got != want {
		t.fail("all entries are %.200q, not %.200q", got, want)
	}
}

// refuses checks that AppendAll fails with an error, and changes nothing.
func (t *trial) refuses(what string, want error, opts *transcript.AppendOptions, drafts ...transcript.Draft) {
	before := t.state()
	receipts, err := t.log.AppendAll(t.ctx, drafts, opts)
	if !errors.Is(err, want) {
		t.fail("AppendAll of %s gives the error %v, not one that is %q", what, err, want)
	}
	if len(receipts) > 0 {
		t.fail("AppendAll of %s fails and gives %d receipts", what, len(receipts))
	}
	t.unchanged("AppendAll of "+what+", which failed,", before)
}

// state is all that can be seen of a session.
type state struct {
	leaf            string
	entries, branch []transcript.Entry
}

func (t *trial) state() state { return state{t.leaf(), t.entries(), t.branch(nil)} }

func (t *trial) unchanged(what string, before state) {
	after := t.state()
	if after.leaf != before.leaf {
		t.fail("%s has moved the leaf from %q to %q", what, before.leaf, after.leaf)
	}
	t.same("after "+what+" the list of all entries", after.entries, before.entries)
	t.same("after "+what+" the branch", after.branch, before.branch)
}

// same checks entries one by one.
func (t *trial) same(what string, got, want []transcript.Entry) {
	if len(got) != len(want) {
		t.fail("%s has %d entries (%.200q), not %d (%.200q)", what, len(got), says(got), len(want), says(want))
	}
	for i := range want {
		t.must(differs(got[i], want[i]), "%s is wrong at %d", what, i)
	}
}

// differs says in what an entry is not as it should be.
func differs(got, want transcript.Entry) error {
	switch {
	case got.ID != want.ID:
		return fmt.Errorf("the entry has the id %q, not %q", got.ID, want.ID)
	case got.ParentID != want.ParentID:
		return fmt.Errorf("the entry %q has the parent %q, not %q", got.ID, got.ParentID, want.ParentID)
	case !got.Time.Equal(want.Time):
		return fmt.Errorf("the entry %q has the time %v, not %v", got.ID, got.Time, want.Time)
	case got.Side != want.Side:
		return fmt.Errorf("the entry %q says Side: %t, not %t", got.ID, got.Side, want.Side)
	}
	if err := payloadDiffers(got.Payload, want.Payload); err != nil {
		return fmt.Errorf("the entry %q: %w", got.ID, err)
	}
	return nil
}

// payloadDiffers says in what a payload is not as it should be. No members and a map without any are the same.
func payloadDiffers(got, want transcript.Payload) error {
	got, want = normal(got), normal(want)
	if reflect.DeepEqual(got, want) {
		return nil
	}
	if reflect.TypeOf(got) != reflect.TypeOf(want) {
		return fmt.Errorf("the payload is a %T, not a %T", got, want)
	}
	a, errA := transcript.Entry{Payload: got}.MarshalJSON()
	b, errB := transcript.Entry{Payload: want}.MarshalJSON()
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	at = max(0, at-20)
	return fmt.Errorf("the payload differs from byte %d on: …%.60q (of %d bytes), not …%.60q (of %d)", at, a[at:], len(a), b[at:], len(b))
}

func normal(payload transcript.Payload) transcript.Payload {
	message, ok := payload.(transcript.Message)
	if !ok {
		return payload
	}
	if len(message.Meta) == 0 {
		message.Meta = nil
	}
	if len(message.Fields) == 0 {
		message.Fields = nil
	}
	return message
}

// keeps appends a payload and checks that it is read as wanted, in all ways.
func (t *trial) keeps(what string, payload, want transcript.Payload) {
	receipt := t.append(nil, transcript.Draft{Payload: payload})[0]
	t.must(payloadDiffers(receipt.Entry().Payload, want), "the receipt of %s", what)
	t.must(payloadDiffers(t.entry(receipt.Entry().ID).Payload, want), "Entry of %s", what)
	for entry, err := range t.log.Branch(t.ctx, &transcript.BranchOptions{NewestFirst: true}) {
		t.must(err, "Branch with %s", what)
		t.must(payloadDiffers(entry.Payload, want), "Branch with %s", what)
		return
	}
	t.fail("Branch is empty, with %s", what)
}

// raw is JSON text that the caller may write to.
func raw(text string) json.RawMessage { return json.RawMessage(bytes.Clone([]byte(text))) }

// parallel runs n functions at once. It fails with what any of them fails.
func (t *trial) parallel(n int, run func(i int)) {
	var group sync.WaitGroup
	start := make(chan struct{})
	errs := make([]error, n)
	for i := range n {
		group.Go(func() {
			<-start
			errs[i] = caught(func() { run(i) })
		})
	}
	close(start)
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		panic(failure{err})
	}
}

// on is the trial of one of the logs.
func (t *trial) on(i int) *trial {
	own := *t
	own.log = t.logs[i%len(t.logs)]
	return &own
}
