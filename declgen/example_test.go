package declgen_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cellmode/cellmode/declgen"
	"github.com/cellmode/cellmode/schema"
)

// A complete hint is all that a model needs to use a result.
func ExampleOutputHint() {
	type Order struct {
		ID    int      `json:"id"`
		Notes []string `json:"notes,omitempty"`
		Paid  bool     `json:"paid"`
	}
	s, err := schema.For[[]Order]()
	if err != nil {
		panic(err)
	}
	hint := declgen.OutputHint(s)
	fmt.Println(hint.Text, hint.Complete)

	// An object that is not closed may have more properties, and nobody knows which.
	open, err := schema.Parse([]byte(`{"type":"object","properties":{"id":{"type":"integer"}}}`))
	if err != nil {
		panic(err)
	}
	hint = declgen.OutputHint(open)
	fmt.Println(hint.Text, hint.Complete)
	// Output:
	// Array<{ id: number; paid: boolean; notes?: Array<string> }> true
	// { id?: number; ... } false
}

func ExampleDeclare() {
	in, err := schema.Parse([]byte(`{"type":"object","properties":{
		"root":{"type":"string","description":"The name of the node to begin with."},
		"depth":{"type":"integer","minimum":1,"default":3}},"required":["root","depth"],"additionalProperties":false}`))
	if err != nil {
		panic(err)
	}
	type Node struct {
		Name     string  `json:"name"`
		Children []*Node `json:"children,omitempty"`
	}
	out, err := schema.For[Node]()
	if err != nil {
		panic(err)
	}
	file := declgen.Declare(declgen.Function{
		Name: "tree", Description: "Shows a part of the tree.", Input: in, Output: out,
		Examples: []json.RawMessage{json.RawMessage(`{"root":"/","depth":1}`)},
	})
	_, declaration, _ := strings.Cut(file, "rejects.\n")
	fmt.Print(declaration)
	// Output:
	// /**
	//  * Shows a part of the tree.
	//  * @example
	//  * await tree({ root: "/", depth: 1 })
	//  */
	// declare function tree(input: {
	//   /** @default 3 */
	//   depth?: number /* integer, >= 1 */;
	//   /** The name of the node to begin with. */
	//   root: string;
	// }): Promise<tree.Output>;
	// declare namespace tree {
	//   type Output = { children?: Array<tree.Output | null>; name: string };
	// }
}
