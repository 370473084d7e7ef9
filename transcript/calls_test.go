package transcript_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

type jsonRaw = json.RawMessage

type record interface {
	Payload() (transcript.Custom, error)
}

func pushRecord(tb testing.TB, session *transcript.Session, r record) {
	tb.Helper()
	payload, err := r.Payload()
	if err != nil {
		tb.Fatal(err)
	}
	push(tb, session, payload)
}

// results are the results on the branch: of the assistant's calls, and of those of cells.
func results(tb testing.TB, session *transcript.Session) (calls map[string][]transcript.Message, nested map[string][]transcript.ResultRecord) {
	tb.Helper()
	calls, nested = map[string][]transcript.Message{}, map[string][]transcript.ResultRecord{}
	for entry, err := range session.Branch(tb.Context(), nil) {
		if err != nil {
			tb.Fatal(err)
		}
		if m, ok := entry.Message(); ok && m.Role == transcript.RoleToolResult {
			calls[m.ToolCallID] = append(calls[m.ToolCallID], m)
		}
		if r, ok := transcript.ReadResultRecord(entry.Payload); ok {
			nested[r.Call] = append(nested[r.Call], r)
		}
	}
	return calls, nested
}

// TestSettleCalls is case C073: of a cell's calls one has succeeded, one was denied, and the process has died during the
// third.
func TestSettleCalls(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), newPath(t)
	session, err := open(t, path, fast).OpenSession(ctx, "chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	say(t, session, "clean up")
	push(t, session, transcript.AssistantCalls("", transcript.ToolCall{ID: "call_1", Name: "exec"}))
	cell := transcript.NewCellRecord("run-1", "call_1", "await ls(); await rm(); await mv()")
	pushRecord(t, session, cell)
	ls, rm, mv := cell.NewCall("bridge:tool:1", "ls", nil), cell.NewCall("bridge:tool:2", "rm", jsonRaw(`{"all":true}`)), cell.NewCall("bridge:tool:3", "mv", nil)
	for _, r := range []record{
		ls, rm, mv, ls.NewResult(transcript.CallSucceeded, jsonRaw(`["a"]`), ""), rm.NewResult(transcript.CallRefused, nil, "denied by policy"),
	} {
		pushRecord(t, session, r)
	}

	// Here it has died. Several processes start, and each settles.
	var settled sync.Map
	var all sync.WaitGroup
	for i := range 4 {
		other, err := open(t, path, fast).FindSession(ctx, "chat")
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			receipts, err := other.SettleCalls(ctx)
			if err != nil {
				t.Error(err)
			}
			settled.Store(i, len(receipts))
		})
	}
	all.Wait()
	total := 0
	settled.Range(func(_, n any) bool { total += n.(int); return true })
	if total != 2 {
		t.Errorf("%d results were appended, not 2", total)
	}
	if again, err := session.SettleCalls(ctx); err != nil || len(again) != 0 {
		t.Errorf("settling once more: %v, %v", again, err)
	}
	calls, nested := results(t, session)
	if len(calls) != 1 || len(calls["call_1"]) != 1 || !calls["call_1"][0].IsError || !strings.Contains(calls["call_1"][0].Text(), "unknown") {
		t.Errorf("the results of the assistant's calls are %v", calls)
	}
	for _, want := range []struct {
		call    transcript.CallRecord
		outcome transcript.CallOutcome
	}{{ls, transcript.CallSucceeded}, {rm, transcript.CallRefused}, {mv, transcript.CallUnknown}} {
		got := nested[want.call.ID]
		if len(got) != 1 || got[0].Outcome != want.outcome || got[0].Cell != cell.ID || got[0].Tool != want.call.Tool {
			t.Errorf("the results of %s are %+v", want.call.Tool, got)
		}
	}
	if got := contextOf(t, session); got != "user:clean up assistant:[call_1] toolResult:"+calls["call_1"][0].Text()+"[call_1]" {
		t.Errorf("the context is %q", got)
	}

	// A later turn uses the ids again: the records have others.
	push(t, session, transcript.AssistantCalls("", transcript.ToolCall{ID: "call_1", Name: "exec"}))
	second := transcript.NewCellRecord("run-1", "call_1", "await ls()")
	again := second.NewCall("bridge:tool:1", "ls", nil)
	pushRecord(t, session, second)
	pushRecord(t, session, again)
	if second.ID == cell.ID || again.ID == ls.ID {
		t.Error("records share an id")
	}
	if receipts, err := session.SettleCalls(ctx); err != nil || len(receipts) != 2 {
		t.Errorf("settling the second turn: %v, %v", receipts, err)
	}
	calls, nested = results(t, session)
	if len(calls["call_1"]) != 2 || len(nested) != 4 || nested[again.ID][0].Outcome != transcript.CallUnknown {
		t.Errorf("the results are %v and %v", calls, nested)
	}

	// What was recorded can be read again.
	for entry, err := range session.Entries(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := transcript.ReadCellRecord(entry.Payload); ok && r.ID == cell.ID && r != cell {
			t.Errorf("the record of the cell is %+v", r)
		}
		if r, ok := transcript.ReadCallRecord(entry.Payload); ok && r.ID == rm.ID && (r.Tool != "rm" || string(r.Input) != `{"all":true}`) {
			t.Errorf("the record of the call is %+v", r)
		}
	}
}

func TestSettleCallsWhileOthersAppend(t *testing.T) {
	t.Parallel()
	session := newSession(t)
	if receipts, err := session.SettleCalls(t.Context()); err != nil || receipts != nil {
		t.Errorf("an empty session: %v, %v", receipts, err)
	}
	push(t, session, call("1"))
	var all sync.WaitGroup
	all.Go(func() {
		for range 20 {
			if _, err := session.Append(t.Context(), transcript.Custom{Type: "t"}, nil); err != nil {
				t.Error(err)
			}
		}
	})
	for {
		_, err := session.SettleCalls(t.Context())
		if err == nil {
			break
		}
		if !errors.Is(err, transcript.ErrConflict) {
			t.Fatal(err)
		}
	}
	all.Wait()
	if calls, _ := results(t, session); len(calls["1"]) != 1 {
		t.Errorf("the results are %v", calls)
	}
}

func TestRecordsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, r := range []record{
		transcript.CellRecord{}, transcript.CallRecord{ID: "x", Tool: "t"}, transcript.ResultRecord{Call: "x", Cell: "y", Tool: "t"},
		transcript.CallRecord{ID: "x", Cell: "y", Tool: "t", Input: jsonRaw("{")},
	} {
		if _, err := r.Payload(); !errors.Is(err, transcript.ErrInvalidEntry) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, p := range []transcript.Payload{
		transcript.UserText("x"), transcript.Custom{Type: "t", Data: jsonRaw(`{"id":"x"}`)}, transcript.Custom{Type: transcript.CellRecordType},
		transcript.Custom{Type: transcript.CallRecordType, Data: jsonRaw(`{"id":"x"}`)}, transcript.Custom{Type: transcript.ResultRecordType, Data: jsonRaw(`{"call":7}`)},
	} {
		_, cell := transcript.ReadCellRecord(p)
		_, call := transcript.ReadCallRecord(p)
		_, result := transcript.ReadResultRecord(p)
		if cell || call || result {
			t.Errorf("%+v is read as a record", p)
		}
	}
}
