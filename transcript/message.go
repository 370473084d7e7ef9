package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// Roles of messages. Others are kept, and the model gets them.
const (
	RoleUser       = "user"
	RoleAssistant  = "assistant"
	RoleToolResult = "toolResult"
)

// Message is a message of the conversation: a JSON object of which the members that this package needs have fields. Its zero
// value is not a message: a role is needed.
type Message struct {
	Role string
	// Content is a JSON string, or an array of blocks: objects with a type, such as text, thinking, image and, of
	// the assistant, toolCall with id, name and arguments. Nil is written as "".
	Content json.RawMessage

	// ToolCallID, ToolName and IsError are those of a tool's result.
	ToolCallID, ToolName string
	IsError              bool

	// IdempotencyKey is unique in the session: a message whose key is there already is not appended again. Empty is none.
	IdempotencyKey string
	// ExcludeFromContext keeps the message from the model.
	ExcludeFromContext bool
	// Display is false for a message that users are not shown; nil is true.
	Display *bool
	// Provenance says where the message comes from, as the host has it.
	Provenance json.RawMessage
	// Meta is the member "__openclaw": what hosts keep with a message that is not for the model.
	Meta map[string]json.RawMessage

	// Fields are all other members, such as timestamp, usage, stopReason, provider and model. One that has a field of its own
	// counts only while that is zero.
	Fields map[string]json.RawMessage
}

// Names by which session files have members of messages.
const (
	metaMember       = "__openclaw"
	provenanceMember = "provenance"
	displayMember    = "display"
)

// UserText is a message of the user. What is not UTF-8 in the text becomes U+FFFD.
func UserText(text string) Message { return Message{Role: RoleUser, Content: jsonText(text)} }

// AssistantText is a message of the assistant that is nothing but text. What is not UTF-8 in it becomes U+FFFD.
func AssistantText(text string) Message {
	return Message{Role: RoleAssistant, Content: blocks(textBlock(text))}
}

// ToolCall is a call that the assistant asks for in a message.
type ToolCall struct {
	ID, Name  string
	Arguments json.RawMessage // a JSON object; what else they may be, [AssistantCalls] says
}

// invalidArguments is the member with the text of arguments that are no JSON object.
const invalidArguments = "invalid"

// AssistantCalls is a message of the assistant: text, if it is not empty, and calls of tools. It can be kept whatever the
// model has said: arguments that are no JSON object, such as those of an answer that was cut off, become an object with the
// one member "invalid", their text; blank ones become {}; and what is not UTF-8 becomes U+FFFD.
func AssistantCalls(text string, calls ...ToolCall) Message {
	var all [][]byte
	if text != "" {
		all = append(all, textBlock(text))
	}
	for _, call := range calls {
		b := jsontext.AppendString([]byte(`{"type":"toolCall","id":`), call.ID)
		b = jsontext.AppendString(append(b, `,"name":`...), call.Name)
		all = append(all, append(append(append(b, `,"arguments":`...), argumentsObject(call.Arguments)...), '}'))
	}
	return Message{Role: RoleAssistant, Content: blocks(all...)}
}

// argumentsObject gives arguments as a JSON object that a message can have.
func argumentsObject(arguments []byte) []byte {
	if len(bytes.TrimSpace(arguments)) == 0 {
		return []byte("{}")
	}
	short, err := jsontext.Compact(arguments)
	if err == nil && short[0] == '{' {
		// The entry, the message, its content and the block are around them, and count for the depth.
		const around = 4
		if _, err = jsontext.Compact(slices.Concat(bytes.Repeat([]byte{'['}, around), short, bytes.Repeat([]byte{']'}, around))); err == nil {
			return short
		}
	}
	return append(jsontext.AppendString([]byte(`{"`+invalidArguments+`":`), string(arguments)), '}')
}

// ToolResult is the result of a call, as text. What is not UTF-8 in the text becomes U+FFFD; in callID and tool it is
// [ErrInvalidEntry] when the message is appended.
func ToolResult(callID, tool, text string, isError bool) Message {
	return Message{Role: RoleToolResult, ToolCallID: callID, ToolName: tool, IsError: isError, Content: blocks(textBlock(text))}
}

func jsonText(s string) json.RawMessage {
	return jsontext.AppendString(make([]byte, 0, len(s)+2), s)
}

func textBlock(text string) []byte {
	return append(jsontext.AppendString([]byte(`{"type":"text","text":`), text), '}')
}

// noContent is how a content is written that is not there.
var noContent = json.RawMessage(`""`)

func blocks(all ...[]byte) json.RawMessage {
	return append(append([]byte{'['}, bytes.Join(all, []byte{','})...), ']')
}

// Clone gives a copy that shares nothing with m: what a host keeps of a message before it gives it to hooks.
func (m Message) Clone() Message {
	m.Content, m.Provenance = bytes.Clone(m.Content), bytes.Clone(m.Provenance)
	if m.Display != nil {
		display := *m.Display
		m.Display = &display
	}
	m.Meta, m.Fields = cloneMembers(m.Meta), cloneMembers(m.Fields)
	return m
}

func cloneMembers(members map[string]json.RawMessage) map[string]json.RawMessage {
	members = maps.Clone(members)
	for name, value := range members {
		members[name] = bytes.Clone(value)
	}
	return members
}

// Text is what the message says: its content if that is a string, else the text of its blocks of type text, input_text and
// output_text, joined by line breaks. It is what search looks in. A content of neither form has no text.
func (m Message) Text() string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var texts []string
	for _, b := range m.blocks() {
		switch b.Type {
		case "text", "input_text", "output_text":
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ToolCalls are the calls that the content asks for, in order.
func (m Message) ToolCalls() []ToolCall {
	var calls []ToolCall
	for _, b := range m.blocks() {
		if b.Type == "toolCall" {
			calls = append(calls, ToolCall{b.ID, b.Name, b.Arguments})
		}
	}
	return calls
}

// block is what this package reads of a block of content.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// blocks reads the content as blocks. One that is not as it should be has no type.
func (m Message) blocks() []block {
	var raw []json.RawMessage
	if len(m.Content) == 0 || m.Content[0] != '[' || json.Unmarshal(m.Content, &raw) != nil {
		return nil
	}
	all := make([]block, len(raw))
	for i, text := range raw {
		if json.Unmarshal(text, &all[i]) != nil {
			all[i] = block{}
		}
	}
	return all
}

// setsModel tells that the message says which model it is of.
func (m Message) setsModel() bool {
	return m.Role == RoleAssistant && m.field("provider") != "" && m.field("model") != ""
}

// field is a member that is a string, empty if it is none.
func (m Message) field(name string) string { return stringOf(m.Fields[name]) }

// sameJSON tells whether two JSON texts have the same value, whatever the order of members and the form of strings. Numbers
// must be written in the same way. What is not JSON is only the same as itself.
func sameJSON(a, b []byte) bool {
	return bytes.Equal(a, b) || hashJSON(a) == hashJSON(b)
}

// hashJSON is the same for texts that are so to sameJSON.
func hashJSON(text []byte) [sha256.Size]byte {
	if short, err := jsontext.Compact(text); err == nil {
		return jsontext.Digest(short)
	}
	return sha256.Sum256(text)
}

// MarshalJSON writes all members, in an order that does not depend on how they came.
func (m Message) MarshalJSON() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := m.checkValues(); err != nil {
		return nil, err
	}
	return compactUTF8(m.appendTo(nil))
}

func (m Message) appendTo(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"role":`...), m.Role)
	written := []string{"role"}
	raw := func(name string, value []byte) {
		written = append(written, name)
		b = append(append(jsontext.AppendString(append(b, ','), name), ':'), value...)
	}
	text := func(name, value string) {
		if value != "" {
			raw(name, jsontext.AppendString(nil, value))
		}
	}
	if m.Content != nil {
		raw("content", m.Content)
	} else if _, odd := m.Fields["content"]; !odd {
		raw("content", noContent)
	}
	text("toolCallId", m.ToolCallID)
	text("toolName", m.ToolName)
	if _, odd := m.Fields["isError"]; m.IsError || m.Role == RoleToolResult && !odd {
		raw("isError", fmt.Append(nil, m.IsError))
	}
	text("idempotencyKey", m.IdempotencyKey)
	if m.ExcludeFromContext {
		raw("excludeFromContext", []byte("true"))
	}
	if m.Display != nil {
		raw(displayMember, fmt.Append(nil, *m.Display))
	}
	if len(m.Provenance) > 0 {
		raw(provenanceMember, m.Provenance)
	}
	if len(m.Meta) > 0 {
		var meta []byte
		for _, name := range slices.Sorted(maps.Keys(m.Meta)) {
			meta = append(append(jsontext.AppendString(append(meta, ','), name), ':'), m.Meta[name]...)
		}
		meta[0] = '{'
		raw(metaMember, append(meta, '}'))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		if !slices.Contains(written, name) {
			raw(name, m.Fields[name])
		}
	}
	return append(b, '}')
}

// UnmarshalJSON reads a message. A member that is not of the type that its field has stays among Fields, but for the role,
// without which there is no message.
func (m *Message) UnmarshalJSON(text []byte) error {
	short, err := compact(text)
	if err == nil {
		*m, err = readMessage(bytes.Clone(short))
	}
	return err
}

// readMessage reads a message from compact JSON, of which it keeps parts.
func readMessage(text []byte) (Message, error) {
	var m Message
	for name, value := range jsontext.Members(text) {
		m.set(name, value)
	}
	if m.Role == "" {
		return Message{}, fmt.Errorf("%w: a message must have a role", ErrInvalidEntry)
	}
	return m, nil
}

// set takes over a member: of several of one name the last counts.
func (m *Message) set(name string, value []byte) {
	ok := false
	switch name {
	case "role":
		m.Role, ok = jsontext.String(value)
	case "content":
		m.Content, ok = value, true
	case "toolCallId":
		m.ToolCallID, ok = jsontext.String(value)
	case "toolName":
		m.ToolName, ok = jsontext.String(value)
	case "isError":
		m.IsError, ok = readBool(value)
	case "idempotencyKey":
		m.IdempotencyKey, ok = jsontext.String(value)
	case "excludeFromContext":
		m.ExcludeFromContext, ok = readBool(value)
	case displayMember:
		var display bool
		if display, ok = readBool(value); ok {
			m.Display = &display
		} else {
			m.Display = nil
		}
	case provenanceMember:
		m.Provenance, ok = value, true
	case metaMember:
		m.Meta, ok = nil, value[0] == '{'
		for name, value := range jsontext.Members(value) {
			setMember(&m.Meta, name, value)
		}
	}
	if ok {
		delete(m.Fields, name)
	} else {
		setMember(&m.Fields, name, value)
	}
}

func setMember(members *map[string]json.RawMessage, name string, value []byte) {
	if *members == nil {
		*members = map[string]json.RawMessage{}
	}
	(*members)[name] = value
}

// readBool reads true or false; it is not ok for other values.
func readBool(value []byte) (is, ok bool) {
	is = string(value) == "true"
	return is, is || string(value) == "false"
}

func (m Message) check() error {
	if m.Role == "" {
		return fmt.Errorf("%w: a message must have a role", ErrInvalidEntry)
	}
	if len(m.IdempotencyKey) > MaxKeyBytes {
		return fmt.Errorf("%w: an idempotency key may have %d bytes, this one has %d", ErrInvalidEntry, MaxKeyBytes, len(m.IdempotencyKey))
	}
	for _, members := range []map[string]json.RawMessage{m.Meta, m.Fields} {
		for name, value := range members {
			if len(value) == 0 {
				return fmt.Errorf("%w: the member %q of a message has no value", ErrInvalidEntry, name)
			}
			if !utf8.ValidString(name) {
				return errNotUTF8
			}
		}
	}
	return checkTexts(m.Role, m.ToolCallID, m.ToolName, m.IdempotencyKey)
}

var errNotUTF8 = fmt.Errorf("%w: a text is not valid UTF-8", ErrInvalidEntry)

func checkTexts(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return errNotUTF8
		}
	}
	return nil
}
