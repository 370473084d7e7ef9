package declgen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/cellmode/cellmode/schema"
)

func TestCompareKeys(t *testing.T) {
	t.Parallel()
	names := []string{"", "a", "ab", "b", "é", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff", "a\U00010000", "a\uffff", "a\ue000x"}
	for _, a := range names {
		for _, b := range names {
			want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
			if got := compareKeys(a, b); (got < 0) != (want < 0) || (got > 0) != (want > 0) {
				t.Errorf("compareKeys(%q, %q) = %d, by units %d", a, b, got, want)
			}
		}
	}
}

// repeat joins n texts made by item.
func repeat(n int, separator string, item func(i int) string) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = item(i)
	}
	return strings.Join(texts, separator)
}

// TestTypeLimits wants what is at a limit to be rendered, and what is beyond it to be wider, and unknown if need be.
func TestTypeLimits(t *testing.T) {
	t.Parallel()
	nested := func(depth int) string {
		return strings.Repeat(`{"type":"array","items":`, depth) + `{"type":"null"}` + strings.Repeat("}", depth)
	}
	properties := func(n int) string {
		return closed(repeat(n, ",", func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }), "")
	}
	enum := func(n int) string {
		return `{"enum":[` + repeat(n, ",", func(i int) string { return fmt.Sprint(i) }) + `]}`
	}
	variants := func(n int) string {
		return `{"anyOf":[` + repeat(n, ",", func(i int) string { return closed(fmt.Sprintf(`"p%d":{"const":1}`, i), "") }) + `]}`
	}
	tests := []struct {
		name         string
		at, beyond   string
		shown, still string // in the type at the limit, and in the one beyond it
	}{
		{"properties", properties(typeProperties), properties(typeProperties + 1), "p99?: unknown;\n  };", "p98?: unknown;\n    [key: string]: unknown;\n"},
		{"literals", enum(typeLiterals), enum(typeLiterals + 1), "| 255", "Promise<{ x?: number }>"},
		{"variants", variants(typeVariants), variants(2*typeVariants + 1), "p255?: 1", "Promise<{ x?: unknown }>"},
		{"depth", nested(typeDepth - 1), nested(typeDepth), "Array<null>", "Array<unknown>"},
		{"types", `{"type":["string","number","boolean","null","array"]}`, `{"type":["string","number","boolean","null","array","object"]}`, "string | number | boolean | null | Array<unknown>", "Promise<{ x?: unknown }>"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			declare := func(text string) string {
				return Declare(Function{Name: "f", Output: mustParse(t, closed(`"x":`+text, ""))})
			}
			if got := declare(test.at); !strings.Contains(got, test.shown) {
				t.Errorf("at the limit, no %s in\n%s", test.shown, got)
			}
			if got := declare(test.beyond); !strings.Contains(got, test.still) {
				t.Errorf("beyond the limit, no %s in\n%s", test.still, got)
			}
		})
	}
}

// hugeSchemas are schemas that are too large for everything.
func hugeSchemas() map[string]string {
	chain := func(n int) string {
		return `{"$ref":"#/$defs/d0","$defs":{` + repeat(n, ",", func(i int) string {
			return fmt.Sprintf(`"d%d":{"type":"object","properties":{"l":{"$ref":"#/$defs/d%d"},"r":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1)
		}) + fmt.Sprintf(`,"d%d":{"type":"string"}}}`, n)
	}
	wide := func(n int) string {
		return closed(repeat(n, ",", func(i int) string {
			return fmt.Sprintf(`"property number %d":{"type":"object","description":%q,"properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}}}}`,
				i, strings.Repeat("Words. ", 40))
		}), "")
	}
	return map[string]string{
		"chain of references":  `{"allOf":[` + repeat(5_000, ",", func(i int) string { return fmt.Sprintf(`{"$ref":"#/allOf/%d"}`, i+1) }) + `,{"type":"object"}]}`,
		"5,000 properties":     wideSchema(5_000),
		"250 deep properties":  wide(250),
		"an enum of 1 MB":      `{"enum":[` + repeat(20_000, ",", func(i int) string { return fmt.Sprintf(`"%050d"`, i) }) + `]}`,
		"literals of 1 MB":     `{"enum":["` + strings.Repeat("x", 1<<20) + `"]}`,
		"a constant of 1 MB":   `{"const":[` + strings.Repeat(`{"a":[1]},`, 100_000) + `1]}`,
		"long literals":        closed(`"x":{"enum":[`+repeat(200, ",", func(i int) string { return fmt.Sprintf(`"%0500d"`, i) })+`]},"y":{"type":"string"}`, ""),
		"depth 500":            strings.Repeat(`{"type":"object","properties":{"a":`, 500) + `{}` + strings.Repeat(`}}`, 500),
		"allOf of allOf":       strings.Repeat(`{"allOf":[`, 500) + `{"type":"string"}` + strings.Repeat(`]}`, 500),
		"a tree of references": chain(60),
		"a description of 1 MB": `{"type":"object","description":"` + strings.Repeat("x", 1<<20) + `","properties":{"a":{"type":"string","description":"` +
			strings.Repeat("*/ ", 1<<17) + `"}}}`,
		"unions that multiply": `{"allOf":[` + repeat(30, ",", func(i int) string {
			return `{"anyOf":[` + repeat(12, ",", func(k int) string { return closedOpen(fmt.Sprintf(`"p%d_%d":{"type":"string"}`, i, k)) }) + `]}`
		}) + `]}`,
		"references that multiply": `{"anyOf":[{"$ref":"#/$defs/a0"},{"$ref":"#/$defs/a0"}],"$defs":{` + repeat(40, ",", func(i int) string {
			return fmt.Sprintf(`"a%d":{"anyOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i+1, i+1)
		}) + `,"a40":{"type":"string"}}}`,
		"200 tuples of 200": `{"prefixItems":[` + repeat(200, ",", func(int) string {
			return `{"type":"array","prefixItems":[` + repeat(200, ",", func(int) string { return `{"type":"string"}` }) + `]}`
		}) + `]}`,
	}
}

// closedOpen is an object schema that is not closed.
func closedOpen(properties string) string {
	return `{"type":"object","properties":{` + properties + `}}`
}

// TestHugeSchemas wants bounded texts, in a time that leaves no doubt.
func TestHugeSchemas(t *testing.T) {
	t.Parallel()
	for name, text := range hugeSchemas() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := schema.ParseDeferred([]byte(text))
			start := time.Now()
			input, output := InputHint(s), OutputHint(s)
			file := Declare(Function{Name: "f", Description: strings.Repeat("word ", 1<<16), Input: s, Output: s})
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			checkRendered(t, s, input, output, file)
		})
	}
}

// TestLargeTypesKeepWhatIsOutside wants a declaration that is too long to lose comments first, and then what is deep inside.
func TestLargeTypesKeepWhatIsOutside(t *testing.T) {
	t.Parallel()
	file := Declare(Function{Name: "f", Output: mustParse(t, hugeSchemas()["250 deep properties"])})
	if strings.Contains(file, "Words.") || !strings.Contains(file, `"property number 249"?: `) {
		t.Errorf("got\n%.2000s", file)
	}
	file = Declare(Function{Name: "f", Output: mustParse(t, hugeSchemas()["long literals"])})
	if !strings.Contains(file, "Promise<{\n  x?: string;\n  y?: string;\n}>") {
		t.Errorf("got\n%.2000s", file)
	}
}

// TestManyResults wants a tool with too many results to fall back to one signature that says so.
func TestManyResults(t *testing.T) {
	t.Parallel()
	text := `{"anyOf":[` + repeat(64, ",", func(i int) string {
		return closed(repeat(40, ",", func(k int) string { return fmt.Sprintf(`"a_long_name_of_property_%d_%d":{"type":"string"}`, i, k) }), "")
	}) + `],"x-openclaw-input-discriminator":{"version":1,"inputProperty":"action","mapping":{"one":0}}}`
	file := Declare(Function{Name: "f", Output: mustParse(t, text)})
	if !strings.Contains(file, tooLarge) || strings.Contains(file, "OutputByInput") || unitsOf(file) > 34_000 {
		t.Errorf("%d units:\n%.2000s", unitsOf(file), file)
	}
}
