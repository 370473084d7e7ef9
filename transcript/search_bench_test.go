package transcript_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

const searchedSessions = 100

// searchable makes a store of many entries in sessions, of about 100 words each, rare and common ones as in a language, with
// the index in step.
func searchable(b *testing.B, entries int) *transcript.Store {
	s := open(b, newPath(b), fast)
	s.StopIndexer()
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 5, 50_000)
	at := noon
	for i := range searchedSessions {
		session := openSession(b, s, fmt.Sprint(i))
		var drafts []transcript.Draft
		for j := range entries / searchedSessions {
			var text strings.Builder
			for range 50 + random.IntN(100) {
				fmt.Fprintf(&text, "w%d ", zipf.Uint64())
			}
			fmt.Fprintf(&text, "everywhere n%d", i*entries/searchedSessions+j)
			drafts = append(drafts, transcript.Draft{Payload: transcript.AssistantText(text.String())})
		}
		at = at.Add(time.Second)
		if _, err := session.AppendAll(b.Context(), drafts, &transcript.AppendOptions{Time: at}); err != nil {
			b.Fatal(err)
		}
	}
	begun := time.Now()
	if err := s.Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d entries are indexed in %v each", entries, time.Since(begun)/time.Duration(entries))
	return s
}

// BenchmarkSearch searches 100,000 entries, and tells how much longer that takes than with 10,000.
func BenchmarkSearch(b *testing.B) {
	small, large := searchable(b, 10_000), searchable(b, 100_000)
	for _, bench := range []struct {
		name, query string
		opts        *transcript.SearchOptions
	}{
		{"one entry", "n5000", nil},
		{"0.3% of all", "w3000", nil},
		{"4%", "w300", nil},
		{"40%", "w20", nil},
		{"all", "everywhere", nil},
		{"common and selective", "w20 w3000", nil},
		{"two common", "w10 w20", nil},
		{"phrase", "w0-w1", nil},
		{"40% in one session", "w20", &transcript.SearchOptions{Keys: []string{"50"}}},
		{"40% of one role", "w20", &transcript.SearchOptions{Role: transcript.RoleAssistant}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var few, many stopwatch
			n := 0
			for b.Loop() {
				n++
				for s, watch := range map[*transcript.Store]*stopwatch{small: &few, large: &many} {
					watch.time(b, func() error {
						result, err := s.Search(b.Context(), bench.query, bench.opts)
						if err == nil && (len(result.Hits) == 0 || result.Indexing) {
							err = fmt.Errorf("found %+v", result)
						}
						return err
					})
				}
			}
			b.ReportMetric(float64(many)/float64(n)/float64(time.Millisecond), "search-ms")
			b.ReportMetric(float64(many)/float64(few), "growth")
		})
	}
}

// BenchmarkAppendIndexed appends 1 KB of words to two stores in turn: one whose index is brought in step behind, and
// one whose index is not.
func BenchmarkAppendIndexed(b *testing.B) {
	on, off := open(b, newPath(b), fast), open(b, newPath(b), fast)
	off.StopIndexer()
	indexed, plain := openSession(b, on, "a"), openSession(b, off, "a")
	var with, without stopwatch
	n := 0
	for b.Loop() {
		n++
		for session, watch := range map[*transcript.Session]*stopwatch{indexed: &with, plain: &without} {
			watch.time(b, func() error {
				_, err := session.Append(b.Context(), transcript.UserText(kilobyte), nil)
				return err
			})
		}
	}
	b.ReportMetric(float64(with)/float64(n), "append-ns")
	b.ReportMetric(float64(with)/float64(without), "on/off")
}
