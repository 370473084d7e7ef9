package transcript

import (
	"context"
	"encoding/json"
	"fmt"
)

// unknownOutcome is what a call is told to have come to if nobody knows.
const unknownOutcome = "No result of this call is on record: its outcome is unknown. It may have taken effect; look before it is made again."

// unknownResult is the result of a call of which nobody knows what has become of it.
func unknownResult(callID, tool string) Message {
	m := ToolResult(callID, tool, unknownOutcome, true)
	m.Fields = map[string]json.RawMessage{"details": json.RawMessage(`{"outcome":"unknown"}`)}
	return m
}

// paired gives the messages with one result for each call, directly behind it. It counts those that it makes up.
func (b *contextBuilder) paired() ([]ContextMessage, error) {
	results := b.results()
	ids := callIDs{}
	all := make([]ContextMessage, 0, len(b.messages))
	for i, m := range b.messages {
		switch m.Message.Role {
		case RoleToolResult: // it follows its call
			continue
		case RoleAssistant:
		default:
			all = append(all, m)
			continue
		}
		calls := m.Message.ToolCalls()
		renamed := make([]string, len(calls))
		same := true
		for k, call := range calls {
			renamed[k] = ids.unique(call.ID)
			same = same && renamed[k] == call.ID
		}
		if !same {
			m.Message = m.Message.withCallIDs(renamed)
		}
		all = append(all, m)
		for k, call := range calls {
			result := ContextMessage{Message: unknownResult(renamed[k], call.Name), Retained: m.Retained}
			if at, ok := results[callPlace{i, k}]; ok {
				result = b.messages[at]
				result.Message.ToolCallID = renamed[k]
			} else if err := b.charge(result.Message); err != nil {
				return nil, err
			}
			all = append(all, result)
		}
	}
	return all, nil
}

// callPlace is a call: which message asks for it, and which of its calls it is.
type callPlace struct{ message, call int }

// results finds the message that is the result of each call which has one.
func (b *contextBuilder) results() map[callPlace]int {
	results := map[callPlace]int{}
	open := map[string][]callPlace{} // by the id of the call, the latest last
	for i, m := range b.messages {
		switch m.Message.Role {
		case RoleAssistant:
			for k, call := range m.Message.ToolCalls() {
				open[call.ID] = append(open[call.ID], callPlace{i, k})
			}
		case RoleToolResult:
			if calls := open[m.Message.ToolCallID]; len(calls) > 0 {
				results[calls[len(calls)-1]] = i
				open[m.Message.ToolCallID] = calls[:len(calls)-1]
			}
		}
	}
	return results
}

// callIDs are the ids that calls of a context have: how many each time tried to use it.
type callIDs map[string]int

// unique is the id if no call has it yet, else a new one.
func (ids callIDs) unique(id string) string {
	name := id
	if id == "" {
		id = "call"
	}
	for name == "" || ids[name] > 0 {
		ids[id]++
		name = fmt.Sprintf("%s-%d", id, ids[id])
	}
	ids[name]++
	return name
}

// withCallIDs is a message of which the calls have other ids.
func (m Message) withCallIDs(ids []string) Message {
	var raw []json.RawMessage
	if json.Unmarshal(m.Content, &raw) != nil {
		return m
	}
	texts := make([][]byte, len(raw))
	for i, b := range m.blocks() {
		texts[i] = raw[i]
		if b.Type != "toolCall" {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(raw[i], &members) == nil {
			members["id"] = jsonText(ids[0])
			if text, err := marshal(members); err == nil {
				texts[i] = text
			}
		}
		ids = ids[1:]
	}
	m.Content = blocks(texts...)
	return m
}

// KeepFrom gives the entry that a [Compaction] or a [Reset], appended to the branch at the leaf, has to name as FirstKeptID
// so that it keeps the entry id, and separates no call of a tool from its result. That is id itself, or the earlier message
// of the assistant that asks for a call whose result comes at id or later, or may still come: that of a call without a
// result, if the assistant has said nothing since. A message of which the stopReason is aborted or error waits for nothing.
//
// ErrUnknownEntry if id is not on the branch; ErrBeforeReset if it is not there since the branch's last reset: from before
// that nothing is kept.
func KeepFrom(ctx context.Context, log Log, id string) (string, error) {
	var (
		kept    string              // the answer, as far as it is known
		needed  = map[string]bool{} // calls whose results come at kept or later
		between = map[string]bool{} // calls whose results come before kept
		spoken  bool                // the assistant has said something later
	)
	if _, err := log.Entry(ctx, id); err != nil {
		return "", err
	}
	for entry, err := range log.Branch(ctx, &BranchOptions{NewestFirst: true}) {
		if err != nil {
			return "", err
		}
		before := kept != ""
		if entry.ID == id {
			kept = id
		}
		if entry.Kind() == KindReset {
			if kept == "" {
				return "", aboutSession("splitting", log.Key(), fmt.Errorf("%w: %.100q", ErrBeforeReset, id))
			}
			return kept, nil
		}
		m, _ := entry.Message()
		switch m.Role {
		case RoleToolResult:
			if before {
				between[m.ToolCallID] = true
			} else {
				needed[m.ToolCallID] = true
			}
		case RoleAssistant:
			holds := false
			for _, call := range m.ToolCalls() {
				holds = holds || needed[call.ID] || !between[call.ID] && !spoken
				delete(needed, call.ID)
				delete(between, call.ID)
			}
			stop := m.field("stopReason")
			if before && holds && stop != "aborted" && stop != "error" {
				kept = entry.ID
				for call := range between {
					needed[call] = true
				}
				clear(between)
			}
		}
		spoken = spoken || m.Role == RoleAssistant
		if kept != "" && len(needed) == 0 && spoken {
			return kept, nil
		}
	}
	if kept == "" {
		return "", aboutSession("splitting", log.Key(), fmt.Errorf("%w: %.100q is not on the branch", ErrUnknownEntry, id))
	}
	return kept, nil
}
