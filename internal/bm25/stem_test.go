package bm25

import (
	"slices"
	"strings"
	"testing"
)

// TestStemsMeet has words on each line that must find each other.
func TestStemsMeet(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(`
		create creates created creating
		run runs running
		tag tags tagged tagging
		call calls called calling caller
		pass passes passed passing
		policy policies
		cookie cookies
		query queries
		file files filing
		message messages
		class classes
		address addresses addressed
		status statuses
		alias aliases
		price prices pricing priced
		search searches searched searching searcher
		url urls
		reply replies
	`) {
		list := strings.Fields(line)
		for _, word := range list {
			for _, other := range list {
				if !meet(word, other) {
					t.Errorf("%s does not find %s", word, other)
				}
			}
		}
	}
}

func TestStemsDoNotMeet(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"news", "new"}, {"lens", "len"}, {"apply", "app"}, {"bus", "bu"}, {"analysis", "analysi"},
		{"use", "us"}, {"add", "ad"}, {"fill", "fil"}, {"class", "clas"}, {"policy", "police"}, {"creator", "create"},
	} {
		if meet(pair[0], pair[1]) {
			t.Errorf("%s finds %s", pair[0], pair[1])
		}
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"running": "run", "adding": "add", "calling": "call", "buzzing": "buzz", "fetched": "fetch",
		"news": "news", "statuses": "status", "process": "process", "is": "is", "red": "red", "user": "user", "users": "user",
		"settings": "set", // three passes at most: settings, setting, sett
		"größer":   "größ", "a": "a", "": "",
	} {
		if got := stem(word); got != want {
			t.Errorf("stem(%q) = %q, want %q", word, got, want)
		}
	}
}

// meet reports whether a document with one word is found by the other.
func meet(document, query string) bool {
	return len(New(slices.Values([][]string{{"", document}})).Search(query, 1)) == 1
}

func TestTables(t *testing.T) {
	t.Parallel()
	if len(stopWords) < 50 || len(unstemmed) < 20 || len(intents) < 30 {
		t.Fatalf("%d stop words, %d unstemmed words, %d intents: that cannot be all", len(stopWords), len(unstemmed), len(intents))
	}
	for trigger, terms := range intents {
		if stopWords[trigger] || singular(trigger) != trigger || len(terms) == 0 {
			t.Errorf("%q can never trigger %q", trigger, terms)
		}
		for _, term := range append(terms, trigger) {
			if stopWords[term] || strings.ToLower(term) != term || len(slices.Collect(words(term))) != 1 {
				t.Errorf("%q -> %q: %q is not one word", trigger, terms, term)
			}
		}
	}
	for _, verb := range []string{"get", "list", "find", "read", "search", "run", "show", "make", "use"} {
		if stopWords[verb] {
			t.Errorf("the stop words have %q, which says what a tool can do", verb)
		}
	}
}
