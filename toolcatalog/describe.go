package toolcatalog

import (
	"encoding/json"

	"github.com/cellmode/cellmode/declgen"
	"github.com/cellmode/cellmode/schema"
)

// Description is all that a cell can know of a tool: what its handle's describe() gives.
type Description struct {
	Source       Source            `json:"source"`
	Name         string            `json:"name"` // Spec.Name
	Label        string            `json:"label,omitempty"`
	Description  string            `json:"description,omitempty"`
	Input        string            `json:"input"`                  // as in [Entry]
	Output       string            `json:"output,omitempty"`       // as in [Entry]
	Parameters   json.RawMessage   `json:"parameters"`             // the schema of the input; {} if there is none
	OutputSchema json.RawMessage   `json:"outputSchema,omitempty"` // the schema of the result
	Note         string            `json:"note,omitempty"`         // what is wrong with a schema
	Examples     []json.RawMessage `json:"examples,omitempty"`     // inputs, from Spec.Examples
	CallableName string            `json:"callableName"`
}

// Describe tells all of a tool, by its callable name. The schemas are the whole ones, as they were given; those of a client
// tool are shown here and nowhere else.
func (c *Catalog) Describe(callableName string) (Description, bool) {
	e := c.index[callableName]
	if e == nil || e.CallableName != callableName {
		return Description{}, false
	}
	h := e.lines()
	d := Description{
		Source: e.Source, Name: e.ToolName, Label: e.Label, Description: e.Description,
		Input: h.input, Output: h.output,
		Parameters:   json.RawMessage("{}"),
		Examples:     e.examples,
		CallableName: e.CallableName,
	}
	if s := e.declared.input; s != nil {
		d.Parameters = shown(s, &d.Note)
	}
	if s := e.declared.output; s != nil {
		d.OutputSchema = shown(s, &d.Note)
	}
	return d, true
}

// shown is the text of a schema as JSON, and a note if the schema cannot be applied.
func shown(s *schema.Schema, note *string) json.RawMessage {
	if err := s.Err(); err != nil {
		*note = err.Error()
	}
	text := s.Text()
	if !json.Valid(text) {
		return json.RawMessage("null")
	}
	return text
}

// hints are a tool's contracts in one line each.
type hints struct {
	input, output string
}

// unknownHint stands for an input of which nothing is declared.
const unknownHint = "unknown"

// lines makes the hints of a tool when they are first asked for. Two goroutines may do so at once, with the same result.
func (e *entry) lines() hints {
	if h := e.hints.Load(); h != nil {
		return *h
	}
	h := hints{input: unknownHint}
	if e.Source != Client {
		h.input = declgen.InputHint(e.declared.input).Text
		if out := declgen.OutputHint(e.declared.output); e.declared.output != nil && out.Complete {
			h.output = out.Text
		}
	}
	e.hints.Store(&h)
	return h
}

// public is the Entry of a tool with its hints.
func (e *entry) public() Entry {
	h, public := e.lines(), e.Entry
	public.Input, public.Output = h.input, h.output
	return public
}
