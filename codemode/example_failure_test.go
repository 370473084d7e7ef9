package codemode_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

// A cell that fails is a result like any other, which the model reads: what was emitted before, then the error with
// its place in the submitted code. Go code decides by the code and by errors.Is, never by the text.
func ExampleResult_Err() {
	ctx := context.Background()
	type order struct {
		ID string `json:"id"`
	}
	cancelOrder := toolcatalog.Define(toolcatalog.Spec{Name: "cancel_order", Description: "Cancel an order."},
		func(_ context.Context, in order) (struct{}, error) {
			return struct{}{}, errors.New("order " + in.ID + " was shipped")
		})
	catalog, err := toolcatalog.New([]*toolcatalog.Tool{cancelOrder}, nil)
	if err != nil {
		panic(err)
	}
	runtime, err := codemode.NewRuntime(ctx, nil)
	if err != nil {
		panic(err)
	}
	defer runtime.Close()
	executor, err := runtime.NewExecutor(catalog, nil)
	if err != nil {
		panic(err)
	}
	defer executor.Close()

	result := executor.Exec(ctx, codemode.ExecInput{Title: "Cancel two orders", Code: `
for (const id of ["o-1", "o-2"]) {
  text("cancelling " + id);
  await cancel_order({ id });
}`})
	fmt.Println(result.Status, result.Code)
	fmt.Println(result.Error)
	fmt.Println("emitted:", result.Output[0].Text)
	fmt.Println("may have had effects:", result.BridgeDispatchStarted)

	var failure *codemode.CellError
	fmt.Println(errors.As(result.Err(), &failure), errors.Is(result.Err(), context.DeadlineExceeded))

	// Output:
	// failed internal_error
	// Error: order o-1 was shipped
	//     at <anonymous> (cell.js:4:9)
	// emitted: cancelling o-1
	// may have had effects: true
	// true false
}
