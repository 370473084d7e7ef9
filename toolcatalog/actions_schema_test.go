package toolcatalog

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/schema"
)

// The schemas of a tool with actions are plain: closed objects and no reference, with the annotation that declarations and
// the check of results build on.
func TestActionsSchemas(t *testing.T) {
	t.Parallel()
	type rows struct {
		Rows []string `json:"rows"`
	}
	tool := DefineActions(Spec{Name: "t"}, "op",
		On("list", func(context.Context, struct {
			Limit int `json:"limit,omitempty" jsonschema:"default=5"`
		}) (rows, error) {
			return rows{}, nil
		}),
		On("drop", func(context.Context, struct{}) (bool, error) { return true, nil }),
		On("find", func(context.Context, struct{}) (rows, error) { return rows{}, nil }))
	for _, test := range []struct {
		got  *schema.Schema
		want string
	}{
		{tool.spec.Input, `{"anyOf":[
			{"properties":{"op":{"type":"string","const":"list"},"limit":{"type":"integer","default":5}},"additionalProperties":false,"type":"object","required":["op"]},
			{"properties":{"op":{"type":"string","const":"drop"}},"additionalProperties":false,"type":"object","required":["op"]},
			{"properties":{"op":{"type":"string","const":"find"}},"additionalProperties":false,"type":"object","required":["op"]}],
			"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"list":0,"drop":1,"find":2}}}`},
		{tool.spec.Output, `{"anyOf":[
			{"properties":{"rows":{"items":{"type":"string"},"type":"array"}},"additionalProperties":false,"type":"object","required":["rows"]},
			{"type":"boolean"}],
			"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"list":0,"drop":1,"find":0}}}`},
	} {
		if got, want := string(test.got.Text()), strings.NewReplacer("\n", "", "\t", "").Replace(test.want); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		if d, ok := test.got.Discriminator(); !ok || !d.Narrow {
			t.Errorf("%+v, %v", d, ok)
		}
	}
	if tool.spec.Output.ValidateFor([]byte(`true`), "list") == nil || tool.spec.Output.ValidateFor([]byte(`true`), "drop") != nil {
		t.Error("the output schema does not tell the actions apart")
	}
}

// Results of any type are not checked; where no action has a contract, the tool has none.
func TestActionsWithoutContract(t *testing.T) {
	t.Parallel()
	any1 := On("a", func(context.Context, struct{}) (any, error) { return 1, nil })
	any2 := On("b", func(context.Context, struct{}) (json.RawMessage, error) { return nil, nil })
	number := On("c", func(context.Context, struct{}) (int, error) { return 1, nil })
	if tool := DefineActions(Spec{Name: "t"}, "op", any1, any2); tool.spec.Output != nil || tool.err != nil {
		t.Errorf("the output schema is %s, %v", tool.spec.Output.Text(), tool.err)
	}
	tool := DefineActions(Spec{Name: "t"}, "op", any1, any2, number)
	if want := `{"anyOf":[{},{"type":"integer"}],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"op","mapping":{"a":0,"b":0,"c":1}}}`; string(tool.spec.Output.Text()) != want {
		t.Errorf("got %s\nwant %s", tool.spec.Output.Text(), want)
	}
	if tool.spec.Output.ValidateFor([]byte(`"x"`), "a") != nil || tool.spec.Output.ValidateFor([]byte(`"x"`), "c") == nil {
		t.Error("the output schema does not tell the actions apart")
	}
}

// A deferred schema that is bad is no bad definition: its calls fail instead.
func TestContractOfDeferredSchemas(t *testing.T) {
	t.Parallel()
	b := builder{derived: map[derivation]derivedSchema{}}
	deferred := schema.ParseDeferred([]byte(`{"type":"sting"}`))
	if got, err := b.declared(deferred, typeSchema{}, true); got != deferred || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	zero := &schema.Schema{}
	if _, err := b.declared(zero, typeSchema{}, true); err == nil || !errors.Is(err, zero.Err()) {
		t.Errorf("the zero Schema: %v", err)
	}
}
