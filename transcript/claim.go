package transcript

import "crypto/sha256"

// How much of the turn is looked at, once for all drafts of a call: others wait meanwhile.
const (
	maxClaim      = 1000
	maxClaimBytes = 16 << 20
)

// turn is what the claims of one call know of the turn at the branch's end. It is read from its end, as far as they need.
type turn struct {
	walk     walk
	read     int  // entries
	whole    bool // no older entry is to be looked at
	answered bool // the assistant has said something: a user's message is a new one then
	messages map[saying]*said
}

// saying is what messages are found by: what one says, or its text.
type saying struct {
	role   string
	isText bool
	hash   [sha256.Size]byte
}

// said are the messages that say it: those that were appended meanwhile, the newest last, and older ones, the newest first.
type said struct{ newer, older []turnMessage }

// turnMessage is a message that may be claimed.
type turnMessage struct {
	number int64
	entry  Entry
}

// claim finds the entry of a message that the host has appended already, as [Draft.Claim] says.
func (w *writer) claim(message Message) (Entry, bool, error) {
	if w.turn == nil {
		spans, err := w.t.spans(w.session, w.at.leaf.number)
		if err != nil {
			return Entry{}, false, err
		}
		w.turn = &turn{walk: walk{session: w.session, spans: spans, newestFirst: true}, messages: map[saying]*said{}}
	}
	sayings := message.claims()
	for {
		if message.Role == RoleUser && w.turn.answered {
			return Entry{}, false, nil
		}
		if found, ok := w.turn.newest(sayings, w.claimed); ok {
			claimed, err := w.claimEntry(found.number, message.IdempotencyKey)
			if err != nil || claimed {
				return found.entry, claimed, err
			}
			w.setClaimed(found.entry.ID) // by another call
			continue
		}
		if w.turn.whole {
			return Entry{}, false, nil
		}
		if err := w.turn.readPage(w.t); err != nil {
			return Entry{}, false, err
		}
	}
}

// setClaimed keeps an entry from the other drafts of the call.
func (w *writer) setClaimed(id string) {
	if w.claimed == nil {
		w.claimed = map[string]bool{}
	}
	w.claimed[id] = true
}

// claims are the sayings by which a message finds another one. An answer may have been mirrored, with thoughts and calls,
// before its text is delivered; but calls must not get lost.
func (m Message) claims() []saying {
	return m.sayings(m.Role == RoleAssistant && len(m.ToolCalls()) == 0)
}

// claimable are the sayings by which a message is found. One of others than the assistant that has a key has been looked for
// by that.
func (m Message) claimable() []saying {
	if m.IdempotencyKey != "" && m.Role != RoleAssistant {
		return nil
	}
	return m.sayings(m.Role == RoleAssistant)
}

func (m Message) sayings(withText bool) []saying {
	all := []saying{{m.Role, false, contentHash(m)}}
	if withText {
		if text := m.Text(); text != "" {
			all = append(all, saying{m.Role, true, sha256.Sum256([]byte(text))})
		}
	}
	return all
}

// newest finds the newest message that has one of the sayings and is not claimed.
func (t *turn) newest(sayings []saying, claimed map[string]bool) (newest turnMessage, ok bool) {
	for _, what := range sayings {
		found := t.messages[what]
		if found == nil {
			continue
		}
		if next, has := found.newest(claimed); has && next.number > newest.number {
			newest, ok = next, true
		}
	}
	return newest, ok
}

// newest leaves those out that are claimed: so that each is looked at once.
func (m *said) newest(claimed map[string]bool) (turnMessage, bool) {
	for n := len(m.newer); n > 0; n = len(m.newer) {
		if last := m.newer[n-1]; !claimed[last.entry.ID] {
			return last, true
		}
		m.newer = m.newer[:n-1]
	}
	for len(m.older) > 0 {
		if first := m.older[0]; !claimed[first.entry.ID] {
			return first, true
		}
		m.older = m.older[1:]
	}
	return turnMessage{}, false
}

// readPage reads on.
func (t *turn) readPage(tx *transaction) error {
	page, err := t.walk.page(tx)
	if err != nil {
		return err
	}
	for _, row := range page {
		if t.whole = t.whole || t.read == maxClaim; t.whole {
			break
		}
		t.read++
		message, ok := row.entry.Message()
		if row.entry.Kind() == KindReset { // the model knows nothing of what was before
			t.whole = true
		}
		if !ok {
			continue
		}
		for _, what := range message.claimable() {
			by := t.by(what)
			by.older = append(by.older, turnMessage(row))
		}
		t.answered = t.answered || message.Role == RoleAssistant
		t.whole = message.Role == RoleUser // here the turn began
	}
	t.whole = t.whole || len(page) == 0 || t.walk.bytes >= maxClaimBytes
	return nil
}

// by gives the messages by which something is said.
func (t *turn) by(what saying) *said {
	by := t.messages[what]
	if by == nil {
		by = new(said)
		t.messages[what] = by
	}
	return by
}

// add takes over an entry that was appended to the branch meanwhile.
func (t *turn) add(number int64, entry Entry) {
	message, ok := entry.Message()
	if message.Role == RoleUser || entry.Kind() == KindReset {
		*t = turn{whole: true, messages: map[saying]*said{}}
	}
	if !ok {
		return
	}
	t.answered = t.answered || message.Role == RoleAssistant
	for _, what := range message.claimable() {
		by := t.by(what)
		by.newer = append(by.newer, turnMessage{number, entry})
	}
}

// claimEntry gives an entry a key, if it was not claimed before.
func (w *writer) claimEntry(n int64, key string) (bool, error) {
	var claimed bool
	if err := w.t.queryRow(selectClaimed, []any{number(w.session.row, n)}, &claimed); err != nil || claimed {
		return false, err
	}
	if key == "" {
		return true, nil
	}
	_, err := w.t.exec(insertKey, w.session.row, key, number(w.session.row, n), true)
	return true, err
}

const selectClaimed = `SELECT EXISTS (SELECT 1 FROM entry_keys WHERE entry = ? AND claim)`
