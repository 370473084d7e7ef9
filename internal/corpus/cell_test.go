package corpus

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLoadCells(t *testing.T) {
	t.Parallel()
	cells, err := LoadCells(os.DirFS("../../testdata/cells/cells"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(cells), 230; got != want {
		t.Errorf("got %d cells, want %d", got, want)
	}
	byNumber := map[int]*Cell{}
	for i := range cells {
		c := &cells[i]
		if byNumber[c.Number] != nil {
			t.Errorf("%s: a second cell %d", c.Name, c.Number)
		}
		byNumber[c.Number] = c
		if n := len([]rune(c.Title)); n > 120 {
			t.Errorf("%s: the title has %d characters, more than exec allows", c.Name, n)
		}
		if err := c.Check(c.perfect()); err != nil {
			t.Errorf("%s: the expectation fails its own check: %v", c.Name, err)
		}
	}
	if c := byNumber[210]; !c.Hand || !c.Subset || !c.Has("normalise") || c.Name != "210-norm-settled-reasons" {
		t.Errorf("cell 210: got %+v", c)
	}
	if c := byNumber[142]; len(c.Needs) != 1 || c.Needs[0] != "structuredClone" {
		t.Errorf("cell 142: got needs %q", c.Needs)
	}
}

// perfect is the outcome that the expectation describes.
func (c *Cell) perfect() Outcome {
	o := Outcome{Status: c.want.Status, Value: c.want.Value, Output: c.want.Output}
	if c.want.ErrorName != nil {
		o.Error = *c.want.ErrorName
		if c.want.ErrorMessage != nil && *c.want.ErrorMessage != "" {
			o.Error += ": " + *c.want.ErrorMessage
		}
		o.Error += "\n    at <anonymous> (cell.js:1:1)"
	} else if c.want.ErrorMessage != nil {
		o.Error = *c.want.ErrorMessage
	}
	return o
}

func TestLoadCellsReportsBrokenFiles(t *testing.T) {
	t.Parallel()
	const code = "// title: A\n// tags: x\nreturn 1;"
	const want = `{"title":"A","tags":["x"],"status":"completed","value":1,"output":[],"errorName":null,"errorMessage":null}`
	tests := map[string]struct {
		files map[string]string
		err   string
	}{
		"no cells":                {map[string]string{"README.md": ""}, "no cells"},
		"no expectation":          {map[string]string{"001-a.js": code}, "001-a.expected.json"},
		"a stray expectation":     {map[string]string{"001-a.js": code, "001-a.expected.json": want, "002-b.expected.json": want}, "1 cells but 2 expectations"},
		"no number":               {map[string]string{"a.js": code, "a.expected.json": want}, "must begin with a number"},
		"no title":                {map[string]string{"001-a.js": "return 1", "001-a.expected.json": want}, "title and tags"},
		"an unknown header":       {map[string]string{"001-a.js": "// titel: A\n", "001-a.expected.json": want}, `unknown key "titel"`},
		"titles that differ":      {map[string]string{"001-a.js": strings.Replace(code, "A", "B", 1), "001-a.expected.json": want}, "differ"},
		"an unknown field":        {map[string]string{"001-a.js": code, "001-a.expected.json": `{"titel":"A"}`}, "unknown field"},
		"an unknown status":       {map[string]string{"001-a.js": code, "001-a.expected.json": strings.Replace(want, "completed", "done", 1)}, `unknown status "done"`},
		"sources without an item": {map[string]string{"001-a.js": code, "001-a.expected.json": strings.Replace(want, `"output":[]`, `"output":[],"sources":["text"]`, 1)}, "1 sources for 0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := fstest.MapFS{}
			for file, text := range test.files {
				dir[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if _, err := LoadCells(dir); err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want one with %q", err, test.err)
			}
		})
	}
}

func TestCellCheck(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	items := func(texts ...string) (raw []json.RawMessage) {
		for _, s := range texts {
			raw = append(raw, json.RawMessage(s))
		}
		return raw
	}
	completed := Cell{want: expectation{
		Status:  "completed",
		Value:   json.RawMessage(`{"a":1}`),
		Output:  items(`{"type":"text","text":"x"}`, `{"type":"text","text":"y"}`),
		Sources: []string{"text", "console.warn"},
	}}
	failed := func(name, message *string) Cell {
		return Cell{want: expectation{Status: "failed", ErrorName: name, ErrorMessage: message}}
	}
	tests := []struct {
		name   string
		cell   Cell
		got    Outcome
		exempt []string
		err    string // "" for none
	}{
		{"all as wanted", completed, Outcome{"completed", json.RawMessage(`{"a":1}`), items(`{"type":"text","text":"x"}`, `{"type":"text","text":"y"}`), ""}, nil, ""},
		{"another value", completed, Outcome{"completed", json.RawMessage(`{"a":2}`), completed.want.Output, ""}, nil, "value: $.a: want 1, got 2"},
		{"another console text", completed, Outcome{"completed", json.RawMessage(`{"a":1}`), items(`{"type":"text","text":"x"}`, `{}`), ""}, nil, "output 1"},
		{"another exempt console text", completed, Outcome{"completed", json.RawMessage(`{"a":1}`), items(`{"type":"text","text":"x"}`, `{}`), ""}, []string{"console.warn"}, ""},
		{"a missing item", completed, Outcome{"completed", json.RawMessage(`{"a":1}`), items(`{"type":"text","text":"x"}`), ""}, []string{"console.warn"}, "want 2 items, got 1"},
		{"a failure", completed, Outcome{"failed", nil, nil, "Error: no"}, nil, "want completed, got failed (Error: no)"},

		{"error with frames", failed(text("Error"), text("a\nb")), Outcome{Status: "failed", Error: "Error: a\nb\n    at f"}, nil, ""},
		{"error with more text", failed(text("Error"), text("a")), Outcome{Status: "failed", Error: "Error: ab"}, nil, `want "Error: a"`},
		{"error of another name", failed(text("Error"), text("a")), Outcome{Status: "failed", Error: "TypeError: a"}, nil, `want "Error: a"`},
		{"error without a message", failed(text("Stop"), text("")), Outcome{Status: "failed", Error: "Stop\n    at f"}, nil, ""},
		{"error without a message, but one came", failed(text("Stop"), text("")), Outcome{Status: "failed", Error: "Stop: x"}, nil, `want "Stop"`},
		{"engine's words", failed(text("TypeError"), nil), Outcome{Status: "failed", Error: "TypeError: not a function"}, nil, ""},
		{"input error", failed(text("SyntaxError"), nil), Outcome{Status: "failed", Error: "SyntaxError at cell.js:3:5: unexpected"}, nil, ""},
		{"engine's words of another class", failed(text("TypeError"), nil), Outcome{Status: "failed", Error: "TypeErrors: x"}, nil, "want a TypeError"},
		{"thrown string", failed(nil, text("oops")), Outcome{Status: "failed", Error: "oops"}, nil, ""},
		{"thrown string with a name", failed(nil, text("oops")), Outcome{Status: "failed", Error: "Error: oops"}, nil, `want "oops"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := test.cell.Check(test.got, test.exempt...)
			switch {
			case test.err == "" && err != nil:
				t.Errorf("got error %v", err)
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("got error %v, want one with %q", err, test.err)
			}
		})
	}
}
