package codemode_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

// Cancelling the context of Exec ends the cell and the context of its tools, with the caller's own reason.
func ExampleExecutor_Exec_cancel() {
	stop := errors.New("the user pressed stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan error, 1)
	watch := toolcatalog.Define(toolcatalog.Spec{Name: "watch", Description: "Wait for a change."},
		func(ctx context.Context, _ struct{}) (struct{}, error) {
			cancel(stop) // as the user might, at this moment
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return struct{}{}, ctx.Err()
		})
	catalog, err := toolcatalog.New([]*toolcatalog.Tool{watch}, nil)
	if err != nil {
		panic(err)
	}
	runtime, err := codemode.NewRuntime(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	defer runtime.Close()
	executor, err := runtime.NewExecutor(catalog, nil)
	if err != nil {
		panic(err)
	}
	defer executor.Close()

	result := executor.Exec(ctx, codemode.ExecInput{Title: "Watch", Code: `await watch({})`})
	fmt.Println(result.Code, result.Error)
	fmt.Println(errors.Is(result.Err(), stop))
	fmt.Println("the tool ended:", <-ended)

	// Output:
	// aborted code mode execution aborted
	// true
	// the tool ended: the user pressed stop
}
