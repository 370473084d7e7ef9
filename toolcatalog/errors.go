package toolcatalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cellmode/cellmode/schema"
)

// ErrorCode says what kind of failure a [CallError] is. The guest sees it as the property code of the error.
type ErrorCode string

// The codes of a failed call. They come from where a call failed, never from the text of an error.
const (
	// CodeInputContract: the input does not match the tool's input schema. Nothing was executed.
	CodeInputContract ErrorCode = "input_contract"
	// CodeOutputContract: the tool ran, but its result does not match its output schema or is not JSON. It is withheld.
	CodeOutputContract ErrorCode = "output_contract"
	// CodeInvalidContract: a schema of the tool cannot be applied (see [schema.ParseDeferred]). Nothing was executed.
	CodeInvalidContract ErrorCode = "invalid_contract"
	// CodeInvalidInput: the tool itself, a hook or an approver refused the input, see [InvalidInput].
	CodeInvalidInput ErrorCode = "invalid_input"
	// CodeToolError: the tool returned an error, or the call failed in any other way.
	CodeToolError ErrorCode = "tool_error"
	// CodeRefused: the policy, a hook or an approver of the host refused the call. Nothing was executed.
	CodeRefused ErrorCode = "refused"
	// CodeUnknownTool: the catalog has no tool of that name.
	CodeUnknownTool ErrorCode = "unknown_tool"
)

// What a [CallError] knows about the effects of a failed call.
const (
	// EffectStatusNone: the tool's function was not called.
	EffectStatusNone = "none"
	// EffectStatusUnknown: the tool's function may have started, and may have changed something.
	EffectStatusUnknown = "unknown"
)

var (
	// ErrPanic is in the chain of the error of a call whose tool, or a policy, hook or approver, panicked. The panic and
	// its stack go to [Options].Logger.
	ErrPanic = errors.New("the tool panicked; the log of its host has the details")
	// ErrNoResult is in the chain of the error of a call whose tool, or a policy, hook or approver, ended its goroutine
	// (runtime.Goexit, or a FailNow of package testing) instead of returning.
	ErrNoResult = errors.New("the tool ended without a result")
	// ErrRefused is in the chain of the error of a call that the policy, a hook or an approver refused, beside the error
	// that it gave.
	ErrRefused = errors.New("the call was refused")
	// ErrReentrant is in the chain of the error of a call that was made by a running call of the same catalog and would wait
	// for that one to end: one of the two is [Spec].Sequential.
	ErrReentrant = errors.New("the call would wait for the call that makes it")
)

// CallError is the error of a failed call. Every error of [Catalog.Call] and [Admission] is one.
//
// It has two readers: the model reads [CallError.Message], the host reads [CallError.Error] and finds the tool's own error with
// errors.Is and errors.As.
type CallError struct {
	Code ErrorCode

	// Tool is the tool's own name, as in [Spec]. For CodeUnknownTool it is the name that was asked for.
	Tool string

	// CallableName is the name that cells know the tool by, see [Entry]. Empty for CodeUnknownTool.
	CallableName string

	// Problems says where the value breaks its contract, for CodeInputContract and CodeOutputContract: at most five. They name
	// places and rules, never values.
	Problems []schema.Problem

	// EffectStatus is EffectStatusNone or EffectStatusUnknown.
	EffectStatus string

	// Err is the cause: the error of the tool, of the context or of who refused the call, or a *schema.ValidationError. Nil for
	// CodeUnknownTool.
	Err error

	text      string // what the model reads; empty: made from the other fields
	hint      string // names that were probably meant
	rewritten bool   // the value that breaks its contract is one that a hook made
}

// Error names the tool and the code, and says what Message says.
func (e *CallError) Error() string {
	return fmt.Sprintf("toolcatalog: call of %q failed (%s): %s", clip(e.Tool, maxShownName), e.Code, e.Message())
}

// Unwrap gives Err.
func (e *CallError) Unwrap() error { return e.Err }

// ExecutionStarted reports whether the tool's function may have been called. It is false exactly if EffectStatus is
// EffectStatusNone.
func (e *CallError) ExecutionStarted() bool { return e.EffectStatus != EffectStatusNone }

// Message is the text for the model. If the tool itself failed, it is exactly the text of the tool's own error. If the host
// refused the call or withheld its result, the text says who did and gives the reason as it was given. Otherwise it says
// what is wrong and what to do next, in at most a few kilobytes.
func (e *CallError) Message() string {
	name := e.CallableName
	if name == "" {
		name = e.Tool
	}
	name = clip(name, maxShownName)
	switch {
	case e.text != "":
		return e.text
	case e.Code == CodeInputContract:
		text := fmt.Sprintf("%s: the input does not match its schema, nothing was executed: %s.%s Correct the input and call again.",
			name, problemText(e.Problems), e.hint)
		if e.rewritten {
			text += " A hook of the host had changed the input before it was checked."
		}
		return text
	case e.Code == CodeOutputContract && e.rewritten:
		return withheld(name, "its result, as a hook of the host changed it, does not match its output schema and is withheld: "+problemText(e.Problems))
	case e.Code == CodeOutputContract:
		return withheld(name, "its result does not match its output schema and is withheld: "+problemText(e.Problems))
	case e.Code == CodeInvalidContract:
		return fmt.Sprintf("%s was not executed: %v. Only the host can correct that: go on without this tool.", name, e.Err)
	case e.Code == CodeUnknownTool:
		return fmt.Sprintf("there is no tool %q in the catalog.%s", name, e.hint)
	case e.Err != nil:
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: the call failed", name)
}

// InvalidInput marks the error of a tool, a hook or an approver as one that other arguments would avoid: the call fails with
// CodeInvalidInput instead of CodeToolError or CodeRefused. The text stays as it is, and errors.Is and errors.As see err. For a
// nil error it returns nil.
func InvalidInput(err error) error {
	if err == nil {
		return nil
	}
	return &invalidInput{err}
}

type invalidInput struct{ err error }

func (e *invalidInput) Error() string { return e.err.Error() }
func (e *invalidInput) Unwrap() error { return e.err }

// isInvalidInput looks for the mark of [InvalidInput] in a tool's error. It does not look into a CallError: that is the
// error of another call, made by the tool with an input of its own.
func isInvalidInput(err error) bool {
	switch e := err.(type) {
	case *invalidInput:
		return true
	case *CallError:
		return false
	case interface{ Unwrap() error }:
		return isInvalidInput(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			if isInvalidInput(err) {
				return true
			}
		}
	}
	return false
}

// refusal is the cause of a call that the host refused: who did and why, in words for the model.
type refusal struct {
	who Stage
	why string
	err error // its own error, if it gave one
}

func (r *refusal) Error() string { return r.who.String() + ": " + r.why }

func (r *refusal) Unwrap() []error {
	if r.err == nil {
		return []error{ErrRefused}
	}
	return []error{ErrRefused, r.err}
}

// refuse is the error of a call that the host refused at its present stage, or whose context ended there.
func (a *Admission) refuse(ctx context.Context, why string, err error) error {
	if err := contextError(ctx); err != nil {
		return a.entry.notStarted(err)
	}
	return a.entry.refused(a.at, why, err)
}

func (e *entry) refused(at Stage, why string, err error) *CallError {
	code := CodeRefused
	if isInvalidInput(err) {
		code = CodeInvalidInput
	}
	r := &refusal{at, validText(why), err}
	failure := e.failure(code, EffectStatusNone, r)
	failure.text = fmt.Sprintf("%s was not executed: %v", clip(e.CallableName, maxShownName), r)
	return failure
}

// withheld is the text for the model if a call fails after the tool has returned a result.
func withheld(name, why string) string {
	return fmt.Sprintf("%s ran, but %s. The call may have had effects: check the state before calling it again.",
		clip(name, maxShownName), strings.TrimSuffix(why, "."))
}

// maxShownName is how much of a name an error shows: names come from outside, and may be long.
const maxShownName = 128

// problemText joins problems to one line.
func problemText(problems []schema.Problem) string {
	var b strings.Builder
	for i, p := range problems {
		if i > 0 {
			b.WriteString("; ")
		}
		if p.Path != "" {
			b.WriteString(p.Path)
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimSuffix(p.Message, "."))
	}
	return b.String()
}

// clip cuts s to about limit bytes, at the end of a character, and makes it valid UTF-8.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
