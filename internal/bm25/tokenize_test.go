package bm25

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"create_issue", "create issue create_issue"},
		{"addPerson_mcp_crm", "add person mcp crm addperson_mcp_crm"},
		{"bitable_v1_appTableRecord_search", "bitable v 1 app table record search bitable_v1_apptablerecord_search"},
		{"llm-task", "llm task"},
		{"parseURLString", "parse url string parseurlstring"},
		{"HTTPServer", "http server httpserver"},
		{"listURLs", "list urls listurls"},
		{"URLs", "urls"},
		{"URLsList", "urls list urlslist"},
		{"IDs2names", "ids 2 names ids2names"},
		{"PDFscan", "pd fscan pdfscan"}, // only a plural s belongs to the capitals
		{"base64", "base 64 base64"},
		{"_private__name_", "private name private__name"},
		{"___", ""},
		{"9patch", "9 patch 9patch"},
		{"Get the size of a file.", "get size file"},
		{"do", ""},
		{"browser_wait_for", "browser wait browser_wait_for"},
		{"don't", "don t"},
		{"Größe ändern", "größe ändern"},
		{"СоздатьЗадачу", "создать задачу создатьзадачу"},
		{"创建 issue", "创建 issue"},
		{"צור משימה", "צור משימה"},
		{"\u202eeteled\u202c file", "eteled file"},
		{"cafe\u0301Bar", "cafe\u0301 bar cafe\u0301bar"},
		{"हिन्दी भाषा", "हिन्दी भाषा"},
		{"do\u00adcu\u200dment\ufeff", "document"},
		{"cre\u200bate", "cre ate"}, // a space, though one of no width
		{"a\xffb c\xf0\x9f", "b c"},
		{"🙂 ok", "ok"},
		{"", ""},
	} {
		var got []string
		for identifier := range identifiers(test.text) {
			got = slices.AppendSeq(got, words(identifier))
		}
		if have := strings.Join(got, " "); have != test.want {
			t.Errorf("%q: words %q, want %q", test.text, have, test.want)
		}
	}
}

func TestLongIdentifiersAreSkipped(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", "ж", "camelCase", "\u0301", "\u200d"} {
		fits := "a" + strings.Repeat(unit, (maxIdentifierBytes-1)/len(unit))
		text := "a" + strings.Repeat(unit, 1<<17) + " " + fits + " " + fits + unit
		if got := slices.Collect(identifiers(text)); !slices.Equal(got, []string{fits}) {
			t.Errorf("%q: %d identifiers, want the one that is short enough", unit, len(got))
		}
	}
}

func TestWordKey(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"create_issue", "Create an issue", "creating issues", "createIssue", "issue-create", "create, create the issue!"},
		{"listURLs", "list_urls", "url list"},
		{"do", "", "the", "???"},
	} {
		for _, text := range same {
			if got, want := wordKey(text, stem), wordKey(same[0], stem); got != want {
				t.Errorf("the key of %q is %q, that of %q is %q", text, got, same[0], want)
			}
		}
	}
	if wordKey("create_issue", stem) == wordKey("create_issue_comment", stem) || wordKey("list_urls", asSpelled) == wordKey("list_url", asSpelled) {
		t.Error("a title with another word has the same key")
	}
}

// FuzzWords holds what the index takes for granted: words are valid, bounded, in lower case, and no stop words.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"listURLs_v2", "do\u00adcument", "a\xff\xf0b", "cafe\u0301", "İstanbul ǅungla", "\u202eabc", "९ ٣ Ⅷ", "____"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		total := 0
		for identifier := range identifiers(text) {
			total += len(identifier)
			if identifier == "" || len(identifier) > maxIdentifierBytes || !strings.Contains(text, identifier) {
				t.Fatalf("identifier %q of %q", identifier, text)
			}
			for word := range words(identifier) {
				first, second := stems(word)
				if word == "" || !utf8.ValidString(word) || stopWords[word] || first == "" || !utf8.ValidString(first) || !utf8.ValidString(second) {
					t.Fatalf("word %q of %q, with the terms %q and %q", word, identifier, first, second)
				}
			}
			if !slices.Equal(slices.Collect(words(identifier)), slices.Collect(words(identifier))) {
				t.Fatalf("the words of %q change", identifier)
			}
		}
		if total > len(text) {
			t.Fatalf("%d bytes of identifiers in %d bytes of text", total, len(text))
		}
	})
}
