package codemode

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/toolcatalog"
)

// The Error of a failed call has its cause, its code and its effect, however long its text is and however small the inbox.
func TestFailedRepliesFitTheInbox(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	for _, test := range []struct{ output, inbox int }{{1024, 10 << 20}, {64 << 10, 1024}, {2000, 2000}, {10 << 20, 3000}} {
		for range 500 {
			cause := "disk full: " + awkward(random, 3000)
			err := &toolcatalog.CallError{Code: toolcatalog.CodeRefused, EffectStatus: toolcatalog.EffectStatusNone, Err: errors.New(cause)}
			b := &bridge{cell: &cell{limits: &limits{output: test.output, inbox: int64(test.inbox)}}}
			r := b.admit(&request{}, nil, err)
			most := min(test.output, test.inbox)
			if len(r.text) > most || r.charge != int64(len(r.text)) || b.inbox.Load() != r.charge || r.ok || r.err != err || !utf8.Valid(r.text) {
				t.Fatalf("%+v: %d bytes, %d are charged: %+v", test, len(r.text), r.charge, r)
			}
			var got struct{ Message, Code, EffectStatus string }
			if err := json.Unmarshal(r.text, &got); err != nil || got.Code != "refused" || got.EffectStatus != "none" {
				t.Fatalf("%+v: %v: %s", test, err, r.text)
			}
			cause = strings.ToValidUTF8(cause, "\ufffd")
			shown, isCut := strings.CutSuffix(got.Message, errorSuffix)
			if !strings.HasPrefix(cause, shown) || !isCut && shown != cause {
				t.Fatalf("%+v: %q for %q", test, got.Message, cause)
			}
			if isCut && len(r.text) < most-6 {
				t.Fatalf("%+v: cut to %d bytes", test, len(r.text))
			}
		}
	}
}

// A reply that has no room beside those that wait is a small one that is not charged. What is known of the call stays known.
func TestRepliesWithoutRoom(t *testing.T) {
	t.Parallel()
	b := &bridge{cell: &cell{limits: &limits{output: 1024, inbox: 2000}}}
	if r := b.admit(&request{}, json.RawMessage(strings.Repeat("1", 2000)), nil); !r.ok || r.charge != 2000 {
		t.Fatalf("the first: %+v", r)
	}
	for name, test := range map[string]struct {
		err                error
		code, effectStatus string
	}{
		"a result":    {nil, "tool_error", "unknown"},
		"a failure":   {&toolcatalog.CallError{Code: toolcatalog.CodeInvalidInput, EffectStatus: toolcatalog.EffectStatusUnknown, Err: errors.New("disk full")}, "invalid_input", "unknown"},
		"a refusal":   {&toolcatalog.CallError{Code: toolcatalog.CodeRefused, EffectStatus: toolcatalog.EffectStatusNone, Err: errors.New("no")}, "refused", "none"},
		"other error": {errors.New("lost"), "tool_error", "unknown"},
	} {
		r := b.admit(&request{}, json.RawMessage(`1`), test.err)
		var got struct{ Message, Code, EffectStatus string }
		if err := json.Unmarshal(r.text, &got); err != nil || got.Message != inboxText || got.Code != test.code || got.EffectStatus != test.effectStatus {
			t.Errorf("%s: %v: %s", name, err, r.text)
		}
		if r.ok || r.charge != 0 || len(r.text) >= 250 || r.err != test.err || b.inbox.Load() != 2000 {
			t.Errorf("%s: %+v of %d bytes, %d are charged", name, r, len(r.text), b.inbox.Load())
		}
	}
}
