package toolcatalog

import (
	"fmt"
	"strings"
)

// DefinitionError says why one tool, or one skill, cannot be part of a catalog.
type DefinitionError struct {
	Kind  string // "tool" or "skill"
	Index int    // the place in the slice of tools given to New, or in Options.Skills
	Name  string // of the tool or skill; empty for a nil tool and a blank name
	Err   error  // what is wrong; several things are joined
}

// Error names the tool or skill, its place and what is wrong, each further thing on an indented line of its own.
func (e *DefinitionError) Error() string {
	reason := strings.ReplaceAll(e.Err.Error(), "\n", "\n\t")
	return fmt.Sprintf("%s %q (index %d): %s", e.Kind, clip(e.Name, maxShownName), e.Index, reason)
}

// Unwrap gives Err.
func (e *DefinitionError) Unwrap() error { return e.Err }

// DefinitionErrors is the error of [New]: every bad definition, in the order of the tools. errors.As finds the first
// [*DefinitionError] in it, errors.Is any cause.
type DefinitionErrors []*DefinitionError

// maxShownDefinitions is how many of the errors the text of [DefinitionErrors] shows.
const maxShownDefinitions = 20

// Error gives a line for each of the first twenty, with indented ones if several things are wrong, and the number of the
// others.
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
