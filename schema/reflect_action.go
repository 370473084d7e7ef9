package schema

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/invopop/jsonschema"
)

// ForAction returns the schema of the input of one action of several, of which a property of the input selects: [For], and in
// front of the properties of T one more, that is required and always has that value. T is a struct or a map, or a pointer
// to one; struct{} is an action without further input. A T with a property of that name is an error.
func ForAction[T any](property, value string) (*Schema, error) {
	switch {
	case property == "" || value == "":
		return nil, errors.New("schema: an action needs the name of a property and a value for it")
	case !utf8.ValidString(property) || !utf8.ValidString(value):
		return nil, errors.New("schema: the property and the value of an action must be valid UTF-8")
	}
	return reflectType(reflect.TypeFor[T](), func(g *generator, t reflect.Type) (*jsonschema.Schema, error) {
		if g.recursive[t] {
			g.root = nil // "#" would be the schema with the property
		}
		return withAction(g.definition(t), property, value)
	})
}

// withAction returns a copy of the schema of an object with the property of an action.
func withAction(s *jsonschema.Schema, property, value string) (*jsonschema.Schema, error) {
	if s.Type != "object" {
		return nil, errors.New("the input of an action must be a struct or a map")
	}
	properties := jsonschema.NewProperties()
	properties.Set(property, &jsonschema.Schema{Type: "string", Const: value})
	if s.Properties != nil {
		if _, taken := s.Properties.Get(property); taken {
			return nil, fmt.Errorf("the property %s is there already: the action itself is no part of its input, leave it out", quoteName(property))
		}
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			properties.Set(p.Key, p.Value)
		}
	}
	with := *s
	with.Properties = properties
	with.Required = append([]string{property}, s.Required...)
	return &with, nil
}
