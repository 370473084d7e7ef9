package schema

import (
	"bytes"
	"slices"
	"strconv"
)

// Two JSON values are equal if their canonical texts are: numbers without the ways to write one number, strings without
// escapes, objects with sorted keys.

// canonicalScalar returns the canonical text of the scalar text[pos:end]. It is a part of text itself where that is
// possible, else it is in room.
func canonicalScalar(room, text []byte) []byte {
	switch text[0] {
	case '"':
		if bytes.IndexByte(text, '\\') < 0 {
			return text[:len(text)-1]
		}
		return unquote(append(room[:0], '"'), text)
	case 't', 'f', 'n':
		return text
	}
	if isPlainInteger(text) {
		return text
	}
	var digits [64]byte
	return parseDecimal(digits[:0], text).appendTo(room[:0])
}

// appendCanonical appends the canonical text of the value at pos to dst, in a form that can stand beside others: strings
// have their length in front.
func appendCanonical(dst, text []byte, pos int) (canonical []byte, end int) {
	switch text[pos] {
	case '[':
		dst = append(dst, '[')
		for pos++; text[pos] != ']'; {
			if text[pos] == ',' {
				pos++
			}
			dst, pos = appendCanonical(dst, text, pos)
			dst = append(dst, ',')
		}
		return append(dst, ']'), pos + 1
	case '{':
		return appendCanonicalObject(dst, text, pos)
	}
	end = skip(text, pos)
	canonical = canonicalScalar(nil, text[pos:end])
	if text[pos] == '"' {
		dst = strconv.AppendInt(dst, int64(len(canonical)), 10)
	}
	return append(dst, canonical...), end
}

func appendCanonicalObject(dst, text []byte, pos int) (canonical []byte, end int) {
	type entry struct {
		key   string
		value int
	}
	var entries []entry
	for pos++; text[pos] != '}'; {
		if text[pos] == ',' {
			pos++
		}
		keyEnd := stringEnd(text, pos)
		entries = append(entries, entry{string(unquoted(text[pos:keyEnd])), keyEnd + 1})
		pos = skip(text, keyEnd+1)
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	dst = append(dst, '{')
	for i, e := range entries {
		if i+1 < len(entries) && entries[i+1].key == e.key {
			continue // the last one wins
		}
		dst = strconv.AppendInt(dst, int64(len(e.key)), 10)
		dst = append(append(dst, '"'), e.key...)
		dst, _ = appendCanonical(dst, text, e.value)
		dst = append(dst, ',')
	}
	return append(dst, '}'), pos + 1
}

// canonicalValue returns the canonical text of the value at pos and the place after it; it may use room.
func canonicalValue(room, text []byte, pos int) (canonical []byte, end int) {
	if text[pos] == '{' || text[pos] == '[' {
		return appendCanonical(room[:0], text, pos)
	}
	end = skip(text, pos)
	return canonicalScalar(room, text[pos:end]), end
}

func newLiteralSet(members []member) *literalSet {
	const maxShownBytes = 160
	set := &literalSet{canonical: make(map[string]struct{}, len(members)), total: len(members)}
	shown := 0
	for i := range members {
		text := members[i].value.text
		canonical, _ := canonicalValue(nil, text, 0)
		set.canonical[string(canonical)] = struct{}{}
		if len(set.shown) == i && i < maxListed && shown < maxShownBytes {
			literal := cut(string(text), maxNameBytes)
			set.shown = append(set.shown, literal)
			shown += len(literal)
		}
	}
	return set
}

// describe says what a value must be.
func (s *literalSet) describe() string {
	if s.total == 1 {
		return "must be " + s.shown[0]
	}
	if s.total == 0 {
		return "no value is allowed here: the enum is empty"
	}
	return "must be one of " + listed(s.shown, s.total)
}
