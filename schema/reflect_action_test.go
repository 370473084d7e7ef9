package schema

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
)

type actionTree struct {
	Name     string        `json:"name"`
	Children []*actionTree `json:"children,omitempty"`
}

type actionMap map[string]actionMap

// described returns the same schema each time, which must stay as it is.
type described struct{}

var describedSchema = &jsonschema.Schema{Type: "object", Required: []string{"x"}, Properties: jsonschema.NewProperties()}

func (described) JSONSchema() *jsonschema.Schema { return describedSchema }

func TestForAction(t *testing.T) {
	t.Parallel()
	type page struct {
		Limit int    `json:"limit,omitempty" jsonschema:"minimum=1,default=20"`
		After *int64 `json:"after"`
	}
	action := func(s *Schema, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return string(s.Text())
	}
	const op = `"op":{"type":"string","const":"list"}`
	for _, test := range []struct{ got, want string }{
		{action(ForAction[struct{}]("op", "list")), `{"properties":{` + op + `},"additionalProperties":false,"type":"object","required":["op"]}`},
		{action(ForAction[page]("op", "list")), `{"properties":{` + op + `,"limit":{"type":"integer","minimum":1,"default":20},"after":{"type":["integer","null"]}},
			"additionalProperties":false,"type":"object","required":["op"]}`},
		{action(ForAction[*struct{ X bool }]("op", "list")), `{"properties":{` + op + `,"X":{"type":"boolean"}},"additionalProperties":false,"type":"object","required":["op","X"]}`},
		{action(ForAction[map[string]int8]("op", "list")), `{"properties":{` + op + `},"additionalProperties":{"type":"integer","maximum":127,"minimum":-128},"type":"object","required":["op"]}`},
		{action(ForAction[map[string]any]("say \"hi\"", "\u2028")), `{"properties":{"say \"hi\"":{"type":"string","const":"\u2028"}},"type":"object","required":["say \"hi\""]}`},
		{action(ForAction[described]("op", "list")), `{"properties":{` + op + `},"type":"object","required":["op","x"]}`},
	} {
		if got, want := canonicalOrdered(t, test.got), canonicalOrdered(t, test.want); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if describedSchema.Properties.Len() != 0 || len(describedSchema.Required) != 1 {
		t.Error("the schema of a type that describes itself was changed")
	}
}

// canonicalOrdered is a schema without white space and with the keywords sorted, but the properties in their order.
func canonicalOrdered(t *testing.T, text string) string {
	t.Helper()
	var keywords map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &keywords); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	sorted, err := json.Marshal(keywords)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}

// TestForActionRecursive wants the property at the root only, not wherever the type refers to itself.
func TestForActionRecursive(t *testing.T) {
	t.Parallel()
	tree, err := ForAction[actionTree]("op", "plant")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := ForAction[actionMap]("op", "plant")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		s     *Schema
		value string
		valid bool
	}{
		{tree, `{"op":"plant","name":"a","children":[{"name":"b","children":[null]}]}`, true},
		{tree, `{"op":"plant","name":"a","children":[{"name":"b","op":"plant"}]}`, false},
		{tree, `{"name":"a"}`, false},
		{maps, `{"op":"plant","a":{"b":{}}}`, true},
		{maps, `{"op":"plant","a":{"op":"plant"}}`, false},
		{maps, `{"op":{}}`, false},
	} {
		if err := test.s.Validate([]byte(test.value)); (err == nil) != test.valid {
			t.Errorf("%s\n%s: %v", test.s.Text(), test.value, err)
		}
	}
}

func TestForActionRefuses(t *testing.T) {
	t.Parallel()
	type taken struct {
		Op string `json:"op"`
	}
	type embedding struct{ taken }
	type channel struct{ C chan int }
	for _, test := range []struct {
		make func(property, value string) (*Schema, error)
		want string
	}{
		{ForAction[taken], `the property "op" is there already`},
		{ForAction[embedding], `the property "op" is there already`},
		{ForAction[int], "must be a struct or a map"},
		{ForAction[[]string], "must be a struct or a map"},
		{ForAction[time.Time], "must be a struct or a map"},
		{ForAction[any], "must be a struct or a map"},
		{ForAction[json.RawMessage], "must be a struct or a map"},
		{ForAction[json.Number], "must be a struct or a map"},
		{ForAction[channel], "chan int"},
	} {
		s, err := test.make("op", "list")
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, %v, want an error with %q", s, err, test.want)
		}
	}
	for _, test := range [][2]string{{"", "list"}, {"op", ""}, {"\xff", "list"}, {"op", "\xff"}} {
		if _, err := ForAction[struct{}](test[0], test[1]); err == nil {
			t.Errorf("property %q, value %q: no error", test[0], test[1])
		}
	}
}
