package toolcatalog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/toolcatalog"
)

func TestSkills(t *testing.T) {
	t.Parallel()
	given := []toolcatalog.Skill{
		{"refunds", "How to refund an order.", "Check the order first — twice."},
		{"month-end", "How to close a month.", strings.Repeat("x", 3<<20)},
		{"empty", "", ""},
	}
	c, err := toolcatalog.New(nil, &toolcatalog.Options{Skills: given})
	if err != nil {
		t.Fatal(err)
	}
	given[0].Name = "changed"
	want := "[{empty  0} {month-end How to close a month. 3145728} {refunds How to refund an order. 32}]"
	if got := fmt.Sprint(c.Skills()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, size := range map[string]int{"refunds": 32, "month-end": 3 << 20, "empty": 0} {
		if s, err := c.ReadSkill(name); err != nil || s.Name != name || len(s.Content) != size {
			t.Errorf("ReadSkill(%q): %d bytes, %v", name, len(s.Content), err)
		}
	}
	for name, hint := range map[string]string{"refund": `did you mean "refunds"?`, "Refunds": `did you mean "refunds"?`, "zzzzzzzzzz": "skills.list()", "": "skills.list()", "changed": "skills.list()"} {
		if _, err := c.ReadSkill(name); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), hint) {
			t.Errorf("ReadSkill(%q): %v", name, err)
		}
	}
	for query, first := range map[string]string{"refunds": "refunds", "REFUNDS": "refunds", "refund an order": "refunds", "closing the month": "month-end", "month-end": "month-end"} {
		if got := c.SearchSkills(query, 0); len(got) == 0 || got[0].Name != first {
			t.Errorf("SearchSkills(%q) = %v", query, got)
		}
	}
	for _, query := range []string{"", "the", "zzz"} {
		if got := c.SearchSkills(query, 5); got == nil || len(got) > 0 {
			t.Errorf("SearchSkills(%q) = %#v", query, got)
		}
	}
}

func TestSkillSearchLimits(t *testing.T) {
	t.Parallel()
	var skills []toolcatalog.Skill
	for i := range 30 {
		skills = append(skills, toolcatalog.Skill{Name: fmt.Sprintf("skill-%d", i), Description: "About orders."})
	}
	c, err := toolcatalog.New(nil, &toolcatalog.Options{Skills: skills})
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]int{-1: 5, 0: 5, 1: 1, 7: 7, 20: 20, 99: 20} {
		if got := len(c.SearchSkills("orders", limit)); got != want {
			t.Errorf("limit %d: %d skills, want %d", limit, got, want)
		}
	}
}

// All bad skills are named at once, beside the bad tools.
func TestBadSkills(t *testing.T) {
	t.Parallel()
	_, err := toolcatalog.New([]*toolcatalog.Tool{nil}, &toolcatalog.Options{Skills: []toolcatalog.Skill{
		{Name: "good"}, {Name: " "}, {Name: "a\nb"}, {Name: "good"}, {Name: "x", Content: "\xff"},
	}})
	bad, ok := errors.AsType[toolcatalog.DefinitionErrors](err)
	if !ok || len(bad) != 5 {
		t.Fatalf("got %v", err)
	}
	for i, want := range []string{"the tool is nil", "blank", "control character", "the same name", "UTF-8"} {
		if !strings.Contains(bad[i].Error(), want) {
			t.Errorf("error %d is %v", i, bad[i])
		}
	}
	for i, want := range map[int]string{1: `skill " " (index 1)`, 3: `skill "good" (index 3)`} {
		if !strings.HasPrefix(bad[i].Error(), want) {
			t.Errorf("got %v", bad[i])
		}
	}
}

// Examples are checked like the inputs of calls; bad ones are bad definitions.
func TestExamples(t *testing.T) {
	t.Parallel()
	type query struct {
		City  string `json:"city"`
		Limit int    `json:"limit,omitempty" jsonschema:"default=3"`
	}
	define := func(examples ...any) error {
		_, err := toolcatalog.New([]*toolcatalog.Tool{toolcatalog.Define(toolcatalog.Spec{Name: "t", Examples: examples}, taking[query]())}, nil)
		return err
	}
	if err := define(query{City: "Oslo"}, map[string]any{"city": "Bergen", "limit": 5}, []byte(nil)); err == nil {
		t.Error("an example that is null is taken")
	}
	if err := define(query{City: "Oslo"}, map[string]any{"city": "Bergen", "limit": 5}); err != nil {
		t.Error(err)
	}
	err := define(query{City: "Oslo"}, 1, 2)
	if err == nil || !strings.Contains(err.Error(), "\n\texample 2: ") {
		t.Errorf("two bad examples: %v", err)
	}
	for _, tt := range []struct {
		example any
		want    string
	}{
		{map[string]any{"town": "Oslo"}, "example 0: "},
		{make(chan int), "example 0: "},
		{`{"city":"Oslo"}`, "must be object"}, // a string, not JSON text
		{nil, "must be object"},
	} {
		if err := define(tt.example); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v", tt.example, err)
		}
	}
}
