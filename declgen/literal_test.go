package declgen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// literal writes a JSON value as a TypeScript expression. It is the same text but for two things that a program reads
// differently: a key __proto__, which would set the prototype, and a key that stands twice, of which the last one counts.
func literal(value []byte) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return "", err
	}
	var b strings.Builder
	writeLiteral(&b, v)
	return b.String(), nil
}

func writeLiteral(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteString("{ ")
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name == "__proto__" {
				b.WriteString(`["__proto__"]`)
			} else {
				writeLiteral(b, name)
			}
			b.WriteString(": ")
			writeLiteral(b, v[name])
			b.WriteString(", ")
		}
		b.WriteString("}")
	case []any:
		b.WriteString("[")
		for _, item := range v {
			writeLiteral(b, item)
			b.WriteString(", ")
		}
		b.WriteString("]")
	case string:
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		b.Write(text)
	default: // json.Number, bool, nil
		if v == nil {
			b.WriteString("null")
			return
		}
		fmt.Fprint(b, v)
	}
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`{"b":[1.50,-2e400,null,true],"__proto__":{},"a":"\u2028*/"}`: `{ ["__proto__"]: { }, "a": "\u2028*/", "b": [1.50, -2e400, null, true, ], }`,
		`{"a":1,"a":2}`: `{ "a": 2, }`,
	} {
		if got, err := literal([]byte(value)); err != nil || got != want {
			t.Errorf("literal(%s) = %s, %v, want %s", value, got, err, want)
		}
	}
}
