package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Diff compares two JSON texts and returns the first difference, or nil. Objects
// must have the same keys in the same order, numbers the same digits. White space
// and the way in which a string is escaped do not matter.
func Diff(want, got []byte) error { return diffTexts(want, got, false) }

// DiffSubset is [Diff] with two liberties: an object of got may have more keys
// than that of want, and {"$contains": [...]} in want stands for a string that
// holds all the parts.
func DiffSubset(want, got []byte) error { return diffTexts(want, got, true) }

func diffTexts(want, got []byte, subset bool) error {
	w, err := parse(want)
	if err != nil {
		return fmt.Errorf("the wanted text is not JSON: %w", err)
	}
	g, err := parse(got)
	if err != nil {
		return fmt.Errorf("got no JSON: %w: %s", err, clip(string(got)))
	}
	return diff("$", w, g, subset)
}

// A value is decoded JSON that keeps the order of keys and the digits of numbers.
type value struct {
	// scalar is nil, a bool, a string or a json.Number where kind is 0.
	scalar any
	// kind is '[' or '{', or 0 for a scalar.
	kind  json.Delim
	keys  []string // of an object, in order
	items []value  // of an array or an object
}

func parse(text []byte) (value, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	v, err := parseNext(decoder)
	if err != nil {
		return value{}, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return value{}, fmt.Errorf("text after the value")
	}
	return v, nil
}

func parseNext(decoder *json.Decoder) (value, error) {
	token, err := decoder.Token()
	if err != nil {
		return value{}, err
	}
	kind, ok := token.(json.Delim)
	if !ok {
		return value{scalar: token}, nil
	}
	v := value{kind: kind}
	for decoder.More() {
		if kind == '{' {
			key, err := decoder.Token()
			if err != nil {
				return value{}, err
			}
			v.keys = append(v.keys, key.(string))
		}
		item, err := parseNext(decoder)
		if err != nil {
			return value{}, err
		}
		v.items = append(v.items, item)
	}
	_, err = decoder.Token() // the closing bracket
	return v, err
}

func diff(path string, want, got value, subset bool) error {
	if subset {
		if parts, ok := want.contains(); ok {
			return diffContains(path, parts, got)
		}
	}
	switch {
	case want.kind != got.kind:
		return fmt.Errorf("%s: want %s, got %s", path, want, got)
	case want.kind == 0:
		if want.scalar != got.scalar {
			return fmt.Errorf("%s: want %s, got %s", path, want, got)
		}
	case want.kind == '[':
		if len(want.items) != len(got.items) {
			return fmt.Errorf("%s: want %d items, got %d: %s", path, len(want.items), len(got.items), got)
		}
		for i := range want.items {
			if err := diff(fmt.Sprintf("%s[%d]", path, i), want.items[i], got.items[i], subset); err != nil {
				return err
			}
		}
	default:
		return diffObjects(path, want, got, subset)
	}
	return nil
}

// diffObjects walks both objects in order. Keys that only got has are passed over
// where subset allows them.
func diffObjects(path string, want, got value, subset bool) error {
	at := 0
	for i, key := range want.keys {
		for subset && at < len(got.keys) && got.keys[at] != key {
			at++
		}
		if at == len(got.keys) || got.keys[at] != key {
			return fmt.Errorf("%s: want key %q at place %d, got keys %q", path, key, i, got.keys)
		}
		if err := diff(path+"."+key, want.items[i], got.items[at], subset); err != nil {
			return err
		}
		at++
	}
	if !subset && at != len(got.keys) {
		return fmt.Errorf("%s: unexpected keys %q", path, got.keys[at:])
	}
	return nil
}

// contains returns the parts of {"$contains": [...]}.
func (v value) contains() (parts []string, ok bool) {
	if v.kind != '{' || len(v.keys) != 1 || v.keys[0] != "$contains" || v.items[0].kind != '[' {
		return nil, false
	}
	for _, item := range v.items[0].items {
		part, ok := item.scalar.(string)
		if !ok {
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, true
}

func diffContains(path string, parts []string, got value) error {
	text, ok := got.scalar.(string)
	if !ok || got.kind != 0 {
		return fmt.Errorf("%s: want a string, got %s", path, got)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return fmt.Errorf("%s: want a string with %q, got %s", path, part, clip(text))
		}
	}
	return nil
}

// String renders v for a test's message.
func (v value) String() string {
	switch v.kind {
	case '[':
		return fmt.Sprintf("an array of %d", len(v.items))
	case '{':
		return clip(fmt.Sprintf("an object with the keys %q", v.keys))
	}
	if text, ok := v.scalar.(string); ok {
		return clip(fmt.Sprintf("%q", text))
	}
	if v.scalar == nil {
		return "null"
	}
	return fmt.Sprint(v.scalar)
}

// display is what JavaScript's String makes of v.
func (v value) display() string {
	switch v.kind {
	case '{':
		return "[object Object]"
	case '[':
		parts := make([]string, len(v.items))
		for i, item := range v.items {
			if item.kind != 0 || item.scalar != nil {
				parts[i] = item.display()
			}
		}
		return strings.Join(parts, ",")
	}
	if v.scalar == nil {
		return "null"
	}
	return fmt.Sprint(v.scalar)
}
