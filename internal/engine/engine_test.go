package engine

import (
	"testing"
)

func BenchmarkReset(b *testing.B) {
	e, err := New(b.Context(), &Options{CacheDir: "/tmp/ecache"})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	img, err := e.NewImage(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Log(img.Size(), len(img.runs))
	b.Run("reset", func(b *testing.B) {
		for b.Loop() {
			vm, err := img.Acquire(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			vm.Release()
		}
	})
	b.Run("eval", func(b *testing.B) {
		for b.Loop() {
			vm, err := img.Acquire(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := vm.Eval([]byte("1+1"), "x", 0); err != nil {
				b.Fatal(err)
			}
			vm.Release()
		}
	})
	b.Run("evalonly", func(b *testing.B) {
		vm, err := img.Acquire(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		defer vm.Release()
		for b.Loop() {
			if _, err := vm.Eval([]byte("1+1"), "x", 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
