package transcript

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of a text as search compares it, with the place that it has in the text.
type word struct {
	folded     string // without case and accents
	start, end int
}

// maxWordBytes is how much of a word is compared. Longer ones are no words, but data.
const maxWordBytes = 128

// words splits a text into words: letters and digits with their marks. The letters of scripts that do not put spaces between
// words are words of their own, so that any part of a sentence is found in it, as a phrase; and so are emoji.
//
// SQLite's own tokenizers do neither, and what they make of a text nobody could tell who makes snippets of it. So this
// is the only place that knows: SQLite gets words that are folded already.
func words(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		var folded []byte
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			class := classOf(r)
			if class != letter && class != single {
				i += size
				continue
			}
			start := i
			folded = appendFolded(folded[:0], r)
			for i += size; i < len(text); i += size {
				r, size = utf8.DecodeRuneInString(text[i:])
				next := classOf(r)
				if next != mark && (next != letter || class == single) {
					break
				}
				if len(folded) < maxWordBytes {
					folded = appendFolded(folded, r)
				}
			}
			w := word{text[start:i], start, i}
			if string(folded) != w.folded {
				w.folded = string(folded)
			}
			if !yield(w) {
				return
			}
		}
	}
}

// foldedWords are the words of a text.
func foldedWords(text string) []string {
	var all []string
	for w := range words(text) {
		all = append(all, w.folded)
	}
	return all
}

// class is what a character is to words.
type class byte

const (
	separator class = iota
	letter
	single // a word of its own, with the marks behind it
	mark
)

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return letter
		}
		return separator
	case unicode.IsMark(r):
		return mark
	case unicode.IsLetter(r), unicode.IsNumber(r):
		if unspaced(r) {
			return single
		}
		return letter
	case unicode.Is(unicode.So, r) && (0x2600 <= r && r <= 0x27bf || r >= 0x1f000): // emoji, but no lines of tables
		return single
	}
	return separator
}

// unspaced tells that a letter is of a script that does not put spaces between words, or as Korean not between a word and what
// is inflected of it.
func unspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r <= 0x0eff, // Thai, Lao
		0x1000 <= r && r <= 0x109f, // Myanmar
		0x1780 <= r && r <= 0x17ff, // Khmer
		0x3005 <= r && r <= 0x30ff, // Hiragana, Katakana and marks among Han characters
		0x3400 <= r && r <= 0x9fff, // Han
		0xac00 <= r && r <= 0xd7a3, // Hangul
		0xf900 <= r && r <= 0xfaff,
		0x20000 <= r && r <= 0x3ffff:
		return true
	}
	return false
}

// appendFolded appends a character of a word without its case and accents.
func appendFolded(b []byte, r rune) []byte {
	switch {
	case 'A' <= r && r <= 'Z':
		return append(b, byte(r-'A'+'a'))
	case r < utf8.RuneSelf:
		return append(b, byte(r))
	case omitted(r):
		return b
	case 0xff01 <= r && r <= 0xff5e: // ASCII in the width of Han characters
		r -= 0xff01 - '!'
	}
	r = unicode.ToLower(unicode.ToUpper(r)) // the two lower cases of sigma are one
	if plain, ok := plainLetters[r]; ok {
		r = plain
	}
	return utf8.AppendRune(b, r)
}

// omitted tells whether a mark may be left out when a word is written. Others, as the vowels of Indian scripts, may not.
func omitted(r rune) bool {
	return 0x0300 <= r && r <= 0x036f || // accents
		0x0591 <= r && r <= 0x05c7 || 0x064b <= r && r <= 0x065f || r == 0x0670 || // vowels in Hebrew and Arabic
		0xfe00 <= r && r <= 0xfe0f // variants of emoji
}

// plainLetters are the letters without accents of those that have some in one character.
var plainLetters = func() map[rune]rune {
	plain := map[rune]rune{}
	for group := range strings.FieldsSeq(accented) {
		base, size := utf8.DecodeRuneInString(group)
		for _, r := range group[size:] {
			plain[r] = base
		}
	}
	return plain
}()

// accented has, behind a letter, those that Unicode decomposes into it and accents.
const accented = `
aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ bḃḅḇ cçćĉċčḉ dďḋḍḏḑḓ eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ fḟ gĝğġģǧǵḡ hĥȟḣḥḧḩḫẖ iìíîïĩīĭįǐȉȋḭḯỉị
jĵǰ kķǩḱḳḵ lĺļľḷḹḻḽ mḿṁṃ nñńņňǹṅṇṉṋ oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṝṟ sśŝşšșṡṣṥṧṩ tţťțṫṭṯṱẗ
uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự vṽṿ wŵẁẃẅẇẉẘ xẋẍ yýÿŷȳẏẙỳỵỷỹ zźżžẑẓẕ æǣǽ øǿ ʒǯ αάἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ εέἐἑἒἓἔἕὲέ
ηήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ ιΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ οόὀὁὂὃὄὅὸό ρῤῥ υΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ ωώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ аӑӓ гѓ
еѐёӗ жӂӝ зӟ ийѝӣӥ кќ оӧ уўӯӱӳ чӵ ыӹ эӭ ії ѵѷ әӛ өӫ
`
