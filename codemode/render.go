package codemode

import "fmt"

// deliver fills in the output, the value and the error text of a result, of which every other field is set, and notes what
// was shown for the next one. A result that the model's budget cannot fit at all becomes a failed one with
// [ErrModelBudget], and nothing is noted: a caller that wanted to park the cell must not, as nobody would learn of it.
func (c *cell) deliver(r Result, failure string) Result {
	d, b := c.delivery(r, failure)
	p, ok := d.choose(b, r.frame(), c.retention())
	if !ok {
		return c.unfit(r)
	}
	d.render(p, &r)
	d.output.acknowledge(p)
	return r
}

// fits tells whether deliver can fit the result of a cell that has not failed.
func (c *cell) fits(r Result) bool {
	d, b := c.delivery(r, "")
	_, ok := d.fit(b, r.frame())
	return ok
}

// delivery gives what there is to show in a result, and the room for it.
func (c *cell) delivery(r Result, failure string) (*delivery, budget) {
	b := budget{c.limits.output, c.executor.opts.Model.ceiling(r.NetworkContent)}
	d := &delivery{output: &c.output}
	if r.Status == StatusCompleted {
		d.value = &c.value
	}
	if failure != "" {
		d.failure = errorOriginal(failure, b.limit)
	}
	return d, b
}

// choose decides what to show, and saves a value that it would have to cut.
func (d *delivery) choose(b budget, others textSize, retention retention) (plan, bool) {
	p, ok := d.fit(b, others)
	if !ok || p.value != cutValue || !d.value.retainable() {
		return p, ok
	}
	saved, refused := retention.keep(d.value)
	if saved != nil {
		d.retained = saved
		if p, ok := d.fit(b, others); ok {
			return p, true
		}
		retention.release(saved.reference.ID)
		d.retained, refused = nil, &refusedReference
	}
	d.guidance = refused.guidance()
	if withReason, ok := d.fit(b, others); ok {
		p = withReason
	}
	return p, true
}

// frame is what the text of a result takes without its output, value and error.
func (r Result) frame() textSize {
	r.Output, r.Value, r.Error = nil, nil, ""
	text, _ := r.MarshalJSON()
	empty := `[]`
	switch r.Status {
	case StatusCompleted:
		empty = `[]null`
	case StatusFailed:
		empty = `[]""`
	}
	return sizeOf(text).plus(ascii(-len(empty)))
}

// unfit makes the failure of a result that the model cannot be shown. What failed before keeps its code.
func (c *cell) unfit(r Result) Result {
	if r.Status != StatusFailed {
		failed := c.newResult(StatusFailed)
		failed.Code, failed.FailurePhase = CodeInternal, c.hostPhase()
		r = failed
	}
	r.Error = modelBudgetText
	if r.err == nil {
		r.err = ErrModelBudget
	} else {
		r.err = fmt.Errorf("%w: %w", ErrModelBudget, r.err)
	}
	return r
}

// render puts into a result what a plan says.
func (d *delivery) render(p plan, r *Result) {
	switch from, whole := d.output.next(p); {
	case whole:
		r.Output = d.output.entries(from)
	case !d.output.shown(p):
		r.Output = []Output{{Truncated: d.original().marker(outputGuidance, p.prefix)}}
	}
	switch p.value {
	case wholeValue:
		r.Value = d.value.text
	case cutValue:
		r.Truncated = d.value.marker(p.guidance, p.valueMark)
		r.Value, _ = marshal(r.Truncated)
	case retainedValue:
		kept := p.retained.Retained
		r.Retained, r.Value = &kept, p.retained.text
	}
	if d.failure != nil {
		r.Error = d.failure.errorText(p.failure, p.failureCut)
	}
}

// next tells whether a plan shows entries, and from which on: those that no result has shown, or all after one that showed
// a marker.
func (o *output) next(p plan) (from int, whole bool) { return o.acked.entries, p.entries }

// shown tells whether the last result showed the very marker that a plan without entries wants to.
func (o *output) shown(p plan) bool {
	return o.acked == receipt{summary: true, size: o.size, prefix: p.prefix.end}
}

// acknowledge notes what a result has shown.
func (o *output) acknowledge(p plan) {
	if p.entries {
		o.acked = receipt{entries: len(o.ends)}
	} else {
		o.acked = receipt{summary: true, size: o.size, prefix: p.prefix.end}
	}
}
