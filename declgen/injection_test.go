package declgen_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/declgen"
	"github.com/cellmode/cellmode/internal/tscheck"
	"github.com/cellmode/cellmode/schema"
)

// code returns what is left of TypeScript text without comments and string literals, and whether all of them are closed.
func code(text string) (rest string, closed bool) {
	var b strings.Builder
	for text != "" {
		var end int
		switch {
		case strings.HasPrefix(text, "/*"):
			if end = strings.Index(text[2:], "*/"); end >= 0 {
				end += 4
			}
		case strings.HasPrefix(text, "//"):
			if end = strings.IndexAny(text, "\n\r\u2028\u2029"); end < 0 {
				end = len(text)
			}
		case text[0] == '"' || text[0] == '\'' || text[0] == '`':
			end = 1
			for end < len(text) && text[end] != text[0] && text[end] != '\n' && text[end] != '\r' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if end++; end > len(text) || text[end-1] != text[0] {
				end = -1
			}
		default:
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		if end < 0 {
			return b.String(), false
		}
		b.WriteByte(' ')
		text = text[end:]
	}
	return b.String(), true
}

func TestCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`a /* b */ c`: "a   c", "a // b\nc": "a  \nc", "a // b\u2028c": "a  \u2028c", `a "b\"/*" c '"' d`: "a   c   d",
		"`a\\``": " ", "/***/a/": " a/",
		"/* a": "", `"a\"`: "", "\"a\nb\"": "", "a '": "a ",
	} {
		rest, closed := code(text)
		if wantClosed := !strings.HasPrefix(text, "/* a") && text != `"a\"` && text != "\"a\nb\"" && text != "a '"; rest != want || closed != wantClosed {
			t.Errorf("code(%q) = %q, %v, want %q, %v", text, rest, closed, want, wantClosed)
		}
	}
}

// checkInert fails if the word injected, which all schemas of these tests have in their texts only, is code in what is generated.
func checkInert(t *testing.T, about, text string) {
	t.Helper()
	rest, closed := code(text)
	if !closed || strings.Contains(rest, "injected") {
		t.Errorf("%s gives code (comments closed: %v): %s\n%q", about, closed, text, text)
	}
	if !utf8.ValidString(text) {
		t.Errorf("%s gives text that is not UTF-8: %q", about, text)
	}
}

// payload makes text that tries to end what it stands in: whole sentences of attempts, and attempts cut at each place, as
// generated text is shortened.
func payload(r *rand.Rand) string {
	attempts := []string{
		"*/ injected /*", "*/injected//", "*\\/ injected", "**//injected", "\ninjected\n", "\r injected \r", "\u2028injected\u2028", "\u2029injected",
		"\x85injected", `" injected "`, `\" injected`, `\`, `' injected '`, "` injected `", "${injected}", "*", "/", "*/", "/injected", "*\u200d/injected",
		"\n * /injected", "\n/ injected", "@example */ injected", "\x00*/injected", "</script>injected", "\ufeff*/injected", "*\xff/injected", "🦀",
		"@ts-expect-error", "@ts-ignore", "\n@ts-expect-error", "@ts-nocheck", "{@link", "@jsx h", "@type {", "<reference path=\"injected\" />",
		strings.Repeat("x", 60), strings.Repeat("*/", 40), strings.Repeat("é\n", 30),
	}
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(attempts[r.IntN(len(attempts))])
	}
	return b.String()
}

// hostileSchema makes a schema that Parse takes, with payloads wherever a schema can have text.
func hostileSchema(r *rand.Rand, depth int) map[string]any {
	text := func() string { return payload(r) }
	property := func() map[string]any {
		if depth == 0 {
			return map[string]any{"type": "string", "description": text()}
		}
		return hostileSchema(r, depth-1)
	}
	forms := []func(s map[string]any){
		func(s map[string]any) { s["type"] = "string" },
		func(s map[string]any) { s["type"] = "number"; s["minimum"] = 1.5; s["multipleOf"] = 0.5 },
		func(s map[string]any) {
			s["enum"] = []any{text() + "1", text() + "2", 3, map[string]any{text(): text()}}
		},
		func(s map[string]any) { s["const"] = text() },
		func(s map[string]any) { s["const"] = []any{map[string]any{text(): text()}} },
		func(s map[string]any) { s["type"] = "array"; s["items"] = property() },
		func(s map[string]any) { s["type"] = "array"; s["prefixItems"] = []any{property(), property()} },
		func(s map[string]any) { s["anyOf"] = []any{property(), property()} },
		func(s map[string]any) { s["allOf"] = []any{property(), property()} },
		func(s map[string]any) { s["type"] = "object"; s["additionalProperties"] = property() },
		func(s map[string]any) {
			s["type"] = "object"
			s["properties"] = map[string]any{text(): property(), "p": property(), text() + "b": property()}
			s["required"] = []any{text() + "a"}
		},
		func(s map[string]any) { s["$ref"] = "#/$defs/d" },
	}
	s := map[string]any{}
	forms[r.IntN(len(forms))](s)
	for _, name := range []string{"title", "description", "default", "$comment", "format", "contentMediaType", "x-" + text()} {
		if r.IntN(2) == 0 {
			s[name] = text()
		}
	}
	if r.IntN(3) == 0 {
		s["examples"] = []any{text(), map[string]any{text(): text()}}
	}
	if r.IntN(6) == 0 {
		s["pattern"] = `^[*]/ injected`
		s["patternProperties"] = map[string]any{`^\S+/.*/ injected`: property(), `[*]/injected`: property()}
	}
	return s
}

// hostile makes a schema with payloads of a seed. It returns nil if it is not valid: two names are the same, or a definition
// refers to itself only.
func hostile(t *testing.T, seed uint64) *schema.Schema {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 17))
	root := hostileSchema(r, 3)
	root["$defs"] = map[string]any{"d": hostileSchema(r, 1), payload(r): hostileSchema(r, 1)}
	if r.IntN(4) == 0 {
		root["anyOf"] = []any{hostileSchema(r, 1), hostileSchema(r, 1)}
		root[schema.DiscriminatorKeyword] = map[string]any{"version": 1, "inputProperty": payload(r),
			"mapping": map[string]any{payload(r): 0, payload(r): 1}}
	}
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Parse(text)
	if err != nil {
		return nil
	}
	return s
}

// hostileFunction makes a function of a schema, with more payloads of the seed.
func hostileFunction(t *testing.T, seed uint64, s *schema.Schema) declgen.Function {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 18))
	example, err := json.Marshal(map[string]any{payload(r): payload(r)})
	if err != nil {
		t.Fatal(err)
	}
	return declgen.Function{Name: "f", Description: payload(r), Input: s, Output: s, Examples: []json.RawMessage{example}}
}

// TestInjection holds that no text of a schema becomes code of a declaration or a hint, wherever it stands and wherever it is
// cut.
func TestInjection(t *testing.T) {
	t.Parallel()
	checked := 0
	for seed := range uint64(2_000) {
		s := hostile(t, seed)
		if s == nil {
			continue
		}
		checked++
		about := fmt.Sprintf("seed %d: %s", seed, s.Text())
		checkInert(t, about, declgen.Declare(hostileFunction(t, seed, s)))
		checkInert(t, about, declgen.InputHint(s).Text)
		checkInert(t, about, declgen.OutputHint(s).Text)
		if t.Failed() {
			return
		}
	}
	if checked < 1_000 {
		t.Errorf("only %d schemas were checked", checked)
	}
}

// TestInjectionCompiles has the compiler say the same of some of them: it also reads directives in comments.
func TestInjectionCompiles(t *testing.T) {
	t.Parallel()
	tscheck.Require(t)
	var groups []tscheck.Group
	for seed := range uint64(150) {
		if s := hostile(t, seed); s != nil {
			groups = append(groups, tscheck.Group{
				"f.d.ts": declgen.Declare(hostileFunction(t, seed, s)),
				"use.ts": "// @ts-expect-error\ninjected;\nf satisfies Function;\nexport {};",
			})
		}
	}
	// A comment that is nothing but a directive.
	directives := []string{
		"@ts-expect-error", "@ts-ignore", "a\n@ts-expect-error", "@ts-ignore\n", " @ts-expect-error why", "/@ts-expect-error", "*@ts-ignore",
	}
	for _, directive := range directives {
		text, err := json.Marshal(map[string]any{"type": "object", "description": directive, "properties": map[string]any{
			"a": map[string]any{"type": "string", "description": directive, "default": directive}, "b": map[string]any{"$ref": "#/$defs/D"}},
			"$defs": map[string]any{"D": map[string]any{"title": directive, "description": directive, "type": "object",
				"properties": map[string]any{"d": map[string]any{"$ref": "#/$defs/D", "description": directive}}}}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, tscheck.Group{"f.d.ts": declgen.Declare(declgen.Function{Name: "f", Description: directive, Input: s, Output: s})})
	}
	if len(groups) < 100 {
		t.Errorf("only %d schemas were checked", len(groups))
	}
	for i, found := range tscheck.CheckAll(t, groups) {
		for _, d := range found {
			t.Errorf("%v\n%s", d, groups[i]["f.d.ts"])
		}
	}
}

// TestInjectionCut holds the same for long texts, for each place where they may be cut.
func TestInjectionCut(t *testing.T) {
	t.Parallel()
	for _, attempt := range []string{"*/ injected /*", "\u2028injected", `" injected`, "\n/ injected", `\`} {
		for shift := range len(attempt) + 1 {
			long := strings.Repeat("x", shift) + strings.Repeat(attempt, 40_000/len(attempt))
			text, err := json.Marshal(map[string]any{
				"type": "object", "description": long, "title": long, "default": map[string]any{"a": long},
				"properties": map[string]any{
					"a": map[string]any{"description": long, "default": long, "enum": []any{long, "*/"}},
					"b": map[string]any{"type": "string", "description": long, "default": long, "examples": []any{long}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			s, err := schema.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			example, err := json.Marshal(map[string]any{"b": long})
			if err != nil {
				t.Fatal(err)
			}
			about := fmt.Sprintf("%q, shifted by %d", attempt, shift)
			checkInert(t, about, declgen.Declare(declgen.Function{
				Name: "f", Description: long, Input: s, Output: s, Examples: []json.RawMessage{example},
			}))
			checkInert(t, about, declgen.InputHint(s).Text)
			checkInert(t, about, declgen.OutputHint(s).Text)
		}
	}
}
