package transcripttest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/cellmode/cellmode/transcript"
)

type (
	log     = transcript.Log
	entry   = transcript.Entry
	draft   = transcript.Draft
	options = transcript.AppendOptions
	receipt = transcript.Receipt
)

// keepEntries leaves out of branches what keep does not want.
func keepEntries(keep func(e entry, index int, o transcript.BranchOptions) bool) func(log) *over {
	return func(l log) *over {
		return &over{Log: l, branch: func(ctx context.Context, o transcript.BranchOptions) iter.Seq2[entry, error] {
			return func(yield func(entry, error) bool) {
				index := 0
				for e, err := range l.Branch(ctx, &o) {
					if (err != nil || keep(e, index, o)) && !yield(e, err) {
						return
					}
					index++
				}
			}
		}}
	}
}

// starting changes where appends begin.
func starting(change func(l log, drafts []draft, o *options)) func(log) *over {
	return drafting(func(l log, drafts []draft, o *options) []draft {
		change(l, drafts, o)
		return drafts
	})
}

// leafOf is the leaf of a sound log, or Root.
func leafOf(l log) string {
	id, err := l.Leaf(context.Background())
	if err != nil || id == "" {
		return transcript.Root
	}
	return id
}

// orElse gives something in the place of one error of an append.
func orElse(what error, then func(ctx context.Context, l log, drafts []draft, o options) ([]receipt, error)) func(log) *over {
	return func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			if errors.Is(err, what) {
				return then(ctx, l, drafts, o)
			}
			return receipts, err
		}}
	}
}

func unfrom(ctx context.Context, l log, drafts []draft, o options) ([]receipt, error) {
	o.From = ""
	return l.AppendAll(ctx, drafts, &o)
}

var treeFaults = []fault{
	{"the key has no case", func(l log) *over { return &over{Log: l, key: func() string { return strings.ToUpper(l.Key()) }} }, []string{"a new session"}},
	{"there is no id", func(l log) *over { return &over{Log: l, id: func() string { return "" }} }, []string{"a new session"}},
	{"the id is another each time", func(l log) *over {
		id := ""
		return &over{Log: l, id: func() string { id += "x"; return id }}
	}, []string{"a new session"}},
	{"there is no leaf, and not Root", func(l log) *over {
		return &over{Log: l, leaf: func(ctx context.Context) (string, error) {
			leaf, err := l.Leaf(ctx)
			return strings.TrimPrefix(leaf, transcript.Root), err
		}}
	}, []string{"a new session", "Root begins", "what stands beside"}},
	{"there is a model from the start", func(l log) *over {
		return &over{Log: l, settings: func(ctx context.Context, id string) (transcript.Settings, error) {
			s, err := l.Settings(ctx, id)
			if s.ModelID == "" {
				s.ModelID = "default"
			}
			return s, err
		}}
	}, []string{"a new session", "the settings"}},

	{"there are no parents", giving(func(_ log, e entry) entry { e.ParentID = transcript.Root; return e }), []string{"each entry follows", "a branch begins", "a long history"}},
	{"custom entries stand beside the branch", drafting(func(_ log, drafts []draft, _ *options) []draft {
		for i := range drafts {
			_, custom := drafts[i].Payload.(transcript.Custom)
			drafts[i].Side = drafts[i].Side || custom
		}
		return drafts
	}), []string{"each entry follows"}},
	{"batches are appended backwards", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			drafts = slices.Clone(drafts)
			slices.Reverse(drafts)
			receipts, err := l.AppendAll(ctx, drafts, &o)
			slices.Reverse(receipts)
			return receipts, err
		}}
	}, []string{"each entry follows", "a branch begins"}},
	{"a batch hangs at one place", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			all, at := []receipt(nil), leafOf(l)
			if o.From != "" || len(drafts) < 2 {
				return l.AppendAll(ctx, drafts, &o)
			}
			for _, d := range drafts {
				o.From = at
				receipts, err := l.AppendAll(ctx, []draft{d}, &o)
				if err != nil {
					return nil, err
				}
				all = append(all, receipts...)
			}
			return all, nil
		}}
	}, []string{"each entry follows", "a long history"}},
	{"ids are short", giving(func(_ log, e entry) entry { e.ID = e.ID[:2]; return e }), []string{"ids are unique"}},
	{"an id is empty", giving(func(_ log, e entry) entry { e.ID = ""; return e }), []string{"ids are unique"}},

	{"receipts are backwards", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			slices.Reverse(receipts)
			return receipts, err
		}}
	}, []string{"there is a receipt", "what stands beside"}},
	{"there are receipts of what is new", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			return slices.DeleteFunc(receipts, func(r receipt) bool { return !r.Appended() }), err
		}}
	}, []string{"there is a receipt", "a key is appended once"}},
	{"receipts name no session", func(l log) *over {
		issuer := transcript.NewIssuer()
		return &over{Log: l, issued: issuer.Issued, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			for i, r := range receipts {
				receipts[i] = issuer.Receipt(l.Key(), "", r.Entry(), r.Appended())
			}
			return receipts, err
		}}
	}, []string{"there is a receipt"}},
	{"no drafts are an error", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if len(drafts) == 0 {
				return nil, transcript.ErrInvalidEntry
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"without drafts", "From alone"}},
	{"no drafts append something", drafting(func(_ log, drafts []draft, _ *options) []draft {
		if len(drafts) == 0 {
			drafts = []draft{{Payload: transcript.Custom{Type: "moved"}}}
		}
		return drafts
	}), []string{"without drafts"}},
	{"no drafts need no authority", starting(func(_ log, drafts []draft, o *options) {
		if len(drafts) == 0 {
			o.Authority = nil
		}
	}), []string{"without drafts", "the authority allows"}},
	{"Entry forgets that it stands beside", func(l log) *over {
		return &over{Log: l, entry: func(ctx context.Context, id string) (entry, error) {
			e, err := l.Entry(ctx, id)
			e.Side = false
			return e, err
		}}
	}, []string{"entries are read", "there is a receipt"}},
	{"entries before a reset are gone", func(l log) *over {
		return &over{Log: l, entries: func(ctx context.Context) iter.Seq2[entry, error] {
			all := read(l.Entries(ctx))
			for i, e := range all {
				if e.Kind() == transcript.KindReset {
					all = all[i:]
					break
				}
			}
			return func(yield func(entry, error) bool) {
				for _, e := range all {
					if !yield(e, nil) {
						return
					}
				}
			}
		}}
	}, []string{"entries are read"}},
	{"an unknown entry is nothing", func(l log) *over {
		return &over{Log: l, entry: func(ctx context.Context, id string) (entry, error) {
			e, err := l.Entry(ctx, id)
			if errors.Is(err, transcript.ErrUnknownEntry) {
				err = nil
			}
			return e, err
		}}
	}, []string{"unknown entries"}},
	{"ids are trimmed", func(l log) *over {
		return &over{Log: l, entry: func(ctx context.Context, id string) (entry, error) { return l.Entry(ctx, strings.TrimSpace(id)) }}
	}, []string{"unknown entries"}},
	{"a branch to an unknown entry is empty", func(l log) *over {
		return &over{Log: l, branch: func(ctx context.Context, o transcript.BranchOptions) iter.Seq2[entry, error] {
			if _, err := l.Entry(ctx, o.To); o.To != "" && errors.Is(err, transcript.ErrUnknownEntry) {
				o.To = transcript.Root
			}
			return l.Branch(ctx, &o)
		}}
	}, []string{"unknown entries"}},
	{"settings of an unknown entry are those of the leaf", func(l log) *over {
		return &over{Log: l, settings: func(ctx context.Context, id string) (transcript.Settings, error) {
			s, err := l.Settings(ctx, id)
			if errors.Is(err, transcript.ErrUnknownEntry) {
				s, err = l.Settings(ctx, "")
			}
			return s, err
		}}
	}, []string{"unknown entries"}},
	{"From an unknown entry is from the leaf", orElse(transcript.ErrUnknownEntry, unfrom), []string{"unknown entries"}},

	{"From is overlooked", starting(func(_ log, _ []draft, o *options) { o.From = "" }), []string{"a branch begins", "From alone", "Root begins", "a long history", "labels"}},
	{"From always moves", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if o.From != "" && o.From == leafOf(l) && o.From != transcript.Root {
				l.AppendAll(ctx, nil, from(transcript.Root))
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"a branch begins", "From alone"}},
	{"From alone is overlooked", starting(func(_ log, drafts []draft, o *options) {
		if len(drafts) == 0 {
			o.From = ""
		}
	}), []string{"From alone", "Root begins"}},
	{"Root is the first entry", starting(func(l log, _ []draft, o *options) {
		if all := read(l.Entries(context.Background())); o.From == transcript.Root && len(all) > 0 {
			o.From = all[0].ID
		}
	}), []string{"Root begins", "a long history"}},
	{"Branch is that of the leaf", func(l log) *over {
		return &over{Log: l, branch: func(ctx context.Context, o transcript.BranchOptions) iter.Seq2[entry, error] {
			o.To = ""
			return l.Branch(ctx, &o)
		}}
	}, []string{"a branch ends", "a long history", "unknown entries"}},
	{"Branch never has what stands beside", keepEntries(func(e entry, _ int, _ transcript.BranchOptions) bool { return !e.Side }),
		[]string{"a branch ends", "what stands beside"}},
	{"Branch ends before its end", keepEntries(func(e entry, _ int, o transcript.BranchOptions) bool { return e.ID != o.To }), []string{"a branch ends"}},
	{"Branch is read from its root", func(l log) *over {
		return &over{Log: l, branch: func(ctx context.Context, o transcript.BranchOptions) iter.Seq2[entry, error] {
			o.NewestFirst = false
			return l.Branch(ctx, &o)
		}}
	}, []string{"a branch is read", "each entry follows"}},
	{"a page of a branch loses an entry", keepEntries(func(_ entry, index int, o transcript.BranchOptions) bool { return !o.NewestFirst || index != 256 }),
		[]string{"a branch is read"}},
	{"strict is what has no leaf entries", func(l log) *over {
		return &over{Log: l, branch: func(ctx context.Context, o transcript.BranchOptions) iter.Seq2[entry, error] {
			if o.Strict && slices.ContainsFunc(read(l.Entries(ctx)), func(e entry) bool { return e.Kind() == transcript.KindLeaf }) {
				return func(yield func(entry, error) bool) { yield(entry{}, transcript.ErrInconsistent) }
			}
			return l.Branch(ctx, &o)
		}}
	}, []string{"a branch ends"}},
	{"leaf entries lead nowhere", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if e, err := l.Entry(ctx, o.From); err == nil && e.Kind() == transcript.KindLeaf {
				return nil, transcript.ErrUnknownEntry
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"a leaf entry stands"}},
	{"nothing stands beside", drafting(func(_ log, drafts []draft, _ *options) []draft {
		for i := range drafts {
			drafts[i].Side = false
		}
		return drafts
	}), []string{"what stands beside", "a long history"}},
	{"what stands beside is the leaf", func(l log) *over {
		last := ""
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			if len(receipts) > 0 {
				last = receipts[len(receipts)-1].Entry().ID
			}
			return receipts, err
		}, leaf: func(context.Context) (string, error) { return last, nil }}
	}, []string{"what stands beside"}},
	{"anything can be labelled", rewriting(func(p transcript.Label) transcript.Payload { return transcript.Custom{Type: p.TargetID} }), []string{"labels", "unknown entries"}},
	{"labels are of the branch", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			branch := ids(read(l.Branch(ctx, nil)))
			for _, d := range drafts {
				if label, ok := d.Payload.(transcript.Label); ok && !slices.Contains(branch, label.TargetID) {
					return nil, transcript.ErrUnknownEntry
				}
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"labels"}},
	{"what is before a reset is overlooked", orElse(transcript.ErrBeforeReset, unfrom), []string{"no branch begins"}},
	{"what is before a reset is unknown", orElse(transcript.ErrBeforeReset, func(context.Context, log, []draft, options) ([]receipt, error) {
		return nil, transcript.ErrUnknownEntry
	}), []string{"no branch begins"}},
	{"a branch begins with its reset", func(l log) *over {
		return &over{Log: l, branch: func(ctx context.Context, o transcript.BranchOptions) iter.Seq2[entry, error] {
			all := read(l.Branch(ctx, &transcript.BranchOptions{To: o.To}))
			for i := range slices.Backward(all) {
				if all[i].Kind() == transcript.KindReset {
					all = all[i:]
					break
				}
			}
			if o.NewestFirst {
				slices.Reverse(all)
			}
			return func(yield func(entry, error) bool) {
				for _, e := range all {
					if !yield(e, nil) {
						return
					}
				}
			}
		}}
	}, []string{"no branch begins"}},
	{"settings are those of the leaf", func(l log) *over {
		return &over{Log: l, settings: func(ctx context.Context, _ string) (transcript.Settings, error) { return l.Settings(ctx, "") }}
	}, []string{"the settings", "a leaf entry stands", "unknown entries"}},
	{"settings are those that were set", func(l log) *over {
		return &over{Log: l, settings: func(ctx context.Context, id string) (transcript.Settings, error) {
			s, err := l.Settings(ctx, id)
			if err == nil {
				s.Provider, s.ModelID = "", ""
			}
			for e, err := range l.Branch(ctx, &transcript.BranchOptions{To: id}) {
				if model, ok := e.Payload.(transcript.ModelChange); ok && err == nil {
					s.Provider, s.ModelID = model.Provider, model.ModelID
				}
			}
			return s, err
		}}
	}, []string{"the settings"}},
	{"a reset forgets the settings", func(l log) *over {
		return &over{Log: l, settings: func(ctx context.Context, id string) (transcript.Settings, error) {
			s, err := l.Settings(ctx, id)
			if last := read(l.Branch(ctx, &transcript.BranchOptions{To: id, NewestFirst: true})); len(last) > 0 && last[0].Kind() == transcript.KindReset {
				s = transcript.Settings{}
			}
			return s, err
		}}
	}, []string{"the settings"}},
	{"the hundredth move is forgotten", func() func(log) *over {
		return func(l log) *over {
			calls := 0
			return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
				if calls++; calls > 100 {
					o.From = ""
				}
				return l.AppendAll(ctx, drafts, &o)
			}}
		}
	}(), []string{"a long history"}},
}
