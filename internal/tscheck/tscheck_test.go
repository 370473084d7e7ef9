package tscheck_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/internal/tscheck"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	const declaration = "declare function add(input: { a: number; b?: number }): Promise<{ sum: number }>;\n"
	tests := []struct {
		name  string
		group tscheck.Group
		want  []string // file, line and code
	}{
		{"nothing to say", tscheck.Group{"tools/add.d.ts": declaration,
			"use.ts": "const sum: number = (await add({ a: 1 })).sum;\nexport {};"}, nil},
		{"strict", tscheck.Group{"use.ts": "let a: string = null;\nfunction f(x) { return x }"}, []string{"use.ts:1: TS2322", "use.ts:2: TS7006"}},
		{"declaration files are checked", tscheck.Group{"a.d.ts": "declare const a: Missing;"}, []string{"a.d.ts:1: TS2304"}},
		{"syntax", tscheck.Group{"a.d.ts": "declare const\n\na: ;"}, []string{"a.d.ts:3: TS1110"}},
		{"by file and line", tscheck.Group{"b.ts": "let b: string = 1", "a.ts": "\nlet a: string = 1\nlet c: string = 2"},
			[]string{"a.ts:2: TS2322", "a.ts:3: TS2322", "b.ts:1: TS2322"}},
		{"two files declare one name", tscheck.Group{"a.d.ts": "declare type A = 1;", "b.d.ts": "declare type A = 2;"},
			[]string{"a.d.ts:1: TS2300", "b.d.ts:1: TS2300"}},
		{"expected errors", tscheck.Group{"a.ts": "// @ts-expect-error\nlet a: string = 1;\n// @ts-expect-error\nlet b = 1;"}, []string{"a.ts:3: TS2578"}},
		{"ES2023", tscheck.Group{"a.ts": "const a: number[] = [2, 1].toSorted(); const b: Promise<1> | undefined = undefined; export { a, b };"}, nil},
		{"no DOM, no node", tscheck.Group{"a.ts": "document;\nprocess;"}, []string{"a.ts:1: TS2584", "a.ts:2: TS2591"}},
		{"foreign text", tscheck.Group{
			"a.ts": "const a: \"\u2028\x00\xff🦀\" = \"\u2028\x00\xff🦀\"; const b: 1 = 1e400;"}, []string{"a.ts:3: TS2322"}},
		{"no file", nil, nil},
	}
	var groups []tscheck.Group
	for _, test := range tests {
		groups = append(groups, test.group)
	}
	for i, found := range tscheck.CheckAll(t, groups) {
		var got []string
		for _, d := range found {
			got = append(got, fmt.Sprintf("%s:%d: TS%d", d.File, d.Line, d.Code))
			if !strings.HasPrefix(d.String(), got[len(got)-1]+": ") || d.Message == "" {
				t.Errorf("%s: the diagnostic reads %q", tests[i].name, d)
			}
		}
		if strings.Join(got, "\n") != strings.Join(tests[i].want, "\n") {
			t.Errorf("%s: got %v\nwant %v", tests[i].name, found, tests[i].want)
		}
	}
}

// TestGroups holds that what a group declares is in the other files of the group, and in no other group.
func TestGroups(t *testing.T) {
	t.Parallel()
	groups := []tscheck.Group{
		{"a.d.ts": "declare const shared: 1; interface Array<T> { own: T }", "use.ts": "const v: 1 = shared; [v].own;"},
		{"use.ts": "shared;\n[1].own;"},
		{"a.d.ts": "declare const shared: 2;", "use.ts": "const v: 2 = shared;"},
	}
	got := fmt.Sprint(tscheck.CheckAll(t, groups))
	want := "[[] [use.ts:1: TS2304: Cannot find name 'shared'. use.ts:2: TS2339: Property 'own' does not exist on type 'number[]'.] []]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// BenchmarkCheckAll measures what a group costs.
func BenchmarkCheckAll(b *testing.B) {
	var groups []tscheck.Group
	for i := range 500 {
		groups = append(groups, tscheck.Group{
			"a.d.ts": fmt.Sprintf("declare function f(input: { a%d: string }): Promise<{ b: number }>;", i),
			"use.ts": "const v: Awaited<ReturnType<typeof f>> = { b: \"\" };\nexport {};",
		})
	}
	for b.Loop() {
		for i, found := range tscheck.CheckAll(b, groups) {
			if len(found) != 1 || found[0].Code != 2322 {
				b.Fatalf("group %d: %v", i, found)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*len(groups)), "ms/group")
}

// TestRequire runs a test that needs the compiler in the three environments.
func TestRequire(t *testing.T) {
	if os.Getenv("TSCHECK_REQUIRE") != "" {
		t.Log("folder:", tscheck.Require(t))
		return
	}
	t.Parallel()
	tests := []struct{ name, environment, want string }{
		{"neither", "", "--- SKIP"},
		{"shared data", "CELLMODE_SHARED=shared", "--- FAIL"},
		{"compiler", "CELLMODE_TYPESCRIPT=somewhere", "folder: somewhere"},
		{"both", "CELLMODE_SHARED=shared CELLMODE_TYPESCRIPT=somewhere", "folder: somewhere"},
	}
	for _, test := range tests {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRequire$", "-test.v")
		for _, entry := range os.Environ() {
			if !strings.HasPrefix(entry, "CELLMODE_") {
				cmd.Env = append(cmd.Env, entry)
			}
		}
		cmd.Env = append(cmd.Env, append(strings.Fields(test.environment), "TSCHECK_REQUIRE=1")...)
		out, _ := cmd.CombinedOutput() // the exit code says what the output says
		if !strings.Contains(string(out), test.want) {
			t.Errorf("%s: got %s\nwant %q", test.name, out, test.want)
		}
		if test.want[0] == '-' && !strings.Contains(string(out), "npm install") {
			t.Errorf("%s: the output does not say how to get a compiler: %s", test.name, out)
		}
	}
}
