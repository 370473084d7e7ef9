package corpus

import (
	"strconv"
	"strings"
	"testing"
)

func TestGenerate(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var whole Program
	for p := range Generate() {
		if seen[p.Name] {
			t.Errorf("%s: a second program of that name", p.Name)
		}
		seen[p.Name] = true
		least := 100_000 // of a list: an entry is one byte at least
		switch kind, _, _ := strings.Cut(p.Name, "-"); kind {
		case "token":
			least = 1_000_000
		case "nest":
			fields := strings.Split(strings.TrimSuffix(p.Name, "-broken"), "-")
			depth, err := strconv.Atoi(fields[len(fields)-1])
			if err != nil {
				t.Errorf("%s: the name must end in the depth: %v", p.Name, err)
			}
			least = depth
		}
		if len(p.Code) < least || len(p.Code) > 10<<20 {
			t.Errorf("%s: has %d bytes", p.Name, len(p.Code))
		}
		if name, broken := strings.CutSuffix(p.Name, "-broken"); broken {
			if name != whole.Name || p.Code != whole.Code+brokenEnd {
				t.Errorf("%s: is not %s with a broken end", p.Name, whole.Name)
			}
			if p.AcceptsValue([]byte("1")) || !p.AcceptsFailure(Error) {
				t.Errorf("%s: accepts %s, want no value but an error", p.Name, p.Expectation())
			}
			continue
		}
		whole = p
		if len(p.Accept) == 0 || p.Accept[0].Class != Value || !p.AcceptsFailure(Timeout) {
			t.Errorf("%s: accepts %s", p.Name, p.Expectation())
		}
	}
	if len(seen) < 200 {
		t.Errorf("got %d programs, want 200 at least", len(seen))
	}
}

func TestGenerateStops(t *testing.T) {
	t.Parallel()
	n := 0
	for p := range Generate() {
		if n++; strings.HasSuffix(p.Name, "-broken") {
			break
		}
	}
	if n != 2 {
		t.Errorf("got %d programs before the first broken one ended the loop", n)
	}
}
