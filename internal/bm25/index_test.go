package bm25

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func search(documents [][]string, query string, limit int) []int {
	return New(slices.Values(documents)).Search(query, limit)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	documents := [][]string{
		0: {"web_search", "Search the web."},
		1: {"issue_search", "Search issues by their text.", "text"},
		2: {"issue_create", "Open a new issue. Use issue_search first."},
		3: {"do", "Does it."},
		4: {"image_view", "Look at an image."},
		5: {"photo_upload", "Upload a file."},
		6: {},
		7: {"web_fetch", "Fetch a page."},
		8: {"web_fetch", "Fetch a page."},
		9: {"issues_creating"},
	}
	for _, test := range []struct {
		name, query string
		want        []int
	}{
		{"the title's words, in any form and order", "searching the issues", []int{1, 2, 0, 9}},
		{"the title's words as they are", "creating issues", []int{9, 2, 1}},
		{"the title's words as they are", "create issue", []int{2, 9, 1}},
		{"a word of the query before an expansion", "photo", []int{5, 4}},
		{"an expansion alone", "screenshots", []int{4}},
		{"equal documents keep their order", "fetching from the web", []int{7, 8, 0}},
		{"stop words", "do it with the", nil},
		{"stop words for whoever asks, but nobody is in a title", "who am I", nil},
		{"empty", "", nil},
		{"no word", " \t?! ", nil},
		{"no match", "kubernetes", nil},
	} {
		if got := search(documents, test.query, 10); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q gives %v, want %v", test.name, test.query, got, test.want)
		}
	}
	for _, limit := range []int{math.MinInt, -1, 0} {
		if got := search(documents, "search", limit); got != nil {
			t.Errorf("limit %d gives %v", limit, got)
		}
	}
	if got := new(Index).Search("search", 5); got != nil {
		t.Errorf("the zero Index finds %v", got)
	}
	if got := search(nil, "search", 5); got != nil {
		t.Errorf("an index of nothing finds %v", got)
	}
}

// TestTitles has short titles among long texts that mention more.
func TestTitles(t *testing.T) {
	t.Parallel()
	mentions := strings.Repeat("The pull request of the repository, its number, and the branch of the pull request. ", 5)
	documents := [][]string{
		0: {"update_pull_request_title", "Update the title of a pull request.", mentions},
		1: {"create_pull_request", "Make one, with " + strings.Repeat("a description, a base and a head, ", 30), mentions},
		2: {"issue_write", "Write an issue about a pull request in a repository.", mentions},
		3: {"search_repositories", strings.Repeat("By name, readme, topics or stars. ", 20)},
		4: {"get_me", "Details of the user."},
		5: {"i18n_translate", "Translate to another language."},
		6: {"review_pr", "Say what is good."},
		7: {"web_log", "Of dbx."},
	}
	for _, test := range []struct {
		name, query string
		want        []int
	}{
		{"a title that an expansion completes", "open a pull request", []int{1}},
		{"a title before texts", "repository", []int{3}},
		{"an abbreviation in the query", "my repos", []int{3}},
		{"an abbreviation in a title", "review the pull request", []int{6}},
		{"an abbreviation with a capital letter for each word", "new PR", []int{1}},
		{"stop words for whoever asks", "who am I", []int{4}},
		{"another word with them", "give me bread", nil},
		{"others", "who are you", nil},
	} {
		got := search(documents, test.query, len(test.want))
		if test.want == nil {
			got = search(documents, test.query, 10)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q gives %v, want %v", test.name, test.query, got, test.want)
		}
	}
}

// randomDocuments have words of very different frequency.
func randomDocuments(r *rand.Rand, n int) [][]string {
	zipf := rand.NewZipf(r, 1.3, 4, 400)
	documents := make([][]string, n)
	for i := range documents {
		var text strings.Builder
		for range 1 + r.IntN(40) {
			fmt.Fprintf(&text, "q%dx ", zipf.Uint64()) // q, the number and x are words, too
		}
		documents[i] = []string{fmt.Sprintf("title%c q%dx q%dx", 'a'+i%26, zipf.Uint64(), zipf.Uint64()), text.String()}
	}
	return documents
}

// TestScores compares the order with scores that are computed as the formula is written, document by document.
func TestScores(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		documents := randomDocuments(r, 1+r.IntN(200))
		index := New(slices.Values(documents))
		for range 20 {
			query := randomDocuments(r, 1)[0][1]
			want := scores(documents, query)
			got := index.Search(query, len(documents))
			if len(got) != len(want) {
				t.Fatalf("%q: %d documents, want %d", query, len(got), len(want))
			}
			for i := 1; i < len(got); i++ {
				a, b := want[got[i-1]], want[got[i]]
				if a == 0 || b == 0 || a < b*(1-1e-5) || a == b && got[i-1] > got[i] {
					t.Fatalf("%q: document %d (%v) before %d (%v)", query, got[i-1], a, got[i], b)
				}
			}
		}
	}
}

// scores is BM25 of the documents that match a query whose words have no intents, plus that of their titles as far as they
// cover the query.
func scores(documents [][]string, query string) map[int]float64 {
	texts, titles := make([]map[string]int, len(documents)), make([]map[string]int, len(documents))
	for i, document := range documents {
		texts[i], titles[i] = bag(document...), bag(document[0])
	}
	result, inTitle, covered, sought := map[int]float64{}, map[int]float64{}, map[int]float64{}, 0.0
	for _, term := range slices.Sorted(maps.Keys(bag(query))) {
		inText, _ := termScores(texts, term, 16)
		if len(inText) == 0 {
			continue
		}
		for i, score := range inText {
			result[i] += score
		}
		scores, idf := termScores(titles, term, 1)
		for i, score := range scores {
			inTitle[i] += score
			covered[i] += idf
		}
		sought += idf
	}
	for i := range inTitle {
		result[i] += inTitle[i] * covered[i] / sought
	}
	return result
}

// termScores is BM25 of the bags that have a term, which counts some times at most, and its inverse frequency.
func termScores(bags []map[string]int, term string, most int) (scores map[int]float64, idf float64) {
	lengths, total, n := make([]int, len(bags)), 0, 0.0
	for i, bag := range bags {
		for _, times := range bag {
			lengths[i] += times
		}
		total += lengths[i]
		if bag[term] > 0 {
			n++
		}
	}
	idf = math.Log(1 + (float64(len(bags))-n+0.5)/(n+0.5))
	scores = map[int]float64{}
	for i, bag := range bags {
		if tf := float64(min(bag[term], most)); tf > 0 {
			length := float64(lengths[i]) * float64(len(bags)) / float64(total)
			scores[i] = idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*length))
		}
	}
	return scores, idf
}

func bag(texts ...string) map[string]int {
	terms := map[string]int{}
	for _, text := range texts {
		for identifier := range identifiers(text) {
			for word := range words(identifier) {
				terms[stem(word)]++
			}
		}
	}
	return terms
}

// TestOrderIsFixed checks what Search promises of its order.
func TestOrderIsFixed(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	documents := randomDocuments(r, 300)
	index, again := New(slices.Values(documents)), New(slices.Values(documents))
	for range 50 {
		query := strings.Fields(randomDocuments(r, 1)[0][1])
		all := index.Search(strings.Join(query, " "), 60)
		for limit := range len(all) {
			if got := index.Search(strings.Join(query, " "), limit); !slices.Equal(got, all[:limit]) {
				t.Fatalf("%q: limit %d gives %v, limit 60 %v", query, limit, got, all)
			}
		}
		r.Shuffle(len(query), func(i, j int) { query[i], query[j] = query[j], query[i] })
		if got := again.Search(strings.Join(query, " "), 60); !slices.Equal(got, all) {
			t.Fatalf("%q: another index, and other order of words, gives %v, want %v", query, got, all)
		}
	}
}

// TestStuffing has documents that repeat words to be found. They must not come before one that just has them.
func TestStuffing(t *testing.T) {
	t.Parallel()
	honest := []string{"read_text", "Read the contents of a text file."}
	filler := func(n int) [][]string {
		var list [][]string
		for i := range n {
			list = append(list, []string{fmt.Sprintf("tool_%d", i), "Show what the weather in a town is like, with a file of it."})
		}
		return list
	}
	for name, stuffed := range map[string][]string{
		"one word":     {"spam", strings.Repeat("file ", 10_000)},
		"some words":   {"spam", strings.Repeat("file read contents text ", 10_000)},
		"joined words": {"spam", strings.Repeat("readTextFile ", 10_000)},
		"a megabyte":   {"spam", "Read text files, file contents. " + strings.Repeat("lorem ipsum dolor sit amet ", 40_000)},
		"zero width":   {"spam", strings.Repeat("file\u200bread\u200btext\u200bcontents\u200b", 10_000)},
		"many texts":   append([]string{"spam"}, slices.Repeat([]string{"file read contents text"}, 10_000)...),
		"a long title": {strings.Repeat("file read contents text ", 1000), "Spam."},
	} {
		documents := append(filler(30), stuffed, honest)
		for _, query := range []string{"file contents", "read file", "get the text of files"} {
			if got := search(documents, query, 3); got[0] != 31 {
				t.Errorf("%s: %q gives %v, want document 31 first", name, query, got)
			}
		}
	}
}

// TestHugeTexts checks that a text beyond the limit costs nothing: it would take minutes to index all of these.
func TestHugeTexts(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("word \u0301\u200d\u202e", 1<<22)
	documents := slices.Repeat([][]string{{"title", huge, huge}}, 200)
	start := time.Now()
	index := New(slices.Values(documents))
	index.Search(huge, 10)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("%d texts of %d bytes took %v", 2*len(documents), len(huge), took)
	}
	if got := index.Search(strings.Repeat("x ", MaxQueryBytes/2-2)+"word", 1); len(got) != 1 {
		t.Error("the end of a query of the greatest length does not count")
	}
	if got := index.Search(strings.Repeat("x ", MaxQueryBytes/2)+"word", 1); len(got) != 0 {
		t.Error("a query counts beyond its greatest length")
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("create_issue", "Create an issue.", "creating issues")
	f.Add("a\u0301\u200d", "\xff\xfe", "policies cookies")
	f.Add("do", "ﬁ ŉ ΐ İ", "screenshot URLs2x")
	f.Fuzz(func(t *testing.T, title, text, query string) {
		documents := [][]string{{title, text}, {text, title}, {"other", "An image."}, {title}}
		index := New(slices.Values(documents))
		all := index.Search(query, 10)
		for limit := range 5 {
			if got := index.Search(query, limit); !slices.Equal(got, all[:min(limit, len(all))]) {
				t.Fatalf("limit %d gives %v, limit 10 %v", limit, got, all)
			}
		}
		if key := wordKey(cut(title, MaxQueryBytes), asSpelled); key != "" {
			if got := index.Search(title, 1); len(got) != 1 || wordKey(cut(documents[got[0]][0], MaxQueryBytes), asSpelled) != key {
				t.Fatalf("the title %q finds %v", title, got)
			}
		}
	})
}
