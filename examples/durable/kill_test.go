package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
	"github.com/cellmode/cellmode/transcript"
)

// What the cells of TestKill do: ten at a time in one process, each with effects one after the other, side by side, and behind
// another wait. A cell says of each effect whether it was told that it happened, or that nobody knows.
const (
	killedCells = 10
	effects     = 6

	killedProgram = `
const said = {};
const act = async (i) => {
  try { await act_once({ cell: CELL, i }); said[i] = "done"; } catch (e) { said[i] = e.effectStatus; }
};
await yield_control("start");
await act(1);
await Promise.all([act(2), look({ ms: 3 }), act(3)]);
await new Promise((resolve) => setTimeout(resolve, 5));
await act(4);
await yield_control("once more");
await act(5);
await look({ ms: 5 });
await act(6);
return said;
`
)

// appendLine adds a line to a file, in one write.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// runCells is the process that is killed: it starts the cells that are not started yet, and takes all to their end.
func runCells(dir string) error {
	ctx := context.Background()
	started, ended, done := filepath.Join(dir, "started"), filepath.Join(dir, "ended"), filepath.Join(dir, "done")
	store, err := transcript.Open(ctx, filepath.Join(dir, "cells.db"), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	catalog, err := toolcatalog.New([]*toolcatalog.Tool{
		toolcatalog.Define(toolcatalog.Spec{Name: "act_once", Effect: toolcatalog.EffectMutate}, func(_ context.Context, in struct {
			Cell int `json:"cell"`
			I    int `json:"i"`
		}) (int, error) {
			time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
			err := appendLine(done, fmt.Sprint(in.Cell, " ", in.I))
			time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
			return in.I, err
		}),
		toolcatalog.Define(toolcatalog.Spec{Name: "look", ReplaySafe: true, Effect: toolcatalog.EffectRead}, func(_ context.Context, in struct {
			MS int `json:"ms"`
		}) (int, error) {
			time.Sleep(time.Duration(in.MS) * time.Millisecond)
			return in.MS, nil
		}),
	}, nil)
	if err != nil {
		return err
	}
	runtime, err := codemode.NewRuntime(ctx, &codemode.Options{CellLease: codemode.MinCellLease})
	if err != nil {
		return err
	}
	defer runtime.Close()
	executor, err := runtime.NewExecutor(catalog, &codemode.ExecutorOptions{RunID: "run", Cells: store})
	if err != nil {
		return err
	}
	defer executor.Close()
	ids, err := entries(started)
	if err != nil {
		return err
	}
	over, err := entries(ended)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var wg sync.WaitGroup
	failures := make(chan error, killedCells)
	for i := range killedCells {
		cell := fmt.Sprint(i)
		wg.Go(func() {
			failures <- func() error {
				id := ids[cell]
				if over[cell] != "" {
					return nil
				}
				if id == "" {
					r := executor.Exec(ctx, codemode.ExecInput{Title: "act", Code: strings.ReplaceAll(killedProgram, "CELL", cell)})
					if r.Status != codemode.StatusWaiting || len(r.Warnings) > 0 {
						return fmt.Errorf("starting: %s", r.Text())
					}
					id = r.RunID
					if err := appendLine(started, cell+" "+id); err != nil {
						return err
					}
				}
				for {
					r := executor.Wait(ctx, codemode.WaitInput{RunID: id})
					switch {
					case r.Status == codemode.StatusWaiting:
					case errors.Is(r.Err(), codemode.ErrNotWaiting):
						return appendLine(ended, cell+" gone")
					case r.Err() != nil:
						return r.Err()
					default:
						return appendLine(ended, cell+" "+string(r.Value))
					}
				}
			}()
		})
	}
	wg.Wait()
	close(failures)
	for failure := range failures {
		err = errors.Join(err, failure)
	}
	return err
}

// entries reads a file of lines that start with a cell: the first one of each.
func entries(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	first := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cell, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if first[cell] == "" {
			first[cell] = rest
		}
	}
	return first, nil
}

// TestKill kills a process that runs ten cells, at a random moment, two hundred times (twenty with -short), and starts it again. Each
// effect happens at most once; a cell that was told so is right; and every cell ends, unless its result was lost with the
// process, when all of its effects are there.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 200
	if testing.Short() {
		kills = 20
	}
	var killed, rounds, unknown, gone int
	for killed < kills {
		rounds++
		dir := t.TempDir()
		for over := false; !over; {
			process := exec.Command(os.Args[0])
			process.Env = append(os.Environ(), cellsEnv+"="+dir)
			process.Stderr = os.Stderr
			out, err := process.StdoutPipe()
			if err == nil {
				err = process.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Minute, func() { _ = process.Process.Kill() })
			bufio.NewScanner(out).Scan() // it is ready
			if killed < kills {
				time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond)
				_ = process.Process.Kill()
			}
			err = process.Wait()
			if !timer.Stop() {
				t.Fatal("the process does not end")
			}
			if over = err == nil; !over {
				if killed >= kills {
					t.Fatal(err)
				}
				killed++
			}
		}
		u, g := checkCells(t, dir)
		unknown, gone = unknown+u, gone+g
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kills in %d rounds of %d cells; %d effects unknown, %d results lost", killed, rounds, killedCells, unknown, gone)
}

func checkCells(t *testing.T, dir string) (unknown, gone int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "done"))
	if err != nil {
		t.Fatal(err)
	}
	happened := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if happened[strings.TrimSpace(line)]++; happened[strings.TrimSpace(line)] > 1 {
			t.Errorf("the effect %q happened twice", line)
		}
	}
	ends, err := entries(filepath.Join(dir, "ended"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range killedCells {
		end := ends[fmt.Sprint(i)]
		said := map[string]string{}
		if end == "gone" {
			gone++
		} else if err := json.Unmarshal([]byte(end), &said); err != nil || len(said) != effects {
			t.Errorf("cell %d ended with %q", i, end)
			continue
		}
		for effect := 1; effect <= effects; effect++ {
			n := happened[fmt.Sprint(i, " ", effect)]
			switch s := said[fmt.Sprint(effect)]; {
			case s == "unknown":
				unknown++
			case s != "done" && end != "gone":
				t.Errorf("cell %d says %q of effect %d", i, s, effect)
			case n != 1 && end != "gone":
				t.Errorf("cell %d says %q of effect %d, which happened %d times", i, s, effect, n)
			}
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "cells.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check: %s, %v", verdict, err)
	}
	return unknown, gone
}
