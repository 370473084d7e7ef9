package toolcatalog

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/cellmode/cellmode/internal/jsontext"
	"github.com/cellmode/cellmode/schema"
)

// maxCodecProblem is the longest path or message of codecProblem, in bytes.
const maxCodecProblem = 256

// codecProblem says why an input could not be decoded or a result not be encoded. Of the value it shows nothing: the texts
// of errors that are not known may quote it.
func codecProblem(code ErrorCode, err error) schema.Problem {
	var (
		wrongType   *json.UnmarshalTypeError
		badTime     *time.ParseError
		badType     *json.UnsupportedTypeError
		badValue    *json.UnsupportedValueError
		badEncoding *json.MarshalerError
		syntax      *jsontext.SyntaxError
		repeated    *repeatedKeyError
	)
	path, message := "$", ""
	switch {
	case errors.As(err, &syntax):
		message = "is " + syntax.Error()
	case errors.As(err, &repeated):
		message = "is " + repeated.Error()
	case code == CodeInputContract && errors.As(err, &wrongType):
		if wrongType.Field != "" {
			path += "." + wrongType.Field
		}
		message = "must be " + readable(wrongType.Type)
	case errors.As(err, &badEncoding):
		message = fmt.Sprintf("cannot be written as JSON: the marshal method of Go type %s failed", badEncoding.Type)
	case errors.As(err, &badType):
		message = fmt.Sprintf("cannot be written as JSON: it holds a Go %s", badType.Type)
	case errors.As(err, &badValue) && badValue.Value.CanFloat():
		message = "cannot be written as JSON: it holds a number that is not finite"
	case errors.As(err, &badValue):
		message = "cannot be written as JSON: it contains itself"
	case code == CodeOutputContract:
		message = "cannot be written as JSON"
	case errors.As(err, &badTime):
		message = "holds a text that cannot be read as a time in RFC 3339 form, as in 2006-01-02T15:04:05Z"
	default:
		message = "holds a value that is not in the form the tool reads"
	}
	return schema.Problem{Path: clip(path, maxCodecProblem), Message: clip(message, maxCodecProblem)}
}

// readable says in words what encoding/json can read into a t.
func readable(t reflect.Type) string {
	if t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "a string"
	}
	switch k := t.Kind(); k {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		limit := uint64(1) << (t.Bits() - 1)
		return fmt.Sprintf("an integer from -%d to %d, written without a point or an exponent", limit, limit-1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fmt.Sprintf("an integer from 0 to %d, written without a point or an exponent", ^uint64(0)>>(64-t.Bits()))
	case reflect.Float32, reflect.Float64:
		return fmt.Sprintf("a number that a %s can hold", k)
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a base64 string"
		}
		return "an array"
	case reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "a value that the tool can read"
}
