package toolcatalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/cellmode/cellmode/internal/jsontext"
	"github.com/cellmode/cellmode/schema"
)

// An Action is one of the functions of a tool that [DefineActions] makes. Make one with [On]; the zero value is a bad
// definition.
type Action struct {
	value  string
	run    handler
	input  func(property string) typeSchema
	output typeSchema // zero: no contract
}

// On says what a tool does if the property that [DefineActions] names has that value. In holds the rest of the input: a
// struct or a map, and struct{} if there is none. Out is the result of this action alone; if it is any or json.RawMessage,
// the results of this action are not checked. See [Define] for the function and for how the two types are read and written.
func On[In, Out any](value string, run func(ctx context.Context, in In) (Out, error)) Action {
	a := Action{value: value, output: schemaOf[Out](schema.ForResult[Out])}
	a.input = func(property string) typeSchema {
		derive := func() (*schema.Schema, error) { return schema.ForAction[In](property, value) }
		return typeSchema{reflect.TypeFor[In](), derive}
	}
	if run != nil {
		a.run = typedHandler(run)
	}
	return a
}

// DefineActions makes a tool of several functions of which a property of the input, by convention "action", selects one. Each
// has its own Go types, and cells see for each value of the property what else it takes and what it returns: the input schema
// is an anyOf with a branch for each action, the output schema is what [schema.Variants] makes of the results.
//
// An input is checked against the branch of its action alone, so the problems are about what was meant; an unknown action gives
// the list of those there are. Defaults and exact integers are those of the branch, too. The function gets the input
// without the property.
//
// DefineActions never fails, as [Define]. [New] reports what is wrong: an action that is missing its value or its function,
// two of the same value, an In that is no object or has the property itself, and a Spec.Input or Spec.Output, because the
// schemas come from the actions. A tool whose schemas are given is made with [DefineRaw].
func DefineActions(spec Spec, property string, actions ...Action) *Tool {
	t := &Tool{spec: spec}
	table := &actionTable{property: property, actions: make(map[string]*action, len(actions))}
	t.handle = handler{table.decode, table.run, table.encode}
	t.spec.Input, t.spec.Output, t.err = table.define(spec, actions)
	return t
}

// actionTable is the function of a tool with actions.
type actionTable struct {
	property string
	input    *schema.Schema
	actions  map[string]*action // by value of the property
}

type action struct {
	run    handler
	output *schema.Schema // nil: any result
}

var (
	errNoProperty  = errors.New("the property that selects the action has no name")
	errNoActions   = errors.New("there are no actions; add one with On")
	errGivenSchema = errors.New("Spec.Input and Spec.Output must be nil, as the schemas come from the types of the actions; to give schemas, use DefineRaw")
	errNoValue     = errors.New("the action has no value")
	errSameValue   = errors.New("another action has the same value")
)

// define fills the table and makes the schemas of the tool. The error names everything that is wrong.
func (t *actionTable) define(spec Spec, actions []Action) (input, output *schema.Schema, err error) {
	var (
		errs            []error
		inputs, outputs []schema.Variant
		checked         bool // the results of some action are
	)
	if t.property == "" {
		errs = append(errs, errNoProperty)
	}
	if len(actions) == 0 {
		errs = append(errs, errNoActions)
	}
	if spec.Input != nil || spec.Output != nil {
		errs = append(errs, errGivenSchema)
	}
	for i, a := range actions {
		in, out, err := t.add(a)
		if err != nil {
			errs = append(errs, fmt.Errorf("action %q (index %d): %w", clip(a.value, maxShownName), i, err))
			continue
		}
		checked = checked || out != nil
		if out == nil {
			out = schema.ParseDeferred([]byte("{}"))
		}
		inputs = append(inputs, schema.Variant{Value: a.value, Schema: in})
		outputs = append(outputs, schema.Variant{Value: a.value, Schema: out})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	if t.input, err = schema.Variants(t.property, inputs...); err != nil || !checked {
		return t.input, nil, err
	}
	output, err = schema.Variants(t.property, outputs...)
	return t.input, output, err
}

// add enters one action. It returns the schemas of its input and its result; nil: any result.
func (t *actionTable) add(a Action) (input, output *schema.Schema, err error) {
	switch {
	case a.value == "":
		return nil, nil, errNoValue
	case t.actions[a.value] != nil:
		return nil, nil, errSameValue
	case a.run.run == nil:
		return nil, nil, errNoFunction
	}
	entry := &action{run: a.run}
	t.actions[a.value] = entry
	if t.property != "" {
		if input, err = a.input(t.property).safelyDerive(); err != nil {
			return nil, nil, fmt.Errorf("input schema: %w", err)
		}
	}
	if a.output.derive != nil {
		if entry.output, err = a.output.safelyDerive(); err != nil {
			return nil, nil, fmt.Errorf("output schema: %w", err)
		}
	}
	return input, entry.output, nil
}

// chosen is an action with its input or its result.
type chosen struct {
	*action
	value any
}

func (t *actionTable) decode(input json.RawMessage) (any, error) {
	value, rest := t.take(input)
	a := t.actions[value]
	if a == nil { // only for a client tool, whose inputs are not checked before
		return nil, t.input.Validate(input)
	}
	in, err := a.run.decode(rest)
	return chosen{a, in}, err
}

func (t *actionTable) run(ctx context.Context, in any) (any, error) {
	c := in.(chosen)
	out, err := c.action.run.run(ctx, c.value)
	return chosen{c.action, out}, err
}

func (t *actionTable) encode(out any) (json.RawMessage, error) {
	c := out.(chosen)
	text, err := c.action.run.encode(c.value)
	if err != nil || c.output == nil {
		return text, err
	}
	return c.output.FillNils(text), nil
}

// take returns the value of the property that selects, and the input without it.
func (t *actionTable) take(input json.RawMessage) (value string, rest json.RawMessage) {
	rest = append(make(json.RawMessage, 0, len(input)), '{')
	for _, m := range members(input) {
		if m.key == t.property {
			value = "" // if it is there twice, the last one counts
			if json.Unmarshal(m.value, &value) != nil {
				value = ""
			}
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(jsontext.AppendString(rest, m.key), ':'), m.value...)
	}
	return value, append(rest, '}')
}
