package codemode

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// textSize is how much a text takes, in the three measures that a limit can be given in.
type textSize struct {
	bytes  int // of UTF-8
	units  int // of UTF-16: what the limits of models call characters
	weight int // see weightOf
}

func (e textSize) plus(f textSize) textSize {
	return textSize{e.bytes + f.bytes, e.units + f.units, e.weight + f.weight}
}

// ascii is the size of n characters of ASCII.
func ascii(n int) textSize { return textSize{n, n, n * rawWeight} }

// Weights are an estimate, on the safe side, of what text costs a model: four are a token. Text of tools is taken for twice
// as dense as prose, and a character of Chinese, Japanese or Korean for a token of its own.
const (
	rawWeight  = 2 // of a UTF-16 unit
	wideWeight = 4 // of a wide character
)

// isWide tells whether a character is commonly a token of its own.
func isWide(r rune) bool {
	return r >= 0x2e80 && (r <= 0xa4cf || 0xac00 <= r && r <= 0xd7ff || 0xf900 <= r && r <= 0xfaff ||
		0xfe30 <= r && r <= 0xfe4f || 0xff00 <= r && r <= 0xffef)
}

// runeSize is the size of the first character of text, n bytes long, as it stands.
func runeSize(r rune, n int) textSize {
	switch {
	case r > 0xffff:
		return textSize{n, 2, 2 * rawWeight}
	case isWide(r):
		return textSize{n, 1, wideWeight}
	}
	return textSize{n, 1, rawWeight}
}

// sizeOf is the size of a text as it stands.
func sizeOf(text []byte) (e textSize) {
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && text[i] < utf8.RuneSelf {
			i++
		}
		e = e.plus(ascii(i - start))
		if i < len(text) {
			r, n := utf8.DecodeRune(text[i:])
			e = e.plus(runeSize(r, n))
			i += n
		}
	}
	return e
}

// original is the compact JSON of something to show, or the text of an error. Of what is too large to be shown
// whole, only the start may have been kept.
type original struct {
	text []byte
	size int // bytes of the whole

	marks []mark // how far the text was measured, so that no part is measured twice
}

// mark says what the first characters of a text, end bytes, take inside of a JSON string, the quotes aside.
type mark struct {
	end int
	textSize
}

const markEvery = 4 << 10

// whole tells whether all of it was kept.
func (o *original) whole() bool { return len(o.text) == o.size }

// fit gives the longest start that takes no more than so many bytes inside of a JSON string. It splits no character.
func (o *original) fit(allowance int) mark {
	known := sort.Search(len(o.marks), func(i int) bool { return o.marks[i].bytes > allowance })
	var m, last mark
	if known > 0 {
		m = o.marks[known-1]
	}
	if len(o.marks) > 0 {
		last = o.marks[len(o.marks)-1]
	}
	for m.end < len(o.text) {
		n, e := quotedRune(o.text[m.end:])
		if m.bytes+e.bytes > allowance {
			break
		}
		m = mark{m.end + n, m.plus(e)}
		if m.end >= last.end+markEvery {
			o.marks = append(o.marks, m)
			last = m
		}
	}
	return m
}

// quotedRune is what the first character of text, n bytes long, takes inside of a JSON string as [jsontext.AppendString] writes
// it.
func quotedRune(text []byte) (n int, e textSize) {
	if c := text[0]; c < utf8.RuneSelf {
		return 1, ascii(jsontext.EncodedByteLen(c))
	}
	r, n := utf8.DecodeRune(text)
	return n, runeSize(r, utf8.RuneLen(r)) // a byte that is not UTF-8 becomes U+FFFD
}

// runeStart gives the largest index of at most i that does not split a character of s.
func runeStart[T string | []byte](s T, i int) int {
	for back := range utf8.UTFMax {
		if at := i - back; at <= 0 || at >= len(s) || utf8.RuneStart(s[at]) {
			return max(0, at)
		}
	}
	return i // not UTF-8
}

// ellipsize gives valid UTF-8 of at most n bytes, which shows where it is cut.
func ellipsize(s string, n int) string {
	const ellipsis = "…"
	cut := len(s) > n
	s = strings.ToValidUTF8(clip(s, n), "\ufffd")
	if cut || len(s) > n {
		s = clip(s, n-len(ellipsis)) + ellipsis
	}
	return s
}
