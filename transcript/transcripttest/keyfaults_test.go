package transcripttest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cellmode/cellmode/transcript"
)

// keying changes the keys of drafts, and those that are asked for.
func keying(change func(key string) string) func(log) *over {
	return func(l log) *over {
		o := rewriting(func(p transcript.Message) transcript.Payload {
			p.IdempotencyKey = change(p.IdempotencyKey)
			return p
		})(l)
		o.keyed = func(ctx context.Context, keys ...string) (map[string]receipt, error) {
			found := map[string]receipt{}
			for _, key := range keys {
				one, err := l.Keyed(ctx, change(key))
				if err != nil {
					return nil, err
				}
				if r, ok := one[change(key)]; ok {
					found[key] = r
				}
			}
			return found, nil
		}
		return o
	}
}

// unclaiming takes the claim from some drafts.
func unclaiming(of func(transcript.Message) bool) func(log) *over {
	return drafting(func(_ log, drafts []draft, _ *options) []draft {
		for i, d := range drafts {
			if m, ok := d.Payload.(transcript.Message); ok && of(m) {
				drafts[i].Claim = false
			}
		}
		return drafts
	})
}

// claimingBy has its own way to find what the claim of a single draft gets, among the entries of a branch that were not
// claimed, the newest first.
func claimingBy(finds func(e entry, m, own transcript.Message) bool) func(log) *over {
	return func(l log) *over {
		var mu sync.Mutex
		claimed := map[string]entry{} // by their keys
		issuer := transcript.NewIssuer()
		issued := func(r receipt) bool { return issuer.Issued(r) || l.Issued(r) }
		return &over{Log: l, issued: issued, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if len(drafts) != 1 || !drafts[0].Claim {
				return l.AppendAll(ctx, drafts, &o)
			}
			mu.Lock()
			defer mu.Unlock()
			own := drafts[0].Payload.(transcript.Message)
			if e, ok := claimed[own.IdempotencyKey]; ok {
				return []receipt{issuer.Receipt(l.Key(), l.ID(), e, false)}, nil
			}
			for _, e := range read(l.Branch(ctx, &transcript.BranchOptions{NewestFirst: true})) {
				m, ok := e.Message()
				taken := false
				for _, other := range claimed {
					taken = taken || other.ID == e.ID
				}
				if ok && !taken && finds(e, m, own) {
					claimed[own.IdempotencyKey] = e
					return []receipt{issuer.Receipt(l.Key(), l.ID(), e, false)}, nil
				}
			}
			return l.AppendAll(ctx, []draft{{Payload: own}}, &o)
		}, keyed: func(ctx context.Context, keys ...string) (map[string]receipt, error) {
			found, err := l.Keyed(ctx, keys...)
			mu.Lock()
			defer mu.Unlock()
			for _, key := range keys {
				if e, ok := claimed[key]; ok {
					found[key] = issuer.Receipt(l.Key(), l.ID(), e, false)
				}
			}
			return found, err
		}}
	}
}

// unkeyed finds what was appended without a key, and is the same.
func unkeyed(_ entry, m, own transcript.Message) bool {
	return m.Role == own.Role && m.IdempotencyKey == "" && bytes.Equal(m.Content, own.Content)
}

var keyFaults = []fault{
	{"keys are of no use", rewriting(func(p transcript.Message) transcript.Payload { p.IdempotencyKey = ""; return p }),
		[]string{"a key is appended once", "a key is used once", "keys are compared", "there is a receipt"}},
	{"keys are of a branch", func(l log) *over {
		return drafting(func(l log, drafts []draft, _ *options) []draft {
			branch := ids(read(l.Branch(context.Background(), nil)))
			for i, d := range drafts {
				if m, ok := d.Payload.(transcript.Message); ok && m.IdempotencyKey != "" {
					found, _ := l.Keyed(context.Background(), m.IdempotencyKey)
					if r, ok := found[m.IdempotencyKey]; ok && !slices.Contains(branch, r.Entry().ID) {
						m.IdempotencyKey += "'"
						drafts[i].Payload = m
					}
				}
			}
			return drafts
		})(l)
	}, []string{"a key is appended once"}},
	{"keys are of a role", rewriting(func(p transcript.Message) transcript.Payload {
		if p.IdempotencyKey != "" {
			p.IdempotencyKey += p.Role
		}
		return p
	}), []string{"a key is appended once"}},
	{"keys are of a batch", drafting(func(_ log, drafts []draft, _ *options) []draft {
		for i, d := range drafts {
			if m, ok := d.Payload.(transcript.Message); ok && m.IdempotencyKey != "" && i > 0 {
				m.IdempotencyKey += fmt.Sprint(i)
				drafts[i].Payload = m
			}
		}
		return drafts
	}), []string{"a key is used once"}},
	{"a receipt has what was to be appended", func(l log) *over {
		issuer := transcript.NewIssuer()
		return &over{Log: l, issued: issuer.Issued, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			for i, r := range receipts {
				e := r.Entry()
				e.Payload = drafts[i].Payload
				receipts[i] = issuer.Receipt(l.Key(), l.ID(), e, r.Appended())
			}
			return receipts, err
		}}
	}, []string{"a key is appended once", "there is a receipt"}},
	{"everything is said to be appended", func(l log) *over {
		issuer := transcript.NewIssuer()
		return &over{Log: l, issued: issuer.Issued, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			for i, r := range receipts {
				receipts[i] = issuer.Receipt(l.Key(), l.ID(), r.Entry(), true)
			}
			return receipts, err
		}}
	}, []string{"a key is appended once", "a key is used once", "there is a receipt", "an entry is claimed once"}},
	{"the same text is the same message", rewriting(func(p transcript.Message) transcript.Payload {
		if p.IdempotencyKey == "" {
			p.IdempotencyKey = "text " + p.Text()
		}
		return p
	}), []string{"a key is appended once"}},
	{"keys have no case", keying(strings.ToLower), []string{"keys are compared"}},
	{"keys are trimmed", keying(strings.TrimSpace), []string{"keys are compared"}},
	{"keys end at NUL", keying(func(key string) string { before, _, _ := strings.Cut(key, "\x00"); return before }), []string{"keys are compared"}},
	{"keys are cut", keying(func(key string) string { return strings.ToValidUTF8(key[:min(len(key), 255)], "") }), []string{"keys are compared", "a key has a limit"}},
	{"keys are short", keying(func(key string) string { return key[:min(len(key), 2048)] }), []string{"a key has a limit"}},
	{"long keys are cut", rewriting(func(p transcript.Message) transcript.Payload {
		p.IdempotencyKey = strings.ToValidUTF8(p.IdempotencyKey[:min(len(p.IdempotencyKey), transcript.MaxKeyBytes)], "")
		return p
	}), []string{"a key has a limit"}},
	{"keys lead to nothing", func(l log) *over {
		return &over{Log: l, keyed: func(ctx context.Context, _ ...string) (map[string]receipt, error) {
			return map[string]receipt{}, ctx.Err()
		}}
	}, []string{"a key is appended once", "keys are compared", "a claim finds the user's"}},
	{"all keys are found", func(l log) *over {
		return &over{Log: l, keyed: func(ctx context.Context, keys ...string) (map[string]receipt, error) {
			found, err := l.Keyed(ctx, keys...)
			for _, key := range keys {
				if _, ok := found[key]; !ok && err == nil {
					found[key] = receipt{}
				}
			}
			return found, err
		}}
	}, []string{"a new session", "a key is appended once", "a batch is appended whole"}},

	{"nothing is claimed", unclaiming(func(transcript.Message) bool { return true }), []string{"a claim finds the user's", "a claim finds the assistant's", "a batch is appended whole"}},
	{"nothing of the user is claimed", unclaiming(func(m transcript.Message) bool { return m.Role == "user" }), []string{"a claim finds the user's", "an entry is claimed once"}},
	{"nothing of the assistant is claimed", unclaiming(func(m transcript.Message) bool { return m.Role == "assistant" }), []string{"a claim finds the assistant's", "a claim loses"}},
	{"claims leave no key", drafting(func(_ log, drafts []draft, _ *options) []draft {
		for i, d := range drafts {
			if m, ok := d.Payload.(transcript.Message); ok && d.Claim {
				m.IdempotencyKey = ""
				drafts[i].Payload = m
			}
		}
		return drafts
	}), []string{"a claim finds the user's", "an entry is claimed once", "parallel claims"}},
	{"everybody claims", drafting(func(_ log, drafts []draft, _ *options) []draft {
		for i := range drafts {
			drafts[i].Claim = true
		}
		return drafts
	}), []string{"a claim finds the user's"}},
	{"claims compare bytes", claimingBy(func(e entry, m, own transcript.Message) bool {
		return unkeyed(e, m, own) || m.Role == "assistant" && m.Role == own.Role && m.Text() == own.Text()
	}), []string{"a claim finds the user's", "a claim loses"}},
	{"claims compare content", claimingBy(unkeyed), []string{"a claim finds the assistant's", "a claim loses"}},
	{"claims know no turns", claimingBy(unkeyed), []string{"a claim does not leave"}},
	{"claims know no roles", claimingBy(func(_ entry, m, own transcript.Message) bool { return m.IdempotencyKey == "" && m.Text() == own.Text() }), []string{"a claim finds the user's"}},
	{"claims find what has a key", claimingBy(func(_ entry, m, own transcript.Message) bool { return m.Role == own.Role && m.Text() == own.Text() }), []string{"a claim finds the user's"}},
	{"claims change what they find", func(l log) *over {
		issuer := transcript.NewIssuer()
		issued := func(r receipt) bool { return issuer.Issued(r) || l.Issued(r) }
		return &over{Log: l, issued: issued, keyed: func(ctx context.Context, keys ...string) (map[string]receipt, error) {
			found, err := l.Keyed(ctx, keys...)
			for key, r := range found {
				e := r.Entry()
				m, _ := e.Message()
				m.IdempotencyKey = key
				e.Payload = m
				found[key] = issuer.Receipt(l.Key(), l.ID(), e, false)
			}
			return found, err
		}}
	}, []string{"a claim finds the user's"}},
	{"Keyed gives receipts of what was appended", func(l log) *over {
		issuer := transcript.NewIssuer()
		issued := func(r receipt) bool { return issuer.Issued(r) || l.Issued(r) }
		return &over{Log: l, issued: issued, keyed: func(ctx context.Context, keys ...string) (map[string]receipt, error) {
			found, err := l.Keyed(ctx, keys...)
			for key, r := range found {
				found[key] = issuer.Receipt(l.Key(), l.ID(), r.Entry(), true)
			}
			return found, err
		}}
	}, []string{"a key is appended once", "keys are compared"}},
	{"Keyed gives receipts of nobody", func(l log) *over {
		return &over{Log: l, keyed: func(ctx context.Context, keys ...string) (map[string]receipt, error) {
			found, err := l.Keyed(ctx, keys...)
			for key, r := range found {
				found[key] = transcript.NewIssuer().Receipt(l.Key(), l.ID(), r.Entry(), false)
			}
			return found, err
		}}
	}, []string{"a key is appended once", "receipts are known"}},
	{"who only claims appends", drafting(func(_ log, drafts []draft, _ *options) []draft {
		for i, d := range drafts {
			drafts[i].Claim, drafts[i].ClaimOnly = d.Claim || d.ClaimOnly, false
		}
		return drafts
	}), []string{"a claim may do without"}},
	{"who only claims finds nothing", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			if len(drafts) == 1 && drafts[0].ClaimOnly {
				return make([]receipt, 1), ctx.Err()
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"a claim may do without"}},
	{"who only claims and finds nothing has an error", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			if len(drafts) == 1 && drafts[0].ClaimOnly && err == nil && receipts[0].Entry().Payload == nil {
				return nil, transcript.ErrUnknownEntry
			}
			return receipts, err
		}}
	}, []string{"a claim may do without"}},
	{"a batch claims an entry twice", oneByOne, []string{"an entry is claimed once"}},

	{"all receipts are known", func(l log) *over { return &over{Log: l, issued: func(receipt) bool { return true }} }, []string{"receipts are known"}},
	{"no receipts are known", func(l log) *over { return &over{Log: l, issued: func(receipt) bool { return false }} }, []string{"receipts are known"}},
	{"receipts are known by what they say", func(l log) *over {
		return &over{Log: l, issued: func(r receipt) bool { return r.Anchor().SessionID == l.ID() }}
	}, []string{"receipts are known"}},
	{"receipts are known that say Appended", func(l log) *over {
		return &over{Log: l, issued: func(r receipt) bool { return l.Issued(r) && r.Appended() }}
	}, []string{"receipts are known"}},
}
