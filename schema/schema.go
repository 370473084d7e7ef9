package schema

import (
	"bytes"
	"errors"

	"github.com/cellmode/cellmode/internal/jsontext"
)

const (
	// MaxTextBytes is how long the text of a schema may be.
	MaxTextBytes = 2 << 20
	// maxDocumentDepth is how deep arrays and objects may be nested in the text of a schema.
	maxDocumentDepth = 2_000
)

// Schema is a compiled JSON Schema. Make one with [Parse], [ParseDeferred], [For] or [Variants]. The zero value is a schema that
// cannot be applied, see [Schema.Err]. A Schema never changes and is safe for concurrent use by multiple goroutines.
type Schema struct {
	text     []byte
	root     *node // nil: the schema cannot be applied
	err      error // why not; nil for the zero value
	selector *selector
}

var errZero = errors.New("schema: the zero Schema is no schema; make one with Parse, For or Variants")

// Parse compiles a schema. It checks the whole text, the parts that no value will reach included, and returns a
// [*ParseError] for the first thing that is wrong. Parse never opens a file or a connection.
func Parse(text []byte) (*Schema, error) {
	text = bytes.Clone(text)
	doc, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	var c compiler
	root, err := c.compile(doc)
	if err != nil {
		return nil, err
	}
	selector, err := c.selector(doc)
	if err != nil {
		return nil, err
	}
	return &Schema{text: text, root: root, selector: selector}, nil
}

// ParseDeferred is [Parse] for the schema of somebody else, that a program has to go on with even if it is bad. It never
// fails: what Parse would return as its error, [Schema.Err] returns. A schema with an error can still be shown ([Schema.Text])
// and passed on. But no value matches it, and it changes none. The text is kept whatever it is, so limit its size.
func ParseDeferred(text []byte) *Schema {
	s, err := Parse(text)
	if err != nil {
		return &Schema{text: bytes.Clone(text), err: err}
	}
	return s
}

// Err returns nil, or why the schema cannot be applied: the [*ParseError] of [ParseDeferred], or another error if s is the
// zero Schema.
func (s *Schema) Err() error {
	if s.root == nil && s.err == nil {
		return errZero
	}
	return s.err
}

// Size is the number of bytes that Text returns.
func (s *Schema) Size() int { return len(s.text) }

// Text returns a copy of the schema as it was given, annotations included.
func (s *Schema) Text() []byte { return bytes.Clone(s.text) }

// IsAny reports whether the schema has no constraint at all, as {} and true: it is no contract, and need not be checked.
func (s *Schema) IsAny() bool { return s.root != nil && s.root.trivial }

// Validate checks one value, given as JSON text. It returns nil if the value matches, else a [*ValidationError]: also for text
// that is not JSON, for a value that cannot be checked within the limits of this package, and for every value if the schema
// cannot be applied.
func (s *Schema) Validate(value []byte) error { return s.validate(s.root, value) }

// validate checks a value against the schema with that root.
func (s *Schema) validate(root *node, value []byte) error {
	if root == nil {
		return oneProblem("cannot be checked: " + s.Err().Error())
	}
	text, err := compactValue(value)
	if err != nil {
		return err
	}
	e := newEvaluation(text)
	if e.eval(root, 0) != invalid {
		return nil
	}
	if e.gaveUp {
		return oneProblem(tooMuchWork)
	}
	e = newEvaluation(text)
	e.report = &report{}
	e.eval(root, 0)
	if len(e.report.problems) == 0 {
		return oneProblem(noMatch)
	}
	return &ValidationError{e.report.problems}
}

const (
	tooMuchWork = "cannot be checked: with this value, the alternatives and references of the schema multiply beyond the limit"
	noMatch     = "does not match"
)

func oneProblem(message string) error {
	return &ValidationError{[]Problem{{"$", bounded(message)}}}
}

// compactValue checks that a value is JSON, and returns it without white space.
func compactValue(value []byte) ([]byte, error) {
	text, err := jsontext.Compact(value)
	if err != nil {
		return nil, oneProblem(err.Error())
	}
	return text, nil
}
