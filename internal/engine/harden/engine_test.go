package harden

import (
	"crypto/sha256"
	"testing"
	_ "unsafe"

	_ "github.com/fastschema/qjs"
)

//go:linkname engine github.com/fastschema/qjs.wasmBytes
var engine []byte

func TestX(t *testing.T) {
	out, err := Rewrite(engine)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%x %d", sha256.Sum256(out), len(out))
}
func BenchmarkRewrite(b *testing.B) {
	for b.Loop() {
		if _, err := Rewrite(engine); err != nil {
			b.Fatal(err)
		}
	}
}
