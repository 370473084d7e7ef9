package transcripttest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// timing changes the times of entries that are given.
func timing(change func(time.Time) time.Time) func(log) *over {
	return giving(func(_ log, e entry) entry { e.Time = change(e.Time); return e })
}

// authorised does something else with an authority.
func authorised(do func(ctx context.Context, l log, drafts []draft, o options, ask func() error) ([]receipt, error)) func(log) *over {
	return func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			ask := o.Authority
			if ask == nil {
				return l.AppendAll(ctx, drafts, &o)
			}
			o.Authority = nil
			return do(ctx, l, drafts, o, ask)
		}}
	}
}

var appendFaults = []fault{
	{"batches are appended one by one", oneByOne, []string{"a batch is appended whole", "a batch is never seen", "a context that is done meanwhile appends"}},
	{"the good drafts of a batch are appended", orElse(transcript.ErrInvalidEntry, func(ctx context.Context, l log, drafts []draft, o options) ([]receipt, error) {
		_, err := l.AppendAll(ctx, drafts[:1], &o)
		return nil, errors.Join(transcript.ErrInvalidEntry, err)
	}), []string{"a batch is appended whole"}},
	{"a batch moves first", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if o.From != "" && o.Leaf == "" {
				if _, err := l.AppendAll(ctx, nil, &options{From: o.From}); err != nil {
					return nil, err
				}
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"a batch is appended whole", "an authority that panics"}},

	{"no payload is overlooked", drafting(func(_ log, drafts []draft, _ *options) []draft {
		if len(drafts) == 1 && drafts[0].Payload == nil {
			return nil
		}
		return drafts
	}), []string{"what cannot be"}},
	{"texts are made valid", rewriting(func(p transcript.SessionInfo) transcript.Payload {
		return transcript.SessionInfo{Name: strings.ToValidUTF8(p.Name, "\ufffd")}
	}), []string{"what cannot be"}},
	{"content is made valid", rewriting(func(p transcript.Message) transcript.Payload {
		p.Content = []byte(strings.ToValidUTF8(string(p.Content), "\ufffd"))
		return p
	}), []string{"what cannot be"}},
	{"bad JSON is null", rewriting(func(p transcript.Custom) transcript.Payload {
		if _, err := (entry{Payload: p}).MarshalJSON(); err != nil {
			p.Data = raw("null")
		}
		return p
	}), []string{"what cannot be"}},
	{"leaves are kept under another name", rewriting(func(p transcript.Unknown) transcript.Payload {
		if p.Type == transcript.KindLeaf {
			p.Type = "a " + p.Type
		}
		return p
	}), []string{"what cannot be"}},
	{"summaries may be messages", rewriting(func(p transcript.Message) transcript.Payload {
		if strings.HasSuffix(p.Role, "Summary") {
			p.Role = "summary"
		}
		return p
	}), []string{"what cannot be"}},
	{"a message needs no role", rewriting(func(p transcript.Message) transcript.Payload {
		if p.Role == "" {
			p.Role = "user"
		}
		return p
	}), []string{"what cannot be", "a batch is appended whole"}},
	{"an entry may have 16 MB", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			for _, d := range drafts {
				if custom, ok := d.Payload.(transcript.Custom); ok && len(custom.Data) > 16<<20 {
					return nil, transcript.ErrEntryTooLarge
				}
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"an entry has a limit"}},

	{"Leaf is overlooked", starting(func(_ log, _ []draft, o *options) { o.Leaf = "" }),
		[]string{"Leaf guards", "parallel appends do not pass", "without drafts", "unknown entries", "a leaf entry stands"}},
	{"Leaf is compared with where it goes on", starting(func(_ log, _ []draft, o *options) {
		if o.From != "" {
			o.Leaf = ""
		}
	}), []string{"Leaf guards"}},
	{"Leaf is compared with the last entry", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if all := read(l.Entries(ctx)); o.Leaf != "" && len(all) > 0 && all[len(all)-1].ID != o.Leaf {
				return nil, transcript.ErrConflict
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"Leaf guards", "what stands beside"}},
	{"the authority is asked of conflicts", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			if errors.Is(err, transcript.ErrConflict) && o.Authority != nil {
				err = errors.Join(err, o.Authority())
			}
			return receipts, err
		}}
	}, []string{"Leaf guards"}},

	{"times are those of the machine", starting(func(_ log, _ []draft, o *options) { o.Time = time.Time{} }), []string{"the time"}},
	{"times are whole seconds", timing(func(t time.Time) time.Time { return t.Truncate(time.Second) }), []string{"the time"}},
	{"times are of somewhere", timing(func(t time.Time) time.Time { return t.In(time.FixedZone("", 3600)) }), []string{"the time"}},
	{"the first moment of Unix is none", timing(func(t time.Time) time.Time {
		if t.UnixMilli() == 0 {
			return time.Time{}
		}
		return t
	}), []string{"the time"}},
	{"times are of this century", timing(func(t time.Time) time.Time {
		if t.Year() < 2000 {
			return t.AddDate(2000, 0, 0)
		}
		return t
	}), []string{"the time"}},
	{"any year will do", starting(func(_ log, _ []draft, o *options) {
		if y := o.Time.Year(); y < 1 || y > 9999 {
			o.Time = time.Time{}
		}
	}), []string{"the time"}},

	{"nobody is asked", authorised(func(ctx context.Context, l log, drafts []draft, o options, _ func() error) ([]receipt, error) {
		return l.AppendAll(ctx, drafts, &o)
	}), []string{"the authority allows", "a batch is appended whole", "without drafts"}},
	{"the authority is asked afterwards", authorised(func(ctx context.Context, l log, drafts []draft, o options, ask func() error) ([]receipt, error) {
		receipts, err := l.AppendAll(ctx, drafts, &o)
		if err == nil {
			err = ask()
		}
		if err != nil {
			return nil, err
		}
		return receipts, nil
	}), []string{"the authority allows", "an authority that panics"}},
	{"the authority is asked twice", authorised(func(ctx context.Context, l log, drafts []draft, o options, ask func() error) ([]receipt, error) {
		if err := ask(); err != nil {
			return nil, err
		}
		o.Authority = ask
		return l.AppendAll(ctx, drafts, &o)
	}), []string{"the authority allows", "without drafts"}},
	{"what the authority says is lost", authorised(func(ctx context.Context, l log, drafts []draft, o options, ask func() error) ([]receipt, error) {
		o.Authority = func() error {
			if ask() != nil {
				return errors.New("not allowed")
			}
			return nil
		}
		return l.AppendAll(ctx, drafts, &o)
	}), []string{"the authority allows"}},
	{"what is there needs no authority", authorised(func(ctx context.Context, l log, drafts []draft, o options, ask func() error) ([]receipt, error) {
		if len(drafts) == 1 {
			if message, ok := drafts[0].Payload.(transcript.Message); ok && message.IdempotencyKey != "" {
				if found, err := l.Keyed(ctx, message.IdempotencyKey); err == nil && len(found) > 0 {
					return l.AppendAll(ctx, drafts, &o)
				}
			}
		}
		o.Authority = ask
		return l.AppendAll(ctx, drafts, &o)
	}), []string{"the authority allows"}},
	{"panics are swallowed", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) (_ []receipt, err error) {
			defer func() {
				if recover() != nil {
					err = errors.New("panicked")
				}
			}()
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"an authority that panics"}},
}
