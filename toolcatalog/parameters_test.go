package toolcatalog

import (
	"strings"
	"testing"

	"github.com/cellmode/cellmode/schema"
)

func TestParameterText(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"items":`, 9_000) + `{"description":"deep"}` + strings.Repeat(`}`, 9_000)
	for _, test := range []struct {
		schema string
		limit  int
		want   string
	}{
		{`{"properties":{"a":{"description":"A thing."},"b":true}}`, 100, "a|A thing.|b"},
		{" { \"properties\" : { \"a\\u00e9\\n\" : { } } }\n", 100, "aé\n"},
		{`{"properties":{"properties":{"properties":{"description":{"description":"x"}}}}}`, 100, "properties|description|x"},
		{`{"description":["no"],"properties":[{"description":"no"}],"items":"no","anyOf":7,"oneOf":null}`, 100, ""},
		{`{"items":[{"description":"a"},[{"description":"no"}],{"description":"b"}],"allOf":{"description":"c"}}`, 100, "a|b|c"},
		{`{"not":{"description":"no"},"default":{"properties":{"no":{}}},"description":"yes"}`, 100, "yes"},
		{`{"properties":{"abc":{},"defg":{},"h":{}}}`, 5, "abc"}, // nothing after what does not fit
		{`{"items":{"items":{"items":{"items":{"description":"4"}}}}}`, 100, "4"},
		{`{"items":{"items":{"items":{"items":{"items":{"description":"5"}}}}}}`, 100, ""},
		{deep, 100, ""},
		{strings.Repeat("[", 200_000), 100, ""},
		{`{"properties":{"a":`, 100, ""},
		{"\ufeff{}", 100, ""},
		{`{"d\u0065scription":"escaped"}`, 100, "escaped"},
		{"true", 100, ""},
		{"12", 100, ""},
		{"", 100, ""},
	} {
		if got := strings.Join(appendParameterText(nil, schema.ParseDeferred([]byte(test.schema)), test.limit), "|"); got != test.want {
			t.Errorf("%.80s: %q, want %q", test.schema, got, test.want)
		}
	}
}
