package codemode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/fixture"
)

// TestScripts runs the cells of testdata/script. A file opens with a comment on what it guards and goes on
// with chunks between lines of "---". Each chunk is a cell, and holds in comments what must come of it:
//
//	//> value JSON          the returned value, byte for byte; without it null
//	//> value /REGEXP/      a match of that
//	//> output JSON         what the cell emitted, byte for byte; without it []
//	//> output /REGEXP/     a match of that
//	//> failed CODE [PHASE] the cell fails
//	//> error TEXT          a line of the error; all such lines are the whole of it
//	//> error /REGEXP/      the error matches, anywhere
//	//> calls TOOL JSON     the inputs that reached the Go function of a case tool, in order
//	//> waiting REASON [N]  the cell waits for that reason, N times, and is resumed at once; all such lines are all of its waits
//
// The comments are part of the cell. Every chunk has an executor and tools of its own; gates are open. Time moves only
// while a cell waits: timers fire and slow tools answer at the exact moment.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/script/*.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			chunks, err := readScript(file, string(text))
			if err != nil {
				t.Fatal(err)
			}
			inBubble(t, nil, func(t *testing.T, b *bubble) {
				for _, c := range chunks {
					rec := new(fixture.Recorder)
					rec.Release()
					session := &codemode.ExecutorOptions{SessionID: "script", Store: codemode.NewMemoryStore()}
					bench := testBench{newExecutor(t, b.runtime, newTestCatalog(t, rec), session), rec}
					result, reasons := finish(t, bench.Executor, bench.run(t.Context(), c.code))
					checkResult(t, result, codemode.DefaultMaxOutputBytes)
					for _, problem := range c.check(result, reasons, rec) {
						t.Errorf("%s:%d: %s", c.file, c.line, problem)
					}
				}
			})
		})
	}
}

// A chunk is one cell of a script with what must come of it.
type chunk struct {
	file string
	line int // in the file, of the cell's first line
	code string

	value, output           string
	valueMatch, outputMatch *regexp.Regexp
	failed                  string // code, and phase if it matters
	errorText               []string
	errorMatches            []*regexp.Regexp
	calls                   map[string]string // JSON arrays by tool
	waiting                 []codemode.Reason
}

func readScript(file, text string) ([]chunk, error) {
	sections := strings.Split("\n"+text, "\n---\n")
	for line := range strings.Lines(strings.TrimSpace(sections[0])) {
		if !strings.HasPrefix(line, "// ") {
			return nil, fmt.Errorf("%s: opens with %q instead of a comment on what it guards", file, line)
		}
	}
	if len(sections) < 2 {
		return nil, fmt.Errorf("%s: has no chunks", file)
	}
	var chunks []chunk
	line := strings.Count(sections[0], "\n") + 2
	for _, code := range sections[1:] {
		c := chunk{file: file, line: line, code: code, value: "null", output: "[]", calls: map[string]string{}}
		for l := range strings.Lines(code) {
			if err := c.expect(strings.TrimSpace(l)); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, line, err)
			}
			line++
		}
		line++ // the separator
		if (c.failed != "") != (len(c.errorText)+len(c.errorMatches) > 0) {
			return nil, fmt.Errorf("%s:%d: failed and error go together", file, c.line)
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// expect reads an expectation; other lines are none.
func (c *chunk) expect(line string) error {
	text, ok := strings.CutPrefix(line, "//> ")
	if !ok {
		return nil
	}
	kind, rest, _ := strings.Cut(text, " ")
	var re *regexp.Regexp
	if n := len(rest); n > 2 && rest[0] == '/' && rest[n-1] == '/' {
		var err error
		if re, err = regexp.Compile(rest[1 : n-1]); err != nil {
			return err
		}
	}
	switch kind {
	case "value":
		c.value, c.valueMatch = rest, re
	case "output":
		c.output, c.outputMatch = rest, re
	case "failed":
		c.failed, c.value = rest, ""
	case "error":
		if re != nil {
			c.errorMatches = append(c.errorMatches, re)
		} else {
			c.errorText = append(c.errorText, rest)
		}
	case "calls":
		tool, inputs, _ := strings.Cut(rest, " ")
		c.calls[tool] = inputs
	case "waiting":
		reason, times, found := strings.Cut(rest, " ")
		n := 1
		if found {
			var err error
			if n, err = strconv.Atoi(times); err != nil {
				return err
			}
		}
		c.waiting = append(c.waiting, slices.Repeat([]codemode.Reason{codemode.Reason(reason)}, n)...)
	default:
		return fmt.Errorf("unknown expectation %q", line)
	}
	return nil
}

// check compares a result, and the reasons of all waits before it, and says what is wrong.
func (c *chunk) check(r codemode.Result, reasons []codemode.Reason, rec *fixture.Recorder) (problems []string) {
	differ := func(what, got, want string) {
		if got != want {
			problems = append(problems, fmt.Sprintf("%s\n got: %s\nwant: %s", what, got, want))
		}
	}
	failed := ""
	if r.Status == codemode.StatusFailed {
		failed = string(r.Code) + " " + string(r.FailurePhase)
	}
	if code, _, _ := strings.Cut(failed, " "); failed != c.failed && (code == "" || code != c.failed) {
		differ("failed", failed+"\n      "+r.Error, c.failed)
		return problems
	}
	match := func(what, got string, re *regexp.Regexp) {
		if !re.MatchString(got) {
			differ(what, got, "/"+re.String()+"/")
		}
	}
	if c.valueMatch != nil {
		match("value", string(r.Value), c.valueMatch)
	} else {
		differ("value", string(r.Value), c.value)
	}
	if c.outputMatch != nil {
		match("output", outputText(r), c.outputMatch)
	} else {
		differ("output", outputText(r), c.output)
	}
	if len(c.errorText) > 0 {
		differ("error", r.Error, strings.Join(c.errorText, "\n"))
	}
	for _, re := range c.errorMatches {
		match("error", r.Error, re)
	}
	if !slices.Equal(reasons, c.waiting) {
		differ("waiting", fmt.Sprint(reasons), fmt.Sprint(c.waiting))
	}
	for tool, want := range c.calls {
		differ("calls of "+tool, inputText(rec, tool), want)
	}
	return problems
}

// outputText gives what a cell emitted as the model sees it.
func outputText(r codemode.Result) string {
	var items []string
	for _, item := range r.Output {
		items = append(items, string(must(item.MarshalJSON())))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func inputText(rec *fixture.Recorder, tool string) string {
	var inputs []string
	for _, call := range rec.Calls(tool) {
		inputs = append(inputs, string(call.Input))
	}
	return "[" + strings.Join(inputs, ",") + "]"
}

// TestScriptRunner shows that a wrong expectation is found, whichever it is.
func TestScriptRunner(t *testing.T) {
	t.Parallel()
	const good = "text('t'); return await echo({ a: 1 })\n" +
		"//> value {\"a\":1}\n//> output [{\"type\":\"text\",\"text\":\"t\"}]\n//> calls echo [{\"a\":1}]\n"
	const bad = "throw new Error('m')\n//> failed internal_error guest\n//> error Error: m\n//> error     at <anonymous> (cell.js:1:11)\n//> error /^Error: m/\n"
	tests := []struct{ name, code, old, new, problem string }{
		{"good", good, "", "", ""},
		{"value", good, `{"a":1}`, `{"a":2}`, "value"},
		{"value match", good, `value {"a":1}`, `value /^2$/`, "value"},
		{"output", good, `[{"type":"text"`, `[{"type":"json"`, "output"},
		{"calls", good, `calls echo [{"a":1}]`, `calls echo []`, "calls of echo"},
		{"failed", good, "return", "throw", "failed"},
		{"bad", bad, "", "", ""},
		{"completed", bad, "throw", "return", "failed"},
		{"phase", bad, "guest", "host", "failed"},
		{"text", bad, "error Error: m", "error Error: n", "error"},
		{"frames", bad, "1:11", "1:12", "error"},
		{"waiting", good, "return", "await yield_control(); return", "waiting"},
		{"not waiting", good, "//> value", "//> waiting yield\n//> value", "waiting"},
		{"match", bad, "/^Error: m/", "/^m/", "error"},
	}
	for _, test := range tests {
		text := "// guards\n---\n" + strings.Replace(test.code, test.old, test.new, 1)
		chunks, err := readScript("x.js", text)
		if err != nil || len(chunks) != 1 || chunks[0].line != 3 {
			t.Fatalf("%s: %d chunks, %v", test.name, len(chunks), err)
		}
		bench := newBench(t, codemode.Options{})
		result, reasons := finish(t, bench.Executor, bench.run(t.Context(), chunks[0].code))
		problems := chunks[0].check(result, reasons, bench.rec)
		if test.problem == "" && len(problems) > 0 || test.problem != "" && (len(problems) != 1 || !strings.HasPrefix(problems[0], test.problem)) {
			t.Errorf("%s: got %q", test.name, problems)
		}
	}
	for _, text := range []string{
		"return 1\n---\nreturn 1\n", "// guards\n", "// guards\n---\n//> valeu 1\n", "// guards\n---\n//> failed timeout guest\n",
		"// guards\n---\n//> waiting yield x\n",
		"// guards\n---\n//> error x\n", "// guards\n---\n//> error /(/\n",
	} {
		if _, err := readScript("x.js", text); err == nil {
			t.Errorf("%q is taken for a script", text)
		}
	}
}
