package bm25

import (
	"iter"
	"math"
	"slices"
	"strings"
)

const (
	paramK1 = 1.2  // how much the repetitions of a term count
	paramB  = 0.75 // how much the length of a document counts

	// MaxDocumentBytes is how much of a document is read.
	MaxDocumentBytes = 16 << 10

	maxRepeats = 16 // of a term in a document that count; in a title, one does
)

// Index is a list of documents that can be searched. Make one with [New]; the zero value is an empty list.
type Index struct {
	terms     map[string]uint32 // numbers of the terms
	text      field             // all texts of the documents
	title     field             // their titles alone
	titles    titles
	documents int
}

// field is a part that all documents have: which terms are in it.
type field struct {
	starts   []int     // by term: where its postings start; and at the end, where the last ones end
	postings []posting // by term, and by document
}

func (f *field) postingsOf(term uint32) []posting { return f.postings[f.starts[term]:f.starts[term+1]] }

// posting says that a document has a term.
type posting struct {
	document uint32
	score    float32 // what the term adds to the score of the document; above zero
}

// titles are documents by the words of their titles.
type titles struct {
	spelled map[string][]uint32 // by the words as they are
	stemmed map[string][]uint32 // by their stems

	firstPerson []uint32 // those with a word of firstPersonInTitle: get_me
}

func (t *titles) add(title string, document uint32) {
	if key := wordKey(title, asSpelled); key != "" {
		t.spelled[key] = append(t.spelled[key], document)
		key = wordKey(title, stem)
		t.stemmed[key] = append(t.stemmed[key], document)
	}
	if hasWord(title, firstPersonInTitle) {
		t.firstPerson = append(t.firstPerson, document)
	}
}

// New makes an index of documents. A document is a list of texts, which count alike, except that the first is its title: it
// counts once more on its own, and a document whose title has the words of a query and no others comes before all other documents. Its number is its place in the
// sequence. The sequence may yield the same slice again and again, and neither it nor the texts are kept.
//
// The time is proportional to the text, and so is the memory, about eight bytes for each different term of each document.
func New(documents iter.Seq[[]string]) *Index {
	b := builder{
		terms:  map[string]uint32{},
		titles: titles{spelled: map[string][]uint32{}, stemmed: map[string][]uint32{}},
		seen:   map[string]span{},
	}
	for texts := range documents {
		b.add(texts)
	}
	return b.index()
}

// builder counts the terms of documents, one after the other.
type builder struct {
	terms       map[string]uint32
	titles      titles
	seen        map[string]span // in known: the terms of the identifiers that were seen; there are few different ones
	known       []uint32
	text, title fieldBuilder
}

// span is a part of a slice.
type span struct{ start, end int }

func (b *builder) add(texts []string) {
	if len(texts) > 0 {
		b.titles.add(cut(texts[0], MaxQueryBytes), uint32(len(b.text.lengths)))
	}
	b.text.begin()
	b.title.begin()
	budget := MaxDocumentBytes
	for i, text := range texts {
		text = cut(text, budget)
		budget -= len(text)
		for identifier := range identifiers(text) {
			for _, term := range b.termsOf(identifier) {
				b.text.add(term)
				if i == 0 {
					b.title.add(term)
				}
			}
		}
	}
}

// termsOf gives the numbers of the terms of an identifier, each once; new terms get new numbers.
func (b *builder) termsOf(identifier string) []uint32 {
	at, ok := b.seen[identifier]
	if !ok {
		at.start = len(b.known)
		for word := range words(identifier) {
			first, second := stems(word)
			b.known = append(b.known, b.number(first))
			if second != "" {
				b.known = append(b.known, b.number(second))
			}
		}
		terms := b.known[at.start:]
		slices.Sort(terms)
		at.end = at.start + len(slices.Compact(terms))
		b.known = b.known[:at.end]
		b.seen[identifier] = at
	}
	return b.known[at.start:at.end]
}

func (b *builder) number(term string) uint32 {
	n, ok := b.terms[term]
	if !ok {
		n = uint32(len(b.terms))
		b.terms[strings.Clone(term)] = n // not a part of the text, which would be kept with it
		b.text.latest = append(b.text.latest, 0)
		b.title.latest = append(b.title.latest, 0)
	}
	return n
}

func (b *builder) index() *Index {
	return &Index{
		terms:     b.terms,
		text:      b.text.field(maxRepeats),
		title:     b.title.field(1),
		titles:    b.titles,
		documents: len(b.text.lengths),
	}
}

// fieldBuilder counts the terms of a field.
type fieldBuilder struct {
	latest  []int   // by term: the place after its latest count
	counts  []count // by document
	first   int     // where the counts of the latest document start
	lengths []int   // by document: its terms, repetitions included
}

type count struct{ term, document, times uint32 }

// begin goes on to the next document.
func (b *fieldBuilder) begin() {
	b.first = len(b.counts)
	b.lengths = append(b.lengths, 0)
}

func (b *fieldBuilder) add(term uint32) {
	document := len(b.lengths) - 1
	b.lengths[document]++
	if b.latest[term] <= b.first {
		b.counts = append(b.counts, count{term: term, document: uint32(document)})
		b.latest[term] = len(b.counts)
	}
	b.counts[b.latest[term]-1].times++
}

// field sorts the counts by term, and makes scores of them. A term counts at most so many times in a document.
func (b *fieldBuilder) field(repeats uint32) field {
	f := field{starts: make([]int, len(b.latest)+1), postings: make([]posting, len(b.counts))}
	for _, c := range b.counts {
		f.starts[c.term+1]++
	}
	rarity := make([]float64, len(b.latest))
	for term := range rarity {
		rarity[term] = inverseFrequency(len(b.lengths), f.starts[term+1])
		f.starts[term+1] += f.starts[term]
	}
	average := 0.0
	for _, length := range b.lengths {
		average += float64(length) / float64(len(b.lengths))
	}
	next := slices.Clone(f.starts)
	for _, c := range b.counts {
		score := rarity[c.term] * saturation(min(c.times, repeats), float64(b.lengths[c.document])/average)
		f.postings[next[c.term]] = posting{c.document, float32(score)}
		next[c.term]++
	}
	return f
}

// inverseFrequency is what a term is worth that some of all documents have.
func inverseFrequency(all, having int) float64 {
	return math.Log(1 + (float64(all-having)+0.5)/(float64(having)+0.5))
}

// saturation is what the occurrences of a term in a document are worth. The length is relative to the average document.
func saturation(times uint32, length float64) float64 {
	t := float64(times)
	return t * (paramK1 + 1) / (t + paramK1*(1-paramB+paramB*length))
}
