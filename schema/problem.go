package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxProblems     = 5   // of one ValidationError
	maxMessageBytes = 256 // of one message or path, before the "..."
	maxNameBytes    = 64  // of one property name in a message
	maxListed       = 8   // names or literals in one message
)

// ParseError says why a text is not a schema that this package can apply.
type ParseError struct {
	Path   string // where in the schema, as a JSON Pointer fragment: #/properties/id/type; # is the whole schema
	Reason string // what is wrong there, in one sentence
}

// Error names the place and the reason.
func (e *ParseError) Error() string { return "schema: " + e.Path + ": " + e.Reason }

// ValidationError says why a value does not match a schema. It holds at least one problem and at most five, in the order in
// which they were found; there may be more. Neither the problems nor the error text contain anything of the value
// but names of properties.
type ValidationError struct {
	Problems []Problem
}

// Problem is one place where a value does not match its schema.
type Problem struct {
	// Path leads from the value to the place, as JavaScript would: $ is the value itself, $.orders[0].id a part of it. Names that
	// are not identifiers are quoted: $["page[size]"].
	Path string
	// Message says what must hold there. It is at most 256 bytes, then "...".
	Message string
}

// Error joins the problems to one line.
func (e *ValidationError) Error() string {
	var b strings.Builder
	b.WriteString("value does not match the schema")
	for i, p := range e.Problems {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(p.Path)
		b.WriteByte(' ')
		b.WriteString(p.Message)
	}
	return b.String()
}

// report collects the problems of a value while it is evaluated for the second time.
type report struct {
	problems []Problem
	path     []step
	nested   bool // it is made for comparison only
}

// step is one step of a path: into an item of an array, or into a property if index is negative.
type step struct {
	name  []byte
	index int
}

func (r *report) full() bool { return len(r.problems) >= maxProblems }

// count is how many problems there are; without a report, none.
func (r *report) count() int {
	if r == nil {
		return 0
	}
	return len(r.problems)
}

// forget takes back all problems but the first n.
func (r *report) forget(n int) {
	if r != nil {
		r.problems = r.problems[:n]
	}
}

func (r *report) add(format string, args ...any) {
	if !r.full() {
		r.problems = append(r.problems, Problem{r.where(), bounded(fmt.Sprintf(format, args...))})
	}
}

// where renders the path; of a long one, the end is cut.
func (r *report) where() string {
	b := []byte{'$'}
	for _, s := range r.path {
		switch {
		case s.index >= 0:
			b = append(strconv.AppendInt(append(b, '['), int64(s.index), 10), ']')
		case isIdentifier(s.name):
			b = append(append(b, '.'), s.name...)
		default:
			b = append(append(append(b, '['), quoteName(string(s.name))...), ']')
		}
		if len(b) > maxMessageBytes {
			break
		}
	}
	return bounded(string(b))
}

func isIdentifier(name []byte) bool {
	for i, c := range name {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$'
		if !letter && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return len(name) > 0
}

// bounded cuts a text to maxMessageBytes and adds "..." if it was longer; it never cuts inside of a character.
func bounded(s string) string { return cut(s, maxMessageBytes) }

func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "..."
}

// quoteName quotes the name of a property, shortened.
func quoteName(name string) string { return strconv.Quote(cut(name, maxNameBytes)) }

// nameList renders some names: "a", "b" and 3 more.
func nameList(names []string) string {
	quoted := make([]string, 0, maxListed)
	for _, name := range names[:min(len(names), maxListed)] {
		quoted = append(quoted, quoteName(name))
	}
	return listed(quoted, len(names))
}

// listed joins what is shown of total things.
func listed(shown []string, total int) string {
	text := strings.Join(shown, ", ")
	if more := total - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// count renders "1 item", "2 items".
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}
