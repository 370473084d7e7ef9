// Package toolcatalog holds the tools that cells call: Go functions with names, contracts and checked calls.
//
//	type Query struct {
//		Status string `json:"status,omitempty" jsonschema:"enum=paid,enum=open"`
//	}
//	type Shipment struct {
//		ID   int64   `json:"id"`
//		Tons float64 `json:"tons"`
//	}
//	list := toolcatalog.Define(toolcatalog.Spec{Name: "shipping_list", Description: "List shipments."},
//		func(ctx context.Context, q Query) ([]Shipment, error) { return store.Shipments(ctx, q.Status) })
//	catalog, err := toolcatalog.New([]*toolcatalog.Tool{list}, nil)
//	if err != nil {
//		return err // names every tool that is badly defined
//	}
//	result, err := catalog.Call(ctx, "shipping_list", json.RawMessage(`{"status":"paid"}`))
//
// # Definitions
//
// [Define] makes a tool of a typed function, [DefineRaw] one of a function that reads JSON text. Neither fails: [New]
// reports all bad definitions at once, as [DefinitionErrors]. A [Tool] may be in many catalogs; a [Catalog] is what one
// conversation or one turn gets to see.
//
// # Names
//
// A tool keeps its own name, and gets a callable name: the JavaScript identifier that cells use ([Entry]). shipping_list is
// both; llm-task becomes llm_task, or llm_task_ and eight digits where llm_task is another tool; class, text and await,
// which a cell could not call or which would hide something, get such a suffix too.
//
// # What a call does
//
// [Catalog.Call] takes JSON text and gives compact JSON text. For a [Native] tool it
//
//   - reads a missing or null input as {};
//   - turns integers that came as strings, because a JavaScript number cannot hold them, back into integers;
//   - fills in the defaults of the input schema, checks the input, and decodes it;
//   - calls the function, on a goroutine of its own;
//   - encodes the result and checks it against the output schema.
//
// Numbers keep their digits and objects the order of their keys, and no text that is not valid UTF-8 passes. The schemas of
// a [Client] tool are not trusted: its calls are neither checked nor changed.
//
// # Errors
//
// Every failed call gives a [*CallError]. Its Message is for the model, its Error and its chain for the host. Its Code says
// where the call failed:
//
//	input_contract    the input does not match; the function was not called
//	invalid_input     the function refused its input (see [InvalidInput])
//	tool_error        the function failed or panicked, or the call was cancelled before it
//	output_contract   the function ran, the result does not match and is withheld
//	invalid_contract  a schema cannot be used
//	unknown_tool      no such tool
//
// EffectStatus is "none" where the function was certainly not called.
//
// # Order
//
// Calls run side by side, unless a tool is [Spec].Sequential: its call waits for all calls of the catalog that were
// admitted before it, and those admitted after wait for it. [Catalog.Admit] fixes a call's place before its goroutine
// starts. A tool that calls its own catalog passes its context on: then a call that would wait for itself fails with
// [ErrReentrant] instead.
//
// # Concurrency
//
// Everything in this package is safe for concurrent use by multiple goroutines.
package toolcatalog
