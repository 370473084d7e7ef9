package source

import (
	"slices"
	"testing"
)

func TestListsAreSorted(t *testing.T) {
	t.Parallel()
	lists := map[string][]string{
		"shellCommands": shellCommands, "keywords": keywords, "globals": globals, "exportKeywords": exportKeywords, "declarators": declarators,
	}
	for name, list := range lists {
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("%s is not sorted, or has an entry twice", name)
		}
	}
}

// TestCommandsAreNoJavaScript keeps the lists apart: a word on two of them would have two meanings.
func TestCommandsAreNoJavaScript(t *testing.T) {
	t.Parallel()
	for _, word := range shellCommands {
		if isListed(keywords, word) || isListed(globals, word) {
			t.Errorf("%s is a command and JavaScript", word)
		}
	}
}
