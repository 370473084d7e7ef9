package transcript_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/transcript"
)

// Reading a session takes the memory of a page, whatever its size; a context takes that of what the model gets.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	session := newSession(t)
	text := strings.Repeat("a long story ", 8<<10) // 104 KB
	for range 20 {
		drafts := make([]transcript.Draft, 50)
		for i := range drafts {
			drafts[i].Payload = transcript.UserText(text)
		}
		if _, err := session.AppendAll(t.Context(), drafts, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := session.Append(t.Context(), transcript.Compaction{Summary: "stories"}, nil); err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const most = 24 << 20
	before := heap()
	n := 0
	look := func(doing string) {
		if n++; n%100 == 0 {
			if grown := heap() - before; grown > most {
				t.Errorf("%s holds %d MB", doing, grown>>20)
			}
		}
	}
	for _, newest := range []bool{false, true} {
		for _, err := range session.Branch(t.Context(), &transcript.BranchOptions{NewestFirst: newest}) {
			if err != nil {
				t.Fatal(err)
			}
			look("Branch")
		}
	}
	for _, err := range session.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		look("Entries")
	}
	if err := session.Export(t.Context(), writerFunc(func(p []byte) (int, error) { look("Export"); return len(p), nil })); err != nil {
		t.Fatal(err)
	}
	made, err := session.Context(t.Context(), nil)
	if err != nil || len(made.Messages) != 1 {
		t.Fatalf("%d messages, %v", len(made.Messages), err)
	}
	if grown := heap() - before; grown > most {
		t.Errorf("after Context %d MB are held", grown>>20)
	}
	if n < 3200 {
		t.Errorf("looked %d times", n)
	}
}
