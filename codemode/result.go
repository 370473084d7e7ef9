package codemode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// Status says how a call of Exec ended.
type Status string

// The statuses.
const (
	StatusCompleted Status = "completed" // Value and Output hold what the cell returned and emitted
	StatusWaiting   Status = "waiting"   // the cell is parked under RunID
	StatusFailed    Status = "failed"    // Error and Code say why; Output holds what was emitted before
)

// ErrorCode classifies a failed cell. Decide by the code, never by the text.
type ErrorCode string

// The codes.
const (
	CodeAborted               ErrorCode = "aborted"                 // the caller's context was cancelled or the executor closed
	CodeInvalidInput          ErrorCode = "invalid_input"           // the input broke a rule: nothing of the batch was dispatched
	CodeRuntimeUnavailable    ErrorCode = "runtime_unavailable"     // no VM could be had
	CodeTimeout               ErrorCode = "timeout"                 // the time budget ran out
	CodeOutputLimitExceeded   ErrorCode = "output_limit_exceeded"   // reserved: too much output is cut, not failed
	CodeSnapshotLimitExceeded ErrorCode = "snapshot_limit_exceeded" // the cell is too large to be parked
	CodeToolBudgetExceeded    ErrorCode = "tool_budget_exceeded"    // a headless cell wanted to make more calls than it may
	CodeInternal              ErrorCode = "internal_error"          // everything else, an uncaught exception of the cell included
)

// FailurePhase says where a cell failed.
type FailurePhase string

// The phases.
const (
	PhaseInput  FailurePhase = "input"  // before it ran
	PhaseGuest  FailurePhase = "guest"  // in its own code
	PhaseBridge FailurePhase = "bridge" // on the host's side, after the cell had asked the host for something, see BridgeDispatchStarted
	PhaseHost   FailurePhase = "host"   // on the host's side, before that
)

// Reason says why a cell waits.
type Reason string

// The reasons.
const (
	ReasonPendingTools Reason = "pending_tools" // tool calls had not ended by the deadline
	ReasonYield        Reason = "yield"         // the cell asked for it
)

// PendingToolCall is a request that a waiting cell has open.
type PendingToolCall struct {
	ID     string `json:"id"`
	Method string `json:"method"`
}

// OutputType is the kind of an [Output].
type OutputType string

// The kinds.
const (
	OutputText OutputType = "text" // from text(value)
	OutputJSON OutputType = "json" // from json(value)
)

// Output is one piece of what a cell emitted, in the order of emission. When all of it together
// exceeds the budget, the list holds a single Output with nothing but Truncated set.
type Output struct {
	Type      OutputType
	Text      string          // of OutputText; a lone surrogate reads as U+FFFD
	Value     json.RawMessage // of OutputJSON
	Truncated *Truncation     // stands for output that did not fit

	encoded []byte // the JSON form of this Output, as it was counted
}

// MarshalJSON gives {"type":"text","text":...}, {"type":"json","value":...} or the truncation marker.
func (o Output) MarshalJSON() ([]byte, error) {
	switch {
	case o.encoded != nil:
		return o.encoded, nil
	case o.Truncated != nil:
		return marshal(o.Truncated)
	case o.Type == OutputJSON:
		return marshal(struct {
			Type  OutputType      `json:"type"`
			Value json.RawMessage `json:"value"`
		}{o.Type, orNull(o.Value)})
	}
	return marshal(struct {
		Type OutputType `json:"type"`
		Text string     `json:"text"`
	}{OutputText, o.Text})
}

// Truncation stands in for a value that did not fit its budget. OmittedBytes plus the bytes of Prefix is the
// size of the value's compact JSON.
type Truncation struct {
	Truncated    bool   `json:"truncated"` // always true
	OmittedBytes int    `json:"omittedBytes"`
	Guidance     string `json:"guidance"`
	Prefix       string `json:"prefix"` // the start of the value's compact JSON
}

// MarshalJSON gives the fields in a fixed order, written as JSON.stringify does.
func (t Truncation) MarshalJSON() ([]byte, error) {
	b := strconv.AppendBool([]byte(`{"truncated":`), t.Truncated)
	b = strconv.AppendInt(append(b, `,"omittedBytes":`...), int64(t.OmittedBytes), 10)
	b = jsontext.AppendString(append(b, `,"guidance":`...), t.Guidance)
	b = jsontext.AppendString(append(b, `,"prefix":`...), t.Prefix)
	return append(b, '}'), nil
}

// Telemetry tells what a turn did so far. The counts are those of the executor's whole life.
type Telemetry struct {
	CatalogSize   int          `json:"catalogSize"`
	Sources       SourceCounts `json:"sources"`
	CounterScope  string       `json:"counterScope"` // changes when the counts start anew
	SearchCount   int64        `json:"searchCount"`
	DescribeCount int64        `json:"describeCount"`
	CallCount     int64        `json:"callCount"`
	VisibleTools  []string     `json:"visibleTools"` // what the model is given in place of the catalog
}

// SourceCounts is the number of tools of each source.
type SourceCounts struct {
	Native int `json:"native"`
	MCP    int `json:"mcp"`
	Client int `json:"client"`
}

// Result is the outcome of a cell. [Result.Text] is what to show the model.
type Result struct {
	Status Status

	// Of a completed cell. Value is what it returned, as compact JSON: null if nothing. What has no room in the result is
	// replaced, and only then one of Retained and Truncated is set, with what Value shows instead. (A cell may return an
	// object that looks like one of them: do not tell by the form.)
	Value     json.RawMessage
	Retained  *Retained   // the value is kept whole: [Executor.Results] gives it by the ID of the reference
	Truncated *Truncation // only the start of the value is left

	// Warnings say what went wrong without failing a completed or waiting cell: that what it stored, or the cell itself, may
	// not have been kept.
	Warnings []string

	// Output is what the cell emitted, whatever its status.
	Output []Output

	// Of a waiting cell.
	RunID            string
	Reason           Reason
	PendingToolCalls []PendingToolCall

	// Of a failed cell.
	Error                 string // for the model: what happened, where in its source, and often what to do
	Code                  ErrorCode
	FailurePhase          FailurePhase
	BridgeDispatchStarted bool // the cell asked the host for something (timers aside), a tool call for example: there may be effects

	ReplaySafe bool // the cell ran in restart-safe mode
	Telemetry  Telemetry

	// NetworkContent tells that something of the result may come from outside of the host: from an MCP server, or from a
	// tool that says so. Show it to the model as content that nobody vouches for. Such a result has no more than
	// [MaxNetworkChars] characters, see [Model].
	NetworkContent bool

	err error // the cause of a failure
}

// Err gives nil for a cell that did not fail, and a [*CellError] for one that did.
func (r Result) Err() error {
	if r.Status != StatusFailed {
		return nil
	}
	return &CellError{Code: r.Code, Message: r.Error, Err: r.err}
}

// Text gives the result as the text to show the model: the JSON of [Result.MarshalJSON]. Prefer it to json.Marshal, which
// writes <, > and & as escapes of six bytes each.
func (r Result) Text() string {
	text, err := r.MarshalJSON()
	if err != nil { // a Value or an Output that somebody else put there
		return fmt.Sprintf(`{"status":"failed","code":%q,"error":"the result is not JSON"}`, CodeInternal)
	}
	return string(text)
}

// MarshalJSON gives the fields that belong to the status, in a fixed order, the others left out.
func (r Result) MarshalJSON() ([]byte, error) {
	output := r.Output
	if output == nil {
		output = []Output{}
	}
	switch r.Status {
	case StatusCompleted:
		return marshal(struct {
			Status         Status          `json:"status"`
			ReplaySafe     bool            `json:"replaySafe"`
			Telemetry      Telemetry       `json:"telemetry"`
			NetworkContent bool            `json:"networkContent,omitempty"`
			Warnings       []string        `json:"warnings,omitempty"`
			Output         []Output        `json:"output"`
			Value          json.RawMessage `json:"value"`
		}{r.Status, r.ReplaySafe, r.Telemetry, r.NetworkContent, r.Warnings, output, orNull(r.Value)})
	case StatusWaiting:
		return marshal(struct {
			Status           Status            `json:"status"`
			RunID            string            `json:"runId"`
			Reason           Reason            `json:"reason"`
			PendingToolCalls []PendingToolCall `json:"pendingToolCalls"`
			ReplaySafe       bool              `json:"replaySafe"`
			Telemetry        Telemetry         `json:"telemetry"`
			NetworkContent   bool              `json:"networkContent,omitempty"`
			Warnings         []string          `json:"warnings,omitempty"`
			Output           []Output          `json:"output"`
		}{r.Status, r.RunID, r.Reason, append([]PendingToolCall{}, r.PendingToolCalls...), r.ReplaySafe, r.Telemetry, r.NetworkContent, r.Warnings, output})
	}
	return marshal(struct {
		Status                Status       `json:"status"`
		Code                  ErrorCode    `json:"code"`
		FailurePhase          FailurePhase `json:"failurePhase"`
		BridgeDispatchStarted bool         `json:"bridgeDispatchStarted"`
		ReplaySafe            bool         `json:"replaySafe"`
		Telemetry             Telemetry    `json:"telemetry"`
		NetworkContent        bool         `json:"networkContent,omitempty"`
		Output                []Output     `json:"output"`
		Error                 jsonString   `json:"error"`
	}{r.Status, r.Code, r.FailurePhase, r.BridgeDispatchStarted, r.ReplaySafe, r.Telemetry, r.NetworkContent, output, jsonString(r.Error)})
}

// jsonString is a string that is written as it is counted: as JSON.stringify does it. (encoding/json spells out U+2028 and
// U+2029.)
type jsonString string

func (s jsonString) MarshalJSON() ([]byte, error) { return jsontext.AppendString(nil, string(s)), nil }

// marshal is json.Marshal without its HTML escaping, which would cost the model tokens.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func orNull(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}

// CellError is a failed cell as a Go error, from [Result.Err].
//
// errors.Is finds context.DeadlineExceeded in a timeout, the caller's own cause in an aborted cell, and
// [ErrMemoryLimit], [ErrStackLimit] and [ErrClosed] where they apply. Where the cell let out the Error of a failed tool
// call, errors.As finds the *toolcatalog.CallError, and the tool's own Go error behind it.
type CellError struct {
	Code    ErrorCode
	Message string // Result.Error
	Err     error  // the cause, if there is one beyond the cell's own code
}

func (e *CellError) Error() string { return fmt.Sprintf("cell failed (%s): %s", e.Code, e.Message) }

// Unwrap gives the cause.
func (e *CellError) Unwrap() error { return e.Err }

// Is lets a timeout match context.DeadlineExceeded.
func (e *CellError) Is(target error) bool {
	return e.Code == CodeTimeout && target == context.DeadlineExceeded
}

// Sentinels.
var (
	// ErrRuntimeUnavailable reports, from [NewRuntime], that the engine cannot run here: its binary is not
	// the pinned one, its hardening could not be proved or it could not be compiled. The text says which
	// and the way out. There is no fallback to anything less safe.
	ErrRuntimeUnavailable = errors.New("code mode runtime unavailable")
	// ErrMemoryLimit is the cause of a failure after the cell was refused memory.
	ErrMemoryLimit = errors.New("cell reached its memory limit")
	// ErrStackLimit is the cause of a failure by recursion that was too deep.
	ErrStackLimit = errors.New("cell reached its stack limit")
	// ErrTooManySuspended reports that no more cells may wait in this runtime, see [Options].MaxSuspended.
	ErrTooManySuspended = errors.New("too many suspended code mode runs")
	// ErrNotWaiting reports an id of [Executor.Wait] under which no cell waits.
	ErrNotWaiting = errors.New("no program waits")
	// ErrResuming reports that the cell is being resumed by another call, or in another process.
	ErrResuming = errors.New("the program is already being resumed")
	// ErrForeignCell reports that the cell belongs to another run, session or executor.
	ErrForeignCell = errors.New("the waiting program is not this caller's")
	// ErrTakenOver is the cause of a cell's end when another process, which had to take this one for dead, has gone on with it.
	ErrTakenOver = errors.New("another process has taken the program over")
	// ErrUnusableCell reports that what a [CellStore] has of a cell is damaged, or was kept by another engine or over other
	// tools. It is still there.
	ErrUnusableCell = errors.New("the waiting program cannot be resumed here")
	// ErrCellStore reports that the [CellStore] failed, so that the cell could not be resumed. It is still there.
	ErrCellStore = errors.New("the store of waiting programs failed")
	// ErrNotRecorded is the cause of a call's failure whose cell could not be written to its [CellStore] before it. The
	// call was not made.
	ErrNotRecorded = errors.New("the program could not be recorded")
	// ErrInterrupted is the cause of a call's failure that was in flight when its process ended. Nobody knows whether it
	// had an effect.
	ErrInterrupted = errors.New("the process that made this call ended before its outcome was known: look at the state before you call again")
	// ErrClosed reports the use of a closed runtime or executor.
	ErrClosed = errors.New("code mode: closed")
)
