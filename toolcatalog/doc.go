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
// [Define] makes a tool of a typed function, [DefineRaw] one of a function that reads JSON text, and [DefineActions] one of
// several functions of which a property of the input selects one, each with types of its own. None of them fails: [New]
// reports all bad definitions at once, as [DefinitionErrors]. A [Tool] may be in many catalogs; a [Catalog] is what one
// conversation or one turn gets to see. What is derived from a tool is kept with the tool, so that a catalog for each turn
// costs little.
//
// # Names
//
// A tool keeps its own name, and gets a callable name: the JavaScript identifier that cells use ([Entry]). shipping_list is
// both; llm-task becomes llm_task, or llm_task_ and eight digits where llm_task is another tool; class, text and await,
// which a cell could not call or which would hide something, get such a suffix too.
//
// # What a model is told
//
// [Catalog.QuickIndex] is for the prompt: a line for each tool, with hints of its contracts, as many as fit. All else is
// asked for: [Catalog.Describe] gives the whole schemas, [Catalog.ReadFile] a TypeScript declaration, made when it is first
// read and listed by [Catalog.Files], with descriptions and [Spec].Examples. A hint of a result is complete or it is not
// shown, so declare results closed: with Go types they are. Of a client tool nothing is shown but what [Catalog.Describe]
// gives.
//
// Skills are instruction documents of the host ([Options].Skills): [Catalog.Skills], [Catalog.ReadSkill],
// [Catalog.SearchSkills].
//
// # Search
//
// [Catalog.Search] finds tools by what somebody wants to do. It looks at names, labels and descriptions, and for [Native] tools
// at the names and descriptions of their parameters, four layers deep. In this order it gives
//
//   - the tool that has the query for a name, and then no other;
//   - the tools whose name has just the words of the query: "list the issues" finds list_issues;
//   - the tools that have a word of the query, by their BM25 score: rare words count more, long texts less, and a name that has
//     many of the words more than any text;
//   - the tools that have a word which a word of the query stands for: "screenshot" finds images.
//
// Words are what names consist of, too (listURLs is list and URLs); upper case and endings do not matter, nor do words such as
// "the" and "do", and a PR is a pull request.
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
// If the output schema is one of [schema.Variants], the value of the input's property selects the branch that the result must
// match. A tool whose schema cannot be applied, see [schema.ParseDeferred], is never executed.
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
//	invalid_contract  a schema cannot be used, nothing was executed
//	refused           the host did not allow the call, nothing was executed
//	unknown_tool      no such tool
//
// EffectStatus is "none" where the function was certainly not called.
//
// # What the host decides
//
// [Options] put the host between cells and tools. A [Policy] offers tools and decides about calls, a [Hook] may refuse a call
// and rewrite its input and its result, an [Approver] asks somebody, an [Observer] is told. A call goes through them in this
// order ([Stage]):
//
//	queue       its turn, see Order
//	contract    the schemas of the tool
//	policy      [Policy].Decide
//	hook        [Hook].Before, first hook first
//	input       defaults, integers, the input schema
//	approval    the Approver, if the policy says [Ask]
//	run         the function
//	after-hook  [Hook].After, last hook first
//	output      the output schema
//
// Whoever refuses, nothing is executed: the error has CodeRefused or, if it was marked with [InvalidInput],
// CodeInvalidInput, its chain has [ErrRefused] and the host's own error, and its text tells the model who refused and why.
// What hooks make is checked like what callers and tools make. If a hook changes the property that selects the branch of
// the result, the result must match the branch of the input as it was given, too: a program that asked for a list gets a
// list or an error.
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
