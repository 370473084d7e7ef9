// Package transcripttest tests implementations of [transcript.Log], so that package harness, Mirror and BuildContext work
// on them as on a [transcript.Session].
//
//	func TestMyLog(t *testing.T) {
//		store := openMyStore(t, t.TempDir()) // closed by t.Cleanup
//		transcripttest.TestLog(t, func(t *testing.T, key string) transcript.Log {
//			return store.Session(t, key)
//		})
//	}
//
//	func TestMyLogInSeveralProcesses(t *testing.T) {
//		transcripttest.TestSharedLog(t, func(t *testing.T) []transcript.Log {
//			dir := t.TempDir()
//			return []transcript.Log{openMyStore(t, dir).Session(t, "s"), openMyStore(t, dir).Session(t, "s")}
//		})
//	}
//
// # What is tested
//
// Every sentence about [transcript.Log] and what it takes and gives that can be seen from outside is a rule with a subtest
// of its own, which has the sentence as its name. Of the tree: order, parents, ids, the leaf, branches, entries beside
// them, labels, resets; a long random history is compared with a model of it. Of appending: batches whole or not at all,
// what is refused and with which error, conflicts, idempotency keys, claims, receipts, times, authorities. Of entries:
// payloads of each type and odd members of messages byte for byte, limits to the byte, nothing shared with the caller. Of
// reading: loops while others append, early ends, contexts that are done before and meanwhile. Of several at once: no
// append is lost, none is seen by half, the chain is never forked, a key is used and an entry claimed once.
//
// # What is not
//
// What only an implementation knows is for its own tests: that entries outlast the process, what a damaged file says,
// sessions that are deleted or get another id (ErrSessionGone), and those that were imported (Strict of
// [transcript.BranchOptions]).
//
// # Writing a log
//
// The texts of an entry are checked, and made as they are to be kept, by [transcript.Entry.MarshalJSON]: its errors are
// those that AppendAll returns. A log that keeps what it writes reads it again with [transcript.Entry.UnmarshalJSON]. A log
// makes its receipts with a [transcript.Issuer] of its own.
//
// A rule that fails says which call did what, and what it should have done. It goes no further, so mend the first rules
// first: the others use what they test.
package transcripttest

import (
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// TestLog runs one parallel subtest for each rule that a log keeps. open gives the log of a new session, which has this
// key: any text. No key is asked for twice, so that all sessions may be of one store, which shows that they are apart. They
// must stay usable until the end of the test that open gets; what closes them is registered there with t.Cleanup, or with
// the test around them all.
//
// One rule appends an entry of [transcript.MaxEntryBytes], which takes hundreds of megabytes; go test -short leaves it out.
func TestLog(t *testing.T, open func(t *testing.T, key string) transcript.Log) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if r.is(large) && testing.Short() {
				t.Skip("takes much memory")
			}
			key := "transcripttest: " + r.name
			at := &trial{ctx: t.Context(), key: key, log: open(t, key), patience: patience}
			at.logs = []transcript.Log{at.log, at.log, at.log}
			at.open = func(key string) transcript.Log { return open(t, key) }
			if err := at.run(r); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSharedLog runs one parallel subtest for each rule that holds for several logs of one session. open gives two or more
// logs of a new session, each as another process has it: of a store of its own that is opened at the same place. What
// closes them is registered with t.Cleanup.
//
// The rules are those of TestLog, in which now every call goes to another one of the logs, and which for several at once
// use each.
func TestSharedLog(t *testing.T, open func(t *testing.T) []transcript.Log) {
	for _, r := range rules {
		if r.is(alone) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			logs := open(t)
			if len(logs) < 2 {
				t.Fatalf("TestSharedLog needs two logs of one session, open gives %d", len(logs))
			}
			at := &trial{ctx: t.Context(), key: logs[0].Key(), log: &shared{logs: logs}, logs: logs, patience: patience}
			if err := at.run(r); err != nil {
				t.Error(err)
			}
		})
	}
}

// patience is how long a call may take that has nothing to wait for any more.
const patience = 10 * time.Second

// A rule checks an empty log. It takes no *testing.T, so that the tests of this package can see it fail: what is wrong
// is what trial.run returns.
type rule struct {
	name   string
	check  func(*trial)
	traits traits
}

type traits uint8

const (
	alone traits = 1 << iota // the rule says nothing about several logs of one session
	large                    // it takes hundreds of megabytes, and seconds
)

func (r rule) is(some traits) bool { return r.traits&some != 0 }

// The rules, the simple ones first.
var rules = []rule{
	{"a new session is empty", emptySession, 0},
	{"each entry follows the one before", chain, 0},
	{"ids are unique", uniqueIDs, 0},
	{"there is a receipt for each draft", receiptPerDraft, 0},
	{"without drafts nothing is appended", noDrafts, 0},
	{"entries are read by their ids", readByID, 0},
	{"unknown entries are told", unknownEntries, 0},

	{"a branch begins where From says", branchFrom, 0},
	{"From alone moves the leaf", moveLeaf, 0},
	{"Root begins the session anew", fromRoot, 0},
	{"a branch ends where To says", branchTo, 0},
	{"a branch is read from either end", newestFirst, 0},
	{"a leaf entry stands for where it leads", leafEntries, 0},
	{"what stands beside the branch is not followed", sideEntries, 0},
	{"labels have a target", labels, 0},
	{"no branch begins before a reset", resets, 0},
	{"the settings are those of the branch", settings, 0},
	{"a long history is as a model has it", randomHistory, 0},

	{"a batch is appended whole or not at all", atomicBatch, 0},
	{"what cannot be an entry is refused", invalidDrafts, 0},
	{"an entry has a limit", entryLimit, alone | large},
	{"Leaf guards against what came meanwhile", conflicts, 0},
	{"the time is that of the options", times, 0},
	{"the authority allows an append", authority, 0},
	{"an authority that panics appends nothing", panickingAuthority, 0},

	{"a key is appended once", keys, 0},
	{"a key is used once in a batch", keysInBatch, 0},
	{"keys are compared byte for byte", oddKeys, 0},
	{"a key has a limit", keyLimit, 0},
	{"a claim finds the user's message", claimUser, 0},
	{"a claim finds the assistant's message", claimAssistant, 0},
	{"a claim loses no calls", claimCalls, 0},
	{"a claim may do without an append", claimOnly, 0},
	{"an entry is claimed once", claimOnce, 0},
	{"a claim does not leave the turn", claimTurn, 0},
	{"receipts are known by who issued them", receipts, alone},

	{"payloads of each kind are kept", payloads, 0},
	{"JSON is kept byte for byte", exactJSON, 0},
	{"JSON is kept compact", compactJSON, 0},
	{"texts are kept byte for byte", exactTexts, 0},
	{"odd members of messages are kept", oddMessages, 0},
	{"odd members of other payloads are kept", oddMembers, 0},
	{"unknown kinds are kept", unknownKinds, 0},
	{"large entries are kept", largeEntries, 0},
	{"what is appended is detached from the drafts", detached, 0},

	{"a loop sees the moment when it began", loopMoment, 0},
	{"a loop may use the log", loopUse, 0},
	{"a loop may end early", loopBreak, 0},
	{"a done context ends every method", doneContext, 0},
	{"a context that is done meanwhile ends a loop", doneLoop, 0},
	{"a context that is done meanwhile appends all or nothing", doneAppend, 0},
	{"a context ends the wait for others", doneWait, 0},

	{"sessions are apart", apart, alone},
	{"parallel appends make one chain", parallelAppends, 0},
	{"parallel appends do not pass the guard", parallelGuard, 0},
	{"parallel appends use a key once", parallelKeys, 0},
	{"parallel claims find an entry once", parallelClaims, 0},
	{"a batch is never seen by half", wholeBatches, 0},
}
