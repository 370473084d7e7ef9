package declgen

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cellmode/cellmode/schema"
)

// overloads writes signatures that select the type of the result by a property of the input, and the types that they need. It
// writes nothing and returns false if there is no room for them.
//
// The first signature infers the value of the property. A literal gives the result it is mapped to, a union of literals the
// union, and a value that is not mapped all results. The second one is for inputs whose property is missing or no string.
func (d *declaration) overloads(selector schema.Discriminator) bool {
	if selector.Branches > typeVariants || len(selector.Values) > typeLiterals {
		return false
	}
	v := d.Output.View()
	b := d.builder(v, false)
	branches := make([]typ, selector.Branches)
	for i := range branches {
		d.taken[outputName+strconv.Itoa(i)] = 1
		b.selected = &selection{v, i}
		branches[i] = b.root(v, false)
	}
	if b.spent() {
		return false
	}
	slices.SortFunc(selector.Values, compareKeys)
	for _, docs := range [...]bool{true, false} {
		r := renderer{limits: fileLimits, notes: true, docs: docs, prefix: d.prefix}
		if types, ok := d.results(&r, selector, branches); ok {
			d.writeOverloads(selector, types)
			return true
		}
	}
	return false
}

// selection says that of the anyOf of a schema only one branch counts.
type selection struct {
	schema schema.View
	branch int
}

// results renders the types of the results.
func (d *declaration) results(r *renderer, selector schema.Discriminator, branches []typ) (types []string, ok bool) {
	room := typeUnits
	add := func(name, text string) bool {
		text = r.define(name, text, doc{})
		types = append(types, text)
		room -= unitsOf(text)
		return room >= 0
	}
	var all []string
	for i, t := range branches {
		if !add(outputName+strconv.Itoa(i), r.typ(t, room, 0, typeIndent).string) || r.fails {
			return nil, false
		}
		all = append(all, d.resultName(i))
	}
	members := make([]string, len(selector.Values))
	for i, value := range selector.Values {
		members[i] = typeIndent + "  " + keyText(value) + ": " + d.resultName(selector.Branch[value]) + ";\n"
	}
	ok = add(mapName, "{\n"+strings.Join(members, "")+typeIndent+"}") && add(outputName, strings.Join(all, " | "))
	return types, ok
}

func (d *declaration) resultName(branch int) string {
	return d.prefix + outputName + strconv.Itoa(branch)
}

func (d *declaration) writeOverloads(selector schema.Discriminator, types []string) {
	input := d.side(d.Input, true).fit(typeIndent)
	name := d.prefix + inputName
	if input.root != name {
		define := typeIndent + "type " + inputName + " = " + input.root + ";\n"
		input.types = slices.Insert(input.types, 0, define)
	}
	result := "Value extends keyof " + d.prefix + mapName + " ? " + d.prefix + mapName + "[Value] : " + d.prefix + outputName
	d.body.WriteString(d.comment())
	d.function("<const Value extends string>", "input: "+name+" & { "+keyText(selector.InputProperty)+": Value }", result)
	d.function("", "input"+d.questionMark()+": "+name, d.prefix+outputName)
	d.namespace(append(input.types, types...))
}
