package codemode_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/codemode"
)

// mostInputError is more than any text about a bad input takes, in bytes.
const mostInputError = 1000

func repeat(n int, s string) string { return strings.Repeat(s, n) }

// What is wrong with the input of exec is said before anything runs. Each program would make a call and emit
// something if it ran.
func TestBadInput(t *testing.T) {
	t.Parallel()
	const effects = `text("ran"); await mutate({ i: 1 })` + "\n"
	tests := []struct {
		name string
		in   codemode.ExecInput
		text string // how the error starts
	}{
		{"no title", codemode.ExecInput{Code: effects}, "title is required"},
		{"blank title", codemode.ExecInput{Title: " \t\n\u00a0", Code: effects}, "title is required"},
		{"long title", codemode.ExecInput{Title: repeat(121, "x"), Code: effects}, "title has 121 characters, the limit is 120"},
		{"long wide title", codemode.ExecInput{Title: repeat(121, "😀"), Code: effects}, "title has 121 characters, the limit is 120"},
		{"binary title", codemode.ExecInput{Title: "a\xff", Code: effects}, "title is not valid UTF-8"},
		{"no code", codemode.ExecInput{Title: "t"}, "code is required"},
		{"blank code", codemode.ExecInput{Title: "t", Code: " \n\t\r\u2028\ufeff"}, "code is required"},
		{"blank command", codemode.ExecInput{Title: "t", Command: " \n"}, "code is required"},
		{"two programs", codemode.ExecInput{Title: "t", Code: effects, Command: effects + " "}, "code and command differ"},
		{"binary code", codemode.ExecInput{Title: "t", Code: effects + `"` + "\xff" + `"`}, "code is not valid UTF-8 at byte"},
		{"half a character", codemode.ExecInput{Title: "t", Code: effects + "//\xe2\x82"}, "code is not valid UTF-8 at byte"},
		{"NUL", codemode.ExecInput{Title: "t", Code: effects + "\x00"}, "code contains a NUL character at byte"},
		{"NUL in a string", codemode.ExecInput{Title: "t", Code: effects + "'\x00'"}, "code contains a NUL character at byte"},
		{"10 MB", codemode.ExecInput{Title: "t", Code: effects + "//" + repeat(10<<20, "x")}, "code has 10485"},
		{"10 MB of command", codemode.ExecInput{Title: "t", Command: effects + "//" + repeat(10<<20, "x")}, "code has 10485"},
		{"broken", codemode.ExecInput{Title: "t", Code: effects + "return ("}, "SyntaxError at cell.js:2"},
		{"broken with a long name", codemode.ExecInput{Title: "t", Code: effects + "let a " + repeat(1<<20, "b")}, "SyntaxError at cell.js:2"},
		{"open string", codemode.ExecInput{Title: "t", Code: effects + `return "abc`}, "SyntaxError at cell.js:2"},
		{"open comment", codemode.ExecInput{Title: "t", Code: effects + `/* abc`}, "SyntaxError at cell.js:2"},
		{"open template", codemode.ExecInput{Title: "t", Code: effects + "`${"}, "SyntaxError at cell.js:2"},
		{"bad regular expression", codemode.ExecInput{Title: "t", Code: effects + "/(/"}, "SyntaxError at cell.js"},
		{"parentheses", codemode.ExecInput{Title: "t", Code: effects + "return " + repeat(10_000, "(") + "1" + repeat(10_000, ")")}, "the program is too large or nested too deeply"},
		{"brackets", codemode.ExecInput{Title: "t", Code: effects + "return " + repeat(10_000, "[") + repeat(10_000, "]")}, "the program is too large or nested too deeply"},
		{"braces", codemode.ExecInput{Title: "t", Code: effects + repeat(10_000, "{") + repeat(10_000, "}")}, "the program is too large or nested too deeply"},
		{"functions", codemode.ExecInput{Title: "t", Code: effects + repeat(10_000, "()=>{") + repeat(10_000, "}")}, ""},
		{"templates", codemode.ExecInput{Title: "t", Code: effects + "return " + repeat(10_000, "`${") + "1" + repeat(10_000, "}`")}, ""},
		{"open brackets", codemode.ExecInput{Title: "t", Code: effects + repeat(10_000, "[")}, ""},
		{"closed brackets", codemode.ExecInput{Title: "t", Code: effects + repeat(10_000, "]")}, "SyntaxError at cell.js:2"},
		{"shell", codemode.ExecInput{Title: "t", Code: "ls -la"}, "exec runs JavaScript"},
		{"module", codemode.ExecInput{Title: "t", Code: effects + `import("fs")`}, "module access is disabled"},
	}
	b := newBench(t, codemode.Options{})
	for _, test := range tests {
		r := b.Exec(t.Context(), test.in)
		checkBadInput(t, b, test.name, r, test.text)
		args := map[string]any{"title": test.in.Title, "code": test.in.Code}
		if test.in.Command != "" {
			args["command"] = test.in.Command
		}
		if !utf8.ValidString(test.in.Title + test.in.Code) {
			continue // JSON cannot say it: see TestBadArguments
		}
		handled, err := b.Handle(t.Context(), codemode.ExecTool, plainJSON(t, args))
		if err != nil {
			t.Fatal(err)
		}
		checkBadInput(t, b, test.name+" by Handle", handled, test.text)
		if handled.Error != r.Error {
			t.Errorf("%s: Exec says %q, Handle %q", test.name, r.Error, handled.Error)
		}
	}
}

// checkBadInput checks that r refuses an input and that nothing came of it.
func checkBadInput(t *testing.T, b *testBench, name string, r codemode.Result, text string) {
	t.Helper()
	checkResult(t, r, codemode.DefaultMaxOutputBytes)
	if r.Code != codemode.CodeInvalidInput || r.FailurePhase != codemode.PhaseInput || !strings.HasPrefix(r.Error, text) {
		t.Errorf("%s: got %s in phase %s; want invalid_input %s", name, describe(r), r.FailurePhase, text)
	}
	if len(r.Error) > mostInputError {
		t.Errorf("%s: the error has %d bytes", name, len(r.Error))
	}
	if r.BridgeDispatchStarted || len(r.Output) > 0 || len(b.rec.Calls("")) > 0 {
		t.Errorf("%s: something ran: %s %v", name, outputText(r), b.rec.Calls(""))
	}
	b.works(t)
}

// The line of a syntax error is that of the submitted code.
func TestSyntaxErrorLine(t *testing.T) {
	t.Parallel()
	checkSyntaxErrors(t, []syntaxError{
		{"let x = ;", 1, 0},
		{"\n\nlet x = ;", 3, 0},
		{"text(1)\r\nlet x = ;", 2, 0},
		{"let x = 1\nlet y = 2\nlet x = 3\n", 3, 0},
		{"return {\n  a: 1,\n  b: 2\n  c: 3\n}", 4, 0},
		{"const r = await Promise.all([\n  echo(1),\n  echo(2\n]);\nreturn r", 4, 0},
		{"text(1)\nconst s = \"abc\ntext(2)", 2, 0},
		{"text(1)\nconst n = 1a\ntext(2)", 2, 0},
		{"text(`\n${1}\n\n`)\n@", 5, 0},
		{"/*\n*/ @\n", 2, 0},
		{"if (true) {\n  text(1)", 2, 0},
		{"text(1)\nreturn [1, 2", 2, 0},
		{"break", 1, 0},
		{"for (;;) {}\nimport x from 'y'", 2, 0},
	})
}

// The column of a syntax error is that of the character at which the program stops to be one, and a brace too many is
// not reported at the end of a long program.
func TestSyntaxErrorPlace(t *testing.T) {
	t.Parallel()
	checkSyntaxErrors(t, []syntaxError{
		{"@", 1, 1},
		{"let x = ;", 1, 9},
		{"\n  @", 2, 3},
		{"let a = 1; let b = 2; c d", 1, 25},
		{"return { a: 1,\n  b: 2\n  c: 3 }", 3, 3},
		{"text(1)\n}\ntext(2)\ntext(3)\ntext(4)", 2, 1},
	})
}

type syntaxError struct {
	code         string
	line, column int // column 0: any
}

func checkSyntaxErrors(t *testing.T, tests []syntaxError) {
	b := newBench(t, codemode.Options{})
	for _, test := range tests {
		r := b.run(t.Context(), test.code)
		checkBadInput(t, b, test.code, r, "SyntaxError at cell.js:")
		var line, column int // a column that is not known is left out
		if n, _ := fmt.Sscanf(r.Error, "SyntaxError at cell.js:%d:%d:", &line, &column); n == 0 {
			t.Errorf("%q: no line in %q", test.code, r.Error)
		}
		if line != test.line || test.column > 0 && column != test.column {
			t.Errorf("%q: %d:%d, want %d:%d", test.code, line, column, test.line, test.column)
		}
	}
}

// Inputs at their limits are taken.
func TestInputAtItsLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	for name, in := range map[string]codemode.ExecInput{
		"title":           {Title: repeat(120, "x"), Code: "return 1"},
		"wide title":      {Title: repeat(120, "😀"), Code: "return 1"},
		"code":            {Title: "t", Code: "return 1 //" + repeat(2<<20-11, "x")},
		"white space":     {Title: " t ", Code: "\ufeff\n\n  return 1\n\n"},
		"command":         {Title: "t", Command: "return 1"},
		"command, blank":  {Title: "t", Command: "return 1", Code: " "},
		"code, blank":     {Title: "t", Command: "\n", Code: "return 1"},
		"both, equal":     {Title: "t", Command: "return 1", Code: "return 1"},
		"nesting":         {Title: "t", Code: "return " + repeat(100, "(") + "1" + repeat(100, ")")},
		"line separators": {Title: "t", Code: "return '\u2028\u2029'.length - 1\r\n\r//\u2028"},
	} {
		r := b.Exec(t.Context(), in)
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		if string(r.Value) != "1" {
			t.Errorf("%s: %s", name, describe(r))
		}
	}
}

// The arguments of a call come from a model: anything may be in them.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	const ran = `"code":"await mutate({ i: 1 })"`
	tests := []struct {
		name, args, text string
	}{
		{"nothing", ``, "the exec input is empty"},
		{"blank", " \n\t", "the exec input is empty"},
		{"null", `null`, "the exec input must be a JSON object"},
		{"an array", `[{"title":"t",` + ran + `}]`, "the exec input must be a JSON object"},
		{"a string", `"return 1"`, "the exec input must be a JSON object"},
		{"an empty object", `{}`, "title is required"},
		{"cut off", `{"title":"t",` + ran, "the exec input is not valid JSON"},
		{"two objects", `{"title":"t",` + ran + `}{}`, "the exec input is not valid JSON"},
		{"JavaScript", `{title:"t"}`, "the exec input is not valid JSON"},
		{"binary", "{\"title\":\"t\xff\"," + ran + "}", "the exec input is not valid UTF-8"},
		{"NUL", "{\"title\":\"t\",\x00" + ran + "}", "the exec input is not valid JSON"},
		{"NUL in the code", `{"title":"t","code":"await mutate({ i: 1 }) //\u0000"}`, "code contains a NUL character"},
		{"title is a number", `{"title":1,` + ran + `}`, "title must be a string, not a number"},
		{"code is an object", `{"title":"t","code":{"a":1}}`, "code is required"},
		{"code is null", `{"title":"t","code":null}`, "code is required"},
		{"twice", `{"title":"t","title":"t",` + ran + `}`, "title occurs twice"},
		{"retired language", `{"title":"t",` + ran + `,"language":"typescript"}`, "exec runs JavaScript only"},
		{"retired typecheck", `{"title":"t",` + ran + `,"typecheck":false}`, "exec runs JavaScript only"},
		{"restartSafe", `{"title":"t",` + ran + `,"restartSafe":"yes"}`, "restartSafe must be true or false"},
		{"awaitResults", `{"title":"t",` + ran + `,"awaitResults":1}`, "awaitResults must be true or false"},
		{"10,000 brackets", repeat(10_000, "["), "the exec input is not valid JSON"},
		{"10,000 brackets, closed", repeat(10_000, "[") + repeat(10_000, "]"), "the exec input must be a JSON object"},
		{"10,000 brackets inside", `{"title":"t","x":` + repeat(10_000, "[") + repeat(10_000, "]") + `}`, ""},
		{"20 MB", `{"title":"t","code":"` + repeat(20<<20, "x") + `"}`, "the exec input has 209715"},
	}
	b := newBench(t, codemode.Options{})
	for _, test := range tests {
		r, err := b.Handle(t.Context(), codemode.ExecTool, json.RawMessage(test.args))
		if err != nil {
			t.Fatal(err)
		}
		checkBadInput(t, b, test.name, r, test.text)
	}
	for _, args := range []string{
		`{"title":"t","code":"return 1"}`,
		` {"code":"return 1","title":"t","unknown":[1],"command":"","restartSafe":false,"awaitResults":true} `,
		`{"t\u0069tle":"\ud83d","code":"return 1"}`,
	} {
		r, err := b.Handle(t.Context(), codemode.ExecTool, json.RawMessage(args))
		if err != nil || string(r.Value) != "1" {
			t.Errorf("%s: %s, %v", args, describe(r), err)
		}
	}
}

// No run id is known as long as no cell can wait; whatever is sent is answered in a few words.
func TestBadWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	for _, args := range []string{
		``, `null`, `5`, `{}`, `{"runId":""}`, `{"runId":"cm_1"}`, `{"run_id":"cm_1"}`, `{"runId":5}`, `{"runId":"` + repeat(1<<20, "x") + `"}`, "{\"runId\":\"\xff\"}", `{`,
	} {
		r, err := b.Handle(t.Context(), codemode.WaitTool, json.RawMessage(args))
		if err != nil {
			t.Errorf("%.40s: %v", args, err)
			continue
		}
		checkBadInput(t, b, fmt.Sprintf("wait with %.40s", args), r, "")
	}
	checkBadInput(t, b, "Wait", b.Wait(t.Context(), codemode.WaitInput{RunID: "cm_1"}), `no program waits under the runId "cm_1"`)
}

// A tool whose result JSON has no form for fails its call, in a few words that show nothing of the value; whatever
// the tool does, the cell and the next one go on.
func TestUnmarshalableResults(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{})
	for _, kind := range []string{"channel", "function", "cycle", "NaN"} {
		r := b.run(t.Context(), fmt.Sprintf(`
			try { return ["got", await unmarshalable({ kind: %q })] }
			catch (e) { await mutate({ i: 1 }); return [e.code, e.effectStatus, e.message] }`, kind))
		var got []string
		if err := json.Unmarshal(r.Value, &got); err != nil || len(got) != 3 {
			t.Fatalf("%s: %s", kind, describe(r))
		}
		if got[0] != "output_contract" || got[1] != "unknown" || !strings.Contains(got[2], "JSON") || len(got[2]) > mostInputError || strings.Contains(got[2], "0x") {
			t.Errorf("%s: %q", kind, got)
		}
		r = b.run(t.Context(), fmt.Sprintf(`await unmarshalable({ kind: %q })`, kind))
		checkResult(t, r, codemode.DefaultMaxOutputBytes)
		expectFailure(t, r, codemode.CodeInternal, "Error: unmarshalable ran, but its result")
		b.works(t)
	}
	if r := b.run(t.Context(), `return await unmarshalable({ kind: "none" })`); string(r.Value) != "null" {
		t.Errorf("a nil result: %s", describe(r))
	}
}

// FuzzExecInput gives bytes to exec, as its arguments and as the program, and looks at what holds for every cell.
func FuzzExecInput(f *testing.F) {
	for _, seed := range []string{
		"", " ", "return 1", `{"title":"t","code":"return 1"}`, `{"title":"t","code":"text(1); json({a:[1]})","restartSafe":true}`, "\x00", "\xff", "text('a", "}{", "}) => {",
		"return [1, , NaN, 10n]", "throw new Error('x'.repeat(1e5))", "await echo({ a: '\\ud83d' })", "ls -la", "import('x')", "/(/", "`${`", "for (;;) {}",
		"const a = []; for (;;) a.push('x'.repeat(1e6))", "return { get a() { throw 1 } }", "text('x'.repeat(1e5)); return 'y'.repeat(1e5)", "Promise.reject(1)",
		"Object.prototype.toJSON = 1; text('s'); return await echo([1])", "\\u0072eturn 1", "#!/bin/sh", "//", "return arguments", "eval('1')", "new.target", "await 1; }; {", "\u2028return 1",
		"setTimeout(() => { throw 1 })", "for (let i = 0; i < 200; i++) mutate({ i })", repeat(2000, "["), repeat(2000, "("), "return" + repeat(500, " [") + repeat(500, "]"),
	} {
		f.Add([]byte(seed))
	}
	b := newBench(f, codemode.Options{Timeout: codemode.MinTimeout, MemoryLimitBytes: 8 << 20, MaxOutputBytes: codemode.MinMaxOutputBytes})
	b.rec.Release()
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{codemode.ExecTool, codemode.WaitTool} {
			r, err := b.Handle(t.Context(), name, data)
			if err != nil {
				t.Fatalf("Handle: %v", err)
			}
			checkResult(t, r, codemode.MinMaxOutputBytes)
		}
		checkResult(t, b.run(t.Context(), string(data)), codemode.MinMaxOutputBytes)
		for range 3 { // 100 ms are not much on a busy machine
			r := b.run(t.Context(), "return 1 + 1")
			if r.Code == codemode.CodeTimeout {
				continue
			}
			if string(r.Value) != "2" {
				t.Fatalf("the next cell: %s", describe(r))
			}
			return
		}
		t.Fatal("the next cell does not end")
	})
}
