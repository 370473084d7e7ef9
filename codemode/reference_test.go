package codemode

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

const testID = "result_00000000-0000-4000-8000-000000000000"

// rows are n rows of the test tool of this name.
func rows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"id":%d,"name":"row %d"}`, i, i)
	}
	return "[" + strings.TrimPrefix(b.String(), ",") + "]"
}

func TestReference(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		name, text     string
		count          int
		shape, preview string // preview: "" for the value itself
	}{
		{"null", `null`, 1, `null`, ""},
		{"true", `true`, 1, `boolean`, ""},
		{"number with all its digits", `1915883588174806058`, 1, `number`, ""},
		{"string", `"é"`, 1, `string`, ""},
		{"empty array", `[]`, 0, `$: 0 items, sampled 0/0: `, ""},
		{"empty object", `{}`, 0, `{}`, ""},
		{"object", `{"a":1,"b":"x","__proto__":null,"d":false,"e":{},"f":1.5,"g":1}`, 7,
			`{"a":number,"b":string,"__proto__":null,"d":boolean,"e":object,"f":number}`, ""},
		{"one item", `[{"id":1}]`, 1, `$: 1 items, sampled 1/1: {"id":number}`, ""},
		{"two items", `[1,"a"]`, 2, `$: 2 items, sampled 2/2 heterogeneous: number | string`, ""},
		{"four items", `[1,2,3,4]`, 4, `limited traversal; $: 4 items, sampled 3/4: number`, ""},
		{"paths", `{"odd key":[1],"a":{"b":[[],[2]]}}`, 2,
			`$.a.b: 2 items, sampled 2/2: array; $.a.b[1]: 1 items, sampled 1/1: number; $["odd key"]: 1 items, sampled 1/1: number; $.a.b[0]: 0 items, sampled 0/0: `, ""},
		{"empty and numeric keys", `{"":[1],"0":[],"$_9":[]}`, 3,
			`$[""]: 1 items, sampled 1/1: number; $.$_9: 0 items, sampled 0/0: ; $["0"]: 0 items, sampled 0/0: `, ""},
		{"256 bytes", `"` + x(254) + `"`, 1, `string`, ""},
		{"257 bytes", `"` + x(255) + `"`, 1, `string`, `{"sampled":true,"traversalLimited":false,"value":"` + x(48) + `…"}`},
		{"a cut does not split a character", `"` + x(47) + strings.Repeat("é", 200) + `"`, 1, `string`, `{"sampled":true,"traversalLimited":false,"value":"` + x(47) + `…"}`},
		{"rows", rows(500), 500, `limited traversal; $: 500 items, sampled 3/500: {"id":number,"name":string}`,
			`{"sampled":true,"traversalLimited":true,"arrays":[{"path":"$","count":500,"items":[{"index":0,"value":{"id":0,"name":"row 0"}},{"index":250,"value":{"id":250,"name":"row 250"}},{"index":499,"value":{"id":499,"name":"row 499"}}]}]}`},
		{"fields of the envelope, others before strings, at most four",
			`{"next":"abc","ok":true,"total":12,"note":"` + x(49) + `","a":null,"big":1` + strings.Repeat("0", 90) + `,"items":[1,"` + x(200) + `"],"z":"later"}`, 8,
			`$.items: 2 items, sampled 2/2 heterogeneous: number | string`,
			`{"sampled":true,"traversalLimited":false,"fields":{"ok":true,"total":12,"a":null,"next":"abc"},"arrays":[{"path":"$.items","count":2,"items":[{"index":0,"value":1},{"index":1,"value":"` + x(48) + `…"}]}]}`},
		{"fields have strings of up to 48 units", `{"a":"` + x(49) + `","b":"` + x(48) + `","c":[1,"` + x(300) + `"]}`, 3,
			`$.c: 2 items, sampled 2/2 heterogeneous: number | string`,
			`{"sampled":true,"traversalLimited":false,"fields":{"b":"` + x(48) + `"},"arrays":[{"path":"$.c","count":2,"items":[{"index":0,"value":1},{"index":1,"value":"` + x(48) + `…"}]}]}`},
		{"sampled levels", `{"a":{"b":{"c":{}},"` + x(41) + `":{"d":1}},"e":"` + x(300) + `"}`, 2,
			`{"a":object,"e":string}`,
			`{"sampled":true,"traversalLimited":false,"value":{"a":{"b":"[object]","` + x(40) + `…":"[object]"},"e":"` + x(48) + `…"}}`},
		{"arrays in samples", `{"a":[[[1,2,"` + x(100) + `"],[3]],[[4]]],"b":"` + x(300) + `"}`, 2,
			`$.a[0][0]: 3 items, sampled 3/3 heterogeneous: number | string; $.a: 2 items, sampled 2/2: array; $.a[0]: 2 items, sampled 2/2: array; $.a[0][1]: 1 items, sampled 1/1: number; $.a[1]: 1 items, sampled 1/1: array; $.a[1][0]: 1 items, sampled 1/1: number`,
			`{"sampled":true,"traversalLimited":false,"arrays":[{"path":"$.a[0][0]","count":3,"items":[{"index":0,"value":1},{"index":1,"value":2},{"index":2,"value":"` + x(48) + `…"}]},{"path":"$.a","count":2,"items":[{"index":0,"value":[[1,2],[3]]},{"index":1,"value":[[4]]}]},{"path":"$.a[0]","count":2,"items":[{"index":0,"value":[1,2]},{"index":1,"value":[3]}]}` + x(200)},
		{"arrays at the last level of samples", `[{"a":{"b":[1,2,3]}},"` + x(300) + `"]`, 2,
			`$[0].a.b: 3 items, sampled 3/3: number; $: 2 items, sampled 2/2 heterogeneous: {"a":object} | string`,
			`{"sampled":true,"traversalLimited":false,"arrays":[{"path":"$[0].a.b","count":3,"items":[{"index":0,"value":1},{"index":1,"value":2},{"index":2,"value":3}]},{"path":"$","count":2,"items":[{"index":0,"value":{"a":{"b":"[array: 3 items]"}}},{"index":1,"value":"` + x(48) + `…"}]}]}`},
		{"a number without end", "[" + strings.Repeat("9", 300) + "]", 1, `$: 1 items, sampled 1/1: number`,
			`{"sampled":true,"traversalLimited":false,"arrays":[{"path":"$","count":1,"items":[{"index":0,"value":"` + strings.Repeat("9", 48) + `…"}]}]}`},
		{"depth 5 is not entered", `{"a":{"b":{"c":{"d":{"e":{}}}}}}`, 1, `limited traversal; {"a":object}`, ""},
		{"depth 4 is", `{"a":{"b":{"c":{"d":{"e":1}}}}}`, 1, `{"a":object}`, ""},
		{"key too long to follow", `{"` + x(193) + `":[1],"b":{}}`, 2, `limited traversal; {"` + x(40) + `…":array,"b":object}`, ""},
		{"path too long to follow", `{"` + x(191) + `":[1]}`, 1, `limited traversal; {"` + x(40) + `…":array}`, ""},
		{"path of 192 bytes", `{"` + x(190) + `":[]}`, 1, `$.` + x(190) + `: 0 items, sampled 0/0: `, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := Reference{ID: testID, Bytes: len(tt.text), Count: tt.count, Shape: tt.shape, Preview: tt.preview, PreviewTruncated: true}
			if tt.preview == "" {
				want.Preview, want.PreviewTruncated = tt.text, false
			}
			want, _ = want.fit(MaxReferenceBytes)
			if got := newReference(testID, []byte(tt.text)); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			checkReference(t, []byte(tt.text))
		})
	}
}

// The bounds of the search, at the number and one beyond.
func TestReferenceLimits(t *testing.T) {
	t.Parallel()
	list := func(n int, item func(i int) string) string {
		var items []string
		for i := range n {
			items = append(items, item(i))
		}
		return strings.Join(items, ",")
	}
	scalar := func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }
	for _, tt := range []struct {
		name, text string
		limited    bool
		arrays     int
	}{
		{"16 keys", `{` + list(16, scalar) + `}`, false, 0},
		{"17 keys", `{` + list(17, scalar) + `}`, true, 0},
		{"array behind the 16th key", `{` + list(16, scalar) + `,"a":[]}`, true, 0},
		{"8 arrays", `{` + list(8, func(i int) string { return fmt.Sprintf(`"k%d":[]`, i) }) + `}`, false, 8},
		{"9 arrays", `{` + list(9, func(i int) string { return fmt.Sprintf(`"k%d":[]`, i) }) + `}`, true, 8},
		// 1 + 16 + 15*7 + 5 = 127 values, then 128, then 129
		{"127 values", `{` + list(15, func(i int) string { return fmt.Sprintf(`"k%d":{%s}`, i, list(7, scalar)) }) + `,"l":{` + list(5, scalar) + `}}`, false, 0},
		{"128 values", `{` + list(15, func(i int) string { return fmt.Sprintf(`"k%d":{%s}`, i, list(7, scalar)) }) + `,"l":{` + list(6, scalar) + `}}`, false, 0},
		{"129 values", `{` + list(15, func(i int) string { return fmt.Sprintf(`"k%d":{%s}`, i, list(7, scalar)) }) + `,"l":{` + list(7, scalar) + `}}`, true, 0},
		{"three elements", `[1,2,3]`, false, 1},
		{"key of 192 units, path too long", `{"` + strings.Repeat("é", 192) + `":1}`, true, 0},
	} {
		o := &outline{text: []byte(tt.text)}
		arrays, limited := o.arrays()
		if limited != tt.limited || len(arrays) != tt.arrays {
			t.Errorf("%s: limited %v with %d arrays, want %v with %d", tt.name, limited, len(arrays), tt.limited, tt.arrays)
		}
		checkReference(t, []byte(tt.text))
	}
}

// TestReferenceOfRandomValues compares with the plain implementation, on small values and on some that are large enough
// for every way through the text.
func TestReferenceOfRandomValues(t *testing.T) {
	t.Parallel()
	small, large := 1000, 30
	if testing.Short() {
		small, large = 200, 10
	}
	for seed := range small + large {
		random := rand.New(rand.NewPCG(1, uint64(seed)))
		g := valueMaker{random, 40}
		if seed >= small {
			g.left = 4000
		}
		text, err := jsontext.Compact(g.value(nil, 0))
		if err != nil {
			t.Fatal(err)
		}
		checkReference(t, text)
	}
}

// valueMaker makes random JSON with everything in it that a reference has a rule for.
type valueMaker struct {
	*rand.Rand
	left int // values still to make
}

func (g *valueMaker) value(b []byte, depth int) []byte {
	g.left--
	kind := g.IntN(10)
	if g.left <= 0 || depth > 12 {
		kind = g.IntN(5)
	} else if depth < 2 {
		kind = 5 + g.IntN(5)
	}
	switch kind {
	case 0:
		return append(b, []string{"null", "true", "false", "-0", "1.50e3", "1915883588174806058"}[g.IntN(6)]...)
	case 1:
		return fmt.Appendf(b, "%d", g.IntN(100_000))
	case 2, 3, 4:
		return g.str(b)
	}
	n := g.IntN(5)
	switch g.IntN(8) {
	case 0:
		n = g.IntN(20)
	case 1:
		n = g.IntN(1 + g.left/2)
	}
	open, end := byte('['), byte(']')
	if kind < 7 {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		if open == '{' {
			b = append(g.str(b), ':')
		}
		b = g.value(b, depth+1)
	}
	return append(b, end)
}

func (g *valueMaker) str(b []byte) []byte {
	pieces := []string{"a", "id", "__proto__", "é", "日本", "😀", `\"`, `\\`, `\n`, `\u0000`, `\u0041`, `\ud83d\ude00`, "\u2028", " ", ",", "]", "}", ":", "{", "["}
	n := g.IntN(3)
	switch g.IntN(40) {
	case 0:
		n = g.IntN(300)
	case 1:
		n = g.IntN(60)
	case 2:
		if g.left > 1000 {
			n = g.IntN(8000)
		}
	}
	b = append(b, '"')
	for range n {
		b = append(b, pieces[g.IntN(len(pieces))]...)
	}
	return append(b, '"')
}

// checkReference holds what is true for the reference of any value. text is compact.
func checkReference(t testing.TB, text []byte) {
	t.Helper()
	r := newReference(testID, text)
	if want := plainReference(t, testID, text); r != want {
		t.Fatalf("%.2000q\ngot  %+v\nwant %+v", text, r, want)
	}
	if again := newReference(testID, text); r != again {
		t.Fatalf("%.2000q\nfirst  %+v\nsecond %+v", text, r, again)
	}
	checkSize(t, r, MaxReferenceBytes)
	if small := len(text) <= 256; small && r.Preview != string(text) || r.PreviewTruncated == small {
		t.Fatalf("%.2000q: preview %q, truncated %v", text, r.Preview, r.PreviewTruncated)
	}
	for _, allowance := range []int{700, 555, 400, 301, 222, 160, 150, 140, 100} {
		checkFit(t, r, allowance)
	}
}

// checkFit holds what is true for any allowance.
func checkFit(t testing.TB, r Reference, allowance int) {
	t.Helper()
	fitted, ok := r.fit(allowance)
	if !ok {
		empty := Reference{ID: r.ID, Bytes: r.Bytes, Count: r.Count, PreviewTruncated: true}
		if empty.size() <= allowance || fitted != (Reference{}) {
			t.Fatalf("no reference of %d bytes, though %d are enough", allowance, empty.size())
		}
		return
	}
	if want := plainFit(t, r, allowance); fitted != want {
		t.Fatalf("fit(%d)\ngot  %+v\nwant %+v", allowance, fitted, want)
	}
	checkSize(t, fitted, allowance)
	if fitted.ID != r.ID || fitted.Bytes != r.Bytes || fitted.Count != r.Count {
		t.Fatalf("fit(%d) changed the identity: %+v", allowance, fitted)
	}
}

func TestReferenceFitsEveryAllowance(t *testing.T) {
	t.Parallel()
	awkward := strings.Repeat(`\"\u0000é😀\\`, 20)
	for _, text := range []string{`1`, rows(500), `"` + awkward + `"`, `[["` + awkward + `"],{"` + awkward + `":{}}]`} {
		r := newReference(testID, []byte(text))
		for allowance := -1; allowance <= MaxReferenceBytes; allowance++ {
			checkFit(t, r, allowance)
		}
	}
}

// checkSize checks the size of a reference as every way to encode it gives it, and that it decodes to itself.
func checkSize(t testing.TB, r Reference, limit int) {
	t.Helper()
	text, err := marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > limit || len(text) != r.size() || !utf8.Valid(text) {
		t.Fatalf("%d bytes, size() says %d, the limit is %d: %q", len(text), r.size(), limit, text)
	}
	var back Reference
	if err := json.Unmarshal(text, &back); err != nil || back != r {
		t.Fatalf("%s\ndecodes to %+v, %v", text, back, err)
	}
}

// A key or a string may hold more than is ever shown: neither its length nor its escapes cost anything.
func TestReferenceOfUnkindTexts(t *testing.T) {
	t.Parallel()
	deep := func(n int, open, end string) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	long := strings.Repeat(`\"`, 50_000)
	for _, text := range []string{
		deep(9000, "[", "]"),
		deep(9000, `{"a":[`, "]}"),
		`{"` + long + `":1,"` + long + `":["` + long + `"]}`,
		`[` + strings.Repeat(`{"a":[]},`, 20_000) + `"` + long + `",` + deep(5000, "[", "]") + `]`,
		`{"a":"` + strings.Repeat(`\ud83d\ude00`, 5000) + `","b":` + strings.Repeat("1", 50_000) + `}`,
		`[` + strings.Repeat("0,", 200_000) + `0]`,
	} {
		checkReference(t, []byte(text))
	}
}

// Half of a surrogate pair stays what it is in the value, and is U+FFFD where it is shown decoded.
func TestReferenceOfLoneSurrogates(t *testing.T) {
	t.Parallel()
	text := []byte(`{"\ud83d":["` + strings.Repeat(`\udc00`, 60) + `"]}`)
	r := newReference(testID, text)
	const fffd = "\ufffd"
	if !strings.HasPrefix(r.Shape, `$["`+fffd+`"]: 1 items`) || !strings.Contains(r.Preview, `"value":"`+strings.Repeat(fffd, 16)+`…"`) {
		t.Errorf("%+v", r)
	}
	checkSize(t, r, MaxReferenceBytes)
}

func FuzzReference(f *testing.F) {
	for _, seed := range []string{
		`null`, `[]`, rows(40), `{"a":{"b":[[1],{"__proto__":[2]}]},"\u00e9\"":"\ud83d"}`,
		`{"next":"abc","ok":true,"items":[1,"` + strings.Repeat("é", 200) + `"]}`,
		strings.Repeat("[", 20), `{"a":`, `["`, `}`, `{"a"1,"b":[`, `{"a":[1,2}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		newReference(testID, in) // of text that is not JSON nothing is asked but an end
		if text, err := jsontext.Compact(in); err == nil {
			checkReference(t, text)
		}
	})
}
