package declgen

import (
	"unicode/utf16"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// limits are the bounds of one rendering. Lengths are counted in UTF-16 units, as everything that a model's program sees.
type limits struct {
	units        int // of the text
	depth        int // objects and arrays inside of each other
	properties   int // of one object
	keyUnits     int // of the name of a property
	variants     int // of a union, literals not counted
	literals     int // values of an enum
	literalUnits int // all literals of a union together
	nodes        int // schemas that are looked at
}

// Hints are lines of an index that stands in a prompt.
const (
	inputHintUnits       = 300
	inputHintDepth       = 4
	inputHintProperties  = 16
	outputHintUnits      = 800
	outputHintDepth      = 6
	outputHintProperties = 22
	hintKeyUnits         = 128
	hintVariants         = 5
	hintLiterals         = 8
	hintLiteralUnits     = 96
	hintNodes            = 2_048
)

// Declarations are read on demand, one tool at a time.
const (
	typeUnits      = 32_768 // of the input type, and of the output type, each with all types that it names
	typeDepth      = 12
	typeProperties = 256
	typeLiterals   = 256
	typeVariants   = 256
	typeNodes      = 4_096
)

// maxTypeNames is how many types a type keyword may list, in hints and in declarations.
const maxTypeNames = 5

var (
	inputHint = limits{
		units: inputHintUnits, depth: inputHintDepth, properties: inputHintProperties, keyUnits: hintKeyUnits, variants: hintVariants,
		literals: hintLiterals, literalUnits: hintLiteralUnits, nodes: hintNodes,
	}
	outputHint = limits{
		units: outputHintUnits, depth: outputHintDepth, properties: outputHintProperties, keyUnits: hintKeyUnits, variants: hintVariants,
		literals: hintLiterals, literalUnits: hintLiteralUnits, nodes: hintNodes,
	}
	fileLimits = limits{
		units: typeUnits, depth: typeDepth, properties: typeProperties, keyUnits: typeUnits, variants: typeVariants,
		literals: typeLiterals, literalUnits: typeUnits, nodes: typeNodes,
	}
)

// Bounds that keep the work small where a schema combines other schemas; none of them is the size of anything that is printed.
const (
	maxParts        = 1_024  // of a union, the same ones counted twice
	maxPairs        = 256    // parts of two unions, when the types are intersected
	maxMerges       = 50_000 // parts and fields that are intersected for one type
	maxInPlace      = 64     // schemas inside of each other that speak about one value
	maxAlternatives = typeVariants + typeLiterals
)

// unitsOf is the length of s in UTF-16 units.
func unitsOf(s string) int { return jsontext.UTF16Len(s) }

// cut returns the longest start of s that has at most limit units.
func cut(s string, limit int) string {
	n := 0
	for i, r := range s {
		if n += utf16.RuneLen(r); n > limit {
			return s[:i]
		}
	}
	return s
}

// compareKeys orders names by their UTF-16 units, as a JavaScript program sorts them.
func compareKeys(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	// The bytes of UTF-8 have the order of the units, but for characters of two units: those come before U+E000 (0xEE).
	if pair, otherPair := a[i] >= 0xf0, b[i] >= 0xf0; pair != otherPair && min(a[i], b[i]) >= 0xee {
		return int(b[i]) - int(a[i])
	}
	return int(a[i]) - int(b[i])
}
