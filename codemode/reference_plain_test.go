package codemode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// This file describes values in the plain way, from the decoded value and without any thought of cost, for comparison.

type plainObject []plainMember

type plainMember struct {
	key   string
	value any
}

// decodePlain decodes JSON with the order and repetition of its keys, and the digits of its numbers.
func decodePlain(t testing.TB, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value func() any
	token := func() json.Token {
		tok, err := d.Token()
		if err != nil {
			t.Fatalf("%.200q: %v", text, err)
		}
		return tok
	}
	value = func() any {
		switch tok := token(); tok {
		case json.Delim('['):
			list := []any{}
			for d.More() {
				list = append(list, value())
			}
			token()
			return list
		case json.Delim('{'):
			object := plainObject{}
			for d.More() {
				key := token().(string)
				object = append(object, plainMember{key, value()})
			}
			token()
			return object
		default:
			return tok
		}
	}
	return value()
}

// plainReference is what newReference must give.
func plainReference(t testing.TB, id string, text []byte) Reference {
	value := decodePlain(t, text)
	r := Reference{ID: id, Bytes: len(text), Count: 1}
	switch v := value.(type) {
	case []any:
		r.Count = len(v)
	case plainObject:
		r.Count = len(v)
	}

	type found struct {
		path  string
		items []any
	}
	var arrays []found
	type visit struct {
		path  string
		value any
		depth int
	}
	limited := false
	queue := []visit{{"$", value, 0}}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		add := func(segment string, child any) {
			if path := v.path + segment; len(queue) >= 128 || len(path) > 192 {
				limited = true
			} else {
				queue = append(queue, visit{path, child, v.depth + 1})
			}
		}
		switch x := v.value.(type) {
		case []any:
			arrays = append(arrays, found{v.path, x})
			if v.depth == 5 {
				limited = true
				continue
			}
			indexes := plainIndexes(len(x))
			if len(indexes) < len(x) {
				limited = true
			}
			for _, index := range indexes {
				add(fmt.Sprintf("[%d]", index), x[index])
			}
		case plainObject:
			if v.depth == 5 {
				limited = true
				continue
			}
			for n, m := range x {
				switch {
				case n >= 16:
					limited = true
				case len(utf16.Encode([]rune(m.key))) > 192:
					limited = true
				case plainName(m.key):
					add("."+m.key, m.value)
				default:
					add("["+plainString(m.key)+"]", m.value)
				}
			}
		}
	}
	sort.SliceStable(arrays, func(i, j int) bool {
		if len(arrays[i].items) != len(arrays[j].items) {
			return len(arrays[i].items) > len(arrays[j].items)
		}
		return arrays[i].path < arrays[j].path
	})
	if len(arrays) > 8 {
		arrays, limited = arrays[:8], true
	}

	var shapes, samples []string
	for _, a := range arrays {
		var kinds, items []string
		indexes := plainIndexes(len(a.items))
		for _, index := range indexes {
			if s := plainShape(a.items[index]); !slices.Contains(kinds, s) {
				kinds = append(kinds, s)
			}
			items = append(items, fmt.Sprintf(`{"index":%d,"value":%s}`, index, plainSample(a.items[index], 0)))
		}
		mixed := ""
		if len(kinds) > 1 {
			mixed = " heterogeneous"
		}
		shapes = append(shapes, fmt.Sprintf("%s: %d items, sampled %d/%d%s: %s", a.path, len(a.items), len(indexes), len(a.items), mixed, strings.Join(kinds, " | ")))
		samples = append(samples, fmt.Sprintf(`{"path":%s,"count":%d,"items":[%s]}`, plainString(a.path), len(a.items), strings.Join(items, ",")))
	}
	r.Shape = strings.Join(shapes, "; ")
	if len(arrays) == 0 {
		r.Shape = plainShape(value)
	}
	if limited {
		r.Shape = "limited traversal; " + r.Shape
	}
	if len(text) <= 256 {
		r.Preview = string(text)
		for plainSize(t, r) > 768 {
			_, last := utf8.DecodeLastRuneInString(r.Shape)
			r.Shape = r.Shape[:len(r.Shape)-last]
		}
		return r
	}
	r.PreviewTruncated = true
	switch fields := plainFields(value); {
	case len(arrays) == 0:
		r.Preview = fmt.Sprintf(`{"sampled":true,"traversalLimited":%t,"value":%s}`, limited, plainSample(value, 0))
	case fields != "":
		r.Preview = fmt.Sprintf(`{"sampled":true,"traversalLimited":%t,"fields":%s,"arrays":[%s]}`, limited, fields, strings.Join(samples, ","))
	default:
		r.Preview = fmt.Sprintf(`{"sampled":true,"traversalLimited":%t,"arrays":[%s]}`, limited, strings.Join(samples, ","))
	}
	return plainFit(t, r, 768)
}

// plainFit is what Reference.fit must give where there is room for the identity.
func plainFit(t testing.TB, r Reference, allowance int) Reference {
	if plainSize(t, r) <= allowance {
		return r
	}
	shape, preview := r.Shape, r.Preview
	r.Shape, r.Preview, r.PreviewTruncated = "", "", true
	left := allowance - plainSize(t, r)
	r.Shape = plainPrefix(shape, left/3)
	r.Preview = plainPrefix(preview, left-(len(plainString(r.Shape))-2))
	return r
}

// plainPrefix is the longest prefix of whole characters that takes no more than room bytes between its quotes.
func plainPrefix(s string, room int) string {
	size := 0
	for i, c := range s {
		if size += len(plainString(string(c))) - 2; size > room {
			return s[:i]
		}
	}
	return s
}

func plainSize(t testing.TB, r Reference) int {
	text, err := marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

func plainIndexes(n int) []int {
	if n == 0 {
		return nil
	}
	return slices.Compact([]int{0, n / 2, n - 1})
}

func plainName(key string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$"
	return key != "" && strings.Trim(key, letters+"0123456789") == "" && strings.Contains(letters, key[:1])
}

func plainString(s string) string { return string(jsontext.AppendString(nil, s)) }

func plainCut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for !utf8.ValidString(s[:limit]) {
		limit--
	}
	return s[:limit] + "…"
}

func plainKind(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func plainShape(value any) string {
	object, ok := value.(plainObject)
	if !ok {
		return plainKind(value)
	}
	var fields []string
	for _, m := range object[:min(6, len(object))] {
		fields = append(fields, plainString(plainCut(m.key, 40))+":"+plainKind(m.value))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func plainSample(value any, depth int) string {
	var parts []string
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		if len(v) > 48 {
			return plainString(string(v[:48]) + "…")
		}
		return string(v)
	case string:
		return plainString(plainCut(v, 48))
	case []any:
		if depth == 2 {
			return fmt.Sprintf(`"[array: %d items]"`, len(v))
		}
		for _, item := range v[:min(2, len(v))] {
			parts = append(parts, plainSample(item, depth+1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	if depth == 2 {
		return `"[object]"`
	}
	object := value.(plainObject)
	for _, m := range object[:min(6, len(object))] {
		parts = append(parts, plainString(plainCut(m.key, 40))+":"+plainSample(m.value, depth+1))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func plainFields(value any) string {
	object, _ := value.(plainObject)
	var others, texts, kept []string
	for _, m := range object[:min(16, len(object))] {
		key := plainString(plainCut(m.key, 40)) + ":"
		switch v := m.value.(type) {
		case []any, plainObject:
		case string:
			if len(utf16.Encode([]rune(v))) <= 48 {
				texts = append(texts, key+plainString(v))
			}
		case json.Number:
			others = append(others, key+string(v))
		default:
			others = append(others, key+plainSample(v, 0))
		}
	}
	for _, member := range append(others, texts...) {
		if all := append(slices.Clone(kept), member); len(kept) < 4 && len("{}"+strings.Join(all, ",")) <= 96 {
			kept = all
		}
	}
	if kept == nil {
		return ""
	}
	return "{" + strings.Join(kept, ",") + "}"
}
