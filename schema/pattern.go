package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// pattern is a compiled regular expression of a schema. JSON Schema has the expressions of ECMAScript; Go has those of RE2,
// which always run in linear time. What both have is translated. Lookaheads, which RE2 lacks, are supported in the one
// place where they are mere conditions: right after a leading ^.
type pattern struct {
	source  string           // as the schema has it
	must    []*regexp.Regexp // all of these match, ...
	mustNot []*regexp.Regexp // ... and none of these
	size    int              // estimated instructions, what one byte of a string costs
}

const (
	maxPatternBytes   = 16 << 10 // of one expression, as it is written
	maxExpressionSize = 20_000   // instructions of one expression
)

func (p *pattern) match(s []byte) bool {
	for _, re := range p.must {
		if !re.Match(s) {
			return false
		}
	}
	for _, re := range p.mustNot {
		if re.Match(s) {
			return false
		}
	}
	return true
}

// compilePattern returns an error that says what of the expression is not supported.
func compilePattern(source string) (*pattern, error) {
	if len(source) > maxPatternBytes {
		return nil, fmt.Errorf("the expression is longer than %d bytes", maxPatternBytes)
	}
	p := &pattern{source: source}
	main := source
	if body, ok := strings.CutPrefix(source, "^"); ok {
		body, err := p.leadingLookaheads(body)
		if err != nil {
			return nil, err
		}
		main = "^" + body
	}
	re, err := p.compile(main)
	if err != nil {
		return nil, err
	}
	p.must = append(p.must, re)
	return p, nil
}

// leadingLookaheads takes the lookaheads off the front of an expression that started with ^, and returns the rest.
// ^(?=a)(?!b)c matches where ^(?:a) and ^c match and ^(?:b) does not.
func (p *pattern) leadingLookaheads(body string) (string, error) {
	whole := body
	for strings.HasPrefix(body, "(?=") || strings.HasPrefix(body, "(?!") {
		end := groupEnd(body)
		if end < 0 {
			return whole, nil // unbalanced: compiling says so
		}
		re, err := p.compile("^(?:" + body[len("(?="):end-1] + ")")
		if err != nil {
			return "", err
		}
		if body[2] == '=' {
			p.must = append(p.must, re)
		} else {
			p.mustNot = append(p.mustNot, re)
		}
		body = body[end:]
	}
	if len(body) < len(whole) && (hasAlternatives(body) || strings.IndexAny(body, "*+?{") == 0) {
		return "", errLookaround
	}
	return body, nil
}

var errLookaround = errors.New("a lookaround is supported only as (?=...) or (?!...) right after a leading ^, with no | beside it")

// compile translates and compiles one expression without lookaheads, and adds its size to that of the pattern.
func (p *pattern) compile(source string) (*regexp.Regexp, error) {
	translated, err := translateECMA(source)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		for _, around := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
			if strings.Contains(source, around) {
				return nil, errLookaround
			}
		}
		return nil, err
	}
	if p.size += expressionSize(tree); p.size > maxExpressionSize {
		return nil, errors.New("the expression is too large; use smaller repeat counts")
	}
	return regexp.Compile(translated)
}

// whiteSpace is what \s means in ECMAScript, as the inside of a character class.
const whiteSpace = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

// notWhiteSpace is what \S means there.
const notWhiteSpace = `\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}` +
	`\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`

// translateECMA rewrites what ECMAScript writes differently from RE2.
func translateECMA(source string) (string, error) {
	var b strings.Builder
	class := false // inside of [...]
	for i := 0; i < len(source); {
		switch c := source[i]; {
		case c == '\\':
			n, err := translateEscape(&b, source[i:], class)
			if err != nil {
				return "", err
			}
			i += n
			continue
		case class:
			switch c {
			case ']':
				class = false
				b.WriteByte(c)
			case '[': // an ordinary character in ECMAScript, the start of [:name:] in RE2
				b.WriteString(`\[`)
			default:
				b.WriteByte(c)
			}
		case c == '[':
			switch {
			case strings.HasPrefix(source[i:], "[^]"):
				b.WriteString(`[\x00-\x{10ffff}]`)
				i += len("[^]")
				continue
			case strings.HasPrefix(source[i:], "[]"):
				b.WriteString(`[^\x00-\x{10ffff}]`)
				i += len("[]")
				continue
			case strings.HasPrefix(source[i:], "[^"):
				b.WriteString("[^")
				i++
			default:
				b.WriteByte(c)
			}
			class = true
		case c == '.': // RE2 takes only \n for a line end
			b.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		case strings.HasPrefix(source[i:], "(?P"), strings.HasPrefix(source[i:], "(?U"):
			return "", errors.New(source[i:i+3] + " is not part of ECMAScript expressions")
		default:
			b.WriteByte(c)
		}
		i++
	}
	return b.String(), nil
}

// translateEscape writes the escape that s starts with, and returns its length.
func translateEscape(b *strings.Builder, s string, class bool) (int, error) {
	if len(s) == 1 {
		return 0, errors.New("the expression ends with a backslash")
	}
	switch c := s[1]; c {
	case 's', 'S':
		inside := whiteSpace
		if c == 'S' {
			inside = notWhiteSpace
		}
		if !class {
			inside = "[" + inside + "]"
		}
		b.WriteString(inside)
	case 'u':
		digits, n := "", 0
		if strings.HasPrefix(s, `\u{`) {
			end := strings.IndexByte(s, '}')
			if end < 0 {
				return 0, errors.New(`\u{ without }`)
			}
			digits, n = s[len(`\u{`):end], end+1
		} else if len(s) >= 6 {
			digits, n = s[2:6], 6
		}
		if digits == "" || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
			return 0, errors.New(`\u without hexadecimal digits`)
		}
		b.WriteString(`\x{` + digits + `}`)
		return n, nil
	case 'c':
		if len(s) < 3 || s[2]|0x20 < 'a' || s[2]|0x20 > 'z' {
			return 0, errors.New(`\c without a letter`)
		}
		fmt.Fprintf(b, `\x%02x`, s[2]&0x1f)
		return 3, nil
	case '0':
		b.WriteString(`\x00`)
	case 'b':
		if class {
			b.WriteString(`\x08`)
		} else {
			b.WriteString(`\b`)
		}
	case 'p', 'P':
		return translateProperty(b, s)
	case '1', '2', '3', '4', '5', '6', '7', '8', '9', 'k':
		return 0, errors.New("a reference back to a group is not supported")
	case 'd', 'D', 'w', 'W', 'B', 'f', 'n', 'r', 't', 'v', 'x':
		b.WriteString(s[:2])
	default:
		r, n := utf8.DecodeRuneInString(s[1:])
		switch {
		case r >= utf8.RuneSelf:
			b.WriteRune(r)
		case isDigit(c), 'a' <= c|0x20 && c|0x20 <= 'z': // RE2 has more of them, with meanings that ECMAScript does not know
			return 0, fmt.Errorf(`\%c is not an escape of ECMAScript`, c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
		return 1 + n, nil
	}
	return 2, nil
}

// translateProperty writes \p{...}, which RE2 knows without the name of the property.
func translateProperty(b *strings.Builder, s string) (int, error) {
	end := strings.IndexByte(s, '}')
	if len(s) < 3 || s[2] != '{' || end < 0 {
		return 0, errors.New(`\p without {name}`)
	}
	name := s[3:end]
	if property, script, ok := strings.Cut(name, "="); ok {
		switch property {
		case "Script", "sc", "General_Category", "gc":
			name = script
		}
	}
	b.WriteString(s[:3] + name + "}")
	return end + 1, nil
}

// groupEnd is the length of the group that s starts with, or -1 if it has no end.
func groupEnd(s string) int {
	depth, end := 0, -1
	scanSyntax(s, func(i int) bool {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				end = i + 1
				return false
			}
		}
		return true
	})
	return end
}

// hasAlternatives reports whether s has a | outside of groups.
func hasAlternatives(s string) bool {
	depth, found := 0, false
	scanSyntax(s, func(i int) bool {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			found = found || depth == 0
		}
		return !found
	})
	return found
}

// scanSyntax calls visit for the bytes of an expression that are neither escaped nor in a character class, until it returns
// false.
func scanSyntax(s string, visit func(i int) bool) {
	class := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case class:
			class = s[i] != ']'
		case s[i] == '[':
			class = true
		case !visit(i):
			return
		}
	}
}

// expressionSize estimates how many instructions a parsed expression compiles to.
func expressionSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		size = min(size+expressionSize(sub), maxExpressionSize+1)
	}
	if re.Op == syntax.OpRepeat {
		size = min(size*max(re.Min, re.Max, 1), maxExpressionSize+1)
	}
	return size
}
