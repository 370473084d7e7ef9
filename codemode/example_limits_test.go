package codemode_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

// Every limit has its own error, and none is a danger to the next cell.
func ExampleOptions() {
	ctx := context.Background()
	runtime, err := codemode.NewRuntime(ctx, &codemode.Options{
		Timeout:          time.Second,
		MemoryLimitBytes: 8 << 20,
		MaxOutputBytes:   1 << 10,
	})
	if err != nil {
		panic(err)
	}
	defer runtime.Close()
	catalog, err := toolcatalog.New(nil, nil)
	if err != nil {
		panic(err)
	}
	executor, err := runtime.NewExecutor(catalog, nil)
	if err != nil {
		panic(err)
	}
	defer executor.Close()

	for _, code := range []string{
		`for (;;) {}`,
		`const list = []; for (;;) list.push("x".repeat(100000) + list.length);`,
		`const down = (n) => down(n + 1) + 1; return down(0);`,
		`return "x".repeat(5000);`,
	} {
		result := executor.Exec(ctx, codemode.ExecInput{Title: "A limit", Code: code})
		switch err := result.Err(); {
		case errors.Is(err, context.DeadlineExceeded):
			fmt.Println("time:", result.Code, result.Error)
		case errors.Is(err, codemode.ErrMemoryLimit):
			fmt.Println("memory:", result.Code, result.Error)
		case errors.Is(err, codemode.ErrStackLimit):
			header, _, _ := strings.Cut(result.Error, "\n") // the frames follow
			fmt.Println("stack:", result.Code, header)
		default:
			fmt.Printf("output: %s %.120s...\n", result.Status, result.Value)
		}
	}

	// Output:
	// time: timeout code mode timeout exceeded
	// memory: internal_error InternalError: out of memory: the cell reached its limit of 8 MiB; keep less data at a time
	// stack: internal_error RangeError: Maximum call stack size exceeded
	// output: completed {"truncated":true,"omittedBytes":4129,"guidance":"output truncated: run it again with narrower arguments, or return a sm...
}
