package codemode

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// awkward makes strings of pieces that differ in what they take in JSON, bytes that are no UTF-8 included.
func awkward(random *rand.Rand, pieces int) string {
	alphabet := []string{"a", "<", "\"", "\\", "\n", "\b", "\f", "\x00", "\x1f", "\x7f", "é", "漢", "😀", "\u2028", "\u2029", "\ufffd", "\xff", "\xe2\x80", "\xf0\x9f"}
	var b strings.Builder
	for range random.IntN(pieces + 1) {
		b.WriteString(alphabet[random.IntN(len(alphabet))])
	}
	return b.String()
}

// What encodedSize foretells is what marshal writes.
func TestEncodedSize(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		s := awkward(random, 30)
		text, err := marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := encodedSize(s); got != len(text) {
			t.Fatalf("%q: %d, want %d", s, got, len(text))
		}
	}
}

// A marker takes no more than its allowance, wastes little of it, and its numbers add up.
func TestTruncate(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		text := []byte(strings.ToValidUTF8(awkward(random, 400), "?"))
		if len(text) == 0 {
			continue
		}
		size := len(text) + random.IntN(2)*random.IntN(100_000) // the text may be a prefix itself
		allowance := 200 + random.IntN(1000)
		m := truncate(text, size, allowance)
		encoded, err := marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(encoded) > allowance {
			t.Fatalf("%d bytes for an allowance of %d", len(encoded), allowance)
		}
		if !strings.HasPrefix(string(text), m.Prefix) || len(m.Prefix)+m.OmittedBytes != size || m.OmittedBytes < 1 || !utf8.ValidString(m.Prefix) {
			t.Fatalf("a prefix of %d and %d omitted of %d", len(m.Prefix), m.OmittedBytes, size)
		}
		if len(m.Prefix) < len(text)-utf8.UTFMax && len(encoded) < allowance-10 {
			t.Fatalf("%d of %d bytes are free", allowance-len(encoded), allowance)
		}
	}
}

// A cut error keeps its start and says that it was cut.
func TestTruncateError(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		s := awkward(random, 300)
		allowance := 50 + random.IntN(500)
		got := truncateError(s, allowance)
		if encodedSize(s) <= allowance {
			if got != s {
				t.Fatalf("%q was cut to %q", s, got)
			}
			continue
		}
		start, ok := strings.CutSuffix(got, " [error truncated]")
		if !ok || !strings.HasPrefix(s, start) {
			t.Fatalf("%q is no start of %q", got, s)
		}
		if n := encodedSize(got); n > allowance || n < allowance-6 {
			t.Fatalf("%d bytes for an allowance of %d", n, allowance)
		}
	}
}
