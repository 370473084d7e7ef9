package codemode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/codemode"
)

// A host tells by the fields of a result whether Value is what the cell returned. What a cell returns does not set them.
func TestReplacedValue(t *testing.T) {
	t.Parallel()
	b := newBench(t, codemode.Options{MaxOutputBytes: 1024})
	for name, test := range map[string]struct {
		code                string
		retained, truncated bool
	}{
		"whole":                  {`return { a: 1 }`, false, false},
		"looks like a marker":    {`return { truncated: true, omittedBytes: 5, guidance: "g", prefix: "p" }`, false, false},
		"looks like a reference": {`return { truncated: true, reference: { id: "result_1" }, guidance: "g" }`, false, false},
		"retained":               {`return Array.from({ length: 999 }, (_, i) => ({ i }))`, true, false},
		"retained, little room":  {`text("x".repeat(5000)); return Array.from({ length: 999 }, (_, i) => ({ i }))`, true, false},
		"a text":                 {`return "x".repeat(5000)`, false, true},
		"a failure":              {`throw "x".repeat(5000)`, false, false},
	} {
		r := b.run(t.Context(), test.code)
		if (r.Retained != nil) != test.retained || (r.Truncated != nil) != test.truncated {
			t.Errorf("%s: retained %+v, truncated %+v", name, r.Retained, r.Truncated)
		}
		switch {
		case r.Retained != nil:
			text, err := b.Results().Load(r.Retained.Reference.ID)
			var value []struct{ I int }
			if err != nil || json.Unmarshal(text, &value) != nil || len(value) != 999 || value[998].I != 998 {
				t.Errorf("%s: %v; %.100s is kept", name, err, text)
			}
			if shown := string(must(r.Retained.Reference.MarshalJSON())); !strings.Contains(string(r.Value), shown) || !r.Retained.Truncated {
				t.Errorf("%s: %s for %s", name, r.Value, shown)
			}
		case r.Truncated != nil:
			if string(r.Value) != string(must(r.Truncated.MarshalJSON())) || !strings.HasPrefix(r.Truncated.Prefix, `"xxx`) {
				t.Errorf("%s: %s for %+v", name, r.Value, r.Truncated)
			}
		}
	}
}
