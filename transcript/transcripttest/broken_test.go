package transcripttest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// over is a log that does some things in its own way, and the others as the log that it has.
type over struct {
	transcript.Log
	key, id  func() string
	append   func(ctx context.Context, drafts []transcript.Draft, o transcript.AppendOptions) ([]transcript.Receipt, error)
	issued   func(transcript.Receipt) bool
	leaf     func(ctx context.Context) (string, error)
	entry    func(ctx context.Context, id string) (transcript.Entry, error)
	keyed    func(ctx context.Context, keys ...string) (map[string]transcript.Receipt, error)
	branch   func(ctx context.Context, o transcript.BranchOptions) iter.Seq2[transcript.Entry, error]
	entries  func(ctx context.Context) iter.Seq2[transcript.Entry, error]
	settings func(ctx context.Context, id string) (transcript.Settings, error)
}

// A fault is what is wrong with a log that is over another one, and the beginnings of the names of rules that must see it.
type fault struct {
	name string
	make func(l transcript.Log) *over
	sees []string
}

func (o *over) Key() string {
	if o.key != nil {
		return o.key()
	}
	return o.Log.Key()
}

func (o *over) ID() string {
	if o.id != nil {
		return o.id()
	}
	return o.Log.ID()
}

func (o *over) AppendAll(ctx context.Context, drafts []transcript.Draft, opts *transcript.AppendOptions) ([]transcript.Receipt, error) {
	if o.append == nil {
		return o.Log.AppendAll(ctx, drafts, opts)
	}
	var own transcript.AppendOptions
	if opts != nil {
		own = *opts
	}
	return o.append(ctx, drafts, own)
}

func (o *over) Issued(r transcript.Receipt) bool {
	if o.issued != nil {
		return o.issued(r)
	}
	return o.Log.Issued(r)
}

func (o *over) Leaf(ctx context.Context) (string, error) {
	if o.leaf != nil {
		return o.leaf(ctx)
	}
	return o.Log.Leaf(ctx)
}

func (o *over) Entry(ctx context.Context, id string) (transcript.Entry, error) {
	if o.entry != nil {
		return o.entry(ctx, id)
	}
	return o.Log.Entry(ctx, id)
}

func (o *over) Keyed(ctx context.Context, keys ...string) (map[string]transcript.Receipt, error) {
	if o.keyed != nil {
		return o.keyed(ctx, keys...)
	}
	return o.Log.Keyed(ctx, keys...)
}

func (o *over) Branch(ctx context.Context, opts *transcript.BranchOptions) iter.Seq2[transcript.Entry, error] {
	if o.branch == nil {
		return o.Log.Branch(ctx, opts)
	}
	var own transcript.BranchOptions
	if opts != nil {
		own = *opts
	}
	return o.branch(ctx, own)
}

func (o *over) Entries(ctx context.Context) iter.Seq2[transcript.Entry, error] {
	if o.entries != nil {
		return o.entries(ctx)
	}
	return o.Log.Entries(ctx)
}

func (o *over) Settings(ctx context.Context, id string) (transcript.Settings, error) {
	if o.settings != nil {
		return o.settings(ctx, id)
	}
	return o.Log.Settings(ctx, id)
}

// drafting changes what is appended, and where.
func drafting(change func(l transcript.Log, drafts []transcript.Draft, o *transcript.AppendOptions) []transcript.Draft) func(transcript.Log) *over {
	return func(l transcript.Log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []transcript.Draft, o transcript.AppendOptions) ([]transcript.Receipt, error) {
			drafts = change(l, slices.Clone(drafts), &o)
			return l.AppendAll(ctx, drafts, &o)
		}}
	}
}

// rewriting changes the payload of each draft.
func rewriting[P transcript.Payload](change func(P) transcript.Payload) func(transcript.Log) *over {
	return drafting(func(_ transcript.Log, drafts []transcript.Draft, _ *transcript.AppendOptions) []transcript.Draft {
		for i, draft := range drafts {
			if payload, ok := draft.Payload.(P); ok {
				drafts[i].Payload = change(payload)
			}
		}
		return drafts
	})
}

// giving changes each entry that the log gives, wherever.
func giving(change func(l transcript.Log, e transcript.Entry) transcript.Entry) func(transcript.Log) *over {
	return func(l transcript.Log) *over {
		issuer := transcript.NewIssuer()
		each := func(all iter.Seq2[transcript.Entry, error]) iter.Seq2[transcript.Entry, error] {
			return func(yield func(transcript.Entry, error) bool) {
				for entry, err := range all {
					if err == nil {
						entry = change(l, entry)
					}
					if !yield(entry, err) {
						return
					}
				}
			}
		}
		return &over{
			Log: l, issued: issuer.Issued,
			append: func(ctx context.Context, drafts []transcript.Draft, o transcript.AppendOptions) ([]transcript.Receipt, error) {
				receipts, err := l.AppendAll(ctx, drafts, &o)
				for i, r := range receipts {
					if r.Entry().Payload != nil { // else it is the zero value
						receipts[i] = issuer.Receipt(l.Key(), l.ID(), change(l, r.Entry()), r.Appended())
					}
				}
				return receipts, err
			},
			entry: func(ctx context.Context, id string) (transcript.Entry, error) {
				entry, err := l.Entry(ctx, id)
				if err == nil {
					entry = change(l, entry)
				}
				return entry, err
			},
			keyed: func(ctx context.Context, keys ...string) (map[string]transcript.Receipt, error) {
				found, err := l.Keyed(ctx, keys...)
				for key, r := range found {
					found[key] = issuer.Receipt(l.Key(), l.ID(), change(l, r.Entry()), r.Appended())
				}
				return found, err
			},
			branch: func(ctx context.Context, o transcript.BranchOptions) iter.Seq2[transcript.Entry, error] {
				return each(l.Branch(ctx, &o))
			},
			entries: func(ctx context.Context) iter.Seq2[transcript.Entry, error] { return each(l.Entries(ctx)) },
		}
	}
}

// givingPayloads changes each payload that the log gives.
func givingPayloads[P transcript.Payload](change func(P) transcript.Payload) func(transcript.Log) *over {
	return giving(func(_ transcript.Log, e transcript.Entry) transcript.Entry {
		if payload, ok := e.Payload.(P); ok {
			e.Payload = change(payload)
		}
		return e
	})
}

// oneByOne appends each draft by itself.
func oneByOne(l transcript.Log) *over {
	return &over{Log: l, append: func(ctx context.Context, drafts []transcript.Draft, o transcript.AppendOptions) ([]transcript.Receipt, error) {
		if len(drafts) < 2 {
			return l.AppendAll(ctx, drafts, &o)
		}
		var receipts []transcript.Receipt
		for _, draft := range drafts {
			more, err := l.AppendAll(ctx, []transcript.Draft{draft}, &o)
			if err != nil {
				return nil, err
			}
			o.Leaf, o.From = "", ""
			receipts = append(receipts, more...)
		}
		return receipts, nil
	}}
}

// read gives the entries of a loop over a sound log.
func read(loop iter.Seq2[transcript.Entry, error]) []transcript.Entry {
	var all []transcript.Entry
	for entry, err := range loop {
		if err != nil {
			return all
		}
		all = append(all, entry)
	}
	return all
}

// TestBrokenLogs breaks each rule, so that none of them is a rule that cannot fail.
func TestBrokenLogs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range slices.Concat(treeFaults, appendFaults, keyFaults, payloadFaults, readFaults, parallelFaults) {
		for _, start := range f.sees {
			at := slices.IndexFunc(rules, func(r rule) bool { return strings.HasPrefix(r.name, start) })
			if at < 0 {
				t.Fatalf("no rule is called %q", start)
			}
			r := rules[at]
			seen[r.name] = true
			t.Run(f.name+"/"+start, func(t *testing.T) {
				t.Parallel()
				at := &trial{ctx: t.Context(), key: "s", log: f.make(session(t, open(t, ":memory:"), "s")), patience: 100 * time.Millisecond}
				at.logs = []transcript.Log{at.log}
				at.open = func(key string) transcript.Log { return f.make(session(t, open(t, ":memory:"), key)) }
				if err := at.run(r); err == nil {
					t.Errorf("the rule that %s does not see it", r.name)
				} else {
					t.Log(err)
				}
			})
		}
	}
	for _, r := range rules {
		if !seen[r.name] {
			t.Errorf("no log breaks the rule that %s", r.name)
		}
	}
}

// TestSoundLog holds the broken logs to be right but for their faults.
func TestSoundLog(t *testing.T) {
	t.Parallel()
	TestLog(t, func(t *testing.T, key string) transcript.Log {
		own := giving(func(_ transcript.Log, e transcript.Entry) transcript.Entry { return e })
		pass := drafting(func(_ transcript.Log, drafts []transcript.Draft, _ *transcript.AppendOptions) []transcript.Draft {
			return drafts
		})
		return own(pass(session(t, open(t, ":memory:"), key)))
	})
}

// childEnv makes TestChild run the suite on a broken log: its value says how.
const childEnv = "CELLMODE_TRANSCRIPTTEST_CHILD"

// TestFailureIsReported runs the suite as a user does, in a process of its own, to see it fail there.
func TestFailureIsReported(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]struct{ fails, passes string }{
		"alone":  {"TestChild/there_is_a_receipt_for_each_draft", "TestChild/each_entry_follows"},
		"shared": {"TestChild/each_entry_follows_the_one_before", "TestLog"},
		"one":    {"TestChild/a_new_session_is_empty", "TestLog"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			child := exec.Command(os.Args[0], "-test.run=^TestChild$/^(there_is|each|a_new|JSON_is_kept_compact)")
			child.Env = append(os.Environ(), childEnv+"="+how)
			out, err := child.CombinedOutput()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
				t.Fatalf("the tests of a broken log end with %v:\n%s", err, out)
			}
			if !bytes.Contains(out, []byte("--- FAIL: "+want.fails)) || bytes.Contains(out, []byte("--- FAIL: "+want.passes)) {
				t.Errorf("not the broken rule, or not only that, is reported:\n%s", out)
			}
		})
	}
}

func TestChild(t *testing.T) {
	stores := func() *transcript.Store { return open(t, ":memory:") }
	switch os.Getenv(childEnv) {
	case "alone":
		TestLog(t, func(t *testing.T, key string) transcript.Log {
			l := session(t, stores(), key)
			return &over{Log: l, entry: func(ctx context.Context, id string) (transcript.Entry, error) {
				e, err := l.Entry(ctx, id)
				e.Side = false
				return e, err
			}}
		})
	case "shared": // nobody knows of the other
		TestSharedLog(t, func(t *testing.T) []transcript.Log {
			return []transcript.Log{session(t, stores(), "s"), session(t, stores(), "s")}
		})
	case "one":
		TestSharedLog(t, func(t *testing.T) []transcript.Log { return []transcript.Log{session(t, stores(), "s")} })
	default:
		t.Skip("is run by TestFailureIsReported")
	}
}
