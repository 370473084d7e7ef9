package codemode

import (
	"fmt"
	"strings"
	"testing"
)

// legs drives the output of one cell over several deliveries, as Exec and its waits do.
type legs struct {
	t       *testing.T
	emitter emitter
	limit   int
}

func newLegs(t *testing.T, limit int) *legs {
	return &legs{t: t, emitter: emitter{limit: limit}, limit: limit}
}

// deliver makes a waiting result, or a final one with a value or a failure.
func (l *legs) deliver(value, failure string) Result {
	l.t.Helper()
	result := Result{Status: StatusWaiting, RunID: "cm_1", Reason: ReasonYield}
	d := &delivery{output: &l.emitter.output}
	switch {
	case failure != "":
		result.Status, d.failure = StatusFailed, errorOriginal(failure, l.limit)
	case value != "":
		result.Status, d.value = StatusCompleted, &original{text: []byte(value), size: len(value)}
	}
	p, ok := d.choose(budget{limit: l.limit}, result.frame(), retention{refused: &refusedUnavailable})
	if !ok {
		l.t.Fatal("nothing fits")
	}
	d.render(p, &result)
	l.emitter.acknowledge(p)
	return result
}

func shownTexts(r Result) (texts []string) {
	for _, o := range r.Output {
		texts = append(texts, o.Text)
	}
	return texts
}

// C007: what a later leg truncates is the original output of all legs, and the numbers are those of its compact JSON.
func TestC007(t *testing.T) {
	t.Parallel()
	l := newLegs(t, 1024)
	l.emitter.text(strings.Repeat("🦀", 150))
	if n := l.emitter.size; n != 627 {
		t.Errorf("the first leg has %d bytes", n)
	}
	first := l.deliver("", "")
	if got := shownTexts(first); len(got) != 1 || got[0] != strings.Repeat("🦀", 150) || first.Status != StatusWaiting {
		t.Errorf("the first leg shows %s", first.Text())
	}
	l.emitter.text(strings.Repeat("ß", 250))
	last := l.deliver("true", "")
	if len(last.Output) != 1 || last.Output[0].Truncated == nil {
		t.Fatalf("the second leg shows %s", last.Text())
	}
	m := last.Output[0].Truncated
	if n := len(m.Prefix) + m.OmittedBytes; n != 1153 || !strings.HasPrefix(m.Prefix, `[{"type":"text","text":"🦀`) {
		t.Errorf("prefix and omitted bytes are %d, the prefix is %.40s", n, m.Prefix)
	}
	shown, _ := marshal(last.Output)
	if n := len(shown) + len(last.Value); n > 1024 || string(last.Value) != "true" || last.Status != StatusCompleted {
		t.Errorf("%d bytes are shown: %s", n, last.Text())
	}
}

// C051: each leg shows what is new, once and in order; what was emitted before a failure is shown with it.
func TestC051(t *testing.T) {
	t.Parallel()
	l := newLegs(t, DefaultMaxOutputBytes)
	for i, text := range []string{"p1", "p2", "p3"} {
		l.emitter.text(text)
		failure := ""
		if i == 2 {
			failure = "Error: end"
		}
		if got := shownTexts(l.deliver("", failure)); len(got) != 1 || got[0] != text {
			t.Errorf("leg %d shows %q", i+1, got)
		}
	}
}

// An unchanged summary is not repeated; a changed one stands for all of the same original; once everything fits again it is shown whole.
func TestSummariesOfSeveralLegs(t *testing.T) {
	t.Parallel()
	l := newLegs(t, 1024)
	l.emitter.text(strings.Repeat("x", 5000))
	first := l.deliver("", "")
	if len(first.Output) != 1 || first.Output[0].Truncated == nil {
		t.Fatalf("the first leg shows %s", first.Text())
	}
	if second := l.deliver("", ""); len(second.Output) != 0 {
		t.Errorf("nothing is new, and the second leg shows %s", second.Text())
	}
	l.emitter.text("more")
	third := l.deliver("", "")
	if len(third.Output) != 1 || third.Output[0].Truncated == nil || third.Output[0].Truncated.OmittedBytes <= first.Output[0].Truncated.OmittedBytes {
		t.Errorf("after more output, the third leg shows %s", third.Text())
	}
	// The reservation for an error makes the summary shorter, so it is shown again.
	last := l.deliver("", "Error: "+strings.Repeat("y", 400))
	if len(last.Output) != 1 || len(last.Output[0].Truncated.Prefix) >= len(third.Output[0].Truncated.Prefix) {
		t.Errorf("the last leg shows %s", last.Text())
	}

	// Whole output, then so large an error that the output becomes a summary, is a summary of all of it.
	l = newLegs(t, 1024)
	l.emitter.text(strings.Repeat("z", 700))
	if first := l.deliver("", ""); len(first.Output) != 1 || first.Output[0].Truncated != nil {
		t.Errorf("got %s", first.Text())
	}
	failed := l.deliver("", "Error: cause: disk full"+strings.Repeat("\n", 5000))
	if len(failed.Output) != 1 || failed.Output[0].Truncated == nil || failed.Output[0].Truncated.OmittedBytes+len(failed.Output[0].Truncated.Prefix) != l.emitter.size {
		t.Errorf("got %s", failed.Text())
	}
	if !strings.HasPrefix(failed.Error, "Error: cause: disk full") || !strings.HasSuffix(failed.Error, "[error truncated]") {
		t.Errorf("the error is %.60q", failed.Error)
	}
}

// Output of exactly the limit is shown whole, and of one byte more as a marker.
func TestOutputOfTheLimit(t *testing.T) {
	t.Parallel()
	for over := range 2 {
		l := newLegs(t, 1024)
		l.emitter.text(strings.Repeat("x", 1024+over-len(`[{"type":"text","text":""}]`)))
		r := l.deliver("", "")
		if len(r.Output) != 1 || (r.Output[0].Truncated != nil) != (over == 1) {
			t.Errorf("%d bytes: %s", 1024+over, r.Text())
		}
	}
}

// newDelivery is output, a value and an error of so many bytes, each of them JSON text of one string; 0 for none.
func newDelivery(output, value, failure int) *delivery {
	e := &emitter{limit: 1 << 20}
	if output > 0 {
		e.text(strings.Repeat("o", output-len(`[{"type":"text","text":""}]`)))
	}
	d := &delivery{output: &e.output}
	if value > 0 {
		d.value = &original{text: []byte(`"` + strings.Repeat("v", value-2) + `"`), size: value}
	}
	if failure > 0 {
		d.failure = errorOriginal(strings.Repeat("e", failure-2), 1<<20)
	}
	return d
}

// shares gives the bytes that a plan shows of each.
func (d *delivery) shares(p plan) (output, value, failure int) {
	all := d.size(p).bytes - 2
	if d.failure != nil {
		failure = d.failureSize(p).bytes
	}
	switch p.value {
	case wholeValue:
		value = len(d.value.text)
	case cutValue:
		value = markerSize(d.value.size, p.guidance, p.valueMark).bytes
	case retainedValue:
		value = len(p.retained.text)
	}
	if d.output.size > 0 {
		output = all - value - failure + 2
	}
	return output, value, failure
}

// Section 4.3: half for each of two, and what one does not need is the other's.
func TestDivide(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ output, value, failure, wantOutput, wantValue, wantFailure int }{
		{0, 0, 0, 0, 0, 0},
		{100, 100, 0, 100, 100, 0},
		{500, 500, 0, 500, 500, 0},
		{600, 400, 0, 600, 400, 0},
		{601, 400, 0, 600, 400, 0},
		{600, 401, 0, 599, 401, 0},
		{501, 501, 0, 500, 500, 0},
		{5000, 5000, 0, 500, 500, 0},
		{5000, 300, 0, 700, 300, 0},
		{300, 5000, 0, 300, 700, 0},
		{5000, 0, 0, 1000, 0, 0},
		{0, 5000, 0, 0, 1000, 0},
		{5000, 0, 5000, 500, 0, 500},
		{5000, 0, 400, 600, 0, 400},
		{400, 0, 5000, 400, 0, 600},
		{0, 0, 5000, 0, 0, 1000},
		{0, 0, 1000, 0, 0, 1000},
		{499, 0, 501, 499, 0, 501},
		{499, 0, 502, 499, 0, 501},
		{1001, 0, 0, 1000, 0, 0},
		{0, 1001, 0, 0, 1000, 0},
	} {
		d := newDelivery(test.output, test.value, test.failure)
		output, value, failure := d.shares(d.divide(1000))
		if output != test.wantOutput || value != test.wantValue || failure != test.wantFailure {
			t.Errorf("%+v: output %d, value %d, error %d", test, output, value, failure)
		}
	}
}

// Where not even that has room which stands for a thing, it is shown all the same; but a thing that is smaller, itself.
func TestDivideWithoutRoom(t *testing.T) {
	t.Parallel()
	least := minOutputMarker(5000)
	for _, test := range []struct{ output, value, failure, wantOutput, wantValue, wantFailure int }{
		{50, 0, 0, 50, 0, 0},
		{minOutputMarker(100), 0, 0, minOutputMarker(100), 0, 0},
		{5000, 0, 0, least, 0, 0},
		{0, 50, 0, 0, 50, 0},
		{0, emptyMarker(100, outputGuidance), 0, 0, emptyMarker(100, outputGuidance), 0},
		{0, 5000, 0, 0, least - 2, 0},
		{5000, 5000, 0, least, least - 2, 0},
		{0, 0, 10, 0, 0, 10},
		{0, 0, 2 + len(errorSuffix), 0, 0, 2 + len(errorSuffix)},
		{0, 0, 5000, 0, 0, 2 + len(errorSuffix)},
	} {
		d := newDelivery(test.output, test.value, test.failure)
		output, value, failure := d.shares(d.divide(0))
		if output != test.wantOutput || value != test.wantValue || failure != test.wantFailure {
			t.Errorf("%+v: output %d, value %d, error %d", test, output, value, failure)
		}
	}
}

// Output leaves room for the identity of a retained value, as long as its own marker has room beside it.
func TestDivideKeepsRoomForIdentity(t *testing.T) {
	t.Parallel()
	kept := newRetained(newReference(newResultID(), []byte(`[`+strings.Repeat(`{"name":"row","n":[1,2,3]},`, 200)+`0]`)))
	least := len(kept.smallest.text)
	for _, output := range []int{0, 100, 200, 5000} {
		marker := min(output, minOutputMarker(output))
		for limit := range 1500 {
			d := newDelivery(output, 5402, 0)
			d.retained = kept
			p := d.divide(limit)
			reserve := limit / 2
			if minOutputMarker(output)+least <= limit {
				reserve = max(reserve, least)
			}
			allowance := limit - min(kept.size, reserve)
			shownOutput, shownValue, _ := d.shares(p)
			if want := min(output, max(allowance, marker)); shownOutput > want || shownOutput < want-2 {
				t.Fatalf("limit %d: output takes %d of %d, want %d", limit, shownOutput, output, want)
			}
			if want := min(kept.size, max(limit-shownOutput, least)); shownValue > want || shownValue < want-2 {
				t.Fatalf("limit %d, output %d: the reference takes %d, want %d", limit, shownOutput, shownValue, want)
			}
			if got := p.retained.Reference; got.ID != kept.reference.ID || got.Bytes != kept.reference.Bytes || got.Count != kept.reference.Count {
				t.Fatalf("limit %d: the identity is %+v", limit, got)
			}
		}
	}
}

// Why a value was not retained is said in as many words as there is room for.
func TestGuidanceThatFits(t *testing.T) {
	t.Parallel()
	for _, refused := range []refusal{refusedRestartSafe, refusedFull, refusedUnavailable, refusedReference, refusedSize(1 << 20)} {
		guidance := refused.guidance()
		d := newDelivery(0, 5000, 0)
		d.guidance = guidance
		sizes := []int{emptyMarker(5000, guidance[0]), emptyMarker(5000, guidance[1])}
		for limit, want := range map[int]string{
			5000 - 1: guidance[0], sizes[0]: guidance[0], sizes[0] - 1: guidance[1], sizes[1]: guidance[1], sizes[1] - 1: outputGuidance, 0: outputGuidance,
		} {
			p := d.divide(limit)
			if p.value != cutValue || p.guidance != want {
				t.Errorf("limit %d: %q, want %q", limit, p.guidance, want)
			}
		}
		for _, text := range guidance {
			if !strings.HasPrefix(text, "not retained: ") {
				t.Errorf("%q", text)
			}
		}
		if fmt.Sprint(guidance[1:]) == fmt.Sprint(guidance[:1]) || len(guidance[1]) >= len(outputGuidance) {
			t.Errorf("%q is not short", guidance[1])
		}
	}
}
