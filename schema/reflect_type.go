package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/invopop/jsonschema"
)

// fixedSchema returns the schema of a type whose JSON is not what its kind says, or nil. Each call makes a new one, because
// the tags of a field are added to it.
func fixedSchema(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	case reflect.TypeFor[addressedInt]():
		return &jsonschema.Schema{Type: "integer"}
	case reflect.TypeFor[url.URL](): // for encoding/json a struct of its fields, which are no contract of anybody: left open
		return &jsonschema.Schema{Type: "object"}
	}
	switch {
	case describesItself(t):
		return nil
	case t.Kind() == reflect.Interface, implements[json.Marshaler](t), implements[json.Unmarshaler](t):
		return anything()
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	case implements[encoding.TextMarshaler](t), implements[encoding.TextUnmarshaler](t):
		return anything() // whether encoding/json calls the methods depends on where the value is
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && fixedSchema(t.Elem()) == nil:
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	}
	return nil
}

// sizedInteger returns the schema of an integer type that holds fewer numbers than most, or nil.
func sizedInteger(t reflect.Type) *jsonschema.Schema {
	k := t.Kind()
	switch {
	case reflect.Int8 <= k && k <= reflect.Int32:
		limit := int64(1) << (t.Bits() - 1)
		return &jsonschema.Schema{Type: "integer", Minimum: number(-limit), Maximum: number(limit - 1)}
	case reflect.Uint8 <= k && k <= reflect.Uint32:
		return &jsonschema.Schema{Type: "integer", Minimum: "0", Maximum: number(1<<t.Bits() - 1)}
	case reflect.Uint <= k && k <= reflect.Uint64:
		return &jsonschema.Schema{Type: "integer", Minimum: "0"}
	}
	return nil
}

func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// dropBounds removes what sizedInteger says from the schema of a number that is written as a string.
func dropBounds(s *jsonschema.Schema) { s.Minimum, s.Maximum = "", "" }

var bigIntType = reflect.TypeFor[big.Int]()

// addressedInt stands for a big.Int behind a pointer, where encoding/json always calls its methods.
type addressedInt struct{}

// pointee is what a pointer type points to.
func pointee(t reflect.Type) reflect.Type {
	if t.Elem() == bigIntType {
		return reflect.TypeFor[addressedInt]()
	}
	return t.Elem()
}

// anything is written as {}, where a zero Schema would be written as true.
func anything() *jsonschema.Schema { return &jsonschema.Schema{Extras: map[string]any{}} }

// describesItself reports whether a type has the methods by which invopop/jsonschema is told its schema.
func describesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[interface{ JSONSchema() *jsonschema.Schema }]()) ||
		t.Implements(reflect.TypeFor[interface{ JSONSchemaAlias() any }]())
}

// implements reports whether a T or a pointer to one has the methods of I.
func implements[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Implements(i) || reflect.PointerTo(t).Implements(i)
}

// jsonField is a field of the JSON object that encoding/json makes of a struct.
type jsonField struct {
	field    reflect.StructField
	name     string
	tagged   bool  // the name is from a tag
	optional bool  // it may be left out
	quoted   bool  // the option "string"
	index    []int // the way to the field, through embedded structs
}

// jsonFields returns the fields of a struct by the rules of encoding/json: fields of embedded structs count as fields of the
// struct, and of several with one name the least nested wins, then the one with a tag, then none.
func jsonFields(t reflect.Type) []jsonField {
	type embedded struct {
		t        reflect.Type
		index    []int
		optional bool // it is behind a pointer
	}
	var (
		fields  []jsonField
		level   = []embedded{{t: t}}
		visited = map[reflect.Type]bool{}
	)
	for len(level) > 0 {
		var next []embedded
		for _, outer := range level {
			if visited[outer.t] {
				continue
			}
			visited[outer.t] = true
			for i := range outer.t.NumField() {
				sf := outer.t.Field(i)
				ft := sf.Type
				pointer := ft.Kind() == reflect.Pointer
				if pointer && ft.Name() == "" {
					ft = ft.Elem()
				}
				if !sf.IsExported() && (!sf.Anonymous || ft.Kind() != reflect.Struct) {
					continue
				}
				tag := sf.Tag.Get("json")
				if tag == "-" || strings.Split(sf.Tag.Get("jsonschema"), ",")[0] == "-" {
					continue
				}
				name, options, _ := strings.Cut(tag, ",")
				if !isValidTagName(name) {
					name = ""
				}
				index := append(slices.Clone(outer.index), i)
				if sf.Anonymous && name == "" && ft.Kind() == reflect.Struct {
					next = append(next, embedded{ft, index, outer.optional || pointer})
					continue
				}
				f := jsonField{field: sf, name: name, tagged: name != "", index: index, optional: outer.optional || pointer}
				if name == "" {
					f.name = sf.Name
				}
				for option := range strings.SplitSeq(options, ",") {
					switch option {
					case "omitempty", "omitzero":
						f.optional = true
					case "string":
						f.quoted = canBeQuoted(ft)
					}
				}
				fields = append(fields, f)
			}
		}
		level = next
	}
	return dominant(fields)
}

// dominant leaves of the fields with one name the one that wins, if one does, and sorts the fields as they are written.
func dominant(fields []jsonField) []jsonField {
	byName := map[string][]jsonField{}
	for _, f := range fields {
		byName[f.name] = append(byName[f.name], f)
	}
	var winners []jsonField
	for _, same := range byName {
		slices.SortStableFunc(same, func(a, b jsonField) int {
			if c := len(a.index) - len(b.index); c != 0 {
				return c
			}
			switch {
			case a.tagged == b.tagged:
				return 0
			case a.tagged:
				return -1
			}
			return 1
		})
		if len(same) > 1 && len(same[0].index) == len(same[1].index) && same[0].tagged == same[1].tagged {
			continue
		}
		winners = append(winners, same[0])
	}
	slices.SortFunc(winners, func(a, b jsonField) int { return slices.Compare(a.index, b.index) })
	return winners
}

// isValidTagName reports whether encoding/json takes a name from a tag.
func isValidTagName(name string) bool {
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return name != ""
}

// canBeQuoted reports whether the option "string" has a meaning for a type.
func canBeQuoted(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Bool, reflect.String:
		return true
	default:
		return reflect.Int <= k && k <= reflect.Float64
	}
}

// typeScan looks at a type and all types in it, before anything is generated: for types that JSON cannot hold, and for
// those that contain themselves.
type typeScan struct {
	root      string // how paths begin
	state     map[reflect.Type]scanState
	recursive map[reflect.Type]bool
}

type scanState int

const (
	scanning scanState = iota + 1
	scanned
)

func (s *typeScan) visit(t reflect.Type, path string) error {
	if fixedSchema(t) != nil || describesItself(t) {
		return nil
	}
	switch s.state[t] {
	case scanning:
		if s.recursive[t] = true; t.Kind() == reflect.Pointer {
			return fmt.Errorf("schema: %s: the type %s contains nothing but itself", path, t)
		}
		return nil
	case scanned:
		return nil
	}
	if t.Name() != "" { // a type can contain itself only by a name
		s.state[t] = scanning
		defer func() { s.state[t] = scanned }()
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return nil
	case reflect.Pointer:
		return s.visit(t.Elem(), path)
	case reflect.Slice, reflect.Array:
		return s.visit(t.Elem(), path+"[]")
	case reflect.Map:
		switch k := t.Key().Kind(); {
		case k == reflect.String, reflect.Int <= k && k <= reflect.Uint64, implements[encoding.TextMarshaler](t.Key()):
			return s.visit(t.Elem(), path+"[]")
		}
		return fmt.Errorf("schema: %s: a map with keys of type %s has no JSON form", path, t.Key())
	case reflect.Struct:
		for _, f := range jsonFields(t) {
			if err := s.visit(f.field.Type, path+"."+f.field.Name); err != nil {
				return err
			}
		}
		return nil
	}
	advice := "use another type"
	if strings.Contains(strings.TrimPrefix(path, s.root), ".") {
		advice = "leave the field out with the tag `json:\"-\"`"
	}
	return fmt.Errorf("schema: %s: the type %s has no JSON form; %s", path, t, advice)
}
