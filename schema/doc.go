// Package schema compiles JSON Schemas and checks JSON text against them.
//
// A schema comes from its text ([Parse]), from a Go type ([For]), or from several schemas of which one input property selects
// ([Variants]). It is compiled once, and then checks any number of values:
//
//	type Order struct {
//		ID    int64    `json:"id" jsonschema:"minimum=1"`
//		Notes []string `json:"notes,omitempty"`
//	}
//	s, err := schema.For[Order]()
//	...
//	err = s.Validate([]byte(`{"id":0,"color":"red"}`))
//	// value does not match the schema: $.id must be at least 1; $ the property "color" is not allowed; known are "id", "notes"
//
// Values are JSON text and are read as text. Checking a value that matches allocates nothing for the common keywords, and is
// several times faster than decoding it.
//
// # What a schema may be
//
// Parse takes JSON Schema 2020-12, and the drafts 2019-09, 7, 6 and 4 where $schema names them; another $schema is read as
// 2020-12. It is strict, because a schema that is accepted and then not applied is worse than none: text that is not UTF-8,
// a key twice in an object, the type "sting", required that is not a list of names, a pattern that does not compile, a
// reference that leads nowhere: each is a [*ParseError] that names the place, also in parts that no value would reach.
// Unknown keywords are annotations and may hold anything.
//
// References are resolved inside of the text only. Parse and Validate never open a file or a connection: a reference to
// another document is an error, apart from those to the meta-schemas of the drafts, which are built in.
//
// # Numbers
//
// Numbers are compared by their digits, not as float64: with the schema {"maximum":9007199254740992}, the value 9007199254740993
// does not match. 1.0 and 1e2 are integers. multipleOf is exact, and may have up to 19 digits. An exponent
// beyond 10^12 is taken for 10^12.
//
// # Keys and strings
//
// If a key stands twice in an object of a value, the last one counts, as in JSON.parse and encoding/json. Names such as
// __proto__ are ordinary. Bytes that are not UTF-8, and half a surrogate pair, count as U+FFFD. Lengths are counted in
// Unicode characters.
//
// # Results that depend on the input
//
// What a tool returns may depend on a property of its input, such as the name of an action. The schema of the result is then an
// anyOf with the annotation [DiscriminatorKeyword], which Parse checks like a keyword:
//
//	{"anyOf": [{"type": "array"}, {"type": "integer"}],
//	 "x-openclaw-input-discriminator": {"version": 1, "inputProperty": "action", "mapping": {"list": 0, "count": 1}}}
//
// [Schema.ValidateFor] checks a result against the branch of its action, and all that stands beside the branches. A schema
// that is too large to be looked at as a whole, or that contains a reference, is not narrowed: then each action may
// return what any other may. [Schema.Discriminator] says which it is.
//
// # Tagged unions
//
// Where the branches of an anyOf or oneOf have a property in common that is another string in each, the value of that property
// says which branch was meant, with or without the annotation. The problems of a value are then those of that branch, an unknown value
// gives the list of those there are, and [Schema.ApplyDefaults] and [Schema.CoerceIntegers] look into the branch. Whether
// a value matches does not depend on it. [ForAction] makes such branches of Go types.
//
// # Schemas of others
//
// A program that shows or passes on schemas it did not write uses [ParseDeferred], which keeps what is wrong in the schema
// instead of failing. No value matches such a schema; [Schema.Err] says why.
//
// # Problems
//
// A [*ValidationError] is made to be read by a model: at most five problems, each with a path as in JavaScript and a bounded
// message that says what must hold. The values are not in it, as they may be secret; names of properties are.
//
// # Limits
//
// Foreign schemas and values cannot make this package hang or grow without bound. A schema has at most [MaxTextBytes] of text,
// 2,000 levels and 100,000 schemas in it; its patterns and defaults are bounded in size. A value has at
// most 10,000 levels, as for encoding/json. One validation does a bounded number of steps: with a schema whose alternatives
// multiply (an anyOf of an anyOf of references to the root), it ends with the problem "cannot be checked", and never with a
// guess. A schema that refers to itself without getting to a part of the value is refused by Parse.
//
// # Deviations from the specification
//
//   - format, contentEncoding, contentMediaType and contentSchema are annotations and check nothing. That is the default of 2020-12.
//   - pattern and patternProperties are regular expressions of ECMAScript, run by the regexp package in linear time. What it
//     cannot do is an error: references back to groups, lookbehind, and lookahead anywhere but right after a leading ^, as in
//     ^(?!tmp)[a-z]+$. Repeat counts go up to 1,000.
//   - A $vocabulary is not looked at: all keywords of the draft apply.
//   - Under draft-04, 1.0 is an integer too.
//
// # Concurrency
//
// A [Schema] is immutable, and all functions may be called from any number of goroutines.
package schema
