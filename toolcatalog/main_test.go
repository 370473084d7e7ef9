package toolcatalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newCatalog fails the test if a tool is badly defined.
func newCatalog(t testing.TB, tools ...*toolcatalog.Tool) *toolcatalog.Catalog {
	t.Helper()
	c, err := toolcatalog.New(tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rawTool is a tool without contracts that returns its input.
func rawTool(spec toolcatalog.Spec) *toolcatalog.Tool {
	return toolcatalog.DefineRaw(spec, func(_ context.Context, input json.RawMessage) (any, error) { return input, nil })
}

func named(name string) *toolcatalog.Tool { return rawTool(toolcatalog.Spec{Name: name}) }

func mustParse(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// callFails checks that err is a *CallError of the given code and effect status.
func callFails(t testing.TB, err error, code toolcatalog.ErrorCode, effect string) *toolcatalog.CallError {
	t.Helper()
	var failure *toolcatalog.CallError
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a *CallError of code %s", err, code)
	}
	if failure.Code != code || failure.EffectStatus != effect {
		t.Fatalf("got code %s, effect status %s (%v), want %s, %s", failure.Code, failure.EffectStatus, err, code, effect)
	}
	return failure
}
