// Package jsontext works on JSON as text, without decoding it.
//
// A value crosses between Go and the guest as compact JSON text and stays text. This package is what the host does to
// that text on the way:
//
//	text, err := jsontext.Compact(raw)            // valid, compact, valid UTF-8; digits and key order as they came
//	text = jsontext.QuoteUnsafeIntegers(text)     // 1915883588174806058 -> "1915883588174806058"
//	line := jsontext.AppendString(nil, "a <b>")   // "a <b>", as JSON.stringify writes it
//	size := jsontext.EncodedLen("a <b>")          // 7, without writing it
//	n := jsontext.UTF16Len("😀")                   // 2, as JavaScript counts
//
// # Text that is not Unicode
//
// JSON text can hold two things that no Unicode string can: bytes that are not UTF-8, and escapes of half a surrogate
// pair (\ud83d alone). [Compact], [Append] and [AppendString] replace each such byte and each such escape by U+FFFD,
// so that a value looks the same whether a tool decodes it or passes it on as text.
//
// # Concurrency
//
// All functions are pure: they keep no state, and may be called by any number of goroutines at once.
package jsontext

import "fmt"

// MaxDepth is how deep arrays and objects may be nested. It is the limit of encoding/json, so that what passes here
// can be decoded there.
const MaxDepth = 10_000

// SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Offset int    // bytes before the place of the error
	Reason string // what is wrong there; never contains text of the value
}

// Error names the reason and the place.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not valid JSON: %s at byte %d", e.Reason, e.Offset)
}
