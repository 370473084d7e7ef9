package toolcatalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

const (
	maxReferences = 16  // in a row, from $ref to $ref
	maxShapeNodes = 256 // schemas looked at to find whether an object could be accepted
)

// acceptsObject reports whether a schema could accept an object. It looks at the keywords that speak about the type of the
// value itself, and says yes when in doubt.
func acceptsObject(schemaText []byte) bool {
	s := shape{root: schemaText}
	return s.acceptsObject(bytes.TrimSpace(schemaText))
}

// shape is a walk through a schema.
type shape struct {
	root  []byte
	nodes int // looked at
}

func (s *shape) acceptsObject(text json.RawMessage) bool {
	if string(text) == "false" {
		return false
	}
	var keywords map[string]json.RawMessage
	if s.nodes++; s.nodes > maxShapeNodes || json.Unmarshal(text, &keywords) != nil {
		return true
	}
	for keyword, value := range keywords {
		accepts := true
		switch keyword {
		case "type":
			accepts = slices.Contains(stringList(value), "object")
		case "const":
			accepts = isObject(value)
		case "enum":
			accepts = slices.ContainsFunc(rawList(value), isObject)
		case "$ref":
			accepts = s.acceptsObject(resolve(s.root, value))
		case "allOf":
			accepts = !slices.ContainsFunc(rawList(value), func(sub json.RawMessage) bool { return !s.acceptsObject(sub) })
		case "anyOf", "oneOf":
			accepts = slices.ContainsFunc(rawList(value), s.acceptsObject)
		}
		if !accepts {
			return false
		}
	}
	return true
}

// resolve is the part of root that a $ref names by a JSON Pointer. It is null, a schema of nothing, if there is no such part.
func resolve(root, ref json.RawMessage) json.RawMessage {
	nothing := json.RawMessage("null")
	var uri string
	if json.Unmarshal(ref, &uri) != nil {
		return nothing
	}
	pointer, local := strings.CutPrefix(uri, "#")
	if !local || pointer != "" && pointer[0] != '/' {
		return nothing
	}
	for _, name := range strings.Split(pointer, "/")[1:] {
		var children map[string]json.RawMessage
		if json.Unmarshal(root, &children) != nil {
			return nothing
		}
		child, ok := children[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		if !ok {
			return nothing
		}
		root = child
	}
	return root
}

func isObject(value json.RawMessage) bool { return bytes.HasPrefix(value, []byte("{")) }

// stringList reads a string, or an array of strings.
func stringList(value json.RawMessage) []string {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return []string{one}
	}
	var list []string
	if json.Unmarshal(value, &list) != nil {
		return nil
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
