package transcript

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
)

// Types of the custom entries that tell what cells have done. A host appends one for a cell before it runs, one for each
// call before the tool has it, and one for each result: so that what a cell may have changed is known, however its process
// ends.
const (
	CellRecordType   = "cellmode.cell"   // of a CellRecord
	CallRecordType   = "cellmode.call"   // of a CallRecord
	ResultRecordType = "cellmode.result" // of a ResultRecord
)

// CellRecord tells that a cell was run. NewCellRecord makes one.
type CellRecord struct {
	// ID is the record's own, which no other record has.
	ID string `json:"id"`
	// RunID is by what the runtime calls the cell.
	RunID string `json:"runId"`
	// ToolCallID is the assistant's call that asked for it, if one did.
	ToolCallID string `json:"toolCallId,omitempty"`
	Title      string `json:"title,omitempty"`
	// Source is the program as it was given.
	Source string `json:"source"`
}

// CallRecord tells that a cell has called a tool. [CellRecord.NewCall] makes one.
type CallRecord struct {
	// ID is the record's own, which no other record has, even if a later turn uses the same CallID.
	ID string `json:"id"`
	// Cell is the ID of the CellRecord.
	Cell string `json:"cell"`
	// CallID is by what the runtime calls the call.
	CallID string `json:"callId,omitempty"`
	Tool   string `json:"tool"`
	// Input is JSON; nil if it is not kept.
	Input json.RawMessage `json:"input,omitempty"`
}

// CallOutcome is what has become of a call of a tool.
type CallOutcome string

// The outcomes of calls. A call has exactly one.
const (
	CallSucceeded CallOutcome = "success"
	CallRefused   CallOutcome = "refused" // it was not made: a policy, a hook or a person has refused it
	CallFailed    CallOutcome = "failed"
	CallUnknown   CallOutcome = "unknown" // it was made, and its result is lost
)

// ResultRecord tells what has become of a call. [CallRecord.NewResult] makes one.
type ResultRecord struct {
	// Call is the ID of the CallRecord, and Cell that of its CellRecord.
	Call    string      `json:"call"`
	Cell    string      `json:"cell"`
	Tool    string      `json:"tool"`
	Outcome CallOutcome `json:"outcome"`
	// Value is JSON; nil if there is none, or it is not kept.
	Value json.RawMessage `json:"value,omitempty"`
	// Error says why there is no success.
	Error string `json:"error,omitempty"`
}

// NewCellRecord makes the record of a cell, with an ID of its own.
func NewCellRecord(runID, toolCallID, source string) CellRecord {
	return CellRecord{ID: uuid.NewString(), RunID: runID, ToolCallID: toolCallID, Source: source}
}

// NewCall makes the record of a call of the cell, with an ID of its own.
func (r CellRecord) NewCall(callID, tool string, input json.RawMessage) CallRecord {
	return CallRecord{ID: uuid.NewString(), Cell: r.ID, CallID: callID, Tool: tool, Input: input}
}

// NewResult makes the record of the call's result.
func (r CallRecord) NewResult(outcome CallOutcome, value json.RawMessage, message string) ResultRecord {
	return ResultRecord{Call: r.ID, Cell: r.Cell, Tool: r.Tool, Outcome: outcome, Value: value, Error: message}
}

// Payload is the entry of the record. ErrInvalidEntry if it lacks its ID; ErrEntryTooLarge.
func (r CellRecord) Payload() (Custom, error) { return newRecord(CellRecordType, r, r.ID) }

// Payload is the entry of the record. ErrInvalidEntry if it lacks an id or the tool, or its input is not JSON;
// ErrEntryTooLarge.
func (r CallRecord) Payload() (Custom, error) {
	return newRecord(CallRecordType, r, r.ID, r.Cell, r.Tool)
}

// Payload is the entry of the record. ErrInvalidEntry if it lacks an id, the tool or the outcome, or its value is not JSON;
// ErrEntryTooLarge.
func (r ResultRecord) Payload() (Custom, error) {
	return newRecord(ResultRecordType, r, r.Call, r.Cell, r.Tool, string(r.Outcome))
}

func newRecord(recordType string, record any, needed ...string) (Custom, error) {
	if slices.Contains(needed, "") {
		return Custom{}, fmt.Errorf("%w: a record of the type %s lacks a member that it must have", ErrInvalidEntry, recordType)
	}
	data, err := marshal(record)
	return Custom{Type: recordType, Data: data}, err
}

// ReadCellRecord reads the record of a cell, and tells whether the payload is one.
func ReadCellRecord(p Payload) (CellRecord, bool) {
	r, ok := readRecord[CellRecord](p, CellRecordType)
	return r, ok && r.ID != ""
}

// ReadCallRecord reads the record of a call, and tells whether the payload is one.
func ReadCallRecord(p Payload) (CallRecord, bool) {
	r, ok := readRecord[CallRecord](p, CallRecordType)
	return r, ok && r.ID != "" && r.Cell != "" && r.Tool != ""
}

// ReadResultRecord reads the record of a result, and tells whether the payload is one.
func ReadResultRecord(p Payload) (ResultRecord, bool) {
	r, ok := readRecord[ResultRecord](p, ResultRecordType)
	return r, ok && r.Call != "" && r.Cell != "" && r.Tool != "" && r.Outcome != ""
}

func readRecord[T any](p Payload, recordType string) (T, bool) {
	custom, _ := p.(Custom)
	if custom.Type != recordType {
		var none T
		return none, false
	}
	r, err := read[T](custom.Data)
	return r, err == nil
}

// isRecord tells that custom entries of a type are records.
func isRecord(customType string) bool {
	return customType == CellRecordType || customType == CallRecordType || customType == ResultRecordType
}

// namesRecord tells that a member of a record says which it is, and not what was said.
func namesRecord(member string) bool {
	switch member {
	case "id", "runId", "toolCallId", "cell", "callId", "call", "tool", "outcome":
		return true
	}
	return false
}

// SettleCalls settles the calls of the session's branch, as [SettleCalls] does.
func (s *Session) SettleCalls(ctx context.Context) ([]Receipt, error) { return SettleCalls(ctx, s) }

// maxSettleTries is how often SettleCalls looks again because somebody has appended meanwhile.
const maxSettleTries = 16

// SettleCalls gives each call of the branch that has no result one that says that its outcome is unknown: calls of the
// assistant, and those that cells have recorded. It is for the start of a program whose predecessor may have crashed:
// nothing is made again, and what may have taken effect stays on record. What it returns are the receipts of the results,
// none if every call has one: calling it again does nothing, and of several processes that call it at once one does it.
//
// It reads the whole branch, and holds the calls without a result in memory. It must not be called while a call is being
// made for the session: that would get a second result. The errors are those of [Log.Branch] and [Log.AppendAll];
// ErrConflict if others keep appending.
func SettleCalls(ctx context.Context, log Log) ([]Receipt, error) {
	for try := 1; ; try++ {
		leaf, drafts, err := unsettled(ctx, log)
		if err != nil || len(drafts) == 0 {
			return nil, err
		}
		receipts, err := log.AppendAll(ctx, drafts, &AppendOptions{Leaf: leaf})
		if !errors.Is(err, ErrConflict) || try == maxSettleTries {
			return receipts, err
		}
	}
}

// unsettled gives the results that the branch which ends with leaf lacks.
func unsettled(ctx context.Context, log Log) (leaf string, drafts []Draft, err error) {
	if leaf, err = log.Leaf(ctx); err != nil || leaf == Root {
		return "", nil, err
	}
	type call struct {
		seq int
		ToolCall
	}
	type nested struct {
		seq int
		CallRecord
	}
	seq := 0
	calls := map[string][]call{} // by id, the latest last
	records := map[string]nested{}
	for entry, err := range log.Branch(ctx, &BranchOptions{To: leaf}) {
		if err != nil {
			return "", nil, err
		}
		m, _ := entry.Message()
		switch m.Role {
		case RoleAssistant:
			for _, c := range m.ToolCalls() {
				seq++
				calls[c.ID] = append(calls[c.ID], call{seq, ToolCall{ID: c.ID, Name: c.Name}})
			}
		case RoleToolResult:
			// As for a context: the result is that of the latest call of its id.
			if open := calls[m.ToolCallID]; len(open) > 1 {
				calls[m.ToolCallID] = open[:len(open)-1]
			} else {
				delete(calls, m.ToolCallID)
			}
		}
		if r, ok := ReadCallRecord(entry.Payload); ok {
			seq++
			r.Input = nil
			records[r.ID] = nested{seq, r}
		}
		if r, ok := ReadResultRecord(entry.Payload); ok {
			delete(records, r.Call)
		}
	}
	// The calls of cells come first: the assistant's call of the cell ends after them.
	for _, r := range slices.SortedFunc(maps.Values(records), func(a, b nested) int { return cmp.Compare(a.seq, b.seq) }) {
		payload, err := r.NewResult(CallUnknown, nil, unknownOutcome).Payload()
		if err != nil {
			return "", nil, err
		}
		drafts = append(drafts, Draft{Payload: payload})
	}
	open := slices.Concat(slices.Collect(maps.Values(calls))...)
	slices.SortFunc(open, func(a, b call) int { return cmp.Compare(a.seq, b.seq) })
	for _, c := range open {
		drafts = append(drafts, Draft{Payload: unknownResult(c.ID, c.Name)})
	}
	return leaf, drafts, nil
}
