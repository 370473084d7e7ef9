package toolcatalog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// Call is one call of a tool, as a [Policy], a [Hook] and an [Approver] see it.
type Call struct {
	// ID tells the calls of a catalog apart: those of its whole life, from 1. The events of a call have it too.
	ID uint64

	// Tool is the tool that is called.
	Tool Entry

	// Input is compact JSON text in valid UTF-8; {} if the caller gave none. A policy sees it as it was given, a hook as
	// the hooks before it left it, an Approver and the After functions completed and checked, as the tool gets it. It must
	// not be changed, and not be kept after the function that was given it has returned.
	Input json.RawMessage
}

// Hook is host code around the calls of a catalog, for what is not the business of one tool: to mask secrets, to add an
// account, to limit rates. Either function may be nil. Many goroutines call them at once.
//
// The hooks of a catalog are nested: Before functions run in the order of [Options].Hooks, After functions in reverse. Their
// context is that of the call. A hook that calls the catalog passes it on, so that a call that would wait for itself is
// found: [ErrReentrant].
type Hook struct {
	// Before runs before the input is completed with defaults and checked. It returns the input to go on with, nil for the one
	// it was given. An error refuses the call: the model reads it, and nothing is executed. An error marked with [InvalidInput]
	// says that other arguments would be accepted. A panic refuses the call too.
	Before func(ctx context.Context, call Call) (input json.RawMessage, err error)

	// After runs when the tool has returned a result, and before that is checked against the output schema; not for calls
	// that failed. It returns the result to go on with, nil for the one it was given, which it must not change. An error
	// withholds the result: the call fails with CodeToolError, though the tool ran. So does a panic.
	After func(ctx context.Context, call Call, result json.RawMessage) (json.RawMessage, error)
}

// before runs the Before functions and returns the input to go on with.
func (a *Admission) before(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
	a.at = StageHook
	selected := a.entry.selects(input)
	for _, hook := range a.catalog.hooks {
		if hook.Before == nil {
			continue
		}
		given, err := hook.Before(ctx, a.watch.call)
		if err != nil {
			return nil, a.refuse(ctx, err.Error(), err)
		}
		if given == nil {
			continue
		}
		// A copy: the hook may go on with its own.
		if input, err = jsontext.Append(nil, given); err == nil {
			err = uniqueKeys(input)
		}
		if err != nil {
			return nil, a.refuse(ctx, "it rewrote the input to something that is "+err.Error(), err)
		}
		input = orEmpty(input)
		a.watch.input(input)
		a.watch.event.InputRewritten = true
		a.watch.given = selected
	}
	return input, nil
}

// after runs the After functions and returns the result to go on with.
func (a *Admission) after(ctx context.Context, result json.RawMessage) (json.RawMessage, error) {
	a.at = StageAfterHook
	for i := range a.catalog.hooks {
		hook := a.catalog.hooks[len(a.catalog.hooks)-1-i]
		if hook.After == nil {
			continue
		}
		given, err := hook.After(ctx, a.watch.call, result)
		if err != nil {
			failure := a.entry.failure(CodeToolError, EffectStatusUnknown, err)
			failure.text = withheld(a.entry.CallableName, "a hook withheld its result: "+validText(err.Error()))
			return nil, failure
		}
		if given == nil {
			continue
		}
		if result, err = jsontext.Append(nil, given); err == nil {
			err = uniqueKeys(result)
		}
		if err != nil {
			failure := a.entry.contractError(CodeOutputContract, EffectStatusUnknown, err)
			failure.text = withheld(a.entry.CallableName, fmt.Sprintf("a hook rewrote its result, which is withheld, to something that is %v", err))
			return nil, failure
		}
		a.watch.event.OutputRewritten = true
	}
	return result, nil
}
