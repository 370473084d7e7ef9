package house

import (
	"os"
	"strings"
	"testing"
)

// TestREADMEProgram holds the program in the README to the Example that compiles and runs.
func TestREADMEProgram(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../../codemode/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	_, run, _ := strings.Cut(string(example), "// README begins.\n")
	run, _, ok := strings.Cut(run, "\t// README ends.")
	if !ok {
		t.Fatal("the Example has no marks")
	}
	var want strings.Builder
	for line := range strings.Lines(run) {
		want.WriteString(strings.TrimPrefix(line, "\t"))
	}
	if shown != want.String() {
		t.Errorf("the README shows\n%s\nthe Example is\n%s", shown, want.String())
	}
}
