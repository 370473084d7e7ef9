package transcript_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// TestClaimsOfLongTurns mirrors as many messages as there may be into a turn of as many: others wait meanwhile.
func TestClaimsOfLongTurns(t *testing.T) {
	t.Parallel()
	text := func(i int) string { return strings.Repeat(fmt.Sprintf("%04d ", i), 400) }
	for _, test := range []struct {
		name           string
		there, claimed func(i int) string
		want           transcript.MirrorState
	}{
		{"none is there", text, func(i int) string { return text(i + 5000) }, transcript.MirrorAppended},
		{"all are there", text, text, transcript.MirrorPresent},
		{"all are the same", func(int) string { return text(0) }, func(int) string { return text(0) }, transcript.MirrorPresent},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			session := newSession(t)
			var drafts []transcript.Draft
			var batch []transcript.MirrorMessage
			for i := range transcript.MaxMirrorBatch {
				drafts = append(drafts, transcript.Draft{Payload: transcript.AssistantText(test.there(i))})
				message := transcript.AssistantText(test.claimed(i))
				batch = append(batch, transcript.MirrorMessage{Identity: fmt.Sprint(i), Message: message, Claim: true})
			}
			if _, err := session.AppendAll(t.Context(), drafts, nil); err != nil {
				t.Fatal(err)
			}
			// It takes much less. What takes minutes is what compares each with each.
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			// Each has its own, also in a second call for the same.
			for _, prefix := range []string{"a", "b"} {
				seen := map[string]bool{}
				results, err := transcript.Mirror(ctx, session, batch, &transcript.MirrorOptions{Scope: prefix})
				if err != nil {
					t.Fatal(err)
				}
				for i, result := range results {
					id := result.Receipt.Entry().ID
					if result.State != test.want || seen[id] {
						t.Fatalf("scope %s: message %d is %s, and its entry is another's: %v", prefix, i, result.State, seen[id])
					}
					seen[id] = true
				}
				if test.want == transcript.MirrorPresent {
					test.want = transcript.MirrorAppended // the second time they are claimed
				} else {
					break // what was appended may be claimed
				}
			}
		})
	}
}

// TestClaimsOfLargeEntries finds nothing beyond a size: others wait meanwhile.
func TestClaimsOfLargeEntries(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	push(t, session, transcript.AssistantText("ok"))
	for range 20 {
		push(t, session, transcript.Custom{Type: "x", Data: jsonRaw(`"` + strings.Repeat("x", 1<<20) + `"`)})
	}
	push(t, session, transcript.AssistantText("near"))
	for text, want := range map[string]string{"near": "present", "ok": "appended"} {
		message := transcript.MirrorMessage{Identity: text, Message: transcript.AssistantText(text), Claim: true}
		if _, got := mirror(t, session, nil, message); got != want {
			t.Errorf("%s is %s, not %s", text, got, want)
		}
	}
}

// said is a message of the model of a session.
type said struct {
	id, role, content string
	keyed             bool
}

// TestClaimsLikeTheModel compares what claims find with what a walk back for each of them finds.
func TestClaimsLikeTheModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		session := newSession(t)
		var branch []said
		byAnyCall := map[string]bool{}
		keys := 0
		for range 12 {
			var drafts []transcript.Draft
			for range 1 + rng.IntN(12) {
				var draft transcript.Draft
				roles := []string{"user", "assistant", "assistant", "assistant", "toolResult", "toolResult", "reset"}
				role := roles[rng.IntN(len(roles))]
				content := []string{`"a"`, `[{"type":"text","text":"a"}]`, `"b"`, `[{"type":"text","text":"a"},{"type":"toolCall","id":"c","name":"t","arguments":{}}]`,
					`[{"type":"thinking","thinking":"x"},{"type":"text","text":"b"}]`, `[]`}[rng.IntN(6)]
				m := transcript.Message{Role: role, Content: jsonRaw(content)}
				if rng.IntN(3) > 0 {
					keys++
					m.IdempotencyKey = fmt.Sprint("key ", keys)
				}
				draft.Payload = m
				if role == "reset" {
					draft.Payload = transcript.Reset{}
				} else {
					draft.Claim, draft.ClaimOnly, draft.Side = rng.IntN(2) == 0, rng.IntN(4) == 0, rng.IntN(8) == 0
				}
				drafts = append(drafts, draft)
			}
			receipts, err := session.AppendAll(t.Context(), drafts, nil)
			if err != nil {
				t.Fatal(err)
			}
			byCall := map[string]bool{}
			for i, draft := range drafts {
				m, _ := draft.Payload.(transcript.Message)
				want := ""
				if draft.Claim || draft.ClaimOnly {
					want = walkBack(branch, m, func(id string) bool { return byCall[id] || byAnyCall[id] })
				}
				entry := receipts[i].Entry()
				if missed := want == "" && !draft.ClaimOnly; entry.ID != want && !missed || receipts[i].Appended() != missed {
					t.Fatalf("seed %d: draft %d %v has %s, appended %v, and not %q", seed, i, draft, entry.ID, receipts[i].Appended(), want)
				}
				if want == "" && !draft.ClaimOnly && !draft.Side {
					branch = append(branch, said{entry.ID, cmp.Or(m.Role, "reset"), string(m.Content), m.IdempotencyKey != ""})
				}
				if draft.Claim || draft.ClaimOnly {
					byCall[entry.ID] = true
					byAnyCall[want] = byAnyCall[want] || m.IdempotencyKey != ""
				}
			}
		}
	}
}

// walkBack finds the message that another one claims.
func walkBack(branch []said, m transcript.Message, claimed func(id string) bool) string {
	for i := len(branch) - 1; i >= 0 && branch[i].role != "reset"; i-- {
		there := transcript.Message{Role: branch[i].role, Content: jsonRaw(branch[i].content)}
		same := there.Role == m.Role && string(there.Content) == string(m.Content) && (!branch[i].keyed || m.Role == "assistant")
		text := there.Role == "assistant" && m.Role == "assistant" && len(m.ToolCalls()) == 0 && m.Text() != "" && m.Text() == there.Text()
		if (same || text) && !claimed(branch[i].id) {
			return branch[i].id
		}
		if there.Role == "user" || m.Role == "user" && there.Role == "assistant" {
			break
		}
	}
	return ""
}

// endsAfter is a context that is done when it was asked so often.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestContextEndsAnAppend ends the context at each moment when it is asked: there is one before each draft.
func TestContextEndsAnAppend(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	drafts := make([]transcript.Draft, 100)
	for i := range drafts {
		drafts[i] = transcript.Draft{Payload: transcript.UserText("x"), Claim: true}
	}
	times := 0
	for ; ; times++ {
		_, err := session.AppendAll(&endsAfter{t.Context(), times}, drafts, nil)
		got := texts(t, session.Entries(t.Context()))
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) || got != "" {
			t.Fatalf("a context that ends when it was asked %d times: %v, and the session has %q", times, err, got)
		}
	}
	if times < len(drafts) {
		t.Errorf("of an append of %d drafts the context was asked %d times", len(drafts), times)
	}
}
