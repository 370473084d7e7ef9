package tscheck

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Group is the files of one program, by name. A name is a relative path with slashes and ends in .ts or .d.ts.
type Group map[string]string

// Diagnostic is one complaint of the compiler.
type Diagnostic struct {
	File    string // the name in the group; empty if it is about the program as a whole
	Line    int    // from 1; 0 if there is no file
	Code    int    // 2322 for TS2322
	Message string // what the compiler says, its explanations on lines of their own
}

// String gives the diagnostic as the compiler prints it.
func (d Diagnostic) String() string {
	return fmt.Sprintf("%s:%d: TS%d: %s", d.File, d.Line, d.Code, d.Message)
}

//go:embed driver.cjs
var driver string

// Check compiles one group and returns what the compiler has to say, by file and line; nothing if all is well.
// It skips or fails the test if there is no compiler, see [Require].
func Check(t testing.TB, group Group) []Diagnostic {
	t.Helper()
	return CheckAll(t, []Group{group})[0]
}

// CheckAll compiles any number of groups in one process. The result has an element for each group, in their order.
// It skips or fails the test if there is no compiler, see [Require].
func CheckAll(t testing.TB, groups []Group) [][]Diagnostic {
	t.Helper()
	folder := Require(t)
	request, err := json.Marshal(groups)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "-e", driver, folder)
	cmd.Stdin = bytes.NewReader(request)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	reply, err := cmd.Output()
	if err != nil {
		t.Fatalf("running the TypeScript compiler in node: %v\n%s", err, stderr.Bytes())
	}
	var diagnostics [][]Diagnostic
	if err := json.Unmarshal(reply, &diagnostics); err != nil {
		t.Fatalf("the TypeScript compiler replied with something else than JSON: %v", err)
	}
	if len(diagnostics) != len(groups) {
		t.Fatalf("the TypeScript compiler replied for %d groups, asked were %d", len(diagnostics), len(groups))
	}
	return diagnostics
}

// Require returns the folder of the compiler. If CELLMODE_TYPESCRIPT does not name one the test is skipped, or fails where
// CELLMODE_SHARED is set. A test that prepares a lot for [Check] calls it first.
func Require(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("CELLMODE_TYPESCRIPT")
	if folder != "" {
		return folder
	}
	const way = "CELLMODE_TYPESCRIPT is not set: run npm install --prefix DIR typescript@5.9.3, and set it to DIR/node_modules/typescript"
	if _, all := os.LookupEnv("CELLMODE_SHARED"); all {
		t.Fatal("with CELLMODE_SHARED set no test may be skipped, but " + way)
	}
	t.Skip(way)
	return ""
}
