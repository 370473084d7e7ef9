package schema

import (
	"slices"
	"strings"
	"testing"
)

// at follows keys from the root of a schema's View.
func at(t *testing.T, v View, keys ...string) View {
	t.Helper()
	for _, key := range keys {
		next, ok := v.Get(key)
		if !ok {
			t.Fatalf("no member %q in %s", key, v.Text())
		}
		v = next
	}
	return v
}

func TestView(t *testing.T) {
	t.Parallel()
	v := mustParse(t, `{ "type" : "object", "properties": {"b": {"minLength": 2.0}, "a": true, "b\u0061": {"enum": ["x\n", 1.50, null, [], {}]}},
		"x-note": 12345678901234567890 }`).View()
	if !v.IsObject() || v.IsZero() || v.Len() != 3 {
		t.Fatalf("the root: %s", v.Text())
	}
	var keys []string
	for key, member := range at(t, v, "properties").Members() {
		keys = append(keys, key)
		if again, _ := at(t, v, "properties").Get(key); again != member {
			t.Errorf("two Views of %q differ", key)
		}
	}
	if !slices.Equal(keys, []string{"b", "a", "ba"}) {
		t.Errorf("keys %q, want them in the order of the text", keys)
	}
	if got := at(t, v, "properties", "b", "minLength").Count(); got != 2 {
		t.Errorf("Count() = %d", got)
	}
	if b := at(t, v, "properties", "a"); !b.IsBool() || !b.IsTrue() || b.IsNumber() {
		t.Error("true is no bool")
	}
	if n := at(t, v, "x-note"); !n.IsNumber() || string(n.Text()) != "12345678901234567890" || n.Size() != 20 || n.Count() < 0 {
		t.Errorf("a number: %s", n.Text())
	}
	var kinds []string
	for item := range at(t, v, "properties", "ba", "enum").Items() {
		switch {
		case item.IsString():
			kinds = append(kinds, item.Str())
		case item.IsNull():
			kinds = append(kinds, "null")
		default:
			kinds = append(kinds, string(item.Text()))
		}
	}
	if !slices.Equal(kinds, []string{"x\n", "1.50", "null", "[]", "{}"}) {
		t.Errorf("items %q", kinds)
	}
}

func TestViewOfNothing(t *testing.T) {
	t.Parallel()
	for _, v := range []View{{}, (&Schema{}).View(), ParseDeferred([]byte(`{"a":`)).View(), ParseDeferred([]byte(`{"a":1,"a":2}`)).View(), ParseDeferred([]byte("\xff")).View()} {
		_, get := v.Get("a")
		_, keyword := v.Keyword("type")
		_, ref := v.Ref()
		first, further := v.Tuple()
		switch {
		case !v.IsZero(), v.IsObject(), v.IsArray(), v.IsString(), v.IsNumber(), v.IsBool(), v.IsTrue(), v.IsNull(), get, keyword, ref,
			!first.IsZero(), !further.IsZero(), v.Str() != "", v.Count() != -1, v.Text() != nil, v.Size() != 0, v.Len() != 0, v.Bounds() != nil:
			t.Errorf("shows something: %s", v.Text())
		}
		for range v.Members() {
			t.Error("has a member")
		}
		for range v.Items() {
			t.Error("has an item")
		}
	}
}

func TestViewRef(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, want string }{ // want is the title of the target, "" if there is none
		{"root", `{"title":"root","properties":{"x":{"$ref":"#"}}}`, "root"},
		{"pointer", `{"$defs":{"a":{"title":"a"}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, "a"},
		{"pointer with escapes", `{"$defs":{"a/b~c %":{"title":"a"}},"properties":{"x":{"$ref":"#/$defs/a~1b~0c%20%25"}}}`, "a"},
		{"empty token", `{"$defs":{"":{"title":"a"}},"properties":{"x":{"$ref":"#/$defs/"}}}`, "a"},
		{"pointer into a list", `{"anyOf":[{},{"title":"a"}],"properties":{"x":{"$ref":"#/anyOf/1"}}}`, "a"},
		{"pointer to an odd place", `{"x-parts":{"a":{"title":"a"}},"properties":{"x":{"$ref":"#/x-parts/a"}}}`, "a"},
		{"pointer to a property", `{"properties":{"x":{"$ref":"#/properties/y"},"y":{"title":"y"}}}`, "y"},
		{"anchor", `{"$defs":{"a":{"$anchor":"here","title":"a"}},"properties":{"x":{"$ref":"#here"}}}`, "a"},
		{"base URI", `{"$id":"http://x/root","$defs":{"a":{"$id":"sub/a","title":"a","$defs":{"b":{"title":"b"}}}},"properties":{"x":{"$ref":"sub/a#/$defs/b"}}}`, "b"},
		{"base URI of the schema around", `{"$id":"http://x/root","properties":{"x":{"$id":"http://y/x","$ref":"#/$defs/a","$defs":{"a":{"title":"inner"}}}},"$defs":{"a":{"title":"outer"}}}`, "inner"},
		{"anchor of draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"$id":"#here","title":"a"}},"properties":{"x":{"$ref":"#here"}}}`, "a"},
		{"draft-04", `{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://x/root","definitions":{"a":{"id":"a","title":"a"}},"properties":{"x":{"$ref":"http://x/a"}}}`, "a"},
		{"meta-schema", `{"properties":{"x":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}`, ""},
		{"none", `{"properties":{"x":{}}}`, ""},
		// These cannot be applied.
		{"dangling", `{"properties":{"x":{"$ref":"#/$defs/a"}}}`, ""},
		{"another document", `{"properties":{"x":{"$ref":"http://y/"}}}`, ""},
		{"no string", `{"properties":{"x":{"$ref":1}}}`, ""},
		{"beside what is malformed", `{"type":"sting","$defs":{"a/":{"title":"a"}},"properties":{"x":{"$ref":"#/$defs/a~1"}}}`, "a"},
		{"an anchor beside what is malformed", `{"type":"sting","$defs":{"a":{"$anchor":"here"}},"properties":{"x":{"$ref":"#here"}}}`, ""},
		{"a URI beside what is malformed", `{"type":"sting","$defs":{"a":{"$id":"http://x/"}},"properties":{"x":{"$ref":"http://x/"}}}`, ""},
		{"bad escapes", `{"type":"sting","properties":{"x":{"$ref":"#/%zz"}}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v := ParseDeferred([]byte(test.schema)).View()
			x := at(t, v, "properties", "x")
			target, ok := x.Ref()
			title, _ := target.Get("title")
			if ok != (test.want != "") || title.Str() != test.want {
				t.Errorf("leads to %s (%t), want %s", target.Text(), ok, test.want)
			}
			if again, _ := x.Ref(); again != target {
				t.Error("leads elsewhere the second time")
			}
		})
	}
}

func TestViewKeyword(t *testing.T) {
	t.Parallel()
	const (
		d4, d7, d2019 = `"$schema":"http://json-schema.org/draft-04/schema#"`, `"$schema":"http://json-schema.org/draft-07/schema#"`,
			`"$schema":"https://json-schema.org/draft/2019-09/schema"`
	)
	tests := []struct{ schema, keyword, want string }{ // want "" if the keyword means nothing
		{`{"const":1}`, "const", "1"},
		{`{` + d4 + `,"const":1}`, "const", ""},
		{`{` + d7 + `,"prefixItems":[{}]}`, "prefixItems", ""},
		{`{"prefixItems":[{}]}`, "prefixItems", "[{}]"},
		{`{` + d7 + `,"$ref":"#/definitions/a","minLength":1,"definitions":{"a":{}}}`, "minLength", ""},
		{`{` + d7 + `,"$ref":"#/definitions/a","minLength":1,"definitions":{"a":{}}}`, "$ref", `"#/definitions/a"`},
		{`{` + d2019 + `,"$ref":"#/$defs/a","minLength":1,"$defs":{"a":{}}}`, "minLength", "1"},
		{`{"nullable":true}`, "nullable", ""},
		{`{"x":1}`, "x", ""},
	}
	for _, test := range tests {
		got, ok := mustParse(t, test.schema).View().Keyword(test.keyword)
		if ok != (test.want != "") || string(got.Text()) != test.want {
			t.Errorf("%s: %s is %s (%t), want %s", test.schema, test.keyword, got.Text(), ok, test.want)
		}
	}
	// A schema of another draft inside, however its key is written.
	for _, key := range []string{"$schema", `\u0024schema`} {
		v := mustParse(t, `{"$defs":{"a":{"$id":"http://x/a","`+key+`":"http://json-schema.org/draft-07/schema#","prefixItems":[{}]}},"prefixItems":[{}]}`).View()
		if _, ok := v.Keyword("prefixItems"); !ok {
			t.Errorf("%s: the keyword of the root is gone", key)
		}
		if _, ok := at(t, v, "$defs", "a").Keyword("prefixItems"); ok {
			t.Errorf("%s: draft-07 has prefixItems", key)
		}
	}
}

func TestViewTupleAndBounds(t *testing.T) {
	t.Parallel()
	const d7 = `"$schema":"http://json-schema.org/draft-07/schema#"`
	for _, test := range []struct{ schema, first, further string }{
		{`{}`, "", ""},
		{`{"items":{"type":"string"}}`, "", `{"type":"string"}`},
		{`{"prefixItems":[true],"items":false}`, "[true]", "false"},
		{`{"additionalItems":false,"items":{}}`, "", "{}"},
		{`{` + d7 + `,"items":[true,{}],"additionalItems":false}`, "[true,{}]", "false"},
		{`{` + d7 + `,"items":[true]}`, "[true]", ""},
		{`{` + d7 + `,"items":{},"additionalItems":false}`, "", "{}"},
	} {
		first, further := mustParse(t, test.schema).View().Tuple()
		if string(first.Text()) != test.first || string(further.Text()) != test.further {
			t.Errorf("%s: %s and %s", test.schema, first.Text(), further.Text())
		}
	}
	for _, test := range []struct{ schema, want string }{
		{`{}`, ""},
		{`{"maximum":9,"exclusiveMinimum":0.50,"minimum":-1e3,"exclusiveMaximum":10}`, ">= -1e3 <= 9 > 0.50 < 10"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true,"maximum":2,"exclusiveMaximum":false}`, "> 1 <= 2"},
	} {
		var got []string
		for _, b := range mustParse(t, test.schema).View().Bounds() {
			got = append(got, b.Operator+" "+b.Limit)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q", test.schema, got)
		}
	}
}
