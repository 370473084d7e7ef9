package declgen

import (
	"regexp"
	"slices"
	"testing"
)

func TestGuestAPI(t *testing.T) {
	t.Parallel()
	declared := func(g Guest) (names []string) {
		text := GuestAPI(g)
		if at := unbalanced(text); at != "" {
			t.Errorf("not balanced at %q", at)
		}
		for _, match := range regexp.MustCompile(`(?m)^declare (?:function|const) (\w+)`).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		return names
	}
	want := []string{"text", "json", "console", "setTimeout", "clearTimeout", "yield_control", "queueMicrotask", "catalog", "API"}
	if got := declared(Guest{}); !slices.Equal(got, want) {
		t.Errorf("declares %q, want %q", got, want)
	}
	if got := declared(Guest{Skills: true}); !slices.Equal(got, append(want, "skills")) {
		t.Errorf("with skills: declares %q", got)
	}
	if text := GuestAPI(Guest{}); regexp.MustCompile(`(?i)skill`).MatchString(text) {
		t.Errorf("without skills, they are mentioned:\n%s", text)
	}
}
