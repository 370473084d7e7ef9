package declgen

import (
	"encoding/json"
	"strings"

	"github.com/cellmode/cellmode/schema"
)

// Function is a tool, as a program in a cell calls it.
type Function struct {
	Name          string            // a JavaScript identifier that is no reserved word
	Description   string            // shown as a comment; may be empty
	Input, Output *schema.Schema    // nil: unknown
	Examples      []json.RawMessage // inputs, shown as calls; those that are not JSON, or too long, are left out
}

// header begins each file. Its lines say what a program may rely on.
const header = `// Generated from the schemas of the tool, which own all constraints: describe() on the callable returns them.
// A type is never narrower than its schema. What TypeScript cannot say, or not within the bounds of this file, is unknown.
// A result arrives whole and as declared, or the promise rejects.
`

const (
	tooLarge    = "// The result depends on the input, but the types of the single results are too large to be told apart here.\n"
	notNarrowed = "// The result depends on the input, but its schema has references or is too large to be told apart here.\n"
)

// Declare returns the TypeScript declaration of a tool: a file that compiles on its own and beside those of other tools. The text
// depends on what the schemas say and not on the order of their keywords and properties, and its size is bounded.
//
// Types that a schema refers to, and those of the results that depend on the input, get names in a namespace that has the
// name of the function.
func Declare(f Function) string {
	d := newDeclaration(f)
	if f.Output != nil {
		if selector, ok := f.Output.Discriminator(); ok {
			switch {
			case !selector.Narrow:
				d.body.WriteString(notNarrowed)
			case d.overloads(selector):
				return header + d.body.String()
			default:
				d.body.WriteString(tooLarge)
			}
		}
	}
	input, output := d.side(f.Input, true).fit(""), d.side(f.Output, false).fit("")
	d.body.WriteString(d.comment())
	d.function("", "input"+d.questionMark()+": "+input.root, output.root)
	d.namespace(append(input.types, output.types...))
	return header + d.body.String()
}

// optionalInput reports whether a tool can be called without an input: its schema, with its defaults applied, accepts {}. The
// schema nil accepts everything.
func optionalInput(s *schema.Schema) bool {
	if s == nil {
		return true
	}
	completed, err := s.ApplyDefaults([]byte("{}"))
	return err == nil && s.Validate(completed) == nil
}

// declaration is a file that is being written.
type declaration struct {
	Function
	prefix string         // of the types in its namespace
	taken  map[string]int // names that are used, and the number of the last name made of each
	body   strings.Builder
}

func newDeclaration(f Function) *declaration {
	f.Name = safeName(f.Name)
	d := &declaration{Function: f, prefix: f.Name + ".", taken: map[string]int{}}
	switch f.Name {
	case "infer", "keyof", "readonly", "unique": // operators, where a type is expected
		d.prefix = "globalThis." + d.prefix
	}
	for _, name := range [...]string{"Array", "Promise", "Record", inputName, outputName, mapName} {
		d.taken[name] = 1
	}
	return d
}

// safeName makes an identifier of any name. Those of a catalog are identifiers.
func safeName(name string) string {
	if isIdentifier(name) {
		return name
	}
	return "tool_" + strings.Map(func(r rune) rune {
		if r < 0x80 && (isLetter(byte(r)) || isDigit(byte(r))) {
			return r
		}
		return '_'
	}, name)
}

func (d *declaration) questionMark() string {
	if optionalInput(d.Input) {
		return "?"
	}
	return ""
}

// function writes one signature.
func (d *declaration) function(typeParameters, parameter, result string) {
	d.body.WriteString("declare function " + d.Name + typeParameters + "(" + parameter + "): Promise<" + result + ">;\n")
}

// namespace writes the types with names, if there are any.
func (d *declaration) namespace(types []string) {
	if len(types) == 0 {
		return
	}
	d.body.WriteString("declare namespace " + d.Name + " {\n" + strings.Join(types, "") + "}\n")
}

// comment is what stands before the signature: the description, and the examples.
func (d *declaration) comment() string {
	lines := textLines(d.Description, toolDocLines, toolDocUnits)
	shown := 0
	for _, example := range d.Examples {
		if len(example) > readablePerUnit*maxExampleUnits || !json.Valid(example) || shown == maxExamples {
			continue
		}
		constant, _ := schema.ParseDeferred([]byte(`{"const":` + string(example) + `}`)).View().Get("const")
		if call, ok := exampleValue(constant, maxExampleUnits); ok && !constant.IsZero() {
			lines = append(lines, "@example", "await "+d.Name+"("+call+")")
			shown++
		}
	}
	return comment(lines, "")
}

// side is the input or the output of a function.
type side struct {
	declaration *declaration
	typ         typ
	self        *named // the type that a reference to the whole schema leads to, or nil
}

const (
	inputName  = "Input"
	outputName = "Output"
	mapName    = "OutputByInput"
)

func (d *declaration) side(s *schema.Schema, isInput bool) *side {
	if s == nil {
		return &side{declaration: d, typ: unknown()}
	}
	v := s.View()
	b := d.builder(v, isInput)
	t := b.root(v, isInput)
	return &side{declaration: d, typ: t, self: b.names.types[v]}
}

func (d *declaration) builder(v schema.View, isInput bool) *builder {
	root := outputName
	if isInput {
		root = inputName
	}
	return &builder{limits: fileLimits, names: &namer{schema: v, root: root, taken: d.taken, types: map[schema.View]*named{}}}
}

// attempts are the ways to render a type, from the best to the shortest: without comments, then with less and less of what is
// deep inside, and at last without what is too long.
var attempts = [...]struct {
	docs  bool
	depth int
	cuts  bool
}{{docs: true, depth: typeDepth}, {depth: typeDepth}, {depth: 6}, {depth: 4}, {depth: 3}, {depth: 2}, {depth: 1}, {depth: 1, cuts: true}}

// rendered is a type and what it needs in the namespace.
type rendered struct {
	root  string
	types []string
}

// fit renders a type in the best way that has at most typeUnits.
func (s *side) fit(indent string) rendered {
	for _, attempt := range attempts {
		r := renderer{limits: fileLimits, notes: true, docs: attempt.docs, cuts: attempt.cuts, prefix: s.declaration.prefix}
		r.depth = attempt.depth
		if result, ok := s.render(&r, indent); ok {
			return result
		}
	}
	return rendered{root: unknownType}
}

func (s *side) render(r *renderer, indent string) (result rendered, ok bool) {
	result.root = r.typ(s.typ, typeUnits, 0, indent).string
	if s.self != nil && r.typ(s.self.typ, typeUnits, 0, indent).string == result.root {
		result.root, r.used = r.prefix+s.self.name, []*named{s.self}
	}
	room := typeUnits - unitsOf(result.root)
	for i := 0; i < len(r.used) && !r.fails; i++ {
		n := r.used[i]
		text := r.define(n.name, r.typ(n.typ, room, 0, typeIndent).string, n.doc)
		room -= unitsOf(text)
		result.types = append(result.types, text)
	}
	return result, !r.fails && room >= 0
}

const typeIndent = "  " // of what stands in the namespace

// define renders the definition of a type.
func (r *renderer) define(name, text string, d doc) string {
	comment := ""
	if r.docs {
		comment = d.comment(typeIndent)
	}
	return comment + typeIndent + "type " + name + " = " + text + ";\n"
}
