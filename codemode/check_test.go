package codemode_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/jsontext"
)

var (
	codes = []codemode.ErrorCode{
		codemode.CodeAborted, codemode.CodeInvalidInput, codemode.CodeRuntimeUnavailable, codemode.CodeTimeout,
		codemode.CodeOutputLimitExceeded, codemode.CodeSnapshotLimitExceeded, codemode.CodeInternal, codemode.CodeToolBudgetExceeded,
	}
	phases = []codemode.FailurePhase{codemode.PhaseInput, codemode.PhaseGuest, codemode.PhaseBridge, codemode.PhaseHost}

	completedKeys = []string{"status", "replaySafe", "telemetry", "output", "value"}
	waitingKeys   = []string{"status", "runId", "reason", "pendingToolCalls", "replaySafe", "telemetry", "output"}
	failedKeys    = []string{"status", "code", "failurePhase", "bridgeDispatchStarted", "replaySafe", "telemetry", "output", "error"}
)

// checkResult checks what holds for the result of every cell, whatever it was: the fields of its status and no
// others, one JSON text in valid UTF-8, and nothing beyond the budget.
func checkResult(tb testing.TB, r codemode.Result, maxOutput int) {
	tb.Helper()
	var keys []string
	switch r.Status {
	case codemode.StatusCompleted:
		keys = completedKeys
		if r.Error != "" || r.Code != "" || r.FailurePhase != "" || r.Err() != nil {
			tb.Errorf("a completed cell with the error %q, code %q, phase %q, Err %v", r.Error, r.Code, r.FailurePhase, r.Err())
		}
		if !isCompact(r.Value) {
			tb.Errorf("the value is not compact JSON: %.200q", r.Value)
		}
	case codemode.StatusFailed:
		keys = failedKeys
		if r.Error == "" || !slices.Contains(codes, r.Code) || !slices.Contains(phases, r.FailurePhase) || r.Value != nil {
			tb.Errorf("a failed cell with the error %q, code %q, phase %q, value %s", r.Error, r.Code, r.FailurePhase, r.Value)
		}
		var cell *codemode.CellError
		if err := r.Err(); !errors.As(err, &cell) || cell.Code != r.Code || cell.Message != r.Error {
			tb.Errorf("Err() is %v", err)
		}
	case codemode.StatusWaiting:
		keys = waitingKeys
		if r.RunID == "" || len(r.PendingToolCalls) == 0 || r.Error != "" || r.Code != "" || r.Value != nil || r.Err() != nil {
			tb.Errorf("a waiting cell with the id %q, pending calls %v, error %q, code %q, value %s", r.RunID, r.PendingToolCalls, r.Error, r.Code, r.Value)
		}
		if onlyYields := !slices.ContainsFunc(r.PendingToolCalls, func(p codemode.PendingToolCall) bool { return p.Method != "yield" }); onlyYields != (r.Reason == codemode.ReasonYield) ||
			!onlyYields && r.Reason != codemode.ReasonPendingTools {
			tb.Errorf("a cell that waits for %v with the reason %q", r.PendingToolCalls, r.Reason)
		}
	default:
		tb.Fatalf("status %q", r.Status)
	}
	if r.Status != codemode.StatusWaiting && (r.RunID != "" || r.Reason != "" || r.PendingToolCalls != nil) || r.Warnings != nil {
		tb.Errorf("fields of another status: %+v", r)
	}
	for _, item := range r.Output {
		isText, isJSON, isMarker := item.Type == codemode.OutputText, item.Type == codemode.OutputJSON, item.Truncated != nil
		if isText == isJSON && !isMarker || isMarker && (item.Type != "" || len(r.Output) != 1) || isJSON && !isCompact(item.Value) {
			tb.Errorf("an output of no form: %+v", item)
		}
	}
	text, err := r.MarshalJSON()
	if err != nil {
		tb.Fatalf("marshalling the result: %v", err)
	}
	if !isCompact(text) || !utf8.Valid(text) {
		tb.Errorf("the result is not compact JSON: %.300q", text)
	}
	if got := topKeys(tb, text); !slices.Equal(got, keys) {
		tb.Errorf("the keys are %q, want %q", got, keys)
	}
	if n := renderedSize(tb, r); n > maxOutput {
		tb.Errorf("the result shows %d bytes, the limit is %d", n, maxOutput)
	}
}

// renderedSize is what MaxOutputBytes bounds: output, value and error, as compact JSON.
func renderedSize(tb testing.TB, r codemode.Result) int {
	tb.Helper()
	n := len(r.Value)
	if len(r.Output) > 0 {
		n += len(outputText(r))
	}
	if r.Error != "" {
		n += jsontext.EncodedLen(r.Error)
	}
	return n
}

// plainJSON is v as compact JSON without escapes for HTML.
func plainJSON(tb testing.TB, v any) []byte {
	tb.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		tb.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// isCompact tells whether text is one JSON value without white space between its tokens.
func isCompact(text []byte) bool {
	var b bytes.Buffer
	return json.Compact(&b, text) == nil && b.Len() == len(text)
}

// topKeys gives the keys of a JSON object in their order.
func topKeys(tb testing.TB, text []byte) (keys []string) {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		tb.Fatal(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			tb.Fatal(err)
		}
		keys = append(keys, key.(string))
		if err := d.Decode(new(json.RawMessage)); err != nil {
			tb.Fatal(err)
		}
	}
	return keys
}
