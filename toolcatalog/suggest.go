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
)

const (
	maxSuggestions    = 3  // names after "Did you mean"
	maxListedNames    = 16 // names after "The properties are"
	maxSuggestedBytes = 64 // names that are longer are neither compared nor shown
	maxHintLayers     = 64 // objects and arrays of an input that are searched for a wrong name
	maxHintUnknown    = 32 // unknown names of one object that are compared with the known ones

	maxHintInput = 64 << 10 // bytes of an input that is searched
)

// inputHint helps with an input that its schema refused: the names of properties that were probably meant, in the first
// object that has a wrong one; the names there are, where the problems of the schema do not list them. The result is empty,
// or begins with a space.
func inputHint(schemaText, input []byte) string {
	h := hint{root: schemaText}
	found := len(input) <= maxHintInput && h.search(schemaText, input)
	if !found {
		h.known = keys(properties(h.root, schemaText))
	}
	switch {
	case found && len(h.meant) > 0:
		return fmt.Sprintf(" Did you mean %s?", nameList(h.meant, " or "))
	case !found && len(h.known) > 0:
		return fmt.Sprintf(" The properties are %s.", nameList(h.known, ", "))
	}
	return ""
}

// hint is a search through an input, along its schema, for an object with a wrong name.
type hint struct {
	root   []byte   // the whole schema
	layers int      // visited
	known  []string // properties of the object that was visited last
	meant  []string // those of them that an unknown one resembles
}

// search reports whether value contains an object with a wrong name.
func (h *hint) search(schemaText, value json.RawMessage) bool {
	if h.layers++; h.layers > maxHintLayers {
		return false
	}
	if bytes.HasPrefix(value, []byte("[")) {
		items := keyword(h.root, schemaText, "items")
		return items != nil && slices.ContainsFunc(rawList(value), func(item json.RawMessage) bool { return h.search(items, item) })
	}
	declared, given := properties(h.root, schemaText), members(value)
	if h.known = keys(declared); len(h.known) == 0 {
		return false
	}
	free := slices.DeleteFunc(slices.Clone(h.known), func(name string) bool {
		return slices.ContainsFunc(given, func(m member) bool { return m.key == name })
	})
	unknown := 0
	h.meant = nil
	for _, m := range given {
		if slices.Contains(h.known, m.key) {
			continue
		}
		if unknown++; unknown > maxHintUnknown {
			break
		}
		for _, name := range nearest(m.key, slices.Values(free)) {
			if len(h.meant) < maxSuggestions && !slices.Contains(h.meant, name) {
				h.meant = append(h.meant, name)
			}
		}
	}
	if len(h.meant) > 0 || unknown > 0 && string(keyword(h.root, schemaText, "additionalProperties")) == "false" {
		return true
	}
	for _, m := range given {
		for _, d := range declared {
			if d.key == m.key && h.search(d.value, m.value) {
				return true
			}
		}
	}
	return false
}

// properties lists the properties that a schema declares, in their order.
func properties(root, schemaText json.RawMessage) []member {
	return members(keyword(root, schemaText, "properties"))
}

// keyword is the value of one keyword of a schema, or of the schema that it refers to, alone or beside null; nil if there is
// none.
func keyword(root, schemaText json.RawMessage, name string) json.RawMessage {
	for range maxReferences {
		var keywords map[string]json.RawMessage
		if json.Unmarshal(schemaText, &keywords) != nil {
			return nil
		}
		if value, ok := keywords[name]; ok {
			return value
		}
		if ref, ok := keywords["$ref"]; ok {
			schemaText = resolve(root, ref)
		} else if schemaText = besideNull(keywords["anyOf"]); schemaText == nil {
			return nil
		}
	}
	return nil
}

// besideNull is the one branch of an anyOf that says more than null; nil if there are several.
func besideNull(anyOf json.RawMessage) json.RawMessage {
	branches := slices.DeleteFunc(rawList(anyOf), func(branch json.RawMessage) bool { return string(branch) == `{"type":"null"}` })
	if len(branches) != 1 {
		return nil
	}
	return branches[0]
}

// member is one property of a JSON object.
type member struct {
	key   string
	value json.RawMessage
}

func keys(list []member) []string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.key
	}
	return names
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
