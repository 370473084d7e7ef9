package codemode

// budget is what a result may take.
type budget struct {
	limit   int // bytes of output, value and error together
	ceiling ceiling
}

// delivery is what there is to show in one result, before any of it is cut.
type delivery struct {
	output   *output
	value    *original // nil for none
	failure  *original // nil for none
	guidance []string  // for a marker in place of the value: the first one is used that leaves the marker within its allowance
	retained *retained // stands for the value, if there is one

	emitted *original // the output as an original; nil until it has to be cut
	sizes   map[int]textSize
}

// plan says what of a delivery is shown. It is a few numbers: to try one costs no rendering.
type plan struct {
	failure    mark // as much of the error
	failureCut bool

	entries bool // the whole output, else a marker with this prefix
	prefix  mark

	value     valueForm
	valueMark mark // of a marker's prefix
	guidance  string
	retained  standIn
}

type valueForm int

const (
	noValue valueForm = iota
	wholeValue
	cutValue
	retainedValue
)

// divide shares limit bytes between output, value and error. One that is short leaves its rest to the others. What stands for
// something that was cut, a marker without any prefix or a bare suffix, may not fit a limit below [MinMaxOutputBytes]: it is
// shown all the same, unless the thing itself is smaller.
func (d *delivery) divide(limit int) (p plan) {
	o, v := d.output.size, 0
	switch {
	case d.retained != nil:
		v = d.retained.size
	case d.value != nil:
		v = d.value.size
	}
	left := limit
	if d.failure != nil {
		p.failure, p.failureCut = d.failure.fitError(left - min(o+v, left/2))
		left = max(0, left-d.failureSize(p).bytes)
	}

	reserve := left / 2
	if d.retained != nil {
		if least := len(d.retained.smallest.text); minOutputMarker(o)+least <= left {
			reserve = max(reserve, least)
		}
	}
	allowance := left - min(v, reserve)
	p.entries = !d.output.cut && o <= max(allowance, minOutputMarker(o))
	charged := o
	if !p.entries {
		p.prefix = d.original().fitMarker(allowance-2, outputGuidance)
		charged = 2 + markerSize(o, outputGuidance, p.prefix).bytes
	}

	left = max(0, left-charged)
	switch {
	case d.retained != nil:
		p.value, p.retained = retainedValue, d.retained.fit(left)
	case d.value == nil:
	case d.value.whole() && v <= max(left, emptyMarker(v, outputGuidance)):
		p.value = wholeValue
	default:
		p.value, p.guidance = cutValue, outputGuidance
		for _, guidance := range d.guidance {
			if emptyMarker(v, guidance) <= left {
				p.guidance = guidance
				break
			}
		}
		p.valueMark = d.value.fitMarker(left, p.guidance)
	}
	return p
}

func (d *delivery) original() *original {
	if d.emitted == nil {
		d.emitted = d.output.original()
	}
	return d.emitted
}

// fit gives the plan for the largest part of the limit with which the text of the result keeps below the ceiling, given what
// its other fields take. It is false if there is none.
func (d *delivery) fit(b budget, others textSize) (best plan, ok bool) {
	fits := func(limit int) (plan, bool) {
		p := d.divide(limit)
		return p, b.ceiling == (ceiling{}) || b.ceiling.fits(others.plus(d.size(p)))
	}
	if best, ok = fits(b.limit); ok {
		return best, true
	}
	if best, ok = fits(0); !ok {
		return best, false
	}
	for low, high := 0, b.limit-1; low < high; {
		middle := high - (high-low)/2
		if p, ok := fits(middle); ok {
			best, low = p, middle
		} else {
			high = middle - 1
		}
	}
	return best, true
}

// size is what the output, the value and the error of a plan take in the text of the result.
func (d *delivery) size(p plan) textSize {
	e := ascii(2)
	switch from, whole := d.output.next(p); {
	case whole:
		e = e.plus(d.once(from, func() textSize { return sizeOf(d.output.encoded(from, len(d.output.ends))) }))
	case !whole && !d.output.shown(p):
		e = e.plus(markerSize(d.output.size, outputGuidance, p.prefix))
	}
	switch p.value {
	case wholeValue:
		e = e.plus(d.once(-1, func() textSize { return sizeOf(d.value.text) }))
	case cutValue:
		e = e.plus(markerSize(d.value.size, p.guidance, p.valueMark))
	case retainedValue:
		e = e.plus(sizeOf(p.retained.text))
	}
	if d.failure != nil {
		e = e.plus(d.failureSize(p))
	}
	return e
}

// once keeps what does not depend on a plan: the size of the entries from one on, and that of the value.
func (d *delivery) once(key int, measure func() textSize) textSize {
	e, ok := d.sizes[key]
	if !ok {
		e = measure()
		if d.sizes == nil {
			d.sizes = map[int]textSize{}
		}
		d.sizes[key] = e
	}
	return e
}

func (d *delivery) failureSize(p plan) textSize {
	e := p.failure.plus(ascii(2))
	if p.failureCut {
		e = e.plus(ascii(len(errorSuffix)))
	}
	return e
}
