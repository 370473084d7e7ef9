package transcript

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// The struct of a payload says by its tags which members have fields. What one writer of session files puts into a member
// another one may not expect: so each is read on its own, and what does not fit is kept among Fields.

// needed are the members of a kind that have to be of the type of their field, because without them nobody knows what the
// entry says. Fields do not have them.
func needed(kind Kind) []string {
	switch kind {
	case KindThinkingLevel:
		return []string{"thinkingLevel"}
	case KindModel:
		return []string{"provider", "modelId"}
	case KindCompaction, KindBranchSummary:
		return []string{"summary"}
	case KindLabel:
		return []string{"targetId", "label"}
	case KindSessionInfo:
		return []string{"name"}
	case KindLeaf:
		return []string{"targetId", "appendParentId"}
	}
	return nil
}

// memberName is the name of the member that a field of a payload is, empty for Fields, and whether it is left out while it
// is zero.
func memberName(field reflect.StructField) (name string, optional bool) {
	name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "-" {
		return "", false
	}
	return name, option == "omitempty"
}

// decodeMembers reads a payload from a compact JSON object, of which it keeps parts. It is false if a member that the kind
// needs is not there.
func decodeMembers[P any](kind Kind, text []byte) (P, bool) {
	var p P
	v := reflect.ValueOf(&p).Elem()
	fields := v.FieldByName("Fields").Addr().Interface().(*map[string]json.RawMessage)
	is := make([]bool, v.NumField()) // which fields have been read
	for name, value := range jsontext.Members(text) {
		at := -1
		for i := range is {
			if member, _ := memberName(v.Type().Field(i)); member == name && member != "" {
				at = i
			}
		}
		if at >= 0 { // of several of one name the last counts
			v.Field(at).SetZero()
			if is[at] = setField(v.Field(at).Addr().Interface(), value); is[at] {
				removeMember(fields, name)
				continue
			}
		}
		if !slices.Contains(envelope, name) {
			setMember(fields, name, value)
		}
	}
	for i := range is {
		name, optional := memberName(v.Type().Field(i))
		if is[i] || !slices.Contains(needed(kind), name) {
			continue
		}
		if odd, ok := (*fields)[name]; !optional || ok && string(odd) != "null" {
			return p, false
		}
		removeMember(fields, name)
	}
	return p, true
}

// setField takes over a value, if it is of the type of the field.
func setField(field any, value []byte) (ok bool) {
	switch field := field.(type) {
	case *string:
		*field, ok = jsontext.String(value)
	case *bool:
		*field, ok = readBool(value)
	case *int64:
		n, err := strconv.ParseInt(string(value), 10, 64)
		if ok = err == nil; ok {
			*field = n
		}
	case *json.RawMessage:
		*field, ok = value, true
	}
	return ok
}

// encodeMembers writes a payload as a JSON object.
func encodeMembers(kind Kind, payload any) ([]byte, error) {
	v := reflect.ValueOf(payload)
	fields := v.FieldByName("Fields").Interface().(map[string]json.RawMessage)
	own := []string{}
	b := []byte{'{'}
	add := func(name string, value []byte) error {
		if err := checkJSON(name, value); err != nil {
			return err
		}
		b = append(append(append(jsontext.AppendString(b, name), ':'), value...), ',')
		return nil
	}
	for i := range v.NumField() {
		name, optional := memberName(v.Type().Field(i))
		if name == "" {
			continue
		}
		own = append(own, name)
		value, zero := fieldText(v.Field(i).Interface())
		if odd, ok := fields[name]; ok && zero && !slices.Contains(needed(kind), name) {
			value = odd
		} else if zero && optional {
			continue
		}
		if err := add(name, value); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(own, name) {
			continue
		}
		if err := add(name, fields[name]); err != nil {
			return nil, err
		}
	}
	return endObject(b), nil
}

// fieldText is a field as JSON, and whether it is zero.
func fieldText(field any) (text []byte, zero bool) {
	switch field := field.(type) {
	case string:
		return jsontext.AppendString(nil, field), field == ""
	case bool:
		return strconv.AppendBool(nil, field), !field
	case int64:
		return strconv.AppendInt(nil, field, 10), field == 0
	case json.RawMessage:
		return field, len(field) == 0
	}
	return nil, true
}

// leafMembers are those of a [Leaf]: an id, or null for [Root].
type leafMembers struct {
	TargetID       json.RawMessage            `json:"targetId"`
	AppendParentID json.RawMessage            `json:"appendParentId,omitempty"`
	Fields         map[string]json.RawMessage `json:"-"`
}

func (p Leaf) members() leafMembers {
	reference := func(id string) json.RawMessage {
		if id == Root || id == "" {
			return json.RawMessage("null")
		}
		return jsonText(id)
	}
	m := leafMembers{TargetID: reference(p.TargetID), Fields: p.Fields}
	if p.AppendParentID != "" {
		m.AppendParentID = reference(p.AppendParentID)
	}
	return m
}

// readLeaf reads a leaf entry. It is not ok if nobody can tell where it leads.
func readLeaf(members []byte) (leaf Leaf, ok bool) {
	m, ok := decodeMembers[leafMembers](KindLeaf, members)
	reference := func(value json.RawMessage) string {
		if string(value) == "null" {
			return Root
		}
		id := nameOf(value)
		ok = ok && id != "" && id != Root // which no entry is called
		return id
	}
	leaf = Leaf{TargetID: reference(m.TargetID), Fields: m.Fields}
	if len(m.AppendParentID) > 0 {
		leaf.AppendParentID = reference(m.AppendParentID)
	}
	return leaf, ok
}

// removeMember takes a member away. Without members there is no map.
func removeMember(members *map[string]json.RawMessage, name string) {
	if delete(*members, name); len(*members) == 0 {
		*members = nil
	}
}

// checkMembers checks the texts of a payload, and the names of its Fields.
func checkMembers(fields map[string]json.RawMessage, texts ...string) error {
	if err := checkNames(fields); err != nil {
		return err
	}
	return checkTexts(texts...)
}

// checkNames refuses members that would be taken for what is not the payload's.
func checkNames(members map[string]json.RawMessage) error {
	for name := range members {
		if slices.Contains(envelope, name) {
			return fmt.Errorf("%w: the member %q of an entry is not its payload's", ErrInvalidEntry, name)
		}
		if !utf8.ValidString(name) {
			return errNotUTF8
		}
	}
	return nil
}

// checkValues checks that each JSON text of a message is one value, which the whole message being JSON does not show.
func (m Message) checkValues() error {
	if m.Content != nil {
		if err := checkJSON("content", m.Content); err != nil {
			return err
		}
	}
	if len(m.Provenance) > 0 {
		if err := checkJSON("provenance", m.Provenance); err != nil {
			return err
		}
	}
	for _, members := range []map[string]json.RawMessage{m.Meta, m.Fields} {
		for name, value := range members {
			if err := checkJSON(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkJSON checks the value of a member.
func checkJSON(name string, value []byte) error {
	if !utf8.Valid(value) {
		return fmt.Errorf("%w: the member %.100q", errNotUTF8, name)
	}
	if _, err := jsontext.Compact(value); err != nil {
		return fmt.Errorf("%w: the member %.100q: %w", ErrInvalidEntry, name, err)
	}
	return nil
}
