package toolcatalog

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/cellmode/cellmode/internal/bm25"
)

const (
	// DefaultSearchLimit is how many tools [Catalog.Search] returns if it is not told.
	DefaultSearchLimit = 8
	// MaxSearchLimit is how many tools [Catalog.Search] returns at most.
	MaxSearchLimit = 50
)

// Search finds tools by name, or by what somebody wants to do. A limit of zero or less means [DefaultSearchLimit], a limit
// above [MaxSearchLimit] means that. The result is never nil, and the slice is the caller's own.
//
// A query that is the callable name or the own name of a tool gives that tool and no other. A name in another case does, too;
// if several tools have it, it gives those. Any other query is ranked as the package comment says, and tools that match
// equally well have the order of [Catalog.All]. A smaller limit gives the beginning of what a larger one gives.
//
// Of a long query the first 4,096 bytes count. An empty query finds nothing, nor does one of stop words only that is no name, except that
// "who am I", and others that have I, me or my, find the tools with me or my in their names.
//
// The first search by words indexes the catalog, which takes time proportional to its text: about 30 ms for a thousand tools.
// Others wait for it.
func (c *Catalog) Search(query string, limit int) []Entry {
	if limit <= 0 {
		limit = DefaultSearchLimit
	}
	if e := c.index[query]; e != nil {
		return []Entry{e.public()}
	}
	found := c.finder.find(query, min(limit, MaxSearchLimit))
	list := make([]Entry, len(found))
	for i, place := range found {
		list[i] = c.entries[place].public()
	}
	return list
}

// searchNames lists the names of the tools with their places.
func (c *Catalog) searchNames() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range c.entries {
			e := &c.entries[i]
			if !yield(i, e.CallableName) || e.ToolName != e.CallableName && !yield(i, e.ToolName) {
				return
			}
		}
	}
}

// searchTexts lists what is indexed of each tool. The first is the title, the tool's own name: a word of it counts for more
// than one that is mentioned.
func (c *Catalog) searchTexts() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		var texts []string
		for i := range c.entries {
			e := &c.entries[i]
			texts = append(texts[:0], e.ToolName, e.CallableName, e.Label, e.Description)
			if e.Source == Native && e.input != nil {
				texts = appendParameterText(texts, e.input, bm25.MaxDocumentBytes)
			}
			if !yield(texts) {
				return
			}
		}
	}
}

// finder finds things by name and by what is said about them: their places in some list. It makes its two indexes when they
// are first needed, and is safe for concurrent use.
type finder struct {
	names func() []foldedName
	texts func() *bm25.Index
}

// newFinder takes the names of the things, each with the place of its thing, and their texts, in the order of their places.
// Both sequences are read once, later.
func newFinder(names iter.Seq2[int, string], texts iter.Seq[[]string]) *finder {
	return &finder{
		names: sync.OnceValue(func() []foldedName { return foldNames(names) }),
		texts: sync.OnceValue(func() *bm25.Index { return bm25.New(texts) }),
	}
}

// find returns at most limit places, best first. The things that have the query for a name are all that it finds, if there
// are any: the one that has it exactly, else those that have it in another case.
func (f *finder) find(query string, limit int) []int {
	if f == nil { // of the zero Catalog
		return nil
	}
	if name := strings.TrimSpace(query); len(name) <= MaxToolNameBytes {
		if places := named(f.names(), name); len(places) > 0 {
			return places[:min(limit, len(places))]
		}
	}
	return f.texts().Search(query, limit)
}

// foldedName is a name without regard to case.
type foldedName struct {
	folded, name string
	place        int
}

func foldNames(names iter.Seq2[int, string]) []foldedName {
	var list []foldedName
	for place, name := range names {
		list = append(list, foldedName{strings.ToLower(name), name, place})
	}
	slices.SortFunc(list, func(a, b foldedName) int {
		return cmp.Or(cmp.Compare(a.folded, b.folded), cmp.Compare(a.place, b.place))
	})
	return list
}

// named returns the places of the things of that name.
func named(names []foldedName, name string) (places []int) {
	folded := strings.ToLower(name)
	i, _ := slices.BinarySearchFunc(names, folded, func(n foldedName, folded string) int { return cmp.Compare(n.folded, folded) })
	for ; i < len(names) && names[i].folded == folded; i++ {
		if names[i].name == name {
			return []int{names[i].place}
		}
		places = append(places, names[i].place)
	}
	return slices.Compact(places)
}
