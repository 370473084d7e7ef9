package toolcatalog

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/cellmode/cellmode/declgen"
)

// FileInfo is what a list of files tells of one.
type FileInfo struct {
	Path        string `json:"path"`
	Description string `json:"description,omitempty"`
	Bytes       int    `json:"bytes,omitempty"` // of the content; 0 for a file that was not read yet
}

// File is a declaration file: TypeScript that tells how to call a tool, or what else a cell finds. Files exist in memory
// only, and are made when they are read.
type File struct {
	Path        string `json:"path"`
	Description string `json:"description,omitempty"`
	Content     string `json:"content"`
	Bytes       int    `json:"bytes"`
}

const (
	toolFolder     = "tools"
	declarationExt = ".d.ts"
)

// guestFiles are the files that are not about a tool.
var guestFiles = []struct {
	path, description string
	content           func(c *Catalog) string
}{
	{"results.d.ts", "results, store and load: what is kept for later programs", func(*Catalog) string { return declgen.ResultsAPI() }},
	{"guest.d.ts", "the globals that every program has", func(c *Catalog) string {
		return declgen.GuestAPI(declgen.Guest{Skills: len(c.skills) > 0})
	}},
}

// filePath is the path of a tool's declaration.
func filePath(callableName string) string { return toolFolder + "/" + callableName + declarationExt }

// Files lists the declaration files: results.d.ts and guest.d.ts, then tools/<callableName>.d.ts for each tool in the order of
// [Catalog.All]. With a prefix, only the file of that path or the files in that folder; slashes around the prefix do not
// matter. The slice is the caller's own.
func (c *Catalog) Files(prefix string) []FileInfo {
	prefix = strings.Trim(strings.TrimSpace(prefix), "/")
	list := []FileInfo{}
	for _, f := range guestFiles {
		if prefix == "" || prefix == f.path {
			list = append(list, FileInfo{f.path, f.description, len(f.content(c))})
		}
	}
	if prefix == "" || prefix == toolFolder {
		for i := range c.entries {
			list = append(list, c.fileInfo(&c.entries[i]))
		}
	} else if e := c.declared(prefix); e != nil {
		list = append(list, c.fileInfo(e))
	}
	return list
}

func (c *Catalog) fileInfo(e *entry) FileInfo {
	info := FileInfo{Path: filePath(e.CallableName)}
	if text := c.files[e.place].Load(); text != nil {
		info.Bytes = len(*text)
	}
	return info
}

// ReadFile gives a declaration file by its path; slashes before it do not matter. A path that is empty or has a segment
// that is empty, "." or ".." is an error in which errors.Is finds fs.ErrInvalid; for one that does not exist it finds
// fs.ErrNotExist. The text of both is for the model.
func (c *Catalog) ReadFile(path string) (File, error) {
	path = strings.TrimLeft(path, "/")
	if !fs.ValidPath(path) || path == "." {
		return File{}, &lookupError{fmt.Sprintf("invalid API file path %q: give one that API.list() names, such as tools/<name>.d.ts", clip(path, maxShownName)), fs.ErrInvalid}
	}
	for _, f := range guestFiles {
		if path == f.path {
			content := f.content(c)
			return File{path, f.description, content, len(content)}, nil
		}
	}
	e := c.declared(path)
	if e == nil {
		return File{}, c.unknownFile(path)
	}
	content := c.declaration(e)
	return File{Path: path, Content: content, Bytes: len(content)}, nil
}

// declared finds the tool that a path is the declaration of.
func (c *Catalog) declared(path string) *entry {
	name, inFolder := strings.CutPrefix(path, toolFolder+"/")
	name, hasExt := strings.CutSuffix(name, declarationExt)
	if e := c.index[name]; inFolder && hasExt && e != nil && e.CallableName == name {
		return e
	}
	return nil
}

// unknownFile is the error of a path that does not exist. It names the file of the tool that was probably meant.
func (c *Catalog) unknownFile(path string) error {
	text := fmt.Sprintf("unknown API file %q; API.list() names all", clip(path, maxShownName))
	name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(path, toolFolder+"/"), ".ts"), ".d")
	meant := nearest(name, c.CallableNames())
	if e := c.index[name]; e != nil {
		meant = []string{e.CallableName}
	}
	if len(meant) > 0 {
		for i, name := range meant {
			meant[i] = filePath(name)
		}
		text = fmt.Sprintf("unknown API file %q; did you mean %s?", clip(path, maxShownName), nameList(meant, " or "))
	}
	return &lookupError{text, fs.ErrNotExist}
}

// declaration makes the declaration of a tool when it is first asked for.
func (c *Catalog) declaration(e *entry) string {
	if text := c.files[e.place].Load(); text != nil {
		return *text
	}
	c.rendering.Lock() // one at a time: a large schema takes its time and memory once, however many ask
	defer c.rendering.Unlock()
	if text := c.files[e.place].Load(); text != nil {
		return *text
	}
	f := declgen.Function{Name: e.CallableName, Description: e.Description, Examples: e.examples}
	if e.Source != Client {
		f.Input, f.Output = e.declared.input, e.declared.output
	}
	text := declgen.Declare(f)
	c.files[e.place].Store(&text)
	return text
}
