package bm25

import (
	"strings"
	"unicode/utf8"
)

const (
	maxEndings  = 3 // endings that are stripped from one word
	shortWord   = 3 // characters of a word that is left alone, and the fewest that stripping may leave
	undoubled   = "bcdghjkmnpqrtvwx"
	pluralInIes = "ies"
)

// stems gives the term of a word, and a second one for a plural in -ies, whose singular may end in y or in ie: policies,
// cookies. The second is empty for all others.
func stems(word string) (first, second string) {
	if strings.HasSuffix(word, pluralInIes) && utf8.RuneCountInString(word) > 4 && !unstemmed[word] {
		second = stem(strings.TrimSuffix(word, "s"))
	}
	return stem(word), second
}

// stem strips endings: creates, created and creating become creat.
func stem(word string) string {
	for range maxEndings {
		stripped := strip(word)
		if stripped == word {
			break
		}
		word = stripped
	}
	return word
}

// strip removes one ending.
func strip(word string) string {
	length := utf8.RuneCountInString(word)
	if length <= shortWord || unstemmed[word] {
		return word
	}
	for _, e := range endings {
		if length-len(e.ending) < shortWord || !strings.HasSuffix(word, e.ending) || e.ending == "s" && strings.HasSuffix(word, "ss") {
			continue
		}
		rest := strings.TrimSuffix(word, e.ending) + e.replacement
		switch e.ending {
		case "ing", "ed", "er":
			return undouble(rest)
		}
		return rest
	}
	return word
}

// undouble makes run of runn.
func undouble(word string) string {
	if n := len(word); n > shortWord && word[n-1] == word[n-2] && strings.IndexByte(undoubled, word[n-1]) >= 0 {
		return word[:n-1]
	}
	return word
}

// singular is the form of a word that the table of intents has.
func singular(word string) string {
	switch {
	case len(word) <= shortWord || unstemmed[word] || strings.HasSuffix(word, "ss"):
		return word
	case strings.HasSuffix(word, pluralInIes):
		return strings.TrimSuffix(word, pluralInIes) + "y"
	}
	return strings.TrimSuffix(word, "s")
}
