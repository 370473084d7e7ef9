package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRun holds what is true of every Go 1.26 toolchain; line numbers and counts are not.
func TestRun(t *testing.T) {
	// A caller may stand in a module that this toolchain cannot even load.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module broken\ngo 9.99\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)

	var first, second bytes.Buffer
	if err := run(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), &second); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Errorf("two runs print different things:\n%s\n%s", first.String(), second.String())
	}

	line, value, _ := strings.Cut(first.String(), "\n")
	if !regexp.MustCompile(`^Looked at \d{3} packages of std, Go 1\.\d+\.$`).MatchString(line) {
		t.Errorf("the first line is %q", line)
	}
	var got struct {
		Streaming []struct {
			Path, Constructor, At string
			UsedBy                int
		}
		Whole []string
	}
	if err := json.Unmarshal([]byte(value), &got); err != nil {
		t.Fatalf("%v in %s", err, value)
	}
	for _, path := range []string{"encoding/asn1", "encoding/binary", "encoding/csv", "encoding/pem"} {
		if !slices.Contains(got.Whole, path) {
			t.Errorf("whole is %q, want %s in it", got.Whole, path)
		}
	}
	constructors := map[string]string{
		"encoding/ascii85": "func NewDecoder(r io.Reader) io.Reader",
		"encoding/base32":  "func NewDecoder(enc *Encoding, r io.Reader) io.Reader",
		"encoding/base64":  "func NewDecoder(enc *Encoding, r io.Reader) io.Reader",
		"encoding/gob":     "func NewDecoder(r io.Reader) *Decoder",
		"encoding/hex":     "func NewDecoder(r io.Reader) io.Reader",
		"encoding/json":    "func NewDecoder(r io.Reader) *Decoder",
		"encoding/xml":     "func NewDecoder(r io.Reader) *Decoder",
	}
	last := -1
	for _, row := range got.Streaming {
		if want, ok := constructors[row.Path]; ok && row.Constructor != want {
			t.Errorf("%s: constructor %q, want %q", row.Path, row.Constructor, want)
		}
		delete(constructors, row.Path)
		if !regexp.MustCompile(`^` + row.Path + `/\w+\.go:\d+$`).MatchString(row.At) {
			t.Errorf("%s: at %q", row.Path, row.At)
		}
		if last >= 0 && row.UsedBy > last {
			t.Errorf("%s: used by %d, after one that is used by %d", row.Path, row.UsedBy, last)
		}
		last = row.UsedBy
		if row.Path == "encoding/json" && row.UsedBy == 0 {
			t.Error("encoding/json: used by no package")
		}
	}
	if len(constructors) != 0 {
		t.Errorf("streaming lacks %v", constructors)
	}
}
