package transcript

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The size of a snippet, at most.
const (
	snippetWords = 48
	snippetRunes = 500 // with its marks
	snippetMark  = " … "
	markRunes    = 3
	textRunes    = snippetRunes - 2*markRunes
)

// maxOccurrences is how many places of each phrase a snippet is chosen from.
const maxOccurrences = 1000

// snippet gives the part of a text that has the most of some phrases, as one line with marks where text is left out. It is not
// ok if the text lacks any of them.
func snippet(text string, phrases [][]string) (string, bool) {
	all := slices.Collect(words(text))
	found, ok := occurrences(all, phrases)
	if !ok {
		return "", false
	}
	split := splitText{text, all}
	return split.cut(split.best(found, len(phrases))), true
}

// occurrence is a place where a text has a phrase.
type occurrence struct {
	part   part
	phrase int
}

// part is some words of a text, from one to before another one.
type part struct{ from, to int }

// occurrences finds phrases among words. It is ok if each is there.
func occurrences(text []word, phrases [][]string) (all []occurrence, ok bool) {
	beginning := map[string][]int{}
	for i, phrase := range phrases {
		beginning[phrase[0]] = append(beginning[phrase[0]], i)
	}
	times := make([]int, len(phrases))
	for at, first := range text {
		for _, i := range beginning[first.folded] {
			end := at + len(phrases[i])
			same := func(w word, folded string) bool { return w.folded == folded }
			if times[i] < maxOccurrences && end <= len(text) && slices.EqualFunc(text[at:end], phrases[i], same) {
				times[i]++
				all = append(all, occurrence{part{at, end}, i})
			}
		}
	}
	return all, !slices.Contains(times, 0)
}

// splitText is a text and its words.
type splitText struct {
	text  string
	words []word
}

// best chooses the first part that has the most different phrases and fits into a snippet.
func (s splitText) best(found []occurrence, phrases int) part {
	best, most := found[0].part, 0
	times, different, first := make([]int, phrases), 0, 0 // of the phrases of found[first:i+1]
	for i, o := range found {
		if times[o.phrase]++; times[o.phrase] == 1 {
			different++
		}
		for first < i && !s.fits(part{found[first].part.from, o.part.to}) {
			leaves := found[first].phrase
			if times[leaves]--; times[leaves] == 0 {
				different--
			}
			first++
		}
		if different > most {
			best, most = part{found[first].part.from, o.part.to}, different
		}
		if most == phrases {
			break
		}
	}
	return best
}

// fits tells whether a part fits into a snippet, with what is between its words.
func (s splitText) fits(p part) bool {
	return p.to-p.from <= snippetWords && fits(s.text[s.words[p.from].start:s.words[p.to-1].end])
}

func fits(text string) bool {
	return len(text) <= utf8.UTFMax*textRunes && utf8.RuneCountInString(text) <= textRunes
}

// cut makes a snippet of a part and the words around it as far as there is room.
func (s splitText) cut(p part) string {
	for grown := true; grown; {
		grown = false
		if wider := (part{p.from - 1, p.to}); p.from > 0 && s.fits(wider) {
			p, grown = wider, true
		}
		if wider := (part{p.from, p.to + 1}); p.to < len(s.words) && s.fits(wider) {
			p, grown = wider, true
		}
	}
	start, end := s.words[p.from].start, s.words[p.to-1].end
	if p == (part{0, len(s.words)}) && fits(s.text) {
		start, end = 0, len(s.text)
	}
	line := strings.Join(strings.Fields(s.text[start:end]), " ")
	before, after := "", ""
	if p.from > 0 {
		before = snippetMark
	}
	shown := firstRunes(line, textRunes) // a phrase may be longer
	if p.to < len(s.words) || len(shown) < len(line) {
		after = snippetMark
	}
	return before + shown + after
}

// firstRunes are the first characters of a text.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
