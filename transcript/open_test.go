package transcript_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

// run runs statements on the database at a path, as another program would.
func run(tb testing.TB, path string, statements ...string) {
	tb.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestOpenOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "a?mode=ro", "a#b", "a%20b", "é😀.db", "a&b=c;d", "file:x", "'"} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, `?:'`) {
			continue
		}
		path := filepath.Join(t.TempDir(), name)
		s := open(t, path, nil)
		if err := s.SaveCell(t.Context(), newCell("c")); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 3 || entries[0].Name() != name {
			t.Errorf("%q: the directory has %v (%v)", name, entries, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
			t.Errorf("%q: after Close the directory has %v (%v)", name, entries, err)
		}
	}
}

func TestOpenRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	s := open(t, "cells.db", nil)
	t.Chdir(t.TempDir()) // the store stays where it was
	if err := s.SaveCell(t.Context(), newCell("c")); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 0 {
		t.Errorf("the other directory has %v (%v)", entries, err)
	}
}

func TestFileModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	modes := func(path string, want os.FileMode) {
		t.Helper()
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if info, err := os.Stat(path + suffix); err != nil || info.Mode() != want {
				t.Errorf("%q%s has the mode %v, not %v (%v)", filepath.Base(path), suffix, info.Mode(), want, err)
			}
		}
	}
	path := newPath(t)
	open(t, path, nil)
	modes(path, 0o600)
	path = newPath(t)
	if err := os.WriteFile(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil { // whatever the umask
		t.Fatal(err)
	}
	open(t, path, nil) // a file of no bytes is an empty database
	modes(path, 0o640)
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	whole := newPath(t)
	s := open(t, whole, nil)
	if err := s.SaveCell(t.Context(), newCell("c")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	database, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	content := func(text []byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	statements := func(statements ...string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) { run(t, path, statements...) }
	}
	header := bytes.Clone(database)
	clear(header[:16])
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want error
	}{
		{"text", content([]byte("# Notes\nThis is no database.\n")), transcript.ErrNotStore},
		{"two bytes", content([]byte{0, 0}), transcript.ErrNotStore},
		{"much text", content(bytes.Repeat([]byte("no database "), 10_000)), transcript.ErrNotStore},
		{"no header", content(header), transcript.ErrNotStore},
		{"another program's", statements("CREATE TABLE users (id)"), transcript.ErrNotStore},
		{"another program's mark", statements("PRAGMA application_id = 77"), transcript.ErrNotStore},
		{"another program's version", statements("PRAGMA user_version = 1"), transcript.ErrNotStore},
		{"newer", func(t *testing.T, path string) {
			content(database)(t, path)
			run(t, path, "PRAGMA user_version = 1000")
		}, transcript.ErrNewerVersion},
		{"newer without WAL", func(t *testing.T, path string) {
			content(database)(t, path)
			run(t, path, "PRAGMA journal_mode = DELETE", "PRAGMA user_version = 1000")
		}, transcript.ErrNewerVersion},
		{"half", content(database[:len(database)/2/4096*4096]), transcript.ErrDamaged},
		{"half a page", content(database[:2000]), transcript.ErrDamaged},
		{"a version without its tables", content(func() []byte {
			path := newPath(t)
			s := open(t, path, nil)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			run(t, path, "DROP TABLE cell_replies")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}()), transcript.ErrDamaged},
		{"a directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, transcript.ErrCannotOpen},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			c.make(t, path)
			before, _ := os.ReadFile(path)
			s, err := transcript.Open(t.Context(), path, nil)
			if !errors.Is(err, c.want) {
				t.Errorf("Open gives the error %v, not one that is %q", err, c.want)
			}
			if err == nil {
				s.Close()
			} else if t.Log(err); !strings.Contains(err.Error(), "cells.db") {
				t.Errorf("the error does not name the file: %v", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was altered")
			}
			if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
				t.Errorf("the directory has %v (%v)", entries, err)
			}
		})
	}
}

func TestOpenBadPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"", "a\x00b", filepath.Join(dir, "missing", "cells.db"), filepath.Join(dir, strings.Repeat("x", 5000))} {
		if _, err := transcript.Open(t.Context(), path, nil); !errors.Is(err, transcript.ErrCannotOpen) {
			t.Errorf("Open of %.40q gives the error %v", path, err)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := transcript.Open(done, newPath(t), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a cancelled context gives the error %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("there are %v (%v)", entries, err)
	}
}

// TestOpenAtOnce makes one new file many times at once.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		path := newPath(t)
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				s, err := transcript.Open(t.Context(), path, nil)
				if err == nil {
					err = errors.Join(s.SaveCell(t.Context(), newCell(fmt.Sprint(i))), s.Close())
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		s := open(t, path, nil)
		for i := range 8 {
			if _, err := s.LoadCell(t.Context(), fmt.Sprint(i)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestReopen(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, nil)
	if err := s.SaveCell(t.Context(), newCell("c")); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		cell, err := s.LeaseCell(t.Context(), "c", time.Now())
		if err != nil || string(cell.Data) != "data of c" || cell.Fence != int64(i+2) || len(cell.Replies) != i {
			t.Fatalf("after %d closings: %+v, %v", i, cell, err)
		}
		if err := s.AddReply(t.Context(), "c", cell.Fence, store.Reply{Call: int64(i)}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path, &transcript.Options{Synchronous: transcript.Synchronous(i % 2)})
	}
}

func TestMemoryIsApart(t *testing.T) {
	t.Parallel()
	a, b := open(t, ":memory:", nil), open(t, ":memory:", nil)
	if err := a.SaveCell(t.Context(), newCell("c")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.LoadCell(t.Context(), "c"); !errors.Is(err, store.ErrUnknownCell) {
		t.Errorf("another store in memory: %v", err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), nil)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for n := 0; ; n++ {
				if err := s.SaveCell(t.Context(), newCell(fmt.Sprint(i, "-", n))); err != nil {
					if !errors.Is(err, transcript.ErrClosed) {
						t.Errorf("SaveCell during Close: %v", err)
					}
					return
				}
			}
		})
	}
	time.Sleep(10 * time.Millisecond)
	for range 2 {
		group.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	_, err := s.LoadCell(t.Context(), "c")
	if !errors.Is(err, transcript.ErrClosed) {
		t.Errorf("LoadCell after Close: %v", err)
	}
}
