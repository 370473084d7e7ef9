package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/toolcatalog"
)

// call calls a tool the way a cell does and decodes the result into out.
func call(ctx context.Context, t *testing.T, tool, input string, out any) error {
	t.Helper()
	toolchain, err := openToolchain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer toolchain.Close()
	catalog, err := toolcatalog.New(toolchain.Tools(), nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := catalog.Call(ctx, tool, json.RawMessage(input))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(result, out); err != nil {
		t.Fatal(err)
	}
	return nil
}

func TestTools(t *testing.T) {
	t.Parallel()
	t.Run("packages by prefix", func(t *testing.T) {
		t.Parallel()
		var got []goPackage
		if err := call(t.Context(), t, "packages_list", `{"prefix":"container/"}`, &got); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, p := range got {
			paths = append(paths, p.Path)
		}
		if want := []string{"container/heap", "container/list", "container/ring"}; !slices.Equal(paths, want) {
			t.Errorf("got %q, want %q", paths, want)
		}
		if heap := got[0]; heap.Name != "heap" || heap.Synopsis == "" || !slices.Equal(heap.Files, []string{"heap.go"}) || !slices.Contains(heap.Imports, "sort") {
			t.Errorf("got %+v", heap)
		}
	})
	t.Run("search is bounded", func(t *testing.T) {
		t.Parallel()
		var got searchOutput
		if err := call(t.Context(), t, "file_search", `{"text":"func ","under":"container","limit":3}`, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Matches) != 3 || !got.Truncated || got.Matches[0].Path != "container/heap/heap.go" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("search finds nothing", func(t *testing.T) {
		t.Parallel()
		var got searchOutput
		if err := call(t.Context(), t, "file_search", `{"text":"no such text anywhere","under":"container"}`, &got); err != nil || len(got.Matches) != 0 || got.Truncated {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("reading past the end", func(t *testing.T) {
		t.Parallel()
		var got readOutput
		if err := call(t.Context(), t, "file_read", `{"path":"container/heap/heap.go","line":1000000}`, &got); err != nil || len(got.Lines) != 0 || got.TotalLines < 100 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestToolErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ tool, input, err string }{
		{"package_doc", `{"path":"no/such/package"}`, "no/such/package"},
		{"package_doc", `{"path":"encoding/csv","symbol":"NewDecoder"}`, "no symbol NewDecoder"},
		{"package_doc", `{"path":"-http"}`, "path"},
		{"file_read", `{"path":"../VERSION"}`, "escapes"},
		{"file_read", `{"path":"no/such/file.go"}`, "no such file"},
		{"file_read", `{"path":"encoding"}`, "directory"},
		{"file_search", `{"text":"x","under":"../.."}`, "invalid"},
		{"file_search", `{"text":"","under":"encoding"}`, "text"},
	}
	for _, test := range tests {
		t.Run(test.tool+test.input, func(t *testing.T) {
			t.Parallel()
			var out any
			err := call(t.Context(), t, test.tool, test.input, &out)
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v and result %v, want an error with %q", err, out, test.err)
			}
		})
	}
	for _, tool := range []string{`packages_list {}`, `module_list {}`, `file_search {"text":"x"}`, `package_doc {"path":"errors"}`} {
		t.Run("cancelled "+tool, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			name, input, _ := strings.Cut(tool, " ")
			if err := call(ctx, t, name, input, new(any)); !errors.Is(err, context.Canceled) {
				t.Errorf("got error %v, want %v", err, context.Canceled)
			}
		})
	}
}
