package transcripttest

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/cellmode/cellmode/transcript"
)

// shared passes each call to the next of several logs of one session, so that none may know more than the others.
type shared struct {
	logs  []transcript.Log
	calls atomic.Uint32
}

func (s *shared) next() transcript.Log { return s.logs[int(s.calls.Add(1))%len(s.logs)] }

func (s *shared) Key() string { return s.next().Key() }
func (s *shared) ID() string  { return s.next().ID() }

func (s *shared) AppendAll(ctx context.Context, drafts []transcript.Draft, opts *transcript.AppendOptions) ([]transcript.Receipt, error) {
	return s.next().AppendAll(ctx, drafts, opts)
}

// Issued asks all, because a log need not know the receipts of another process.
func (s *shared) Issued(r transcript.Receipt) bool {
	return slices.ContainsFunc(s.logs, func(l transcript.Log) bool { return l.Issued(r) })
}

func (s *shared) Leaf(ctx context.Context) (string, error) { return s.next().Leaf(ctx) }

func (s *shared) Entry(ctx context.Context, id string) (transcript.Entry, error) {
	return s.next().Entry(ctx, id)
}

func (s *shared) Keyed(ctx context.Context, keys ...string) (map[string]transcript.Receipt, error) {
	return s.next().Keyed(ctx, keys...)
}

func (s *shared) Branch(ctx context.Context, opts *transcript.BranchOptions) iter.Seq2[transcript.Entry, error] {
	return s.next().Branch(ctx, opts)
}

func (s *shared) Entries(ctx context.Context) iter.Seq2[transcript.Entry, error] {
	return s.next().Entries(ctx)
}

func (s *shared) Settings(ctx context.Context, id string) (transcript.Settings, error) {
	return s.next().Settings(ctx, id)
}
