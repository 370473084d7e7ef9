package toolcatalog

import (
	"fmt"
	"strings"
)

// DefaultQuickIndexBytes is how long the quick index is in the description of exec.
const DefaultQuickIndexBytes = 8_000

// The text around the lines of the quick index.
const (
	indexHeading = "Tools, each an async function of one object: name input -> result.\n" +
		"Where the result is ?, look at it before you rely on its fields.\n"
	indexComplete = "These are all; call them directly."
	indexOmitted  = "%d more tools are not listed; find them with catalog.search(query)."
)

// QuickIndex lists the tools for the model: a line for each, with the name and one-line hints of its input and its result,
// such as
//
//   - shipment_get { id: string } -> { id: string; paid: boolean; tons: number }
//
// Tools whose result is declared come first, and in both groups the order is that of the callable names. maxBytes bounds
// the whole text; zero and less mean [DefaultQuickIndexBytes]. If not all tools fit, lines that do not are left out, later
// ones that do fit still enter, and the last line says how many are missing. No tool's description is in the index. An
// empty catalog gives the empty string, and so does a bound that is too small for any of it.
//
// The text depends on the tools only, not on their order. The last one is kept.
func (c *Catalog) QuickIndex(maxBytes int) string {
	if maxBytes <= 0 {
		maxBytes = DefaultQuickIndexBytes
	}
	if last := c.lastIndex.Load(); last != nil && last.maxBytes == maxBytes {
		return last.text
	}
	text := c.quickIndex(maxBytes)
	c.lastIndex.Store(&boundedText{maxBytes, text})
	return text
}

type boundedText struct {
	maxBytes int
	text     string
}

func (c *Catalog) quickIndex(maxBytes int) string {
	lines := c.indexLines()
	if len(lines) == 0 {
		return ""
	}
	total := len(indexHeading) + len("\n") + len(indexComplete)
	for _, line := range lines {
		total += len(line)
	}
	footer := indexComplete
	if total > maxBytes {
		lines, footer = fit(lines, maxBytes)
	}
	if len(indexHeading)+1+len(footer) > maxBytes {
		return ""
	}
	return indexHeading + strings.Join(lines, "") + "\n" + footer
}

// indexLines gives the lines of all tools, those with a declared result first.
func (c *Catalog) indexLines() []string {
	lines, undeclared := make([]string, 0, len(c.entries)), []string(nil)
	for i := range c.entries {
		e := &c.entries[i]
		h := e.lines()
		if h.output == "" {
			undeclared = append(undeclared, fmt.Sprintf("- %s %s -> ?\n", e.CallableName, h.input))
		} else {
			lines = append(lines, fmt.Sprintf("- %s %s -> %s\n", e.CallableName, h.input, h.output))
		}
	}
	return append(lines, undeclared...)
}

// fit picks the lines that fit, one after the other, and the footer that goes with them.
func fit(lines []string, maxBytes int) (picked []string, footer string) {
	used := len(indexHeading) + len("\n")
	for _, line := range lines {
		// The footer as it would read with this line.
		omitted := fmt.Sprintf(indexOmitted, len(lines)-len(picked)-1)
		if used+len(line)+len(omitted) <= maxBytes {
			picked = append(picked, line)
			used += len(line)
		}
	}
	return picked, fmt.Sprintf(indexOmitted, len(lines)-len(picked))
}
