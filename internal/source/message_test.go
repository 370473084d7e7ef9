package source_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/source"
)

func TestSyntaxError(t *testing.T) {
	t.Parallel()
	const advice = "\nNo tools were dispatched: fix the program and submit it again."
	tests := []struct {
		name         string
		line, column int
		message      string
		want         string
	}{
		{name: "plain", line: 3, column: 14, message: "unexpected token in expression: ';'", want: "SyntaxError at cell.js:3:14: unexpected token in expression: ';'"},
		{name: "own prefix", line: 1, column: 1, message: "SyntaxError: expecting ')'\n", want: "SyntaxError at cell.js:1:1: expecting ')'"},
		{name: "no column", line: 2, message: "x", want: "SyntaxError at cell.js:2: x"},
		{name: "no position", column: 4, message: "x", want: "SyntaxError at cell.js: x"},
		{name: "no message", line: 1, column: 2, message: " ", want: "SyntaxError at cell.js:1:2: invalid syntax"},
		{name: "several lines", line: 1, column: 2, message: "a\nb\x00c\u2028d", want: "SyntaxError at cell.js:1:2: a b c d"},
		{name: "not cut", line: 1, column: 2, message: strings.Repeat("é", 240), want: "SyntaxError at cell.js:1:2: " + strings.Repeat("é", 240)},
		{name: "cut", line: 1, column: 2, message: strings.Repeat("🦀", 1_000_000), want: "SyntaxError at cell.js:1:2: " + strings.Repeat("🦀", 240)},
		{name: "not UTF-8", line: 1, column: 2, message: "x\xff\xfe", want: "SyntaxError at cell.js:1:2: x\ufffd\ufffd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := source.SyntaxError(tt.line, tt.column, tt.message).Error(); got != tt.want+advice {
				t.Errorf("got %q, want %q", got, tt.want+advice)
			}
		})
	}
}

func TestModuleReference(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, message string
		want          bool
	}{
		{"ReferenceError", "require is not defined", true},
		{"ReferenceError", "module is not defined", true},
		{"ReferenceError", "process is not defined", true},
		{"ReferenceError", "exports is not defined", false},
		{"ReferenceError", "require is not defined.", false},
		{"ReferenceError", "", false},
		{"Error", "require is not defined", false},
	}
	for _, tt := range tests {
		if got := source.ModuleReference(tt.name, tt.message); got != tt.want {
			t.Errorf("%s: %s: got %v, want %v", tt.name, tt.message, got, tt.want)
		}
	}
}

// TestGuidance holds the two fixed answers to the form of all answers: input errors, short, two lines at most.
func TestGuidance(t *testing.T) {
	t.Parallel()
	if !strings.HasPrefix(source.ErrModuleAccess.Error(), "module access is disabled") {
		t.Errorf("got %q", source.ErrModuleAccess)
	}
	for _, err := range []error{source.ErrShell, source.ErrModuleAccess} {
		var input *source.InputError
		text := err.Error()
		if !errors.As(err, &input) || strings.Count(text, "\n") > 1 || len(text) > 400 || !utf8.ValidString(text) {
			t.Errorf("%T %q", err, text)
		}
		if !strings.Contains(text, "Call the tools") && !strings.Contains(text, "call one of the enabled tools") || !strings.Contains(strings.ToLower(text), "do not send the same") {
			t.Errorf("%q does not say what to do instead", text)
		}
	}
}
