package declgen

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cellmode/cellmode/schema"
)

// checkRendered checks what must hold for every rendering.
func checkRendered(t *testing.T, s *schema.Schema, input, output Hint, file string) {
	t.Helper()
	const fileUnits = 3*typeUnits + toolDocUnits + 4_000
	for _, c := range []struct {
		name, text string
		limit      int
	}{{"input hint", input.Text, inputHintUnits}, {"output hint", output.Text, outputHintUnits}, {"declaration", file, fileUnits}} {
		switch {
		case !utf8.ValidString(c.text):
			t.Errorf("the %s is not UTF-8: %q", c.name, c.text)
		case c.text == "", unitsOf(c.text) > c.limit:
			t.Errorf("the %s has %d units, the limit is %d:\n%.1000s", c.name, unitsOf(c.text), c.limit, c.text)
		case strings.ContainsAny(c.text, "\r\u2028\u2029\x00"), c.name != "declaration" && strings.Contains(c.text, "\n"):
			t.Errorf("the %s has a line break or worse: %q", c.name, c.text)
		}
		if at := unbalanced(c.text); at != "" {
			t.Errorf("the %s is not balanced, at %q:\n%.3000s", c.name, at, c.text)
		}
	}
	if output.Complete && strings.Contains(codeOf(output.Text), " ... }") {
		t.Errorf("the hint is complete and leaves something out: %s", output.Text)
	}
}

// unbalanced reads brackets, strings and comments as TypeScript does, and returns where they do not match, or "".
func unbalanced(text string) string {
	var open []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case strings.HasPrefix(text[i:], "//"):
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				return text[i:]
			}
			i += end
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return text[i:]
			}
			i += 2 + end + 1
		case c == '"':
			end := stringEnd(text, i)
			if end < 0 {
				return text[i:]
			}
			i = end
		case strings.IndexByte("([{<", c) >= 0:
			open = append(open, c)
		case strings.HasPrefix(text[i:], "=>"):
			i++
		case strings.IndexByte(")]}>", c) >= 0:
			if len(open) == 0 || strings.IndexByte("([{<", open[len(open)-1]) != strings.IndexByte(")]}>", c) {
				return text[i:]
			}
			open = open[:len(open)-1]
		}
	}
	return string(open)
}

// stringEnd is the place of the quote that ends the string at pos, or -1.
func stringEnd(text string, pos int) int {
	for i := pos + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		case '\n':
			return -1
		}
	}
	return -1
}

// codeOf drops the strings and comments of one line.
func codeOf(text string) string {
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|/\*.*?\*/`).ReplaceAllString(text, "")
}

func FuzzDeclare(f *testing.F) {
	for _, c := range goldenCases(f) {
		f.Add(string(c.Input), c.Description)
		f.Add(string(c.Output), c.Name)
	}
	for seed := range uint64(30) {
		r := newRandomSchema(seed)
		f.Add(r.shuffled(r.whole()), r.name())
	}
	f.Add(`{"properties":{"a":{"$ref":"#/properties/a"},"b":{"allOf":[{"$ref":"#/properties/c"}]},"c":{"anyOf":[{"$ref":"#/properties/b"}]}}}`, "")
	f.Add(`{"type":5,"properties":[],"required":{},"enum":1,"items":{"type":["x"]}}`, "*/")
	f.Fuzz(func(t *testing.T, text, description string) {
		start := time.Now()
		s := schema.ParseDeferred([]byte(text))
		call := Function{Name: "f", Description: description, Input: s, Output: s, Examples: []json.RawMessage{json.RawMessage(text)}}
		file := Declare(call)
		checkRendered(t, s, InputHint(s), OutputHint(s), file)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		if again := Declare(call); again != file {
			t.Errorf("two declarations of one function:\n%s\n%s", file, again)
		}
	})
}
