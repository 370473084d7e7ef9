package codemode

import (
	"math"
	"strconv"
	"strings"

	"github.com/cellmode/cellmode/internal/jsontext"
)

const outputGuidance = "output truncated: run it again with narrower arguments, or return a smaller projection"

// markerSize is what the marker takes for an original of size bytes, of which it shows a prefix.
func markerSize(size int, guidance string, prefix mark) textSize {
	const frame = `{"truncated":true,"omittedBytes":,"guidance":,"prefix":""}`
	return prefix.plus(ascii(len(frame) + digits(size-prefix.end) + jsontext.EncodedLen(guidance)))
}

// emptyMarker is the size of a marker without a prefix.
func emptyMarker(size int, guidance string) int { return markerSize(size, guidance, mark{}).bytes }

// minOutputMarker is the size of the smallest output that is cut.
func minOutputMarker(size int) int { return 2 + emptyMarker(size, outputGuidance) }

func digits(n int) int { return len(strconv.Itoa(n)) }

// fitMarker gives the longest prefix with which a marker takes no more than allowance bytes. That may be none, but never all.
func (o *original) fitMarker(allowance int, guidance string) mark {
	allowance -= emptyMarker(o.size, guidance)
	m := o.fit(allowance)
	for saved := 1; saved < digits(o.size); saved++ { // what the prefix shows is not omitted: a smaller number
		longer := o.fit(allowance + saved)
		if digits(o.size-longer.end) > digits(o.size)-saved {
			break
		}
		m = longer
	}
	if m.end == o.size {
		m = o.fit(m.bytes - 1)
	}
	return m
}

// marker stands for an original of which a prefix is shown.
func (o *original) marker(guidance string, prefix mark) *Truncation {
	return &Truncation{Truncated: true, OmittedBytes: o.size - prefix.end, Guidance: guidance, Prefix: string(o.text[:prefix.end])}
}

const errorSuffix = " [error truncated]"

// errorOriginal keeps as much of an error as limit bytes can show. What is not UTF-8 in it, as the texts of the host's own errors may
// have it, becomes U+FFFD.
func errorOriginal(s string, limit int) *original {
	s = strings.ToValidUTF8(s, "\ufffd")
	return &original{text: []byte(clip(s, limit)), size: len(s)}
}

// fitError gives as much of an error text as takes, with the suffix if it has to be cut, no more than allowance bytes as a JSON
// string. Its start is kept: that is where the cause stands.
func (o *original) fitError(allowance int) (m mark, cut bool) {
	if o.whole() {
		if m = o.fit(math.MaxInt); m.bytes <= max(allowance-2, len(errorSuffix)) {
			return m, false
		}
	}
	return o.fit(allowance - 2 - len(errorSuffix)), true
}

// truncateError cuts a failure text so that it takes no more than allowance bytes as a JSON string.
func truncateError(s string, allowance int) string {
	o := errorOriginal(s, allowance)
	return o.errorText(o.fitError(allowance))
}

func (o *original) errorText(m mark, cut bool) string {
	if cut {
		return string(o.text[:m.end]) + errorSuffix
	}
	return string(o.text)
}
