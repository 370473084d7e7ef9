package schema

import (
	"encoding/json"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"
)

type (
	treeMap map[string]*treeMap
	treeRow []*treeRow
	links   struct {
		Next *links `json:"next"`
	}
)

// TestForNilPointers wants null to match wherever encoding/json writes it for a nil pointer, and nothing to be made of it.
func TestForNilPointers(t *testing.T) {
	t.Parallel()
	type item struct {
		N *int `json:"n,omitempty"`
	}
	must := parsed(t)
	for _, test := range []struct {
		s     *Schema
		value any
	}{
		{must(For[[]*item]()), []*item{{}, nil}},
		{must(For[[2]*item]()), [2]*item{}},
		{must(For[[][]*item]()), [][]*item{{nil}}},
		{must(For[map[string]*item]()), map[string]*item{"a": nil}},
		{must(For[map[string][]*item]()), map[string][]*item{"a": {nil}}},
		{must(For[[]**int]()), []**int{nil}},
		{must(For[[]*[]string]()), []*[]string{nil}},
		{must(For[struct{ A []*string }]()), struct{ A []*string }{[]*string{nil}}},
		{must(For[struct{ A *[]*item }]()), struct{ A *[]*item }{&[]*item{nil}}},
		{must(For[treeMap]()), treeMap{"a": nil, "b": {"c": nil}}},
		{must(For[treeRow]()), treeRow{nil, {nil}}},
		{must(For[struct{ A treeMap }]()), struct{ A treeMap }{treeMap{"a": nil}}},
		{must(For[links]()), links{&links{}}},
		{must(For[[]*big.Int]()), []*big.Int{nil, big.NewInt(1)}},
		{must(ForResult[*item]()), (*item)(nil)},
		{must(ForResult[*item]()), &item{}},
		{must(ForResult[**item]()), (**item)(nil)},
		{must(ForResult[*links]()), (*links)(nil)},
		{must(ForResult[*links]()), &links{&links{}}},
		{must(ForResult[*[]string]()), (*[]string)(nil)},
		{must(ForResult[*big.Int]()), (*big.Int)(nil)},
		{must(ForResult[*[]*item]()), &[]*item{nil}},
		{must(ForResult[*treeRow]()), &treeRow{nil, {nil}}},
		{must(ForResult[*map[string]*item]()), &map[string]*item{"a": nil}},
	} {
		text, err := json.Marshal(test.value)
		if err != nil {
			t.Fatal(err)
		}
		if filled := test.s.FillNils(text); string(filled) != string(text) {
			t.Errorf("%s: %s became %s", test.s.Text(), text, filled)
		}
		if err := test.s.Validate(text); err != nil {
			t.Errorf("%s: %s: %v", test.s.Text(), text, err)
		}
	}
	for _, s := range []*Schema{must(For[*item]()), must(ForResult[item]()), must(For[[]item]()), must(For[*links]())} {
		if s.Validate([]byte(`null`)) == nil || s.Validate([]byte(`[null]`)) == nil {
			t.Errorf("%s accepts null", s.Text())
		}
	}
}

// TestForNonPointerMarshalers: encoding/json calls a method of *T only where it can take the address of the T.
func TestForNonPointerMarshalers(t *testing.T) {
	t.Parallel()
	type prices struct {
		Int   big.Int
		Float big.Float
	}
	n := *big.NewInt(7)
	must := parsed(t)
	for _, test := range []struct {
		s     *Schema
		value any
	}{
		{must(For[big.Int]()), n},
		{must(For[big.Int]()), &n},
		{must(For[prices]()), prices{Int: n}},
		{must(For[prices]()), &prices{Int: n}},
		{must(For[[]big.Int]()), []big.Int{n}},
		{must(For[map[string]big.Int]()), map[string]big.Int{"a": n}},
		{must(For[map[string]prices]()), map[string]prices{"a": {Int: n}}},
	} {
		text, err := json.Marshal(test.value)
		if err != nil {
			t.Fatal(err)
		}
		if err := test.s.Validate(text); err != nil {
			t.Errorf("%s: %s: %v", test.s.Text(), text, err)
		}
	}
	for _, test := range []struct {
		s    *Schema
		fail string
	}{
		{must(For[*big.Int]()), `"x"`},
		{must(For[map[string]*big.Int]()), `{"a":"x"}`},
		{must(For[[]*big.Int]()), `["x"]`},
		{must(For[struct {
			A *big.Int `json:"a" jsonschema:"minimum=1"`
		}]()), `{"a":0}`},
	} {
		if test.s.Validate([]byte(test.fail)) == nil {
			t.Errorf("%s accepts %s", test.s.Text(), test.fail)
		}
	}
}

func TestForSizedIntegers(t *testing.T) {
	t.Parallel()
	type color uint8
	must := parsed(t)
	for _, test := range []struct {
		s          *Schema
		fits, fail string
	}{
		{must(For[int8]()), `-128`, `-129`},
		{must(For[int16]()), `32767`, `32768`},
		{must(For[int32]()), `-2147483648`, `2147483648`},
		{must(For[int64]()), `9223372036854775807`, `1.5`},
		{must(For[uint8]()), `255`, `256`},
		{must(For[color]()), `0`, `-1`},
		{must(For[uint16]()), `65535`, `65536`},
		{must(For[uint32]()), `4294967295`, `4294967296`},
		{must(For[uint64]()), `18446744073709551615`, `-1`},
		{must(For[struct {
			A *int8 `json:"a" jsonschema:"minimum=3"`
		}]()), `{"a":127}`, `{"a":128}`},
		{must(For[struct {
			A int8 `json:"a" jsonschema:"minimum=3"`
		}]()), `{"a":3}`, `{"a":2}`},
		{must(For[struct {
			A int8 `json:"a,string"`
		}]()), `{"a":"3"}`, `{"a":3}`},
	} {
		if err := test.s.Validate([]byte(test.fits)); err != nil {
			t.Errorf("%s: %v", test.s.Text(), err)
		}
		if test.s.Validate([]byte(test.fail)) == nil {
			t.Errorf("%s accepts %s", test.s.Text(), test.fail)
		}
	}
	if text := string(must(For[struct {
		A int8 `json:",string"`
	}]()).Text()); strings.Contains(text, "minimum") {
		t.Errorf("the bounds of a number stand at a string: %s", text)
	}
}

// TestForTags wants every word of a tag to be applied or refused.
func TestForTags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		make func() (*Schema, error)
		want string // in the error; empty: none
	}{
		{For[struct {
			A int `jsonschema:"minimum=abc"`
		}], `"minimum=abc"`},
		{For[struct {
			A int `jsonschema:"minimun=3"`
		}], `"minimun=3"`},
		{For[struct {
			A int `jsonschema:"enum=x"`
		}], `"enum=x"`},
		{For[struct {
			A int `jsonschema:"minimum=Inf"`
		}], `"minimum=Inf"`},
		{For[struct {
			A int `jsonschema:"minLength=3"`
		}], `"minLength=3"`},
		{For[struct {
			A string `jsonschema:"minLength=-3"`
		}], `"minLength=-3"`},
		{For[struct {
			A string `jsonschema:"minimum=3"`
		}], `"minimum=3"`},
		{For[struct {
			A string `jsonschema:"enum=a,enum=b,default=c"`
		}], `"default=c"`},
		{For[struct {
			A int `jsonschema:"default=1.5"`
		}], `"default=1.5"`},
		{For[struct {
			A []int `jsonschema:"default=1"`
		}], `"default=1"`},
		{For[struct {
			A bool `jsonschema:"default=yes"`
		}], `"default=yes"`},
		{For[struct {
			A string `jsonschema:"optional"`
		}], `"optional"`},
		{For[struct {
			A int `json:",string" jsonschema:"minimum=3"`
		}], `"minimum=3"`},
		{For[struct {
			A [][]int `jsonschema:"minimum=3"`
		}], `"minimum=3"`},
		{For[struct {
			A []int `jsonschema:"pattern=x"`
		}], `"pattern=x"`},
		{For[struct {
			A []int `jsonschema:"uniqueItems=false"`
		}], `"uniqueItems=false"`},
		{For[struct {
			A map[string]int `jsonschema:"minimum=3"`
		}], `"minimum=3"`},
		{For[struct {
			A any `jsonschema:"default=3"`
		}], `"default=3"`},
		{For[struct {
			In []struct {
				Deep int `jsonschema:"minimum=abc"`
			}
		}], `Deep`},

		{For[struct {
			A *string `jsonschema:"enum=a,enum=b,default=b,title=t,description=d=e\\, f,example=a,readOnly=true"`
		}], ``},
		{For[struct {
			A float64 `jsonschema:"required,minimum=-1.5,exclusiveMaximum=1e3,multipleOf=0.5,default=1,example=2,enum=1,enum=2"`
		}], ``},
		{For[struct {
			A []string `jsonschema:"minItems=1,maxItems=2,uniqueItems=true,pattern=^a,enum=a,default=a"`
		}], ``},
		{For[struct {
			A []*string `jsonschema:"minLength=1"`
			B []int8    `jsonschema:"maximum=3,nullable"`
			C *bool     `jsonschema:"default=true,nullable"`
			D time.Time `jsonschema:"minLength=20"`
			E any       `jsonschema:"type=string,pattern=^a"`
			F int       `jsonschema:"nullable,minimum=1,default=1"`
			G *links    `jsonschema:"title=a link"`
		}], ``},
	} {
		s, err := test.make()
		switch {
		case test.want == "" && err != nil:
			t.Error(err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "struct {")):
			t.Errorf("got %v, %v, want an error with %s", s, err, test.want)
		}
	}
}

func TestForAdvice(t *testing.T) {
	t.Parallel()
	if _, err := For[[]chan int](); err == nil || strings.Contains(err.Error(), "field") {
		t.Errorf("advice about a field that is not there: %v", err)
	}
	if _, err := For[struct{ A []chan int }](); err == nil || !strings.Contains(err.Error(), "leave the field out") {
		t.Errorf("no advice: %v", err)
	}
}

func TestForURL(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(url.URL{Scheme: "https", User: url.User("a")})
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed(t)(For[url.URL]()).Validate(text); err != nil {
		t.Error(err)
	}
}

func TestCoerceIntegersWritesThemPlainly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ schema, value, want string }{
		{`{"type":"integer"}`, `1.0`, `1`},
		{`{"type":"integer"}`, `1e2`, `100`},
		{`{"type":"integer"}`, `-12.50E1`, `-125`},
		{`{"type":"integer"}`, `-0.0`, `0`},
		{`{"type":"integer"}`, `18446744073709551615.0`, `18446744073709551615`},
		{`{"type":"integer"}`, `1e19`, `10000000000000000000`},
		{`{"type":"integer"}`, `1e20`, `1e20`},
		{`{"type":"integer"}`, `1e999999999`, `1e999999999`},
		{`{"type":"integer"}`, `1.5`, `1.5`},
		{`{"type":["integer","null"]}`, `1.0`, `1`},
		{`{"type":["integer","number"]}`, `1.0`, `1.0`},
		{`{"type":"number"}`, `1.0`, `1.0`},
		{`{}`, `1.0`, `1.0`},
		{`{"properties":{"a":{"items":{"type":"integer"}}}}`, `{"a":[1.0,2,3e0],"b":1.0}`, `{"a":[1,2,3],"b":1.0}`},
	} {
		if got := mustParse(t, test.schema).CoerceIntegers([]byte(test.value)); string(got) != test.want {
			t.Errorf("%s: %s became %s, want %s", test.schema, test.value, got, test.want)
		}
	}
}
