package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Cell is one program of testdata/cells with what it must give.
type Cell struct {
	// Number and Name come from the file name: 38 and "038-retry-helper".
	Number int
	Name   string
	// Code is the whole file, header comments included.
	Code string
	// Title says what the cell does. It fits an exec title.
	Title string
	// Tags are the kinds the cell belongs to, the main one first.
	Tags []string
	// Needs names what a host may lack; the cell is to be skipped there.
	Needs []string
	// Notes are remarks on a choice that the expectation makes.
	Notes []string
	// Hand says that the expectation was written by hand and not by V8.
	Hand bool
	// Subset relaxes the comparison: see [DiffSubset].
	Subset bool

	want expectation
}

type expectation struct {
	Title        string            `json:"title"`
	Tags         []string          `json:"tags"`
	Needs        []string          `json:"needs"`
	Match        string            `json:"match"`
	Hand         bool              `json:"hand"`
	Status       string            `json:"status"`
	Value        json.RawMessage   `json:"value"`
	Output       []json.RawMessage `json:"output"`
	Sources      []string          `json:"sources"`
	ErrorName    *string           `json:"errorName"`
	ErrorMessage *string           `json:"errorMessage"`
}

// An Outcome is what a run of a cell gave.
type Outcome struct {
	Status string // "completed" or "failed"
	Value  json.RawMessage
	Output []json.RawMessage
	// Error is the error text of a failed cell: "Name: message", then frames.
	Error string
}

// LoadCells reads every NNN-name.js of dir and the NNN-name.expected.json beside
// it, in order of number. It reports a file without its partner and a header that
// disagrees with the expectation.
func LoadCells(dir fs.FS) ([]Cell, error) {
	names, err := fs.Glob(dir, "*.js")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("corpus: no cells: no .js file in the folder")
	}
	cells := make([]Cell, 0, len(names))
	for _, name := range names {
		cell, err := loadCell(dir, strings.TrimSuffix(name, ".js"))
		if err != nil {
			return nil, fmt.Errorf("corpus: cell %s: %w", name, err)
		}
		cells = append(cells, cell)
	}
	expected, err := fs.Glob(dir, "*.expected.json")
	if err != nil {
		return nil, err
	}
	if len(expected) != len(names) {
		return nil, fmt.Errorf("corpus: %d cells but %d expectations", len(names), len(expected))
	}
	return cells, nil
}

func loadCell(dir fs.FS, name string) (Cell, error) {
	code, err := fs.ReadFile(dir, name+".js")
	if err != nil {
		return Cell{}, err
	}
	text, err := fs.ReadFile(dir, name+".expected.json")
	if err != nil {
		return Cell{}, err
	}
	number, _, _ := strings.Cut(path.Base(name), "-")
	cell := Cell{Name: name, Code: string(code)}
	if cell.Number, err = strconv.Atoi(number); err != nil {
		return Cell{}, fmt.Errorf("the name must begin with a number: %w", err)
	}
	if err := cell.parseHeader(); err != nil {
		return Cell{}, err
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&cell.want); err != nil {
		return Cell{}, fmt.Errorf("expectation: %w", err)
	}
	return cell, cell.checkHeader()
}

// parseHeader reads the comments "// key: text" at the top of the code.
func (c *Cell) parseHeader() error {
	for line := range strings.Lines(c.Code) {
		key, text, ok := strings.Cut(strings.TrimPrefix(strings.TrimRight(line, "\r\n"), "// "), ": ")
		if !ok || !strings.HasPrefix(line, "// ") {
			break
		}
		switch key {
		case "title":
			c.Title = text
		case "tags":
			c.Tags = strings.Fields(text)
		case "needs":
			c.Needs = strings.Fields(text)
		case "note":
			c.Notes = append(c.Notes, text)
		case "expect":
			c.Hand = text == "hand"
		case "match":
			c.Subset = text == "subset"
		case "error": // the engine words the message: the expectation holds null
		default:
			return fmt.Errorf("header: unknown key %q", key)
		}
	}
	if c.Title == "" || len(c.Tags) == 0 {
		return errors.New("header: title and tags are required")
	}
	return nil
}

func (c *Cell) checkHeader() error {
	w := &c.want
	switch {
	case w.Title != c.Title || !slices.Equal(w.Tags, c.Tags) || !slices.Equal(w.Needs, c.Needs):
		return errors.New("title, tags or needs of the header and of the expectation differ")
	case w.Hand != c.Hand || (w.Match == "subset") != c.Subset:
		return errors.New("expect or match of the header and of the expectation differ")
	case w.Status != "completed" && w.Status != "failed":
		return fmt.Errorf("expectation: unknown status %q", w.Status)
	case len(w.Sources) != 0 && len(w.Sources) != len(w.Output):
		return fmt.Errorf("expectation: %d sources for %d output items", len(w.Sources), len(w.Output))
	}
	return nil
}

// Has reports whether the cell carries the tag.
func (c *Cell) Has(tag string) bool { return slices.Contains(c.Tags, tag) }

// Check compares an outcome with what the cell must give and returns every
// difference, or nil. Output items that come from one of the exempt sources, for
// instance "console.warn", must be there but may read differently.
func (c *Cell) Check(got Outcome, exempt ...string) error {
	w := &c.want
	if got.Status != w.Status {
		return fmt.Errorf("status: want %s, got %s (%s)", w.Status, got.Status, clip(got.Error))
	}
	diff := Diff
	if c.Subset {
		diff = DiffSubset
	}
	var problems []error
	if w.Status == "completed" {
		if err := diff(w.Value, got.Value); err != nil {
			problems = append(problems, fmt.Errorf("value: %w", err))
		}
	} else if err := c.checkError(got.Error); err != nil {
		problems = append(problems, err)
	}
	if len(got.Output) != len(w.Output) {
		problems = append(problems, fmt.Errorf("output: want %d items, got %d: %s", len(w.Output), len(got.Output), clip(fmt.Sprintf("%s", got.Output))))
		return errors.Join(problems...)
	}
	for i, item := range w.Output {
		if len(w.Sources) != 0 && slices.Contains(exempt, w.Sources[i]) {
			continue
		}
		if err := diff(item, got.Output[i]); err != nil {
			problems = append(problems, fmt.Errorf("output %d: %w", i, err))
		}
	}
	return errors.Join(problems...)
}

// checkError compares the head of an error text: all of "Name: message" where the
// program made the message, the name alone where the engine did, and the thrown
// value as text where it was no Error.
func (c *Cell) checkError(text string) error {
	w := &c.want
	var head string
	switch {
	case w.ErrorName == nil && w.ErrorMessage != nil:
		head = *w.ErrorMessage
	case w.ErrorName != nil && w.ErrorMessage == nil:
		// "SyntaxError at cell.js:3:5: ..." is an input error that keeps its name.
		rest, ok := strings.CutPrefix(text, *w.ErrorName)
		if !ok || rest != "" && !strings.ContainsAny(rest[:1], ":\n ") {
			return fmt.Errorf("error: want a %s, got %s", *w.ErrorName, clip(text))
		}
		return nil
	case w.ErrorName != nil && *w.ErrorMessage == "":
		head = *w.ErrorName
	case w.ErrorName != nil:
		head = *w.ErrorName + ": " + *w.ErrorMessage
	default:
		return nil
	}
	rest, ok := strings.CutPrefix(text, head)
	if !ok || rest != "" && rest[0] != '\n' {
		return fmt.Errorf("error: want %q first, got %s", head, clip(text))
	}
	return nil
}

// clip shortens text for a test's message.
func clip(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text))
}
