package declgen

import (
	"strings"
	"unicode"

	"github.com/cellmode/cellmode/schema"
)

// Bounds of comments.
const (
	toolDocLines      = 40
	toolDocUnits      = 3_000
	docLines          = 12
	docUnits          = 600
	maxDefaultUnits   = 120
	maxFormatUnits    = 40
	maxExamples       = 3
	maxExampleUnits   = 1_000
	readablePerUnit   = 4 // bytes of a description that are read for each unit that is shown
	continuationMark  = "…"
	commentEnd        = "*/"
	commentEndDefused = `*\/`
)

// doc is what a comment says about a type.
type doc struct {
	text       string // a description, cut but not cleaned
	fallback   string // the default, as an expression
	format     string
	deprecated bool
}

// docOf reads the annotations of a schema. Without a description of its own, it is described by what it refers to.
func docOf(v schema.View) doc {
	var d doc
	for _, source := range []func() (schema.View, bool){func() (schema.View, bool) { return v, true }, v.Ref} {
		if described, ok := source(); ok && d.text == "" {
			text, _ := described.Get("description")
			d.text = cut(text.Str(), readablePerUnit*docUnits)
		}
	}
	if value, ok := v.Get("default"); ok {
		if text, short := defaultValue(value, maxDefaultUnits); short {
			d.fallback = text
		}
	}
	if format, _ := v.Get("format"); unitsOf(format.Str()) <= maxFormatUnits {
		d.format = format.Str()
	}
	deprecated, _ := v.Get("deprecated")
	d.deprecated = deprecated.IsTrue()
	return d
}

// or completes d by what another doc of the same thing says.
func (d doc) or(other doc) doc {
	if d.text == "" {
		d.text = other.text
	}
	if d.fallback == "" {
		d.fallback = other.fallback
	}
	if d.format == "" {
		d.format = other.format
	}
	d.deprecated = d.deprecated || other.deprecated
	return d
}

// comment renders d, indented, or "" if it says nothing.
func (d doc) comment(indent string) string {
	lines := textLines(d.text, docLines, docUnits)
	if d.fallback != "" {
		lines = append(lines, "@default "+oneLine(d.fallback))
	}
	if d.format != "" {
		lines = append(lines, "@format "+oneLine(d.format))
	}
	if d.deprecated {
		lines = append(lines, "@deprecated")
	}
	return comment(lines, indent)
}

// comment renders lines as a JSDoc comment that nothing in them can end.
func comment(lines []string, indent string) string {
	if len(lines) == 0 {
		return ""
	}
	// On the last line of a comment, @ts-ignore and its like are directives to the compiler.
	oneLine := len(lines) == 1 && !strings.HasPrefix(lines[0], "@ts-")
	var b strings.Builder
	b.WriteString(indent + "/**")
	for _, line := range lines {
		line = strings.ReplaceAll(line, commentEnd, commentEndDefused)
		if oneLine {
			b.WriteString(" " + line)
			break
		}
		b.WriteString("\n" + indent + " * " + line)
	}
	if !oneLine {
		b.WriteString("\n" + indent)
	}
	b.WriteString(" */\n")
	return b.String()
}

// textLines splits a text into trimmed lines, without blank ones, and cuts what is too much. The lines have no character that
// ends a line or that cannot be seen.
func textLines(text string, maxLines, maxUnits int) []string {
	var lines []string
	units := 0
	for line := range strings.FieldsFuncSeq(text, isLineEnd) {
		if line = oneLine(line); line == "" {
			continue
		}
		left := maxUnits - units
		if len(lines) == maxLines || left <= 0 {
			lines[len(lines)-1] += continuationMark
			break
		}
		if short := cut(line, left); short != line {
			lines = append(lines, short+continuationMark)
			break
		}
		units += unitsOf(line)
		lines = append(lines, line)
	}
	return lines
}

func isLineEnd(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// oneLine makes every run of white space one space and drops characters that cannot be seen.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), isLineEnd(r):
			return ' '
		case isHidden(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
