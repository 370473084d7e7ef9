package codemode

import (
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
