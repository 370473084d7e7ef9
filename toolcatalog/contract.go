package toolcatalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cellmode/cellmode/internal/jsontext"
	"github.com/cellmode/cellmode/schema"
)

// contracts are the schemas that the calls of a tool are checked against. The zero value checks nothing.
type contracts struct {
	input  *schema.Schema // nil: inputs are not checked
	output *schema.Schema // nil: results are not checked
	nils   bool           // results come from a Go type, whose nil slices and maps encoding/json writes as null

	broken   error                // why calls cannot be checked, and so not be made
	selector schema.Discriminator // used if Narrow: a property of the input selects a branch of output
}

// resolve looks at what the schemas say, once.
func (c *contracts) resolve() {
	if c.input != nil && c.input.Err() != nil {
		c.broken = fmt.Errorf("the input schema of the tool cannot be used: %w", c.input.Err())
	}
	if c.output == nil {
		return
	}
	if c.output.Err() != nil {
		c.broken = fmt.Errorf("the output schema of the tool cannot be used: %w", c.output.Err())
	}
	c.selector, _ = c.output.Discriminator()
}

// compactInput is the input as compact JSON text, and {} if there is none.
func compactInput(input json.RawMessage) (json.RawMessage, error) {
	text, err := jsontext.Compact(input)
	if err != nil && len(bytes.TrimSpace(input)) > 0 {
		return nil, err
	}
	return orEmpty(text), uniqueKeys(text)
}

// uniqueKeys refuses a value in which a key stands twice in an object. A check of such a value says nothing: it looks at the last
// one, and encoding/json gives the function parts of all.
func uniqueKeys(text json.RawMessage) error {
	if key, repeated := jsontext.RepeatedKey(text); repeated {
		return &repeatedKeyError{key}
	}
	return nil
}

type repeatedKeyError struct{ key string }

func (e *repeatedKeyError) Error() string {
	return fmt.Sprintf("ambiguous: the key %q stands twice in one object", clip(e.key, maxShownName))
}

// orEmpty reads no input, and null, as {}.
func orEmpty(input json.RawMessage) json.RawMessage {
	if len(input) == 0 || string(input) == "null" {
		return json.RawMessage("{}")
	}
	return input
}

// completeInput writes integers as integers, fills in the defaults and checks the input. The result is the input as far as that
// came.
func (c *contracts) completeInput(input json.RawMessage) (json.RawMessage, error) {
	if c.input == nil {
		return input, nil
	}
	input = c.input.CoerceIntegers(input)
	completed, err := c.input.ApplyDefaults(input)
	if err != nil {
		return input, err
	}
	return completed, c.input.Validate(completed)
}

// selection is the branch of an output schema that an input selects. The zero value selects none.
type selection struct {
	value  string // of the input property
	branch int    // 1 for the first; 0: none
}

// selects reads the selection of an input. For most tools there is none.
func (c *contracts) selects(input json.RawMessage) selection {
	if !c.selector.Narrow {
		return selection{}
	}
	return c.selected(input)
}

func (c *contracts) selected(input json.RawMessage) selection {
	if value, ok := jsontext.StringMember(input, c.selector.InputProperty); ok {
		if branch, ok := c.selector.Branch[value]; ok {
			return selection{value, branch + 1}
		}
	}
	return selection{}
}

// checkOutput checks a result, in particular against the branch that is selected.
func (c *contracts) checkOutput(result json.RawMessage, s selection) error {
	if c.output == nil {
		return nil
	}
	if !c.nils { // else encoding/json wrote it, from a Go value
		if err := uniqueKeys(result); err != nil {
			return err
		}
	}
	if s.branch > 0 {
		return c.output.ValidateFor(result, s.value)
	}
	return c.output.Validate(result)
}

// contractError is the error of a value that is not what the contract says: code is CodeInputContract or CodeOutputContract.
func (e *entry) contractError(code ErrorCode, effect string, err error) *CallError {
	failure := e.failure(code, effect, err)
	var invalid *schema.ValidationError
	if errors.As(err, &invalid) {
		failure.Problems = invalid.Problems
	} else {
		failure.Problems = []schema.Problem{codecProblem(code, err)}
	}
	return failure
}
