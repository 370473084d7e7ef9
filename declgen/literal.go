package declgen

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/cellmode/cellmode/internal/jsontext"
	"github.com/cellmode/cellmode/schema"
)

// quote renders a string as a literal of JavaScript and TypeScript. Characters that cannot be seen, or that end a line, are
// escaped.
func quote(s string) string {
	text := string(jsontext.AppendString(nil, s))
	if strings.IndexFunc(text, isHidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !isHidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			writeEscape(&b, high)
			writeEscape(&b, low)
		default:
			writeEscape(&b, r)
		}
	}
	return b.String()
}

func writeEscape(b *strings.Builder, unit rune) {
	hex := strconv.FormatInt(int64(unit), 16)
	b.WriteString(`\u` + strings.Repeat("0", 4-len(hex)) + hex)
}

func isHidden(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// keyText renders the name of a property.
func keyText(name string) string {
	if isIdentifier(name) {
		return name
	}
	return quote(name)
}

// isIdentifier reports whether name can stand without quotes. Letters outside of ASCII are left to the quotes.
func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !isLetter(c) && c != '_' && c != '$' && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return name != ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// numberText renders a number as the literal type of the value that a program sees. ok is false if there is none: a number that
// is not finite as a float64, and an integer that would lose digits and therefore arrives as a string.
func numberText(text string) (literal string, ok bool) {
	f, err := strconv.ParseFloat(text, 64)
	const safe = 1<<53 - 1
	if err != nil || math.Abs(f) > safe && f == math.Trunc(f) {
		return "", false
	}
	if f == 0 {
		return "0", true // there is no -0 in a type
	}
	format := byte('f')
	if math.Abs(f) < 1e-6 {
		format = 'e'
	}
	return strconv.FormatFloat(f, format, -1, 64), true
}

// isIntegerLiteral reports whether a literal of numberText is an integer.
func isIntegerLiteral(literal string) bool { return !strings.ContainsAny(literal, ".e") }

// literalWriter renders JSON as TypeScript, until it has more bytes than limit.
type literalWriter struct {
	b        strings.Builder
	limit    int
	values   bool // render values, as an expression does, and not their types
	unsorted bool // keep the order of properties
}

// literalType renders the type of one JSON value. ok is false if it is longer than limit.
func literalType(v schema.View, limit int) (text string, ok bool) {
	w := literalWriter{limit: limit}
	return w.render(v)
}

// defaultValue renders a JSON value as an expression. ok is false if it is longer than limit.
func defaultValue(v schema.View, limit int) (text string, ok bool) {
	w := literalWriter{limit: limit, values: true}
	return w.render(v)
}

// exampleValue is defaultValue with the properties in the order that somebody gave them.
func exampleValue(v schema.View, limit int) (text string, ok bool) {
	w := literalWriter{limit: limit, values: true, unsorted: true}
	return w.render(v)
}

func (w *literalWriter) render(v schema.View) (text string, ok bool) {
	const perUnit = 6 // bytes of JSON that can become one unit
	if v.Size() > perUnit*w.limit {
		return "", false
	}
	w.value(v)
	return w.b.String(), unitsOf(w.b.String()) <= w.limit
}

// tooLong reports whether the text cannot get shorter than the limit: a unit has at most three bytes.
func (w *literalWriter) tooLong() bool { return w.b.Len() > 3*w.limit }

func (w *literalWriter) value(v schema.View) {
	switch {
	case w.tooLong():
	case v.IsObject():
		w.object(v)
	case v.IsArray():
		w.b.WriteByte('[')
		first := true
		for item := range v.Items() {
			if w.tooLong() {
				return
			}
			if !first {
				w.b.WriteString(", ")
			}
			first = false
			w.value(item)
		}
		w.b.WriteByte(']')
	case v.IsString():
		w.b.WriteString(quote(v.Str()))
	case v.IsNumber():
		w.b.WriteString(w.number(string(v.Text())))
	default:
		w.b.Write(v.Text())
	}
}

func (w *literalWriter) object(v schema.View) {
	separator := "; "
	if w.values {
		separator = ", "
	}
	switch {
	case v.Len() > 0:
	case w.values:
		w.b.WriteString("{}")
		return
	default:
		w.b.WriteString(emptyObject)
		return
	}
	keys := make([]string, 0, v.Len())
	for key := range v.Members() {
		keys = append(keys, key)
	}
	if !w.unsorted {
		slices.SortFunc(keys, compareKeys)
	}
	w.b.WriteString("{ ")
	for i, key := range keys {
		if w.tooLong() {
			return
		}
		if i > 0 {
			w.b.WriteString(separator)
		}
		if key == "__proto__" && w.values {
			w.b.WriteString(`["__proto__"]: `) // without brackets it would set the prototype
		} else {
			w.b.WriteString(keyText(key) + ": ")
		}
		member, _ := v.Get(key)
		w.value(member)
	}
	w.b.WriteString(" }")
}

func (w *literalWriter) number(text string) string {
	if literal, ok := numberText(text); ok {
		return literal
	}
	if w.values {
		return string(jsontext.QuoteUnsafeIntegers([]byte(text)))
	}
	return "number"
}
