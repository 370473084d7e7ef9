package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write what the example prints to testdata/output.txt")

// TestMain is also the main function of the processes that the example starts.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-writer") {
		flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.ExitOnError)
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	const golden = "testdata/output.txt"
	var out bytes.Buffer
	if err := run(t.Context(), &out, filepath.Join(t.TempDir(), "sessions.db")); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the example prints (run the test with -update if that is right)\n%s", out.String())
	}
}
