package codemode_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cellmode/cellmode/codemode"
)

func TestX(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := must(codemode.NewRuntime(t.Context(), nil))
		b := &testBench{}
		_ = b
		ex := newExecutor(t, rt, newTestCatalog(t, nil))
		began := time.Now()
		r := ex.Exec(t.Context(), codemode.ExecInput{Title: "x", Code: "await new Promise(r => setTimeout(r, 9000)); await slow({ms: 900}); return 1"})
		t.Log(describe(r), time.Since(began))
		r = ex.Exec(t.Context(), codemode.ExecInput{Title: "x", Code: "await new Promise(r => setTimeout(r, 11000)); return 1"})
		t.Log(describe(r), time.Since(began))
		r = ex.Exec(t.Context(), codemode.ExecInput{Title: "x", Code: "await slow({ms: 30000}); return 1"})
		t.Log(describe(r), time.Since(began))
		r = ex.Exec(t.Context(), codemode.ExecInput{Title: "x", Code: "await slow({ms: 30000}); return 1", AwaitResults: true})
		t.Log(describe(r), time.Since(began))
		ex.Close()
		rt.Close()
	})
}
