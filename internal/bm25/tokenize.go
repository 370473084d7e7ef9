package bm25

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxIdentifierBytes is how long an identifier may be. What is longer is no word that somebody looks for.
const maxIdentifierBytes = 128

// identifiers lists the runs of letters, digits and underscores of a text, except very long ones. What is not valid UTF-8
// separates them.
func identifiers(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for pos := 0; pos < len(text); {
			r, size := decode(text, pos)
			if !startsWord(r) {
				pos += size
				continue
			}
			start := pos
			for pos < len(text) {
				r, size := decode(text, pos)
				if !startsWord(r) && !continuesWord(r) {
					break
				}
				pos += size
			}
			if pos-start <= maxIdentifierBytes && !yield(text[start:pos]) {
				return
			}
		}
	}
}

func decode(text string, pos int) (rune, int) {
	if b := text[pos]; b < utf8.RuneSelf {
		return rune(b), 1
	}
	return utf8.DecodeRuneInString(text[pos:])
}

func startsWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// continuesWord is for the accents and vowel signs after a letter, and for what is not seen inside of a word.
func continuesWord(r rune) bool { return r >= utf8.RuneSelf && (unicode.IsMark(r) || isInvisible(r)) }

// isInvisible is for the hyphen that is only shown at the end of a line, and for what joins two letters without a space.
func isInvisible(r rune) bool {
	switch r {
	case '\u00ad', '\u200c', '\u200d', '\u2060', '\ufeff':
		return true
	}
	return false
}

// cut is the first bytes of a text, at most limit, without half a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// words lists the words of an identifier in lower case, without stop words: the whole, and its parts if there are several.
func words(identifier string) iter.Seq[string] {
	return func(yield func(string) bool) {
		whole := strings.Trim(visible(identifier), "_")
		for part := range parts(whole) {
			if len(part) == len(whole) {
				break
			}
			if !offer(part, yield) {
				return
			}
		}
		offer(whole, yield)
	}
}

// offer yields a word in lower case, spelled out, unless it is empty or a stop word. It reports whether to go on.
func offer(word string, yield func(string) bool) bool {
	word = strings.ToLower(word)
	if word == "" || stopWords[word] {
		return true
	}
	full, abbreviated := abbreviations[word]
	if !abbreviated {
		return yield(word)
	}
	for _, word := range full {
		if !yield(word) {
			return false
		}
	}
	return true
}

// visible leaves out what is not seen in an identifier.
func visible(identifier string) string {
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, identifier)
}

// wordKey is the same for two texts that have the same words, whatever joins them: create_issue and "Create an issue". Words
// are the same if form makes the same of them. Empty if there are none.
func wordKey(text string, form func(word string) string) string {
	var list []string
	for identifier := range identifiers(text) {
		for part := range parts(visible(identifier)) {
			offer(part, func(word string) bool {
				list = append(list, form(word))
				return true
			})
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// hasWord reports whether an identifier of a text has one of the words for a part.
func hasWord(text string, words map[string]bool) bool {
	for identifier := range identifiers(text) {
		for part := range parts(visible(identifier)) {
			if words[strings.ToLower(part)] {
				return true
			}
		}
	}
	return false
}

// asSpelled is the form of a word that is only the same if it is spelled the same.
func asSpelled(word string) string { return word }

// parts splits an identifier at underscores, between letters and digits, and where a capital begins a word: parseURLString is
// parse, URL and String. The plural of an acronym is one part: URLs.
func parts(identifier string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, before := 0, separator
		for pos, r := range identifier {
			kind := kindOf(r)
			if kind == mark {
				continue
			}
			after := identifier[pos+utf8.RuneLen(r):]
			if kind == before && (kind != upper || !startsCapitalized(after)) || kind == lower && before == upper {
				before = kind
				continue
			}
			if before != separator && !yield(identifier[start:pos]) {
				return
			}
			start, before = pos, kind
		}
		if before != separator {
			yield(identifier[start:])
		}
	}
}

// startsCapitalized reports whether the capital before the text begins a word of its own, although another capital precedes
// it: the S in URLString, but not the L in URLs.
func startsCapitalized(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	if kindOf(r) != lower {
		return false
	}
	next, _ := utf8.DecodeRuneInString(after[size:])
	return r != 's' || kindOf(next) == lower
}

// kind is what a character is in an identifier. A part has one kind, or begins with upper and goes on with lower.
type kind uint8

const (
	separator kind = iota
	upper
	lower // letters without case, too
	digit
	mark
)

func kindOf(r rune) kind {
	switch {
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return upper
	case unicode.IsLetter(r):
		return lower
	case unicode.IsNumber(r):
		return digit
	case unicode.IsMark(r):
		return mark
	}
	return separator
}
