package guest_test

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
)

// BenchmarkRestingVM measures the memory of VMs that wait in the pool, after a cell each, by the process's own size: of
// bare ones, and of those with the controller, without and with the web APIs.
func BenchmarkRestingVM(b *testing.B) {
	for name, newImage := range map[string]func(ctx context.Context, e *engine.Engine) (*engine.Image, error){
		"bare": func(ctx context.Context, e *engine.Engine) (*engine.Image, error) { return e.NewImage(ctx, nil) },
		"plain": func(ctx context.Context, e *engine.Engine) (*engine.Image, error) {
			return guest.NewImage(ctx, e, false)
		},
		"web": func(ctx context.Context, e *engine.Engine) (*engine.Image, error) {
			return guest.NewImage(ctx, e, true)
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(restingVM(b, newImage), "KiB/VM")
			}
		})
	}
}

func restingVM(b *testing.B, newImage func(ctx context.Context, e *engine.Engine) (*engine.Image, error)) float64 {
	const n = 64
	e, err := engine.New(b.Context(), &engine.Options{MaxIdle: n})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	img, err := newImage(b.Context(), e)
	if err != nil {
		b.Fatal(err)
	}
	run := func() *engine.VM {
		vm, err := img.Acquire(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := vm.Eval([]byte(`[1, 2, 3].map((x) => x * 2).join()`), "bench.js", 0); err != nil {
			b.Fatal(err)
		}
		return vm
	}
	run().Release()
	before := resident(b)
	vms := make([]*engine.VM, n)
	for i := range vms {
		vms[i] = run()
	}
	for _, vm := range vms {
		vm.Release()
	}
	return (resident(b) - before) / (n - 1) // one was there before
}

// resident is the memory of the process, in KiB.
func resident(b *testing.B) float64 {
	runtime.GC()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip("needs /proc")
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		b.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / 1024
}
