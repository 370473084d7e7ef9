package toolcatalog

import "github.com/cellmode/cellmode/schema"

// maxParameterDepth is how many schemas deep parameters are looked for.
const maxParameterDepth = 4

// appendParameterText appends the names and the descriptions of the parameters that a schema declares, in the order of its
// text, until they have limit bytes.
func appendParameterText(list []string, input *schema.Schema, limit int) []string {
	r := parameterReader{list: list, left: limit}
	r.schema(input.View(), 0)
	return r.list
}

type parameterReader struct {
	list []string
	left int // bytes that may be appended
}

func (r *parameterReader) schema(v schema.View, depth int) {
	if depth > maxParameterDepth || r.left <= 0 {
		return
	}
	for key, value := range v.Members() {
		switch key {
		case "description":
			r.append(value.Str())
		case "properties":
			for name, property := range value.Members() {
				r.append(name)
				r.schema(property, depth+1)
			}
		case "items", "anyOf", "oneOf", "allOf":
			r.schema(value, depth+1)
			for item := range value.Items() {
				r.schema(item, depth+1)
			}
		}
	}
}

// append keeps a text, if there is room.
func (r *parameterReader) append(text string) {
	if r.left -= len(text); r.left >= 0 && text != "" {
		r.list = append(r.list, text)
	}
}
