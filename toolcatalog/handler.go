package toolcatalog

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"reflect"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// handler is a tool's function behind its types. The steps are apart because an error means another thing in each: an input
// that cannot be decoded is refused before anything is executed, and before anybody is asked to approve it.
type handler struct {
	decode func(input json.RawMessage) (in any, err error)        // in is for run only
	run    func(ctx context.Context, in any) (out any, err error) // calls the function; out is for encode only
	encode func(out any) (json.RawMessage, error)
}

var (
	rawMessageType      = reflect.TypeFor[json.RawMessage]()
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// typedHandler puts the types of run behind a handler.
func typedHandler[In, Out any](run func(context.Context, In) (Out, error)) handler {
	read := decoder(reflect.TypeFor[In]())
	return handler{
		decode: func(input json.RawMessage) (any, error) {
			in := new(In)
			return in, read(input, in)
		},
		run:    func(ctx context.Context, in any) (any, error) { return run(ctx, *in.(*In)) },
		encode: encode,
	}
}

// decoder is the function that reads JSON text into a *T, where t is the type T.
func decoder(t reflect.Type) func(text []byte, into any) error {
	switch {
	case t == rawMessageType:
		return func(text []byte, into any) error {
			*into.(*json.RawMessage) = bytes.Clone(text) // the tool may keep or change it
			return nil
		}
	case holdsInterface(t, map[reflect.Type]bool{}):
		return func(text []byte, into any) error {
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber() // a float64 in an interface would round large integers
			return d.Decode(into)
		}
	}
	return json.Unmarshal
}

// holdsInterface reports whether encoding/json may store into an interface somewhere in a t. Types that decode themselves are
// left to themselves.
func holdsInterface(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if p := reflect.PointerTo(t); p.Implements(unmarshalerType) || p.Implements(textUnmarshalerType) {
		return false
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsInterface(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsInterface(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

// encode writes v as compact JSON text in valid UTF-8, with no escaping for HTML. The result shares no memory with v.
func encode(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok && raw != nil {
		return jsontext.Append(nil, raw)
	}
	var text sink
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	// Text that comes from a MarshalJSON method or a json.RawMessage inside of v may hold bytes that are not UTF-8.
	return jsontext.Compact(text[:len(text)-1]) // without the line break
}

// sink keeps what a json.Encoder writes, which is one slice for each value, at its exact size.
type sink []byte

func (s *sink) Write(p []byte) (int, error) {
	*s = append(*s, p...)
	return len(p), nil
}
