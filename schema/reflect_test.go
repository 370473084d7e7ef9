package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/big"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text, indented, with a file of testdata.
func golden(t *testing.T, file string, text []byte) {
	t.Helper()
	path := filepath.Join("testdata", file)
	var got bytes.Buffer
	if err := json.Indent(&got, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s (-update rewrites it):\n got %s\nwant %s", file, got.Bytes(), want)
	}
}

type (
	base struct {
		ID      string    `json:"id"`
		Created time.Time `json:"created"`
		Shadow  int       `json:"shadow"`
		Both    int       `json:"both"`
	}
	other struct {
		Both int `json:"both"` // as near as base.Both, so that neither counts
	}
	page[T any] struct {
		Items []T     `json:"items" jsonschema:"minItems=1"`
		Next  *string `json:"next" jsonschema_description:"where to go on"`
	}
	kitchen struct {
		base
		*other
		Shadow   string            `json:"shadow,omitempty" jsonschema:"enum=a,enum=b"`
		Count    int64             `json:"count" jsonschema:"description=how many,minimum=1,maximum=10,default=3"`
		Ratio    float32           `json:"ratio,omitzero"`
		Maybe    *int              `json:"maybe" jsonschema:"enum=1,enum=2"`
		Flag     bool              `json:"flag,string"`
		Tags     []string          `json:"tags"`
		Labels   map[string]string `json:"labels"`
		ByID     map[int]uint8     `json:"byID"`
		Anything any               `json:"anything"`
		Raw      json.RawMessage   `json:"raw"`
		Bytes    []byte            `json:"bytes"`
		Hash     [4]byte           `json:"hash"`
		Wait     time.Duration     `json:"wait"`
		Address  netip.Addr        `json:"address"`
		Big      *big.Int          `json:"big"`
		Number   json.Number       `json:"number"`
		Own      ownJSON           `json:"own"`
		URL      url.URL           `json:"url"`
		Inner    struct {
			X int `json:"x"`
		} `json:"inner"`
		Pages    page[base] `json:"pages"`
		Optional *base      `json:"optional,omitempty"`
		OddName  string     `json:"filter[size]"`
		Untagged int
		Hidden   chan int `json:"-"`
		Left     int      `jsonschema:"-" json:"left,omitempty"`
	}
	tree struct {
		Name string  `json:"name"`
		Kids []*tree `json:"kids"`
		Up   *tree   `json:"up,omitempty"`
	}
	forest struct {
		Trees  map[string]tree `json:"trees"`
		Nested nested          `json:"nested"`
	}
	nested  []nested
	ownJSON struct{ X int }
	told    struct{}
)

func (ownJSON) MarshalJSON() ([]byte, error) { return []byte(`[1]`), nil }

func (told) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: "^t"}
}

// parsed returns a function that fails the test if a schema could not be made.
func parsed(t *testing.T) func(*Schema, error) *Schema {
	return func(s *Schema, err error) *Schema {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestForGolden(t *testing.T) {
	t.Parallel()
	must := parsed(t)
	golden(t, "kitchen.json", must(For[kitchen]()).Text())
	golden(t, "tree.json", must(For[tree]()).Text())
	golden(t, "forest.json", must(For[*forest]()).Text())
}

func TestForSimple(t *testing.T) {
	t.Parallel()
	must := parsed(t)
	for _, test := range []struct {
		s    *Schema
		want string
		any  bool
	}{
		{must(For[any]()), `{}`, true},
		{must(For[json.RawMessage]()), `{}`, true},
		{must(For[ownJSON]()), `{}`, true},
		{must(For[error]()), `{}`, true},
		{must(For[string]()), `{"type":"string"}`, false},
		{must(For[**int]()), `{"type":"integer"}`, false},
		{must(For[[]string]()), `{"items":{"type":"string"},"type":"array"}`, false},
		{must(For[map[string]any]()), `{"type":"object"}`, false},
		{must(For[struct{}]()), `{"properties":{},"additionalProperties":false,"type":"object"}`, false},
		{must(For[time.Time]()), `{"type":"string","format":"date-time"}`, false},
		{must(For[nested]()), `{"items":{"$ref":"#"},"type":"array"}`, false},
		{must(For[told]()), `{"type":"string","pattern":"^t"}`, false},
		{must(For[struct {
			T told `json:"t" jsonschema:"title=x"`
		}]()), `{"properties":{"t":{"type":"string","pattern":"^t","title":"x"}},"additionalProperties":false,"type":"object","required":["t"]}`, false},
	} {
		if got := string(test.s.Text()); got != test.want || test.s.IsAny() != test.any {
			t.Errorf("got %s (any: %v), want %s", got, test.s.IsAny(), test.want)
		}
	}
}

// TestForMatchesEncoding wants what encoding/json writes for a type to match the schema of the type, the zero value included.
func TestForMatchesEncoding(t *testing.T) {
	t.Parallel()
	must := parsed(t)
	one := 1
	for _, test := range []struct {
		s     *Schema
		value any
	}{
		{must(For[kitchen]()), kitchen{Number: "1.5", Shadow: "a", Count: 1, Pages: page[base]{Items: []base{{}}}}},
		{must(For[kitchen]()), &kitchen{Number: "0", Count: 1, Maybe: &one, Optional: &base{}, other: &other{}, Shadow: "b",
			Pages: page[base]{Items: make([]base, 3)}, ByID: map[int]uint8{-1: 1, 2: 2}, Bytes: []byte("x"), Raw: json.RawMessage(`[]`)}},
		{must(For[tree]()), tree{Kids: []*tree{{Up: &tree{}}}}},
		{must(For[forest]()), forest{}},
		{must(For[forest]()), forest{Trees: map[string]tree{"a": {}}, Nested: nested{nil, {{}}}}},
		{must(For[[]string]()), []string(nil)},
	} {
		text, err := json.Marshal(test.value)
		if err != nil {
			t.Fatal(err)
		}
		filled := test.s.FillNils(text)
		if err := test.s.Validate(filled); err != nil {
			t.Errorf("%s: %v", filled, err)
		}
	}
	if err := must(For[kitchen]()).Validate([]byte(`{"nope":1}`)); err == nil || !strings.Contains(err.Error(), `"nope" is not allowed`) {
		t.Errorf("an unknown field gives %v", err)
	}
}

func TestForRefuses(t *testing.T) {
	t.Parallel()
	type loop *loop
	type large10 struct{ A, B, C, D, E, F, G, H, I, J base }
	type large100 struct{ A, B, C, D, E, F, G, H, I, J large10 }
	type large1000 struct{ A, B, C, D, E, F, G, H, I, J large100 }
	for _, test := range []struct {
		make func() (*Schema, error)
		want string
	}{
		{For[chan int], "chan int"},
		{For[struct{ A []struct{ B func() } }], ".A[].B: the type func()"},
		{For[map[struct{}]int], "keys of type struct {}"},
		{For[struct{ C complex128 }], ".C: the type complex128"},
		{For[loop], "nothing but itself"},
		{For[struct {
			A string `jsonschema:"pattern=("`
		}], "#/properties/A/pattern"},
		{For[struct{ A, B, C, D, E, F, G, H, I, J large1000 }], "too large"},
	} {
		if s, err := test.make(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, %v, want an error with %q", s, err, test.want)
		}
	}
}
