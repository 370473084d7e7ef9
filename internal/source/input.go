package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on the exec input.
const (
	// MaxTitleChars is the longest title, in Unicode code points.
	MaxTitleChars = 120

	// MaxCodeBytes is the longest program, in bytes of UTF-8. Programs are written by models and small; the limit is there so
	// that a cell cannot make the host parse without end.
	MaxCodeBytes = 2 << 20

	// MaxInputBytes is the longest exec input [Read] looks at. It leaves room for a program of MaxCodeBytes in which every
	// character is a six-byte JSON escape.
	MaxInputBytes = 16 << 20
)

// InputError says what is wrong with the input of a tool, in words meant for the model.
// The message is bounded, whatever the input was, and names the way out.
type InputError struct {
	Message string
}

// Error returns the message.
func (e *InputError) Error() string { return e.Message }

func inputErrorf(format string, args ...any) error {
	return &InputError{Message: fmt.Sprintf(format, args...)}
}

// Input is the exec input before its rules were applied. The zero value is an input without title and code.
type Input struct {
	Title string // what the cell does, for people

	// Code and Command are two names for the program. Models are offered Code only; Command lets a hook or a policy
	// rewrite a call. A blank one counts as absent, and if both are given they must be equal.
	Code, Command string

	RestartSafe  bool // the cell may use only what can be repeated after a restart
	AwaitResults bool // the cell must finish within this call
}

// Cell is an accepted exec input.
type Cell struct {
	Title        string // not blank, at most [MaxTitleChars]; kept as given
	Code         string // not blank, at most [MaxCodeBytes], valid UTF-8 without NUL; kept as given, not trimmed
	RestartSafe  bool
	AwaitResults bool
}

// Cell applies the rules of the exec input. The error is nil or an [*InputError].
func (in Input) Cell() (Cell, error) {
	if err := checkTitle(in.Title); err != nil {
		return Cell{}, err
	}
	code := in.Code
	if !isBlank(in.Command) {
		if !isBlank(in.Code) && in.Code != in.Command {
			return Cell{}, &InputError{Message: "code and command differ: pass the program once, as code"}
		}
		code = in.Command
	}
	if err := checkCode(code); err != nil {
		return Cell{}, err
	}
	return Cell{Title: in.Title, Code: code, RestartSafe: in.RestartSafe, AwaitResults: in.AwaitResults}, nil
}

func checkTitle(title string) error {
	if isBlank(title) {
		return inputErrorf("title is required: say what the cell does in at most %d characters", MaxTitleChars)
	}
	if !utf8.ValidString(title) {
		return &InputError{Message: "title is not valid UTF-8: send it as plain text"}
	}
	if len(title) > MaxTitleChars { // fewer bytes than that are fewer characters
		if n := utf8.RuneCountInString(title); n > MaxTitleChars {
			return inputErrorf("title has %d characters, the limit is %d: shorten it", n, MaxTitleChars)
		}
	}
	return nil
}

func checkCode(code string) error {
	if len(code) > MaxCodeBytes {
		return inputErrorf("code has %d bytes, the limit is %d: let tools carry the data, or split the work over several cells",
			len(code), MaxCodeBytes)
	}
	if isBlank(code) {
		return &InputError{Message: "code is required: pass the JavaScript of the cell as a non-empty string"}
	}
	if !utf8.ValidString(code) {
		return inputErrorf("code is not valid UTF-8 at byte %d: write such bytes as escapes in a string", invalidUTF8At(code))
	}
	if at := strings.IndexByte(code, 0); at >= 0 {
		return inputErrorf("code contains a NUL character at byte %d: write it as \\0 in a string", at)
	}
	return nil
}

// Read reads the exec input that a model sent: a JSON object with title, code, restartSafe and awaitResults. Unknown
// fields are ignored; language and typecheck, which older versions had, are refused. The error is nil or an [*InputError].
func Read(raw []byte) (Cell, error) {
	if err := checkJSON(raw); err != nil {
		return Cell{}, err
	}
	var in Input
	var seen fieldSet
	var retired bool
	// The boolean fields are judged last, after the program: where several things are wrong, the first in the order of
	// the rules is reported, not the first in the text.
	var flagErr error
	flag := func(name string, value []byte) bool {
		on, err := booleanOf(name, value)
		if flagErr == nil {
			flagErr = err
		}
		return on
	}
	for key, value := range members(raw) {
		field := fieldNamed(key)
		if field == fieldUnknown {
			continue
		}
		if seen.has(field) {
			return Cell{}, inputErrorf("%s occurs twice: pass each field once", field)
		}
		seen.add(field)
		switch field {
		case fieldTitle:
			if value[0] != '"' {
				return Cell{}, inputErrorf("title must be a string, not %s", kindOf(value))
			}
			in.Title = unquote(value)
		case fieldCode:
			in.Code = stringOrAbsent(value)
		case fieldCommand:
			in.Command = stringOrAbsent(value)
		case fieldRestartSafe:
			in.RestartSafe = flag("restartSafe", value)
		case fieldAwaitResults:
			in.AwaitResults = flag("awaitResults", value)
		case fieldLanguage, fieldTypecheck:
			retired = true
		}
	}
	cell, err := in.Cell()
	switch {
	case err != nil:
		return Cell{}, err
	case retired:
		return Cell{}, &InputError{Message: "exec runs JavaScript only: remove language and typecheck"}
	case flagErr != nil:
		return Cell{}, flagErr
	}
	return cell, nil
}

// checkJSON makes sure that raw is one JSON object in valid UTF-8, which is what the functions of object.go rely on.
func checkJSON(raw []byte) error {
	if len(raw) > MaxInputBytes {
		return inputErrorf("the exec input has %d bytes, the limit is %d: let tools carry the data", len(raw), MaxInputBytes)
	}
	if !utf8.Valid(raw) {
		return inputErrorf("the exec input is not valid UTF-8 at byte %d", invalidUTF8At(string(raw)))
	}
	if !json.Valid(raw) {
		return invalidJSON(raw)
	}
	if value := bytes.TrimLeft(raw, jsonSpace); value[0] != '{' {
		return inputErrorf("the exec input must be a JSON object with title and code, not %s", kindOf(value))
	}
	return nil
}

func invalidJSON(raw []byte) error {
	if len(bytes.Trim(raw, jsonSpace)) == 0 {
		return &InputError{Message: "the exec input is empty: pass a JSON object with title and code"}
	}
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(raw, new(json.RawMessage)), &syntax) {
		return inputErrorf("the exec input is not valid JSON: %v at byte %d", syntax, syntax.Offset)
	}
	return &InputError{Message: "the exec input is not valid JSON"}
}

// stringOrAbsent returns the text of a JSON string. Constrained models fill a program field that they do not want with
// null or a placeholder of another type, so anything else counts as absent.
func stringOrAbsent(value []byte) string {
	if value[0] != '"' {
		return ""
	}
	return unquote(value)
}

func booleanOf(name string, value []byte) (bool, error) {
	switch value[0] {
	case 't':
		return true, nil
	case 'f':
		return false, nil
	}
	return false, inputErrorf("%s must be true or false, not %s", name, kindOf(value))
}

// isBlank reports whether s has no character that JavaScript's trim would keep.
func isBlank(s string) bool {
	if s != "" && s[0] > ' ' && s[0] < utf8.RuneSelf {
		return false
	}
	for _, r := range s {
		if !isSpace(r) {
			return false
		}
	}
	return true
}

// isSpace reports whether JavaScript counts r as white space or a line terminator.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

func invalidUTF8At(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return len(s)
}
