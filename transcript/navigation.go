package transcript

// node is an entry's place in the tree, and what its branch says up to it. Entries are numbered from 1 in the order in
// which they were appended; the zero node is the place before all of them.
type node struct {
	number int64
	id     string // the entry's, empty while it has none
	// segment is the first entry of the run of entries, each the only follower of the one before within the run, in which
	// this one is. A branch is a few segments, however many entries it has.
	segment int64
	// The nearest entries of the branch, this one included, that are a reset, set the model, set the thinking level, and
	// changed the values of store and load since the reset.
	reset, model, thinking, values int64
}

// position is where a session is: what has to be known of all its entries to append the next one.
type position struct {
	leaf node
	// open tells that the leaf is the last entry of its segment.
	open bool
	// cursor is the number of the entry after which a writer of session files appends physically. It differs from the leaf
	// after an entry beside the branch, and where a leaf entry says so.
	cursor int64
	// reset is the last reset of the session: no branch leads back over it.
	reset int64
	last  int64 // the number of the last entry
}

// parent gives the entry that a new one follows, by what it says itself: which it names as its parent, if it names one, and
// whether that is known. These are the rules of session files; entries that are appended through AppendAll name none.
func (p *position) parent(given node, named, known, side bool) node {
	switch {
	case !named, !known:
		return p.leaf
	case side: // it is on no branch, and may be anywhere
		return given
	case given.number == p.cursor && given.number != p.leaf.number:
		// The writer has appended after the row before, but the branch goes on at the leaf.
		return p.leaf
	case given.reset != p.reset:
		return p.leaf
	}
	return given
}

// add gives the place of a new entry, whose id is not known yet, after parent, and moves there, if the entry is not one beside
// the branch.
func (p *position) add(parent node, payload Payload, side bool) node {
	p.last++
	n := parent
	n.number, n.id = p.last, ""
	if side || !p.open || parent.number != p.leaf.number || parent.number == 0 {
		n.segment = n.number
	}
	switch payload := payload.(type) {
	case ModelChange:
		n.model = n.number
	case ThinkingLevelChange:
		n.thinking = n.number
	case Message:
		if payload.setsModel() {
			n.model = n.number
		}
	case Custom:
		if payload.Type == valuesType {
			n.values = n.number
		}
	case Reset:
		n.reset, n.values = n.number, 0
	}
	p.cursor = n.number
	if side {
		return n
	}
	p.leaf, p.open = n, true
	p.reset = max(p.reset, n.reset)
	return n
}

// canMove tells whether the leaf may be there: a branch that lacks the last reset is history.
func (p *position) canMove(to node) bool { return to.reset == p.reset }

// move makes another entry the leaf.
func (p *position) move(to node) {
	p.open = p.open && to.number == p.leaf.number
	p.leaf, p.cursor = to, to.number
}
