package codemode_test

import (
	"context"
	"fmt"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
)

type Shipment struct {
	ID   string  `json:"id"`
	Paid bool    `json:"paid"`
	Tons float64 `json:"tons"`
}

// A service registers its tools once, makes a runtime once, and an executor for each turn of its agent.
// The README shows this program.
func Example() {
	// README begins.
	ctx := context.Background()
	list := toolcatalog.Define(toolcatalog.Spec{Name: "shipping_list", Description: "List shipments."},
		func(ctx context.Context, in struct{}) ([]Shipment, error) {
			return []Shipment{{"s-1", true, 2.5}, {"s-2", false, 4}, {"s-3", false, 1.25}}, nil
		})
	catalog, _ := toolcatalog.New([]*toolcatalog.Tool{list}, nil)
	runtime, _ := codemode.NewRuntime(ctx, nil)
	defer runtime.Close()
	executor, _ := runtime.NewExecutor(catalog, nil)
	defer executor.Close()
	result := executor.Exec(ctx, codemode.ExecInput{Title: "Unpaid tons", Code: `
		const unpaid = (await shipping_list({})).filter((s) => !s.paid);
		return { ids: unpaid.map((s) => s.id), tons: unpaid.reduce((sum, s) => sum + s.tons, 0) };`})
	fmt.Println(result.Status, string(result.Value))
	// README ends.

	// Output: completed {"ids":["s-2","s-3"],"tons":5.25}
}
