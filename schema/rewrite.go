package schema

import (
	"bytes"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// CoerceIntegers undoes what a JavaScript host does to integers that its numbers cannot hold: it hands them over as strings.
// Where the schema wants an integer or a number and no string, a string such as "1915883588174806058" becomes the bare
// integer. Strings that a JavaScript number could hold are left alone, and so are all other strings.
//
// It also writes integers in the one form that the integer types of Go read: where the schema wants an integer and not any
// number, 1.0 becomes 1 and 1e2 becomes 100. Integers of more than 20 digits stay as they are written.
//
// It looks where ApplyDefaults looks, and also behind $ref, in tagged unions too, and behind an anyOf or oneOf that only
// adds null.
//
// If there is nothing to rewrite, the result is value itself. A value that is not JSON is returned as it is.
func (s *Schema) CoerceIntegers(value []byte) []byte {
	if !mayHoldQuotedInteger(value) && !mayHoldLongInteger(value) {
		return value
	}
	return s.rewrite(value, func(r *rewriter, n *node, pos, end int) {
		literal := r.text[pos:end]
		if literal[0] == '-' || isDigit(literal[0]) {
			if n.types&(typeInteger|typeNumber) == typeInteger && !isPlainInteger(literal) {
				if d := parseDecimal(nil, literal); d.isInteger() && d.exp <= maxRewrittenDigits {
					r.replace(pos, end, d.appendTo(nil))
				}
			}
			return
		}
		if literal[0] != '"' || n.types&(typeInteger|typeNumber) == 0 || n.types&typeString != 0 {
			return
		}
		if literal = literal[1 : len(literal)-1]; isUnsafeInteger(literal) {
			r.replace(pos, end, literal)
		}
	})
}

// maxRewrittenDigits is how many digits an integer may have to be written anew; a uint64 has at most as many.
const maxRewrittenDigits = 20

// FillNils repairs what encoding/json makes of nil: a nil slice, map or []byte is written as null, although the schema of its
// Go type says array, object or string. Where the schema wants just an array, null becomes []; where it wants an object
// without required properties, {}; where it wants a base64 string, "".
//
// It looks where CoerceIntegers looks, but leaves a null alone that an anyOf or oneOf allows. If there is nothing to rewrite,
// the result is value itself. A value that is not JSON is returned as it is.
func (s *Schema) FillNils(value []byte) []byte {
	if !bytes.Contains(value, []byte("null")) {
		return value
	}
	return s.rewrite(value, func(r *rewriter, n *node, pos, end int) {
		if r.text[pos] != 'n' {
			return
		}
		switch {
		case n.types == typeArray:
			r.replace(pos, end, []byte("[]"))
		case n.types == typeObject && (n.object == nil || n.object.required == 0):
			r.replace(pos, end, []byte("{}"))
		case n.types == typeString && n.isBytes:
			r.replace(pos, end, []byte(`""`))
		}
	})
}

func (s *Schema) rewrite(value []byte, scalar func(r *rewriter, n *node, pos, end int)) []byte {
	if s.root == nil {
		return value
	}
	text, err := jsontext.Compact(value)
	if err != nil {
		return value
	}
	r := rewriter{text: text, scalar: scalar}
	r.scalars(s.root, 0)
	return r.result(value)
}

// rewriter changes spans of a text, from left to right.
type rewriter struct {
	text   []byte // compact and valid JSON
	out    []byte
	mark   int // text[:mark] is in out
	added  int // bytes of defaults
	looked int // bytes read to find tags
	scalar func(r *rewriter, n *node, pos, end int)
}

func (r *rewriter) replace(from, to int, with []byte) {
	if r.out == nil {
		r.out = make([]byte, 0, len(r.text)+len(r.text)/8+len(with))
	}
	r.out = append(append(r.out, r.text[r.mark:from]...), with...)
	r.mark = to
}

func (r *rewriter) tooLarge() bool { return r.added > maxDefaultBytes }

// result is the changed text, or the original if nothing changed.
func (r *rewriter) result(original []byte) []byte {
	if r.out == nil {
		return original
	}
	return append(r.out, r.text[r.mark:]...)
}

// scalars calls r.scalar for the strings, numbers and nulls in the value at pos, and returns the place after it.
func (r *rewriter) scalars(n *node, pos int) int {
	n = r.beneath(n, pos)
	if n == nil {
		return skip(r.text, pos)
	}
	switch r.text[pos] {
	case '[':
		return r.items(n.array, pos, r.scalars)
	case '{':
		return r.members(n.object, pos, func(n *node, _, pos int) int { return r.scalars(n, pos) })
	}
	end := skip(r.text, pos)
	if c := r.text[pos]; c != 't' && c != 'f' {
		r.scalar(r, n, pos, end)
	}
	return end
}

// items calls visit for each item of the array at pos, with the schema for it or nil.
func (r *rewriter) items(a *arrayRules, pos int, visit func(n *node, pos int) int) int {
	if a == nil {
		return containerEnd(r.text, pos)
	}
	i := 0
	for pos++; r.text[pos] != ']'; i++ {
		if r.text[pos] == ',' {
			pos++
		}
		n := a.items
		if i < len(a.prefix) {
			n = a.prefix[i]
		}
		pos = visit(n, pos)
	}
	return pos + 1
}

// members calls visit for each member of the object at pos, with the schema for its value or nil, the number of its property
// or -1, and the place of the value.
func (r *rewriter) members(o *objectRules, pos int, visit func(n *node, i, pos int) int) int {
	if o == nil {
		return containerEnd(r.text, pos)
	}
	guess := 0
	for pos++; r.text[pos] != '}'; {
		if r.text[pos] == ',' {
			pos++
		}
		keyEnd := stringEnd(r.text, pos)
		i := o.find(unquoted(r.text[pos:keyEnd]), guess)
		n := o.additional
		if o.patterns != nil {
			n = nil
		}
		if i >= 0 {
			guess = i + 1
			if o.properties[i].node != nil {
				n = o.properties[i].node
			}
		}
		pos = visit(n, i, keyEnd+1)
	}
	return pos + 1
}

// beneath follows $ref, an anyOf or oneOf of null and one other schema, and one whose branches have a tag, to the schema that
// describes the value at pos. It returns nil if there are several. For a null, an anyOf or oneOf of null describes it, and
// the result is nil too.
func (r *rewriter) beneath(n *node, pos int) *node {
	const far = 64 // longer chains are left alone
	null := r.text[pos] == 'n'
	for range far {
		if n == nil || n.apply == nil {
			return n
		}
		if branch := r.tagged(n, pos); branch != nil {
			n = branch
			continue
		}
		if n.types != 0 {
			return n
		}
		a := n.apply
		switch {
		case a.ref != nil:
			n = a.ref
		case a.any != nil:
			n = onlyOne(a.any, null)
		case a.one != nil:
			n = onlyOne(a.one, null)
		default:
			return n
		}
	}
	return nil
}

// onlyOne returns the branch that is not just null, if there is one of that kind; for a null, only if no branch is null.
func onlyOne(branches []*node, null bool) *node {
	var found *node
	for _, n := range branches {
		if n.types == typeNull {
			if null {
				return nil
			}
			continue
		}
		if found != nil {
			return nil
		}
		found = n
	}
	return found
}

// mayHoldQuotedInteger reports whether value has a quoted run of digits that is too long for every JavaScript number.
func mayHoldQuotedInteger(value []byte) bool {
	const enough = 16 // digits; 2^53 has as many
	for pos := 0; ; {
		i := bytes.IndexByte(value[pos:], '"')
		if i < 0 || len(value)-pos-i < enough+2 {
			return false
		}
		pos += i + 1
		from := pos
		if value[pos] == '-' {
			from++
		}
		for pos = from; pos < len(value) && isDigit(value[pos]); {
			pos++
		}
		if pos-from >= enough && pos < len(value) && value[pos] == '"' {
			return true
		}
	}
}

// mayHoldLongInteger reports whether value has something like 1.0 or 1e2: an integer with a fraction of zeros, or an exponent.
func mayHoldLongInteger(value []byte) bool {
	for i := 1; i < len(value)-1; i++ {
		c := value[i]
		if c != '.' && c|0x20 != 'e' || !isDigit(value[i-1]) {
			continue
		}
		if c != '.' {
			return true
		}
		rest := i + 1
		for rest < len(value) && value[rest] == '0' {
			rest++
		}
		if rest == len(value) || !isDigit(value[rest]) && rest > i+1 {
			return true
		}
		i = rest - 1
	}
	return false
}

// isUnsafeInteger reports whether s is an integer, as JSON writes it, whose digits a JavaScript number would change.
func isUnsafeInteger(s []byte) bool {
	digits := bytes.TrimPrefix(s, []byte("-"))
	if len(digits) == 0 || digits[0] == '0' {
		return false
	}
	for _, b := range digits {
		if !isDigit(b) {
			return false
		}
	}
	return len(jsontext.QuoteUnsafeIntegers(s)) != len(s)
}
