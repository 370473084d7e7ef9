package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// count is a number that a query gives.
func count(tb testing.TB, s *transcript.Store, query string) (n int) {
	tb.Helper()
	if err := s.DB().QueryRowContext(context.Background(), query).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

// inStep checks that the index has exactly the messages that it should have.
func inStep(tb testing.TB, s *transcript.Store) {
	tb.Helper()
	for query, want := range map[string]int{
		"SELECT count(*) FROM search_backlog":                           0,
		"SELECT count(*) FROM search_docs":                              count(tb, s, "SELECT count(*) FROM entries WHERE data ->> '$.message.role' IN ('user', 'assistant')"),
		"SELECT count(*) FROM search_docsize":                           count(tb, s, "SELECT count(*) FROM search_docs"),
		"SELECT count(*) FROM search WHERE search MATCH 'session : s*'": count(tb, s, "SELECT count(*) FROM search_docs"),
	} {
		if got := count(tb, s, query); got != want {
			tb.Errorf("%s is %d, not %d", query, got, want)
		}
	}
	sound(tb, s)
}

func sayAll(tb testing.TB, session *transcript.Session, texts ...string) {
	tb.Helper()
	var drafts []transcript.Draft
	for _, text := range texts {
		drafts = append(drafts, transcript.Draft{Payload: transcript.UserText(text)})
	}
	if _, err := session.AppendAll(tb.Context(), drafts, nil); err != nil {
		tb.Fatal(err)
	}
}

// search searches once.
func search(tb testing.TB, s *transcript.Store, query string, opts *transcript.SearchOptions) transcript.SearchResult {
	tb.Helper()
	result, err := s.Search(tb.Context(), query, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return result
}

// TestBacklog has searches bring the index in step, a bounded part at a time, and say so.
func TestBacklog(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		texts    []string
		searches int // until all is indexed
	}{
		{"one", []string{"word"}, 1},
		{"many", strings.Split(strings.TrimSpace(strings.Repeat("word ", 1200)), " "), 3},
		{"long", []string{"word" + strings.Repeat(" x", 100_000), "word" + strings.Repeat(" x", 100_000), "word" + strings.Repeat(" x", 100_000), "word"}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, newPath(t), fast)
			s.StopIndexer()
			other := say(t, openSession(t, s, "other"), "other word")
			if got := find(t, s, "word", nil); got != other {
				t.Fatalf("found %q", got)
			}
			sayAll(t, openSession(t, s, "a"), test.texts...)
			if result := search(t, s, "word", &transcript.SearchOptions{Keys: []string{"other"}}); result.Indexing || hitIDs(result) != other {
				t.Errorf("in a session that is in step: %+v", result)
			}
			for i := range test.searches {
				// A search that does not get its turn in time indexes nothing.
				before := count(t, s, "SELECT count(*) FROM search_docs")
				result := search(t, s, "word", &transcript.SearchOptions{Limit: 25})
				for range 100 {
					if count(t, s, "SELECT count(*) FROM search_docs") > before {
						break
					}
					result = search(t, s, "word", &transcript.SearchOptions{Limit: 25})
				}
				if last := i == test.searches-1; result.Indexing == last {
					t.Errorf("search %d of %d says Indexing: %v", i+1, test.searches, result.Indexing)
				}
			}
			if result := search(t, s, "word", &transcript.SearchOptions{Limit: 25}); len(result.Hits) != min(25, len(test.texts)+1) || result.Indexing {
				t.Errorf("there are %d hits, Indexing: %v", len(result.Hits), result.Indexing)
			}
			inStep(t, s)
		})
	}
}

// TestIndexer waits for the index to be brought in step without anybody's help.
func TestIndexer(t *testing.T) {
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		s, err := transcript.Open(t.Context(), path, fast)
		if err != nil {
			t.Fatal(err)
		}
		a := openSession(t, s, "a")
		for range 3 {
			for i := range 1500 {
				say(t, a, fmt.Sprint("word ", i))
			}
			if n := count(t, s, "SELECT count(*) FROM search_docs"); n > 4000 {
				t.Errorf("%d entries are indexed at once", n)
			}
			time.Sleep(time.Second)
			inStep(t, s)
		}
		say(t, a, "last")
		if err := s.Close(); err != nil { // does not wait for the index
			t.Fatal(err)
		}
	})
	s := open(t, path, fast)
	if n := count(t, s, "SELECT count(*) FROM search_backlog"); n != 1 {
		t.Errorf("%d sessions are left to be indexed", n)
	}
	if got := find(t, s, "last", nil); got == "" {
		t.Error("what was not indexed is not found later")
	}
}

func TestIndexReadOnly(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, fast)
	s.StopIndexer()
	a := openSession(t, s, "a")
	indexed := say(t, a, "word")
	if err := s.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	say(t, a, "word")
	reader := open(t, path, &transcript.Options{ReadOnly: true})
	if result := search(t, reader, "word", nil); hitIDs(result) != indexed || !result.Indexing {
		t.Errorf("found %+v", result)
	}
	if err := reader.Index(t.Context()); !errors.Is(err, transcript.ErrReadOnly) {
		t.Errorf("Index: %v", err)
	}
	if err := s.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	if result := search(t, reader, "word", nil); len(result.Hits) != 2 || result.Indexing {
		t.Errorf("found %+v", result)
	}
	clearIndex(t, s)
	if result := search(t, reader, "word", nil); len(result.Hits) != 0 || !result.Indexing {
		t.Errorf("in an index that was emptied: %+v", result)
	}
}

// TestSearchWhileBusy has another program write for longer than a search waits.
func TestSearchWhileBusy(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s, other := open(t, path, fast), open(t, path, fast)
	s.StopIndexer()
	a := openSession(t, s, "a")
	id := say(t, a, "word")
	find(t, s, "word", nil)
	say(t, a, "word")
	execute(t, other.DB(), "BEGIN IMMEDIATE")
	begun := time.Now()
	if result := search(t, s, "word", nil); hitIDs(result) != id || !result.Indexing {
		t.Errorf("found %+v", result)
	}
	if took := time.Since(begun); took > transcript.DefaultBusyTimeout/2 {
		t.Errorf("it took %v", took)
	}
	canceled, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := s.Search(canceled, "word", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is canceled: %v", err)
	}
	execute(t, other.DB(), "ROLLBACK")
	if result := look(t, s, "word", nil); len(result.Hits) != 2 {
		t.Errorf("found %+v", result)
	}
}

func TestSearchClosed(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), fast)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Search(t.Context(), "word", nil); !errors.Is(err, transcript.ErrClosed) {
		t.Errorf("Search: %v", err)
	}
	if err := s.Index(t.Context()); !errors.Is(err, transcript.ErrClosed) {
		t.Errorf("Index: %v", err)
	}
}

// TestIndexDamage damages the index only. Searches then find what is there, or say that it is being indexed; and Index makes
// it whole.
func TestIndexDamage(t *testing.T) {
	t.Parallel()
	const entries = 300
	for name, statement := range map[string]string{
		"emptied":               "INSERT INTO search (search) VALUES ('delete-all')",
		"no data":               "DELETE FROM search_data WHERE id > 10",
		"no structure":          "DELETE FROM search_data WHERE id = 10",
		"no averages":           "DELETE FROM search_data WHERE id = 1",
		"bad structure":         "UPDATE search_data SET block = x'00ff00ff00ff' WHERE id = 10",
		"bad data":              "UPDATE search_data SET block = zeroblob(length(block)) WHERE id > 10",
		"short data":            "UPDATE search_data SET block = substr(block, 1, 7) WHERE id > 10",
		"no sizes":              "DELETE FROM search_docsize",
		"a size is missing":     "DELETE FROM search_docsize WHERE id = (SELECT min(id) FROM search_docsize)",
		"no documents":          "DELETE FROM search_docs",
		"a document is missing": "DELETE FROM search_docs WHERE doc = (SELECT min(doc) FROM search_docs)",
		"a row is missing":      "DELETE FROM search WHERE rowid = (SELECT min(doc) FROM search_docs)",
		"no terms":              "DELETE FROM search_idx",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path, fast)
			s.StopIndexer()
			a := openSession(t, s, "a")
			var texts []string
			for i := range entries {
				texts = append(texts, fmt.Sprint("word n", i))
			}
			sayAll(t, a, texts...)
			damage := func() {
				if err := s.Index(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, query := range []string{"PRAGMA foreign_keys = off", statement, "PRAGMA foreign_keys = on"} {
					execute(t, s.DB(), query)
				}
			}
			damage()
			reader := open(t, path, &transcript.Options{ReadOnly: true})
			if result := search(t, reader, "word n1", nil); !result.Indexing && len(result.Hits) != 1 {
				t.Errorf("for reading only: %+v", result)
			}
			if result := look(t, s, "word n1", nil); len(result.Hits) != 1 {
				t.Errorf("found %+v", result)
			}
			damage()
			say(t, a, "one more word") // the damage is found while something is indexed, or before
			if err := s.Index(t.Context()); err != nil {
				t.Fatal(err)
			}
			inStep(t, s)
			for _, query := range []string{"n0", "n299", "one more"} {
				if result := search(t, s, "word "+query, nil); len(result.Hits) != 1 || result.Indexing {
					t.Errorf("after Index: %q finds %+v", query, result)
				}
			}
			damage()
			if _, err := s.DeleteSessions(t.Context(), []string{"a"}, nil); err != nil {
				t.Errorf("deleting a session: %v", err)
			}
			if err := s.Index(t.Context()); err != nil {
				t.Fatal(err)
			}
			inStep(t, s)
		})
	}
}

// TestSearchOutdatedIndex has an index that knows other words of an entry than it has.
func TestSearchOutdatedIndex(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, fast)
	a := openSession(t, s, "a")
	other, id := say(t, a, "old other"), say(t, a, "old word")
	look(t, s, "old", nil)
	execute(t, s.DB(), "UPDATE entries SET data = replace(data, 'old word', 'new word')")
	reader := open(t, path, &transcript.Options{ReadOnly: true})
	if result := search(t, reader, "old", nil); hitIDs(result) != other || !result.Indexing {
		t.Errorf("for reading only: %+v", result)
	}
	for _, test := range []struct{ query, want string }{{"old", other}, {"new", id}} { // the first finds that out
		if got := find(t, s, test.query, nil); got != test.want {
			t.Errorf("%q finds %q", test.query, got)
		}
	}
}

func TestIndexDeletion(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, newPath(t), fast)
	s.StopIndexer()
	for _, key := range []string{"a", "b", "c"} {
		sayAll(t, openSession(t, s, key), "secret of "+key, "word")
	}
	if err := s.Index(ctx); err != nil {
		t.Fatal(err)
	}
	sayAll(t, openSession(t, s, "c"), "not indexed")
	if _, err := s.DeleteSessions(ctx, []string{"b", "c"}, nil); err != nil {
		t.Fatal(err)
	}
	inStep(t, s)
	if result := search(t, s, "secret", nil); len(result.Hits) != 1 || result.Hits[0].SessionKey != "a" || result.Indexing {
		t.Errorf("found %+v", result)
	}
	// A session that takes the place of one that was deleted.
	b := openSession(t, s, "b")
	id := say(t, b, "new word")
	if result := look(t, s, "word", &transcript.SearchOptions{Keys: []string{"b"}}); hitIDs(result) != id {
		t.Errorf("found %+v", result)
	}
	if result := look(t, s, "secret", &transcript.SearchOptions{Keys: []string{"b"}}); len(result.Hits) != 0 {
		t.Errorf("found %+v", result)
	}
	inStep(t, s)
}

func TestIndexLargeEntries(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), fast)
	a := openSession(t, s, "a")
	text := "x" + strings.Repeat("é", transcript.MaxSearchedBytes/2-4) + " firsté second " + strings.Repeat("x ", 1<<20)
	id := say(t, a, text)
	push(t, a, transcript.ToolResult("1", "t", strings.Repeat("result ", 1<<20), false))
	for query, want := range map[string]string{"first": id, "firsté": "", "second": ""} {
		if got := find(t, s, query, nil); got != want {
			t.Errorf("%q finds %q, not %q", query, got, want)
		}
	}
}

// TestIndexOfSeveral has several stores append to one database, index and search it at once.
func TestIndexOfSeveral(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	var group sync.WaitGroup
	for i := range 3 {
		s := open(t, path, fast)
		group.Go(func() {
			session, err := s.OpenSession(t.Context(), fmt.Sprint("own ", i), nil)
			if err != nil {
				t.Error(err)
				return
			}
			for j := range 60 {
				if _, err := session.Append(t.Context(), transcript.UserText(fmt.Sprint("word ", j)), nil); err != nil {
					t.Error(err)
				}
				switch j % 6 {
				case 0:
					if err := s.Index(t.Context()); err != nil {
						t.Error(err)
					}
				case 3:
					if result, err := s.Search(t.Context(), fmt.Sprint(j), nil); err != nil || len(result.Hits) == 0 && !result.Indexing {
						t.Errorf("%+v, %v", result, err)
					}
				}
			}
		})
	}
	group.Wait()
	s := open(t, path, fast)
	if err := s.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	inStep(t, s)
	if result := search(t, s, "word 59", nil); len(result.Hits) != 3 {
		t.Errorf("found %+v", result)
	}
}

// appendAndIndex is the job of a process that ends when it is killed.
func appendAndIndex(ctx context.Context, s *transcript.Store) error {
	session, err := s.OpenSession(ctx, "shared", nil)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		for range rand.IntN(20) {
			if _, err := session.Append(ctx, transcript.AssistantText(fmt.Sprint("word ", i)), nil); err != nil {
				return err
			}
		}
		if err := s.Index(ctx); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

// TestKilledIndexers kills processes that index what they append.
func TestKilledIndexers(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, fast)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for range 3 {
				process, lines := startJob(t, "index", path)
				timer := time.AfterFunc(10*time.Second, func() { process.Process.Kill() })
				for n := 0; lines.Scan(); n++ {
					if n == 5 {
						timer.Reset(time.Duration(rand.IntN(20_000)) * time.Microsecond)
					}
				}
				timer.Stop()
				process.Wait() // it was killed
			}
		})
	}
	group.Wait()
	if err := s.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	inStep(t, s)
	if n := count(t, s, "SELECT count(*) FROM search_docs"); n < 100 {
		t.Errorf("%d entries are too few to say anything", n)
	}
}
