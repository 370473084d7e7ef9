package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "write what the example prints to testdata/output.txt")

// A test binary that has one of these in its environment is a process that a test has started.
const (
	runEnv   = "CELLMODE_DURABLE_RUN"   // the directory of the example
	cellsEnv = "CELLMODE_DURABLE_CELLS" // the directory of the cells of TestKill
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(runEnv); dir != "" {
		os.Args = []string{os.Args[0], "-dir", dir}
		flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.ExitOnError)
		main()
		os.Exit(0)
	}
	if dir := os.Getenv(cellsEnv); dir != "" {
		if err := runCells(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestRun starts the example twice, as a reader would.
func TestRun(t *testing.T) {
	const golden = "testdata/output.txt"
	dir := t.TempDir()
	var got []byte
	for i := range 2 {
		process := exec.Command(os.Args[0])
		process.Env = append(os.Environ(), runEnv+"="+dir)
		process.Stderr = os.Stderr
		out, err := process.Output()
		if killed := err != nil; killed != (i == 0) {
			t.Errorf("run %d ended with %v", i+1, err)
		}
		got = append(got, out...)
	}
	got = regexp.MustCompile(`cell_[0-9a-f]+`).ReplaceAll(got, []byte("cell_ID"))
	if *update {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the example prints (run the test with -update if that is right)\n%s", got)
	}
	payments, err := os.ReadFile(filepath.Join(dir, "payments.txt"))
	if err != nil || string(payments) != "A-17 20\nA-31 45\n" {
		t.Errorf("payments %q, %v", payments, err)
	}
}
