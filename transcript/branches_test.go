package transcript_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// The ends of branches are the entries that nothing follows, by a count over all entries.
func TestBranches(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	session := newSession(t)
	random := rand.New(rand.NewPCG(1, 2))
	ids := []string{transcript.Root}
	for range 200 {
		var o transcript.AppendOptions
		if random.IntN(3) == 0 {
			o.From = ids[random.IntN(len(ids))]
		}
		draft := transcript.Draft{Payload: transcript.UserText("x"), Side: random.IntN(5) == 0}
		receipts, err := session.AppendAll(ctx, []transcript.Draft{draft}, &o)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, receipts[0].Entry().ID)
		if random.IntN(10) > 0 {
			continue
		}
		followed := map[string]bool{}
		var all, want, got []string
		for entry, err := range session.Entries(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if entry.Kind() != transcript.KindLeaf && !entry.Side {
				followed[entry.ParentID] = true
				all = append(all, entry.ID)
			}
		}
		for _, id := range all {
			if !followed[id] {
				want = append(want, id)
			}
		}
		ends, err := session.Branches(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range ends {
			got = append(got, entry.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the branches end with %q, not %q", got, want)
		}
	}
	if ends, err := newSession(t).Branches(ctx); err != nil || len(ends) > 0 {
		t.Errorf("the branches of a new session end with %v, %v", ends, err)
	}
}
