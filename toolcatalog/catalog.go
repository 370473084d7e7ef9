package toolcatalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cellmode/cellmode/schema"
)

// Options is what a host decides for a catalog. The zero value, and nil, grant nothing beyond the tools given.
type Options struct {
	// Policy says which tools are offered and which calls are made. Zero: all, but see [Policy].Decide where there is an
	// Approver.
	Policy Policy

	// Hooks run around every call, the first one outermost. None: inputs and results are as caller and tool give them.
	Hooks []Hook

	// Approver is asked for the calls that need somebody's approval, see [Policy].Decide. Nil: nobody can approve, and
	// calls that would need it are refused.
	Approver Approver

	// Observer is told about every call. Nil: nobody is.
	Observer Observer

	// ObserveValues adds inputs, results and errors to the events, which may be secret. False: events hold names, sizes,
	// times and codes only.
	ObserveValues bool

	// Skills are instruction documents that programs can list, search and read. Nil: none.
	Skills []Skill

	// Logger receives what must not reach the model: panics of tools and of the functions above, with their Go stacks. Nil:
	// nothing is logged.
	Logger *slog.Logger
}

// Catalog is a set of tools with their names, made by [New]; the zero value is an empty one. It is immutable and safe for
// concurrent use; calls that wait for each other because of [Spec].Sequential do so across all users of the catalog.
type Catalog struct {
	entries []entry           // sorted by callable name
	index   map[string]*entry // by callable name, and by tool name; the two never collide, see allocateNames
	clients int               // how many entries are client tools
	network bool              // there is a tool that returns content from outside
	queue   *queue            // nil if no tool is sequential
	finder  *finder           // of places in entries
	logger  *slog.Logger

	skills      []Skill // sorted by name
	skillFinder *finder

	policy        Policy
	hooks         []Hook
	approver      Approver
	observer      Observer
	observeValues bool
	watched       bool          // there is any of them: calls have a watch
	calls         atomic.Uint64 // IDs given out, if watched

	// What is made when it is first asked for, by the place of the tool in entries.
	files     []atomic.Pointer[string] // declarations
	rendering sync.Mutex               // held while one is made
	lastIndex atomic.Pointer[boundedText]

	fingerprint struct {
		once sync.Once
		text string
	}
}

// Entry describes one tool of a catalog. Its JSON form is what cells see of a tool.
type Entry struct {
	// CallableName is the name of the async global that cells call the tool by: an identifier that no other tool of the
	// catalog has and that hides no global. A tool name that is one already is kept as it is; others are changed as little
	// as possible, with a suffix where that would collide. The same set of tools always gives the same names.
	CallableName string `json:"callableName"`

	ToolName    string `json:"toolName"`              // Spec.Name
	Label       string `json:"label,omitempty"`       // Spec.Label
	Description string `json:"description,omitempty"` // Spec.Description
	Source      Source `json:"source"`

	// Input and Output are the contracts as one line of TypeScript each. Input may be shortened ("..."), and is "unknown"
	// where nothing is declared; Output is complete, or empty where the result is not declared, not closed, or too long for
	// a line. Of a client tool nothing is believed.
	Input  string `json:"input"`
	Output string `json:"output,omitempty"`

	APIPath string `json:"apiPath"` // of the tool's declaration, for [Catalog.ReadFile]

	// What the host needs to know before a call, from Spec. Cells do not see it.
	Sequential bool   `json:"-"`
	ReplaySafe bool   `json:"-"`
	Network    bool   `json:"-"`
	Effect     Effect `json:"-"`
}

// entry is a tool with its place in a catalog.
type entry struct {
	Entry
	contracts
	handle   handler
	place    int                                    // in Catalog.entries
	declared struct{ input, output *schema.Schema } // what is shown: also what checks nothing, and what a client says
	examples []json.RawMessage                      // of inputs
	hints    *atomic.Pointer[hints]                 // of the tool, whatever catalogs it is in
}

// New makes a catalog of tools. If tools are badly defined, the error is a [DefinitionErrors] that names every one of them.
//
// Two tools of the same name are an error, except that a [Client] tool takes the place of a [Native] one. The slice and
// opts are not kept.
func New(tools []*Tool, opts *Options) (*Catalog, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := builder{
		places:  make(map[string]int, len(tools)),
		derived: map[derivation]derivedSchema{},
		inputs:  map[*schema.Schema]error{},
	}
	b.entries = make([]entry, 0, len(tools))
	for i, t := range tools {
		b.add(i, t)
	}
	skills := b.skills(o.Skills)
	if len(b.bad) > 0 {
		return nil, b.bad
	}
	return b.catalog(o, skills), nil
}

// builder collects the tools of a new catalog.
type builder struct {
	entries []entry
	places  map[string]int // of entries, by tool name
	bad     DefinitionErrors
	derived map[derivation]derivedSchema // schemas of Go types: many tools share few types
	inputs  map[*schema.Schema]error     // input schemas that were looked at, and what is wrong with them
}

// derivation is a Go type and the side of a tool it stands on: a pointer may be null in a result only.
type derivation struct {
	typ    reflect.Type
	result bool
}

type derivedSchema struct {
	schema *schema.Schema
	err    error
}

// Kinds of definitions.
const (
	kindTool  = "tool"
	kindSkill = "skill"
)

var (
	errNilTool   = errors.New("the tool is nil")
	errDuplicate = errors.New("another tool has the same name")
	errNoObject  = errors.New("the input schema does not accept an object, and cells call a tool with one object; take a struct or a map")
)

func (b *builder) add(index int, t *Tool) {
	if t == nil {
		b.bad = append(b.bad, &DefinitionError{Kind: kindTool, Index: index, Err: errNilTool})
		return
	}
	e, err := b.entry(t)
	if err != nil {
		b.bad = append(b.bad, &DefinitionError{Kind: kindTool, Index: index, Name: t.spec.Name, Err: err})
		return
	}
	place, taken := b.places[e.ToolName]
	switch {
	case !taken:
		b.places[e.ToolName] = len(b.entries)
		b.entries = append(b.entries, e)
	case e.Source == b.entries[place].Source:
		b.bad = append(b.bad, &DefinitionError{Kind: kindTool, Index: index, Name: e.ToolName, Err: errDuplicate})
	case e.Source == Client:
		b.entries[place] = e
	}
}

// entry checks a definition. Several things wrong with one tool are one error.
func (b *builder) entry(t *Tool) (entry, error) {
	errs := []error{t.check()}
	e := entry{
		Entry: Entry{
			ToolName:    t.spec.Name,
			Label:       validText(t.spec.Label),
			Description: validText(t.spec.Description),
			Source:      t.spec.Source,
			Sequential:  t.spec.Sequential,
			ReplaySafe:  t.spec.ReplaySafe,
			Network:     t.spec.Network,
			Effect:      t.spec.Effect,
		},
		handle: t.handle,
		hints:  &t.hints,
	}
	e.declared.input, e.declared.output = t.spec.Input, t.spec.Output
	if t.spec.Source == Native {
		var err error
		if e.declared.input, err = b.declared(t.spec.Input, t.input, false); err != nil {
			errs = append(errs, fmt.Errorf("input schema: %w", err))
		}
		e.input = contract(e.declared.input)
		errs = append(errs, b.checkInput(e.input))
		if e.declared.output, err = b.declared(t.spec.Output, t.output, true); err != nil {
			errs = append(errs, fmt.Errorf("output schema: %w", err))
		}
		e.output = contract(e.declared.output)
		e.nils = t.output.typ != nil
		e.resolve()
	}
	if errors.Join(errs...) == nil {
		var err error
		if e.examples, err = e.checkExamples(t.spec.Examples); err != nil {
			errs = append(errs, err)
		}
	}
	return e, errors.Join(errs...)
}

// checkExamples gives the examples of inputs as JSON, if a call would take them.
func (e *entry) checkExamples(given []any) ([]json.RawMessage, error) {
	var list []json.RawMessage
	var errs []error
	for i, v := range given {
		text, err := encode(v)
		if err == nil && e.broken == nil {
			_, err = e.completeInput(text)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("example %d: %w", i, err))
		}
		list = append(list, text)
	}
	return list, errors.Join(errs...)
}

// declared is the schema of one side of a tool: the given one, else that of the Go type.
func (b *builder) declared(given *schema.Schema, typ typeSchema, result bool) (*schema.Schema, error) {
	if given == nil && typ.derive != nil {
		key := derivation{typ.typ, result && typ.typ.Kind() == reflect.Pointer}
		d, ok := b.derived[key]
		if !ok {
			d.schema, d.err = typ.safelyDerive()
			b.derived[key] = d
		}
		if d.err != nil {
			return nil, d.err
		}
		given = d.schema
	}
	if given == nil {
		return nil, nil
	}
	if err := given.Err(); err != nil {
		if _, deferred := errors.AsType[*schema.ParseError](err); !deferred { // a zero Schema; a deferred one fails its calls
			return nil, err
		}
	}
	return given, nil
}

// contract is what of a schema there is to check: nothing, if it accepts everything.
func contract(declared *schema.Schema) *schema.Schema {
	if declared != nil && declared.IsAny() {
		return nil
	}
	return declared
}

// checkInput refuses an input schema that no call could satisfy. One that cannot be applied is left to the calls.
func (b *builder) checkInput(s *schema.Schema) error {
	if s == nil || s.Err() != nil {
		return nil
	}
	err, ok := b.inputs[s]
	if !ok {
		if !acceptsObject(s) {
			err = errNoObject
		}
		b.inputs[s] = err
	}
	return err
}

// catalog names the tools and builds the index.
func (b *builder) catalog(o Options, skills []Skill) *Catalog {
	requests := make([]nameRequest, len(b.entries))
	for i, e := range b.entries {
		requests[i] = nameRequest{id: toolID(e.Source, e.ToolName), tool: e.ToolName}
	}
	for i, name := range allocateNames(requests) {
		b.entries[i].CallableName = name
	}
	slices.SortFunc(b.entries, func(x, y entry) int { return cmp.Compare(x.CallableName, y.CallableName) })
	b.entries = o.Policy.offered(b.entries, o.Logger)

	n := len(b.entries)
	c := &Catalog{
		entries: b.entries,
		index:   make(map[string]*entry, n),
		files:   make([]atomic.Pointer[string], n),
		logger:  o.Logger,

		skills:        skills,
		skillFinder:   newSkillFinder(skills),
		policy:        o.Policy,
		hooks:         slices.Clone(o.Hooks),
		approver:      o.Approver,
		observer:      o.Observer,
		observeValues: o.ObserveValues,
	}
	c.watched = o.Policy.Decide != nil || len(o.Hooks) > 0 || o.Approver != nil || o.Observer != nil
	for i := range c.entries {
		e := &c.entries[i]
		e.place, e.APIPath = i, filePath(e.CallableName)
		c.index[e.CallableName] = e
		c.index[e.ToolName] = e
		if e.Source == Client {
			c.clients++
		}
		c.network = c.network || e.Network
		if e.Sequential && c.queue == nil {
			c.queue = &queue{}
		}
	}
	c.finder = newFinder(c.searchNames(), c.searchTexts())
	return c
}

// All lists the tools, sorted by callable name in byte order. The slice is the caller's own.
func (c *Catalog) All() []Entry {
	return slices.AppendSeq(make([]Entry, 0, len(c.entries)), c.Entries())
}

// Entries lists the tools in the order of All, one after the other: the hints of those that are not taken are not made.
func (c *Catalog) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := range c.entries {
			if !yield(c.entries[i].public()) {
				return
			}
		}
	}
}

// Lookup finds a tool by its callable name, exactly. Its cost does not depend on the size of the catalog.
func (c *Catalog) Lookup(callableName string) (Entry, bool) {
	if e := c.index[callableName]; e != nil && e.CallableName == callableName {
		return e.public(), true
	}
	return Entry{}, false
}

// CallableNames lists the callable names in the order of All, without making a slice.
func (c *Catalog) CallableNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range c.entries {
			if !yield(c.entries[i].CallableName) {
				return
			}
		}
	}
}

// HasNetwork reports whether there is a tool that returns content from outside of the host: [Spec].Network.
func (c *Catalog) HasNetwork() bool { return c.network }

// Len is the number of tools.
func (c *Catalog) Len() int { return len(c.entries) }

// Count is the number of tools from one source.
func (c *Catalog) Count(source Source) int {
	switch source {
	case Native:
		return len(c.entries) - c.clients
	case Client:
		return c.clients
	}
	return 0
}
