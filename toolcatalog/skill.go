package toolcatalog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Skill is an instruction document of the host, for programs of the model to read: how to go about a kind of task with the
// tools there are.
type Skill struct {
	Name        string `json:"name"`                  // unique, without control characters
	Description string `json:"description,omitempty"` // says in a sentence when to read it
	Content     string `json:"content"`               // the whole document; a cell gets all of it or an error
}

// SkillInfo is what a list of skills tells of one.
type SkillInfo struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Bytes       int    `json:"bytes"` // of the content
}

var (
	errBlankName     = errors.New("the name is blank")
	errControlInName = errors.New("the name contains a control character")
	errNotUTF8       = errors.New("the text is not valid UTF-8")
	errSkillTwice    = errors.New("another skill has the same name")
)

// skills checks the skills of a new catalog and sorts them by name.
func (b *builder) skills(given []Skill) []Skill {
	list := slices.Clone(given)
	seen := map[string]bool{}
	for i, s := range list {
		if err := errors.Join(s.check(), duplicate(seen, s.Name)); err != nil {
			b.bad = append(b.bad, &DefinitionError{Kind: kindSkill, Index: i, Name: s.Name, Err: err})
		}
	}
	slices.SortFunc(list, func(x, y Skill) int { return cmp.Compare(x.Name, y.Name) })
	return list
}

func duplicate(seen map[string]bool, name string) error {
	if seen[name] {
		return errSkillTwice
	}
	seen[name] = true
	return nil
}

func (s Skill) check() error {
	switch {
	case strings.TrimSpace(s.Name) == "":
		return errBlankName
	case strings.ContainsFunc(s.Name, unicode.IsControl):
		return errControlInName
	case !utf8.ValidString(s.Name) || !utf8.ValidString(s.Description) || !utf8.ValidString(s.Content):
		return errNotUTF8
	}
	return nil
}

func (s Skill) info() SkillInfo { return SkillInfo{s.Name, s.Description, len(s.Content)} }

// Skills lists the skills, sorted by name. The slice is the caller's own.
func (c *Catalog) Skills() []SkillInfo {
	list := make([]SkillInfo, len(c.skills))
	for i, s := range c.skills {
		list[i] = s.info()
	}
	return list
}

// ReadSkill finds a skill by its exact name. If there is none, errors.Is finds fs.ErrNotExist in the error, whose text is
// for the model and names what was probably meant.
func (c *Catalog) ReadSkill(name string) (Skill, error) {
	if i := c.findSkill(name); i >= 0 {
		return c.skills[i], nil
	}
	text := fmt.Sprintf("there is no skill %q; skills.list() names all", clip(name, maxShownName))
	if meant := nearest(name, c.skillNames()); len(meant) > 0 {
		text = fmt.Sprintf("there is no skill %q; did you mean %s?", clip(name, maxShownName), nameList(meant, " or "))
	}
	return Skill{}, &lookupError{text, fs.ErrNotExist}
}

// SearchSkills finds skills by name, or by what somebody wants to do, in their names and descriptions. It ranks as
// [Catalog.Search] does, with limits of its own: zero or less means [DefaultSkillSearchLimit], more than
// [MaxSkillSearchLimit] means that. The result is never nil.
func (c *Catalog) SearchSkills(query string, limit int) []SkillInfo {
	if limit <= 0 {
		limit = DefaultSkillSearchLimit
	}
	found := c.skillFinder.find(query, min(limit, MaxSkillSearchLimit))
	list := make([]SkillInfo, len(found))
	for i, place := range found {
		list[i] = c.skills[place].info()
	}
	return list
}

const (
	// DefaultSkillSearchLimit is how many skills [Catalog.SearchSkills] returns if it is not told.
	DefaultSkillSearchLimit = 5
	// MaxSkillSearchLimit is how many skills [Catalog.SearchSkills] returns at most.
	MaxSkillSearchLimit = 20
)

// newSkillFinder makes what finds a skill by its place in a list.
func newSkillFinder(skills []Skill) *finder {
	return newFinder(
		func(yield func(int, string) bool) {
			for i, s := range skills {
				if !yield(i, s.Name) {
					return
				}
			}
		},
		func(yield func([]string) bool) {
			for _, s := range skills {
				if !yield([]string{s.Name, s.Description}) {
					return
				}
			}
		})
}

func (c *Catalog) findSkill(name string) int {
	i, ok := slices.BinarySearchFunc(c.skills, name, func(s Skill, name string) int { return cmp.Compare(s.Name, name) })
	if !ok {
		return -1
	}
	return i
}

func (c *Catalog) skillNames() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, s := range c.skills {
			if !yield(s.Name) {
				return
			}
		}
	}
}

// lookupError says that there is nothing of a name. Its text is for the model.
type lookupError struct {
	text string
	kind error // fs.ErrNotExist or fs.ErrInvalid
}

func (e *lookupError) Error() string { return e.text }
func (e *lookupError) Unwrap() error { return e.kind }
