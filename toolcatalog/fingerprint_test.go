package toolcatalog_test

import (
	"context"
	"testing"

	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

func TestFingerprint(t *testing.T) {
	t.Parallel()
	type in struct {
		ID string `json:"id"`
	}
	base := toolcatalog.Spec{Name: "orders.get", Label: "Get", Description: "Gets an order."}
	make := func(spec toolcatalog.Spec) string {
		tool := toolcatalog.Define(spec, func(context.Context, in) (int, error) { return 1, nil })
		other := toolcatalog.Define(toolcatalog.Spec{Name: "other"}, func(context.Context, in) (int, error) { return 1, nil })
		catalog, err := toolcatalog.New([]*toolcatalog.Tool{other, tool}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return catalog.Fingerprint()
	}
	want := make(base)
	same := base
	same.Label, same.Description = "Other", "Says it in other words."
	if got := make(same); got != want {
		t.Error("a description changes the fingerprint")
	}
	for name, change := range map[string]func(*toolcatalog.Spec){
		"name":       func(s *toolcatalog.Spec) { s.Name = "orders.read" },
		"callable":   func(s *toolcatalog.Spec) { s.Name = "orders_get" },
		"sequential": func(s *toolcatalog.Spec) { s.Sequential = true },
		"replaySafe": func(s *toolcatalog.Spec) { s.ReplaySafe = true },
		"network":    func(s *toolcatalog.Spec) { s.Network = true },
		"effect":     func(s *toolcatalog.Spec) { s.Effect = toolcatalog.EffectMutate },
		"source":     func(s *toolcatalog.Spec) { s.Source = toolcatalog.Client },
		"input":      func(s *toolcatalog.Spec) { s.Input, _ = schema.Parse([]byte(`{"type":"object"}`)) },
		"output":     func(s *toolcatalog.Spec) { s.Output, _ = schema.Parse([]byte(`{"type":"integer","minimum":1}`)) },
	} {
		spec := base
		change(&spec)
		if make(spec) == want {
			t.Errorf("%s does not change the fingerprint", name)
		}
	}
}
