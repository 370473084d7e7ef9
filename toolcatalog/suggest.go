package toolcatalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cellmode/cellmode/schema"
)

const (
	maxSuggestions    = 3  // names after "Did you mean"
	maxListedNames    = 16 // names of one list
	maxSuggestedBytes = 64 // names that are longer are neither compared nor shown
	maxHintLayers     = 64 // objects and arrays of an input that are searched for a wrong name
	maxHintUnknown    = 32 // unknown names of one object that are compared with the known ones
	maxReferences     = 16 // in a row, from $ref to $ref

	maxHintInput  = 64 << 10 // bytes of an input that is searched
	maxHintSchema = 64 << 10 // bytes of a schema that is parsed for it
	maxCompared   = 4_096    // pairs of names that are compared for one input
)

// inputHint helps with an input that its schema refused: the names of properties that were probably meant, in the first
// object that has a wrong one; and what the input should look like, in the form of the quick index. The result is empty, or
// begins with a space.
func inputHint(input *schema.Schema, value []byte, call string, expected hints) (text string) {
	s := nameSearch{left: maxCompared}
	if len(value) <= maxHintInput && input.Size() <= maxHintSchema && s.search(input.View(), value) && len(s.meant) > 0 {
		text = fmt.Sprintf(" Did you mean %s?", nameList(s.meant, " or "))
	}
	if expected.input != unknownHint {
		text += fmt.Sprintf(" Expected: %s(%s).", clip(call, maxShownName), expected.input)
	}
	return text
}

// nameSearch is a search through an input, along its schema, for an object with a wrong name.
type nameSearch struct {
	layers int      // visited
	left   int      // pairs that may be compared
	meant  []string // known names that an unknown one resembles
}

// search reports whether value contains an object with a wrong name.
func (s *nameSearch) search(v schema.View, value json.RawMessage) bool {
	if s.layers++; s.layers > maxHintLayers {
		return false
	}
	if bytes.HasPrefix(value, []byte("[")) {
		items, ok := keyword(v, "items")
		return ok && slices.ContainsFunc(rawList(value), func(item json.RawMessage) bool { return s.search(items, item) })
	}
	given := members(value)
	v = meantBranch(v, given)
	properties, ok := keyword(v, "properties")
	if !ok || len(given) == 0 {
		return false
	}
	if s.compare(properties, given) {
		return true
	}
	if closed, ok := keyword(v, "additionalProperties"); ok && closed.IsBool() && !closed.IsTrue() {
		if slices.ContainsFunc(given, func(m member) bool { _, known := properties.Get(m.key); return !known }) {
			return true // it is this object that is wrong, though no name resembles
		}
	}
	return slices.ContainsFunc(given, func(m member) bool {
		property, ok := properties.Get(m.key)
		return ok && s.search(property, m.value)
	})
}

// compare looks for names that are not known and resemble one that is known and not given.
func (s *nameSearch) compare(properties schema.View, given []member) bool {
	taken := make(map[string]bool, len(given))
	for _, m := range given {
		taken[m.key] = true
	}
	free := func(yield func(string) bool) {
		for name := range properties.Members() {
			if taken[name] {
				continue
			}
			if s.left--; s.left < 0 || !yield(name) {
				return
			}
		}
	}
	unknown := 0
	for _, m := range given {
		if _, known := properties.Get(m.key); known {
			continue
		}
		if unknown++; unknown > maxHintUnknown {
			break
		}
		for _, name := range nearest(m.key, free) {
			if len(s.meant) < maxSuggestions && !slices.Contains(s.meant, name) {
				s.meant = append(s.meant, name)
			}
		}
	}
	return len(s.meant) > 0
}

// meantBranch is the branch of a tagged union that the value of a property selects, or the schema itself.
func meantBranch(v schema.View, given []member) schema.View {
	branches, ok := keyword(v, "anyOf")
	if !ok {
		return v
	}
	for branch := range branches.Items() {
		properties, _ := keyword(branch, "properties")
		for _, m := range given {
			property, _ := properties.Get(m.key)
			if tag, ok := keyword(property, "const"); ok && tag.IsString() && string(tag.Text()) == string(m.value) {
				return branch
			}
		}
	}
	return v
}

// keyword is the value of one keyword of a schema, or of the schema that it refers to, alone or beside null.
func keyword(v schema.View, name string) (schema.View, bool) {
	for range maxReferences {
		if value, ok := v.Keyword(name); ok {
			return value, true
		}
		target, ok := v.Ref()
		if !ok {
			if target, ok = besideNull(v); !ok {
				break
			}
		}
		v = target
	}
	return schema.View{}, false
}

// besideNull is the one branch of an anyOf that says more than null, if there is one.
func besideNull(v schema.View) (only schema.View, ok bool) {
	branches, _ := v.Keyword("anyOf")
	for branch := range branches.Items() {
		if typ, _ := branch.Keyword("type"); typ.Str() == "null" {
			continue
		}
		if ok {
			return schema.View{}, false
		}
		only, ok = branch, true
	}
	return only, ok
}

// member is one property of a JSON object.
type member struct {
	key   string
	value json.RawMessage
}

// members lists the properties of an object in their order; nil for any other value.
func members(object json.RawMessage) []member {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var list []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil
		}
		m := member{key: key.(string)}
		if d.Decode(&m.value) != nil {
			return nil
		}
		list = append(list, m)
	}
	return list
}

func rawList(value json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return nil
	}
	return list
}

// nearest picks the names that differ from name by a few letters, best first: at most three edits, and fewer for short names.
func nearest(name string, candidates iter.Seq[string]) []string {
	if len(name) > maxSuggestedBytes {
		return nil
	}
	type match struct {
		name     string
		distance int
	}
	limit := min(3, max(1, (utf8.RuneCountInString(name)+2)/3))
	var matches []match
	for candidate := range candidates {
		if len(candidate) > maxSuggestedBytes {
			continue
		}
		if d := editDistance(name, candidate, limit); d <= limit {
			matches = append(matches, match{candidate, d})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, m := range matches[:min(len(matches), maxSuggestions)] {
		names = append(names, m.name)
	}
	return names
}

// editDistance is the Levenshtein distance of a and b in characters, or any number above limit if it is above limit.
func editDistance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		diagonal := row[0]
		row[0] = i + 1
		best := row[0]
		for j, s := range y {
			cost := diagonal
			if r != s {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			best = min(best, cost)
		}
		if best > limit {
			return limit + 1
		}
	}
	return row[len(y)]
}

// nameList quotes names and joins them, leaving out very long ones and all after the first sixteen.
func nameList(names []string, separator string) string {
	var shown []string
	for _, name := range names {
		if len(name) <= maxSuggestedBytes && len(shown) < maxListedNames {
			shown = append(shown, strconv.Quote(name))
		}
	}
	text := strings.Join(shown, separator)
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// unknownTool is the error of a call by a name that the catalog does not have.
func (c *Catalog) unknownTool(name string) *CallError {
	err := &CallError{Code: CodeUnknownTool, Tool: name, EffectStatus: EffectStatusNone}
	if meant := nearest(name, c.CallableNames()); len(meant) > 0 {
		err.hint = fmt.Sprintf(" Did you mean %s?", nameList(meant, " or "))
	}
	return err
}
