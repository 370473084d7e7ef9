package bm25

import (
	"cmp"
	"slices"
)

const (
	// MaxQueryBytes is how much of a query is read.
	MaxQueryBytes = 4 << 10

	expansionWeight = 0.35 // of a term that the query does not have, but stands for
)

// Search returns the numbers of the documents that match a query, best first: at most limit, none for a limit below one. A
// query without terms, because it is empty or has only stop words, matches nothing, unless it is about whoever asks: then it
// matches the titles that are, too.
//
// The order is fixed: a smaller limit gives the beginning of what a larger one gives, and the order of the words in the query
// does not count. The time is proportional to the number of documents that have one of the terms; it is meant for limits of
// a few dozen.
func (x *Index) Search(query string, limit int) []int {
	if limit < 1 || x.documents == 0 {
		return nil
	}
	query = cut(query, MaxQueryBytes)
	literal, expanded := x.query(query)
	r := ranking{ranks: make([]rank, x.documents), matches: make([]uint32, 0, x.documents)}
	sought := 0.0
	for _, term := range literal {
		r.add(x.text.postingsOf(term), ownTerm, 1)
		rarity := x.titleRarity(term)
		r.addTitle(x.title.postingsOf(term), rarity, 1)
		sought += rarity
	}
	for _, term := range expanded {
		r.add(x.text.postingsOf(term), expansion, expansionWeight)
		r.addTitle(x.title.postingsOf(term), x.titleRarity(term), expansionWeight)
	}
	r.scoreTitles(float32(sought))
	key := wordKey(query, stem)
	if key == "" && len(r.matches) == 0 && hasWord(query, firstPerson) {
		r.addAll(x.titles.firstPerson)
	}
	for _, document := range x.titles.stemmed[key] {
		r.ranks[document].tier = title
	}
	for _, document := range x.titles.spelled[wordKey(query, asSpelled)] {
		r.ranks[document].tier = spelledTitle
	}
	return r.best(limit)
}

func (x *Index) titleRarity(term uint32) float64 {
	return inverseFrequency(x.documents, len(x.title.postingsOf(term)))
}

// query gives the terms of a query that are in the index: its own, and those that it stands for. No term is in both, or
// twice.
func (x *Index) query(text string) (literal, expanded []uint32) {
	for identifier := range identifiers(text) {
		for word := range words(identifier) {
			literal = x.appendTerm(literal, word)
			for _, other := range intents[singular(word)] {
				expanded = x.appendTerm(expanded, other)
			}
		}
	}
	slices.Sort(literal)
	literal = slices.Compact(literal)
	slices.Sort(expanded)
	expanded = slices.DeleteFunc(slices.Compact(expanded), func(term uint32) bool {
		_, found := slices.BinarySearch(literal, term)
		return found
	})
	return literal, expanded
}

// appendTerm appends the term of a word, if the index has it. A plural in -ies has two, and both are in every document that
// has the plural: so the one that more documents have is the one that has a singular.
func (x *Index) appendTerm(list []uint32, word string) []uint32 {
	best, documents := uint32(0), 0
	first, second := stems(word)
	for _, stem := range [...]string{first, second} {
		if term, ok := x.terms[stem]; ok && len(x.text.postingsOf(term)) > documents {
			best, documents = term, len(x.text.postingsOf(term))
		}
	}
	if documents == 0 {
		return list
	}
	return append(list, best)
}

// tier is the best thing that a document has in common with a query. Any document of a higher tier comes before all of a
// lower one.
type tier uint8

const (
	nothing      tier = iota
	expansion         // a term that the query stands for
	ownTerm           // a term of the query
	title             // the title has the words of the query, in some form, and no others
	spelledTitle      // the title has the words of the query as they are, and no others
)

// rank is where a document stands.
type rank struct {
	tier    tier
	score   float32
	title   float32 // the score of the title
	covered float32 // the rarity of the terms of the query that the title has
}

// ranking is the result of a search in the making.
type ranking struct {
	ranks   []rank   // by document
	matches []uint32 // the documents with a rank
}

func (r *ranking) add(postings []posting, t tier, weight float32) {
	for _, p := range postings {
		of := &r.ranks[p.document]
		if of.tier == nothing {
			r.matches = append(r.matches, p.document)
		}
		of.tier = max(of.tier, t)
		of.score += weight * p.score
	}
}

// addTitle is for titles of documents that were added.
func (r *ranking) addTitle(postings []posting, rarity float64, weight float32) {
	for _, p := range postings {
		of := &r.ranks[p.document]
		of.title += weight * p.score
		of.covered += weight * float32(rarity)
	}
}

// addAll is for documents that match equally well.
func (r *ranking) addAll(documents []uint32) {
	for _, document := range documents {
		r.ranks[document].tier = expansion
	}
	r.matches = append(r.matches, documents...)
}

// scoreTitles adds the scores of the titles. A title counts as far as it covers what is sought: one that has a common word of the
// query and no other is probably about something else.
func (r *ranking) scoreTitles(sought float32) {
	for _, document := range r.matches {
		of := &r.ranks[document]
		if of.covered < sought {
			of.title *= of.covered / sought
		}
		of.score += of.title
	}
}

// best lists the best documents in their order.
func (r *ranking) best(limit int) []int {
	var list []int
	for _, document := range r.matches {
		if len(list) == limit {
			if r.compare(list[limit-1], int(document)) < 0 {
				continue
			}
			list = list[:limit-1]
		}
		i, _ := slices.BinarySearchFunc(list, int(document), r.compare)
		list = slices.Insert(list, i, int(document))
	}
	return list
}

// compare is negative if the document x comes before y.
func (r *ranking) compare(x, y int) int {
	a, b := r.ranks[x], r.ranks[y]
	return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.score, a.score), cmp.Compare(x, y))
}
