package transcripttest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// looping does something else with the loops of a log.
func looping(change func(ctx context.Context, l log, loop func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error]) func(log) *over {
	return func(l log) *over {
		return &over{Log: l, branch: func(ctx context.Context, o transcript.BranchOptions) iter.Seq2[entry, error] {
			return change(ctx, l, func(ctx context.Context) iter.Seq2[entry, error] { return l.Branch(ctx, &o) })
		}, entries: func(ctx context.Context) iter.Seq2[entry, error] { return change(ctx, l, l.Entries) }}
	}
}

var readFaults = []fault{
	{"loops begin when they are made", looping(func(ctx context.Context, _ log, loop func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error] {
		all := read(loop(ctx))
		return func(yield func(entry, error) bool) {
			for _, e := range all {
				if !yield(e, nil) {
					return
				}
			}
		}
	}), []string{"a loop sees"}},
	{"Entries never end while others append", func(l log) *over {
		return &over{Log: l, entries: func(ctx context.Context) iter.Seq2[entry, error] {
			return func(yield func(entry, error) bool) {
				for at, all := 0, []entry(nil); ; at++ {
					if at == len(all) {
						all = read(l.Entries(ctx))
					}
					if at == len(all) || !yield(all[at], nil) {
						return
					}
				}
			}
		}}
	}, []string{"a loop sees"}},
	{"a loop works once", looping(func(ctx context.Context, _ log, loop func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error] {
		used := false
		return func(yield func(entry, error) bool) {
			if !used {
				loop(ctx)(yield)
			}
			used = true
		}
	}), []string{"a loop sees"}},
	{"a loop holds the log", func(l log) *over {
		var loops atomic.Int32
		errBusy := errors.New("busy")
		o := looping(func(ctx context.Context, _ log, loop func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error] {
			return func(yield func(entry, error) bool) {
				loops.Add(1)
				loop(ctx)(yield)
				loops.Add(-1)
			}
		})(l)
		o.entry = func(ctx context.Context, id string) (entry, error) {
			if loops.Load() > 0 {
				return entry{}, errBusy
			}
			return l.Entry(ctx, id)
		}
		o.append = func(ctx context.Context, drafts []draft, opts options) ([]receipt, error) {
			if loops.Load() > 0 {
				return nil, errBusy
			}
			return l.AppendAll(ctx, drafts, &opts)
		}
		return o
	}, []string{"a loop may use", "a loop sees"}},
	{"a loop that ends early holds the log", func(l log) *over {
		var held atomic.Bool
		o := looping(func(ctx context.Context, _ log, loop func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error] {
			return func(yield func(entry, error) bool) {
				for e, err := range loop(ctx) {
					if !yield(e, err) {
						held.Store(true)
						return
					}
				}
			}
		})(l)
		o.append = func(ctx context.Context, drafts []draft, opts options) ([]receipt, error) {
			if held.Load() {
				return nil, errors.New("held")
			}
			return l.AppendAll(ctx, drafts, &opts)
		}
		return o
	}, []string{"a loop may end"}},
	{"a loop does not end early", looping(func(ctx context.Context, _ log, loop func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error] {
		return func(yield func(entry, error) bool) {
			for e, err := range loop(ctx) {
				yield(e, err)
			}
		}
	}), []string{"a loop may end"}},

	{"loops ignore contexts", looping(func(ctx context.Context, _ log, loop func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error] {
		return loop(context.WithoutCancel(ctx))
	}), []string{"a done context", "a context that is done meanwhile ends"}},
	{"loops look at contexts when they begin", looping(func(ctx context.Context, _ log, loop func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error] {
		return func(yield func(entry, error) bool) {
			if ctx.Err() != nil {
				yield(entry{}, ctx.Err())
				return
			}
			loop(context.WithoutCancel(ctx))(yield)
		}
	}), []string{"a context that is done meanwhile ends"}},
	{"loops end without the error of their contexts", looping(func(ctx context.Context, _ log, loop func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error] {
		return func(yield func(entry, error) bool) {
			for e, err := range loop(ctx) {
				if err != nil || !yield(e, nil) {
					return
				}
			}
		}
	}), []string{"a done context", "a context that is done meanwhile ends", "unknown entries"}},
	{"loops give an entry with an error", looping(func(ctx context.Context, _ log, loop func(context.Context) iter.Seq2[entry, error]) iter.Seq2[entry, error] {
		return func(yield func(entry, error) bool) {
			for e, err := range loop(ctx) {
				if err != nil {
					e.Payload = transcript.Custom{}
				}
				if !yield(e, err) {
					return
				}
			}
		}
	}), []string{"a done context", "unknown entries"}},
	{"appends ignore contexts", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			return l.AppendAll(context.WithoutCancel(ctx), drafts, &o)
		}}
	}, []string{"a done context"}},
	{"what is there needs no context", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if len(drafts) == 1 && drafts[0].Payload.(transcript.Message).IdempotencyKey != "" {
				ctx = context.WithoutCancel(ctx)
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"a done context"}},
	{"Leaf ignores contexts", func(l log) *over {
		return &over{Log: l, leaf: func(ctx context.Context) (string, error) { return l.Leaf(context.WithoutCancel(ctx)) }}
	}, []string{"a done context"}},
	{"Entry ignores contexts", func(l log) *over {
		return &over{Log: l, entry: func(ctx context.Context, id string) (entry, error) { return l.Entry(context.WithoutCancel(ctx), id) }}
	}, []string{"a done context"}},
	{"Keyed ignores contexts", func(l log) *over {
		return &over{Log: l, keyed: func(ctx context.Context, keys ...string) (map[string]receipt, error) {
			return l.Keyed(context.WithoutCancel(ctx), keys...)
		}}
	}, []string{"a done context"}},
	{"Settings ignore contexts", func(l log) *over {
		return &over{Log: l, settings: func(ctx context.Context, id string) (transcript.Settings, error) {
			return l.Settings(context.WithoutCancel(ctx), id)
		}}
	}, []string{"a done context"}},
	{"contexts are looked at when all is done", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(context.WithoutCancel(ctx), drafts, &o)
			if err == nil && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return receipts, err
		}}
	}, []string{"a done context", "a context that is done meanwhile appends"}},
	{"who waits is patient", func(l log) *over {
		var turn sync.Mutex
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			turn.Lock()
			defer turn.Unlock()
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"a context ends"}},
	{"who waits gets another error", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			if errors.Is(err, context.DeadlineExceeded) {
				err = errors.New("busy")
			}
			return receipts, err
		}}
	}, []string{"a context ends", "a done context"}},
	{"sessions have one id", func(l log) *over { return &over{Log: l, id: func() string { return "1" }} }, []string{"sessions are apart"}},
	{"sessions are cut from their keys", func(l log) *over {
		return &over{Log: l, key: func() string { return l.Key()[:min(len(l.Key()), 2)] }}
	}, []string{"sessions are apart"}},
}

// after has another goroutine append between what is read and what is then done.
func after() { time.Sleep(2 * time.Millisecond) }

var parallelFaults = []fault{
	{"appends go on where they have looked", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if o.From == "" {
				o.From = leafOf(l)
				after()
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"parallel appends make"}},
	{"appends are lost", func() func(log) *over {
		return func(l log) *over {
			var running atomic.Int32
			return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
				defer running.Add(-1)
				if running.Add(1) > 3 && len(drafts) > 1 {
					after()
					return make([]receipt, len(drafts)), nil
				}
				after()
				return l.AppendAll(ctx, drafts, &o)
			}}
		}
	}(), []string{"parallel appends make"}},
	{"batches are mixed", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			var all []receipt
			for _, d := range drafts {
				receipts, err := l.AppendAll(ctx, []draft{d}, &options{})
				if err != nil {
					return nil, err
				}
				all = append(all, receipts...)
				after()
			}
			return all, nil
		}}
	}, []string{"parallel appends make", "a batch is never seen"}},
	{"the guard looks first", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if o.Leaf != "" && o.Leaf != leafOf(l) {
				return nil, transcript.ErrConflict
			}
			o.Leaf = ""
			after()
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"parallel appends do not pass"}},
	{"keys are looked up first", func(l log) *over {
		var n atomic.Int32
		o := keying(func(key string) string { return key })(l)
		o.append = func(ctx context.Context, drafts []draft, opts options) ([]receipt, error) {
			drafts = slices.Clone(drafts)
			for i, d := range drafts {
				m, _ := d.Payload.(transcript.Message)
				if found, err := l.Keyed(ctx, m.IdempotencyKey); err == nil && len(found) > 0 {
					continue
				}
				after()
				if found, err := l.Keyed(ctx, m.IdempotencyKey); err == nil && len(found) > 0 {
					m.IdempotencyKey += " " + string(rune('a'+n.Add(1))) // as if it had not been there
					drafts[i].Payload = m
				}
			}
			return l.AppendAll(ctx, drafts, &opts)
		}
		return o
	}, []string{"parallel appends use"}},
	{"claims are looked up first", func(l log) *over {
		issuer := transcript.NewIssuer()
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if !drafts[0].Claim {
				return l.AppendAll(ctx, drafts, &o)
			}
			last := read(l.Branch(ctx, &transcript.BranchOptions{NewestFirst: true}))[0]
			after()
			receipts, err := l.AppendAll(ctx, drafts, &o)
			if err == nil {
				receipts[0] = issuer.Receipt(l.Key(), l.ID(), last, false)
			}
			return receipts, err
		}}
	}, []string{"parallel claims"}},
}
