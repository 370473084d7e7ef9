// Package harden rewrites the QuickJS WebAssembly binary of github.com/fastschema/qjs so that
// untrusted code can run on it.
package harden

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Rewrite returns the hardened form of wasm, which must be the pinned engine binary ([SHA256]).
// Another binary gives a [*HashError] and no output. wasm is not changed, and the result shares no
// memory with it.
func Rewrite(wasm []byte) ([]byte, error) {
	sum := sha256.Sum256(wasm)
	if got := hex.EncodeToString(sum[:]); got != SHA256 {
		return nil, &HashError{Want: SHA256, Got: got}
	}
	return rewrite(wasm, Period, true)
}

// HashError reports that the engine binary is not the one that this package knows. Every index and
// offset in the package belongs to one binary, so there is nothing safe to do with another.
type HashError struct {
	Want, Got string // SHA-256 in hexadecimal
}

func (e *HashError) Error() string {
	return fmt.Sprintf("engine binary has SHA-256 %s, want %s: pin it with: go get %s@%s", e.Got, e.Want, Module, Version)
}

// FormatError reports a WebAssembly binary that cannot be rewritten. The pinned binary never gives
// one.
type FormatError struct {
	Offset int    // of the problem, in bytes from the start of the binary
	Reason string // what is wrong there
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("engine binary, offset %d: %s", e.Offset, e.Reason)
}
