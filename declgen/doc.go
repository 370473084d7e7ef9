// Package declgen renders JSON Schemas as TypeScript: hints of one line for an index, and whole declaration files.
//
//	s, err := schema.For[Order]()
//	...
//	fmt.Println(declgen.OutputHint(s).Text) // { id: number; notes?: Array<string> }
//	file := declgen.Declare(declgen.Function{Name: "orders_get", Description: "Find an order.", Input: in, Output: s})
//
// Both are for a model that writes a program: the hint ([InputHint], [OutputHint]) lets it use a result without looking at one
// first, and the file ([Declare]) says what a hint has no room for. [GuestAPI] declares what a program has beside the tools.
//
// # A type is never narrower than its schema
//
// Every value that a schema accepts is of the type that is made from it. The other direction is not promised: TypeScript cannot
// say everything that a schema can. What cannot be said is left out where this makes the type wider, and unknown otherwise.
//
// This has consequences that look odd at first. A schema without the keyword type constrains objects but accepts strings too,
// and so does its type. An object that is not closed has an index signature. Next to named fields, TypeScript wants the
// index signature to include their types. An optional field that is called toString is unknown, because for
// TypeScript every object has one.
//
// What is said: type, enum, const, nullable, properties, required, additionalProperties, items, tuples (prefixItems, and items
// with a list in older drafts), anyOf and oneOf as unions, allOf and keywords beside a reference as the merged form,
// patternProperties as an index signature, unevaluatedProperties and unevaluatedItems where they close a form that is known.
// Bounds of numbers are comments. Left out are not, if, then and else, contains, propertyNames, dependencies and lengths. In the
// input of a tool, a required property with a default is optional where the default is applied, see
// [schema.Schema.ApplyDefaults].
//
// # References
//
// In a hint, what a reference leads to stands in its place; where a schema refers to itself, the hint is not complete. In a
// declaration, it gets a name, if it is not very short, in a namespace that merges with the function:
//
//	declare function tree(input: { root: string }): Promise<tree.Node>;
//	declare namespace tree {
//	  type Node = { children: Array<tree.Node>; name: string };
//	}
//
// # Results that depend on the input
//
// A schema with [schema.DiscriminatorKeyword] gives overloads: a call whose input property is a literal has the result that it
// selects. If the results are too large to be told apart, or the schema has references, a line says so, and the type covers all.
// The hint names the values before each result: /* list */ { rows: Array<string> } | /* drop, purge */ { gone: boolean }.
//
// # Completeness
//
// A hint is complete if it says everything about the form of the values: all properties, and that there are no others. So
// objects have to be closed; one without named properties may also say "additionalProperties": true, and then the hint at a
// result is { [key: string]: unknown }. Lengths, patterns and the like do not belong to the form.
//
// The hint at an input is worth showing even if it is not complete. Of a long enum it has the first values, and how many there
// are: "get" | "list" | string /* one of 12 */. Of a union with too many objects, or too large ones, it has the properties that
// all share, and above all the values that tell the objects apart: { action: "get" | "list"; id: string; ... }.
//
// # Limits
//
// Schemas and texts may come from anybody. What is beyond one of these limits makes the type wider, and a hint incomplete, so
// that an index shows "?" instead of the hint at a result:
//
//	                                      input hint   output hint   declaration
//	UTF-16 units                                 300           800        32,768   of a type with all that it refers to
//	objects and arrays inside each other           4             6            12
//	properties of an object                       16            22           256
//	units of the name of a property              128           128        32,768
//	variants of a union, without literals          5             5           256
//	literals of a union                            8             8           256
//	units of these literals                       96            96        32,768
//	types in a type keyword                        5             5             5
//	schemas looked at                          2,048         2,048         4,096
//
// Of a long enum, the kinds of its values are left; of an object with many properties, the required ones and the first of the
// others; of everything else, unknown. Only in the hint at an input more is left, see above. An optional property ("?") is one
// that is not required, or has a default that completes the input. A declaration that is too long loses its comments first, and
// then what is deepest inside. All texts from schemas are made harmless: comments cannot be ended, and literals hold no
// characters that cannot be seen.
//
// # Concurrency
//
// All functions may be called from any number of goroutines.
package declgen
