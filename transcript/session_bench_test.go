package transcript_test

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellmode/cellmode/transcript"
)

// stopwatch adds up how long one of several things takes that a benchmark does in turn, so that all of them suffer the same
// from what else the machine does.
type stopwatch time.Duration

func (s *stopwatch) time(b *testing.B, f func() error) {
	begin := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	*s += stopwatch(time.Since(begin))
}

// kilobyte is what a message says.
var kilobyte = strings.Repeat("0123456789abcde ", 64)

// BenchmarkAppend appends 1 KB to a session, and inserts as much into a table that has what such a table needs: a prepared
// INSERT that is its own transaction, through the same driver.
func BenchmarkAppend(b *testing.B) {
	for name, synchronous := range map[string]transcript.Synchronous{"full": transcript.SynchronousFull, "normal": transcript.SynchronousNormal} {
		b.Run(name, func(b *testing.B) {
			ctx := context.Background()
			session, err := open(b, newPath(b), &transcript.Options{Synchronous: synchronous}).OpenSession(ctx, "chat", nil)
			if err != nil {
				b.Fatal(err)
			}
			db, err := sql.Open("sqlite", newPath(b)+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=synchronous("+name+")")
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(1)
			if _, err := db.Exec("CREATE TABLE entries (entry INTEGER PRIMARY KEY, session INTEGER, id TEXT, data TEXT, UNIQUE (session, id))"); err != nil {
				b.Fatal(err)
			}
			insert, err := db.Prepare("INSERT INTO entries (session, id, data) VALUES (?, ?, ?)")
			if err != nil {
				b.Fatal(err)
			}
			defer insert.Close()
			data := `{"message":{"role":"user","content":"` + kilobyte + `"}}`
			var ours, plain stopwatch
			n := 0
			for b.Loop() {
				n++
				ours.time(b, func() error {
					_, err := session.Append(ctx, transcript.UserText(kilobyte), nil)
					return err
				})
				plain.time(b, func() error {
					id := fnv.New32a()
					fmt.Fprint(id, n)
					_, err := insert.ExecContext(ctx, 1, fmt.Sprintf("%08x", id.Sum32()), data)
					return err
				})
			}
			b.ReportMetric(float64(ours)/float64(n), "append-ns")
			b.ReportMetric(float64(plain)/float64(n), "insert-ns")
			b.ReportMetric(float64(ours)/float64(plain), "append/insert")
		})
	}
}

// benchmarked makes a store with one session of many entries of 1 KB, as turns of a user, an assistant and a tool, that was
// compacted so that a model gets the last 200 of them.
func benchmarked(b *testing.B, entries int) (path string) {
	path = filepath.Join(b.TempDir(), "sessions.db")
	s := open(b, path, fast)
	session, err := s.OpenSession(b.Context(), "chat", nil)
	if err != nil {
		b.Fatal(err)
	}
	turn := []transcript.Draft{
		{Payload: transcript.UserText(kilobyte)},
		{Payload: transcript.AssistantCalls(kilobyte, transcript.ToolCall{ID: "call", Name: "look"})},
		{Payload: transcript.ToolResult("call", "look", kilobyte, false)},
		{Payload: transcript.AssistantText(kilobyte)},
	}
	drafts := slices.Repeat(turn, 1000/len(turn))
	var last []transcript.Receipt
	for range entries / len(drafts) {
		if last, err = session.AppendAll(b.Context(), drafts, nil); err != nil {
			b.Fatal(err)
		}
	}
	compaction := transcript.Compaction{Summary: kilobyte, FirstKeptID: last[len(last)-200].Entry().ID}
	if _, err := session.Append(b.Context(), compaction, nil); err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkLongSession tells what a session of 100,000 entries costs, and how much more that is than with 10,000.
func BenchmarkLongSession(b *testing.B) {
	small, large := benchmarked(b, 10_000), benchmarked(b, 100_000)
	session := func(b *testing.B, path string) *transcript.Session {
		session, err := open(b, path, fast).FindSession(b.Context(), "chat")
		if err != nil {
			b.Fatal(err)
		}
		return session
	}
	// compare runs the same on both.
	compare := func(b *testing.B, unit string, scale float64, ofSmall, ofLarge func() error) {
		var few, many stopwatch
		n := 0.0
		for b.Loop() {
			few.time(b, ofSmall)
			many.time(b, ofLarge)
			n++
		}
		b.ReportMetric(float64(many)/n/scale, unit)
		b.ReportMetric(float64(many)/float64(few), "growth")
	}
	const ms = float64(time.Millisecond)

	b.Run("open", func(b *testing.B) {
		var few, many stopwatch
		n := 0.0
		for b.Loop() {
			for path, watch := range map[string]*stopwatch{small: &few, large: &many} {
				var s *transcript.Store
				watch.time(b, func() (err error) {
					s, err = transcript.Open(b.Context(), path, fast)
					return err
				})
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			n++
		}
		b.ReportMetric(float64(many)/n/ms, "open-ms")
		b.ReportMetric(float64(many)/float64(few), "growth")
	})
	b.Run("context", func(b *testing.B) {
		making := func(session *transcript.Session) func() error {
			return func() error {
				made, err := session.Context(b.Context(), nil)
				if err == nil && len(made.Messages) != 201 {
					err = fmt.Errorf("the context has %d messages", len(made.Messages))
				}
				return err
			}
		}
		compare(b, "context-ms", ms, making(session(b, small)), making(session(b, large)))
	})
	b.Run("append", func(b *testing.B) {
		appending := func(session *transcript.Session) func() error {
			return func() error {
				_, err := session.Append(b.Context(), transcript.UserText(kilobyte), nil)
				return err
			}
		}
		compare(b, "append-ns", 1, appending(session(b, small)), appending(session(b, large)))
	})
	b.Run("branch", func(b *testing.B) {
		session := session(b, small)
		n := 0
		for b.Loop() {
			for _, err := range session.Branch(b.Context(), nil) {
				if n++; err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed())/float64(n), "ns/entry")
	})
}
