package source_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/internal/corpus"
	"github.com/cellmode/cellmode/internal/source"
)

func TestShell(t *testing.T) {
	t.Parallel()
	// The second list of each test needs the engine's parser, the first must do without it.
	tests := []struct {
		name         string
		shell        bool
		sure, unsure []string
	}{
		{name: "a known command alone", shell: true,
			sure: []string{"ls", " ls ", "pwd\n", "git", "date", "/bin/ls", "/usr/bin/env", "/usr/local/bin/node", "cmd.exe", "exit", "export"}},
		{name: "a known command", shell: true, sure: []string{
			"ls -la /workspace", "ls -la", "ls -1", "ls .", "ls ..", "ls ~", "ls /tmp", "ls foo", "ls 'my dir'", `echo "hi"`, "echo $HOME", "echo ${HOME}", "echo {a,b}",
			"echo hello # greet", "sleep 5", "git status", "git add .\ngit commit -m 'x'", "npm run build && npm test", "cat .env", "cat ./a.txt", "cat ../a",
			"cat /etc/hosts | grep localhost", "cat < in.txt", "ls > out.txt", "ls 2>&1", "pwd; ls", "pwd && ls", "pwd || ls", "sort | uniq -c", "cd src\nls", "ls\r\n",
			"jq .name package.json", "node -e 'console.log(1)'", "python3 script.py", "python -c \"print(1)\"", "curl https://example.com", "grep -rn TODO src",
			"kubectl get pods -A", "systemctl status nginx", "docker ps", "powershell -Command Get-Process", "pwsh -c ls", `dir C:\Users`, "find . -name '*.js'",
			"make -j4", "chmod 755 x", "set -euo pipefail", "curl \\\n  -s https://x.org", "date @1", "apt-get install jq", "cmd /c dir", "export PATH=/bin", "test ! -e x",
		}, unsure: []string{"ls *.js", "rm *", "date +%Y", "chmod +x f", "python - <<EOF", "cd /"}},
		{name: "an unknown command", shell: true, sure: []string{
			"deploy production", "mytool --fast", "mytool -v", "my-tool --fast", "Get-ChildItem -Recurse", "foo 'bar baz'", "foo $(cat x)", "$ ls -la", "foo /etc/hosts", "foo ./x",
			"foo 'a = b' c",
		}, unsure: []string{"foo | grep bar", "foo && bar --baz", "foo > a b", "foo; bar --x"}},
		{name: "an executable path", shell: true, sure: []string{"./build.sh", "./build.sh --all", "../bin/x y", `C:\tools\x.exe`, `C:\x.exe /y`},
			unsure: []string{"~/x", "~/bin/x y", "/opt/tool run", "/tool"}},
		{name: "a shebang", shell: true, sure: []string{"#!/bin/bash\nls", "#!/usr/bin/env node\nreturn 1"}},
		{name: "a control form", shell: true, sure: []string{
			"if [ -f x ]; then cat x; fi", "if [[ -n $X ]]; then :; fi", "if test -f x; then ls; fi", "if grep -q x f; then ls; fi", "while read line; do echo $line; done",
			"until ping -c1 host; do sleep 1; done", "while true; do ls; done", "elif [ x ]", "for f in *.txt; do cat $f; done", "for f in\na b; do", "for ((i=0;i<3;i++)); do echo $i; done",
			"for ((i=0;i<3;i++))\ndo echo $i; done", "case $1 in\nstart) ls;;\nesac", `case "$1" in start) ls;; esac`, "function deploy {\n ls\n}", "function my-tool { ls; }",
			"while\t[ 1 ]; do ls; done",
		}},
		{name: "comments and assignments before", shell: true, sure: []string{
			"# list files\nls -la", "// list\nls -la", "/* a */ /* b */\n# c\nls", "FOO=bar ls", "FOO='a b' BAR=\"c d\" ls -la", `FOO=a\ b ls`, "FOO=$(cat a b) ls", "FOO=${X:-a b}; ls",
			"FOO=bar\n# then\nls -la $FOO", "DIR=/tmp\nfor f in $DIR; do ls; done", "NODE_ENV=test node app.js", "A= ls -la", "x=`date +%s` ls",
		}},

		{name: "JavaScript", sure: []string{
			"return 1", "const ls = 1; return ls", "let x = await echo({});", "await find({ name: 'x' })", "text('hi')", "text(\"ls -la\")", "json({ a: 1 })", "x = 1", "x=1", "x = await f()",
			"date = new Date()", "test == 5", "test += 1", "sort ||= f", "date &&= 1", "env ??= {}", "i++", "i ++", "ls()", "ls ()", "ls ({ path: '/' })", "ls.foo", "git.status()", "node\t= 1",
			"label: for (;;) break label", "test: 1", "[a, b] = [b, a]", "({ a } = b)", "`x`", "'use strict'", "(async () => { await x() })()", "function f() { return 1 }", "function f () {}",
			"async function f() {}", "async x => x", "class A {}", "for (const x of xs) {}", "for await (const x of y) {}", "for ((x) of y) {}", "if (x) y()", "if(x) y()", "while (true) {}",
			"if\n(x) y()", "switch (x) { case 1: }", "try { ls() } catch {}", "throw new Error('x')", "do x(); while (y)", "// ls -la\nreturn 1", "/* ls */", "// ls", "# ls", "/* open", "", " \n",
			"foo", "foo-bar", "foo\nbar()", "foo.bar", "a in b", "a instanceof B", "a ? b : c", "a, b", "a * b", "a - b", "foo .bar", "foo . bar", "foo\n  .bar()", "foo !== bar", "foo <= 5", "return-a -b", "this -x",
			"export default 1", "export const x = 1", "export { x }", "export * from 'x'", "export async function f() {}", "export\nclass A {}", "import x from 'y'", "import('x')",
			"x=1\ny=2", "x=await ls -la", "x=new Date", "x=a+ b -c", "x=a\n/b/c", "x=\nfoo -bar", "x=y==z", "f=x=>x", "text 'x'", "catalog -x", "Math -x", "true -x", "yield -x", "3 -x", "$",
		}, unsure: []string{"ls * foo", "git `x`", "/foo/", "/foo/ .test", "sort % 2", "a | b", "a || b", "a && b", "a < b", "~/x/ + 1", "sort in x"}},
		{name: "broken JavaScript", sure: []string{
			"cosnt x = 5;", "awiat foo(1)", "foo(", "x = = 5", "const x = ;", "return (", "interface Foo {", "declare const x: string;", "type Foo = { a: string }", "abstract class A {}",
			"functoin f() {", "foo bar => 1", "foo a == b", "if x > 3 {", "foo → bar", "foo; const x = 5 +", "a && b(", "if foo(x) {", "struct Foo {",
		}},
		{name: "a name that the program declares", unsure: []string{
			"ls -la; var ls = 1, la = 2", "ls -la\nfunction ls() {}", "test < 5 && f(); var test = 1", "echo\nvar echo", "git\nfunction git() {}",
		}},
		{name: "a name that the program declares too late", shell: true, unsure: []string{
			"ls -la; const ls = 1; var x", "ls -la; { let ls = 1 } var x",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check := func(code string, parse source.ParseFunc) {
				t.Helper()
				got, err := source.Shell(t.Context(), code, parse)
				if err != nil || got != tt.shell {
					t.Errorf("%q: got %v, %v, want %v", code, got, err, tt.shell)
				}
			}
			for _, code := range tt.sure {
				check(code, unused(t))
			}
			for _, code := range tt.unsure {
				check(code, parses)
				calls := 0
				check(code, func(ctx context.Context, body string) (bool, error) {
					calls++
					return parses(ctx, body)
				})
				if calls == 0 || calls > 2 {
					t.Errorf("%q: %d calls of the parser, want one or two", code, calls)
				}
			}
		})
	}
}

func TestShellWithoutParser(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"ls -la": true, "ls *.js": false, "ls -la; var ls": false, "return 1": false} {
		if got, err := source.Shell(t.Context(), code, nil); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", code, got, err, want)
		}
	}
}

func TestShellHandsErrorsOn(t *testing.T) {
	t.Parallel()
	fault := errors.New("engine is closed")
	for _, code := range []string{"ls *.js", "ls -la; var ls"} {
		got, err := source.Shell(t.Context(), code, func(context.Context, string) (bool, error) { return false, fault })
		if got || !errors.Is(err, fault) {
			t.Errorf("%q: got %v, %v, want the error of the parser", code, got, err)
		}
	}
}

// TestRealProgramsAreNoShell holds every program of the collections against false alarms.
func TestRealProgramsAreNoShell(t *testing.T) {
	t.Parallel()
	for _, p := range programs(t) {
		if got, _ := source.Shell(t.Context(), p.code, unused(t)); got {
			t.Errorf("%s counts as shell: %.60q", p.name, p.code)
		}
	}
}

// TestLongSources takes the longest and most deeply nested sources; quadratic time would take minutes for each.
func TestLongSources(t *testing.T) {
	t.Parallel()
	for p := range corpus.Generate() {
		if strings.HasSuffix(p.Name, "-broken") {
			continue // the same text with an error at its end
		}
		start := time.Now()
		if got, _ := source.Shell(t.Context(), p.Code, nil); got {
			t.Errorf("%s counts as shell", p.Name)
		}
		if source.ModuleAccess(p.Code) {
			t.Errorf("%s counts as module access", p.Name)
		}
		if spent := time.Since(start); spent > 5*time.Second {
			t.Errorf("%s: %d bytes took %v", p.Name, len(p.Code), spent)
		}
	}
}

// TestShellTakesLinearTime repeats what the classifier skips or looks for; quadratic time would take many seconds for each.
func TestShellTakesLinearTime(t *testing.T) {
	t.Parallel()
	const size = 256 << 10
	for _, unit := range []string{
		"x=", "x=1 ", "x=1\n", "x=$(", "x='", `x=\"`, `\`, "# \n", "// \n", "/* */", "/*", "export ", "for ((", "for x ", "if a", "case x ", "function -", "((", "))", "ls ", "-", "./", "=", "a-",
		"foo '", "'", " ", "\\\n", "~", "var ls -la;",
	} {
		for _, head := range []string{"", "ls ", "foo ", "x=", "if ", "for ((", "case ", "function "} {
			start := time.Now()
			if _, err := source.Shell(t.Context(), head+strings.Repeat(unit, size/len(unit)), nil); err != nil {
				t.Error(err)
			}
			if spent := time.Since(start); spent > 5*time.Second {
				t.Errorf("%q and many %q: %v", head, unit, spent)
			}
		}
	}
}

func FuzzShell(f *testing.F) {
	for _, seed := range []string{
		"ls -la", "return 1", "#!/bin/sh", "FOO='a b' ls", "x=$(a", "for ((i;;)); do", "case x in", "/a/b c", `C:\x`, "a-b --c", "ls -la; var ls", "export FOO=1", "if [ x", "foo \\\n -x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) {
		always := func(ok bool) source.ParseFunc {
			return func(context.Context, string) (bool, error) { return ok, nil }
		}
		broken, _ := source.Shell(t.Context(), code, always(false))
		good, _ := source.Shell(t.Context(), code, always(true))
		if good && !broken {
			t.Errorf("%q: a command only if it is JavaScript", code)
		}
		// What counts as a command whatever the parser says must not be a program that starts with a declaration or a call.
		if good && (strings.HasPrefix(code, "const ") || strings.HasPrefix(code, "return ") || strings.HasPrefix(code, "text(")) {
			t.Errorf("%q counts as shell", code)
		}
	})
}
