package codemode

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
	"github.com/cellmode/cellmode/internal/jsontext"
	"github.com/cellmode/cellmode/toolcatalog"

	"github.com/cellmode/cellmode/store"
)

// ask answers a question of the guest: about its tools, their declarations and the skills, and about what is kept of earlier
// programs. The answer waits until the guest has made room for it.
func (b *bridge) ask(kind int32, subject, limit engine.Value) engine.Value {
	c := b.cell
	q := question{executor: c.executor, kind: kind, text: b.subject(subject), room: int(c.limits.inbox), network: c.network}
	q.given, b.given = b.given, nil
	if n, ok := subject.AsInt(); ok && n >= 0 && int(n) < len(b.tools) {
		q.tool = b.tools[n]
	}
	if most := limit.AsFloat(); most > 0 {
		q.limit = int(min(most, maxSearchLimit))
	}
	switch kind {
	case guest.AskSearch:
		q.limit = c.limits.searchLimit(q.limit)
	case guest.AskSave, guest.AskLoad, guest.AskDelete:
		b.needsNoReplay(restartSafeResults)
	case guest.AskStore, guest.AskLoadStored:
		b.needsNoReplay(restartSafeSession)
		q.key, _ = c.vm.AppendJSON(nil, subject, engine.JSONStringify, maxSubject)
		if q.session = c.session; q.session == nil {
			q.session = newSessionBuffer(c.executor.session, c.executor.sessionKey)
			c.session = q.session
		}
	}
	c.executor.count(kind)
	if b.refused == "" && kind != guest.AskTool { // that is asked when a program names a tool
		b.dispatched = true
	}
	if b.refused != "" || !b.find(&q) {
		return engine.Undefined // the guest is stopped before it sees that, or the cell fails
	}
	c.network = c.network || q.network
	b.answer = b.encode(&q)
	size := 0
	for _, piece := range b.answer {
		size += jsontext.ASCIILen(piece)
	}
	return engine.Int(int32(size))
}

// What a restart-safe program may not do, as it might do it twice.
const (
	restartSafeResults = "results were not touched: a restart-safe program may not use results.save, load and delete; " +
		"run the program without restartSafe"
	restartSafeSession = "store and load were not called: a restart-safe program may not use the session store; " +
		"run the program without restartSafe"
)

// needsNoReplay fails a restart-safe cell.
func (b *bridge) needsNoReplay(text string) {
	if b.cell.source.RestartSafe {
		b.refused = text
	}
}

// give takes the value that the next question is about, or the text that stands for it.
func (b *bridge) give(encoded bool, value engine.Value) engine.Value {
	b.given = nil
	if value.IsUndefined() {
		return guest.OK
	}
	if encoded {
		text, err := b.cell.vm.AppendString(nil, value)
		if err != nil {
			return engine.Undefined
		}
		b.given = text
		return guest.OK
	}
	text, ok := b.cell.vm.AppendJSON(nil, value, engine.JSONStringify, int(b.cell.limits.inbox))
	if !ok {
		return guest.AsText
	}
	b.given = text
	return guest.OK
}

// giveAnswer puts the answer into the string that the guest has made for it.
func (b *bridge) giveAnswer(room engine.Value) {
	size := 0
	for _, piece := range b.answer {
		size += jsontext.ASCIILen(piece)
	}
	_ = b.cell.vm.Overwrite(room, size, func(chars []byte) { // after an error the guest finds spaces, which are no answer: it throws
		chars = chars[:0]
		for _, piece := range b.answer {
			chars = jsontext.AppendASCII(chars, piece)
		}
	})
	b.answer = nil
}

// find looks for the answer. What may take long, because something is made when it is first asked for or because a store
// has to be asked, is done on another goroutine: it goes on when the cell's time is up, for the next one that asks, and the
// executor waits for it at its end. The result is false if the cell's time is up.
func (b *bridge) find(q *question) bool {
	c := b.cell
	switch q.kind {
	case guest.AskTool, guest.AskSave, guest.AskLoad, guest.AskDelete:
		q.find(c.ctx)
		return true
	}
	found := *q
	returned, err := c.await(c.deadline, func() error {
		found.find(c.ctx)
		return found.err
	})
	if returned {
		*q = found
		q.err = err
	}
	return returned
}

// encode gives the answer as the guest wants it, see package guest: the text in pieces.
func (b *bridge) encode(q *question) [][]byte {
	switch {
	case q.err != nil:
		return errorAnswer(q.err)
	case q.json != nil:
		if len(q.json) > q.room {
			return errorAnswer(errTooLarge(q.room))
		}
		return [][]byte{[]byte("["), jsontext.QuoteUnsafeIntegers(q.json), []byte("]")}
	case q.tools != nil:
		text := []byte("[[")
		for i, tool := range q.tools {
			if i > 0 {
				text = append(text, ',')
			}
			text = append(strconv.AppendInt(text, int64(b.index(tool.name)), 10), ',')
			text = append(text, tool.text...)
		}
		return [][]byte{append(text, "]]"...)}
	case q.nothing:
		return [][]byte{[]byte("[]")}
	}
	text, err := marshal([]any{q.value})
	if err == nil && len(text) > q.room {
		err = errTooLarge(q.room)
	}
	if err != nil {
		return errorAnswer(err)
	}
	return [][]byte{jsontext.QuoteUnsafeIntegers(text)}
}

// errorAnswer is the answer that is an Error in the guest.
func errorAnswer(err error) [][]byte {
	name, code := "Error", any(nil)
	switch {
	case errors.Is(err, store.ErrSessionKey):
		name, code = "TypeError", "store_type"
	case errors.Is(err, store.ErrSessionRange):
		name, code = "RangeError", "store_range"
	case errors.Is(err, ErrResultsFull), errors.Is(err, ErrUnknownResult):
		code = CodeInvalidInput
	}
	text, _ := marshal([]any{nil, err.Error(), name, code})
	if code == nil {
		text, _ = marshal([]any{nil, err.Error()})
	}
	return [][]byte{text}
}

var errSessionHeadless = errors.New("store and load are not available in a headless run: return what a later program needs")

// question is one of the guest, with its answer. It is all that is needed to find the answer.
type question struct {
	executor *Executor
	session  *sessionBuffer
	kind     int32
	text     string // what it is about: a query, a path, a name or an id
	key      []byte // of a session value, as JSON
	tool     string // callable name, if it is about a tool
	given    []byte // JSON text; nil: none
	limit    int    // of a search; 0: the default
	room     int    // bytes that the answer may have
	network  bool   // the cell has content from the network; after find: also by the answer

	// The answer: one of these.
	value   any
	json    []byte // text of the value
	tools   []foundTool
	nothing bool  // undefined
	err     error // for the model
}

// foundTool is a tool as a handle shows it.
type foundTool struct {
	name string
	text []byte // JSON
}

func (q *question) find(ctx context.Context) {
	if q.session != nil && q.executor.opts.Headless {
		q.err = errSessionHeadless
		return
	}
	catalog, results := q.executor.catalog, q.executor.results
	switch q.kind {
	case guest.AskTool:
		entry, _ := catalog.Lookup(q.tool)
		q.value = entry
		q.told(entry)
	case guest.AskDescribe:
		entry, _ := catalog.Lookup(q.tool)
		q.told(entry)
		q.value, _ = catalog.Describe(q.tool)
	case guest.AskSearch:
		q.found(slices.Values(catalog.Search(q.text, q.limit)))
	case guest.AskAll:
		q.found(catalog.Entries())
	case guest.AskFiles:
		q.value = struct {
			Files []toolcatalog.FileInfo `json:"files"`
		}{catalog.Files(q.text)}
	case guest.AskFile:
		q.value, q.err = catalog.ReadFile(q.text)
	case guest.AskSkills:
		q.value = catalog.Skills()
	case guest.AskSkill:
		skill, err := catalog.ReadSkill(q.text)
		if err == nil && len(skill.Content) > q.room { // before it is encoded
			err = errTooLarge(q.room)
		}
		q.value, q.err = skill, err
	case guest.AskSkillSearch:
		q.value = catalog.SearchSkills(q.text, q.limit)
	case guest.AskSave:
		q.value, q.err = results.save(q.given, q.network)
	case guest.AskLoad:
		saved, err := results.load(q.text)
		q.json, q.err = saved.text, err
		q.network = q.network || saved.reference.Network
	case guest.AskDelete:
		q.value, q.err = true, results.Delete(q.text)
	case guest.AskStore:
		q.nothing = true
		q.err = q.session.store(ctx, q.key, store.SessionValue{JSON: q.given, Network: q.network})
	case guest.AskLoadStored:
		value, ok, err := q.session.load(ctx, q.key)
		q.json, q.nothing, q.err = value.JSON, !ok, err
		q.network = q.network || value.Network
	default:
		q.err = fmt.Errorf("there is no question %d", q.kind)
	}
}

// told marks the cell if the host does not vouch for what it is told of a tool.
func (q *question) told(tool toolcatalog.Entry) {
	q.network = q.network || tool.Source != toolcatalog.Native
}

// found encodes tools, as long as there is room.
func (q *question) found(entries iter.Seq[toolcatalog.Entry]) {
	q.tools = []foundTool{}
	left := q.room
	for entry := range entries {
		text, err := marshal(entry)
		if left -= len(text); err == nil && left < 0 {
			err = errTooLarge(q.room)
		}
		if err != nil {
			q.err = err
			return
		}
		q.told(entry)
		q.tools = append(q.tools, foundTool{entry.CallableName, text})
	}
}

func errTooLarge(room int) error {
	return fmt.Errorf("the answer has more than the %d bytes that a program may be given at once; ask for less", room)
}

// maxSearchLimit is above every limit of a search.
const maxSearchLimit = 1 << 20

// maxSubject bounds what a question is about: a query, a path or a name. It is longer than any that makes sense.
const maxSubject = 64 << 10

func (b *bridge) subject(v engine.Value) string {
	if !v.IsString() {
		return ""
	}
	text, _, err := b.cell.vm.AppendPrefix(nil, v, maxSubject)
	if err != nil {
		return ""
	}
	return string(text)
}

// index is the number by which the guest knows a tool.
func (b *bridge) index(callableName string) int {
	if b.indexes == nil {
		b.indexes = make(map[string]int, len(b.tools))
		for i, name := range b.tools {
			b.indexes[name] = i
		}
	}
	i, ok := b.indexes[callableName]
	if !ok {
		i = len(b.tools)
		b.tools = append(b.tools, callableName)
		b.indexes[callableName] = i
	}
	return i
}
