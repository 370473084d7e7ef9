package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// A Class is a way in which a hostile program may end.
type Class string

const (
	// Timeout: stopped by the deadline.
	Timeout Class = "timeout"
	// Memory: failed because the memory cap was reached.
	Memory Class = "memory"
	// Stack: failed because the stack limit was reached.
	Stack Class = "stack"
	// Error: failed with any other error of the program, a syntax error or a
	// promise that nothing can settle included.
	Error Class = "error"
	// Blocked: completed with the string "BLOCKED": the capability is not there.
	Blocked Class = "blocked"
	// Value: completed with a certain value.
	Value Class = "value"
)

// An Ending is one acceptable end of a program.
type Ending struct {
	Class Class
	// Text is the wanted value of class Value, as JavaScript's String shows it, or
	// "*" for any.
	Text string
}

// String is the ending as a header writes it.
func (e Ending) String() string {
	if e.Class == Value {
		return "value=" + e.Text
	}
	return string(e.Class)
}

// A Program is one hostile program: the body of an async function.
type Program struct {
	// Name is the file name without ".js", or that of a generated program.
	Name string
	// Why says what the program attacks.
	Why string
	// Accept lists the acceptable endings, the likeliest first.
	Accept []Ending
	// Code is the source as bytes: some programs are not valid UTF-8 on purpose.
	Code string
}

// LoadPrograms reads every .js file of dir, in order of name.
func LoadPrograms(dir fs.FS) ([]Program, error) {
	names, err := fs.Glob(dir, "*.js")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("corpus: no hostile programs: no .js file in the folder")
	}
	programs := make([]Program, 0, len(names))
	for _, name := range names {
		code, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		line, _, _ := strings.Cut(string(code), "\n")
		accept, why, err := ParseHeader(line)
		if err != nil {
			return nil, fmt.Errorf("corpus: program %s: %w", name, err)
		}
		programs = append(programs, Program{
			Name:   strings.TrimSuffix(path.Base(name), ".js"),
			Why:    why,
			Accept: accept,
			Code:   string(code),
		})
	}
	return programs, nil
}

// ParseHeader reads the first line of a hostile program:
//
//	// expect: CLASS[, CLASS...] | why
//
// A class "value=X" reaches to the next ", CLASS" or to " | ", so X may be JSON or
// hold commas.
func ParseHeader(line string) (accept []Ending, why string, err error) {
	list, ok := strings.CutPrefix(line, "// expect: ")
	if !ok {
		return nil, "", errors.New(`the first line must begin with "// expect: "`)
	}
	list, why, ok = strings.Cut(list, " | ")
	if !ok || strings.TrimSpace(why) == "" {
		return nil, "", errors.New(`the first line must say why after " | "`)
	}
	for part := range strings.SplitSeq(list, ", ") {
		ending, ok := parseEnding(part)
		switch {
		case ok:
			accept = append(accept, ending)
		case len(accept) > 0 && accept[len(accept)-1].Class == Value:
			accept[len(accept)-1].Text += ", " + part
		default:
			return nil, "", fmt.Errorf("unknown class %q", part)
		}
	}
	return accept, why, nil
}

func parseEnding(text string) (Ending, bool) {
	if value, ok := strings.CutPrefix(text, "value="); ok {
		return Ending{Value, value}, true
	}
	switch class := Class(text); class {
	case Timeout, Memory, Stack, Error, Blocked:
		return Ending{Class: class}, true
	}
	return Ending{}, false
}

// AcceptsFailure reports whether the program may fail in this way.
func (p *Program) AcceptsFailure(class Class) bool {
	for _, e := range p.Accept {
		if e.Class == class && class != Value && class != Blocked {
			return true
		}
	}
	return false
}

// AcceptsValue reports whether the program may complete with this JSON value.
func (p *Program) AcceptsValue(result json.RawMessage) bool {
	v, err := parse(result)
	if err != nil {
		return false
	}
	for _, e := range p.Accept {
		switch {
		case e.Class == Blocked && v.kind == 0 && v.scalar == "BLOCKED",
			e.Class == Value && (e.Text == "*" || e.Text == v.display()),
			e.Class == Value && v.kind == 0 && v.scalar == nil && becomesNull(e.Text):
			return true
		}
	}
	return false
}

// becomesNull reports whether text shows a value that has no JSON form, in whose
// place a cell's result has null.
func becomesNull(text string) bool {
	switch text {
	case "undefined", "NaN", "Infinity", "-Infinity":
		return true
	}
	return strings.HasPrefix(text, "Symbol(") || strings.HasPrefix(text, "function ")
}

// Expectation lists what the program accepts, for a test's message.
func (p *Program) Expectation() string {
	parts := make([]string, len(p.Accept))
	for i, e := range p.Accept {
		parts[i] = e.String()
	}
	return strings.Join(parts, ", ")
}
