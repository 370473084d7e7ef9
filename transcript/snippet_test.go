package transcript_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSnippets(t *testing.T) {
	t.Parallel()
	// numbers are words that differ.
	numbers := func(from, to int) string {
		var all []string
		for i := from; i <= to; i++ {
			all = append(all, fmt.Sprint("w", i))
		}
		return strings.Join(all, " ")
	}
	for _, test := range []struct{ name, text, query, want string }{
		{"short", " (Hello,\n\t world!) ", "world", "(Hello, world!)"},
		{"all", numbers(1, 48), "w20", numbers(1, 48)},
		{"begin", numbers(1, 100), "w3", numbers(1, 48) + " … "},
		{"middle", numbers(1, 200), "w100", " … " + numbers(76, 123) + " … "},
		{"end", numbers(1, 100), "w98", " … " + numbers(53, 100)},
		{"together", "w100 " + numbers(1, 200), "w100 w90", " … " + numbers(71, 118) + " … "},
		{"as many as there is room for", numbers(1, 200), "w1 w100 w101 w150", " … " + numbers(77, 124) + " … "},
		{"a phrase, not its words", "w150 w149 " + numbers(1, 200), "w149-w150", " … " + numbers(126, 173) + " … "},
		{"a long phrase", numbers(1, 200), strings.ReplaceAll(numbers(100, 150), " ", "-"), " … " + numbers(92, 139) + " … "},
		{"long words", strings.Repeat(strings.Repeat("y", 200)+" ", 9) + "z", "z", " … " + strings.Repeat(strings.Repeat("y", 200)+" ", 2) + "z"},
		{"a word that is too long", strings.Repeat("é", 1000), strings.Repeat("é", 1000), strings.Repeat("é", 494) + " … "},
		{"much that is no word", "a" + strings.Repeat("-", 1000) + "b" + strings.Repeat("-", 1000), "b", " … b"},
		{"no spaces", strings.Repeat("数据", 300) + "库" + strings.Repeat("数据", 300), "据库", " … " + strings.Repeat("数据", 12) + "库" + strings.Repeat("数据", 11) + "数" + " … "},
		{"white space", "a" + strings.Repeat(" \n", 100) + "b", "b", "a b"},
		{"not as in the text", "Une CRÈME brûlée", "creme BRULEE", "Une CRÈME brûlée"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, ":memory:", nil)
			say(t, openSession(t, s, "a"), test.text)
			result := look(t, s, test.query, nil)
			if len(result.Hits) != 1 {
				t.Fatalf("%d hits", len(result.Hits))
			}
			got := result.Hits[0].Snippet
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 500 {
				t.Error("the snippet is too long, or not UTF-8")
			}
		})
	}
}
