package declgen

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/schema"
)

var update = flag.Bool("update", false, "write the files that the tests compare with")

// goldenCase is a function in testdata/declare; its declaration stands beside it.
type goldenCase struct {
	Comment     string            `json:"comment"` // what the case shows
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Input       json.RawMessage   `json:"input"`
	Output      json.RawMessage   `json:"output"`
	Examples    []json.RawMessage `json:"examples"`
}

func (c goldenCase) function() Function {
	f := Function{Name: c.Name, Description: c.Description, Examples: c.Examples}
	if c.Input != nil {
		f.Input = schema.ParseDeferred(c.Input)
	}
	if c.Output != nil {
		f.Output = schema.ParseDeferred(c.Output)
	}
	return f
}

func goldenCases(t testing.TB) map[string]goldenCase {
	t.Helper()
	files, err := filepath.Glob("testdata/declare/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	cases := map[string]goldenCase{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c goldenCase
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		cases[strings.TrimSuffix(file, ".json")] = c
	}
	return cases
}

// TestGolden compares the declarations in testdata/declare. Run it with -update, and read the difference, to accept new ones.
func TestGolden(t *testing.T) {
	t.Parallel()
	for path, c := range goldenCases(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			compareGolden(t, path+".d.ts", Declare(c.function()))
		})
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
