package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/internal/corpus"
	"github.com/cellmode/cellmode/internal/fixture"
	"github.com/cellmode/cellmode/toolcatalog"
)

// engineDifferences are the cells in which the engine truly differs from V8, by
// number. A cell that passes all the same must leave the list.
var engineDifferences = map[int]string{
	70:  "captures inside a repeated group are not reset for each repetition",
	73:  "set operations in classes of a regular expression with the flag v match nothing",
	271: "captures inside a repeated group are not reset for each repetition",
}

// newCorpusExecutor makes a runtime and an executor over tools and closes both with t.
func newCorpusExecutor(t *testing.T, opts *codemode.Options, tools []*toolcatalog.Tool) *codemode.Executor {
	t.Helper()
	runtime, err := codemode.NewRuntime(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runtime.Close(); err != nil {
			t.Errorf("closing the runtime: %v", err)
		}
	})
	catalog, err := toolcatalog.New(tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	executor, err := runtime.NewExecutor(catalog, &codemode.ExecutorOptions{SessionID: "corpus", Store: codemode.NewMemoryStore()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := executor.Close(); err != nil {
			t.Errorf("closing the executor: %v", err)
		}
	})
	return executor
}

// TestCells runs every program of testdata/cells and compares with what V8 gave.
func TestCells(t *testing.T) {
	t.Parallel()
	cells, err := corpus.LoadCells(os.DirFS("../testdata/cells/cells"))
	if err != nil {
		t.Fatal(err)
	}
	executor := newCorpusExecutor(t, nil, fixture.Tools())
	// The group returns when all cells have ended, so that the runtime is not
	// closed under them.
	t.Run("all", func(t *testing.T) {
		for _, cell := range cells {
			t.Run(cell.Name, func(t *testing.T) {
				t.Parallel()
				result := executor.Exec(t.Context(), codemode.ExecInput{Title: cell.Title, Code: cell.Code})
				var emitted []codemode.Output
				for result.Status == codemode.StatusWaiting {
					emitted = append(emitted, result.Output...)
					result = executor.Wait(t.Context(), codemode.WaitInput{RunID: result.RunID})
				}
				result.Output = append(emitted, result.Output...)
				err := cell.Check(outcome(t, result))
				why, listed := engineDifferences[cell.Number]
				switch {
				case listed && err == nil:
					t.Errorf("passes: take it off the list, where it says: %s", why)
				case listed:
					t.Skip(why)
				case err != nil:
					t.Error(err)
				}
			})
		}
	})
}

func outcome(t *testing.T, result codemode.Result) corpus.Outcome {
	t.Helper()
	o := corpus.Outcome{Status: string(result.Status), Value: result.Value, Error: result.Error}
	for _, item := range result.Output {
		text, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		o.Output = append(o.Output, text)
	}
	return o
}

// otherEndings are endings of hostile programs that their first line does not
// know, most of them because something in front of the engine acts first.
var otherEndings = map[string]struct {
	class corpus.Class
	why   string
	value string // of an ending with a value
}{
	"075-microtask-then-recursion":     {corpus.Memory, "a fast machine fills the memory before the deadline", ""},
	"086-promise-finally-recursion":    {corpus.Memory, "a fast machine fills the memory before the deadline", ""},
	"191-return-hostile-tostring":      {corpus.Value, "a result is copied without calling its toString", "{}"},
	"194-return-proxy-tojson":          {corpus.Value, "a result is copied without reading properties that it does not list", "{}"},
	"534-esc-import-std":               {corpus.Error, "module access is refused before the program runs", ""},
	"535-esc-import-os":                {corpus.Error, "module access is refused before the program runs", ""},
	"537-esc-import-file":              {corpus.Error, "module access is refused before the program runs", ""},
	"538-esc-import-url":               {corpus.Error, "module access is refused before the program runs", ""},
	"541-esc-import-hostile-specifier": {corpus.Error, "module access is refused before the program runs", ""},
	"550-esc-require":                  {corpus.Error, "module access is refused before the program runs", ""},
}

const (
	hostileTimeout = 500 * time.Millisecond
	hostileMemory  = 32 << 20
	// mostOvershoot is how long after its deadline a program may hold the host. The
	// engine needs 20 ms; the rest is for a machine that has other work to do.
	mostOvershoot = 250 * time.Millisecond
	// shortStep is how many programs there are for each that go test -short runs: all
	// of them take a minute, because most hold the host until their deadline.
	shortStep = 9
)

// TestHostile runs every program of testdata/hostile; with -short, one of nine.
func TestHostile(t *testing.T) {
	t.Parallel()
	programs, err := corpus.LoadPrograms(os.DirFS("../testdata/hostile"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHostileRun(t)
	t.Run("all", func(t *testing.T) {
		for i, p := range programs {
			if testing.Short() && i%shortStep != 0 {
				continue
			}
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				h.check(t, &p)
			})
		}
	})
	h.report(t)
}

// TestHostileGenerated runs the programs of which the source itself is the attack.
func TestHostileGenerated(t *testing.T) {
	t.Parallel()
	h := newHostileRun(t)
	i := -1
	for p := range corpus.Generate() {
		if i++; testing.Short() && i%shortStep != 0 {
			continue
		}
		t.Run(p.Name, func(t *testing.T) { h.check(t, &p) })
	}
	h.report(t)
}

// TestHostileStateIsNotSeen runs the program that plants state and then, over and
// over on the same runtime, the one that looks for it.
func TestHostileStateIsNotSeen(t *testing.T) {
	t.Parallel()
	programs, err := corpus.LoadPrograms(os.DirFS("../testdata/hostile"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHostileRun(t)
	byName := map[string]*corpus.Program{}
	for i := range programs {
		byName[programs[i].Name] = &programs[i]
	}
	for range 5 {
		for _, name := range []string{"622-esc-state-plant", "621-esc-state-from-last-cell"} {
			p := byName[name]
			if p == nil {
				t.Fatalf("no program %s", name)
			}
			h.check(t, p)
		}
	}
}

// TestHostileRandomDiffers: every cell has random numbers of its own.
func TestHostileRandomDiffers(t *testing.T) {
	t.Parallel()
	h := newHostileRun(t)
	seen := map[string]bool{}
	for range 20 {
		value := string(h.exec(t, "return [Math.random(), Math.random()];").Value)
		if seen[value] {
			t.Errorf("two cells got the random numbers %s", value)
		}
		seen[value] = true
	}
}

// A hostileRun runs programs on one runtime.
type hostileRun struct {
	executor *codemode.Executor
	alone    sync.RWMutex // held for reading by programs that may run beside others

	mu      sync.Mutex
	endings map[corpus.Class]int
	longest time.Duration // past the deadline
	slowest string
}

func newHostileRun(t *testing.T) *hostileRun {
	return &hostileRun{
		executor: newCorpusExecutor(t, &codemode.Options{Timeout: hostileTimeout, MemoryLimitBytes: hostileMemory}, nil),
		endings:  map[corpus.Class]int{},
	}
}

func (h *hostileRun) exec(t *testing.T, code string) codemode.Result {
	return h.executor.Exec(t.Context(), codemode.ExecInput{Title: "hostile", Code: code})
}

// check runs p, judges how it ended and how long it took, and then runs an honest
// cell on the same runtime. What a busy machine may have caused (a timeout, or a
// late one) counts only if it happens again, three times, with no other program of
// this test beside it.
func (h *hostileRun) check(t *testing.T, p *corpus.Program) {
	h.alone.RLock()
	overshoot, class, result, err := h.attempt(t, p)
	h.alone.RUnlock()
	for range 3 {
		if err == nil || class != corpus.Timeout {
			break
		}
		h.alone.Lock()
		overshoot, class, result, err = h.attempt(t, p)
		h.alone.Unlock()
	}
	if err != nil {
		t.Errorf("%s: %v: %s", p.Why, err, describe(result))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endings[class]++
	if overshoot > h.longest {
		h.longest, h.slowest = overshoot, p.Name
	}
}

func (h *hostileRun) attempt(t *testing.T, p *corpus.Program) (overshoot time.Duration, class corpus.Class, result codemode.Result, err error) {
	start := time.Now()
	result = h.exec(t, p.Code)
	overshoot = time.Since(start) - hostileTimeout
	class, ok := judge(p, result)
	if !ok {
		err = fmt.Errorf("ended as %s, want %s", class, p.Expectation())
	} else if overshoot > mostOvershoot {
		err = fmt.Errorf("held the host for %v past its deadline", overshoot)
	}
	if next := h.exec(t, "return 1 + 1"); next.Status != codemode.StatusCompleted || string(next.Value) != "2" {
		t.Errorf("the next cell: %s", describe(next))
	}
	return overshoot, class, result, err
}

// judge classifies a result and reports whether the program accepts that.
func judge(p *corpus.Program, result codemode.Result) (class corpus.Class, ok bool) {
	err := result.Err()
	switch {
	case result.Status == codemode.StatusCompleted:
		class, ok = corpus.Value, p.AcceptsValue(result.Value)
	case errors.Is(err, context.DeadlineExceeded):
		class = corpus.Timeout
	case errors.Is(err, codemode.ErrMemoryLimit):
		class = corpus.Memory
	case errors.Is(err, codemode.ErrStackLimit):
		class = corpus.Stack
	case result.Status == codemode.StatusFailed:
		class = corpus.Error
	}
	other := otherEndings[p.Name]
	return class, ok || p.AcceptsFailure(class) || other.class == class && other.value == string(result.Value)
}

func describe(result codemode.Result) string {
	text := string(result.Value)
	if result.Status != codemode.StatusCompleted {
		text = string(result.Code) + " " + result.Error
	}
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "..."
	}
	return fmt.Sprintf("%s %s", result.Status, text)
}

func (h *hostileRun) report(t *testing.T) {
	t.Logf("endings %v, longest overshoot %v (%s)", h.endings, h.longest.Round(time.Millisecond), h.slowest)
}
