package transcript_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// asUser runs f with the rights that modes of files give. Root has more, so for root f runs as nobody, on a thread that
// then ends.
func asUser(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := syscall.Setfsuid(65534)
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		file, dir os.FileMode // 0: there is no file
		want      error
	}{
		{"no file, and none can be made", 0, 0o555, transcript.ErrCannotOpen},
		{"the file cannot be read", 0o222, 0o777, transcript.ErrCannotOpen},
		{"the file cannot be written", 0o444, 0o777, transcript.ErrReadOnly},
		{"the directory cannot be written", 0o666, 0o555, transcript.ErrReadOnly},
		{"nothing can be written", 0o444, 0o555, transcript.ErrReadOnly},
		{"the directory cannot be entered", 0o666, 0o666, transcript.ErrCannotOpen},
		{"all rights", 0o666, 0o777, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			dir := filepath.Join(top, "dir")
			path := filepath.Join(dir, "cells.db")
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if c.file != 0 {
				s := open(t, path, nil)
				if err := errors.Join(s.SaveCell(t.Context(), newCell("c")), s.Close(), os.Chmod(path, c.file)); err != nil {
					t.Fatal(err)
				}
			}
			// Others must get this far.
			if err := errors.Join(os.Chmod(filepath.Dir(top), 0o755), os.Chmod(dir, c.dir)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(dir, 0o700) })
			asUser(t, func() {
				s, err := transcript.Open(t.Context(), path, nil)
				if !errors.Is(err, c.want) {
					t.Errorf("Open gives the error %v, not one that is %v", err, c.want)
				}
				if err == nil {
					if err := errors.Join(s.SaveCell(t.Context(), newCell("d")), s.Close()); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}
