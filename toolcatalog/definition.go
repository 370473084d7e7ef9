package toolcatalog

import (
	"fmt"
	"strings"
)

// DefinitionError says why one tool cannot be part of a catalog.
type DefinitionError struct {
	Index int    // the tool's place in the slice given to New
	Tool  string // its name; empty for a nil tool and a blank name
	Err   error  // what is wrong
}

// Error names the tool, its place and the reason.
func (e *DefinitionError) Error() string {
	return fmt.Sprintf("tool %q (index %d): %v", clip(e.Tool, maxShownName), e.Index, e.Err)
}

// Unwrap gives Err.
func (e *DefinitionError) Unwrap() error { return e.Err }

// DefinitionErrors is the error of [New]: every bad definition, in the order of the tools. errors.As finds the first
// [*DefinitionError] in it, errors.Is any cause.
type DefinitionErrors []*DefinitionError

// maxShownDefinitions is how many of the errors the text of [DefinitionErrors] shows.
const maxShownDefinitions = 20

// Error gives one line for each of the first twenty, and the number of the others.
func (e DefinitionErrors) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "toolcatalog: %d bad definitions", len(e))
	if len(e) == 1 {
		b.Reset()
		b.WriteString("toolcatalog: bad definition")
	}
	for i, err := range e {
		if i == maxShownDefinitions {
			fmt.Fprintf(&b, "\nand %d more", len(e)-i)
			break
		}
		if len(e) == 1 {
			fmt.Fprintf(&b, ": %v", err)
		} else {
			fmt.Fprintf(&b, "\n%v", err)
		}
	}
	return b.String()
}

// Unwrap gives all of them.
func (e DefinitionErrors) Unwrap() []error {
	list := make([]error, len(e))
	for i, err := range e {
		list[i] = err
	}
	return list
}
