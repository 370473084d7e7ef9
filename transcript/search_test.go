package transcript_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cellmode/cellmode/transcript"
)

// find searches, and gives the ids of the hits in order.
func find(tb testing.TB, s *transcript.Store, query string, opts *transcript.SearchOptions) string {
	tb.Helper()
	return hitIDs(look(tb, s, query, opts))
}

// look searches until the index is in step.
func look(tb testing.TB, s *transcript.Store, query string, opts *transcript.SearchOptions) transcript.SearchResult {
	tb.Helper()
	for range 100 {
		result, err := s.Search(tb.Context(), query, opts)
		if err != nil {
			tb.Fatalf("searching %q: %v", query, err)
		}
		if !result.Indexing { // which it is if somebody else has had the turn for too long
			return result
		}
	}
	tb.Fatalf("the index is not in step after many searches for %q", query)
	return transcript.SearchResult{}
}

func hitIDs(result transcript.SearchResult) string {
	var all []string
	for _, hit := range result.Hits {
		all = append(all, hit.EntryID)
	}
	return strings.Join(all, " ")
}

// sayAt appends a message with a time, and gives the id of its entry.
func sayAt(tb testing.TB, session *transcript.Session, m transcript.Message, at time.Time) string {
	tb.Helper()
	receipt, err := session.Append(tb.Context(), m, &transcript.AppendOptions{Time: at})
	if err != nil {
		tb.Fatal(err)
	}
	return receipt.Entry().ID
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func TestSearch(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), fast)
	a, b := openSession(t, s, "a"), openSession(t, s, "b")
	short := sayAt(t, a, transcript.UserText("the database is locked"), noon)
	twice := sayAt(t, b, transcript.AssistantText("locked database, a locked one"), noon.Add(time.Second))
	long := sayAt(t, a, transcript.UserText("locked "+strings.Repeat("by other things ", 20)), noon.Add(2*time.Second))
	sayAt(t, a, transcript.ToolResult("1", "t", "locked", false), noon)
	if _, err := a.AppendAll(t.Context(), []transcript.Draft{
		{Payload: transcript.SessionInfo{Name: "locked"}},
		{Payload: transcript.CustomMessage{Type: "x", Content: []byte(`"locked"`)}},
		{Payload: transcript.Message{Role: "system", Content: []byte(`"locked"`)}},
		{Payload: transcript.Message{Role: "user", Content: []byte(`[{"type":"image","text":"locked"},{"type":"thinking","text":"locked"}]`)}},
		{Payload: transcript.Unknown{Type: "message", Members: []byte(`{"message":{"content":"locked"}}`)}},
		{Payload: transcript.UserText("locked, but beside"), Side: true},
	}, nil); err != nil {
		t.Fatal(err)
	}
	parts := sayAt(t, b, transcript.Message{Role: "assistant", Content: []byte(
		`[{"type":"text","text":"one"},{"type":"output_text","text":"two"},{"type":"image"},{"type":"input_text","text":"three"}]`)}, noon)

	for _, test := range []struct {
		query string
		opts  *transcript.SearchOptions
		want  []string
	}{
		{"locked", nil, []string{twice, short, long}},
		{"  LOCKED\t", nil, []string{twice, short, long}},
		{"locked database", nil, []string{short, twice}},
		{"database-locked", nil, nil},
		{"locked-database", nil, []string{twice}},
		{"locked absent", nil, nil},
		{"locked", &transcript.SearchOptions{Keys: []string{"a"}}, []string{short, long}},
		{"locked", &transcript.SearchOptions{Keys: []string{"b", "a", "absent"}}, []string{twice, short, long}},
		{"locked", &transcript.SearchOptions{Keys: []string{"absent", ""}}, nil},
		{"locked", &transcript.SearchOptions{SessionID: b.ID()}, []string{twice}},
		{"locked", &transcript.SearchOptions{SessionID: b.ID(), Keys: []string{"a"}}, nil},
		{"locked", &transcript.SearchOptions{SessionID: "absent"}, nil},
		{"locked", &transcript.SearchOptions{Role: "user"}, []string{short, long}},
		{"locked", &transcript.SearchOptions{Role: "assistant", Keys: []string{"b"}}, []string{twice}},
		{"locked", &transcript.SearchOptions{Role: "toolResult"}, nil},
		{"locked", &transcript.SearchOptions{Role: `user" OR "assistant`}, nil},
		{"three one", nil, []string{parts}},
		{"one-two-three", nil, []string{parts}},
		{"- locked ... *", nil, []string{twice, short, long}},
		{"?", nil, nil},
	} {
		result := look(t, s, test.query, test.opts)
		if got, want := hitIDs(result), strings.Join(test.want, " "); got != want || result.Truncated {
			t.Errorf("%q with %+v finds %q (%+v), not %q", test.query, test.opts, got, result, want)
		}
	}

	hit := look(t, s, "locked", nil).Hits[0]
	if hit.SessionKey != "b" || hit.SessionID != b.ID() || hit.Role != "assistant" || !hit.Time.Equal(noon.Add(time.Second)) || hit.Score <= 0 ||
		hit.Snippet != "locked database, a locked one" {
		t.Errorf("the first hit is %+v", hit)
	}
}

func TestSearchInvalidQuery(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:", nil)
	id := say(t, openSession(t, s, "a"), strings.Repeat("é", transcript.MaxQueryRunes))
	for _, query := range []string{"", " \n\u3000", strings.Repeat("é", transcript.MaxQueryRunes+1)} {
		if _, err := s.Search(t.Context(), query, nil); !errors.Is(err, transcript.ErrInvalidQuery) {
			t.Errorf("%.10q: %v", query, err)
		}
	}
	if got := find(t, s, " "+strings.Repeat("É", transcript.MaxQueryRunes)+" ", nil); got != id {
		t.Errorf("the longest query finds %q", got)
	}
}

func TestSearchWords(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:", nil)
	session := openSession(t, s, "a")
	for i, test := range []struct {
		text   string
		finds  []string
		misses []string
	}{
		{"Crème BRÛLÉE", []string{"creme", "CRÈME", "brulee", "bru\u0302le\u0301e"}, []string{"crem", "cr"}},
		{"cafe\u0301 naïve", []string{"café", "cafe", "naive"}, nil},
		{"Tiếng Việt", []string{"tieng viet", "TIẾNG"}, nil},
		{"ΌΔΟΣ", []string{"οδος", "οδοσ", "όδος"}, nil},
		{"Ёлка Straße İstanbul", []string{"елка", "STRAßE", "istanbul", "ISTANBUL"}, []string{"strasse"}},
		{"请帮我修复数据库错误。", []string{"数据库", "数据库错误", "修复 错误", "请"}, []string{"数错", "据数"}},
		{"データベースのエラー", []string{"データベース", "エラー", "ー"}, []string{"エラーデ"}},
		{"학교에서 만나요", []string{"학교", "만나요"}, []string{"교학"}},
		{"ภาษาไทยง่าย", []string{"ไทย", "ภาษา"}, nil},
		{"हिन्दी में खोज", []string{"हिन्दी", "खोज"}, []string{"हन"}},
		{"مَرْحَبًا", []string{"مرحبا"}, nil},
		{"ship it 🚀👍🏽 now", []string{"🚀", "👍", "🚀👍", "it-🚀"}, []string{"🐢", "👍🚀"}},
		{"👩‍🚀 ❤️", []string{"❤", "❤️", "👩‍🚀"}, nil},
		{"ＦＵＬＬ１２", []string{"full12"}, nil},
		{"mixed漢字text 42nd", []string{"mixed", "漢字", "text", "42nd"}, []string{"42"}},
		{"snake_case foo.Bar() C:\\dir\x00nul \"quoted\"", []string{"snake_case", "case", "foo.bar", "c:\\dir", "nul", `"quoted"`, "dir\x00nul"}, nil},
		{strings.Repeat("x", 1000) + " " + strings.Repeat("ж", 1000), []string{strings.Repeat("x", 1000), strings.Repeat("ж", 900)}, []string{strings.Repeat("x", 100)}},
	} {
		id := say(t, session, fmt.Sprint(test.text, " n", i))
		for _, query := range append(test.finds, test.text) {
			if got := find(t, s, query+fmt.Sprint(" n", i), nil); got != id {
				t.Errorf("%.60q is not found in %.60q", query, test.text)
			}
		}
		for _, query := range test.misses {
			if got := find(t, s, query+fmt.Sprint(" n", i), nil); got != "" {
				t.Errorf("%.60q is found in %.60q", query, test.text)
			}
		}
	}
}

// TestSearchOperators looks for what would be an operator of FTS5, in texts that have it as a word, and that have not.
func TestSearchOperators(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:", nil)
	session := openSession(t, s, "a")
	say(t, session, "alpha beta gamma user assistant s1")
	for _, query := range []string{
		"alpha OR absent", "alpha NOT absent", "NOT absent", "alpha AND beta", "NEAR(alpha beta)", "NEAR(alpha beta, 5)", "alp*", "user:alpha", "session:s1",
		"{user}:alpha", "-session:alpha", "alpha\" OR \"absent", "'alpha' UNION SELECT 1", "alpha + gamma + absent", "rank:1",
	} {
		if got := find(t, s, query, nil); got != "" {
			t.Errorf("%q finds something", query)
		}
	}
	for _, query := range []string{"^alpha", "alpha*", `"alpha`, `alpha""`, "(alpha", "alpha)", "+alpha", "alpha:", "{alpha}", "alpha ^", `\alpha`, "'alpha", "alpha;--", "alpha%"} {
		if got := find(t, s, query, nil); got == "" {
			t.Errorf("%q finds nothing", query)
		}
	}
	id := say(t, session, "x OR y NOT z NEAR w")
	if got := find(t, s, "or not near", nil); got != id {
		t.Error("words that are operators of FTS5 are not found")
	}
}

func FuzzSearch(f *testing.F) {
	for _, seed := range []string{`"`, `a" OR "b`, "NEAR(a b)", "*", "^a", "a\x00b", "\xff\xfe", "{words}: a", "日本語 🚀", "e\u0301", "(((", "a AND", strings.Repeat("a ", 300)} {
		f.Add(seed, seed)
	}
	s := open(f, ":memory:", nil)
	session := openSession(f, s, "a")
	if _, err := session.Append(f.Context(), transcript.UserText("start"), nil); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		_, err := s.Search(t.Context(), query, nil)
		if err != nil && !errors.Is(err, transcript.ErrInvalidQuery) {
			t.Fatalf("%q: %v", query, err)
		}
		if utf8.RuneCountInString(text) > transcript.MaxQueryRunes/2 {
			return
		}
		// Whatever a text is, it finds itself.
		text = "x" + strings.ToValidUTF8(text, "") + " z"
		id := say(t, session, text)
		result := look(t, s, text, nil)
		if !result.Truncated && !strings.Contains(hitIDs(result), id) {
			t.Fatalf("%q does not find itself", text)
		}
		for _, hit := range result.Hits {
			if !utf8.ValidString(hit.Snippet) || utf8.RuneCountInString(hit.Snippet) > 500 || hit.Snippet == "" {
				t.Fatalf("%q has the snippet %q", text, hit.Snippet)
			}
		}
	})
}

func TestSearchLimit(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), fast)
	session := openSession(t, s, "a")
	var all []string
	for i := range 30 {
		all = append([]string{sayAt(t, session, transcript.UserText("same words"), noon.Add(time.Duration(i)*time.Minute))}, all...)
	}
	for limit, want := range map[int]int{0: 10, -5: 1, 1: 1, 7: 7, 25: 25, 26: 25, 1 << 40: 25} {
		result := look(t, s, "words", &transcript.SearchOptions{Limit: limit})
		if !result.Truncated || hitIDs(result) != strings.Join(all[:want], " ") {
			t.Errorf("limit %d gives %d hits (truncated: %v), or others than the newest first", limit, len(result.Hits), result.Truncated)
		}
	}
	say(t, session, "rare")
	if result := look(t, s, "rare", &transcript.SearchOptions{Limit: 1}); result.Truncated || len(result.Hits) != 1 {
		t.Errorf("a limit that is just enough gives %+v", result)
	}
}

// TestSearchTies has entries that are equally good: newer ones come first, then those of the lesser id.
func TestSearchTies(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), fast)
	var drafts []transcript.Draft
	for range 40 {
		drafts = append(drafts, transcript.Draft{Payload: transcript.UserText("tie")})
	}
	for _, key := range []string{"a", "b", "c"} {
		if _, err := openSession(t, s, key).AppendAll(t.Context(), drafts, &transcript.AppendOptions{Time: noon}); err != nil {
			t.Fatal(err)
		}
	}
	newer := sayAt(t, openSession(t, s, "a"), transcript.UserText("tie"), noon.Add(time.Millisecond))
	// Times that no entry should have.
	for _, year := range []int{1, 1969} {
		sayAt(t, openSession(t, s, "b"), transcript.UserText("tie"), time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
	}
	future := sayAt(t, openSession(t, s, "b"), transcript.UserText("tie"), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	result := look(t, s, "tie", &transcript.SearchOptions{Limit: 25})
	if len(result.Hits) != 25 || result.Hits[0].EntryID != future {
		t.Fatalf("%+v", result)
	}
	least := ""
	for i, hit := range result.Hits[1:] {
		if hit.EntryID == newer {
			continue
		}
		if i > 3 && hit.EntryID < least {
			t.Errorf("%s comes behind %s", hit.EntryID, least)
		}
		least = hit.EntryID
	}
}

// TestSearchMany has more matches than are put in order at once, of which few are on the branch.
func TestSearchMany(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), fast)
	session := openSession(t, s, "a")
	first := say(t, session, "common word")
	second := say(t, session, "common word again")
	var drafts []transcript.Draft
	for range 3000 {
		drafts = append(drafts, transcript.Draft{Payload: transcript.UserText("common"), Side: true})
	}
	if _, err := session.AppendAll(t.Context(), drafts, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := find(t, s, "common", nil); got != first+" "+second {
		t.Errorf("found %q, not %q and %q", got, first, second)
	}
	for i := range 40 {
		say(t, openSession(t, s, fmt.Sprint("other ", i)), "common")
	}
	keys := []string{"a"}
	for i := range 39 {
		keys = append(keys, fmt.Sprint("other ", i))
	}
	result := look(t, s, "common", &transcript.SearchOptions{Limit: 25, Keys: keys})
	if len(result.Hits) != 25 || !result.Truncated {
		t.Errorf("in many sessions there are %d hits (truncated: %v)", len(result.Hits), result.Truncated)
	}
	for _, hit := range result.Hits {
		if hit.SessionKey == "other 39" {
			t.Error("a hit is of a session that is not searched")
		}
	}
}

func TestSearchBranches(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, newPath(t), fast)
	session := openSession(t, s, "a")
	is := func(want ...string) {
		t.Helper()
		result := look(t, s, "word", nil)
		// The newest first, as they are equally good.
		if got := hitIDs(result); got != strings.Join(want, " ") {
			t.Errorf("found %q, not %q", got, want)
		}
	}
	at := noon
	add := func() string {
		t.Helper()
		at = at.Add(time.Second)
		return sayAt(t, session, transcript.UserText("word"), at)
	}
	move := func(to string) {
		t.Helper()
		if err := session.MoveTo(ctx, to, nil); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c := add(), add(), add()
	is(c, b, a)
	move(a)
	is(a)
	d := add()
	is(d, a)
	move(c)
	is(c, b, a)
	move(d)
	is(d, a)
	move(transcript.Root)
	is()
	e := add()
	is(e)
	move(b)
	is(b, a)
	if _, err := session.Append(ctx, transcript.Reset{}, nil); err != nil {
		t.Fatal(err)
	}
	is(b, a) // the branch still has them
	f := add()
	is(f, b, a)
	move(lastReset(t, session))
	is(b, a)
	if _, err := session.Append(ctx, transcript.Compaction{Summary: "word", FirstKeptID: f}, nil); err != nil {
		t.Fatal(err)
	}
	is(b, a)

	// What the branches were does not matter to an index that is made anew.
	clearIndex(t, s)
	if err := s.Index(ctx); err != nil {
		t.Fatal(err)
	}
	is(b, a)
	move(f)
	is(f, b, a)
}

// lastReset is the last reset of a session.
func lastReset(tb testing.TB, session *transcript.Session) (id string) {
	for entry, err := range session.Entries(tb.Context()) {
		if err != nil {
			tb.Fatal(err)
		}
		if entry.Kind() == transcript.KindReset {
			id = entry.ID
		}
	}
	return id
}

// clearIndex empties the index behind the back of the store.
func clearIndex(tb testing.TB, s *transcript.Store) {
	tb.Helper()
	execute(tb, s.DB(), "INSERT INTO search (search) VALUES ('delete-all')")
}

// TestSearchAgainstModel compares searches with what a model finds in the branches, while sessions grow and move at random.
func TestSearchAgainstModel(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, newPath(t), fast)
	random := rand.New(rand.NewPCG(3, 4))
	vocabulary := strings.Fields("red green blue one two three four five six seven")
	var sessions []*transcript.Session
	for i := range 3 {
		sessions = append(sessions, openSession(t, s, fmt.Sprint(i)))
	}
	entries := map[*transcript.Session][]string{}
	for range 60 {
		session := sessions[random.IntN(len(sessions))]
		all := entries[session]
		if n := len(all); n > 0 && random.IntN(3) == 0 {
			if err := session.MoveTo(ctx, all[random.IntN(n)], nil); err != nil {
				t.Fatal(err)
			}
		}
		for range random.IntN(6) {
			var text []string
			for range 1 + random.IntN(5) {
				text = append(text, vocabulary[random.IntN(len(vocabulary))])
			}
			draft := transcript.Draft{Payload: transcript.UserText(strings.Join(text, " ")), Side: random.IntN(5) == 0}
			receipts, err := session.AppendAll(ctx, []transcript.Draft{draft}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !draft.Side {
				entries[session] = append(entries[session], receipts[0].Entry().ID)
			}
		}
		query := vocabulary[random.IntN(len(vocabulary))] + " " + vocabulary[random.IntN(len(vocabulary))]
		want := map[transcript.Anchor]bool{}
		for _, session := range sessions {
			for entry, err := range session.Branch(ctx, nil) {
				if err != nil {
					t.Fatal(err)
				}
				m, _ := entry.Message()
				has := true
				for _, word := range strings.Fields(query) {
					has = has && strings.Contains(" "+m.Text()+" ", " "+word+" ")
				}
				if has {
					want[transcript.Anchor{SessionKey: session.Key(), SessionID: session.ID(), EntryID: entry.ID}] = true
				}
			}
		}
		result := look(t, s, query, &transcript.SearchOptions{Limit: 25})
		if result.Truncated != (len(want) > 25) || len(result.Hits) != min(len(want), 25) {
			t.Fatalf("%q finds %d (truncated: %v), and should find %d", query, len(result.Hits), result.Truncated, len(want))
		}
		score := result.Hits
		for i, hit := range result.Hits {
			if !want[hit.Anchor] {
				t.Fatalf("%q finds %+v", query, hit)
			}
			delete(want, hit.Anchor)
			if i > 0 && hit.Score > score[i-1].Score {
				t.Fatalf("%q: the score grows from %g to %g", query, score[i-1].Score, hit.Score)
			}
		}
	}
}
