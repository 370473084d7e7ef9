package source

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Label is the file name of a cell in error texts and stack traces.
const Label = "cell.js"

// maxDetailChars bounds what a parser's message adds to an error: it may embed an identifier of any length.
const maxDetailChars = 240

// ErrShell is the answer to a source for which [Shell] is true.
var ErrShell error = &InputError{Message: "exec runs JavaScript, not shell commands: call one of the enabled tools as an async function, for example `return await tool_name({ ... })`.\n" +
	"Do not send the same command again."}

// ErrModuleAccess is the answer to a source for which [ModuleAccess] is true, and to a failure for which
// [ModuleReference] is true.
var ErrModuleAccess error = &InputError{Message: "module access is disabled: a cell has no import, require, module or process. Call the tools, which are async globals here.\n" +
	"Rewrite the program without modules; do not send the same source again."}

// SyntaxError words the failure of a parser: where it is, what it is, and that nothing happened yet. Line and column
// count from 1 and refer to the submitted code; if the engine does not know them they are 0 and left out. Message is the
// engine's own and is cut to 240 characters.
func SyntaxError(line, column int, message string) *InputError {
	detail := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(message), "SyntaxError:"))
	detail = cutChars(strings.Map(spaceForControl, cutBytes(detail, maxDetailChars*utf8.UTFMax)), maxDetailChars)
	if detail == "" {
		detail = "invalid syntax"
	}
	position := Label
	if line > 0 {
		position = fmt.Sprintf("%s:%d", Label, line)
		if column > 0 {
			position = fmt.Sprintf("%s:%d", position, column)
		}
	}
	return &InputError{Message: fmt.Sprintf("SyntaxError at %s: %s\nNo tools were dispatched: fix the program and submit it again.", position, detail)}
}

// ModuleReference reports whether an uncaught error with this name and message comes from reading require, module or
// process, which a cell does not have. It catches what [ModuleAccess] cannot see, such as an alias of require; the answer
// to it is [ErrModuleAccess].
func ModuleReference(name, message string) bool {
	if name != "ReferenceError" {
		return false
	}
	switch message {
	case "require is not defined", "module is not defined", "process is not defined":
		return true
	}
	return false
}

// spaceForControl keeps a parser's message on one line.
func spaceForControl(r rune) rune {
	if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}

// cutBytes returns the longest prefix of s that has at most n bytes and does not end within a character.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutChars returns the first n characters of s.
func cutChars(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
