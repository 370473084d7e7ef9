package toolcatalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/cellmode/cellmode/schema"
)

// MaxToolNameBytes is the longest name a tool may have. It is far above what models handle well, because hosts import
// names that they did not choose; a long name costs its own entry and no other.
const MaxToolNameBytes = 16 << 10

// Spec says what a tool is. Only Name is required.
type Spec struct {
	// Name is the tool's own name, exact and unique within its Source: any text without control characters, up to
	// [MaxToolNameBytes]. The name that cells call it by is derived from it, see [Entry].
	Name string

	// Label is a short title for people. Empty: none.
	Label string

	// Description tells the model what the tool does and when to use it. Empty: none.
	Description string

	// Input is the schema of the tool's argument; its root must accept an object. Nil: the schema of the Go type that the
	// function takes, with every object layer closed. A function that takes json.RawMessage or any has no input contract.
	Input *schema.Schema

	// Output is the schema of the tool's result. Nil: the schema of the Go type that the function returns. A function that
	// returns json.RawMessage or any has no output contract.
	Output *schema.Schema

	// Examples are inputs as a program would pass them: Go values that encoding/json can write, or json.RawMessage. [New]
	// checks them against the input schema. They are shown in the tool's declaration and by describe(): models get complex
	// parameters right far more often with one or two.
	Examples []any

	// Sequential makes the tool wait for all earlier calls of its catalog and blocks later ones until its result is in.
	Sequential bool

	// ReplaySafe says that calling the tool twice does no harm: restart-safe cells may call it, and call it again after
	// a crash.
	ReplaySafe bool

	// Network says that results hold content from outside of the host's control. It marks the cell that receives one.
	Network bool

	// Effect is what a call does to the world. Zero: [EffectUnknown].
	Effect Effect

	// Source is where the tool comes from. Zero: [Native].
	Source Source
}

// Source is where a tool comes from, and with that whether its schemas are trusted.
type Source uint8

const (
	// Native tools are part of the host: their schemas are enforced, in both directions.
	Native Source = iota
	// Client tools are declared by the other side of a connection. Their schemas are not trusted: calls are neither checked
	// against them nor changed by them. A client tool takes the place of a native tool of the same name.
	Client
)

// String is "native" or "client".
func (s Source) String() string {
	switch s {
	case Native:
		return "native"
	case Client:
		return "client"
	}
	return fmt.Sprintf("Source(%d)", uint8(s))
}

// MarshalText gives [Source.String], the form that cells see.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// owner is the middle part of a tool's id.
func (s Source) owner() string {
	if s == Client {
		return "client"
	}
	return "core"
}

// Effect is what a call of a tool does to the world outside of the cell. Terminal outcomes build on it.
type Effect uint8

const (
	// EffectUnknown is for tools of which nothing is known; it is treated like EffectMutate where it matters.
	EffectUnknown Effect = iota
	// EffectRead is for tools that change nothing.
	EffectRead
	// EffectMutate is for tools that change something.
	EffectMutate
)

// String is "unknown", "read" or "mutate".
func (e Effect) String() string {
	switch e {
	case EffectUnknown:
		return "unknown"
	case EffectRead:
		return "read"
	case EffectMutate:
		return "mutate"
	}
	return fmt.Sprintf("Effect(%d)", uint8(e))
}

// MarshalText gives [Effect.String].
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

var errNoFunction = errors.New("the function is nil")

// A Tool is a function with its contracts, made by [Define], [DefineRaw] or [DefineActions]. It is immutable, safe for
// concurrent use, and may be part of any number of catalogs.
type Tool struct {
	spec   Spec
	handle handler
	err    error      // what DefineActions found wrong
	input  typeSchema // used where spec.Input is nil
	output typeSchema // used where spec.Output is nil

	hints atomic.Pointer[hints] // made when they are first asked for, for all catalogs the tool is in
}

// typeSchema is the schema of a Go type, derived once, when the first catalog with it is made. Zero: the type is no contract.
type typeSchema struct {
	typ    reflect.Type
	derive func() (*schema.Schema, error)
}

// Define makes a tool of a Go function. It never fails: what is wrong with the definition is reported by [New], which names all
// bad tools at once.
//
// In and Out are read and written by encoding/json. A call checks the JSON, not the Go value: the input is completed with
// the schema's defaults and checked before it is decoded into an In, the result is checked after it was encoded. Numbers
// arrive exactly: in fields of type any as json.Number. In a result, a nil slice or map is written as [] or {} where the
// contract asks for an array or an object; a nil pointer is null, and the schema of a Go type allows that wherever the type
// has a pointer, the result itself included. An input is always an object, also if In is a pointer. Keys are matched by
// encoding/json, so in a Spec.Input that allows additional properties a key that differs from a field's name in case only
// reaches that field.
//
// The function may be called by any number of goroutines at once. Its context is the one given to the call, values included;
// the function is expected to return soon after the context is done. Its error is what the model reads, word for word: wrap it
// in [InvalidInput] where other arguments would help. A panic is caught.
func Define[In, Out any](spec Spec, run func(ctx context.Context, in In) (Out, error)) *Tool {
	t := &Tool{spec: spec, input: schemaOf[In](schema.For[In]), output: schemaOf[Out](schema.ForResult[Out])}
	if run != nil {
		t.handle = typedHandler(run)
	}
	return t
}

// DefineRaw makes a tool of a function that takes its input as JSON text and returns anything that encoding/json can write;
// a json.RawMessage is passed on as text. Without Spec.Input and Spec.Output nothing is checked but that both are JSON. See
// [Define] for the rest.
func DefineRaw(spec Spec, run func(ctx context.Context, input json.RawMessage) (any, error)) *Tool {
	return Define(spec, run)
}

// Name is the tool's own name, as in [Spec].
func (t *Tool) Name() string { return t.spec.Name }

// schemaOf says that derive makes the schema of T. An interface and json.RawMessage hold anything.
func schemaOf[T any](derive func() (*schema.Schema, error)) typeSchema {
	typ := reflect.TypeFor[T]()
	if typ.Kind() == reflect.Interface || typ == rawMessageType {
		return typeSchema{}
	}
	return typeSchema{typ, sync.OnceValues(derive)}
}

// safelyDerive calls derive, which may call methods of the type.
func (s typeSchema) safelyDerive() (derived *schema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			derived, err = nil, fmt.Errorf("the schema of %v cannot be derived: panic: %v", s.typ, p)
		}
	}()
	return s.derive()
}

// check finds what is wrong with a definition, its schemas excepted.
func (t *Tool) check() error {
	name := t.spec.Name
	switch {
	case strings.TrimSpace(name) == "":
		return errBlankName
	case len(name) > MaxToolNameBytes:
		return fmt.Errorf("the name has %d bytes, at most %d are allowed", len(name), MaxToolNameBytes)
	case !utf8.ValidString(name):
		return errors.New("the name is not valid UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return errControlInName
	case t.handle.run == nil:
		return errNoFunction
	case t.spec.Source > Client:
		return fmt.Errorf("unknown source %v", t.spec.Source)
	case t.spec.Effect > EffectMutate:
		return fmt.Errorf("unknown effect %v", t.spec.Effect)
	}
	return t.err
}
