package codemode

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/source"
	"github.com/cellmode/cellmode/store"
	"github.com/cellmode/cellmode/toolcatalog"
)

// The form of a cell in a store: a head of recordHead bytes (the magic text, the SHA-256 of the rest, and the size of the
// JSON), then a record as JSON, then the snapshot.
const (
	recordMagic = "cellmode cell 1\n"
	recordHead  = len(recordMagic) + sha256.Size + 4
)

// record is a waiting cell but for its memory.
type record struct {
	Image   string `json:"image"` // engine.Image.ID
	Web     bool   `json:"web,omitempty"`
	Catalog string `json:"catalog"` // toolcatalog.Catalog.Fingerprint

	Title       string `json:"title"`
	Lines       int    `json:"lines"`
	RestartSafe bool   `json:"restartSafe,omitempty"`

	Promise engine.Value `json:"promise"`
	Settled bool         `json:"settled,omitempty"` // the program has returned
	Value   string       `json:"value,omitempty"`   // JSON, or a start of it
	Size    int          `json:"size,omitempty"`    // of the whole value

	Network    bool `json:"network,omitempty"`
	Dispatched bool `json:"dispatched,omitempty"`

	Tools  []string       `json:"tools,omitempty"`
	Counts [numKinds]int  `json:"counts"`
	Queue  []savedRequest `json:"queue,omitempty"`
	Flying []savedRequest `json:"flying,omitempty"`
	Yields []savedRequest `json:"yields,omitempty"`
	Timers []savedTimer   `json:"timers,omitempty"`
	Ready  []savedReply   `json:"ready,omitempty"`
	Failed []savedFailure `json:"failed,omitempty"`

	Output  savedOutput   `json:"output"`
	Session *savedSession `json:"session,omitempty"`
}

type savedRequest struct {
	Kind  requestKind     `json:"kind,omitempty"`
	N     int             `json:"n"`
	ID    int32           `json:"id"`
	Tool  int32           `json:"tool,omitempty"`
	Delay time.Duration   `json:"delay,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

func saveRequests(list []request) []savedRequest {
	saved := make([]savedRequest, len(list))
	for i, r := range list {
		saved[i] = savedRequest{r.kind, r.n, r.id, r.tool, r.delay, r.input}
	}
	return saved
}

type savedTimer struct {
	savedRequest
	At int64 `json:"at"` // Unix time in nanoseconds
}

type savedReply struct {
	Call int             `json:"call"`
	OK   bool            `json:"ok,omitempty"`
	Text json.RawMessage `json:"text"`
	Err  *savedError     `json:"err,omitempty"`
}

// savedError is what is kept of a call's error. What the tool's own was is not: it need not have a form.
type savedError struct {
	Code         toolcatalog.ErrorCode `json:"code"`
	Tool         string                `json:"tool"`
	CallableName string                `json:"callableName,omitempty"`
	EffectStatus string                `json:"effectStatus"`
	Message      string                `json:"message"`
}

type savedFailure struct {
	Thrown engine.Value `json:"thrown"`
	Tool   string       `json:"tool"`
	Err    *savedError  `json:"err"`
}

// maxSavedError bounds what is kept of the text of an error, in bytes. The program has its own.
const maxSavedError = 4 << 10

func saveError(err error) *savedError {
	if err == nil {
		return nil
	}
	call := (*toolcatalog.CallError)(nil)
	if !errors.As(err, &call) {
		return &savedError{Code: toolcatalog.CodeToolError, EffectStatus: toolcatalog.EffectStatusUnknown, Message: ellipsize(err.Error(), maxSavedError)}
	}
	return &savedError{call.Code, call.Tool, call.CallableName, call.EffectStatus, ellipsize(call.Message(), maxSavedError)}
}

func (s *savedError) error() error {
	if s == nil {
		return nil
	}
	return &toolcatalog.CallError{Code: s.Code, Tool: s.Tool, CallableName: s.CallableName, EffectStatus: s.EffectStatus, Err: errors.New(s.Message)}
}

func saveReply(r reply) savedReply {
	return savedReply{r.call, r.ok, r.text, saveError(r.err)}
}

// reply is the reply again, charged to the inbox of the cell as it was.
func (s *savedReply) reply(call *request, b *bridge) reply {
	r := reply{call: s.Call, id: call.id, ok: s.OK, text: s.Text, charge: int64(len(s.Text)), err: s.Err.error(), tool: call.tool, input: len(call.input)}
	b.inbox.Add(r.charge)
	return r
}

type savedOutput struct {
	Array   string `json:"array,omitempty"`
	Ends    []int  `json:"ends,omitempty"`
	Size    int    `json:"size,omitempty"`
	Cut     bool   `json:"cut,omitempty"`
	Entries int    `json:"entries,omitempty"` // the receipt
	Summary bool   `json:"summary,omitempty"`
	Of      int    `json:"of,omitempty"`
	Prefix  int    `json:"prefix,omitempty"`
}

// encodeRecord is the cell as a store keeps it.
func (c *cell) encodeRecord(snapshot *engine.Snapshot) ([]byte, error) {
	b, o := &c.bridge, &c.output
	r := record{
		Image: c.image.ID(), Web: c.image == c.executor.runtime.web, Catalog: c.executor.catalog.Fingerprint(),
		Title: c.source.Title, Lines: c.lines(), RestartSafe: c.source.RestartSafe,
		Promise: c.promise, Settled: c.settled, Value: string(c.value.text), Size: c.value.size, Network: c.network, Dispatched: b.dispatched,
		Tools: b.tools, Counts: b.counts, Queue: saveRequests(b.queue), Flying: saveRequests(b.flying), Yields: saveRequests(b.yields),
		Output: savedOutput{string(o.array), o.ends, o.size, o.cut, o.acked.entries, o.acked.summary, o.acked.size, o.acked.prefix},
	}
	for _, t := range b.timers {
		r.Timers = append(r.Timers, savedTimer{saveRequests([]request{t.request})[0], t.at.UnixNano()})
	}
	for _, reply := range b.ready {
		r.Ready = append(r.Ready, saveReply(reply))
	}
	for _, f := range b.failed {
		r.Failed = append(r.Failed, savedFailure{f.thrown, f.tool, saveError(f.err)})
	}
	if c.session != nil {
		r.Session = c.session.save()
	}
	text, err := marshal(r)
	if err != nil {
		return nil, fmt.Errorf("the program cannot be kept: %w", err)
	}
	if jsonDepth(text) > maxDepth {
		return nil, errTooDeep
	}
	data := make([]byte, recordHead, recordHead+len(text)+snapshot.Size())
	copy(data, recordMagic)
	binary.LittleEndian.PutUint32(data[recordHead-4:], uint32(len(text)))
	data = snapshot.AppendBinary(append(data, text...))
	sum := sha256.Sum256(data[recordHead-4:])
	copy(data[len(recordMagic):], sum[:])
	return data, nil
}

var errTooDeep = fmt.Errorf("it has a value in transit that is nested more than %d levels deep", maxDepth)

// openRecord takes the form apart. What is wrong with it is an ErrUnusableCell.
func openRecord(data []byte) (*record, *engine.Snapshot, error) {
	if !bytes.HasPrefix(data, []byte("cellmode cell ")) || len(data) < recordHead {
		return nil, nil, fmt.Errorf("%w: what the store has of it is no cell, or cut off", ErrUnusableCell)
	}
	if !bytes.HasPrefix(data, []byte(recordMagic)) {
		return nil, nil, fmt.Errorf("%w: it was kept by another version of this library", ErrUnusableCell)
	}
	if sum := sha256.Sum256(data[recordHead-4:]); !bytes.Equal(sum[:], data[len(recordMagic):recordHead-4]) {
		return nil, nil, fmt.Errorf("%w: what the store has of it is damaged", ErrUnusableCell)
	}
	size := int64(binary.LittleEndian.Uint32(data[recordHead-4:]))
	if size > int64(len(data)-recordHead) {
		return nil, nil, fmt.Errorf("%w: what the store has of it is damaged", ErrUnusableCell)
	}
	r := new(record)
	if err := json.Unmarshal(data[recordHead:recordHead+int(size)], r); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnusableCell, err)
	}
	snapshot, err := engine.ParseSnapshot(data[recordHead+int(size):])
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnusableCell, err)
	}
	return r, snapshot, r.check()
}

// check looks for what could not be used: numbers that are places in lists.
func (r *record) check() error {
	bad := func(what string) error { return fmt.Errorf("%w: its %s are damaged", ErrUnusableCell, what) }
	waits := []struct {
		list []savedRequest
		may  []requestKind
	}{{r.Queue, []requestKind{callRequest, timerRequest}}, {r.Flying, []requestKind{callRequest}}, {r.Yields, []requestKind{yieldRequest}}}
	total := len(r.Timers)
	for _, t := range r.Timers {
		if t.Kind != timerRequest {
			return bad("timers")
		}
	}
	for _, w := range waits {
		total += len(w.list)
		for _, q := range w.list {
			if !slices.Contains(w.may, q.Kind) || q.Kind == callRequest && (q.Tool < 0 || int(q.Tool) >= len(r.Tools)) {
				return bad("requests")
			}
		}
	}
	if total > MaxMaxPendingToolCalls+maxQueued {
		return bad("requests")
	}
	if r.Lines < 1 || r.Size < 0 || r.Settled && r.Size == len(r.Value) && !json.Valid([]byte(r.Value)) || r.Size < len(r.Value) {
		return bad("numbers")
	}
	o := r.Output
	if min(o.Size, o.Entries, o.Of, o.Prefix) < 0 || max(o.Size, o.Of, o.Prefix) > math.MaxInt32 || o.Cut && len(o.Ends) > 0 ||
		!o.Cut && o.Entries > len(o.Ends) {
		return bad("outputs")
	}
	last := 0
	for _, end := range o.Ends {
		if end <= last+1 || end > len(o.Array) {
			return bad("outputs")
		}
		entry := o.Array[last+1 : end]
		if !strings.HasPrefix(entry, textHead) && !strings.HasPrefix(entry, jsonHead) || !json.Valid([]byte(entry)) {
			return bad("outputs")
		}
		last = end
	}
	if !o.Cut && last != len(o.Array) {
		return bad("outputs")
	}
	return nil
}

// decodeRecord makes a cell of the executor out of what a store has kept. A cell of another engine or another catalog, or a
// damaged one, is an ErrUnusableCell.
func (e *Executor) decodeRecord(ctx context.Context, kept store.Cell) (*cell, error) {
	r, snapshot, err := openRecord(kept.Data)
	if err != nil {
		return nil, err
	}
	c := e.newCell(ctx, source.Cell{Title: r.Title, RestartSafe: r.RestartSafe})
	c.image = e.runtime.plain
	if r.Web {
		c.image = e.runtime.web
	}
	switch {
	case r.Image != c.image.ID():
		return nil, fmt.Errorf("%w: it was kept by another version of the engine or of this library: it can go on only there", ErrUnusableCell)
	case r.Catalog != e.catalog.Fingerprint():
		return nil, fmt.Errorf("%w: its tools were others than those of this catalog: it can go on only over the same tools", ErrUnusableCell)
	}
	c.id, c.slot, c.snapshot, c.fence = kept.ID, true, snapshot, kept.Fence
	c.codeLines, c.promise, c.network = r.Lines, r.Promise, r.Network
	c.settled, c.value = r.Settled, original{text: []byte(r.Value), size: r.Size}
	o := r.Output
	c.output = output{array: []byte(o.Array), ends: o.Ends, size: o.Size, cut: o.Cut, acked: receipt{o.Entries, o.Summary, o.Of, o.Prefix}}
	if r.Session != nil {
		c.session = r.Session.buffer(e)
	}
	return c, c.bridge.restore(r, kept.Replies)
}

func (b *bridge) restore(r *record, replies []store.Reply) error {
	b.dispatched, b.tools, b.counts = r.Dispatched, r.Tools, r.Counts
	b.makeReplies()
	one := func(q savedRequest) request {
		b.inputBytes += len(q.Input)
		return request{q.Kind, q.N, q.ID, q.Tool, q.Delay, q.Input}
	}
	for _, list := range []struct {
		to   *[]request
		from []savedRequest
	}{{&b.queue, r.Queue}, {&b.flying, r.Flying}, {&b.yields, r.Yields}} {
		for _, q := range list.from {
			*list.to = append(*list.to, one(q))
		}
	}
	for _, t := range r.Timers {
		b.timers = append(b.timers, timer{one(t.savedRequest), time.Unix(0, t.At)})
	}
	for _, f := range r.Failed {
		b.failed = append(b.failed, failedCall{f.Thrown, f.Tool, f.Err.error()})
	}
	settled := r.Ready
	for _, kept := range replies {
		var reply savedReply
		if err := json.Unmarshal(kept.Data, &reply); err != nil {
			return fmt.Errorf("%w: the reply of a call is damaged: %w", ErrUnusableCell, err)
		}
		settled = append(settled, reply)
	}
	b.recover(settled)
	return nil
}

// recover decides about the calls that were in flight when the cell was written: those whose replies were written down have
// ended; of the others a tool that says ReplaySafe is called again, and nobody knows what the rest have done.
func (b *bridge) recover(settled []savedReply) {
	ended := map[int]bool{}
	for _, saved := range settled {
		i := slices.IndexFunc(b.flying, func(r request) bool { return r.n == saved.Call })
		if i >= 0 && !ended[saved.Call] {
			ended[saved.Call] = true
			b.ready = append(b.ready, saved.reply(&b.flying[i], b))
		}
	}
	var again []request
	b.flying = slices.DeleteFunc(b.flying, func(r request) bool {
		if ended[r.n] {
			return false
		}
		if entry, _ := b.cell.executor.catalog.Lookup(b.tools[r.tool]); entry.ReplaySafe {
			again = append(again, r)
			return true
		}
		b.ready = append(b.ready, b.admit(&r, nil, &toolcatalog.CallError{
			Code: toolcatalog.CodeToolError, Tool: b.tools[r.tool], EffectStatus: toolcatalog.EffectStatusUnknown, Err: ErrInterrupted,
		}))
		return false
	})
	b.queue = append(again, b.queue...)
}
