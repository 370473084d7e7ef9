package codemode

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/toolcatalog"
)

// A legged cell is one that stops and goes on: what it emits is delivered in several results.
type legged struct {
	*testing.T
	*cell
}

func newLegged(t *testing.T, limit int, model Model) legged {
	limits := &limits{output: limit, inbox: 10 << 20}
	catalog, err := toolcatalog.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := &Executor{catalog: catalog, opts: ExecutorOptions{Model: model}, results: newResults(limits.inbox)}
	return legged{t, &cell{executor: e, limits: limits}}
}

func (l legged) emit(texts ...string) {
	for _, s := range texts {
		text, _ := marshal(s)
		l.output.add(true, text, len(text), l.limits.output)
	}
}

func (l legged) yield() Result {
	return l.deliver(Result{Status: StatusWaiting, RunID: "cm_1", Reason: ReasonYield}, "")
}

func (l legged) complete(value string) Result {
	l.keepValue([]byte(value))
	return l.deliver(Result{Status: StatusCompleted}, "")
}

func (l legged) marker(r Result) {
	l.Helper()
	if len(r.Output) != 1 || r.Output[0].Truncated == nil {
		l.Errorf("no marker: %.200s", r.Text())
	}
}

// What was delivered before is charged too: a later value is cut although it would fit by itself. A trial acknowledges nothing,
// and after a marker everything is shown once there is room.
func TestAllLegsAreCharged(t *testing.T) {
	t.Parallel()
	l := newLegged(t, 1024, Model{})
	l.emit(strings.Repeat("x", 600))
	l.yield()
	if r := l.complete(`"` + strings.Repeat("v", 600) + `"`); len(r.Value) > 512 || r.Value[0] != '{' {
		t.Errorf("the value has %d bytes", len(r.Value))
	}

	l = newLegged(t, 1024, Model{})
	l.emit("a", strings.Repeat("x", 600))
	d := &delivery{output: &l.output, failure: errorOriginal(strings.Repeat("e", 600), 1024)}
	p, _ := d.choose(budget{limit: 1024}, textSize{}, retention{})
	if d.output.acked != (receipt{}) || p.entries {
		t.Fatalf("a trial was acknowledged, or everything fits: %+v", p)
	}
	d.output.acknowledge(p)
	if r := l.yield(); len(r.Output) != 2 || r.Output[0].Text != "a" {
		t.Errorf("after a marker: %s", r.Text())
	}
}

// The limits of section 4.4 for a model.
func TestModelCeiling(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		model   Model
		network bool
		want    ceiling
	}{
		{Model{}, false, ceiling{}},
		{Model{ContextTokens: -1, MaxResultChars: -1}, false, ceiling{}},
		{Model{}, true, ceiling{20_000, 0}},
		{Model{ContextTokens: 1}, false, ceiling{0, 1024}},
		{Model{ContextTokens: 1001}, false, ceiling{1200, 1024}},
		{Model{ContextTokens: 13_333}, false, ceiling{15_996, 13_333}},
		{Model{ContextTokens: 13_334}, false, ceiling{16_000, 13_334}},
		{Model{ContextTokens: 99_999}, false, ceiling{16_000, 99_999}},
		{Model{ContextTokens: 100_000}, false, ceiling{32_000, 100_000}},
		{Model{ContextTokens: 199_999}, true, ceiling{20_000, 199_999}},
		{Model{ContextTokens: 200_000}, false, ceiling{64_000, 200_000}},
		{Model{ContextTokens: 1 << 62}, false, ceiling{64_000, 1 << 62}},
		{Model{ContextTokens: 200_000, MaxResultChars: 2000}, false, ceiling{2000, 200_000}},
		{Model{ContextTokens: 8000, MaxResultChars: 1 << 40}, false, ceiling{9600, 8000}},
		{Model{MaxResultChars: 30_000}, true, ceiling{20_000, 0}},
	} {
		if got := test.model.ceiling(test.network); got != test.want {
			t.Errorf("%+v, %t: %+v, want %+v", test.model, test.network, got, test.want)
		}
	}
}

// A limit is the most that there may be.
func TestCeilingFits(t *testing.T) {
	t.Parallel()
	size := textSize{bytes: 300, units: 200, weight: 400}
	for c, want := range map[ceiling]bool{
		{}: true, {200, 400}: true, {199, 400}: false, {200, 399}: false, {0, 400}: true, {200, 0}: true, {0, 399}: false, {199, 0}: false,
	} {
		if c.fits(size) != want {
			t.Errorf("%+v: %t", c, !want)
		}
	}
}

// Of what does not fit the model, as much is shown as fits; what surrounds it is whole.
func TestModelBudgetIsUsed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, fill string
		model      Model
		network    bool
		units      int // that the result may take
		weight     int
	}{
		{"characters", "x", Model{MaxResultChars: 2000}, false, 2000, 0},
		{"surrogate pairs", "😀", Model{MaxResultChars: 2000}, false, 2000, 0},
		{"escapes", `"`, Model{MaxResultChars: 2000}, false, 2000, 0},
		{"weight", "x", Model{ContextTokens: 3000}, false, 0, 3000},
		{"weight of ideographs", "漢", Model{ContextTokens: 3000}, false, 0, 3000},
		{"network", "é", Model{}, true, 20_000, 0},
	} {
		l := newLegged(t, 65_536, test.model)
		l.emit(strings.Repeat(test.fill, 40_000))
		r := l.deliver(Result{Status: StatusFailed, NetworkContent: test.network}, "Error: "+strings.Repeat(test.fill, 40_000))
		size := measured(r.Text())
		got, limit := size.units, test.units
		if limit == 0 {
			got, limit = size.weight, test.weight
		}
		if got > limit || got < limit-24 { // of the halves, each wastes less than a character
			t.Errorf("%s: the text takes %d of %d", test.name, got, limit)
		}
		l.marker(r)
		if !strings.HasSuffix(r.Error, errorSuffix) || r.NetworkContent != test.network {
			t.Errorf("%s: %.100s", test.name, r.Text())
		}
	}
}

// A value of which the model's budget shows only a part is retained, in its reference if even that is short, and dropped again if
// nobody could learn of it.
func TestRetainedForTheModel(t *testing.T) {
	t.Parallel()
	rows := `[` + strings.Repeat(`{"name":"row","n":[1,2,3]},`, 200) + `0]`
	retained, released := 0, 0
	for chars := 200; chars < 6000; chars += 7 {
		l := newLegged(t, 65_536, Model{MaxResultChars: chars})
		r := l.complete(rows)
		kept := l.executor.results.List()
		var shown Retained
		switch {
		case string(r.Value) == rows:
			if chars < len(rows) || len(kept) > 0 {
				t.Fatalf("%d characters: whole, and %d are kept", chars, len(kept))
			}
			continue
		case r.Status == StatusFailed:
			if !errors.Is(r.Err(), ErrModelBudget) || len(kept) > 0 || retained > 0 {
				t.Fatalf("%d characters: %s, and %d are kept", chars, r.Text(), len(kept))
			}
			continue
		case json.Unmarshal(r.Value, &shown) == nil && shown.Reference.ID != "":
			if len(kept) != 1 || kept[0].ID != shown.Reference.ID || shown.Reference.Count != 201 || shown.Reference.Bytes != len(rows) {
				t.Fatalf("%d characters: %s, and %+v are kept", chars, r.Value, kept)
			}
			retained++
		default:
			if len(kept) > 0 || !strings.Contains(string(r.Value), `"guidance":"not retained: `) && !strings.Contains(string(r.Value), outputGuidance) {
				t.Fatalf("%d characters: %s, and %d are kept", chars, r.Value, len(kept))
			}
			released++
		}
		if n := measured(r.Text()).units; n > chars {
			t.Fatalf("%d characters for %d", n, chars)
		}
	}
	if retained == 0 || released == 0 {
		t.Errorf("%d were retained, %d were not", retained, released)
	}
}

// A result of which the model cannot even be shown the status is a failure that says so, with the cause that it had before.
func TestModelBudgetWithoutRoom(t *testing.T) {
	t.Parallel()
	before := errors.New("the cause")
	l := newLegged(t, 1024, Model{MaxResultChars: 50})
	l.emit("lost")
	r := l.deliver(Result{Status: StatusFailed, Code: CodeTimeout, err: before}, "code mode timeout exceeded")
	if r.Code != CodeTimeout || r.Error != modelBudgetText || !errors.Is(r.Err(), ErrModelBudget) || !errors.Is(r.Err(), before) || len(r.Output) > 0 {
		t.Errorf("got %s: %v", r.Text(), r.Err())
	}
	if l.output.acked != (receipt{}) {
		t.Errorf("what was not shown is acknowledged: %+v", l.output.acked)
	}
}
