package bm25

import "strings"

// stopWords only hold a sentence together. What a tool can do ("get", "list", "find") is not among them.
var stopWords = set(`
	a an the this that these those
	i me my we us our you your he him his she her it its they them their
	am is are was were be been being do does did has have had
	can could will would shall should may might must
	and or of in on at to for from with by as into about
	what which who when where why how
`)

// firstPerson are the stop words for whoever asks. In a query of stop words only, such as "who am I", each stands for all of
// firstPersonInTitle, of which i is none: in a title it is mostly a part of something else, such as i18n.
var (
	firstPerson        = set(`i me my`)
	firstPersonInTitle = set(`me my`)
)

// unstemmed are words that end like a plural or an adverb and are neither. Stripped, several would become another word: new,
// app, len.
var unstemmed = set(`
	alias analysis atlas axis basis bias bonus bus campus canvas census chaos corpus diagnosis focus gas kubernetes lens
	minus news plus radius redis series species status synopsis synthesis thesis virus
	apply reply supply
`)

// endings are tried in this order, and the first that fits is stripped.
var endings = []struct{ ending, replacement string }{
	{"ies", "y"},
	{"ing", ""},
	{"ed", ""},
	{"ly", ""},
	{"es", ""},
	{"er", ""},
	{"s", ""},
	{"e", ""},
}

// intents says what else to look for: the words on the left, in the singular, add those on the right.
var intents = table(`
	look lookup research                  -> search web find
	current latest news price weather     -> search web
	url page site website                 -> fetch web browse
	remember earlier decided              -> memory recall history
	remind later daily recurring          -> schedule automations cron reminder
	say reply answer                      -> message send
	picture photo screenshot              -> image
	speak say voice                       -> audio speech
	run command shell terminal            -> exec process
	directory folder path                 -> file list

	make open new start                   -> create
	open visit                            -> navigate
	list find show                        -> search
	search                                -> find
	folder                                -> directory
	approve                               -> review
	change modify                         -> update edit
	remove erase                          -> delete
`)

// abbreviations are read as the words on the right, in documents and in queries. The plurals of short ones have no other way in.
var abbreviations = table(`
	repo repos -> repository
	pr prs     -> pull request
	db dbs     -> database
	doc docs   -> documentation
`)

func set(words string) map[string]bool {
	s := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		s[word] = true
	}
	return s
}

func table(lines string) map[string][]string {
	t := map[string][]string{}
	for line := range strings.Lines(lines) {
		left, right, _ := strings.Cut(line, "->")
		for word := range strings.FieldsSeq(left) {
			t[word] = append(t[word], strings.Fields(right)...)
		}
	}
	return t
}
