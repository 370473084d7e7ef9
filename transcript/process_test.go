package transcript_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

// A test binary that has jobEnv in its environment does that job with the database at pathEnv, instead of its tests.
const (
	jobEnv  = "CELLMODE_TRANSCRIPT_JOB"
	pathEnv = "CELLMODE_TRANSCRIPT_PATH"

	jobFailed = 3 // its exit code
)

var jobs = map[string]func(ctx context.Context, s *transcript.Store) error{
	"append": appendBatches,
	"count":  countUp,
	"delete": deletePairs,
	"index":  appendAndIndex,
	"save": func(ctx context.Context, s *transcript.Store) error {
		return s.SaveCell(ctx, newCell(strconv.Itoa(os.Getpid())))
	},
}

// doJob is the main function of a process that a test has started.
func doJob(name string) {
	ctx := context.Background()
	// The end of a process takes nothing with it, however the store is synchronised.
	s, err := transcript.Open(ctx, os.Getenv(pathEnv), &transcript.Options{Synchronous: transcript.Synchronous(rand.IntN(2))})
	if err == nil {
		err = errors.Join(jobs[name](ctx, s), s.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(jobFailed)
	}
	os.Exit(0)
}

// startJob starts a process that does a job.
func startJob(t *testing.T, name, path string) (process *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	process = exec.Command(os.Args[0])
	process.Env = append(os.Environ(), jobEnv+"="+name, pathEnv+"="+path)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return process, bufio.NewScanner(out)
}

const countedCells = 4

// countUp leases cells as it gets them, counts up in each, and prints what it has done when it is done: the cell and its
// number. The cell has a reply for each number. It ends when it is killed.
func countUp(ctx context.Context, s *transcript.Store) error {
	for {
		id := strconv.Itoa(rand.IntN(countedCells))
		cell, err := s.LeaseCell(ctx, id, time.Now().Add(200*time.Millisecond))
		if errors.Is(err, store.ErrCellLeased) {
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		number, err := strconv.ParseInt(string(cell.Data[:8]), 10, 64)
		if err != nil {
			return err
		}
		number++
		// The reply of a process that was killed before it had saved the number.
		if n := len(cell.Replies); n == 0 || cell.Replies[n-1].Call != number {
			err = s.AddReply(ctx, id, cell.Fence, store.Reply{Call: number})
			cell.Replies = append(cell.Replies, store.Reply{Call: number})
		}
		copy(cell.Data, fmt.Sprintf("%08d", number))
		cell.Leased = time.Time{}
		if err == nil {
			err = s.SaveCell(ctx, cell)
		}
		if errors.Is(err, store.ErrLeaseLost) {
			continue // it was slow, and somebody else goes on
		}
		if err != nil {
			return err
		}
		fmt.Println(id, number)
	}
}

// TestKilledProcesses lets processes hammer one database, and kills one after the other. What they have said to have done
// was done, and once; what they were doing was done or not.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	const workers = 4
	kills := 40
	if testing.Short() {
		kills = 10
	}
	path := newPath(t)
	s := open(t, path, nil)
	for i := range countedCells {
		cell := newCell(strconv.Itoa(i))
		cell.Data = append([]byte("00000000"), make([]byte, 20_000)...)
		if err := s.SaveCell(t.Context(), cell); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil { // so that the database has no process at all at times
		t.Fatal(err)
	}

	var mu sync.Mutex
	said := [countedCells]map[int64]int{{}, {}, {}, {}}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range kills / workers {
				process, lines := startJob(t, "count", path)
				// It is killed when it is at work, and at any rate after a while.
				timer := time.AfterFunc(10*time.Second, func() { process.Process.Kill() })
				for first := true; lines.Scan(); first = false {
					if first {
						timer.Reset(time.Duration(rand.IntN(200)) * time.Millisecond)
					}
					var cell int
					var number int64
					if n, _ := fmt.Sscanf(lines.Text()+"\n", "%d %d\n", &cell, &number); n == 2 {
						mu.Lock()
						said[cell][number]++
						mu.Unlock()
					}
				}
				timer.Stop()
				var exit *exec.ExitError
				if err := process.Wait(); !errors.As(err, &exit) || exit.ExitCode() == jobFailed {
					t.Errorf("a process ends with %v before it is killed", err)
				}
			}
		})
	}
	group.Wait()

	s = open(t, path, nil)
	sound(t, s)
	total, unsaid := int64(0), 0
	for i := range countedCells {
		cell, err := s.LoadCell(t.Context(), strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		number, err := strconv.ParseInt(string(cell.Data[:8]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		total += number
		for n, times := range said[i] {
			if times > 1 || n > number {
				t.Errorf("cell %d was counted up to %d %d times, and is at %d", i, n, times, number)
			}
		}
		unsaid += int(number) - len(said[i])
		// A reply is added and then its number saved: there may be one more reply than numbers.
		if n := int64(len(cell.Replies)); n != number && n != number+1 {
			t.Errorf("cell %d is at %d and has %d replies", i, number, n)
		}
		for j, reply := range cell.Replies {
			if reply.Call != int64(j+1) {
				t.Fatalf("cell %d has at %d the reply of %d", i, j, reply.Call)
			}
		}
	}
	// A process that is killed may have done one thing of which it had no time to say so.
	if unsaid > kills {
		t.Errorf("%d processes were killed, and %d numbers nobody has counted", kills, unsaid)
	}
	if total < 10 {
		t.Errorf("the processes have counted to %d together: too little to say anything", total)
	}
	t.Logf("%d kills, %d numbers, %d of them not said", kills, total, unsaid)
}

// TestProcessesMakeFile lets processes make one new file at once.
func TestProcessesMakeFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	processes := make([]*exec.Cmd, 6)
	for i := range processes {
		processes[i], _ = startJob(t, "save", path)
	}
	for _, process := range processes {
		if err := process.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, path, nil)
	sound(t, s)
	for _, process := range processes {
		if _, err := s.LoadCell(t.Context(), strconv.Itoa(process.Process.Pid)); err != nil {
			t.Error(err)
		}
	}
}
