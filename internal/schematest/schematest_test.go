package schematest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cellmode/cellmode/internal/schematest"
	"github.com/cellmode/cellmode/schema"
)

// TestInstance holds that the values made for a schema mostly match it: tests of what is true for valid values need many of
// them.
func TestInstance(t *testing.T) {
	t.Parallel()
	for _, form := range []struct {
		name string
		make func(schematest.Random) string
		want int // of a hundred values, how many match at least
	}{
		{"random", func(r schematest.Random) string { return r.Schema(3) }, 40},
		{"referring", func(r schematest.Random) string { return r.Referring(2) }, 40},
	} {
		schemas, values, matching := 0, 0, 0
		for seed := range uint64(1_000) {
			r := schematest.Random{Rand: rand.New(rand.NewPCG(seed, 7))}
			text := []byte(form.make(r))
			s, err := schema.Parse(text)
			if err != nil {
				continue
			}
			schemas++
			for range 5 {
				values++
				if s.Validate(schematest.Instance(r.Rand, text)) == nil {
					matching++
				}
			}
		}
		t.Logf("%s: %d schemas, %d of %d values match", form.name, schemas, matching, values)
		if schemas < 300 || matching < values*form.want/100 {
			t.Errorf("%s: %d schemas, %d of %d values match", form.name, schemas, matching, values)
		}
	}
}

// TestSameSeed holds that what a test found once can be made again.
func TestSameSeed(t *testing.T) {
	t.Parallel()
	sample := func() string {
		r := schematest.Random{Rand: rand.New(rand.NewPCG(3, 3))}
		text := r.Referring(3) + r.Schema(3) + r.Value(3)
		return text + string(schematest.Instance(r.Rand, []byte(r.Schema(3))))
	}
	if first := sample(); first != sample() {
		t.Error("the same seed gives different schemas or values")
	}
}
