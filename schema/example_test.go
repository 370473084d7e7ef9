package schema_test

import (
	"errors"
	"fmt"

	"github.com/cellmode/cellmode/schema"
)

func Example() {
	type Order struct {
		ID    int64    `json:"id" jsonschema:"minimum=1"`
		Notes []string `json:"notes,omitempty"`
	}
	s, err := schema.For[Order]()
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Validate([]byte(`{"id":7,"notes":["fragile"]}`)))
	fmt.Println(s.Validate([]byte(`{"id":0,"color":"red"}`)))
	// Output:
	// <nil>
	// value does not match the schema: $.id must be at least 1; $ the property "color" is not allowed; known are "id", "notes"
}

func ExampleParse() {
	_, err := schema.Parse([]byte(`{"type":"object","properties":{"size":{"type":"int"}}}`))
	if refusal, ok := errors.AsType[*schema.ParseError](err); ok {
		fmt.Println(refusal.Path)
		fmt.Println(refusal.Reason)
	}
	// Output:
	// #/properties/size/type
	// "int" is not a type; the types are object, array, string, number, integer, boolean, null
}

func ExampleVariants() {
	rows, err := schema.For[[]string]()
	if err != nil {
		panic(err)
	}
	count, err := schema.For[int]()
	if err != nil {
		panic(err)
	}
	s, err := schema.Variants("operation", schema.Variant{Value: "list", Schema: rows}, schema.Variant{Value: "count", Schema: count})
	fmt.Println(string(s.Text()), err)
	// Output:
	// {"anyOf":[{"items":{"type":"string"},"type":"array"},{"type":"integer"}],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"operation","mapping":{"list":0,"count":1}}} <nil>
}

func ExampleSchema_ApplyDefaults() {
	s, err := schema.Parse([]byte(`{"properties":{"limit":{"type":"integer","default":20},"page":{"properties":{"size":{"default":50}}}}}`))
	if err != nil {
		panic(err)
	}
	value, err := s.ApplyDefaults([]byte(`{"page":{}}`))
	fmt.Println(string(value), err)
	// Output: {"page":{"size":50},"limit":20} <nil>
}

func ExampleSchema_CoerceIntegers() {
	type Input struct {
		ID int64 `json:"id"`
	}
	s, err := schema.For[Input]()
	if err != nil {
		panic(err)
	}
	fmt.Println(string(s.CoerceIntegers([]byte(`{"id":"1915883588174806058"}`))))
	// Output: {"id":1915883588174806058}
}
