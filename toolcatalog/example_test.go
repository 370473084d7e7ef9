package toolcatalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/cellmode/cellmode/toolcatalog"
)

// A tool is a Go function; its types are its contracts.
func Example() {
	type query struct {
		Status string `json:"status,omitempty"`
	}
	type shipment struct {
		ID   int64   `json:"id"`
		Tons float64 `json:"tons"`
	}
	list := toolcatalog.Define(
		toolcatalog.Spec{Name: "shipping_list", Description: "List shipments, optionally by status.", Effect: toolcatalog.EffectRead},
		func(_ context.Context, q query) ([]shipment, error) {
			if q.Status == "lost" {
				return nil, errors.New("the archive is closed")
			}
			return []shipment{{1915883588174806058, 12.5}}, nil
		})

	catalog, err := toolcatalog.New([]*toolcatalog.Tool{list}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	result, err := catalog.Call(ctx, "shipping_list", json.RawMessage(`{"status":"paid"}`))
	fmt.Println(string(result), err)

	_, err = catalog.Call(ctx, "shipping_list", json.RawMessage(`{"status":"lost"}`))
	fmt.Println(err)
	// Output:
	// [{"id":1915883588174806058,"tons":12.5}] <nil>
	// toolcatalog: call of "shipping_list" failed (tool_error): the archive is closed
}

// A wrong input never reaches the function; the error says what was probably meant.
func ExampleCallError() {
	type query struct {
		Status string `json:"status"`
		Limit  int    `json:"limit,omitempty"`
	}
	tool := toolcatalog.Define(toolcatalog.Spec{Name: "find"}, func(context.Context, query) (int, error) { return 0, nil })
	catalog, err := toolcatalog.New([]*toolcatalog.Tool{tool}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = catalog.Call(context.Background(), "find", json.RawMessage(`{"status":"paid","limt":5}`))
	if failure, ok := errors.AsType[*toolcatalog.CallError](err); ok {
		fmt.Println(failure.Code, failure.EffectStatus)
		fmt.Println(failure.Message())
	}
	// Output:
	// input_contract none
	// find: the input does not match its schema, nothing was executed: $ the property "limt" is not allowed; known are "status", "limit". Did you mean "limit"? Expected: find({ status: string; limit?: number /* integer */ }). Correct the input and call again.
}

// A host refuses one tool, has somebody asked about another, and writes down what happens.
func ExampleOptions() {
	type file struct {
		Path string `json:"path"`
	}
	tool := func(name string) *toolcatalog.Tool {
		return toolcatalog.Define(toolcatalog.Spec{Name: name}, func(context.Context, file) (string, error) { return "done", nil })
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))

	catalog, err := toolcatalog.New([]*toolcatalog.Tool{tool("read"), tool("remove"), tool("format_disk")}, &toolcatalog.Options{
		Policy: toolcatalog.Policy{Decide: func(_ context.Context, call toolcatalog.Call) toolcatalog.Decision {
			switch call.Tool.ToolName {
			case "format_disk":
				return toolcatalog.Refuse("disks are formatted by people")
			case "remove":
				return toolcatalog.Ask("files cannot be restored")
			}
			return toolcatalog.Allow()
		}},
		Approver: func(_ context.Context, call toolcatalog.Call, reason string) error {
			fmt.Printf("May I call %s(%s)? Note that %s.\n", call.Tool.CallableName, call.Input, reason)
			return errors.New("the user wants to keep that file")
		},
		Observer: func(_ context.Context, event toolcatalog.Event) {
			logger.Info(string(event.Kind), "tool", event.Tool, "stage", event.Stage, "decision", event.Decision)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"read", "remove", "format_disk"} {
		_, err := catalog.Call(context.Background(), name, json.RawMessage(`{"path":"notes.txt"}`))
		if failure, ok := errors.AsType[*toolcatalog.CallError](err); ok {
			fmt.Println(failure.Message())
		}
	}
	// Output:
	// level=INFO msg=started tool=read stage=run decision=allow
	// level=INFO msg=finished tool=read stage=output decision=allow
	// May I call remove({"path":"notes.txt"})? Note that files cannot be restored.
	// level=INFO msg=refused tool=remove stage=approval decision=ask
	// remove was not executed: approval: the user wants to keep that file
	// level=INFO msg=refused tool=format_disk stage=policy decision=refuse
	// format_disk was not executed: policy: disks are formatted by people
}

func withoutTime(_ []string, attr slog.Attr) slog.Attr {
	if attr.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return attr
}

// New names everything that is wrong, not only the first thing.
func ExampleNew() {
	_, err := toolcatalog.New([]*toolcatalog.Tool{
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "ping"}, nil),
		toolcatalog.Define(toolcatalog.Spec{Name: "greet"}, func(_ context.Context, name string) (string, error) { return "hello " + name, nil }),
	}, nil)
	fmt.Println(err)
	// Output:
	// toolcatalog: 2 bad definitions
	// tool "ping" (index 0): the function is nil
	// tool "greet" (index 1): the input schema does not accept an object, and cells call a tool with one object; take a struct or a map
}

// A tool says which of its errors other arguments would avoid.
func ExampleInvalidInput() {
	type query struct {
		Day string `json:"day"`
	}
	tool := toolcatalog.Define(toolcatalog.Spec{Name: "report"}, func(_ context.Context, q query) (int, error) {
		if len(q.Day) != len("2006-01-02") {
			return 0, toolcatalog.InvalidInput(fmt.Errorf("day must look like 2006-01-02"))
		}
		return 7, nil
	})
	catalog, err := toolcatalog.New([]*toolcatalog.Tool{tool}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = catalog.Call(context.Background(), "report", json.RawMessage(`{"day":"yesterday"}`))
	if failure, ok := errors.AsType[*toolcatalog.CallError](err); ok {
		fmt.Println(failure.Code+":", failure.Message())
	}
	// Output:
	// invalid_input: day must look like 2006-01-02
}
