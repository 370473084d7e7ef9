package source_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/cellmode/cellmode/internal/corpus"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// parses is the [source.ParseFunc] of these tests: a JavaScript parser in Go stands in for the engine.
func parses(_ context.Context, body string) (bool, error) {
	_, err := js.Parse(parse.NewInputString(body), js.Options{Inline: true})
	return err == nil, nil
}

// unused returns a ParseFunc that fails the test when it is called.
func unused(t *testing.T) func(context.Context, string) (bool, error) {
	return func(_ context.Context, body string) (bool, error) {
		t.Errorf("the engine's parser was asked about %q", body)
		return true, nil
	}
}

// program is a source text of the collections.
type program struct{ name, code string }

// written returns the cells that models wrote and the hostile programs.
var written = sync.OnceValues(func() ([]program, error) {
	var all []program
	cells, err := corpus.LoadCells(os.DirFS("../../testdata/cells/cells"))
	if err != nil {
		return nil, err
	}
	for _, cell := range cells {
		all = append(all, program{cell.Name, cell.Code})
	}
	hostile, err := corpus.LoadPrograms(os.DirFS("../../testdata/hostile"))
	if err != nil {
		return nil, err
	}
	for _, p := range hostile {
		all = append(all, program{p.Name, p.Code})
	}
	return all, nil
})

func programs(t testing.TB) []program {
	all, err := written()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
