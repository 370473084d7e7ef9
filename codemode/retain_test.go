package codemode

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// Why a value is not retained is told by the error of the store, never by its text.
func TestRefusals(t *testing.T) {
	t.Parallel()
	value := &original{text: []byte(`[1,2]`), size: 5}
	for _, test := range []struct {
		err  error
		want refusal
	}{
		{ErrResultsFull, refusedFull},
		{fmt.Errorf("%w: 64 results", ErrResultsFull), refusedFull},
		{fmt.Errorf("%w: it is large", errResultTooLarge), refusedSize(4)},
		{ErrClosed, refusedUnavailable},
		{errors.New(ErrResultsFull.Error()), refusedUnavailable},
	} {
		r := retention{limit: 4, save: func([]byte) (Reference, error) { return Reference{}, test.err }}
		if saved, refused := r.keep(value); saved != nil || refused == nil || *refused != test.want {
			t.Errorf("%v: %+v", test.err, refused)
		}
	}
	save := func(text []byte) (Reference, error) { return newReference("result_1", text), nil }
	if saved, refused := (retention{save: save}).keep(value); refused != nil || saved.reference.Count != 2 {
		t.Errorf("%+v, %+v", saved, refused)
	}
	if saved, refused := (retention{limit: 4, save: save}).keep(&original{text: []byte(`[1`), size: 5}); saved != nil || *refused != refusedSize(4) {
		t.Errorf("of a part: %+v, %+v", saved, refused)
	}
	if saved, refused := (retention{refused: &refusedRestartSafe, save: save}).keep(value); saved != nil || *refused != refusedRestartSafe {
		t.Errorf("restart-safe: %+v, %+v", saved, refused)
	}
}

// What stands for a retained value takes what it is given, as far as it has something to show.
func TestStandInFits(t *testing.T) {
	t.Parallel()
	kept := newRetained(newReference(newResultID(), []byte(`[`+strings.Repeat(`{"name":"row é","n":[1,2,3]},`, 200)+`0]`)))
	least := len(kept.smallest.text)
	for allowance := range kept.size + 10 {
		s := kept.fit(allowance)
		want := min(max(allowance, least), kept.size)
		if n := len(s.text); n > want || n < want-4 {
			t.Errorf("%d bytes for an allowance of %d, want %d", n, allowance, want)
		}
		if text, _ := marshal(s.Retained); string(text) != string(s.text) || !s.Truncated {
			t.Errorf("%+v is %s", s.Retained, s.text)
		}
	}
}

// Of a value that no result can show and nobody can load, no more is kept than a result can show of it.
func TestKeepValue(t *testing.T) {
	t.Parallel()
	list := func(n int) string { return `["` + strings.Repeat("é", (n-4)/2) + `"]` }
	text := func(n int) string { return `"` + strings.Repeat("é", (n-2)/2) + `"` }
	for _, test := range []struct {
		name          string
		output, inbox int
		restartSafe   bool
		value         string
		want          int // bytes that are kept
	}{
		{"what can be shown", 2000, 1000, false, list(2000), 2000},
		{"less than can be shown", 2000, 1000, false, list(1500), 1500},
		{"what can be shown, as text", 2000, 1000, false, text(2000), 2000},
		{"what can be retained", 1000, 3000, false, list(3000), 3000},
		{"what cannot be retained", 1000, 3000, false, list(3002), 1000},
		{"a text", 1000, 3000, false, text(1002), 999},
		{"restart-safe", 1000, 3000, true, list(1002), 1000},
		{"larger than both", 1999, 1000, false, list(2002), 1998},
	} {
		c := &cell{executor: &Executor{}, limits: &limits{output: test.output, inbox: int64(test.inbox)}}
		c.source.RestartSafe = test.restartSafe
		c.keepValue([]byte(test.value))
		kept := c.value.text
		if len(kept) != test.want || c.value.size != len(test.value) || !utf8.Valid(kept) || !strings.HasPrefix(test.value, string(kept)) {
			t.Errorf("%s: %d of %d bytes are kept, want %d", test.name, len(kept), c.value.size, test.want)
		}
		if len(kept) < len(test.value) && cap(kept) > 2*len(kept) {
			t.Errorf("%s: %d bytes hold on to %d", test.name, len(kept), cap(kept))
		}
	}
}
