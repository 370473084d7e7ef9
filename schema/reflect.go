package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// For returns the schema of the JSON that encoding/json makes of a T and reads into one.
//
//   - The schema of a struct is closed: additionalProperties is false. Names, embedding and "-" are as in encoding/json. The
//     one exception is url.URL, an object with any properties.
//   - A field with omitempty or omitzero, and a field that is a pointer, is optional; every other field is required. A pointer
//     in a field, a slice, an array or a map may also be null. A slice, a map or a []byte may not be null, because its schema
//     would be worse to read for everyone: a program that marshals values, nil ones included, repairs the text with
//     [Schema.FillNils].
//   - The tags jsonschema:"..." and jsonschema_description:"..." add keywords, as [github.com/invopop/jsonschema] documents
//     them; methods JSONSchema and JSONSchemaExtend are honoured. jsonschema:"-" leaves a field out. What a tag says and the
//     schema would not is an error: a keyword that does not exist or not for the type, a value that is none for it, a default
//     that does not match the schema of its field.
//   - Integers of 8, 16 and 32 bits have a minimum and a maximum, and unsigned ones a minimum of 0, if no tag gives others.
//   - A map is an object with any keys; an interface and a [json.RawMessage] are anything, that is {}. So is a type that
//     marshals itself, because nobody can know what it writes. A type that marshals itself as text is a string.
//   - time.Time is a string with the format date-time, []byte a base64 string, [json.Number] a number, time.Duration an
//     integer, the nanoseconds, and *big.Int an integer. A big.Int that is no pointer is {}: whether encoding/json writes it as
//     an integer depends on where the value is.
//   - A struct inside of a struct stands where it is used. Only for a type that contains itself there is a $ref.
//   - If T is a pointer, the schema is that of what it points to, without null: inputs are objects. See [ForResult].
//
// The error names the field whose type has no JSON form, such as a channel or a function, or whose tag cannot be applied.
func For[T any]() (*Schema, error) {
	return reflectType(reflect.TypeFor[T](), func(g *generator, t reflect.Type) (*jsonschema.Schema, error) {
		return g.definition(t), nil
	})
}

// ForResult is [For] for values that are only written: if T is a pointer, the schema also accepts null, which encoding/json
// writes for a nil pointer.
func ForResult[T any]() (*Schema, error) {
	if reflect.TypeFor[T]().Kind() != reflect.Pointer {
		return For[T]()
	}
	return reflectType(reflect.TypeFor[T](), func(g *generator, t reflect.Type) (*jsonschema.Schema, error) {
		if g.recursive[t] {
			g.root = nil // "#" would be the schema with null
			return nullable(g.mapped(t)), nil
		}
		return nullable(g.definition(t)), nil
	})
}

// reflectType makes a schema of what root makes of a type; of a pointer, that is what it points to.
func reflectType(t reflect.Type, root func(*generator, reflect.Type) (*jsonschema.Schema, error)) (*Schema, error) {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = pointee(t)
	}
	scan := typeScan{root: t.String(), state: map[reflect.Type]scanState{}, recursive: map[reflect.Type]bool{}}
	if err := scan.visit(t, t.String()); err != nil {
		return nil, err
	}
	g := generator{root: t, recursive: scan.recursive, names: map[reflect.Type]string{}, taken: map[string]bool{},
		definitions: jsonschema.Definitions{}, properties: map[string]string{}, plain: map[reflect.Type]bool{}}
	g.reflector = jsonschema.Reflector{Anonymous: true, DoNotReference: true, Mapper: g.mapped,
		KeyNamer: func(name string) string { return g.properties[name] }}
	s, err := root(&g, t)
	if g.err != nil {
		return nil, g.err
	}
	if g.tooLarge() {
		return nil, fmt.Errorf("schema: the schema of %s is too large: it contains more than %d structs", t, maxStructs)
	}
	if err != nil {
		return nil, fmt.Errorf("schema: the schema of %s: %w", t, err)
	}
	if len(g.definitions) > 0 {
		s.Definitions = g.definitions
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("schema: the schema of %s: %w", t, err)
	}
	parsed, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("schema: the schema of %s: %w", t, err)
	}
	return parsed, nil
}

// maxStructs is how many structs a generated schema may contain, each counted where it stands.
const maxStructs = 10_000

// generator makes one schema. invopop/jsonschema does the reflection; the generator is asked first about each type, and
// answers for structs, maps and the types whose JSON is not what their kind says. It hands a struct on in the form that
// encoding/json sees: without embedding, and each field with the name and the options that count.
type generator struct {
	reflector   jsonschema.Reflector
	root        reflect.Type
	recursive   map[reflect.Type]bool
	names       map[reflect.Type]string // of definitions
	taken       map[string]bool         // names that are in use
	definitions jsonschema.Definitions
	properties  map[string]string     // names of properties, by the name of the field that stands for each
	plain       map[reflect.Type]bool // structs that were made for the reflector
	structs     int
	err         error // the first tag that cannot be applied
}

func (g *generator) tooLarge() bool { return g.structs > maxStructs }

// mapped returns the schema of a type, or nil to leave the type to the reflector.
func (g *generator) mapped(t reflect.Type) *jsonschema.Schema {
	if s := fixedSchema(t); s != nil {
		return s
	}
	if describesItself(t) || g.plain[t] {
		return nil
	}
	if s := sizedInteger(t); s != nil {
		return s
	}
	if !g.recursive[t] {
		if t.Kind() == reflect.Struct || t.Kind() == reflect.Map {
			return g.definition(t)
		}
		return nil
	}
	if t == g.root {
		return &jsonschema.Schema{Ref: "#"}
	}
	name, ok := g.names[t]
	if !ok {
		name = g.newName(t)
		g.names[t] = name
		g.definitions[name] = g.definition(t)
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + name}
}

func (g *generator) newName(t reflect.Type) string {
	base := strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, t.Name())
	name := base
	for i := 2; g.taken[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	g.taken[name] = true
	return name
}

// definition makes the schema of a type, even if the type is one that others only refer to.
func (g *generator) definition(t reflect.Type) *jsonschema.Schema {
	if fixedSchema(t) != nil || describesItself(t) {
		return g.reflect(t)
	}
	switch t.Kind() {
	case reflect.Struct:
		return g.structSchema(t)
	case reflect.Map:
		s := &jsonschema.Schema{Type: "object"}
		if t.Elem().Kind() != reflect.Interface {
			s.AdditionalProperties = withNulls(g.reflect(t.Elem()), t.Elem())
		}
		return s
	case reflect.Slice:
		unnamed := reflect.SliceOf(t.Elem()) // it is asked for under its name
		return withNulls(g.reflect(unnamed), unnamed)
	case reflect.Array:
		unnamed := reflect.ArrayOf(t.Len(), t.Elem())
		return withNulls(g.reflect(unnamed), unnamed)
	}
	return g.reflect(t)
}

// reflect leaves a type to the reflector.
func (g *generator) reflect(t reflect.Type) *jsonschema.Schema {
	s := g.reflector.ReflectFromType(t)
	s.Version = ""
	return s
}

func (g *generator) structSchema(t reflect.Type) *jsonschema.Schema {
	if g.structs++; g.tooLarge() {
		return &jsonschema.Schema{}
	}
	fields := jsonFields(t)
	plain := make([]reflect.StructField, len(fields))
	for i, f := range fields {
		alias := "F" + strconv.Itoa(len(g.properties))
		g.properties[alias] = f.name
		options := ""
		if f.optional {
			options = ",omitempty"
		}
		if f.quoted {
			options += ",string"
		}
		tag := `json:` + strconv.Quote(alias+options)
		for _, key := range []string{"jsonschema", "jsonschema_description", "jsonschema_extras"} {
			if v, ok := f.field.Tag.Lookup(key); ok {
				tag += " " + key + ":" + strconv.Quote(v)
			}
		}
		ft := f.field.Type
		if ft.Kind() == reflect.Pointer {
			ft = reflect.PointerTo(pointee(ft))
		}
		plain[i] = reflect.StructField{Name: alias, Type: ft, Tag: reflect.StructTag(tag)}
	}
	pt := reflect.StructOf(plain)
	g.plain[pt] = true
	s := g.reflect(pt)
	for _, f := range fields {
		p, ok := s.Properties.Get(f.name)
		if !ok {
			continue
		}
		if err := checkTag(p, f.field.Tag.Get("jsonschema")); err != nil && g.err == nil {
			g.err = fmt.Errorf("schema: %s: field %s: %w", t, f.field.Name, err)
		}
		if f.quoted {
			dropBounds(p)
		}
		s.Properties.Set(f.name, withNulls(p, f.field.Type))
	}
	if extend, ok := reflect.New(t).Interface().(interface{ JSONSchemaExtend(*jsonschema.Schema) }); ok {
		extend.JSONSchemaExtend(s)
	}
	return s
}

// withNulls returns the schema of a t with null for the pointers: t itself, and the items of slices and arrays. In maps and
// structs, and in what has a name of its own in the schema, they are done already.
func withNulls(s *jsonschema.Schema, t reflect.Type) *jsonschema.Schema {
	switch t.Kind() {
	case reflect.Pointer:
		if t.Elem() == bigIntType && s.Type == "" {
			s.Type, s.Extras = "integer", nil
		}
		return nullable(withNulls(s, t.Elem()))
	case reflect.Slice, reflect.Array:
		if s.Items != nil && fixedSchema(t) == nil && !describesItself(t) {
			s.Items = withNulls(s.Items, t.Elem())
		}
	}
	return s
}

// nullable returns a schema that also accepts null.
func nullable(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case s.Type != "" && s.Const == nil:
		if s.Extras == nil {
			s.Extras = map[string]any{}
		}
		s.Extras["type"] = []string{s.Type, "null"}
		s.Type = ""
		if s.Enum != nil {
			s.Enum = append(s.Enum, nil)
		}
		return s
	case s.Ref == "" && s.Const == nil && s.OneOf == nil && s.AnyOf == nil && s.AllOf == nil && s.Enum == nil:
		return s // accepts anything
	}
	outer := &jsonschema.Schema{Title: s.Title, Description: s.Description}
	s.Title, s.Description = "", ""
	outer.AnyOf = []*jsonschema.Schema{s, {Type: "null"}}
	return outer
}
