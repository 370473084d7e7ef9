package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/codemode"
)

// cellFaults are the faults and the rules that see them, by the start of their names.
var cellFaults = []struct {
	fault string
	fails []string
}{
	{"an unknown cell is empty", []string{"an unknown cell"}},
	{"writes to an unknown cell say so", []string{"an unknown cell", "a deleted cell"}},
	{"a save under a lease makes the cell", []string{"an unknown cell", "a deleted cell"}},
	{"a cell can be deleted twice", []string{"an unknown cell", "a deleted cell"}},
	{"a lost lease is any error", []string{"who has lost", "cells are apart"}},

	{"a new cell has fence 0", []string{"a new cell"}},
	{"a new cell is free", []string{"a new cell"}},
	{"a new cell replaces another", []string{"an id that is taken"}},

	{"data is text", []string{"cells are kept"}},
	{"data ends at 64 KiB", []string{"cells are kept", "a cell may be large"}},
	{"data ends at 8 MiB", []string{"a cell may be large"}},
	{"runs and sessions end at NUL", []string{"cells are kept"}},
	{"calls have 32 bits", []string{"cells are kept"}},
	{"times have seconds", []string{"times are kept"}},
	{"times have milliseconds", []string{"times are kept"}},
	{"times lose their zone", []string{"times are kept"}},
	{"nobody's lease ended in 1970", []string{"times are kept"}},
	{"ids have no case", []string{"ids are kept"}},
	{"ids are trimmed", []string{"ids are kept", "an unknown cell"}},
	{"ids end at NUL", []string{"ids are kept"}},
	{"ids are made valid", []string{"ids are kept"}},
	{"ids are cut", []string{"ids are kept"}},

	{"saves keep the run", []string{"a save replaces"}},
	{"saves keep the expiry", []string{"a save replaces", "an expired cell", "a leased cell"}},
	{"saves keep the lease", []string{"a save replaces", "a lease can be given back"}},
	{"saves do not give a lease back", []string{"a save replaces", "a lease can be given back"}},
	{"saves add their replies", []string{"a save replaces", "replies are kept"}},
	{"saves without replies keep them", []string{"a save replaces", "a cell may be large"}},
	{"saves keep longer data", []string{"a save replaces", "a cell may be large"}},

	{"replies are sorted", []string{"replies are kept"}},
	{"replies are newest first", []string{"replies are kept"}},
	{"a call has one reply", []string{"replies are kept"}},

	{"everybody gets a lease", []string{"a lease is given to one", "of parallel leases", "a new cell", "a leased cell"}},
	{"a refused lease counts", []string{"a lease is given to one"}},
	{"leases do not count", []string{"a lease is given to one"}},
	{"leases are not kept", []string{"a lease is given to one"}},
	{"a lease gives the cell as it was", []string{"a lease is given to one"}},
	{"a lease gives no replies", []string{"a lease is given to one", "replies are kept"}},
	{"leases cannot be given back", []string{"a lease can be given back"}},
	{"leases do not end", []string{"a lease ends", "cells expire"}},
	{"leases are not renewed", []string{"a lease can be moved", "a lease ends"}},
	{"leases only grow", []string{"a lease can be moved"}},
	{"leases that have ended are not renewed", []string{"a lease can be moved", "an owner may write"}},
	{"writing ends with the lease", []string{"an owner may write"}},
	{"writing ends when the lease is given back", []string{"an owner may write"}},

	{"SaveCell has no fence", []string{"who has lost"}},
	{"AddReply has no fence", []string{"who has lost"}},
	{"RenewLease has no fence", []string{"who has lost"}},
	{"DeleteCell has no fence", []string{"who has lost"}},
	{"old leases may write", []string{"who has lost"}},
	{"leases that are not given yet may write", []string{"who has lost"}},
	{"the sign of a fence does not count", []string{"who has lost"}},
	{"a reply that is refused is added", []string{"who has lost"}},

	{"nothing expires", []string{"an expired cell", "cells expire"}},
	{"expired cells can be loaded", []string{"an expired cell", "a leased cell"}},
	{"expired cells can be leased", []string{"an expired cell", "a leased cell"}},
	{"expired cells hold their ids", []string{"an expired cell"}},
	{"leases that have ended keep their cells", []string{"an expired cell"}},
	{"leased cells expire", []string{"a leased cell"}},
	{"expired cells cannot be written", []string{"a leased cell"}},
	{"expired cells are removed with their leases", []string{"a leased cell"}},
	{"cells expire early", []string{"cells expire"}},
	{"leases end early", []string{"cells expire"}},

	{"nothing is deleted", []string{"a deleted cell", "an owner may write"}},
	{"deleted cells can be leased", []string{"a deleted cell"}},
	{"replies outlast their cells", []string{"a deleted cell", "an expired cell"}},
	{"fences outlast their cells", []string{"a deleted cell", "an expired cell"}},

	{"deleting takes all cells", []string{"cells are apart", "ids are kept"}},
	{"replies go to all cells", []string{"cells are apart"}},
	{"one lease holds all cells", []string{"cells are apart", "ids are kept"}},
	{"fences are counted for all cells together", []string{"cells are apart", "ids are kept"}},

	{"a cell that is saved shares its data", []string{"what is saved"}},
	{"a cell that is saved shares its replies", []string{"what is saved"}},
	{"a reply that is added shares its data", []string{"what is saved"}},
	{"what is saved is emptied", []string{"what is saved"}},
	{"what is given has the data of the store", []string{"cells that are given"}},
	{"what is given has the replies of the store", []string{"cells that are given"}},

	{"leases are looked at before they are given", []string{"of parallel leases", "parallel owners"}},
	{"replies are written back", []string{"parallel replies"}},
	{"saves have two steps", []string{"a load never sees"}},

	{"LoadCell ignores contexts", []string{"a done context"}},
	{"LeaseCell ignores contexts", []string{"a done context"}},
	{"SaveCell ignores contexts", []string{"a done context"}},
	{"AddReply ignores contexts", []string{"a done context"}},
	{"RenewLease ignores contexts", []string{"a done context"}},
	{"DeleteCell ignores contexts", []string{"a done context"}},
	{"contexts are looked at when all is done", []string{"a done context"}},
	{"a done context is the end", []string{"a done context"}},
	{"a done context is some error", []string{"a done context"}},
	{"contexts end a save in the middle", []string{"a context that ends"}},
	{"saves may be late", []string{"a context that ends"}},
}

// TestBrokenCells breaks each rule of cells, so that none of them is a rule that cannot fail.
func TestBrokenCells(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range cellFaults {
		for _, start := range f.fails {
			at := slices.IndexFunc(cellRules, func(r rule[codemode.CellStore]) bool { return strings.HasPrefix(r.name, start) })
			if at < 0 {
				t.Fatalf("no rule is called %q", start)
			}
			r := cellRules[at]
			seen[r.name] = true
			t.Run(f.fault+"/"+start, func(t *testing.T) {
				t.Parallel()
				if err := r.check(t.Context(), &brokenCells{fault: f.fault}); err == nil {
					t.Errorf("the rule that %s does not see it", r.name)
				} else {
					t.Log(err)
				}
			})
		}
	}
	for _, r := range cellRules {
		if !seen[r.name] {
			t.Errorf("no store breaks the rule that %s", r.name)
		}
	}
}

// TestSoundCells holds the broken stores to be right but for their faults.
func TestSoundCells(t *testing.T) {
	t.Parallel()
	TestCellStore(t, func(*testing.T) codemode.CellStore { return new(brokenCells) })
}

// TestHandlesApart breaks the rule that handles of one store see the same.
func TestHandlesApart(t *testing.T) {
	t.Parallel()
	for _, r := range cellRules {
		if r.name == "a new cell has fence 1" || r.name == "of parallel leases one is given" {
			if err := r.check(t.Context(), &inTurn{handles: []codemode.CellStore{new(brokenCells), new(brokenCells)}}); err == nil {
				t.Errorf("the rule that %s does not see that two handles are of two stores", r.name)
			}
		}
	}
}
