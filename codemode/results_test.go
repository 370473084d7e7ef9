package codemode

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/cellmode/cellmode/internal/jsontext"
)

func mustSave(t *testing.T, r *Results, value string) Reference {
	t.Helper()
	reference, err := r.Save(json.RawMessage(value))
	if err != nil {
		t.Fatalf("saving %.60s: %v", value, err)
	}
	return reference
}

func mustLoad(t *testing.T, r *Results, id, want string) {
	t.Helper()
	if got, err := r.Load(id); err != nil || string(got) != want {
		t.Errorf("loading %s: %.100s, %v, want %.100s", id, got, err, want)
	}
}

// word is n bytes of JSON.
func word(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }

func TestResultsKeepAnyJSON(t *testing.T) {
	t.Parallel()
	r := newResults(1 << 20)
	for _, tt := range []struct{ in, want string }{
		{`null`, `null`},
		{`"text"`, `"text"`},
		{` 1915883588174806058 `, `1915883588174806058`},
		{"{ \"__proto__\" : { \"a\" : [ 1 , 2 ] } }", `{"__proto__":{"a":[1,2]}}`},
		{"\"a\xff\\ud83d\"", "\"a\ufffd\ufffd\""},
		{rows(500), rows(500)},
	} {
		reference := mustSave(t, r, tt.in)
		if reference.Bytes != len(tt.want) {
			t.Errorf("%.60q takes %d bytes, want %d", tt.in, reference.Bytes, len(tt.want))
		}
		mustLoad(t, r, reference.ID, tt.want)
	}
	if n := len(r.List()); n != 6 {
		t.Errorf("%d results", n)
	}
	for _, bad := range []string{``, ` `, `{"a":}`, `1 2`, `10n`, strings.Repeat("[", jsontext.MaxDepth+1)} {
		_, err := r.Save(json.RawMessage(bad))
		if _, ok := errors.AsType[*jsontext.SyntaxError](err); !ok || errors.Is(err, ErrResultsFull) {
			t.Errorf("saving %.60q: %v", bad, err)
		}
	}
	if n := len(r.List()); n != 6 {
		t.Errorf("%d results after failed saves", n)
	}
}

// C057: what the caller does with the text before or after does not reach the saved value.
func TestResultsAreDetached(t *testing.T) {
	t.Parallel()
	r := newResults(1 << 20)
	value := json.RawMessage(rows(500))
	reference, err := r.Save(value)
	if err != nil {
		t.Fatal(err)
	}
	if reference.Count != 500 || reference.Bytes != len(value) || !reference.PreviewTruncated {
		t.Errorf("%+v", reference)
	}
	clear(value)
	first, err := r.Load(reference.ID)
	if err != nil {
		t.Fatal(err)
	}
	clear(first)
	mustLoad(t, r, reference.ID, rows(500))
	list := r.List()
	list[0] = Reference{}
	if r.List()[0] != reference {
		t.Error("the list is not a copy")
	}
}

// C058: 64 entries and no eviction.
func TestResultsCapacity(t *testing.T) {
	t.Parallel()
	r := newResults(1 << 20)
	var all []Reference
	for i := range MaxResults {
		all = append(all, mustSave(t, r, fmt.Sprint(i)))
	}
	_, err := r.Save([]byte(`"one more"`))
	if !errors.Is(err, ErrResultsFull) || errors.Is(err, errResultTooLarge) || !strings.Contains(err.Error(), "64") || !strings.Contains(err.Error(), "results.delete(id)") {
		t.Errorf("the 65th: %v", err)
	}
	for i, reference := range all {
		mustLoad(t, r, reference.ID, fmt.Sprint(i))
	}
	if err := r.Delete(all[10].ID); err != nil {
		t.Fatal(err)
	}
	last := mustSave(t, r, `"one more"`)
	if _, err := r.Load(all[10].ID); !errors.Is(err, ErrUnknownResult) {
		t.Errorf("loading what was deleted: %v", err)
	}
	want := append(append(append([]Reference{}, all[:10]...), all[11:]...), last)
	if got := r.List(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the list is not in the order of saving: %+v", got)
	}
}

// C058: the allowance is of bytes of UTF-8.
func TestResultsAllowance(t *testing.T) {
	t.Parallel()
	r := newResults(1 << 20)
	first := mustSave(t, r, word(600<<10))
	_, err := r.Save([]byte(word(600 << 10)))
	if !errors.Is(err, ErrResultsFull) || errors.Is(err, errResultTooLarge) {
		t.Errorf("beyond the allowance: %v", err)
	}
	if text := fmt.Sprint(err); !strings.Contains(text, "614400 bytes") || !strings.Contains(text, "434176 of 1048576 are free") || !strings.Contains(text, "existing results are unchanged") {
		t.Errorf("beyond the allowance: %v", err)
	}
	mustLoad(t, r, first.ID, word(600<<10))
	if _, err := r.Save([]byte(`"` + strings.Repeat("é", 434176/2) + `"`)); !errors.Is(err, ErrResultsFull) { // two bytes too many
		t.Errorf("characters were counted, not bytes: %v", err)
	}
	exact := mustSave(t, r, word(434176))
	if _, err := r.Save([]byte(`1`)); !errors.Is(err, ErrResultsFull) {
		t.Errorf("one byte too many: %v", err)
	}
	for _, id := range []string{first.ID, exact.ID} {
		if err := r.Delete(id); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Save([]byte(word(1<<20 + 1))); !errors.Is(err, errResultTooLarge) || !errors.Is(err, ErrResultsFull) {
		t.Errorf("larger than all of the store: %v", err)
	}
	mustSave(t, r, " "+word(1<<20)+" ") // white space is not counted
}

func TestResultsUnknownID(t *testing.T) {
	t.Parallel()
	r := newResults(1 << 20)
	kept := mustSave(t, r, `1`)
	gone := mustSave(t, r, `2`)
	if err := r.Delete(gone.ID); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", gone.ID, "result_", strings.ToUpper(kept.ID), "x\xff\n" + strings.Repeat("é", 1000)} {
		_, loading := r.Load(id)
		_, referring := r.Reference(id)
		for _, err := range []error{loading, referring, r.Delete(id)} {
			if !errors.Is(err, ErrUnknownResult) || len(err.Error()) > 400 {
				t.Errorf("%.80q: %v", id, err)
			}
		}
	}
	if _, err := r.Load(gone.ID); !strings.Contains(err.Error(), gone.ID) || !strings.Contains(err.Error(), "unavailable or expired") || !strings.Contains(err.Error(), "fetch the data again") {
		t.Errorf("the model reads: %v", err)
	}
	mustLoad(t, r, kept.ID, `1`)
}

func TestResultsIDs(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^result_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := newResultID()
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}

func TestResultsClose(t *testing.T) {
	t.Parallel()
	r := newResults(1 << 20)
	reference := mustSave(t, r, `1`)
	r.close()
	r.close()
	_, saving := r.Save([]byte(`1`))
	_, marking := r.SaveNetwork([]byte(`1`))
	_, loading := r.Load(reference.ID)
	_, referring := r.Reference(reference.ID)
	for _, err := range []error{saving, marking, loading, referring, r.Delete(reference.ID)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after close: %v", err)
		}
	}
	if list := r.List(); len(list) != 0 {
		t.Errorf("after close: %v", list)
	}
}

// The mark of content from outside stays with the value, and a text with much room behind it is not kept as it is.
func TestResultsOfCells(t *testing.T) {
	t.Parallel()
	r := newResults(1 << 20)
	roomy := append(make([]byte, 0, 1000), `{"a":1}`...)
	for _, network := range []bool{false, true} {
		reference, err := r.save(roomy, network)
		if err != nil {
			t.Fatal(err)
		}
		saved, err := r.load(reference.ID)
		if text := saved.text; string(text) != `{"a":1}` || cap(text) > 16 || saved.reference.Network != network || err != nil {
			t.Errorf("%q (room for %d), network %v, %v", text, cap(text), saved.reference.Network, err)
		}
	}
	if reference := mustSave(t, r, `1`); r.bytes != int64(len(`{"a":1}{"a":1}1`)) {
		t.Errorf("%d bytes with %+v", r.bytes, reference)
	}
}

// Savers, loaders and deleters at the same time: the limits hold at every moment, and in the end the books are right.
func TestResultsConcurrently(t *testing.T) {
	t.Parallel()
	const limit = 40_000
	r := newResults(limit)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			value := rows(10 + 10*worker)
			for range 200 {
				reference, err := r.Save([]byte(value))
				if errors.Is(err, ErrResultsFull) {
					if list := r.List(); len(list) > 0 { // anybody's: it may be gone by now
						_ = r.Delete(list[0].ID)
					}
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if text, err := r.Load(reference.ID); err == nil && string(text) != value || err != nil && !errors.Is(err, ErrUnknownResult) {
					t.Errorf("%.60s, %v", text, err)
				}
				total := 0
				for _, saved := range r.List() {
					total += saved.Bytes
				}
				if total > limit || len(r.List()) > MaxResults {
					t.Errorf("%d bytes in %d results", total, len(r.List()))
				}
			}
		})
	}
	wg.Wait()
	for _, saved := range r.List() {
		if err := r.Delete(saved.ID); err != nil {
			t.Error(err)
		}
	}
	if r.bytes != 0 || len(r.saved) != 0 {
		t.Errorf("%d bytes in %d results, after all were deleted", r.bytes, len(r.saved))
	}
}
