package codemode

import (
	"bytes"
	"errors"
	"fmt"
)

// Retained stands as the value of a completed cell whose object or array could not be shown whole ([Result].Retained): it was
// saved in the results store, and a later cell loads it by the id of its reference. Shape and preview of the reference may be
// shorter than those of [Results.List]; its identity is complete.
type Retained struct {
	Truncated bool      `json:"truncated"` // always true
	Reference Reference `json:"reference"`
	Guidance  string    `json:"guidance"`
}

const retainedGuidance = "value saved for this run: read what you need with await results.load(reference.id), and return a smaller projection"

// retention is how the value of a cell can be kept when it cannot be shown.
type retention struct {
	limit   int      // bytes of a value
	refused *refusal // why no value of this cell is kept; nil if one can be
	save    func(value []byte) (Reference, error)
	release func(id string)
}

// refusal says why a value was not retained, in two lengths.
type refusal struct{ long, short string }

func (r refusal) guidance() []string {
	const advice = "; return a smaller projection, or save parts of it"
	return []string{"not retained: " + r.long + advice, "not retained: " + r.short}
}

var (
	refusedRestartSafe = refusal{"a restart-safe cell saves no results", "restart-safe"}
	refusedHeadless    = refusal{"a headless program keeps nothing by itself", "headless"}
	refusedFull        = refusal{"the results store is full, and what it holds is unchanged (results.delete makes room)", "results store is full"}
	refusedUnavailable = refusal{"the results store is not available", "no results store"}
	refusedReference   = refusal{"its reference exceeds the output budget", "reference too large"}
)

func refusedSize(limit int) refusal {
	return refusal{fmt.Sprintf("it exceeds the data allowance of %d bytes", limit), "exceeds data allowance"}
}

// retainable tells whether a value is of the kind that is retained.
func (o *original) retainable() bool {
	return len(o.text) > 0 && (o.text[0] == '{' || o.text[0] == '[')
}

// keep saves a value.
func (r retention) keep(value *original) (*retained, *refusal) {
	if r.refused != nil {
		return nil, r.refused
	}
	reference, err := Reference{}, errResultTooLarge
	if value.whole() {
		reference, err = r.save(value.text)
	}
	switch {
	case errors.Is(err, errResultTooLarge):
		refused := refusedSize(r.limit)
		return nil, &refused
	case errors.Is(err, ErrResultsFull):
		return nil, &refusedFull
	case err != nil:
		return nil, &refusedUnavailable
	}
	return newRetained(reference), nil
}

// retained is a value that was saved.
type retained struct {
	reference Reference
	size      int // bytes of what stands for the value
	frame     int // bytes of that around the reference
	smallest  standIn
}

// standIn is what stands for a retained value.
type standIn struct {
	Retained
	text []byte // its JSON
}

func newRetained(reference Reference) *retained {
	r := &retained{reference: reference, smallest: newStandIn(reference.identity())}
	r.size = len(newStandIn(reference).text)
	r.frame = r.size - reference.size()
	return r
}

// fit gives what stands for the value, in no more than allowance bytes unless its identity takes more.
func (r *retained) fit(allowance int) standIn {
	if reference, ok := r.reference.fit(allowance - r.frame); ok {
		return newStandIn(reference)
	}
	return r.smallest
}

func newStandIn(reference Reference) standIn {
	s := standIn{Retained: Retained{Truncated: true, Reference: reference, Guidance: retainedGuidance}}
	s.text, _ = marshal(s.Retained)
	return s
}

// keepValue keeps of a returned value what a result can show, and the whole of one that can be retained.
func (c *cell) keepValue(text []byte) {
	c.value = original{text: text, size: len(text)}
	most := c.limits.output
	if r := c.retention(); r.refused == nil && c.value.retainable() {
		most = max(most, r.limit)
	}
	if len(text) > most {
		c.value.text = bytes.Clone(text[:runeStart(text, c.limits.output)])
	}
}
