package codemode

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
	"github.com/cellmode/cellmode/internal/jsontext"
	"github.com/cellmode/cellmode/toolcatalog"
)

// ask answers a question of the guest about its tools, their declarations and the skills. The answer waits until the guest has
// made room for it.
func (b *bridge) ask(kind int32, subject, limit engine.Value) engine.Value {
	q := question{catalog: b.cell.executor.catalog, kind: kind, text: b.subject(subject), room: int(b.cell.limits.inbox)}
	if n, ok := subject.AsInt(); ok && n >= 0 && int(n) < len(b.tools) {
		q.tool = b.tools[n]
	}
	if most := limit.AsFloat(); most > 0 {
		q.limit = int(min(most, maxSearchLimit))
	}
	if kind == guest.AskSearch {
		q.limit = b.cell.limits.searchLimit(q.limit)
	}
	b.cell.executor.count(kind)
	if !b.find(&q) {
		return engine.Undefined // the guest is stopped before it sees that
	}
	text, err := b.encode(&q)
	if err != nil {
		text, _ = marshal([]any{nil, err.Error()})
	}
	b.answer = jsontext.EscapeNonASCII(jsontext.QuoteUnsafeIntegers(text))
	return engine.Int(int32(len(b.answer)))
}

// giveAnswer puts the answer into the string that the guest has made for it.
func (b *bridge) giveAnswer(room engine.Value) {
	_ = b.cell.vm.Overwrite(room, b.answer) // the guest's spaces are no answer: it throws
	b.answer = nil
}

// find looks for the answer. What may take long, because something is made when it is first asked for, is done on another
// goroutine: it goes on when the cell's time is up, for the next one that asks, and the executor waits for it at its end. The result
// is false if the cell's time is up.
func (b *bridge) find(q *question) bool {
	if q.kind == guest.AskTool {
		q.find()
		return true
	}
	c := b.cell
	found := make(chan *question, 1)
	running := &c.executor.running
	running.Add(1)
	go func(q question) {
		defer running.Done()
		q.find()
		found <- &q
	}(*q)
	expired := time.NewTimer(time.Until(c.deadline))
	defer expired.Stop()
	select {
	case done := <-found:
		*q = *done
		return true
	case <-expired.C:
	case <-c.ctx.Done():
	}
	return false
}

// encode gives the answer as the guest wants it: [value], or [null, message].
func (b *bridge) encode(q *question) ([]byte, error) {
	if q.err != nil {
		return nil, q.err
	}
	if q.tools == nil {
		text, err := marshal([]any{q.value})
		if err == nil && len(text) > q.room {
			err = errTooLarge(q.room)
		}
		return text, err
	}
	text := []byte("[[")
	for i, tool := range q.tools {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(strconv.AppendInt(text, int64(b.index(tool.name)), 10), ',')
		text = append(text, tool.text...)
	}
	return append(text, "]]"...), nil
}

// question is one of the guest, with its answer. It is all that is needed to find the answer.
type question struct {
	catalog *toolcatalog.Catalog
	kind    int32
	text    string // what it is about: a query, a path or a name
	tool    string // callable name, if it is about a tool
	limit   int    // of a search; 0: the default
	room    int    // bytes that the answer may have

	value any
	tools []foundTool // for searches, instead of value; not nil
	err   error       // for the model
}

// foundTool is a tool as a handle shows it.
type foundTool struct {
	name string
	text []byte // JSON
}

func (q *question) find() {
	c := q.catalog
	switch q.kind {
	case guest.AskTool:
		q.value, _ = c.Lookup(q.tool)
	case guest.AskDescribe:
		q.value, _ = c.Describe(q.tool)
	case guest.AskSearch:
		q.found(slices.Values(c.Search(q.text, q.limit)))
	case guest.AskAll:
		q.found(c.Entries())
	case guest.AskFiles:
		q.value = struct {
			Files []toolcatalog.FileInfo `json:"files"`
		}{c.Files(q.text)}
	case guest.AskFile:
		q.value, q.err = c.ReadFile(q.text)
	case guest.AskSkills:
		q.value = c.Skills()
	case guest.AskSkill:
		skill, err := c.ReadSkill(q.text)
		if err == nil && len(skill.Content) > q.room { // before it is encoded
			err = errTooLarge(q.room)
		}
		q.value, q.err = skill, err
	case guest.AskSkillSearch:
		q.value = c.SearchSkills(q.text, q.limit)
	default:
		q.err = fmt.Errorf("there is no question %d", q.kind)
	}
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
