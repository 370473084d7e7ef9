package corpus

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLoadPrograms(t *testing.T) {
	t.Parallel()
	programs, err := LoadPrograms(os.DirFS("../../testdata/hostile"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(programs), 598; got != want {
		t.Errorf("got %d programs, want %d", got, want)
	}
	for _, p := range programs {
		first, _, _ := strings.Cut(p.Code, "\n")
		if again := "// expect: " + p.Expectation() + " | " + p.Why; again != first {
			t.Errorf("%s: the header reads %q, was parsed as %q", p.Name, first, again)
		}
	}
}

func TestLoadProgramsReportsBrokenFiles(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]fstest.MapFS{
		"no hostile programs": {},
		`001-a.js: the first line must begin with "// expect: "`: {"001-a.js": {Data: []byte("return 1")}},
	} {
		if _, err := LoadPrograms(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got error %v, want one with %q", err, name)
		}
	}
}

func TestParseHeader(t *testing.T) {
	t.Parallel()
	value := func(text string) Ending { return Ending{Value, text} }
	tests := []struct {
		line   string
		accept []Ending
		why    string
		err    string
	}{
		{"// expect: timeout | a loop", []Ending{{Class: Timeout}}, "a loop", ""},
		{"// expect: memory, stack, error, blocked | x | y", []Ending{{Class: Memory}, {Class: Stack}, {Class: Error}, {Class: Blocked}}, "x | y", ""},
		{"// expect: stack, value= | empty", []Ending{{Class: Stack}, value("")}, "empty", ""},
		{"// expect: value=* | any", []Ending{value("*")}, "any", ""},
		{"// expect: value=[1, 2], value=own,true, timeout | commas", []Ending{value("[1, 2]"), value("own,true"), {Class: Timeout}}, "commas", ""},
		{`// expect: value={"a":1,"b":[2]}, error | JSON`, []Ending{value(`{"a":1,"b":[2]}`), {Class: Error}}, "JSON", ""},
		{"// expect: error, value=function f() { return 1; } | code", []Ending{{Class: Error}, value("function f() { return 1; }")}, "code", ""},
		{"return 1", nil, "", "must begin with"},
		{"// expect: timeout", nil, "", "must say why"},
		{"// expect: timeout | ", nil, "", "must say why"},
		{"// expect: timeouts | x", nil, "", `unknown class "timeouts"`},
		{"// expect: error, sometimes | x", nil, "", `unknown class "sometimes"`},
	}
	for _, test := range tests {
		accept, why, err := ParseHeader(test.line)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: got error %v, want one with %q", test.line, err, test.err)
			}
			continue
		}
		if err != nil || why != test.why || !reflect.DeepEqual(accept, test.accept) {
			t.Errorf("%s: got %v, %q, %v", test.line, accept, why, err)
		}
	}
}

func TestProgramAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		header string
		yes    []string // JSON values
		no     []string
		fails  []Class
	}{
		{"value=ok, error", []string{`"ok"`}, []string{`"OK"`, `null`, `["OK"]`, ``}, []Class{Error}},
		{"blocked", []string{`"BLOCKED"`}, []string{`"LEAK"`, `["BLOCKED"]`, `null`}, nil},
		{"value=42, timeout, memory", []string{`42`, `"42"`, `[42]`}, []string{`43`, `42.0`}, []Class{Timeout, Memory}},
		{"value=undefined, stack", []string{`null`, `"undefined"`}, []string{`0`, `{}`}, []Class{Stack}},
		{"value=Infinity", []string{`null`}, []string{`0`}, nil},
		{"value=Symbol(s), error", []string{`null`, `"Symbol(s)"`}, []string{`"s"`}, []Class{Error}},
		{"value=[object Object]", []string{`{}`, `{"a":1}`, `"[object Object]"`}, []string{`null`, `[]`}, nil},
		{"value=true", []string{`true`}, []string{`false`, `null`}, nil},
		{"value=", []string{`""`, `[]`, `[null]`}, []string{`null`, `0`}, nil},
		{"value=a,,1", []string{`["a",null,1]`}, []string{`["a",1]`}, nil},
		{"value=*", []string{`0`, `null`, `{}`, `"x"`}, []string{``}, nil},
	}
	for _, test := range tests {
		accept, _, err := ParseHeader("// expect: " + test.header + " | test")
		if err != nil {
			t.Fatal(err)
		}
		p := Program{Accept: accept}
		for _, v := range test.yes {
			if !p.AcceptsValue(json.RawMessage(v)) {
				t.Errorf("%s: does not accept %s", test.header, v)
			}
		}
		for _, v := range test.no {
			if p.AcceptsValue(json.RawMessage(v)) {
				t.Errorf("%s: accepts %q", test.header, v)
			}
		}
		for _, class := range []Class{Timeout, Memory, Stack, Error, Blocked, Value} {
			if got, want := p.AcceptsFailure(class), slices.Contains(test.fails, class); got != want {
				t.Errorf("%s: accepts the failure %s: %t", test.header, class, got)
			}
		}
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add("// expect: value={\"a\":[1, 2]}, timeout | why")
	f.Add("// expect: stack, value= | x | y")
	f.Fuzz(func(t *testing.T, line string) {
		accept, why, err := ParseHeader(line)
		if err != nil {
			return
		}
		p := Program{Accept: accept}
		if again := "// expect: " + p.Expectation() + " | " + why; again != line {
			t.Errorf("%q was parsed as %q", line, again)
		}
	})
}
