package codemode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// emitter is an output beside all that was ever emitted.
type emitter struct {
	output
	limit  int
	pieces []string // JSON of the entries
}

// emit adds text or JSON the way a cell does: of what is large, no more than a start.
func (e *emitter) emit(isText bool, text []byte) {
	head := jsonHead
	if isText {
		head = textHead
	}
	e.pieces = append(e.pieces, head+string(text)+"}")
	e.add(isText, text[:runeStart(text, min(len(text), e.limit+1))], len(text), e.limit)
}

func (e *emitter) text(s string) {
	text, _ := marshal(s)
	e.emit(true, text)
}

// array is the compact JSON of all that was emitted.
func (e *emitter) array() string {
	if len(e.pieces) == 0 {
		return ""
	}
	return "[" + strings.Join(e.pieces, ",") + "]"
}

// A turn is a random cell: legs that emit and are delivered, each within the same limits.
type turn struct {
	*testing.T
	random  *rand.Rand
	emitter emitter
	budget  budget
	retain  retention
	saved   map[string]bool
	seen    int // entries shown since the last marker, or ever
	sum     *Truncation
}

func newTurn(t *testing.T, seed uint64) *turn {
	r := &turn{T: t, random: rand.New(rand.NewPCG(seed, 1)), saved: map[string]bool{}}
	r.budget.limit = MinMaxOutputBytes + r.random.IntN(3000)
	switch r.random.IntN(4) {
	case 0:
		r.budget.ceiling = Model{ContextTokens: 1000 + r.random.IntN(8000)}.ceiling(false)
	case 1:
		r.budget.ceiling = Model{MaxResultChars: 1 + r.random.IntN(3000)}.ceiling(r.random.IntN(2) == 0)
	}
	r.emitter.limit = r.budget.limit
	r.retain = retention{
		limit: 6000,
		save: func(value []byte) (Reference, error) {
			if len(value) > 6000 {
				return Reference{}, errResultTooLarge
			}
			if r.random.IntN(4) == 0 {
				return Reference{}, []error{ErrResultsFull, ErrClosed}[r.random.IntN(2)]
			}
			id := fmt.Sprintf("result_%036d", len(r.saved))
			r.saved[id] = true
			return Reference{ID: id, Bytes: len(value), Count: 7, Shape: awkward(r.random, 50), Preview: awkward(r.random, 100), PreviewTruncated: true}, nil
		},
		release: func(id string) { r.saved[id] = false },
	}
	if r.random.IntN(4) == 0 {
		r.retain.refused = &refusedRestartSafe
	}
	return r
}

func (r *turn) json(pieces int) []byte {
	text, _ := marshal(strings.ToValidUTF8(awkward(r.random, pieces), "?"))
	switch r.random.IntN(4) {
	case 0:
		return text
	case 1:
		return []byte(fmt.Sprintf(`{"a":%s,"b":[%s]}`, text, text))
	case 2:
		return []byte("true")
	}
	return []byte("[" + string(text) + "]")
}

// leg emits something, delivers a result and checks it. The text of the result is returned.
func (r *turn) leg(last bool) string {
	sizes := []int{0, 5, 100, 1000, 3000}
	for range r.random.IntN(4) {
		r.emitter.emit(r.random.IntN(2) == 0, r.json(sizes[r.random.IntN(len(sizes))]))
	}
	result := Result{Status: StatusWaiting, RunID: "cm_1", Reason: ReasonYield, Telemetry: Telemetry{VisibleTools: []string{"exec"}}}
	d := &delivery{output: &r.emitter.output}
	var value, failure string
	switch pieces := sizes[r.random.IntN(len(sizes))]; {
	case last && r.random.IntN(2) == 0:
		failure = "Error: " + awkward(r.random, pieces)
		result.Status, result.Code, d.failure = StatusFailed, CodeInternal, errorOriginal(failure, r.budget.limit)
		failure = strings.ToValidUTF8(failure, "\ufffd")
	case last:
		result.Status, value = StatusCompleted, string(r.json(pieces))
		d.value = &original{text: []byte(value), size: len(value)}
	}
	others, status := result.frame(), result.Status
	p, ok := d.choose(r.budget, others, r.retain)
	if !ok {
		if least := (textSize{units: result.frame().units + 2, weight: result.frame().weight + 4}); r.budget.ceiling.fits(least.plus(ascii(minOutputMarker(r.emitter.size)*2 + 20))) {
			r.Fatalf("the ceiling %+v is not too small for %+v", r.budget.ceiling, least)
		}
		return ""
	}
	d.render(p, &result)
	again := result
	if d.render(p, &again); again.Text() != result.Text() {
		r.Fatal("a plan is rendered in two ways")
	}
	text := result.Text()
	if got, want := others.plus(d.size(p)), measured(text); got != want {
		r.Fatalf("foretold %+v, rendered %+v: %s", got, want, text)
	}
	if result.Status != status || r.budget.ceiling != (ceiling{}) && !r.budget.ceiling.fits(measured(text)) {
		r.Fatalf("status %s, %+v over the ceiling %+v: %s", result.Status, measured(text), r.budget.ceiling, text)
	}
	r.checkBytes(result)
	r.checkOutput(result)
	r.emitter.acknowledge(p)
	if result.Status == StatusCompleted {
		r.checkValue(result.Value, value)
	}
	if failure != "" {
		shown, isCut := strings.CutSuffix(result.Error, errorSuffix)
		if isCut != (result.Error != failure) || !strings.HasPrefix(failure, shown) {
			r.Fatalf("the error %q for %q", result.Error, failure)
		}
	}
	return text
}

func (r *turn) checkBytes(result Result) {
	n := len(result.Value)
	if len(result.Output) > 0 {
		text, _ := marshal(result.Output)
		n += len(text)
	}
	if result.Error != "" {
		n += jsontext.EncodedLen(result.Error)
	}
	if n > r.budget.limit {
		r.Fatalf("%d bytes for a limit of %d: %s", n, r.budget.limit, result.Text())
	}
}

// checkOutput holds that every entry is shown once and in order, or a new marker stands for all of them.
func (r *turn) checkOutput(result Result) {
	if len(result.Output) == 1 && result.Output[0].Truncated != nil {
		m := result.Output[0].Truncated
		r.checkMarker(m, r.emitter.array())
		if r.sum != nil && *m == *r.sum {
			r.Fatal("an unchanged marker was shown again")
		}
		r.sum, r.seen = m, 0
		return
	}
	if len(result.Output) == 0 {
		if r.sum == nil && r.seen != len(r.emitter.pieces) || r.sum != nil && r.sum.OmittedBytes+len(r.sum.Prefix) != len(r.emitter.array()) {
			r.Fatalf("nothing was shown of what is new")
		}
		return
	}
	for _, entry := range result.Output {
		text, _ := marshal(entry)
		if string(text) != r.emitter.pieces[r.seen] {
			r.Fatalf("entry %d is %s, want %s", r.seen, text, r.emitter.pieces[r.seen])
		}
		r.seen++
	}
	if r.sum = nil; r.seen != len(r.emitter.pieces) {
		r.Fatalf("%d of %d entries were shown", r.seen, len(r.emitter.pieces))
	}
}

func (r *turn) checkMarker(m *Truncation, whole string) {
	if !m.Truncated || m.Guidance == "" || len(m.Prefix)+m.OmittedBytes != len(whole) || !strings.HasPrefix(whole, m.Prefix) || m.OmittedBytes < 1 || !utf8.ValidString(m.Prefix) {
		r.Fatalf("the marker %+v for %d bytes: %s", m, len(whole), whole)
	}
}

// checkValue holds that the value is whole, retained or a marker, and that nothing stays in the store without a reference.
func (r *turn) checkValue(shown json.RawMessage, whole string) {
	kept := ""
	for id, still := range r.saved {
		if still {
			kept = id
		}
	}
	if string(shown) == whole {
		if kept != "" {
			r.Fatal("a value that is shown whole was saved")
		}
		return
	}
	if saved := (Retained{}); json.Unmarshal(shown, &saved) == nil && saved.Reference.ID != "" {
		if saved.Reference.ID != kept || saved.Reference.Bytes != len(whole) || !saved.Truncated {
			r.Fatalf("%s stands for %s of %d bytes", shown, kept, len(whole))
		}
		return
	}
	var m Truncation
	strict := json.NewDecoder(bytes.NewReader(shown))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&m); err != nil || kept != "" {
		r.Fatalf("%v; %q was kept: %s", err, kept, shown)
	}
	r.checkMarker(&m, whole)
}

// Whatever a cell emits, returns or throws, in however many legs and whatever may be shown of it: the limits hold, nothing is lost
// or shown twice, the numbers are those of the original, a status stays what it is, and the same again gives the same.
func TestDeliveryProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6000) {
		var texts [2][]string
		for again := range texts {
			turn := newTurn(t, seed)
			legs := 1 + turn.random.IntN(4)
			for leg := range legs {
				texts[again] = append(texts[again], turn.leg(leg == legs-1))
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		if strings.Join(texts[0], "\n") != strings.Join(texts[1], "\n") {
			t.Fatalf("seed %d: %q, then %q", seed, texts[0], texts[1])
		}
	}
}
