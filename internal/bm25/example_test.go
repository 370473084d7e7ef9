package bm25_test

import (
	"fmt"
	"slices"

	"github.com/cellmode/cellmode/internal/bm25"
)

func Example() {
	documents := [][]string{
		{"create_issue", "Create a new issue in a repository."},
		{"list_issues", "List the issues of a repository, newest first."},
		{"take_picture", "Save an image of the current page."},
	}
	index := bm25.New(slices.Values(documents))
	for _, query := range []string{"new issue", "screenshot of a page", "the"} {
		fmt.Print(query, ":")
		for _, i := range index.Search(query, 5) {
			fmt.Print(" ", documents[i][0])
		}
		fmt.Println()
	}
	// Output:
	// new issue: create_issue list_issues
	// screenshot of a page: take_picture
	// the:
}
