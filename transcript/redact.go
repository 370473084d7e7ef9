package transcript

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// redacted is a payload, as decode gives it, as [Options.Redact] leaves it. It shares with the payload what did not change.
func (s *Store) redacted(payload Payload) (_ Payload, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			// The cause may quote the text, and so is told to nobody.
			s.logger.Error("transcript: Redact has panicked", "cause", fmt.Sprintf("%T", cause), "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: it has panicked with a %T", ErrRedaction, cause)
		}
	}()
	r := redactor{redact: s.redact}
	switch p := payload.(type) {
	case Message:
		payload = r.message(p)
	case CustomMessage:
		p.Content, p.Details, p.Fields = r.json(p.Content, inContent), r.json(p.Details, inData), r.fields(p.Fields)
		payload = p
	case Compaction:
		p.Summary, p.Details, p.Fields = r.text(p.Summary), r.json(p.Details, inData), r.fields(p.Fields)
		payload = p
	case BranchSummary:
		p.Summary, p.Details, p.Fields = r.text(p.Summary), r.json(p.Details, inData), r.fields(p.Fields)
		payload = p
	case SessionInfo:
		p.Name, p.Fields = r.text(p.Name), r.fields(p.Fields)
		payload = p
	case Label:
		p.Label, p.Fields = r.text(p.Label), r.fields(p.Fields)
		payload = p
	case Reset:
		p.Reason, p.Fields = r.text(p.Reason), r.fields(p.Fields)
		payload = p
	case Custom:
		if isRecord(p.Type) {
			p.Data = r.json(p.Data, inRecord)
		}
		payload = p
	}
	return payload, r.err
}

// redactor redacts the texts of one payload.
type redactor struct {
	redact func(string) string
	err    error // the first

	src, dst []byte // of the JSON text that is being read
	done     int    // how much of src is in dst
}

// isOpaqueField tells that a member among Fields is no text: it names something, or must come back to its provider
// byte by byte.
func isOpaqueField(name string) bool {
	switch name {
	case "api", "provider", "model", "stopReason", "timestamp", "usage", "providerReplay", "type", "id", "name", "customType", metaMember:
		return true
	}
	return isReference(name)
}

func (r *redactor) message(m Message) Message {
	m.Content = r.json(m.Content, inContent)
	if r.done > 0 && m.Role == RoleUser {
		// Mentions are places in the text that was written.
		meta := m.meta()
		delete(meta, metaMentions)
		m = m.withMeta(meta)
	}
	m.Fields = r.fields(m.Fields)
	return m
}

// fields redacts the members of a payload that have no field of their own.
func (r *redactor) fields(members map[string]json.RawMessage) map[string]json.RawMessage {
	members = maps.Clone(members)
	for name, value := range members {
		if !isOpaqueField(name) {
			members[name] = r.json(value, inData)
		}
	}
	return members
}

func (r *redactor) text(text string) string {
	if r.err != nil {
		return text
	}
	text = r.redact(text)
	if !utf8.ValidString(text) {
		r.err = fmt.Errorf("%w: it has returned text that is not valid UTF-8", ErrRedaction)
	}
	return text
}

// place is where in a payload a JSON value is.
type place int

const (
	inContent place = iota // a content: a text, or blocks
	inBlock                // a block
	inData                 // data of any form, all strings of which are text
	inRecord               // the record of a cell, a call or a result
)

// json redacts the strings of a JSON value. It reads it once, whatever its depth, of which package jsontext is the bound.
func (r *redactor) json(value json.RawMessage, in place) json.RawMessage {
	if len(value) == 0 || r.err != nil {
		return value
	}
	src, err := compact(value)
	if err != nil {
		r.err = err
		return value
	}
	r.src, r.dst, r.done = src, nil, 0
	r.value(0, in)
	if r.done == 0 {
		return src
	}
	return append(r.dst, src[r.done:]...)
}

// value redacts the value at pos, and gives the place after it.
func (r *redactor) value(pos int, in place) int {
	switch r.src[pos] {
	case '"':
		return r.string(pos)
	case '[':
		if in == inContent {
			in = inBlock
		}
		for pos++; r.src[pos] != ']'; {
			if pos = r.value(pos, in); r.src[pos] == ',' {
				pos++
			}
		}
		return pos + 1
	case '{':
		for pos++; r.src[pos] != '}'; {
			name, after := r.decode(pos)
			pos = r.member(after+1, name, in)
			if r.src[pos] == ',' {
				pos++
			}
		}
		return pos + 1
	}
	return jsontext.End(r.src, pos)
}

// member redacts the value at pos, of a member of an object.
func (r *redactor) member(pos int, name string, in place) int {
	switch {
	case in == inData:
	case in == inRecord && namesRecord(name):
		return jsontext.End(r.src, pos)
	case in == inRecord:
	case r.src[pos] == '"' && isStructure(name):
		return jsontext.End(r.src, pos)
	case name == "content":
		return r.value(pos, inContent)
	case name == "source": // of an image: its data, or where they are
		return r.value(pos, inBlock)
	}
	return r.value(pos, inData)
}

// isStructure tells that a member of a block is what programs tell blocks by, or opaque, and not text.
func isStructure(name string) bool {
	switch name {
	case "type", "id", "name", "toolName", "role", "mimeType", "media_type", "data", "encrypted_content":
		return true
	}
	return isReference(name)
}

// isReference tells that a member has the id of something, or a signature.
func isReference(name string) bool {
	return strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "_id") || strings.HasSuffix(strings.ToLower(name), "signature")
}

// string redacts the string at pos.
func (r *redactor) string(pos int) int {
	text, end := r.decode(pos)
	if short := r.text(text); short != text && r.err == nil {
		r.dst = jsontext.AppendString(append(r.dst, r.src[r.done:pos]...), short)
		r.done = end
	}
	return end
}

// decode reads the string at pos, and gives the place after it.
func (r *redactor) decode(pos int) (string, int) {
	end := jsontext.End(r.src, pos)
	text, _ := jsontext.StringPrefix(r.src[pos:end], end-pos) // no string is longer than its JSON text
	return text, end
}
