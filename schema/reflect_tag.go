package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// invopop/jsonschema leaves out without a word what it cannot apply of a tag. checkTag finds that: it is given the schema that
// was made of a field and its tag.
func checkTag(property *jsonschema.Schema, tag string) error {
	words := tagWords(tag)
	if slices.Contains(words, "nullable") && len(property.OneOf) > 0 {
		property = property.OneOf[0]
	}
	defaults := ""
	for _, word := range words {
		if err := checkWord(property, word); err != nil {
			return fmt.Errorf("the tag jsonschema has %q, but %w", word, err)
		}
		if strings.HasPrefix(word, "default=") {
			defaults = word
		}
	}
	if defaults != "" && !matchesOwnDefault(property) {
		return fmt.Errorf("the tag jsonschema has %q, but that does not match the schema of the field", defaults)
	}
	return nil
}

// tagWords splits a tag at the commas that have no backslash in front.
func tagWords(tag string) []string {
	if tag == "" {
		return nil
	}
	var words []string
	for part := range strings.SplitSeq(tag, ",") {
		if n := len(words); n > 0 && strings.HasSuffix(words[n-1], `\`) {
			words[n-1] = strings.TrimSuffix(words[n-1], `\`) + "," + part
		} else {
			words = append(words, part)
		}
	}
	return words
}

func checkWord(s *jsonschema.Schema, word string) error {
	name, value, hasValue := strings.Cut(word, "=")
	if !hasValue {
		if name == "required" || name == "nullable" {
			return nil
		}
		return errors.New("a keyword needs a value, as in title=Name")
	}
	switch name {
	case "title", "description", "type", "anchor", "oneof_required", "anyof_required", "oneof_ref", "oneof_type", "anyof_ref", "anyof_type":
		return nil
	}
	if s.Type == "array" {
		switch name {
		case "minItems", "maxItems":
			return checkCount(value)
		case "uniqueItems":
			if value != "true" {
				return errors.New("it can only be true")
			}
			return nil
		case "default":
			return nil // as every default, it is checked against the schema
		}
		if s = s.Items; s == nil || s.Type == "array" {
			return errors.New("there is no such keyword for an array of that kind")
		}
	}
	return checkScalarWord(s.Type, name, value)
}

// checkScalarWord checks a keyword of a type that is not an array.
func checkScalarWord(typ, name, value string) error {
	switch typ {
	case "string":
		switch name {
		case "minLength", "maxLength":
			return checkCount(value)
		case "readOnly", "writeOnly":
			if _, err := strconv.ParseBool(value); err != nil {
				return errors.New("the value must be true or false")
			}
			return nil
		case "pattern", "format", "default", "example", "enum":
			return nil
		}
	case "integer", "number":
		switch name {
		case "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "default", "example", "enum":
			if strings.Trim(value, "-+.eE0123456789") != "" || !json.Valid([]byte(value)) {
				return errors.New("the value is not a number")
			}
			return nil
		}
	case "boolean":
		if name == "default" {
			if value != "true" && value != "false" {
				return errors.New("the value must be true or false")
			}
			return nil
		}
	case "":
		return errors.New("the field has no type that such a keyword belongs to")
	}
	return fmt.Errorf("there is no such keyword for the type %s", typ)
}

func checkCount(value string) error {
	if _, err := strconv.ParseUint(value, 10, 64); err != nil {
		return errors.New("the value is not a whole number, 0 or more")
	}
	return nil
}

// matchesOwnDefault reports whether the default of a schema matches the schema. Of a schema that cannot be parsed the parser
// of the whole has more to say.
func matchesOwnDefault(s *jsonschema.Schema) bool {
	text, err := json.Marshal(s)
	if err != nil {
		return true
	}
	parsed, err := Parse(text)
	if err != nil {
		return true
	}
	value, err := json.Marshal(s.Default)
	return err == nil && parsed.Validate(value) == nil
}
