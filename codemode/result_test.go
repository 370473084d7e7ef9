package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

// The JSON of a result, word for word: the fields of its status, in their order.
func TestResultJSON(t *testing.T) {
	t.Parallel()
	telemetry := codemode.Telemetry{
		CatalogSize: 3, Sources: codemode.SourceCounts{Native: 2, Client: 1}, CounterScope: "0123456789abcdef01234567", CallCount: 4,
		VisibleTools: []string{codemode.ExecTool, codemode.WaitTool},
	}
	const shown = `"telemetry":{"catalogSize":3,"sources":{"native":2,"mcp":0,"client":1},"counterScope":"0123456789abcdef01234567","searchCount":0,"describeCount":0,"callCount":4,"visibleTools":["exec","wait"]}`
	output := []codemode.Output{
		{Type: codemode.OutputText, Text: "a <b>"}, {Type: codemode.OutputJSON, Value: json.RawMessage(`{"n":1}`)}, {Type: codemode.OutputJSON},
		{Truncated: &codemode.Truncation{Truncated: true, OmittedBytes: 7, Guidance: "less", Prefix: "[1"}},
	}
	const emitted = `"output":[{"type":"text","text":"a <b>"},{"type":"json","value":{"n":1}},{"type":"json","value":null},{"truncated":true,"omittedBytes":7,"guidance":"less","prefix":"[1"}]`
	for _, test := range []struct {
		name   string
		result codemode.Result
		want   string
	}{
		{"completed", codemode.Result{Status: codemode.StatusCompleted, Value: json.RawMessage(`[1]`), Telemetry: telemetry, Output: output},
			`{"status":"completed","replaySafe":false,` + shown + `,` + emitted + `,"value":[1]}`},
		{"nothing returned", codemode.Result{Status: codemode.StatusCompleted, ReplaySafe: true, Telemetry: telemetry},
			`{"status":"completed","replaySafe":true,` + shown + `,"output":[],"value":null}`},
		{"warnings", codemode.Result{Status: codemode.StatusCompleted, Warnings: []string{"w"}, Telemetry: telemetry},
			`{"status":"completed","replaySafe":false,` + shown + `,"warnings":["w"],"output":[],"value":null}`},
		{"waiting", codemode.Result{Status: codemode.StatusWaiting, RunID: "cm_1", Reason: codemode.ReasonPendingTools,
			PendingToolCalls: []codemode.PendingToolCall{{ID: "bridge:callValue:1", Method: "callValue"}}, Telemetry: telemetry},
			`{"status":"waiting","runId":"cm_1","reason":"pending_tools","pendingToolCalls":[{"id":"bridge:callValue:1","method":"callValue"}],"replaySafe":false,` + shown + `,"output":[]}`},
		{"yielded", codemode.Result{Status: codemode.StatusWaiting, RunID: "cm_1", Reason: codemode.ReasonYield, Telemetry: telemetry},
			`{"status":"waiting","runId":"cm_1","reason":"yield","pendingToolCalls":[],"replaySafe":false,` + shown + `,"output":[]}`},
		{"failed", codemode.Result{Status: codemode.StatusFailed, Code: codemode.CodeInternal, FailurePhase: codemode.PhaseGuest, BridgeDispatchStarted: true,
			Error: "Error: <m>", Telemetry: telemetry, Output: output},
			`{"status":"failed","code":"internal_error","failurePhase":"guest","bridgeDispatchStarted":true,"replaySafe":false,` + shown + `,` + emitted + `,"error":"Error: <m>"}`},
	} {
		got, err := test.result.MarshalJSON()
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %v\n got: %s\nwant: %s", test.name, err, got, test.want)
		}
	}
}

// The same for results of cells.
func TestResultJSONOfCells(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	scope := regexp.MustCompile(`"counterScope":"[0-9a-f]{24}"`)
	const telemetry = `"telemetry":{"catalogSize":12,"sources":{"native":12,"mcp":0,"client":0},"counterScope":"*","searchCount":0,"describeCount":0,"callCount":1,"visibleTools":["exec","wait"]}`
	for _, test := range []struct{ code, want string }{
		{`text("t"); json([1]); return await echo({ a: 1 })`,
			`{"status":"completed","replaySafe":false,` + telemetry + `,"output":[{"type":"text","text":"t"},{"type":"json","value":[1]}],"value":{"a":1}}`},
		{`throw new Error("m")`,
			`{"status":"failed","code":"internal_error","failurePhase":"guest","bridgeDispatchStarted":false,"replaySafe":false,` + telemetry + `,"output":[],"error":"Error: m\n    at <anonymous> (cell.js:1:11)"}`},
		{``,
			`{"status":"failed","code":"invalid_input","failurePhase":"input","bridgeDispatchStarted":false,"replaySafe":false,` + telemetry + `,"output":[],"error":"code is required: pass the JavaScript of the cell as a non-empty string"}`},
	} {
		got := must(b.run(t.Context(), test.code).MarshalJSON())
		if got = scope.ReplaceAll(got, []byte(`"counterScope":"*"`)); string(got) != test.want {
			t.Errorf("%s\n got: %s\nwant: %s", test.code, got, test.want)
		}
	}
}

// A result is text for a model: characters that HTML would escape stay as they are, line separators too.
func TestResultTextIsNotEscaped(t *testing.T) {
	t.Parallel()
	r := newBench(t, codemode.Options{}).run(t.Context(), `text("<b> & \u2028"); return { s: "a<b>&'\u2029'" }`)
	got := string(must(r.MarshalJSON()))
	for _, want := range []string{`"text":"<b> & ` + "\u2028" + `"`, `"value":{"s":"a<b>&'` + "\u2029" + `'"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// The text of an Output is what was emitted, in valid UTF-8.
func TestOutputFields(t *testing.T) {
	t.Parallel()
	r := newBench(t, codemode.Options{}).run(t.Context(), `text("a\u0000\ud83d \ud83d\ude00"); json({ a: [1, "\udc00"] })`)
	if len(r.Output) != 2 {
		t.Fatal(describe(r))
	}
	if o := r.Output[0]; o.Type != codemode.OutputText || o.Text != "a\x00\ufffd 😀" || o.Value != nil || o.Truncated != nil {
		t.Errorf("got %+v", o)
	}
	if o := r.Output[1]; o.Type != codemode.OutputJSON || o.Text != "" || string(o.Value) != `{"a":[1,"\udc00"]}` || o.Truncated != nil {
		t.Errorf("got %+v", o)
	}
}

func TestCellError(t *testing.T) {
	t.Parallel()
	if err := (codemode.Result{Status: codemode.StatusCompleted}).Err(); err != nil {
		t.Errorf("a completed cell: %v", err)
	}
	if err := (codemode.Result{Status: codemode.StatusWaiting}).Err(); err != nil {
		t.Errorf("a waiting cell: %v", err)
	}
	err := (codemode.Result{Status: codemode.StatusFailed, Code: codemode.CodeTimeout, Error: "text"}).Err()
	var cell *codemode.CellError
	if !errors.As(err, &cell) || cell.Code != codemode.CodeTimeout || cell.Message != "text" || err.Error() != "cell failed (timeout): text" {
		t.Errorf("got %v", err)
	}
	cause := errors.New("cause")
	for _, test := range []struct {
		err      codemode.CellError
		target   error
		expected bool
	}{
		{codemode.CellError{Code: codemode.CodeTimeout}, context.DeadlineExceeded, true},
		{codemode.CellError{Code: codemode.CodeTimeout}, context.Canceled, false},
		{codemode.CellError{Code: codemode.CodeAborted}, context.DeadlineExceeded, false},
		{codemode.CellError{Code: codemode.CodeAborted, Err: context.DeadlineExceeded}, context.DeadlineExceeded, true},
		{codemode.CellError{Code: codemode.CodeInternal, Message: "context deadline exceeded"}, context.DeadlineExceeded, false},
		{codemode.CellError{Code: codemode.CodeInternal, Err: cause}, cause, true},
	} {
		if got := errors.Is(&test.err, test.target); got != test.expected {
			t.Errorf("%v is %v: %t", &test.err, test.target, got)
		}
	}
}

// The counts are those of the executor, and every executor has a scope of its own.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	client := toolcatalog.DefineRaw(toolcatalog.Spec{Name: "their_tool", Source: toolcatalog.Client},
		func(_ context.Context, in json.RawMessage) (any, error) { return in, nil })
	b := newBench(t, codemode.Options{}, client)
	other := newBench(t, codemode.Options{})
	first := b.run(t.Context(), `await echo(1); await fail({ message: "m" }).catch(() => {}); await mutate({ wrong: 1 }).catch(() => {}); setTimeout(() => {}, 0)`).Telemetry
	if first.CatalogSize != 13 || first.Sources != (codemode.SourceCounts{Native: 12, Client: 1}) || first.CallCount != 3 || first.SearchCount != 0 || first.DescribeCount != 0 {
		t.Errorf("got %+v", first)
	}
	second := b.run(t.Context(), `await Promise.all([echo(1), echo(2)]); throw 1`).Telemetry
	if second.CallCount != 5 || second.CounterScope != first.CounterScope {
		t.Errorf("got %+v after %+v", second, first)
	}
	_ = b.Close()
	if last := b.run(t.Context(), `return 1`).Telemetry; last.CallCount != 5 || last.CounterScope != first.CounterScope {
		t.Errorf("after Close: %+v", last)
	}
	if scope := other.run(t.Context(), `return 1`).Telemetry.CounterScope; scope == first.CounterScope || len(scope) != 24 {
		t.Errorf("scope %q beside %q", scope, first.CounterScope)
	}
}
