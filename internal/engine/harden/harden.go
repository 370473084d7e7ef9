package harden

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Rewrite returns the hardened form of wasm, which must be the pinned binary; another one is a
// [*HashError]. It takes some milliseconds, keeps nothing of wasm and does not change it. It is safe
// for concurrent use, and the same for every call: its result may be cached.
func Rewrite(wasm []byte) ([]byte, error) {
	sum := sha256.Sum256(wasm)
	if got := hex.EncodeToString(sum[:]); got != SHA256 {
		return nil, &HashError{Want: SHA256, Got: got}
	}
	return rewrite(wasm, Period, true)
}

// HashError reports that the engine binary is not the pinned one. Every index and offset of the
// package belongs to that one binary: there is nothing safe to do with another.
type HashError struct {
	Want, Got string // SHA-256 in hexadecimal
}

func (e *HashError) Error() string {
	return fmt.Sprintf("engine binary has SHA-256 %s, want %s: pin it with: go get %s@%s",
		e.Got, e.Want, Module, Version)
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
