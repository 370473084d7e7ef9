// Package corpus reads the project's two collections of guest programs and judges
// what a run of them gave.
//
//	cells, err := corpus.LoadCells(os.DirFS("testdata/cells/cells"))
//	for _, cell := range cells {
//		outcome := run(cell.Code) // the test's own business
//		if err := cell.Check(outcome); err != nil {
//			t.Errorf("%s: %v", cell.Name, err)
//		}
//	}
//
// # Cells
//
// A [Cell] is a program written the way a model writes it, with the value, output
// and error that V8 gave. JSON is compared as text with key order: see [Diff].
//
// # Hostile programs
//
// A [Program] tries to hang, exhaust, escape or confuse the engine. It has no one
// right result but a list of acceptable [Ending] values. [LoadPrograms] reads the
// written ones, [Generate] makes those that are too long to keep in a repository.
package corpus
