package schema

import "slices"

// inPlace returns the nodes that n applies to the same value.
func (n *node) inPlace() []*node {
	var nodes []*node
	if a := n.apply; a != nil {
		nodes = slices.Concat([]*node{a.ref, a.not, a.when, a.then, a.els}, a.all, a.any, a.one)
	}
	if n.object != nil {
		for i := range n.object.dependents {
			nodes = append(nodes, n.object.dependents[i].node)
		}
	}
	return slices.DeleteFunc(nodes, func(n *node) bool { return n == nil })
}

// findLoop returns the place of a schema that gets back to itself without leaving the value, or nil. Such a
// schema could be applied for ever. It keeps its own stack, because a
// chain of references can be as long as the document.
func findLoop(order []*entry) *place {
	const (
		open = 1 + iota
		done
	)
	type frame struct {
		node *node
		rest []*node
	}
	state := make(map[*node]int, len(order))
	for _, e := range order {
		if state[e.node] != 0 {
			continue
		}
		state[e.node] = open
		stack := []frame{{e.node, e.node.inPlace()}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.rest) == 0 {
				state[top.node] = done
				stack = stack[:len(stack)-1]
				continue
			}
			n := top.rest[0]
			top.rest = top.rest[1:]
			switch state[n] {
			case open:
				return e.at
			case 0:
				state[n] = open
				stack = append(stack, frame{n, n.inPlace()})
			}
		}
	}
	return nil
}
