package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/cellmode/cellmode/toolcatalog"
)

// Limits of one call. A cell that needs more asks again, with another prefix or offset.
const (
	maxDocBytes    = 32 << 10
	maxLineBytes   = 4 << 10
	maxFileBytes   = 4 << 20
	defaultMatches = 20 // at most 100, by the schema
	defaultLines   = 50 // at most 200, by the schema
)

// A toolchain is the Go installation of this machine, as tools that only read.
type toolchain struct {
	src  *os.Root // GOROOT/src: no path leaves it
	path string   // where src is
}

// openToolchain finds the Go installation that the go command in PATH belongs to.
func openToolchain(ctx context.Context) (*toolchain, error) {
	t := &toolchain{path: os.TempDir()} // away from any go.mod
	goroot, err := t.run(ctx, "env", "GOROOT")
	if err != nil {
		return nil, fmt.Errorf("finding the Go toolchain: %w", err)
	}
	// Some distributions keep src elsewhere and link to it.
	t.path, err = filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(goroot)), "src"))
	if err != nil {
		return nil, fmt.Errorf("finding the source of the standard library: %w", err)
	}
	if t.src, err = os.OpenRoot(t.path); err != nil {
		return nil, fmt.Errorf("opening the source of the standard library: %w", err)
	}
	return t, nil
}

func (t *toolchain) Close() error { return t.src.Close() }

// Tools are the tools that a cell may call.
func (t *toolchain) Tools() []*toolcatalog.Tool {
	spec := func(name, description string) toolcatalog.Spec {
		return toolcatalog.Spec{Name: name, Description: description, Effect: toolcatalog.EffectRead, ReplaySafe: true}
	}
	return []*toolcatalog.Tool{
		toolcatalog.Define(spec("packages_list", "List the packages of the standard library."), t.listPackages),
		toolcatalog.Define(spec("package_doc", "Read the documentation of a package, or of one symbol in it."), t.packageDoc),
		toolcatalog.Define(spec("module_list", "List the modules of the Go toolchain and what they require."), t.listModules),
		toolcatalog.Define(spec("file_search", "Find plain text in the Go files of the standard library, tests excluded."), t.searchFiles),
		toolcatalog.Define(spec("file_read", "Read lines of a file of the standard library."), t.readFile),
	}
}

type packagesInput struct {
	Prefix string `json:"prefix,omitempty" jsonschema:"description=Only import paths that start with this."`
}

type goPackage struct {
	Path     string   `json:"path" jsonschema:"description=Import path."`
	Name     string   `json:"name"`
	Synopsis string   `json:"synopsis" jsonschema:"description=First sentence of the documentation."`
	Files    []string `json:"files" jsonschema:"description=Go files built on this machine."`
	Imports  []string `json:"imports"`
}

func (t *toolchain) listPackages(ctx context.Context, in packagesInput) ([]goPackage, error) {
	text, err := t.run(ctx, "list", "-json=ImportPath,Name,Doc,GoFiles,Imports", "std")
	if err != nil {
		return nil, err
	}
	packages := []goPackage{}
	for list := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct {
			ImportPath, Name, Doc string
			GoFiles, Imports      []string
		}
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the package list: %w", err)
		}
		if strings.HasPrefix(p.ImportPath, in.Prefix) {
			packages = append(packages, goPackage{p.ImportPath, p.Name, p.Doc, orEmpty(p.GoFiles), orEmpty(p.Imports)})
		}
	}
}

// orEmpty makes an absent list an empty one: JSON null is no array.
func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

type docInput struct {
	Path   string `json:"path" jsonschema:"pattern=^[a-z][a-zA-Z0-9_./-]*$,description=Import path."`
	Symbol string `json:"symbol,omitempty" jsonschema:"pattern=^[A-Za-z][A-Za-z0-9_.]*$,description=For instance Decoder.Token. Absent: the package."`
}

type docOutput struct {
	Path      string `json:"path"`
	Text      string `json:"text" jsonschema:"description=What go doc prints: declaration first and then indented text."`
	Truncated bool   `json:"truncated"`
}

func (t *toolchain) packageDoc(ctx context.Context, in docInput) (docOutput, error) {
	args := []string{"doc", in.Path}
	if in.Symbol != "" {
		args = append(args, in.Symbol)
	}
	text, err := t.run(ctx, args...)
	if err != nil {
		return docOutput{}, err
	}
	clipped := clip(string(text), maxDocBytes)
	return docOutput{in.Path, clipped, len(clipped) < len(text)}, nil
}

type none struct{}

type module struct {
	Path      string        `json:"path"`
	GoVersion string        `json:"goVersion"`
	Requires  []requirement `json:"requires"`
}

type requirement struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

func (t *toolchain) listModules(ctx context.Context, _ none) ([]module, error) {
	modules := []module{}
	for _, file := range []string{"go.mod", "cmd/go.mod"} {
		text, err := t.run(ctx, "mod", "edit", "-json", filepath.FromSlash(file))
		if err != nil {
			return nil, err
		}
		var mod struct {
			Module  struct{ Path string }
			Go      string
			Require []struct{ Path, Version string }
		}
		if err := json.Unmarshal(text, &mod); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		m := module{mod.Module.Path, mod.Go, []requirement{}}
		for _, r := range mod.Require {
			m.Requires = append(m.Requires, requirement{r.Path, r.Version})
		}
		modules = append(modules, m)
	}
	return modules, nil
}

type searchInput struct {
	Text  string `json:"text" jsonschema:"minLength=1"`
	Under string `json:"under,omitempty" jsonschema:"description=A folder such as encoding/json. Absent: everywhere."`
	Limit int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,description=Absent: 20."`
}

type match struct {
	Path string `json:"path"`
	Line int    `json:"line" jsonschema:"description=Counted from 1."`
	Text string `json:"text"`
}

type searchOutput struct {
	Matches   []match `json:"matches" jsonschema:"description=In order of path and line."`
	Truncated bool    `json:"truncated" jsonschema:"description=There are more matches than the limit."`
}

func (t *toolchain) searchFiles(ctx context.Context, in searchInput) (searchOutput, error) {
	limit := in.Limit
	if limit == 0 {
		limit = defaultMatches
	}
	under := path.Clean(in.Under) // "" becomes "."
	out := searchOutput{Matches: []match{}}
	err := fs.WalkDir(t.src.FS(), under, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		lines, err := t.lines(name)
		if err != nil {
			return err
		}
		for i, line := range lines {
			if !strings.Contains(line, in.Text) {
				continue
			}
			if len(out.Matches) == limit {
				out.Truncated = true
				return fs.SkipAll
			}
			out.Matches = append(out.Matches, match{name, i + 1, clip(line, maxLineBytes)})
		}
		return nil
	})
	return out, err
}

type readInput struct {
	Path  string `json:"path" jsonschema:"description=For instance encoding/json/stream.go."`
	Line  int    `json:"line,omitempty" jsonschema:"minimum=1,description=First line; counted from 1. Absent: 1."`
	Lines int    `json:"lines,omitempty" jsonschema:"minimum=1,maximum=200,description=How many. Absent: 50."`
}

type readOutput struct {
	Path       string   `json:"path"`
	TotalLines int      `json:"totalLines"`
	Lines      []string `json:"lines"`
}

func (t *toolchain) readFile(_ context.Context, in readInput) (readOutput, error) {
	lines, err := t.lines(in.Path)
	if err != nil {
		return readOutput{}, err
	}
	out := readOutput{Path: in.Path, TotalLines: len(lines), Lines: []string{}}
	count := in.Lines
	if count == 0 {
		count = defaultLines
	}
	first := min(max(in.Line, 1)-1, len(lines))
	for _, line := range lines[first:min(first+count, len(lines))] {
		out.Lines = append(out.Lines, clip(line, maxLineBytes))
	}
	return out, nil
}

// lines reads a file below GOROOT/src.
func (t *toolchain) lines(name string) ([]string, error) {
	file, err := t.src.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxFileBytes)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}

// run runs the go command in t.path and returns what it prints. It neither uses the network nor another toolchain, nor the
// module that the caller may stand in.
func (t *toolchain) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.path
	cmd.Env = append(cmd.Environ(), "GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "GO111MODULE=on", "CGO_ENABLED=0")
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &exit):
		return nil, fmt.Errorf("go %s: %s", args[0], clip(strings.TrimSpace(string(exit.Stderr)), maxLineBytes))
	case err != nil:
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return out, nil
}

// clip cuts text to about most bytes, at the end of a character.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
