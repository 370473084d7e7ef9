package toolcatalog

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
)

// run takes a call whose turn it is from its input to its result.
func (a *Admission) run(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
	a.at = StageContract
	if err := a.entry.broken; err != nil {
		return nil, a.entry.failure(CodeInvalidContract, EffectStatusNone, err)
	}
	in, input, err := a.prepare(ctx, input)
	if err != nil {
		return nil, err
	}
	return a.execute(ctx, in, a.entry.selects(input))
}

// prepare does all that comes before the function, and returns what that gets, and the same as text. Without a watch, the
// stages of the host fall away.
func (a *Admission) prepare(ctx context.Context, input json.RawMessage) (in any, text json.RawMessage, err error) {
	var (
		e        = a.entry
		decision Decision
	)
	a.at = StageInput
	if text, err = compactInput(input); err != nil {
		return nil, nil, e.contractError(CodeInputContract, EffectStatusNone, err)
	}
	if a.watch != nil {
		a.watch.input(text)
		if decision, err = a.decide(ctx); err != nil {
			return nil, nil, err
		}
		if text, err = a.before(ctx, text); err != nil {
			return nil, nil, err
		}
	}

	a.at = StageInput
	if text, err = e.completeInput(text); err != nil {
		return nil, nil, a.inputError(err, text)
	}
	if in, err = e.handle.decode(text); err != nil {
		return nil, nil, a.inputError(err, nil)
	}
	if a.watch != nil {
		a.watch.input(text)
		if err := a.approve(ctx, decision); err != nil {
			return nil, nil, err
		}
		if err := contextError(ctx); err != nil { // the stages of the host may have taken their time
			return nil, nil, e.notStarted(err)
		}
	}
	return in, text, nil
}

// execute calls the function and does all that comes after it. The result is that of the selection.
func (a *Admission) execute(ctx context.Context, in any, selected selection) (json.RawMessage, error) {
	e := a.entry
	a.at = StageRun
	if a.watch != nil {
		a.start(ctx)
	}
	a.called = true
	out, err := e.handle.run(ctx, in)
	if err != nil {
		return nil, e.toolError(err)
	}
	result, err := e.handle.encode(out)
	if err != nil {
		return nil, e.contractError(CodeOutputContract, EffectStatusUnknown, err)
	}
	if e.output != nil && e.nils {
		result = e.output.FillNils(result)
	}
	if a.watch != nil {
		a.watch.ran()
		if result, err = a.after(ctx, result); err != nil {
			return nil, err
		}
	}
	a.at = StageOutput
	if err := e.checkOutput(result, selected); err != nil {
		return nil, a.outputError(err)
	}
	// A caller that chose a result by its input must not get another because a hook changed the choice.
	if a.watch != nil && a.watch.given.branch > 0 && a.watch.given.branch != selected.branch {
		if err := e.checkOutput(result, a.watch.given); err != nil {
			return nil, a.selectionError(err)
		}
	}
	return result, nil
}

// inputError is the error of an input that does not match its contract. If checked is known, names of it that are wrong are
// looked for.
func (a *Admission) inputError(err error, checked json.RawMessage) *CallError {
	failure := a.entry.contractError(CodeInputContract, EffectStatusNone, err)
	if checked != nil && a.entry.input != nil {
		failure.hint = inputHint(a.entry.input, checked, a.entry.CallableName, a.entry.lines())
	}
	failure.rewritten = a.watch != nil && a.watch.event.InputRewritten
	return failure
}

func (a *Admission) outputError(err error) *CallError {
	failure := a.entry.contractError(CodeOutputContract, EffectStatusUnknown, err)
	failure.rewritten = a.watch != nil && a.watch.event.OutputRewritten
	return failure
}

// selectionError is the error of a result that is right for the input that a hook made, and not for the one that was given.
func (a *Admission) selectionError(err error) *CallError {
	failure := a.entry.contractError(CodeOutputContract, EffectStatusUnknown, err)
	failure.text = withheld(a.entry.CallableName, fmt.Sprintf(
		"a hook of the host had changed %q in its input, and the result, which is withheld, is not one of the call as it was made: %s",
		clip(a.entry.selector.InputProperty, maxShownName), problemText(failure.Problems)))
	return failure
}

// interrupted is the error of a call that did not return: because of a panic or, if there is none, of runtime.Goexit. It
// blames who was at work: a function of the host, or the tool, methods of its types and its errors included. The details
// are for the log only.
func (a *Admission) interrupted(panicked any) *CallError {
	e, err, did := a.entry, ErrPanic, "panicked; the log of the host has the details"
	if panicked == nil {
		err, did = ErrNoResult, "ended without an answer"
	}
	a.catalog.logger.Error("tool call interrupted",
		"tool", e.ToolName, "stage", a.at, "error", err, "panic", panicked, "stack", string(debug.Stack()))
	switch a.at {
	case StagePolicy, StageHook, StageApproval:
		return e.refused(a.at, "it "+did, err)
	case StageAfterHook:
		failure := e.failure(CodeToolError, EffectStatusUnknown, err)
		failure.text = withheld(e.CallableName, "a hook that gets its result "+did)
		return failure
	}
	switch {
	case a.at < StageRun:
		return e.failure(CodeToolError, EffectStatusNone, err)
	case !a.called: // a panic of the observer would have been caught
		return e.notStarted(fmt.Errorf("the observer of its start %s: %w", did, err))
	}
	return e.failure(CodeToolError, EffectStatusUnknown, err)
}

// toolError is the error of a call whose function returned err.
func (e *entry) toolError(err error) *CallError {
	code := CodeToolError
	if isInvalidInput(err) {
		code = CodeInvalidInput
	}
	failure := e.failure(code, EffectStatusUnknown, err)
	failure.text = validText(err.Error())
	return failure
}

func (e *entry) failure(code ErrorCode, effect string, err error) *CallError {
	return &CallError{Code: code, Tool: e.ToolName, CallableName: e.CallableName, EffectStatus: effect, Err: err}
}

// notStarted is the error of a call that ended before its function was called.
func (e *entry) notStarted(err error) *CallError {
	return e.failure(CodeToolError, EffectStatusNone,
		fmt.Errorf("%s was not called: %w", clip(e.CallableName, maxShownName), err))
}
