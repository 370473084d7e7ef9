package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// kindHeader is the type of a session file's first line.
const kindHeader Kind = "session"

// fileHeader is the first line of a session file.
type fileHeader struct {
	Type          Kind   `json:"type"`
	Version       int    `json:"version"`
	ID            string `json:"id"`
	Timestamp     string `json:"timestamp"`
	CWD           string `json:"cwd"`
	ParentSession string `json:"parentSession,omitempty"`
}

// readHeader reads a header. What is not as it should be is not there; without a version it is of the first one.
func readHeader(text []byte) fileHeader {
	var members map[string]json.RawMessage
	json.Unmarshal(text, &members) // it was read before
	h := fileHeader{Version: 1, ID: nameOf(members["id"]), CWD: nameOf(members["cwd"]), ParentSession: nameOf(members["parentSession"])}
	var version int
	if json.Unmarshal(members["version"], &version) == nil && version > 0 {
		h.Version = version
	}
	return h
}

// fileLine is a line of a session file that is a JSON object with a type.
type fileLine struct {
	kind     Kind
	envelope map[string]json.RawMessage // the members that are not the payload's
	members  []byte                     // the others: a JSON object
}

// text is a member of the envelope that is a string, empty if it is none.
func (l fileLine) text(name string) string { return nameOf(l.envelope[name]) }

func (l fileLine) has(name string) bool { return l.envelope[name] != nil }

// nameOf is a JSON text that is a string, empty if it is none, or nothing but white space.
func nameOf(text json.RawMessage) string {
	name := stringOf(text)
	if strings.TrimSpace(name) == "" {
		return ""
	}
	return name
}

var (
	errNoObject = errors.New("it is not a JSON object")
	errNoType   = errors.New("it has no type")
)

// parseLine reads a line, and tells whether it was not UTF-8.
func parseLine(text []byte) (line fileLine, repaired bool, err error) {
	short, err := jsontext.Compact(text)
	if err != nil {
		return line, false, err
	}
	if short[0] != '{' {
		return line, false, errNoObject
	}
	line.envelope = map[string]json.RawMessage{}
	line.members = make([]byte, 1, len(short))
	line.members[0] = '{'
	for name, member := range members(short) {
		if slices.Contains(envelope, name) {
			line.envelope[name] = member.value
			continue
		}
		line.members = append(append(line.members, member.text...), ',')
	}
	line.members = endObject(line.members)
	if line.kind = Kind(line.text("type")); line.kind == "" {
		return line, false, errNoType
	}
	return line, !utf8.Valid(text), nil
}

// parseTime reads the time of a line, if it is one that can be kept and written again.
func parseTime(text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, text)
	at = at.UTC()
	return at, err == nil && checkTime(at) == nil
}

type member struct{ text, value []byte }

// members goes through the members of a compact JSON object, in order.
func members(object []byte) func(yield func(string, member) bool) {
	return func(yield func(string, member) bool) {
		for pos := 1; pos < len(object)-1; pos++ { // over the comma
			colon := jsontext.End(object, pos)
			end := jsontext.End(object, colon+1)
			var name string
			if json.Unmarshal(object[pos:colon], &name) != nil || !yield(name, member{object[pos:end], object[colon+1 : end]}) {
				return
			}
			pos = end
		}
	}
}

// endObject ends an object of which each member has a comma behind it.
func endObject(b []byte) []byte {
	return append(bytes.TrimSuffix(b, []byte{','}), '}')
}

// cutMember takes a member out of a compact JSON object.
func cutMember(object []byte, cut string) (rest, value []byte, found bool) {
	rest = append(make([]byte, 0, len(object)), '{')
	for name, member := range members(object) {
		if name == cut {
			value, found = member.value, true
			continue
		}
		rest = append(append(rest, member.text...), ',')
	}
	return endObject(rest), value, found
}

// appendMember gives an object with one more member, in the place of any that it has of the name.
func appendMember(object []byte, name string, value []byte) []byte {
	rest, _, _ := cutMember(object, name)
	rest = rest[:len(rest)-1]
	if len(rest) > 1 {
		rest = append(rest, ',')
	}
	return append(append(append(jsontext.AppendString(rest, name), ':'), value...), '}')
}

// known tells whether this package has a payload for a kind.
func known(kind Kind) bool {
	switch kind {
	case KindMessage, KindThinkingLevel, KindModel, KindCompaction, KindBranchSummary, KindCustom, KindCustomMessage, KindLabel,
		KindSessionInfo, KindReset, KindLeaf:
		return true
	}
	return false
}

// lineReader reads lines of bounded length.
type lineReader struct {
	r    *bufio.Reader
	max  int
	line []byte
}

func newLineReader(r io.Reader, maxBytes int) *lineReader {
	b := bufio.NewReaderSize(r, 64<<10)
	if mark, err := b.Peek(3); err == nil && string(mark) == "\ufeff" {
		b.Discard(len(mark)) // they are there
	}
	return &lineReader{r: b, max: maxBytes}
}

// next gives the next line, without white space around it, until the one after is asked for; or tells that it is too long.
// After the last line the error is io.EOF.
func (l *lineReader) next() (line []byte, long bool, err error) {
	l.line = l.line[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(l.line)+len(bytes.TrimRight(part, "\r\n")) > l.max; !long {
			l.line = append(l.line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (len(part) > 0 || len(l.line) > 0 || long):
			err = nil
		}
		if long || err != nil {
			return nil, long, err
		}
		return bytes.TrimSpace(l.line), false, nil
	}
}
