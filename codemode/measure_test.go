package codemode

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// awkward makes strings of pieces that differ in what they take in JSON, bytes that are no UTF-8 included.
func awkward(random *rand.Rand, pieces int) string {
	alphabet := []string{"a", "<", "\"", "\\", "\n", "\b", "\f", "\x00", "\x1f", "\x7f", "é", "漢", "😀", "한", "ｱ", "\U00020000", "\u2028", "\u2029", "\ufffd", "\uffff", "\xff", "\xe2\x80", "\xf0\x9f"}
	var b strings.Builder
	for range random.IntN(pieces + 1) {
		b.WriteString(alphabet[random.IntN(len(alphabet))])
	}
	return b.String()
}

// measured is the size of a text, counted in the most obvious way.
func measured(text string) textSize {
	e := textSize{bytes: len(text), units: len(utf16.Encode([]rune(text)))}
	e.weight = 2 * e.units
	for _, r := range text {
		if strings.ContainsRune("漢한ｱ", r) {
			e.weight += 2
		}
	}
	return e
}

// What is foretold of a text inside of a JSON string is what a result has of it, for the whole and for every start.
func TestQuotedSize(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		s := awkward(random, 30)
		o := original{text: []byte(s), size: len(s)}
		for _, allowance := range []int{random.IntN(60), random.IntN(60), math.MaxInt, random.IntN(60)} {
			m := o.fit(allowance)
			_, written, _ := strings.Cut(Result{Status: StatusFailed, Error: s[:m.end]}.Text(), `"error":"`)
			if got, want := m.plus(ascii(len(`"}`))), measured(written); got != want {
				t.Fatalf("%q: %+v, want %+v", s[:m.end], got, want)
			}
			if m.bytes > allowance || m.end < len(s) && m.bytes+6 < allowance {
				t.Fatalf("%q for %d: %d of %d bytes, taking %d", s, allowance, m.end, len(s), m.bytes)
			}
		}
		if s = strings.ToValidUTF8(s, "?"); sizeOf([]byte(s)) != measured(s) {
			t.Fatalf("%q: %+v, want %+v", s, sizeOf([]byte(s)), measured(s))
		}
	}
}

// A character of Chinese, Japanese or Korean weighs as much as two others. These are the bounds of their blocks.
func TestWideCharacters(t *testing.T) {
	t.Parallel()
	for _, block := range [][2]rune{{0x2e80, 0xa4cf}, {0xac00, 0xd7ff}, {0xf900, 0xfaff}, {0xfe30, 0xfe4f}, {0xff00, 0xffef}} {
		for r, weight := range map[rune]int{block[0] - 1: 2, block[0]: 4, block[1]: 4, block[1] + 1: 2} {
			if !utf8.ValidRune(r) { // Hangul ends where the surrogates begin
				continue
			}
			want := textSize{utf8.RuneLen(r), 1, weight}
			if got := sizeOf([]byte(string(r))); got != want {
				t.Errorf("%U: %+v, want %+v", r, got, want)
			}
		}
	}
}

// Marks spare work and change nothing.
func TestFitLongText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	text := []byte(strings.Repeat(awkward(random, 100)+"plain text ", 2000))
	once := original{text: text, size: len(text)}
	for range 200 {
		allowance := random.IntN(2 * len(text))
		again := original{text: text, size: len(text)}
		if got, want := once.fit(allowance), again.fit(allowance); got != want {
			t.Fatalf("%d: %+v, and %+v when measured anew", allowance, got, want)
		}
	}
	if n := len(once.marks); n == 0 || n > len(text)/markEvery {
		t.Errorf("%d marks for %d bytes", n, len(text))
	}
}

func TestRuneStart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		s       string
		i, want int
	}{
		{"", 0, 0}, {"ab", 1, 1}, {"ab", 2, 2}, {"é", 1, 0}, {"aé", 2, 1}, {"a😀", 4, 1}, {"a😀", 5, 5}, {"a😀b", 5, 5}, {"ab\x80\x80\x80\x80\x80", 6, 6}, {"\x80\x80", 1, 0},
	} {
		if got := runeStart(test.s, test.i); got != test.want {
			t.Errorf("%q, %d: %d, want %d", test.s, test.i, got, test.want)
		}
	}
}

func TestEllipsize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 8, ""}, {"12345678", 8, "12345678"}, {"123456789", 8, "12345…"}, {"ééééé", 8, "éé…"}, {"1234é", 5, "12…"},
		{"\xff", 8, "\ufffd"}, {"\xffa\xffa\xff", 8, "\ufffda…"}, {"a\xff\xff\xff\xffb", 8, "a\ufffdb"},
	} {
		if got := ellipsize(tt.in, tt.n); got != tt.want {
			t.Errorf("%q in %d: %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

// A marker takes no more than its allowance, wastes little of it, and its numbers add up.
func TestMarker(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		text := []byte(strings.ToValidUTF8(awkward(random, 400), "?"))
		if len(text) == 0 {
			continue
		}
		// It may be a start itself.
		o := &original{text: text, size: len(text) + random.IntN(2)*random.IntN(100_000)}
		allowance := 200 + random.IntN(1000)
		prefix := o.fitMarker(allowance, outputGuidance)
		m := o.marker(outputGuidance, prefix)
		encoded, err := marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := markerSize(o.size, outputGuidance, prefix); got != measured(string(encoded)) {
			t.Fatalf("%s: %+v", encoded, got)
		}
		if len(encoded) > allowance {
			t.Fatalf("%d bytes for an allowance of %d", len(encoded), allowance)
		}
		if !strings.HasPrefix(string(text), m.Prefix) || len(m.Prefix)+m.OmittedBytes != o.size || m.OmittedBytes < 1 || !utf8.ValidString(m.Prefix) {
			t.Fatalf("a prefix of %d and %d omitted of %d", len(m.Prefix), m.OmittedBytes, o.size)
		}
		if len(m.Prefix) < len(text)-utf8.UTFMax && len(encoded) < allowance-7 {
			t.Fatalf("%d of %d bytes are free", allowance-len(encoded), allowance)
		}
	}
}

// The bytes that a shorter number leaves go to the prefix.
func TestMarkerUsesDigits(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("x", 1005))
	o := &original{text: text, size: len(text)}
	for allowance := emptyMarker(o.size, outputGuidance); allowance < 1100; allowance++ {
		m := o.fitMarker(allowance, outputGuidance)
		size := markerSize(o.size, outputGuidance, m).bytes
		longer := mark{end: m.end + 1, textSize: m.plus(ascii(1))}
		if size > allowance || longer.end < o.size && markerSize(o.size, outputGuidance, longer).bytes <= allowance {
			t.Errorf("%d bytes for an allowance of %d, and one more would take %d", size, allowance, markerSize(o.size, outputGuidance, longer).bytes)
		}
	}
}

// A cut error keeps its start and says that it was cut.
func TestTruncateError(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		given := awkward(random, 300)
		if random.IntN(5) == 0 { // whole characters end in front of the limit
			given = strings.Repeat("😀", 200)
		}
		s := strings.ToValidUTF8(given, "\ufffd")
		allowance := 50 + random.IntN(500)
		got := truncateError(given, allowance)
		if jsontext.EncodedLen(s) <= allowance {
			if got != s {
				t.Fatalf("%q was cut to %q", s, got)
			}
			continue
		}
		start, ok := strings.CutSuffix(got, " [error truncated]")
		if !ok || !strings.HasPrefix(s, start) {
			t.Fatalf("%q is no start of %q", got, s)
		}
		if n := jsontext.EncodedLen(got); n > allowance || n < allowance-6 {
			t.Fatalf("%d bytes for an allowance of %d", n, allowance)
		}
	}
}
