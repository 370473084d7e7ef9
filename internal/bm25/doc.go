// Package bm25 ranks short descriptions, such as those of tools, against what somebody is looking for.
//
//	index := bm25.New(slices.Values([][]string{
//		{"create_issue", "Create a new issue."},
//		{"list_issues", "List issues, newest first."},
//	}))
//	for _, document := range index.Search("make an issue", 5) {
//		fmt.Println(document) // the place of a document in the list
//	}
//
// It knows documents, which are lists of texts, and terms; it does not know what a tool is.
//
// # From text to terms
//
// Documents and queries take the same path. Text is split into identifiers: runs of letters, digits and underscores of any
// script. An identifier stands for itself, in lower case, and for its parts, if it has several:
//
//	listURLs  ->  listurls, list, urls
//	base64    ->  base64, base, 64
//
// Words that only hold a sentence together are dropped, and endings are stripped, so that "running" finds "run". The
// words and endings are tables, in words.go. They are English; words of other languages match as they are written, and
// scripts that do not separate words match by the whole run. Accents count, and text is not normalised: a letter with a
// combining accent is not the letter that has it built in.
//
// An abbreviation is read as what it stands for: a pr is a pull request, in documents and in queries.
//
// # Ranking
//
// The score is Okapi BM25 with k1 = 1.2 and b = 0.75 over one bag of terms for each document: a rare term counts more than
// a common one, a repeated one little more than a single one, and a long document less than a short one. A word of a query
// can also stand for an intent: "screenshot" looks for images, too. Such expansions have a weight of 0.35.
//
// The title counts once more, as a field of its own, so that a document whose title says what is sought is not lost because
// it also has much to say. To the score of the bag comes the BM25 score of the title among all titles, where a term counts
// once, multiplied by the part of the query that the title covers, where a term weighs what it is worth in titles. A title
// that has one common word of many adds little; one that has them all adds all of its score.
//
// Whatever the scores, the first documents are those whose title has just the words of the query: "list the issues" is how
// somebody writes list_issues. The last are those that have an expansion only. Equal documents keep their order.
//
// A query of stop words only matches nothing, with one exception: one about whoever asks, such as "who am I", matches the
// titles that say me or my, if nothing else matches.
//
// The specification asks for the bag, the intents above the empty line of their table, the expansions and the order of the
// groups. The field of titles, the abbreviations, the other intents and the exception go beyond.
//
// # Limits
//
// Of a document the first [MaxDocumentBytes] count, of a query the first [MaxQueryBytes]. An identifier of more than 128
// bytes is skipped. A term counts once in an identifier and at most 16 times in a document, though all its repetitions
// count as length: stuffing a text with a word pushes it down.
//
// # Concurrency
//
// An [Index] never changes and is safe for concurrent use by multiple goroutines.
package bm25
