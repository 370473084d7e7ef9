package transcript_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/transcript"
)

// benchmarkCell runs f on a store with a cell of 100 KB among a thousand others, with each way to write.
func benchmarkCell(b *testing.B, f func(b *testing.B, s *transcript.Store, cell store.Cell)) {
	for name, synchronous := range map[string]transcript.Synchronous{"full": transcript.SynchronousFull, "normal": transcript.SynchronousNormal} {
		b.Run(name, func(b *testing.B) {
			s := open(b, newPath(b), &transcript.Options{Synchronous: synchronous})
			if _, err := s.DB().ExecContext(context.Background(), "PRAGMA synchronous = off"); err != nil { // as to what is there already
				b.Fatal(err)
			}
			for i := range 1000 {
				if err := s.SaveCell(context.Background(), newCell(fmt.Sprint("other ", i))); err != nil {
					b.Fatal(err)
				}
			}
			cell := newCell("c")
			cell.Data = make([]byte, 100_000)
			fill(cell.Data)
			if err := s.SaveCell(context.Background(), cell); err != nil {
				b.Fatal(err)
			}
			if _, err := s.DB().ExecContext(context.Background(), "PRAGMA synchronous = "+name); err != nil {
				b.Fatal(err)
			}
			cell.Fence = 1
			b.ReportAllocs()
			f(b, s, cell)
		})
	}
}

// fill makes data that was not there before, as SQLite does not write what has stayed the same.
func fill(data []byte) {
	n := rand.Uint32()
	for i := range data {
		n = n*1664525 + 1013904223
		data[i] = byte(n >> 24)
	}
}

func BenchmarkSaveCell(b *testing.B) {
	benchmarkCell(b, func(b *testing.B, s *transcript.Store, cell store.Cell) {
		for b.Loop() {
			fill(cell.Data)
			if err := s.SaveCell(b.Context(), cell); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkLeaseCell(b *testing.B) {
	benchmarkCell(b, func(b *testing.B, s *transcript.Store, cell store.Cell) {
		for b.Loop() {
			if _, err := s.LeaseCell(b.Context(), cell.ID, time.Now()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
